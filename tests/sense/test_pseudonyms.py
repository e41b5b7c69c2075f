"""The door, its salt, and salts that change."""

from __future__ import annotations

import hashlib
import hmac
import random
from datetime import timedelta
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import DataError, ParameterError
from louver.sense import Batch, Door, Event, Occupancy, Rotating, Rule, rotating
from louver.sense.pseudonyms import is_address
from tests.sense.slowly import MINUTE, REGIONS

SALT = bytes(range(32))
SECOND = 1_000_000
SPELLINGS = (
    "a4:5e:60:c1:0f:9b",
    "A4:5E:60:C1:0F:9B",
    "a4-5e-60-c1-0f-9b",
    "A4-5E-60-C1-0F-9B",
    "a45e.60c1.0f9b",
    "A45E-60C1-0F9B",
    "a45e60-c10f9b",
    "a45e60c10f9b",
    " A45E60C10F9B\n",
    "a4 5e 60 c1 0f 9b",
    "A45E 60C1 0F9B",
    "a4.5e.60.c1.0f.9b",
    "A4-5E-60-C1-0F-9B:guests",
    "A4-5E-60-C1-0F-9B:",
    "a45e.60c1.0f9b:guests",
    "A45E60C10F9B:guests",
    "a4:5e:60:c1:0f:9b#guests",
)
LONG = ("a4:5e:60:ff:fe:c1:0f:9b", "A4-5E-60-FF-FE-C1-0F-9B", "a45e.60ff.fec1.0f9b", "A45E60FFFEC10F9B")


def test_a_pseudonym_is_the_first_63_bits_of_the_keyed_hash() -> None:
    digest = hmac.new(SALT, b"a45e60c10f9b", hashlib.sha256).digest()
    assert Door(SALT).person(SPELLINGS[0]) == int.from_bytes(digest[:8], "big") >> 1


def test_every_spelling_of_an_address_is_one_device() -> None:
    assert len({Door(SALT).person(spelling) for spelling in SPELLINGS}) == 1
    assert all(map(is_address, SPELLINGS))


def test_every_spelling_of_an_address_of_eight_octets_is_one_device_and_not_the_one_of_six() -> None:
    assert len({Door(SALT).person(spelling) for spelling in (*LONG, SPELLINGS[0])}) == 2


@pytest.mark.parametrize(
    "other",
    [
        *("a4:5e:60:c1:0f:9c", "a4:5e-60:c1:0f:9b", "a4:5e:60:c1:0f", "A45E60C10F9B1", "card"),
        *("a4:5e:60:c1:0f:9b:guests", "a4-5e-60-c1-0f-9b guests", "guests:A4-5E-60-C1-0F-9B", "a4:5e:60:c1:0f:9b:11"),
    ],
)
def test_what_is_no_spelling_of_it_is_another_device(other: str) -> None:
    assert Door(SALT).person(other) != Door(SALT).person(SPELLINGS[0])


def test_ids_that_are_no_addresses_keep_their_capitals() -> None:
    assert not is_address("Card 7")
    assert Door(SALT).person("Card 7") != Door(SALT).person("card 7")


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_pseudonym_that_a_column_can_hold(device: str) -> None:
    assert 0 <= Door(SALT).person(device) < 2**63


def test_another_salt_gives_other_pseudonyms() -> None:
    assert Door(SALT).person("a") != Door(SALT[::-1]).person("a")


def test_a_salt_that_is_too_short_is_refused() -> None:
    with pytest.raises(ParameterError, match="A salt is 16 secret random bytes or more"):
        Door(b"short")


def test_a_salt_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "salt"
    first = Door.open(path).person("a")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["salt"]
    assert Door.open(path).person("a") == first
    assert Door.open(tmp_path / "other").person("a") != first


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_salt_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "salt"
    Door.open(path)
    path.chmod(mode)
    with pytest.raises(DataError, match=f"can be used by others; make it yours alone: chmod 600 {path}"):
        Door.open(path)


@pytest.mark.parametrize("written", ["", "abc", "zz" * 32, "00" * 31])
def test_a_file_without_a_salt_is_refused_and_stays(tmp_path: Path, written: str) -> None:
    path = tmp_path / "salt"
    path.write_text(written)
    path.chmod(0o600)
    with pytest.raises(DataError, match="holds no salt; restore it"):
        Door.open(path)
    assert path.read_text() == written


def test_neither_an_event_nor_a_door_shows_a_device() -> None:
    door, event = Door(SALT), Event(SPELLINGS[0], "a1", 1)
    door.person(event.device)
    shown = f"{event} {event!r} {door} {door!r} {door.admit([event])!r} {Rotating(1)!r}".lower()
    assert not any(spelling.strip().lower() in shown for spelling in SPELLINGS)


def test_events_are_admitted_with_pseudonyms_and_values() -> None:
    door = Door(SALT)
    found = door.admit([Event("a", "a1", 5, 21.5), Event("b", "b1", 10**30)])
    assert found.person.tolist() == [door.person("a"), door.person("b")]
    assert found.place.tolist() == ["a1", "b1"]
    assert found.time.tolist() == [5, -1]  # a time that no column holds is out of range
    assert [str(value) for value in found.value] == ["21.5", "nan"]


def test_everybody_changes_at_the_same_times() -> None:
    door = Rotating(timedelta(minutes=10))
    seven, nine, ten, nineteen = (door.person("a", minute * MINUTE) for minute in (7, 9, 10, 19))
    assert seven == nine != ten == nineteen
    assert door.person("A ", 9 * MINUTE) != nine


def test_each_device_changes_at_times_counted_from_its_first_event() -> None:
    door = Rotating(timedelta(minutes=10), per_device=True)
    first = [door.person("a", minute * MINUTE) for minute in (7, 10, 16)]
    second = [door.person("a", minute * MINUTE) for minute in (17, 26)]
    third = door.person("a", 28 * MINUTE)
    assert len(set(first)) == len(set(second)) == 1
    assert len({first[0], second[0], third}) == 3
    assert door.person("b", 12 * MINUTE) == door.person("b", 21 * MINUTE)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50)), unique=True),
    st.booleans(),
)
def test_at_one_second_to_live_each_event_is_a_person(events: list[tuple[str, int]], per_device: bool) -> None:
    door = Rotating(timedelta(seconds=1), per_device)
    assert len({door.person(device, second * SECOND) for device, second in events}) == len(events)


@pytest.mark.parametrize("per_device", [False, True])
def test_salts_are_thrown_away_and_come_back_different(per_device: bool) -> None:
    door = Rotating(timedelta(minutes=10), per_device)
    old, new = door.person("a", 5 * MINUTE), door.person("a", 18 * MINUTE)
    assert door.discard(10 * MINUTE if not per_device else 15 * MINUTE) == 1
    assert door.person("a", 5 * MINUTE) != old
    assert door.person("a", 18 * MINUTE) == new


MOMENTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["a1", "b1", "?"]), st.integers(0, 240)), max_size=30
)


@given(MOMENTS, st.booleans(), st.integers(0, 999))
@settings(max_examples=25)
def test_any_order_within_the_lateness_gives_the_people_of_the_batch(
    events: list[tuple[str, str, int]], per_device: bool, seed: int
) -> None:
    """Times in quarters of a minute; epochs of 7 minutes, and a lateness just below them."""
    quarter, ttl = MINUTE // 4, 7 * MINUTE
    dice, rule = random.Random(seed), Rule(lateness=7 * MINUTE - 1)
    seen = [Event(device, place, time * quarter) for device, place, time in events]
    seen.sort(key=lambda event: event.time + dice.randint(0, rule.lateness))
    door, stream = Rotating(ttl, per_device), Occupancy(rule, REGIONS)
    persons = set()
    for event in seen:  # one by one, as a feed would
        admitted = door.admit([event])
        assert (
            stream.add(admitted).any() or event.place == "?" or (*admitted.person, event.place, event.time) in persons
        )
        persons.add((int(admitted.person[0]), event.place, event.time))
    table = pyarrow.table({name: [getattr(event, name) for event in seen] for name in ("device", "place", "time")})
    if seen:
        batch = Batch(table, rule, REGIONS, Rotating(ttl, per_device)).occupancy()
        rows = stream.finish().rows
        assert sorted(zip(rows.slot, rows.names(), strict=True)) == sorted(zip(batch.slot, batch.names(), strict=True))
    firsts = {each: min((e.time for e in seen if e.device == each), default=0) for each in "abc"}
    by_epoch = {(e.device, (e.time - (firsts[e.device] if per_device else 0)) // ttl) for e in seen}
    assert len({person for person, *_ in persons}) == len(by_epoch)


@pytest.mark.parametrize("per_device", [False, True])
def test_a_batch_counts_as_the_stream_of_changing_pseudonyms_does(per_device: bool, tmp_path: Path) -> None:
    minutes = [0, 3, 6, 9, 12, 15, 33, 34, 35, 36]
    lines = [f"{SPELLINGS[n % 9].strip()},a1,1970-01-01 00:{minute:02}:00" for n, minute in enumerate(minutes)]
    path = tmp_path / "events.csv"
    path.write_text("\n".join(["device,place,time", *lines, "card,b1,1970-01-01T00:04:00Z"]) + "\n")
    door = Rotating(timedelta(minutes=5), per_device)
    rows = Batch(path, Rule(), REGIONS, door).occupancy()
    events = [Event(SPELLINGS[0], "a1", minute * MINUTE) for minute in minutes] + [Event("card", "b1", 4 * MINUTE)]
    expected = Batch(door.admit(events), Rule(), REGIONS).occupancy()
    assert sorted(zip(rows.slot, rows.names(), strict=True)) == sorted(
        zip(expected.slot, expected.names(), strict=True)
    )
    assert len(rows) > len(Batch(path, Rule(), REGIONS, Door(SALT)).occupancy())


def test_a_restart_in_an_epoch_changes_nobody_and_one_after_it_everybody(tmp_path: Path) -> None:
    path, ttl = tmp_path / "keys" / "salts", 10 * MINUTE
    first = Rotating.open(path, ttl)
    then = first.admit([Event("a", "a1", 9 * MINUTE), Event("a", "a1", 10 * MINUTE)]).person.tolist()
    again = Rotating.open(path, ttl)
    assert [again.person("a", minute * MINUTE) for minute in (9, 10)] == then
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["salts"]
    assert again.discard(10 * MINUTE) == 1
    later = Rotating.open(path, ttl)
    assert later.person("a", 10 * MINUTE) == then[1]
    assert later.person("a", 9 * MINUTE) != then[0]


def test_a_salt_that_is_thrown_away_is_not_in_its_file_any_more(tmp_path: Path) -> None:
    door = Rotating.open(tmp_path / "salts", MINUTE)
    door.person("a", 0)
    salt = door._salts[0, 0].hex()
    assert salt in (tmp_path / "salts").read_text()
    door.discard(MINUTE)
    assert salt not in (tmp_path / "salts").read_text()


def test_salts_of_another_length_of_life_or_of_none_are_refused(tmp_path: Path) -> None:
    Rotating.open(tmp_path / "salts", MINUTE).person("a", 0)
    Door.open(tmp_path / "salt")
    for name in ("salts", "salt"):
        with pytest.raises(DataError, match=f"{name} holds no salts that change this often; name another file"):
            Rotating.open(tmp_path / name, 2 * MINUTE)
    with pytest.raises(DataError, match="holds no salt; restore it"):
        Door.open(tmp_path / "salts")
    (tmp_path / "salts").write_text((tmp_path / "salts").read_text()[:-5])
    with pytest.raises(DataError, match="holds no salts; restore it, or else everybody is there twice for a while"):
        Rotating.open(tmp_path / "salts", MINUTE)


def test_events_of_any_time_cannot_fill_the_file_of_salts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotating, "MOST_SALTS", 5)
    Rotating.open(tmp_path / "salts", MINUTE).admit([Event("a", "a1", hour * 60 * MINUTE) for hour in range(50)])
    assert len((tmp_path / "salts").read_text().splitlines()) == 6
