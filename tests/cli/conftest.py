from tests.cli.asking import tell
from tests.cli.publishing import publish

__all__ = ["publish", "tell"]
