"""Mutated SQL: every mutation is read, or refused in one sentence; nothing else is raised."""

from __future__ import annotations

import random
import re

import pytest

from louver.errors import LouverError
from louver.question import from_sql, to_sql
from louver.question.sql_text import DIALECTS
from tests.question.pairs import accepted, refused

QUERIES = 20_000
MANY = 100_000
READ = [pair.sql for pair in accepted()]
SEEDS = READ + [case.sql for case in refused()]
WORDS = sorted({word for sql in SEEDS for word in sql.split()})
WORDS += [
    "NULL",
    "LATERAL",
    "UNNEST",
    "PIVOT",
    "::",
    "->",
    "->>",
    "||",
    "/*",
    "*/",
    "--",
    "$$",
    "{{",
    "}}",
    "@",
    "~",
    "!~~",
]
WORDS += [
    "INTERVAL",
    "ARRAY[1]",
    "x'00'",
    "1e400",
    "0x1F",
    ".5",
    "5.",
    "1_000",
    "EXISTS",
    "WINDOW w AS ()",
    "GROUPING SETS",
]
WORDS += [
    "FETCH FIRST 1 ROW ONLY",
    "FOR UPDATE",
    "STRUCT(1)",
    "DATE",
    "TIMESTAMP",
    "COLLATE",
    "AT TIME ZONE 'UTC'",
    "USING",
]
CHARACTERS = "()[]{}'\"`;,.*+-/%<>=!|&^~@#$?:\\ \n\t\0\x1b\ufeff\u00a0\u200b\U0001f600aZ09_é\ud800"


ALIKE = [
    [
        "room",
        "floor",
        "watts",
        "time",
        "capacity",
        "r.capacity",
        "presence.room",
        "n",
        '"order"',
        "day",
        "rooms",
        "presence",
    ],
    ["0", "1", "5", "0.8", "1.5", "100", "-3", "1e3", "'hall'", "TRUE", "NULL", "DATE '2026-01-31'", "(2 + 3)"],
    [">", "<", ">=", "<=", "=", "<>", "+", "-", "*", "/", "AND", "OR", "AND NOT", "IN", "IS", "LIKE"],
    ["count", "sum", "avg", "min", "max", "median", "stddev", "any_value", "per", "slack", "hour", "day", "least"],
    ["UNION", "INTERSECT", "EXCEPT", "UNION ALL", "GROUP BY", "HAVING", "WHERE", "ORDER BY", "FROM", "JOIN", "USING"],
]


def mutated(dice: random.Random) -> str:
    sql = dice.choice(dice.choice([READ, READ, SEEDS]))
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        change = dice.choice([swapped, swapped, words_changed, characters_changed, spliced])
        sql = change(dice, sql)
    return sql


def swapped(dice: random.Random, sql: str) -> str:
    """One word for another of its kind, so that what comes out is often SQL."""
    words = re.split(r"(\W)", sql)
    kinds = [(place, kind) for place, word in enumerate(words) for kind in ALIKE if word in kind]
    if kinds:
        place, kind = dice.choice(kinds)
        words[place] = dice.choice(kind)
    return "".join(words)


def words_changed(dice: random.Random, sql: str) -> str:
    words = sql.split(" ")
    place = dice.randrange(len(words))
    match dice.randrange(5):
        case 0:
            del words[place]
        case 1:
            words.insert(place, dice.choice(WORDS))
        case 2:
            words[place] = dice.choice(WORDS)
        case 3:
            other = dice.randrange(len(words))
            words[place], words[other] = words[other], words[place]
        case _:
            words[place:place] = words[place : place + dice.randrange(1, 9)] * dice.choice([1, 1, 2, 40])
    return " ".join(words)


def characters_changed(dice: random.Random, sql: str) -> str:
    place = dice.randrange(len(sql) + 1)
    return sql[:place] + dice.choice(CHARACTERS) * dice.choice([0, 1, 1, 2, 50]) + sql[place + dice.randrange(3) :]


def spliced(dice: random.Random, sql: str) -> str:
    other = dice.choice(SEEDS)
    return sql[: dice.randrange(len(sql) + 1)] + other[dice.randrange(len(other)) :]


def check_mutations(count: int, seed: int) -> None:
    dice = random.Random(seed)
    read = 0
    for _ in range(count):
        sql, dialect = mutated(dice), dice.choice(DIALECTS)
        try:
            question = from_sql(sql, dialect=dialect)
        except LouverError as refusal:
            said = str(refusal)
            assert said.endswith("."), (sql, said)
            assert len(said) < 1000, (sql, said)
            continue
        except Exception as error:
            pytest.fail(f"{sql!r} in {dialect} raised {error!r}")
        read += 1
        assert from_sql(to_sql(question, dialect), dialect=dialect) == question, sql
    assert count // 20 < read < count * 9 // 10, read


@pytest.mark.parametrize("part", range(2))
def test_mutated_sql_is_read_or_refused_in_one_sentence(part: int) -> None:
    check_mutations(QUERIES // 2, part)


@pytest.mark.slow
def test_much_mutated_sql_is_read_or_refused_in_one_sentence() -> None:
    check_mutations(MANY, 7)
