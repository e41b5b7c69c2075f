"""The one family of errors: each is a sentence for the person who caused it, with an exit code for the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    from louver.privacy.scope import Scope


class LouverError(Exception):
    """What is wrong, where, and what to do, in one sentence."""

    exit_code = 1


class ParameterError(LouverError):
    """A value given by the caller cannot be used."""

    exit_code = 2


class PromiseError(LouverError):
    """No plan can keep the promise that was asked for."""

    exit_code = 5


class BudgetError(LouverError):
    """The ledger cannot pay for it, so nothing was read and nothing was spent.

    Where a cap is too low, `requested`, `remaining` and `difference` say by how much, `what` in which number, `scope`
    where, and `ways` what would fit.
    """

    exit_code = 3
    requested: Fraction | None = None
    remaining: Fraction | None = None
    difference: Fraction | None = None
    what: str | None = None
    scope: Scope | None = None
    ways: tuple[str, ...] = ()


class AccessError(LouverError):
    """Whoever asks may not do this."""

    exit_code = 3


class LedgerError(LouverError):
    """The ledger cannot be read or written, or is not what it should be."""

    exit_code = 4


class DataError(LouverError):
    """The data cannot be read."""

    exit_code = 4
