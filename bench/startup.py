"""How long `import louver` and `louver --version` take, beside an empty Python and NumPy, on one core in one run."""

from __future__ import annotations

import subprocess
import sys

from bench.clock import seconds

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import louver": ["-c", "import louver"],
    "import louver.noise, louver.privacy": ["-c", "import louver.noise, louver.privacy"],
    "louver --version": ["-m", "louver", "--version"],
}


def main() -> None:
    floor = None
    print(f"{'what':40} {'seconds':>8} {'over empty Python':>18}")
    for name, arguments in COMMANDS.items():
        command = [sys.executable, *arguments]
        taken = seconds(lambda command=command: subprocess.run(command, check=True, capture_output=True), repeats=7)  # type: ignore[misc]  # noqa: S603
        floor = taken if floor is None else floor
        print(f"{name:40} {taken:8.3f} {taken - floor:18.3f}")


if __name__ == "__main__":
    main()
