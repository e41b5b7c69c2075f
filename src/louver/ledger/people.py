"""People and their tokens: who may do what takes an owner, and some things take two of them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence

from louver.errors import AccessError, ParameterError
from louver.ledger.book import Book
from louver.ledger.model import ANALYST, OWNER, Person, name


def introduced(owners: Iterable[str], analysts: Iterable[str]) -> tuple[list[dict[str, str]], dict[str, str]]:
    people, tokens = [], {}
    for role, names in ((OWNER, owners), (ANALYST, analysts)):
        for who in names:
            if name("A person's name", who) in tokens:
                raise ParameterError(f"{who!r} is named twice; each person has one role.")
            tokens[who] = secrets.token_urlsafe(24)
            people.append({"name": who, "role": role, "token": _hash(tokens[who])})
    return people, tokens


def check_has_owner(roles: Iterable[str]) -> None:
    """Without an owner nobody could ever change or recover the ledger."""
    if OWNER not in roles:
        raise ParameterError("A ledger needs at least one owner.")


def _hash(token: str) -> str:
    # A token has 192 random bits, so that a plain hash cannot be turned back.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def person_with(book: Book, token: str) -> Person:
    if not isinstance(token, str):
        raise AccessError("A token is a text; it was shown when its person was added.")
    given = _hash(token)
    found = [person for person, kept in book.people() if hmac.compare_digest(kept, given)]
    if not found:
        raise AccessError("This token is nobody's here.")
    return found[0]


def owners_with(book: Book, tokens: Sequence[str], together: bool) -> list[str]:
    """The names of the owners whose tokens these are: two of them, where there are two and it takes both."""
    present = sorted({person.name for person in (person_with(book, token) for token in tokens) if person.role == OWNER})
    every = [person.name for person, _ in book.people() if person.role == OWNER]
    needed = 2 if together and len(every) > 1 else 1
    if len(present) < needed:
        what = "the tokens of two different owners" if needed == 2 else "an owner's token"
        raise AccessError(f"This takes {what}.")
    return present
