"""How long `louver simulate` takes, beside sorting and writing as many random rows as the default building has.

Both are processes of their own: seconds on the clock, seconds of CPU, and the most memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_FLOOR = """
import duckdb, numpy as np
rows = 3_900_000
dice = np.random.default_rng(7)
names = np.array([f"02:00:00:00:{n >> 8:02x}:{n & 255:02x}" for n in range(42_000)], dtype=object)
made = {
    "device": names[dice.integers(0, len(names), rows)],
    "place": names[dice.integers(0, 64, rows)],
    "time": np.sort(dice.integers(0, 89 * 86_400_000_000, rows)).view("datetime64[us]"),
}
with duckdb.connect(config={"threads": 1}) as connection:
    connection.register("made", made)
    connection.execute("COPY (SELECT * FROM made) TO 'events.parquet' (FORMAT parquet, COMPRESSION zstd)")
"""
COMMANDS = {
    "3.9 million random rows": ["-c", _FLOOR],
    "simulate, demo": ["-m", "louver", "simulate", "--preset", "demo", "--out", "out"],
    "simulate, 89 days": [
        "-m",
        "louver",
        "simulate",
        "--days",
        "89",
        "--people",
        "36000",
        "--seed",
        "7",
        "--out",
        "out",
    ],
    "simulate, campus": ["-m", "louver", "simulate", "--preset", "campus", "--out", "out"],
    "simulate, taxi": ["-m", "louver", "simulate", "--preset", "taxi", "--out", "out"],
}


def main() -> None:
    floor = None
    print(f"{'what':26} {'seconds':>8} {'CPU':>8} {'of random rows':>15} {'MB':>6}")
    for name, arguments in COMMANDS.items():
        wall, cpu, memory = measured([sys.executable, *arguments])
        floor = cpu if floor is None else floor
        print(f"{name:26} {wall:8.2f} {cpu:8.2f} {cpu / floor:14.1f}x {memory:6.0f}")


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, seconds of CPU and megabytes of a process, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with (Path(folder) / "said").open("w") as said:
            process = subprocess.Popen(command, cwd=folder, stdout=said)  # noqa: S603
            _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        assert process.returncode == 0
        return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
