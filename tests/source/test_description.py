from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import DataError, ParameterError
from louver.privacy import Unit
from louver.source import Table
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.measures import Bound
from tests.misuse import Thing

ROOMS = Domain({"room": ["hall", "lab"], "capacity": [180, 24]}, keys=["room"])
TABLE = Table("presence.csv", dataset="building 7", unit=Unit("device"))
SOURCE = '[source.presence]\ntable = "presence.csv"\ndataset = "building 7"\nunit = "(device, day)"\n'
WHOLE = """
[source.presence]
table = "presence.parquet"
dataset = "building 7"
unit = "(device, day)"
ledger = "building.ledger"
rows_per_unit = 4
keys_per_unit = 2
domain = "rooms"
place = "room"
time = "time"
[source.presence.columns]
day = "day(time)"
[source.presence.values]
watts = { low = 0, high = 5000, step = 0.5 }
litres = { low = -0.1, high = 2.5 }
[domain.rooms]
file = "rooms.csv"
keys = ["room"]
[domain.room_hours]
keys = ["room", "hour", "day"]
room = ["a", "b"]
hour = { from = 0, to = 23 }
day = { from = 2014-01-01, to = 2014-01-31 }
[ask]
miss_rate = 0.05
slack = 10
false_alarm_rate = 0.1
objective = "mean"
budget = 1.5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rooms.csv").write_text("room,capacity\nhall,180\nlab,24\n")
    return tmp_path


def read(folder: Path, text: str, name: str | None = None) -> Source:
    (folder / "louver.toml").write_text(text)
    return Source.read(folder / "louver.toml", name)


def test_a_file_describes_a_source_once(folder: Path) -> None:
    source = read(folder, WHOLE)
    assert (source.name, source.table.dataset) == ("presence", "building 7")
    assert source.table.unit == Unit("device", "day(time)")
    assert (source.bound, source.place, source.time) == (Bound(4, 2), "room", "time")
    assert source.ledger == str(folder / "building.ledger")
    assert source.domain() == source.domain("rooms") == ROOMS
    assert len(source.domain("room_hours")) == 2 * 24 * 31
    assert list(source.domains) == ["rooms", "room_hours"]


def test_numbers_of_a_file_are_exact(folder: Path) -> None:
    source = read(folder, WHOLE)
    assert dict(source.defaults) == {
        "miss_rate": Fraction(1, 20),
        "slack": 10,
        "false_alarm_rate": Fraction(1, 10),
        "objective": "mean",
        "budget": Fraction(3, 2),
    }
    assert dict(source.table.values)["litres"] == (Fraction(-1, 10), Fraction(5, 2))


def test_derived_columns_and_bounds_of_values_reach_the_table(folder: Path) -> None:
    table = read(folder, WHOLE).table
    assert dict(table.columns) == {"day": "day(time)"}
    assert dict(table.values)["watts"] == (Fraction(0), Fraction(5000), Fraction(1, 2))


def test_the_least_description_names_a_table_a_data_set_and_a_unit(folder: Path) -> None:
    source = read(folder, SOURCE)
    assert (source.bound, source.ledger, dict(source.defaults), source.default_domain) == (None, None, {}, None)


def test_paths_are_relative_to_the_file_and_addresses_are_not(folder: Path) -> None:
    source = read(folder, SOURCE + 'ledger = "postgresql://ada@localhost/books"\n')
    assert source.ledger == "postgresql://ada@localhost/books"
    assert source.table.describe() == str(folder / "presence.csv")
    assert read(folder, SOURCE + 'ledger = "/books/building.ledger"\n').ledger == "/books/building.ledger"


def test_one_bound_may_stand_alone(folder: Path) -> None:
    assert read(folder, SOURCE + "rows_per_unit = 4\n").bound == Bound(4)
    assert read(folder, SOURCE + "keys_per_unit = 2\n").bound == Bound(1, 2)


def test_one_of_several_sources_is_chosen_by_name(folder: Path) -> None:
    both = SOURCE + SOURCE.replace("presence", "meters").replace("building 7", "plant")
    assert read(folder, both, "meters").table.dataset == "plant"
    with pytest.raises(ParameterError, match="describes presence and meters; say which"):
        read(folder, both)
    with pytest.raises(ParameterError, match=r"no source 'presense' \(did you mean 'presence'\?\)"):
        read(folder, both, "presense")


def test_a_domain_that_nobody_asks_about_is_not_read(folder: Path) -> None:
    source = read(folder, SOURCE + '[domain.gone]\nfile = "gone.csv"\n[domain.rooms]\nfile = "rooms.csv"\n')
    assert source.domain("rooms") == ROOMS
    with pytest.raises(DataError, match=r"There is no file .*gone\.csv"):
        source.domain("gone")


def test_a_domain_is_read_once(folder: Path) -> None:
    source = read(folder, SOURCE + '[domain.rooms]\nfile = "rooms.csv"\n')
    first = source.domain()
    (folder / "rooms.csv").write_text("room\nattic\n")
    assert source.domain() is first


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ('file = "rooms.csv"', ROOMS),
        (
            'file = "rooms.csv"\nkeys = ["room", "capacity"]',
            Domain({"room": ["hall", "lab"], "capacity": [180, 24]}, ["room", "capacity"]),
        ),
        ('rows = [{ room = "hall", capacity = 180 }, { room = "lab", capacity = 24 }]', ROOMS),
        ('keys = ["hour"]\nhour = { from = 9, to = 11 }', Domain({"hour": [9, 10, 11]}, ["hour"])),
        (
            'keys = ["day"]\nday = { from = 2014-01-31, to = 2014-02-01 }',
            Domain({"day": [date(2014, 1, 31), date(2014, 2, 1)]}, ["day"]),
        ),
        (
            'keys = ["at"]\nat = { from = 2014-01-31T09:00:00, to = 2014-01-31T09:20:00Z, minutes = 15 }',
            Domain({"at": [datetime(2014, 1, 31, 9, minute, tzinfo=UTC) for minute in (0, 15)]}, ["at"]),
        ),
        ('keys = ["room"]\nroom = { file = "rooms.csv" }', Domain({"room": ["hall", "lab"]}, ["room"])),
        (
            'keys = ["place", "n"]\nplace = { file = "rooms.csv", column = "room" }\nn = [1, 2]',
            Domain.product(place=["hall", "lab"], n=[1, 2]),
        ),
    ],
)
def test_a_domain_is_a_file_a_list_or_a_product(folder: Path, text: str, domain: Domain) -> None:
    assert read(folder, f"{SOURCE}[domain.asked]\n{text}\n").domain() == domain


def test_a_product_takes_over_what_another_domain_knows(folder: Path) -> None:
    product = '[domain.asked]\nkeys = ["room", "hour"]\nroom = { domain = "rooms" }\nhour = [9]\n'
    text = f'[domain.rooms]\nfile = "rooms.csv"\n{product}'
    assert read(folder, SOURCE + text).domain("asked") == Domain.product(ROOMS, hour=[9])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sourse.x]", r"'sourse' is not known here \(did you mean 'source'\?\)"),
        (SOURCE + "[asks]", "'asks' is not known here"),
        ("", r"describes no source; it needs a table \[source.NAME\]"),
        ("source = 3", "'source' must be a table, not a whole number"),
        ("[source]\nx = 3", r"'x' in \[source\] must be a table, not a whole number"),
        ('[source.x]\ndataset = "d"\nunit = "row"', r"'table' in \[source.x\] is missing"),
        ('[source.x]\ntable = "a.csv"\nunit = "row"', r"'dataset' in \[source.x\] is missing"),
        ('[source.x]\ntable = "a.csv"\ndataset = "d"', r"'unit' in \[source.x\] is missing; write for example unit"),
        (SOURCE.replace('"presence.csv"', "3"), "'table' in .* must be a text, not a whole number"),
        (SOURCE.replace('"presence.csv"', '""'), "'table' in .* must not be empty"),
        (SOURCE.replace("(device, day)", "device"), r"'unit' in \[.*\] .* \(did you mean '\(device\)'\?\)"),
        (SOURCE.replace("presence.csv", "presence"), r"\[source.presence\]: "),
        (SOURCE + "rows_per_units = 4", r"'rows_per_units' in \[source.presence\] .*did you mean 'rows_per_unit'"),
        (SOURCE + "rows_per_unit = 0", "rows_per_unit must be between 1"),
        (SOURCE + "rows_per_unit = 1.5", "'rows_per_unit' in .* must be a whole number, not 1.5"),
        (SOURCE + "rows_per_unit = true", "'rows_per_unit' in .* must be a whole number, not true or false"),
        (SOURCE + 'domain = "rooms"', r"'domain' in \[source.presence\] names no domain of this file"),
        (SOURCE + 'domain = "room"\n[domain.rooms]\nfile = "rooms.csv"', "did you mean 'rooms'"),
        (SOURCE + 'place = " room"', "must not begin or end with a blank"),
        (SOURCE + "[source.presence.values]\nwatts = 3", r"'watts' in \[source.presence.values\] must be a table"),
        (SOURCE + "[source.presence.values]\nwatts = { low = 0 }", r"\[source.presence.values.watts\]: high must be"),
        (SOURCE + "[source.presence.values]\nwatts = { low = 0, hihg = 3 }", "did you mean 'high'"),
        (SOURCE + "[source.presence.values]\nwatts = { low = 0, high = inf }", "high must be a finite number"),
        (
            SOURCE + "[source.presence.values]\nwatts = { low = 0, high = 9, step = 0.1 }",
            r"\[source.presence.values.watts\]: step must be a power of two, such as 0.125, not 0.1\.$",
        ),
        (SOURCE + "[source.presence.values]\nwatts = { low = 0, high = 9, step = 3 }", "such as 2, not 3"),
        (SOURCE + "[source.presence.values]\nwatts = { low = 0, high = 9, step = 0 }", "step must be greater than 0"),
        (SOURCE + "[source.presence.columns]\nday = 3", r"'day' in \[source.presence.columns\] must be a text"),
        (SOURCE + "[ask]\nmiss_rate = 0", r"\[ask\]: miss_rate must be greater than 0"),
        (SOURCE + "[ask]\nmiss_rate = 1", "miss_rate must be greater than 0 and less than 0.5"),
        (SOURCE + "[ask]\nmiss_rate = nan", "miss_rate must be a finite number"),
        (SOURCE + '[ask]\nmiss_rate = "low"', "miss_rate must be a number"),
        (SOURCE + "[ask]\nslack = -1", "slack must be between 0"),
        (SOURCE + "[ask]\nbudget = 0", "budget must be greater than 0"),
        (SOURCE + '[ask]\nobjective = "best"', "objective must be one of worst, mean, entropy"),
        (SOURCE + "[ask]\nmis_rate = 0.1", r"'mis_rate' in \[ask\] is not known here \(did you mean 'miss_rate'\?\)"),
        (SOURCE + "[domain]\nrooms = 3", r"'rooms' in \[domain\] must be a table"),
        (SOURCE + "[domain.rooms]", r"'file' in \[domain.rooms\] is missing"),
        (SOURCE + '[domain.rooms]\nfile = "r.csv"\nrows = []', "'rows' in .* cannot stand beside 'file'"),
        (SOURCE + '[domain.rooms]\nfile = "r.csv"\nkeys = "room"', "'keys' in .* must be a list, not a text"),
        (SOURCE + '[domain.rooms]\nfile = "r.csv"\nkeys = [1]', "'keys' in .* must be a list of texts"),
        (SOURCE + '[domain.rooms]\nfile = "r.csv"\nkees = ["room"]', "did you mean 'keys'"),
        (SOURCE + "[domain.rooms]\nrows = []", r"\[domain.rooms\] rows: "),
        (SOURCE + '[domain.rooms]\nrows = [{ room = "a" }, { room = "a" }]', "room = a comes twice"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]', r"'hour' in \[domain.d\] is missing"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = 3', r"'hour' in \[domain.d\] must be a table"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = { }', "'hour' in .* must be a list, or have 'from' and 'to'"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = []', r"\[domain.d\] hour: The domain is empty"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = [1.5]', r"\[domain.d\] hour: .* must be whole"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = [1]\nour = [1]', r"did you mean 'hour'"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = { from = 0 }', "must be two whole numbers"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = { from = 3, to = 2 }', "The domain is empty"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = { from = 0, to = 99999999 }', "at most 1,048,576 keys"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = { from = 0, to = 2014-01-01 }', "must be two whole numbers"),
        (SOURCE + '[domain.d]\nkeys = ["hour"]\nhour = { from = 0, to = 3, step = 2 }', "'step' in .* is not known"),
        (SOURCE + '[domain.d]\nkeys = ["t"]\nt = { from = 2014-01-01T00:00:00, to = 2014-01-02T00:00:00 }', "minutes"),
        (SOURCE + '[domain.d]\nkeys = ["room"]\nroom = { domain = "d" }', "names no domain described before this one"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_said_in_one_sentence_with_its_place(folder: Path, text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as refusal:
        read(folder, text)
    assert str(refusal.value).count("louver.toml") == 1
    assert str(refusal.value).startswith(str(folder / "louver.toml"))
    assert str(refusal.value).endswith(".")


def test_a_product_of_a_domain_with_other_keys_is_refused(folder: Path) -> None:
    text = '[domain.rooms]\nfile = "rooms.csv"\n[domain.asked]\nkeys = ["place"]\nplace = { domain = "rooms" }\n'
    with pytest.raises(ParameterError, match="Domain 'rooms' has the keys room, where 'place' alone is needed"):
        read(folder, SOURCE + text).domain("asked")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[source.x", "cannot be read as TOML at"),
        (b"a = 1\na = 2\n", "cannot be read as TOML at line 2"),
        (b"a = " + b"[" * 100_000, "cannot be read as TOML"),
        (b"a = '\xff'", "not written in UTF-8"),
    ],
)
def test_a_file_that_is_no_toml_is_refused(folder: Path, text: bytes, said: str) -> None:
    (folder / "louver.toml").write_bytes(text)
    with pytest.raises(DataError, match=said):
        Source.read(folder / "louver.toml")


def test_a_file_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match=r"There is no file .*louver\.toml\.$"):
        Source.read(folder / "louver.toml")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        Source.read(folder)


def test_no_sentence_about_a_file_shows_a_password(folder: Path) -> None:
    text = SOURCE.replace("presence.csv", "postgresql://ada:secret@localhost/plant")
    with pytest.raises(ParameterError) as refusal:
        read(folder, text + "rows_per_unit = 0")
    assert "secret" not in str(refusal.value)


def test_a_source_is_made_in_python_as_well() -> None:
    source = Source(TABLE, domains=ROOMS, bound=Bound(4), ledger="b.ledger", defaults={"slack": 3, "miss_rate": 0.25})
    assert source.domain() == ROOMS
    assert dict(source.defaults) == {"slack": 3, "miss_rate": Fraction(1, 4)}
    assert Source(TABLE, domains={"a": ROOMS, "b": ROOMS}, default_domain="b").domain() == ROOMS


def test_a_float_promises_what_it_is_written_as_or_more() -> None:
    assert Source(TABLE, defaults={"miss_rate": 0.05}).defaults["miss_rate"] == Fraction(1, 20)
    assert Source(TABLE, defaults={"miss_rate": 0.3}).defaults["miss_rate"] == Fraction(0.3) < Fraction(3, 10)
    assert Source(TABLE, defaults={"slack": 0.1}).defaults["slack"] == Fraction(1, 10)


def test_the_domain_must_be_clear() -> None:
    with pytest.raises(ParameterError, match="needs a domain, because keys are never read from the data"):
        Source(TABLE).domain()
    with pytest.raises(ParameterError, match="Say which domain is asked about, a or b: name it with JOIN"):
        Source(TABLE, domains={"a": ROOMS, "b": ROOMS}).domain()
    with pytest.raises(ParameterError, match=r"no domain 'room' \(did you mean 'rooms'\?\)"):
        Source(TABLE, domains={"rooms": ROOMS}).domain("room")


@pytest.mark.parametrize(
    "given",
    [
        {"table": "presence.csv"},
        {"domains": ["a"]},
        {"domains": {"a": ["x"]}},
        {"domains": {"a": ROOMS}, "default_domain": "b"},
        {"bound": 3},
        {"ledger": 3},
        {"ledger": ""},
        {"defaults": {"slak": 3}},
        {"defaults": {"slack": Thing()}},
        {"defaults": {"objective": 3}},
        {"place": 3},
        {"time": ""},
    ],
)
def test_a_source_that_is_made_wrongly_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as refusal:
        Source(**{"table": TABLE, **given})
    assert str(refusal.value).endswith(".")


def test_what_a_source_promises_cannot_be_changed() -> None:
    source = Source(TABLE, defaults={"slack": 3})
    with pytest.raises(TypeError):
        source.defaults["slack"] = Fraction(0)  # type: ignore[index]
