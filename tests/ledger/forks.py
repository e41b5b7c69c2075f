"""Work in a forked process, which never comes back into the tests."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable

from louver.errors import LouverError

FINISHED, REFUSED, BROKEN = 0, 4, 5


def forked(work: Callable[[], object]) -> int:
    """The number of a process that does the work; it ends with FINISHED, or REFUSED after a LouverError, or BROKEN."""
    with warnings.catch_warnings():
        # Python warns where there are threads, as in pytest's workers; the child uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        return process
    status = BROKEN
    try:
        work()
        status = FINISHED
    except LouverError as refused:
        os.write(2, f"{refused}\n".encode())
        status = REFUSED
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def ending(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
