"""SQL is read into questions, and what is no question is refused with its place marked."""

from __future__ import annotations

import logging
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from datetime import datetime, timedelta

import duckdb
import pytest

import louver.question
from louver.errors import ParameterError
from louver.question import QuestionError, from_sql, to_python, to_sql
from louver.question.nodes import Flag
from louver.question.sql_text import DIALECTS
from tests.question.pairs import Accepted, Refused, accepted, refused

TABLES = """
    CREATE TABLE presence (
        room TEXT, floor INTEGER, building TEXT, person INTEGER, time TIMESTAMP, watts DOUBLE, active BOOLEAN
    );
    CREATE TABLE rooms (room TEXT, floor INTEGER, capacity INTEGER);
    INSERT INTO rooms VALUES ('hall', 1, 8), ('lab', 2, 20), ('it''s', 3, 3);
    CREATE TABLE house AS SELECT 30 AS capacity;
"""


def rows(size: int) -> list[list[object]]:
    """Invented rows, of rooms that are more and less crowded, with gaps."""
    dice = random.Random(size)
    start = datetime(2026, 1, 1, 7, 50)  # noqa: DTZ001
    return [
        [
            dice.choice(["hall", "hall", "hall", "lab", "lab", "it's", "attic", None]),
            dice.choice([1, 2, 3, 3, None]),
            dice.choice(["north", "south"]),
            dice.choice([1, 2, 3, 4, 5, None]),
            start + timedelta(minutes=dice.randrange(10_000)),
            dice.choice([0.5, 1.25, 2.0, -2.0, 3.5, None]),
            dice.choice([True, False, None]),
        ]
        for _ in range(size)
    ]


def keys_of(found: list[tuple[object, ...]]) -> set[frozenset[str]]:
    """Keys in any order of columns; a day is a day, also where the engine says that it begins at midnight."""
    return {frozenset(str(value).removesuffix(" 00:00:00") for value in row) for row in found}


@pytest.mark.parametrize("pair", accepted(), ids=lambda pair: pair.sql[:60])
def test_accepted_sql_has_the_stated_normal_form(pair: Accepted) -> None:
    question = from_sql(pair.sql, dialect=pair.dialect)
    assert to_sql(question, pair.dialect) == pair.normal
    assert to_python(question) == pair.python
    assert eval(pair.python, vars(louver.question)) == question  # noqa: S307
    assert from_sql(pair.normal, dialect=pair.dialect) == question


@pytest.mark.parametrize("case", refused(), ids=lambda case: case.sql[:60])
def test_refused_sql_gets_one_sentence_at_the_place(case: Refused) -> None:
    with pytest.raises(QuestionError) as caught:
        from_sql(case.sql, dialect=case.dialect)
    assert (caught.value.marked, caught.value.sentence) == (case.marked, case.sentence)


def test_plain_sql_and_its_normal_form_mean_the_same_to_an_engine() -> None:
    """Zero keys apart, which only Louver answers: every group that there is gets the same answer from DuckDB."""
    ran = answered = 0
    with duckdb.connect(":memory:") as engine:
        engine.execute("SET TimeZone = 'UTC'")
        for size in (12, 40, 200):
            engine.execute(
                f"DROP TABLE IF EXISTS presence; DROP TABLE IF EXISTS rooms; DROP TABLE IF EXISTS house; {TABLES}"
            )
            engine.executemany("INSERT INTO presence VALUES (?, ?, ?, ?, ?, ?, ?)", rows(size))
            for pair in accepted():
                try:
                    first = engine.execute(pair.sql).fetchall()
                except duckdb.Error:
                    continue  # Louver's own functions, other dialects, thresholds without a domain
                second = engine.execute(pair.normal).fetchall()
                question = from_sql(pair.sql)
                if isinstance(question, Flag) and question.keys:
                    first = [row[: len(question.keys)] for row in first]
                    assert keys_of(first) == keys_of(second), pair
                else:
                    assert Counter(str(row[-1]) for row in first) == Counter(str(row[-1]) for row in second), pair
                ran += 1
                answered += bool(first)
    assert ran >= 3 * 35
    assert answered >= 80


def test_the_place_is_given_by_line_and_column() -> None:
    with pytest.raises(QuestionError) as caught:
        from_sql("SELECT room\nFROM presence\nGROUP BY room\nHAVING count(*) > 5\n  AND stddev(watts) > 3")
    assert (caught.value.line, caught.value.column) == (5, 7)
    assert str(caught.value) == (
        "Line 5, column 7:\n"
        "    AND stddev(watts) > 3\n"
        "        ^^^^^^^^^^^^^\n"
        "This is not supported; the aggregates are count, count(DISTINCT column), sum, avg, min, max and median of a "
        "column."
    )


def test_a_long_line_is_shown_around_the_place() -> None:
    spaces = " " * 400
    with pytest.raises(QuestionError) as caught:
        from_sql(f"SELECT room FROM presence{spaces}GROUP BY room HAVING stddev(watts) > 5/* \x1b[2J */{spaces}")
    _, shown, marks, _ = str(caught.value).split("\n")
    assert len(shown) <= 102
    assert "\x1b" not in shown
    assert shown[marks.index("^") :].startswith("stddev(watts)")
    assert marks.strip() == "^" * len("stddev(watts)")


def test_a_key_may_be_named_like_any_word_of_the_language() -> None:
    from sqlglot.dialects.dialect import Dialect

    for dialect in DIALECTS:
        words = {word.lower() for word in Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS if word.isalpha()}
        words |= {"sysdate", "localtime", "current_user", "rowid", "day", "hour", "listed", "_", "values", "unnest"}
        for word in sorted(words):
            question = from_sql(f'SELECT "{word}" FROM t GROUP BY "{word}" HAVING count(*) > 5')
            asked = Flag(question.condition, question.keys, word, f"other.{word}")  # type: ignore[union-attr]
            assert from_sql(to_sql(asked, dialect), dialect=dialect) == asked, (word, dialect)


def test_an_unknown_dialect_is_refused_with_a_guess() -> None:
    with pytest.raises(ParameterError, match=r"did you mean 'duckdb'"):
        from_sql("SELECT 1", dialect="duckdbb")
    for odd in (None, 3, [1]):
        with pytest.raises(ParameterError, match=r"duckdb, postgres, spark"):
            from_sql("SELECT 1", dialect=odd)  # type: ignore[arg-type]
    assert from_sql("SELECT count(*) FROM t", dialect="postgresql") == from_sql("SELECT count(*) FROM t")


@pytest.mark.parametrize("odd", [None, 3, b"SELECT 1", ["SELECT"]])
def test_what_is_no_text_is_refused(odd: object) -> None:
    with pytest.raises(QuestionError, match=r"A question in SQL is a text"):
        from_sql(odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("empty", ["", "  \n", "-- nothing", ";", "/* nothing */"])
def test_nothing_is_refused(empty: str) -> None:
    with pytest.raises(QuestionError):
        from_sql(empty)


def test_very_long_sql_is_refused_before_it_is_read() -> None:
    with pytest.raises(QuestionError, match=r"at most 100,000 characters"):
        from_sql("SELECT count(*) FROM t WHERE a = 1" + " OR a = 1" * 12_000)


def test_long_sql_within_the_limit_is_read() -> None:
    many = " OR ".join(f"count(*) = {number}" for number in range(5_000))
    question = from_sql(f"SELECT room FROM t GROUP BY room HAVING {many}")
    assert len(question.condition.parts) == 5_000  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "opening", ["(", "NOT (", "NOT ", "- ", "f(", "CASE WHEN ", "[", "{'a': ", "CAST(", "x IN (", "(SELECT "]
)
@pytest.mark.parametrize("times", [30, 1000, 10_000])
def test_deep_sql_is_refused_in_one_sentence(opening: str, times: int) -> None:
    with pytest.raises(QuestionError) as caught:
        from_sql("SELECT room FROM t GROUP BY room HAVING " + opening * times + "count(*) > 5")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "join", ["JOIN rooms ", "JOIN (SELECT a FROM t ", "CROSS JOIN rooms AS r ", ", LATERAL (SELECT a FROM t "]
)
def test_chains_of_joins_are_refused_before_the_parser_tries_them_all(join: str, dialect: str) -> None:
    """The parser takes twice as long with each join that has no condition, so it must not see them."""
    with pytest.raises(QuestionError, match=r"one domain|Subqueries"):
        from_sql("SELECT room FROM t " + join * 20 + "GROUP BY room", dialect=dialect)


def test_a_deep_chain_of_additions_is_refused_in_one_sentence() -> None:
    with pytest.raises(QuestionError, match=r"nested too deeply"):
        from_sql("SELECT room FROM t GROUP BY room HAVING count(*) > 1" + " + 1" * 5_000)


def test_a_question_as_deep_as_allowed_survives_with_little_of_the_stack_left() -> None:
    nested = "count(*) > 5"
    for level in range(7):
        nested = f"NOT (count(*) < {level} {'AND' if level % 2 else 'OR'} {nested})"
    question = from_sql(f"SELECT room FROM t GROUP BY room HAVING {nested}")
    assert from_sql(to_sql(question)) == question
    with pytest.raises(QuestionError, match=r"nested"):
        from_sql(f"SELECT room FROM t GROUP BY room HAVING {'NOT (count(*) < 1 OR ' * 9}count(*) > 5{')' * 9}")


def test_the_parser_says_nothing_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(QuestionError):
        from_sql("SELECT room FROM t WHERE a -> '$[' = 1 GROUP BY room HAVING count(*) > 5")
    assert not caplog.records


def test_the_log_of_others_stays_open(caplog: pytest.LogCaptureFixture) -> None:
    def read() -> None:
        for _ in range(5):
            from_sql("SELECT count(*) FROM t")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logging.getLogger("sqlglot").warning("heard")
    assert [record.message for record in caplog.records] == ["heard"]


def test_the_parser_is_loaded_when_sql_is_first_read() -> None:
    code = """
import sys, louver.question as q
assert "sqlglot" not in sys.modules
q.to_python(q.question(q.count() > 5))
assert "sqlglot" not in sys.modules
q.from_sql("SELECT count(*) FROM t")
assert "sqlglot" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_that_are_not_there_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'form_sql'"):
        louver.question.form_sql  # noqa: B018
    assert set(louver.question.__all__) == set(dir(louver.question))


def test_fixtures_are_sentences() -> None:
    for case in refused():
        assert re.fullmatch(r"[A-Z'a-z].*\.", case.sentence), case
        assert len(case.sentence) < 250
