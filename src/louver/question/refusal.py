"""A refusal that points at the place: the line of SQL, the part in question, and what is supported instead."""

from __future__ import annotations

from louver.errors import ParameterError

WIDEST = 100
SHAPE = (
    "a question is SELECT keys FROM table [JOIN domain USING (keys)] [WHERE condition on rows] GROUP BY keys "
    "HAVING condition on aggregates"
)


class QuestionError(ParameterError):
    """SQL that is no question. Says where: `line` and `column` count from 1, `marked` is the part that is meant."""

    sentence: str
    line: int | None = None
    column: int | None = None
    marked: str = ""

    def __init__(self, sentence: str, sql: str = "", start: int | None = None, end: int | None = None) -> None:
        """`start` and `end` are the first character of the part, and the first behind it."""
        self.sentence = sentence
        if start is None or end is None:
            super().__init__(sentence)
            return
        before = sql[:start]
        self.line = before.count("\n") + 1
        self.column = start - (before.rfind("\n") + 1) + 1
        self.marked = sql[start:end]
        super().__init__(f"Line {self.line}, column {self.column}:\n{_excerpt(sql, start, end)}\n{sentence}")


def _excerpt(sql: str, start: int, end: int) -> str:
    """The line with the part marked below; of a long line, what is around it."""
    first = sql.rfind("\n", 0, start) + 1
    last = sql.find("\n", start)
    last = len(sql) if last < 0 else last
    end = max(start + 1, min(end, last))
    left = max(first, min(start - WIDEST // 4, last - WIDEST)) if last - first > WIDEST else first
    right = min(last, left + WIDEST)
    shown = "".join(character if character.isprintable() else " " for character in sql[left:right])
    marks = "^" * max(1, min(end, right) - start)
    return f"  {shown}\n  {' ' * (start - left)}{marks}"
