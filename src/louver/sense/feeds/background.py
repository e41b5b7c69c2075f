"""A blocking reader beside the event loop, never more than a few pieces ahead of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final, Generic, TypeVar

from louver.errors import LouverError

Piece = TypeVar("Piece")
AHEAD: Final = 4
_END: Final = object()


class Background(Generic[Piece]):
    """Runs `make()` in a thread and hands over what it yields. The thread waits while `ahead` pieces are not taken.

    It is a daemon: a thread that waits for standard input cannot be woken, and must not keep the program from ending.
    """

    def __init__(self, make: Callable[[], Iterator[Piece]], ahead: int = AHEAD) -> None:
        self._make = make
        self._room = threading.Semaphore(ahead)
        self._queue: asyncio.Queue[Any] = asyncio.Queue()  # bounded by the semaphore, which a thread can wait for
        self._stopped = False
        self._thread: threading.Thread | None = None

    async def __aiter__(self) -> AsyncIterator[Piece]:
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, args=(loop,), daemon=True, name="louver feed")
        self._thread.start()
        while True:
            piece = await self._queue.get()
            if piece is _END:
                return
            if isinstance(piece, BaseException):
                raise piece
            yield piece
            self._room.release()

    def stop(self) -> None:
        self._stopped = True
        self._room.release()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        last: Any = _END
        pieces = self._make()
        try:
            while not self._stopped:
                self._room.acquire()
                if self._stopped:
                    break
                piece = next(pieces, _END)
                if piece is _END:
                    break
                loop.call_soon_threadsafe(self._queue.put_nowait, piece)
        except (LouverError, OSError) as error:
            last = error
        except RuntimeError:  # the loop is closed, so nobody listens
            return
        finally:
            pieces.close()  # type: ignore[attr-defined]
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._queue.put_nowait, last)
