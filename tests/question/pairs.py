"""The SQL in `fixtures`: what is accepted, with its normal form; what is refused, with its mark and its sentence."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "fixtures"


class Accepted(NamedTuple):
    sql: str
    normal: str
    python: str
    dialect: str


class Refused(NamedTuple):
    sql: str
    marked: str
    sentence: str
    dialect: str


def accepted() -> list[Accepted]:
    found = []
    for block in _blocks("accepted.sql"):
        dialect = _dialect(block)
        sql, normal, python = block
        found.append(Accepted(sql.removesuffix(";"), normal.removesuffix(";"), python, dialect))
    return found


def refused() -> list[Refused]:
    found = []
    for block in _blocks("refused.sql"):
        dialect = _dialect(block)
        sql, marked, sentence = block
        found.append(Refused(sql, marked.removeprefix("-- "), sentence.removeprefix("-- "), dialect))
    return found


def _dialect(block: list[str]) -> str:
    return block.pop(0).removeprefix("-- dialect: ") if block[0].startswith("-- dialect: ") else "duckdb"


def _blocks(name: str) -> list[list[str]]:
    return [block.splitlines() for block in (FOLDER / name).read_text().strip().split("\n\n")]
