"""A refusal as people should see it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from louver.errors import LouverError


@contextmanager
def one_sentence() -> Iterator[pytest.ExceptionInfo[LouverError]]:
    with pytest.raises(LouverError) as refused:
        yield refused
    said = str(refused.value)
    assert said.endswith(".")
    assert "\n" not in said
    assert not any(word in said for word in ("Traceback", "sqlite3.", "psycopg", "Error("))
    assert refused.value.__cause__ is None
