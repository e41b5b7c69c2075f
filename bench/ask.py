"""Reading 15.7 million rows in cold processes, beside plain DuckDB in the same run: time and memory.

The rows are of invented people: who was in which of 34 regions at which time of 31 days, some far more often than
others. Plain DuckDB imports itself and runs the GROUP BY; `louver ask` plans, reserves, reads the same counts per
region and day, decides and settles, with the row as the unit, and with the person as the unit and bounded
contributions. Also: deciding ten million keys step by step, and how times grow with rows and keys. Run:
python -m bench.ask
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS, PEOPLE, REGIONS, DAYS = 15_700_000, 60_000, 34, 31
REPEATS = 7
MADE = """COPY (
    SELECT CAST(floor({people} * pow(random(), 2)) AS INTEGER) AS person,
        'region ' || CAST(floor({regions} * pow(random(), 1.5)) AS INTEGER) AS region,
        TIMESTAMP '2014-01-01' + to_seconds(CAST(floor(random() * {days} * 86400) AS BIGINT)) AS time
    FROM range({rows})
) TO '{path}' (FORMAT parquet)"""
PLAIN = """
import duckdb
with duckdb.connect() as engine:
    engine.execute(
        "SELECT region, CAST(time AS DATE), count(*) FROM read_parquet(?) GROUP BY ALL", [{path!r}]
    ).fetchall()
"""
DESCRIBED = """
[source.{name}]
table = "{path}"
dataset = "bench {name}"
unit = "{unit}"
{bounds}
domain = "region_days"
[domain.region_days]
keys = ["region", "day(time)"]
region = [{regions}]
"day(time)" = {{ from = 2014-01-01, to = 2014-01-31 }}
"""
UNITS = {
    "row": ("row", ""),
    "person, 100 rows each": ("(person)", "rows_per_unit = 100"),
    "person, 30 keys of 3 rows": ("(person)", "rows_per_unit = 3\nkeys_per_unit = 30"),
}
SQL = "SELECT region, day(time) FROM rows GROUP BY region, day(time) HAVING count(*) > 12000"
DECIDE = """
import numpy as np
from louver.decide import decide
from louver.privacy import grid_levels
margins = np.random.default_rng(1).integers(-400, 400, {keys})
decide(margins, grid_levels(0.05, 21, levels=7))
"""


def measured(commands: list[list[str]]) -> list[tuple[float, float]]:
    """Seconds and MB at most of cold processes, each the least of several, in turn: a busy moment meets all alike."""
    found: list[list[tuple[float, float]]] = [[] for _ in commands]
    for _ in range(REPEATS):
        for command, own in zip(commands, found, strict=True):
            start = time.perf_counter()
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 our own commands
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            own.append((time.perf_counter() - start, used.ru_maxrss / 1024))
            if child.returncode:
                raise SystemExit(f"This failed: {shlex.join(command)[:200]}")
    return [(min(seconds for seconds, _ in own), min(memory for _, memory in own)) for own in found]


def written(folder: Path, rows: int) -> Path:
    import duckdb

    path = folder / f"rows{rows}" / "rows.parquet"
    path.parent.mkdir()
    with duckdb.connect() as engine:
        engine.execute(MADE.format(rows=rows, people=PEOPLE, regions=REGIONS, days=DAYS, path=path))
    return path


def asked(path: Path, number: int, unit: str, bounds: str) -> list[str]:
    """The whole command, with a source of its own and a ledger that can pay for every repeat."""
    from louver.ledger import Cap, Ledger
    from louver.privacy import Unit

    folder = path.parent / f"unit{number}"
    folder.mkdir()
    regions = ", ".join(f'"region {each}"' for each in range(REGIONS))
    described = DESCRIBED.format(name="rows", path=path, unit=unit, bounds=bounds, regions=regions)
    (folder / "louver.toml").write_text(described)
    caps = [Cap(epsilon=10**6)]
    Ledger.create(folder / "ledger", dataset="bench rows", unit=Unit.parse(unit), caps=caps)[0].close()
    louver = [sys.executable, "-m", "louver", "ask", str(folder / "louver.toml"), SQL]
    return [*louver, "--miss-rate", "0.05", "--slack", "1000", "--ledger", str(folder / "ledger")]


def lines(named: dict[str, list[str]]) -> None:
    """One line each, beside the first."""
    taken = measured(list(named.values()))
    for name, (seconds, memory) in zip(named, taken, strict=True):
        print(f"{name[:44]:44} {seconds:8.2f} {seconds / taken[0][0]:12.2f} {memory:6.0f}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        print(f"{'what':44} {'seconds':>8} {'times first':>12} {'MB':>6}")
        for rows in (ROWS, ROWS // 4, ROWS // 2):
            path = written(folder, rows)
            named = {f"plain DuckDB, {rows:,} rows": [sys.executable, "-c", PLAIN.format(path=str(path))]}
            for number, (name, (unit, bounds)) in enumerate(UNITS.items()):
                named[f"louver ask, unit: {name}"] = asked(path, number, unit, bounds)
            lines(named)
        numbers = {keys: [sys.executable, "-c", DECIDE.format(keys=keys)] for keys in (10**6, 10**7)}
        lines({f"deciding {keys:,} keys, 7 levels": command for keys, command in numbers.items()})


if __name__ == "__main__":
    main()
