"""Where a stream is published: a file, the output, a broker or a table of PostgreSQL.

Each is checked before anything is paid, and written once all is known: a file whole or not at all, a table in one
transaction. What is live takes ticks as they come; `targets_growing` is a file that does.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.stream.answer import Stream
    from louver.stream.plan import StreamPlan
    from louver.stream.tick import Tick

FILES = (".csv", ".json", ".parquet")
BROKERS, SERVERS = ("mqtt://", "mqtts://"), ("postgresql://", "postgres://")
_USER = re.compile(r"^[a-z]+://([^/?#]*@)?")
_NAME = re.compile(r"[^\W\d]\w{0,62}(\.[^\W\d]\w{0,62})?")
_BESIDE = {"last": "double precision", "above": "boolean"}
_TYPES = {bool: "boolean", int: "bigint", str: "text", date: "date", datetime: "timestamptz"}


class Target(ABC):
    def check_plan(self, plan: StreamPlan) -> None:  # noqa: B027 most take every stream
        """Whether it takes such a stream at all; goes nowhere."""

    def check_again(self, ticks: Iterable[Tick]) -> None:  # noqa: B027
        """Whether all ticks of a stream that is over would be there, once they are published again."""

    @abstractmethod
    def check(self, plan: StreamPlan) -> None:
        """Whether it could be written, before anything is paid."""

    @abstractmethod
    def write(self, stream: Stream) -> str:
        """Writes the stream, and says what was written."""

    def ticks(self, ticks: Sequence[Tick]) -> None:  # noqa: ARG002
        """Publishes ticks of a live stream, in their order; the same one may come twice."""
        raise ParameterError("A stream is written here as a whole, not tick by tick.")

    def tick(self, tick: Tick) -> None:
        """One of them."""
        self.ticks([tick])

    @property
    def is_live(self) -> bool:
        return type(self).ticks is not Target.ticks


def target(given: str, *, force: bool = False, as_json: bool = False) -> Target:
    if given == "-":
        return Output(as_json)
    if given.startswith(BROKERS):
        return Topic(given)
    if given.startswith(SERVERS):
        address, _, table = given.partition("#")
        if not _NAME.fullmatch(table):
            raise ParameterError("A table in PostgreSQL is named after a #: postgresql://user@host/database#counts.")
        from louver.watch.targets_table import DatabaseTable

        return DatabaseTable(address, table, force)
    path = Path(given)
    if path.suffix.lower() not in FILES:
        raise ParameterError(
            "A stream is published to a file .csv, .json or .parquet, to mqtt://host/topic, to "
            f"postgresql://user@host/database#table or to -, not to {given[:60]!r}."
        )
    return File(path, force)


def place_of(given: str) -> Hashable:
    """The same for two ways to name one place: a file, a topic, or a table whoever writes to it."""
    if given.startswith(SERVERS):
        return _USER.sub("", given)
    if given == "-" or given.startswith(BROKERS):
        return given
    return Path(given).resolve()


@dataclass(frozen=True)
class Output(Target):
    """CSV on the output, unless all that is printed is one JSON object."""

    as_json: bool = False

    def check(self, plan: StreamPlan) -> None:
        """There is always one."""

    def write(self, stream: Stream) -> str:
        if not self.as_json:
            sys.stdout.write(stream.to_csv())
            sys.stdout.flush()
        return ""

    def ticks(self, ticks: Sequence[Tick]) -> None:
        for tick in ticks:
            sys.stdout.write(f"{json.dumps(tick.to_dict())}\n")
        sys.stdout.flush()


@dataclass(frozen=True)
class File(Target):
    path: Path
    force: bool = False

    def check(self, plan: StreamPlan) -> None:  # noqa: ARG002 a file takes every stream
        if self.path.exists() and not self.force:
            raise DataError(f"{self.path} is there already; name another file, or write over it with --force.")
        with _sentences(self.path), tempfile.TemporaryFile(dir=self.path.parent):
            pass

    def write(self, stream: Stream) -> str:
        with _sentences(self.path):
            handle, name = tempfile.mkstemp(prefix=".publish-", suffix=self.path.suffix, dir=self.path.parent)
            os.close(handle)
            aside = Path(name)
            try:
                self._fill(aside, stream)
                with aside.open("rb+") as file:
                    os.fsync(file.fileno())
                aside.chmod(0o644)
                aside.replace(self.path)
            finally:
                aside.unlink(missing_ok=True)
        return str(self.path)

    def _fill(self, aside: Path, stream: Stream) -> None:
        kind = self.path.suffix.lower()
        if kind == ".csv":
            stream.to_csv(aside)
        elif kind == ".json":
            aside.write_text(json.dumps(stream.to_dict(), indent=2) + "\n", encoding="utf-8")
        else:
            _write_parquet(aside, stream)


@dataclass(frozen=True)
class Topic(Target):
    """One message for each tick, with QoS 1: the tick, and a list of regions with their values and bands."""

    address: str

    def check(self, plan: StreamPlan) -> None:  # noqa: ARG002
        asyncio.run(self._reached())

    async def _reached(self) -> None:
        from louver.sense.feeds.broker import Broker
        from louver.sense.feeds.connection import Connection

        await (await Connection.open(Broker.at(self.address), "")).close()

    def write(self, stream: Stream) -> str:
        from louver.stream.tick import ticks_of

        ticks = list(ticks_of(stream.plan, stream.released))
        self.ticks(ticks)
        return f"{len(ticks):,} messages"

    def ticks(self, ticks: Sequence[Tick]) -> None:
        asyncio.run(self._sent([json.dumps(tick.to_dict()).encode() for tick in ticks]))

    async def _sent(self, messages: list[bytes]) -> None:
        from louver.sense.feeds.publishing import Publisher

        async with Publisher(self.address) as publisher:
            await publisher.send(messages)


def rows_of(tick: Tick) -> Iterator[tuple[Any, ...]]:
    """A row for each region: the region, the tick, the value, and the ends of its band."""
    for at, (region, value, band) in enumerate(zip(tick.regions, tick.values, tick.bands, strict=True)):
        known = value is not None and band is not None
        ends = (value - band, value + band) if known else (None, None)  # type: ignore[operator]
        yield (*region, tick.start, value, *ends, *(column[at] for column in tick.columns.values()))


def kinds_of(plan: StreamPlan) -> dict[str, str]:
    """The columns of a plan's table and their types."""
    return columns_of(plan.keys, plan.regions[-1], plan.beside)  # the last region is never a total


def columns_of(keys: tuple[str, ...], region: tuple[Any, ...], beside: tuple[str, ...] = ()) -> dict[str, str]:
    """The columns of a table and their types: regions, the tick, the value and its band, and what was asked beside."""
    regions = {name: _TYPES[type(value)] for name, value in zip(keys, region, strict=True)}
    return regions | {
        "tick": "timestamptz",
        "value": "double precision",
        "low": "double precision",
        "high": "double precision",
        **{name: _BESIDE[name] for name in beside},
    }


def _write_parquet(path: Path, stream: Stream) -> None:
    """Through CSV into DuckDB: nothing else has to be installed."""
    import duckdb

    kinds = {name: kind.replace("double precision", "double") for name, kind in kinds_of(stream.plan).items()}
    typed = dict(zip(stream.columns, kinds.values(), strict=True))
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, duckdb.connect(":memory:") as connection:
        text = Path(folder) / "stream.csv"
        stream.to_csv(text)
        connection.execute("SET TimeZone = 'UTC'")
        rows = connection.read_csv(str(text), dtype=typed, header=True)
        rows.write_parquet(str(path), compression="zstd")


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise DataError(f"{path} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None
