"""A connection belongs to one process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from louver.ledger.postgres import PostgresStore
from tests.ledger.postgres.counting import total

FORKS = """
import os, sys
from louver.ledger.postgres import PostgresStore

store = PostgresStore(sys.argv[1])

def session_that_added_one():
    with store.write() as connection:
        connection.run("UPDATE counter SET total = total + 1")
        return connection.rows("SELECT pg_backend_pid()")

parent = session_that_added_one()
{inside}
    child = os.fork()
    if child == 0:
        {act}
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, session_that_added_one() == parent)
store.close()
"""


@pytest.mark.parametrize(
    ("inside", "act", "expected"),
    [
        ("if True:", "assert session_that_added_one() != parent; store.close()", 3),
        ("if True:", "store.close()", 2),
        ("with store.write():", "pass", 2),
    ],
    ids=["a child that writes", "a child that closes", "a child of a writer"],
)
def test_a_fork_leaves_the_connection_of_its_parent_alone(
    database: str, store: PostgresStore, inside: str, act: str, expected: int
) -> None:
    program = FORKS.format(inside=inside, act=act)
    done = subprocess.run([sys.executable, "-c", program, database], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0 True", done.stderr
    assert total(store) == expected


def test_a_fork_cannot_finish_what_its_parent_began(database: str, store: PostgresStore) -> None:
    program = """
import os, sys
from louver.ledger.postgres import PostgresStore
from louver.errors import LouverError

store = PostgresStore(sys.argv[1])
child = None
try:
    with store.write() as connection:
        connection.run("UPDATE counter SET total = total + 1")
        child = os.fork()
        if child:
            os.waitpid(child, 0)
except LouverError as refused:
    print(refused, flush=True)
    os._exit(0)
store.close()
"""
    told = subprocess.check_output([sys.executable, "-c", program, database], text=True)
    assert "Only the process that began" in told
    assert total(store) == 1
