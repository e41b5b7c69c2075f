"""The domain: the public list of keys that a question is asked about, with what is publicly known of each.

Keys are never read from the data: which keys are there would tell who is there. So they are listed, read from a file
that is public, or made from ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.unit import column_name
from louver.source.domain_columns import NUMBER, Column, Public, check_count, shown, stored_values
from louver.source.measures import MOST_KEYS, Keys, KeyValue
from louver.source.names import instead_of

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Domain:
    """Keys in one or more columns, each once and in order, and further public columns such as thresholds.

    Key columns hold texts, whole numbers, true and false, days or times, of one kind a column. A float means the
    decimal that it is written as, and a time without a zone is in UTC. `name` is what a question may call it; without
    one it goes by any name. `place` is where it was read, or each of its parts was.

    >>> from louver.source.domain_ranges import hours
    >>> rooms = Domain({"room": ["hall", "lab"], "capacity": [180, 24]}, keys=["room"])
    >>> rooms
    Domain(2 keys of room, with capacity)
    >>> rooms.numbers("capacity")
    (Fraction(180, 1), Fraction(24, 1))
    >>> Domain.product(rooms, hour=hours()).key(25)
    ('lab', 1)
    """

    keys: tuple[str, ...]
    _columns: tuple[tuple[str, Column], ...]
    name: str | None
    place: tuple[str | Path, ...]

    def __init__(
        self, columns: Mapping[str, Iterable[object]], keys: Sequence[str], *, name: str | None = None
    ) -> None:
        if not isinstance(columns, Mapping):
            raise ParameterError(f"The columns of a domain are named lists, not a {type(columns).__name__}.")
        names = [column_name(each) for each in columns]
        chosen = _key_names(keys, names)
        made = {each: Column.of_keys(each, columns[each]) for each in chosen}
        _check_lengths(made)
        found = tuple(made[each].values for each in chosen)
        _check_distinct(chosen, found)
        for each in names:
            if each not in made:
                made[each] = Column.of(
                    each, columns[each], lambda place: _named(chosen, [kept[place] for kept in found])
                )
        _check_lengths(made)
        called: object = name
        if called is not None and not isinstance(called, str):
            raise ParameterError(f"The name of a domain must be a text, not a {type(called).__name__}.")
        self._fill(chosen, tuple((each, made[each]) for each in names), name)

    def _fill(
        self,
        keys: tuple[str, ...],
        columns: tuple[tuple[str, Column], ...],
        name: str | None = None,
        place: tuple[str | Path, ...] = (),
    ) -> Domain:
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "place", place)
        return self

    @classmethod
    def of(cls, rows: object, keys: Sequence[str] | None = None) -> Domain:
        """From a pandas, Polars, Arrow, Ibis or Spark table, or a list of dictionaries. The first column has the keys,
        unless others are named."""
        from louver.source.domain_reading import columns_of

        columns = columns_of(rows)
        return cls(columns, list(columns)[:1] if keys is None else keys)

    @classmethod
    def read(cls, place: str | Path, keys: Sequence[str] | None = None) -> Domain:
        """From a file .csv, .parquet or .json, or a table: `plant.duckdb#rooms`, `postgresql://...#rooms`."""
        from louver.source.domain_reading import read

        found = read(place, keys)
        object.__setattr__(found, "place", (place,))
        return found

    @classmethod
    def product(cls, *parts: Domain, **lists: Iterable[object]) -> Domain:
        """Every combination of the keys of several domains and lists, the last one changing fastest.

        >>> from louver.source.domain_ranges import days, hours
        >>> len(Domain.product(room=["a", "b"], hour=hours(), day=days("2014-01-01", "2014-01-31")))
        1488
        """
        if any(not isinstance(part, Domain) for part in parts):
            raise ParameterError("A product is made of domains, and of lists that are named after their column.")
        factors = [*parts, *(cls({name: given}, keys=[name]) for name, given in lists.items())]
        if not factors:
            raise ParameterError("A product needs at least one domain or list.")
        count = math.prod(map(len, factors))
        check_count(count)
        columns: dict[str, Column] = {}
        before = 1
        for factor in factors:
            after = count // (before * len(factor))
            for name, column in factor._columns:
                if name in columns:
                    raise ParameterError(f"Two parts of a product have a column {name!r}; rename one.")
                columns[name] = column.repeated(after, before)
            before *= len(factor)
        keys = tuple(name for factor in factors for name in factor.keys)
        places = tuple(place for factor in factors for place in factor.place)
        return cls.__new__(cls)._fill(keys, tuple(columns.items()), place=places)

    def __eq__(self, other: object) -> bool:
        """The same keys and columns; in which order columns stand says nothing."""
        if not isinstance(other, Domain):
            return NotImplemented
        return self.keys == other.keys and dict(self._columns) == dict(other._columns)

    def __hash__(self) -> int:
        return hash((self.keys, frozenset(self._columns)))

    def __len__(self) -> int:
        return len(self._columns[0][1].values)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, keys included."""
        return tuple(name for name, _ in self._columns)

    def column(self, name: str) -> tuple[Public, ...]:
        return self._column(name).values

    def kind(self, name: str) -> str:
        """What a column holds: text, number, truth, day or time."""
        return self._column(name).kind

    def numbers(self, name: str) -> tuple[Fraction, ...]:
        """A column as one exact number per key, as thresholds are."""
        column = self._column(name)
        if column.kind != NUMBER:
            place = next((place for place, value in enumerate(column.values) if value is not None), 0)
            said = shown(repr(column.values[place])) if column.values[place] is not None else "missing"
            raise ParameterError(
                f"Column {name!r} must be a number for each key, but for {self._at(place)} it is {said}."
            )
        if None in column.values:
            place = column.values.index(None)
            raise ParameterError(
                f"Column {name!r} must be a number for each key, but for {self._at(place)} it is missing."
            )
        exact = {value: Fraction(value) for value in set(column.values)}  # type: ignore[arg-type]
        return tuple(exact[value] for value in column.values)

    def listed(self, columns: Sequence[str]) -> tuple[Keys, NDArray[np.int64]]:
        """The different values over some key columns, in order, and for each key of the domain which of them it has.

        >>> floors = Domain({"building": ["a", "a", "b"], "floor": [0, 1, 0]}, keys=["building", "floor"])
        >>> floors.listed(["building"])
        (Keys(columns=('building',), values=(('a',), ('b',))), array([0, 0, 1]))
        """
        names = tuple(columns)
        unknown = next((name for name in names if name not in self.keys), None)
        if unknown in self.columns:
            raise ParameterError(
                f"{unknown!r} is a column of the domain but not one of its keys ({', '.join(self.keys)}); make it one "
                f"with {_keys_written(self._keys_for(names))} where the domain is declared, if rows have it too; "
                "of a file that is given as it is, the first column has the keys."
            )
        if unknown is not None:
            raise ParameterError(f"The domain has no key column {unknown!r}{instead_of(unknown, self.keys)}.")
        if not names:
            return Keys((), ((),)), np.zeros(len(self), dtype=np.int64)
        rows: Any = tuple(zip(*(self.column(name) for name in names), strict=True))
        if set(names) == set(self.keys):
            return Keys(names, rows), np.arange(len(self), dtype=np.int64)
        places: dict[tuple[KeyValue, ...], int] = {}
        found = [places.setdefault(row, len(places)) for row in rows]
        return Keys(names, tuple(places)), np.array(found, dtype=np.int64)

    def _keys_for(self, wanted: Sequence[str]) -> Sequence[str]:
        """The keys to declare so that these columns can be grouped by: themselves, where they tell all keys apart."""
        if not all(name in self.columns for name in wanted):
            return list(dict.fromkeys([*(name for name in wanted if name in self.columns), *self.keys]))
        rows = list(zip(*(self.column(name) for name in wanted), strict=True))
        if len(set(rows)) == len(rows):
            return wanted
        return list(dict.fromkeys([*wanted, *self.keys]))

    def renamed(self, names: Mapping[str, str]) -> Domain:
        """The same domain with other names for some key columns."""
        if not any(name in names for name in self.keys):
            return self
        own = {name: names[name] for name in self.keys if name in names}
        columns = [(own.get(name, name), column) for name, column in self._columns]
        if len({name for name, _ in columns}) < len(columns):
            raise ParameterError("The domain has a column beside one that is made of the same; leave one out.")
        keys = tuple(own.get(name, name) for name in self.keys)
        return Domain.__new__(Domain)._fill(keys, tuple(columns), self.name, self.place)

    def only(self, rows: NDArray[np.int64]) -> Domain:
        """The same domain with some of its keys, by their numbers."""
        kept = [(name, column.at(rows)) for name, column in self._columns]
        return Domain.__new__(Domain)._fill(self.keys, tuple(kept), self.name, self.place)

    def key(self, number: int) -> tuple[KeyValue, ...]:
        place = parameters.integer("The number of a key", number, 0, len(self) - 1)
        return tuple(self.column(name)[place] for name in self.keys)  # type: ignore[misc]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, exact: numbers are texts. What repeats, as in a product, is written once."""
        rhythms = [(1, len(self)), *(self._column(name).rhythm() for name in self.keys)]
        written = {}
        for name, column in self._columns:
            fitting = [rhythm for rhythm in (column.rhythm(), *rhythms) if column.has_rhythm(*rhythm)]
            written[name] = column.to_dict(*min(fitting, key=lambda rhythm: rhythm[1] // rhythm[0]))
        return {"keys": list(self.keys), "count": len(self), "columns": written}

    @classmethod
    def from_dict(cls, plain: object) -> Domain:
        if not isinstance(plain, Mapping) or set(plain) != {"keys", "count", "columns"}:
            raise ParameterError("A stored domain needs 'keys', 'count' and 'columns', and nothing else.")
        count, columns = parameters.integer("The number of keys", plain["count"], 1, MOST_KEYS), plain["columns"]
        if not isinstance(columns, Mapping) or not isinstance(plain["keys"], list):
            raise ParameterError("A stored domain needs a list of keys and columns by their names.")
        return cls({name: stored_values(name, stored, count) for name, stored in columns.items()}, plain["keys"])

    def __repr__(self) -> str:
        others = [name for name in self.columns if name not in self.keys]
        said = f"{len(self):,} {'key' if len(self) == 1 else 'keys'} of {', '.join(self.keys)}"
        return f"Domain({said}{', with ' + ', '.join(others) if others else ''})"

    def _column(self, name: str) -> Column:
        for known, column in self._columns:
            if known == name:
                return column
        raise ParameterError(f"The domain has no column {shown(name)!r}{instead_of(name, self.columns)}.")

    def _at(self, place: int) -> str:
        return _named(self.keys, [self.column(name)[place] for name in self.keys])


def _keys_written(names: Sequence[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"keys = [{listed}]"


def _key_names(keys: object, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise ParameterError("The key columns of a domain are a list of names, like ['room'].")
    chosen = tuple(column_name(name) for name in keys)
    if not chosen:
        raise ParameterError("A domain needs at least one key column.")
    for name in chosen:
        if name not in names:
            raise ParameterError(f"The domain has no column {shown(name)!r}{instead_of(name, names)}.")
    if len(set(chosen)) < len(chosen):
        raise ParameterError("The key columns of a domain must be different from each other.")
    return chosen


def _check_lengths(columns: Mapping[str, Column]) -> None:
    lengths = {name: len(column.values) for name, column in columns.items()}
    (first, count), *others = lengths.items()
    check_count(count)
    for name, length in others:
        if length != count:
            raise ParameterError(
                "The columns of a domain must be equally long, "
                f"but {first!r} has {count:,} values and {name!r} has {length:,}."
            )


def _check_distinct(names: Sequence[str], columns: Sequence[tuple[Public, ...]]) -> None:
    rows = columns[0] if len(columns) == 1 else tuple(zip(*columns, strict=True))
    if len(set(rows)) == len(rows):
        return
    seen: set[object] = set()
    place = next(place for place, row in enumerate(rows) if row in seen or seen.add(row))  # type: ignore[func-returns-value]
    raise ParameterError(
        f"Each key of a domain comes once, but {_named(names, [kept[place] for kept in columns])} comes twice."
    )


def _named(names: Sequence[str], values: Sequence[Public]) -> str:
    return ", ".join(f"{name} = {shown(value)}" for name, value in zip(names, values, strict=True))
