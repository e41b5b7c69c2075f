"""`python -m louver` is `louver`."""

import sys

from louver.cli import main

sys.exit(main())
