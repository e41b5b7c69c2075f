"""SQL as text: taken apart within limits, and places in it found again.

Limits are checked on the tokens, before anything recursive sees them, so that no input is slow or too deep to read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from louver.errors import ParameterError
from louver.question.refusal import SHAPE, QuestionError
from louver.source.names import instead_of

DIALECTS = ("duckdb", "postgres", "spark")
LONGEST = 100_000
DEEPEST = 24
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_JOINS = {TokenType.JOIN, TokenType.STRAIGHT_JOIN}
_BETWEEN_SELECTS = {"UNION", "INTERSECT", "EXCEPT", "ALL", "DISTINCT", "NAME"}
_SUBQUERY = "Subqueries are not supported; join questions with INTERSECT or UNION."
_FIRST_WORDS: dict[type[exp.Expr], TokenType] = {exp.Case: TokenType.CASE}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}


def dialect_named(name: object) -> str:
    given = "postgres" if name == "postgresql" else name
    if not isinstance(given, str) or given not in DIALECTS:
        raise ParameterError(f"Louver reads and writes SQL as of {', '.join(DIALECTS)}{instead_of(name, DIALECTS)}.")
    return given


@dataclass(frozen=True, eq=False)
class Text:
    """The SQL of one statement, its tokens, and the dialect it is read in."""

    sql: str
    tokens: list[Token]
    dialect: str

    def refusal(self, sentence: str, *places: exp.Expr | str | None) -> QuestionError:
        """A refusal at the first of the places that can be found: a part of the tree, or a word."""
        start, end = next((found for place in places if (found := self._find(place))), (0, len(self.sql)))
        return QuestionError(sentence, self.sql, start, end)

    @contextmanager
    def at(self, place: exp.Expr) -> Iterator[None]:
        """Adds the place to a refusal from inside that does not know it."""
        try:
            yield
        except QuestionError:
            raise
        except ParameterError as refusal:
            sentence = str(refusal)
        else:
            return
        raise self.refusal(sentence, place)

    def at_token(self, sentence: str, token: Token) -> QuestionError:
        return QuestionError(sentence, self.sql, token.start, token.end + 1)

    def _find(self, place: exp.Expr | str | None) -> tuple[int, int] | None:
        if isinstance(place, str):
            named = (each for each in self.tokens if each.text.upper().split(" ")[0] == place)
            return next(((each.start, each.end + 1) for each in named), None)
        while place is not None:
            spans = [each.meta for each in place.walk() if "start" in each.meta]
            if spans:
                start = min(each["start"] for each in spans)
                first = _FIRST_WORDS.get(type(place))
                words = [token.start for token in self.tokens if token.token_type == first and token.start < start]
                return self.balanced(max(words, default=start), max(each["end"] for each in spans) + 1)
            place = place.parent
        return None

    def balanced(self, start: int, end: int, *, to_the_end: bool = False) -> tuple[int, int]:
        """The span with everything closed that it opens; `to_the_end` of what encloses it."""
        depth = 0
        for token in self.tokens:
            if token.start < start:
                continue
            depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
            if depth < 0 or (token.start >= end and depth == 0 and token.token_type not in _CLOSING and not to_the_end):
                break
            end = max(end, token.end + 1)
        return start, end


def parsed(sql: object, dialect: str) -> tuple[Text, exp.Expr]:
    """The tree of the one statement in a text, and the text to find places in."""
    if not isinstance(sql, str):
        raise QuestionError(f"A question in SQL is a text, not a {type(sql).__name__}.")
    if len(sql) > LONGEST:
        raise QuestionError(f"A question in SQL has at most {LONGEST:,} characters, not {len(sql):,}.")
    named = dialect_named(dialect)
    reader = Dialect.get_or_raise(named)
    text = Text(sql, _tokens(reader, sql), named)
    for check in (_check_start, _check_depth, _check_selects):
        check(text)
    with _quiet():
        try:
            trees = [tree for tree in reader.parser().parse(text.tokens, sql) if tree is not None]
        except ParseError as fault:
            raise _unreadable(text, fault) from None
        except RecursionError:
            raise QuestionError("The SQL is nested too deeply to be read; write it flatter.") from None
        except Exception:  # the parser meets some input with errors of its own making
            raise QuestionError(f"The SQL cannot be read; {SHAPE}.") from None
    if len(trees) != 1:
        raise text.refusal(f"One question at a time; {SHAPE}.", ";")
    return text, trees[0]


def _tokens(reader: Dialect, sql: str) -> list[Token]:
    try:
        return list(reader.tokenize(sql))
    except TokenError:
        last = max(sql.rfind(mark) for mark in ("'", '"', "`", "/*", "$$"))
        place = (last, last + 1) if last >= 0 else (0, len(sql))
        raise QuestionError("The SQL opens a quotation or a comment here and does not close it.", sql, *place) from None
    except Exception:
        raise QuestionError(f"The SQL cannot be read; {SHAPE}.") from None


def _check_start(text: Text) -> None:
    """Refuses what is no single SELECT."""
    if not text.tokens:
        raise QuestionError(f"The SQL is empty; {SHAPE}.")
    first = next((token for token in text.tokens if token.token_type != TokenType.L_PAREN), text.tokens[0])
    if first.token_type == TokenType.WITH:
        raise text.refusal("A question is asked of a table itself; name it in FROM instead of a WITH query.", "WITH")
    if first.token_type != TokenType.SELECT:
        raise text.at_token(f"A question begins with SELECT; {SHAPE}.", first)
    ends = next((at for at, token in enumerate(text.tokens) if token.token_type == TokenType.SEMICOLON), None)
    if ends is not None and any(token.token_type != TokenType.SEMICOLON for token in text.tokens[ends:]):
        raise text.refusal(f"One question at a time; {SHAPE}.", ";")


def _check_depth(text: Text) -> None:
    """Refuses what is nested deeper than a question can be."""
    levels: list[int] = []
    prefixes = 0
    for token in text.tokens:
        if token.token_type in _OPENING:
            levels.append(1 + prefixes)
        elif token.token_type in _CLOSING and levels:
            levels.pop()
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        if sum(levels) + prefixes > DEEPEST:
            raise text.at_token(f"The SQL is nested more than {DEEPEST} levels deep here; write it flatter.", token)


def _check_selects(text: Text) -> None:
    """Refuses subqueries and joins of several tables: over many of them the parser would take for ever."""
    joins = 0
    before: Token | None = None  # the last token that opens no parenthesis
    for token in text.tokens:
        if token.token_type == TokenType.SELECT:
            if before is not None and not _joins_selects(before):
                start, end = text.balanced(token.start, token.end + 1, to_the_end=True)
                raise QuestionError(_SUBQUERY, text.sql, start, end)
            joins = 0
        joins += token.token_type in _JOINS
        if joins > 1:
            raise text.at_token("A question joins its table with one domain, and with nothing else.", token)
        if token.token_type != TokenType.L_PAREN:
            before = token


def _joins_selects(token: Token) -> bool:
    quoted = token.token_type in (TokenType.IDENTIFIER, TokenType.STRING)
    return not quoted and token.text.upper() in _BETWEEN_SELECTS


def _unreadable(text: Text, fault: ParseError) -> QuestionError:
    found = fault.errors[0] if fault.errors else {}
    where = found.get("line"), found.get("col")
    token = next((each for each in text.tokens if (each.line, each.col) == where), text.tokens[-1])
    return QuestionError(f"The SQL cannot be read here; {SHAPE}.", text.sql, token.start, token.end + 1)


@contextmanager
def _quiet() -> Iterator[None]:
    _reading.now = True
    try:
        yield
    finally:
        _reading.now = False


class _Hush(logging.Filter):
    """Keeps the parser's remarks, which quote the SQL, out of the log while a question is read in the same thread."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        return not getattr(_reading, "now", False)


_reading = threading.local()
logging.getLogger("sqlglot").addFilter(_Hush())
