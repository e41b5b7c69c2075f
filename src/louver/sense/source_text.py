"""`louver.toml` for a table that sense wrote: so that the next thing to do is to ask."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path

from louver.privacy import Unit
from louver.sense.tabling import DAY, OCCUPANCY, READINGS, REGION, SLOT, TRIPS, VALUE, Tabled, slot_column, slots_of_day

BUDGET = 3  # of the example: enough for it and for a closer question after it
OF_A_DAY = "YYYY-MM-DD"
OF_A_SLOT = f"{OF_A_DAY} HH:MM:SS"
_WHAT = {
    "occupancy": "who was in which region at each slot",
    "presence": "who was in which region from when to when, a row for each stay and day",
    "readings": "one value for each unit and slot, within the bounds below",
    "trips": "who went from where to where, a row for each trip",
}


def described(
    tabled: Tabled, table: Path, keys: Path, unit: Unit, rows: int, dataset: str, folder: Path, slot: int
) -> str:
    """The description, with paths relative to the folder that it will stand in."""
    kind, made = tabled.kind, slot_column(slot)
    protected = Unit(*(made if column == SLOT else column for column in unit.columns))
    lines = [
        f"# Written by louver sense: {_WHAT[kind]}.",
        f"# Protected: {protected.protected()}.",
        "",
        f"[source.{kind}]",
        f"table = {_text(_relative(table, folder))}",
        f"dataset = {_text(dataset)}",
        f"unit = {_text(str(protected))}",
        f"ledger = {_text(_relative(table.with_suffix('.ledger'), folder))}",
        f"rows_per_unit = {rows}{_why(kind, unit, slot)}",
        f"domain = {_text(_domain(tabled))}",
    ]
    if protected != unit:
        # So that what asks about `slot` asks about a column of the unit, and each slot pays for itself.
        lines += ["", f"[source.{kind}.columns]", f"{SLOT} = {_text(made)}"]
    if tabled.values:
        lines += ["", f"[source.{kind}.values]"]
        lines += [
            f"{name} = {{ low = {_number(low)}, high = {_number(high)} }}"
            for name, (low, high) in tabled.values.items()
        ]
    return "\n".join([*lines, "", *_domains(tabled, _relative(keys, folder))]) + "\n"


def example(tabled: Tabled, rows: int, known: Collection[str]) -> tuple[str, str]:
    """A question that the description is enough for, and a slack for which a third of the budget pays.

    Which slots and days there are tells when somebody was there, so whoever asks puts one in. `known` are the columns
    of the public list.
    """
    key, kind = tabled.keys[0], tabled.kind
    if kind == READINGS:
        low, high = tabled.values[VALUE]
        middle = (low + high) / 2
        asked, slack = f"GROUP BY {key} HAVING avg({VALUE}) > {_number(middle)}", 10 * rows * (high - middle)
    elif kind == OCCUPANCY:
        limit = next((name for name in ("devices", "capacity") if name in known), "10")
        asked, slack = f"WHERE slot = TIMESTAMP '{OF_A_SLOT}' GROUP BY {key} HAVING count(*) > {limit}", 10 * rows
    else:
        asked, slack = f"WHERE day = DATE '{OF_A_DAY}' GROUP BY {key} HAVING count(*) > 100", 10 * rows
    return f"SELECT {key} FROM {kind} {asked}", _number(slack)  # noqa: S608 it is shown


def _why(kind: str, unit: Unit, slot: int) -> str:
    if unit.fixes(SLOT) or not unit.fixes(DAY):
        return ""
    if kind in ("occupancy", "readings"):
        return f"  # a day has up to {slots_of_day(slot)} slots; fewer rows cost less, and leave out what is beyond"
    return "  # what one day of somebody has beyond it does not count"


def _domain(tabled: Tabled) -> str:
    return "origins" if tabled.kind == TRIPS else "regions"


def _domains(tabled: Tabled, file: str) -> list[str]:
    if tabled.kind != TRIPS:
        return ["[domain.regions]", f"file = {_text(file)}", f'keys = ["{REGION}"]']
    from_file = f'{{ file = {_text(file)}, column = "{REGION}" }}'
    lines = []
    for name, keys in (("origins", ["origin"]), ("destinations", ["destination"]), ("ways", list(tabled.keys))):
        lines += [f"[domain.{name}]", f"keys = {json.dumps(keys)}", *(f"{key} = {from_file}" for key in keys), ""]
    return lines[:-1]


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(path, folder)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else format(Decimal(repr(value)), "f")
