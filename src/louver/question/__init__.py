"""What is asked: expression objects, and SQL in and out.

The parser of SQL is loaded when SQL is first read or written.
"""

from __future__ import annotations

# What `to_python` writes evaluates in this namespace, so it holds the names of exact numbers and times as well.
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from louver.lazy import lazily
from louver.question.expressions import (
    avg,
    col,
    count,
    count_distinct,
    max_,
    median,
    min_,
    sum_,
)
from louver.question.making import classes, question, values
from louver.question.nodes import Classes, Flag, Values
from louver.question.normal import normal
from louver.question.plain import from_dict, to_dict
from louver.question.refusal import QuestionError
from louver.question.write_python import to_python

if TYPE_CHECKING:
    from louver.question.sql import from_sql
    from louver.question.write_sql import to_sql

__all__ = [
    "UTC",
    "Classes",
    "Flag",
    "Fraction",
    "QuestionError",
    "Values",
    "avg",
    "classes",
    "col",
    "count",
    "count_distinct",
    "date",
    "datetime",
    "from_dict",
    "from_sql",
    "max_",
    "median",
    "min_",
    "normal",
    "question",
    "sum_",
    "to_dict",
    "to_python",
    "to_sql",
    "values",
]
__getattr__ = lazily("louver.question", {"from_sql": "sql", "to_sql": "write_sql"})


def __dir__() -> list[str]:
    return __all__
