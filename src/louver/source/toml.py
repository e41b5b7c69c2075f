"""`louver.toml`: from the file to a source, with one sentence for whatever is wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source.description import DEFAULTS, Domains, Source
from louver.source.domain import Domain
from louver.source.domain_columns import check_count
from louver.source.domain_ranges import days, slots
from louver.source.measures import Bound
from louver.source.names import instead_of, unit_meant
from louver.source.public_list import public_list
from louver.source.table import Table
from louver.source.toml_file import parsed

_OF_A_SOURCE = (
    *("table", "dataset", "unit", "ledger", "rows_per_unit", "keys_per_unit"),
    *("domain", "place", "time", "columns", "values"),
)
_WAYS = ("file", "table", "rows")
Maker: TypeAlias = "Callable[[Table], Domain]"  # of a domain, for the table that is asked about it
_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table", bool: "true or false"}


def read(path: Path, name: str | None) -> Source:
    """The source of this name. The whole file is checked, also what describes other sources."""
    file = Section(path, "", parsed(path))
    file.allow("source", "domain", "ask")
    ask = file.section("ask")
    ask.allow(*DEFAULTS)
    makers = _domain_makers(file)
    sources = {named: _source(named, each, makers, ask) for named, each in file.sections("source").items()}
    if not sources:
        raise ParameterError(f"{path} describes no source; it needs a table [source.NAME].")
    if name is None and len(sources) > 1:
        raise ParameterError(f"{path} describes {' and '.join(sources)}; say which one is asked.")
    chosen = next(iter(sources)) if name is None else name
    if chosen not in sources:
        raise ParameterError(f"{path} describes no source {chosen!r}{instead_of(chosen, sources)}.")
    return sources[chosen]


class Section:
    """One table of the file, whose entries are asked for by name and kind."""

    def __init__(self, file: Path, place: str, entries: Mapping[str, Any]) -> None:
        self.file = file
        self._place = place
        self._entries = entries

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def raw(self, name: str) -> Any:
        return self._entries.get(name)

    def text(self, name: str) -> str | None:
        found: str | None = self._of(str, name)
        if found == "":
            raise self.wrong(name, "must not be empty")
        return found

    def needed(self, name: str, example: str) -> str:
        found = self.text(name)
        if found is None:
            raise self.wrong(name, f"is missing; write for example {name} = {example}")
        return found

    def whole(self, name: str) -> int | None:
        found: int | None = self._of(int, name)
        return found

    def texts(self, name: str) -> list[str] | None:
        found: list[Any] | None = self._of(list, name)
        if found is not None and (not found or any(not isinstance(each, str) for each in found)):
            raise self.wrong(name, 'must be a list of texts, like ["room"]')
        return found

    def section(self, name: str) -> Section:
        return Section(self.file, f"{self._place}.{name}" if self._place else name, self._of(dict, name) or {})

    def sections(self, name: str) -> dict[str, Section]:
        """The tables inside a table, by name."""
        inside = self.section(name)
        return {each: inside.section(each) for each in inside._entries}

    def names(self) -> list[str]:
        return list(self._entries)

    def allow(self, *known: str) -> None:
        """Refuses every other name."""
        for name in self._entries:
            if name not in known:
                raise self.wrong(name, f"is not known here{instead_of(name, known)}")

    def wrong(self, name: str, what: str) -> ParameterError:
        where = f" in [{self._place}]" if self._place else ""
        return ParameterError(f"{self.file}: {name!r}{where} {what}.")

    @contextmanager
    def said(self, name: str | None = None) -> Iterator[None]:
        """What is wrong with a value, said with its place in the file."""
        try:
            yield
        except ParameterError as fault:
            if str(fault).startswith(str(self.file)):
                raise  # it has its place already
            where = f"[{self._place}]" + (f" {name}" if name else "")
            raise ParameterError(f"{self.file}, {where}: {fault}") from None

    def _of(self, kind: type, name: str) -> Any:
        found = self.raw(name)
        if found is not None and (not isinstance(found, kind) or (kind is int and isinstance(found, bool))):
            shown = str(found) if isinstance(found, Decimal) else _WORDS.get(type(found), f"a {type(found).__name__}")
            raise self.wrong(name, f"must be {_WORDS[kind]}, not {shown}")
        return found


def _source(name: str, given: Section, makers: Mapping[str, Maker], ask: Section) -> Source:
    given.allow(*_OF_A_SOURCE)
    folder = given.file.parent
    location = given.needed("table", '"presence.parquet"')
    dataset = given.needed("dataset", '"building 7"')
    written = given.needed("unit", '"(person, day)", or "row"')
    if (meant := unit_meant(written)) is not None:
        raise given.wrong("unit", f"must be 'row', or columns in parentheses (did you mean {meant!r}?)")
    with given.said("unit"):
        unit = Unit.parse(written)
    columns, values = _derived(given.section("columns")), _values(given.section("values"))
    with given.said():
        where = _location(folder, location)
        table = Table(where, dataset=dataset, unit=unit, columns=columns, values=values, name=name)
        bound = _bound(given)
    ledger, domain, place, time = (given.text(key) for key in ("ledger", "domain", "place", "time"))
    if domain is not None and domain not in makers:
        raise given.wrong("domain", f"names no domain of this file{instead_of(domain, makers)}")
    with ask.said():
        return Source(
            table,
            domains=Domains({each: partial(maker, table) for each, maker in makers.items()}),
            bound=bound,
            ledger=None if ledger is None else _location(folder, ledger),
            defaults={key: ask.raw(key) for key in ask.names()},
            name=name,
            default_domain=domain,
            place=place,
            time=time,
        )


def _bound(given: Section) -> Bound | None:
    rows, keys = given.whole("rows_per_unit"), given.whole("keys_per_unit")
    if rows is None and keys is None:
        return None
    return Bound(1 if rows is None else rows, keys)


def _derived(given: Section) -> dict[str, str]:
    return {name: given.needed(name, '"day(time)"') for name in given.names()}


def _values(given: Section) -> dict[str, tuple[Fraction, ...]]:
    bounds = {}
    for name in given.names():
        each = given.section(name)
        each.allow("low", "high", "step")
        numbers = [(key, each.raw(key)) for key in ("low", "high", "step")]
        with each.said():
            exact = [parameters.fraction(key, value) for key, value in numbers if value is not None or key != "step"]
            if len(exact) == 3:
                _check_step(exact[2])
        bounds[name] = tuple(exact)
    return bounds


def _check_step(step: Fraction) -> None:
    """Values are added up on a grid that floats hold exactly, so its step is a power of two."""
    if step <= 0:
        raise ParameterError("step must be greater than 0.")
    bits = max(step.numerator.bit_length(), step.denominator.bit_length())
    powers = [Fraction(2) ** exponent for exponent in range(-bits, bits + 1)]
    nearest = min(powers, key=lambda power: abs(power - step))
    if nearest != step:
        raise ParameterError(f"step must be a power of two, such as {_decimal(nearest)}, not {_decimal(step)}.")


def _decimal(exact: Fraction) -> str:
    return f"{float(exact):.6g}"


def _domain_makers(file: Section) -> dict[str, Maker]:
    makers: dict[str, Maker] = {}
    for name, given in file.sections("domain").items():
        makers[name] = _domain_maker(given, makers)
    return makers


def _domain_maker(given: Section, makers: Mapping[str, Maker]) -> Maker:
    """A function that makes the domain. What the file says of it is checked now, what other files hold when it runs."""
    keys = given.texts("keys")
    ways = [name for name in _WAYS if name in given]
    given.allow("keys", *(_WAYS if ways or keys is None else keys))
    if len(ways) > 1:
        raise given.wrong(ways[1], f"cannot stand beside {ways[0]!r}: a domain comes from one place")
    if ways and ways[0] != "rows":
        place = _location(given.file.parent, given.needed(ways[0], '"rooms.csv"'))
        return lambda table: public_list(table, place, keys)
    if ways:
        rows = given.raw("rows")
        with given.said("rows"):
            made = Domain.of(rows, keys)
        return lambda _: made
    if keys is None:
        raise given.wrong("file", 'is missing; write file = "rooms.csv", or keys = ["room", "hour"] and what each is')
    parts = [_part(given, key, makers) for key in keys]
    return lambda table: _product(given, parts, table)


def _product(given: Section, parts: list[Maker], table: Table) -> Domain:
    with given.said():
        return Domain.product(*(part(table) for part in parts))


def _part(given: Section, key: str, makers: Mapping[str, Maker]) -> Maker:
    """One key of a product: a list, a column of a file, a range, or another domain with all it knows of the key."""
    if isinstance(given.raw(key), list):
        return _made(given, key, given.raw(key))
    if key not in given:
        raise given.wrong(key, f"is missing; write {key} = [...], or {key} = {{ from = 0, to = 23 }}")
    each = given.section(key)
    kinds = {"file": ("file", "column"), "domain": ("domain",), "from": ("from", "to", "minutes")}
    kind = next((kind for kind in kinds if kind in each), None)
    if kind is None:
        raise given.wrong(key, "must be a list, or have 'from' and 'to', 'file' and 'column', or 'domain'")
    each.allow(*kinds[kind])
    if kind == "from":
        return _made(given, key, _range(each, each.raw("from"), each.raw("to"), each.raw("minutes")))
    if kind == "domain":
        return _reference(each, key, each.needed("domain", '"rooms"'), makers)
    place, column = _location(given.file.parent, each.needed("file", '"rooms.csv"')), each.text("column") or key
    return lambda table: Domain({key: public_list(table, place, [column]).column(column)}, keys=[key])


def _made(given: Section, key: str, values: object) -> Maker:
    with given.said(key):
        made = Domain({key: values}, keys=[key])  # type: ignore[dict-item]
    return lambda _: made


def _range(each: Section, first: Any, last: Any, minutes: Any) -> object:
    with each.said():
        if type(first) is int and type(last) is int and minutes is None:
            check_count(max(last - first + 1, 0))
            return range(first, last + 1)
        if isinstance(first, datetime) and isinstance(last, datetime):
            return slots(first, last, minutes)
        if type(first) is date and type(last) is date and minutes is None:
            return days(first, last)
    raise each.wrong("from", "and 'to' must be two whole numbers, two days, or two times with 'minutes' between them")


def _reference(each: Section, key: str, name: str, makers: Mapping[str, Maker]) -> Maker:
    """A domain named before this one: so no two can be made of each other."""
    if name not in makers:
        raise each.wrong("domain", f"names no domain described before this one{instead_of(name, makers)}")
    maker = makers[name]

    def made(table: Table) -> Domain:
        found = maker(table)
        if found.keys != (key,):
            raise ParameterError(
                f"Domain {name!r} has the keys {', '.join(found.keys)}, where {key!r} alone is needed."
            )
        return found

    return made


def _location(folder: Path, written: str) -> str:
    """A path relative to the file; an address is what it is."""
    return written if "://" in written else str(folder / written)
