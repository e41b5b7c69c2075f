"""The simulated building is possible and believable. The seed fixes all data, so nothing flakes."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.sense.building import Building
from louver.sense.simulate import connecting, simulate
from louver.sense.simulate.dates import HOUR, Incident, kind_of_day
from louver.sense.simulate.dice import Dice
from louver.sense.simulate.hall import SMALL_HALL, hall
from louver.sense.simulate.people import CARRIED, KINDS, devices, people
from louver.sense.simulate.readings import readings_of_day
from louver.sense.simulate.simulated import Simulated
from louver.sense.simulate.stays import OUTSIDE, Stays, settled

Times = NDArray[np.datetime64]


@pytest.fixture(scope="module")
def fortnight() -> Simulated:
    """The large building from Thursday, 1 February 2018, with two weekends."""
    return simulate("building", days=14, people=8000)


@pytest.fixture(scope="module")
def house(fortnight: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Building:
    path = tmp_path_factory.mktemp("house") / "building.toml"
    path.write_text(fortnight.texts["building.toml"], encoding="utf-8")
    return Building.read(path)


def since_midnight(times: Times) -> NDArray[np.int64]:
    return np.asarray((times - times.astype("datetime64[D]")).astype("timedelta64[ms]"), dtype=np.int64)


def weekday(times: Times) -> NDArray[np.int64]:
    """Monday is 0; 1 January 1970 was a Thursday."""
    return (times.astype("datetime64[D]").astype(np.int64) + 3) % 7


def test_the_building_preset_is_as_large_as_the_thesis_data() -> None:
    made = simulate("building")
    assert 0.9 * 3_895_732 < len(made.column("events", "time")) < 1.1 * 3_895_732
    assert len(set(made.column("events", "place"))) == 64
    assert len(np.unique(made.column("truth/stays", "person"))) == 36_000
    days = np.unique(made.column("events", "time").astype("datetime64[D]"))
    assert (days[0], days[-1], len(days)) == (np.datetime64("2018-02-01"), np.datetime64("2018-04-30"), 89)


def test_the_building_has_six_floors_and_64_regions_with_an_access_point_each(house: Building) -> None:
    assert len(house.floors) == 6
    assert len(house.regions) == len(house.access_points) == 64
    assert house.devices_per_person is not None
    assert 1 < house.devices_per_person < 1.5


def test_weekends_are_nearly_empty_and_so_are_nights(fortnight: Simulated) -> None:
    times = fortnight.column("events", "time")
    by_day = np.bincount(weekday(times), minlength=7)
    assert by_day[5:].max() < 0.1 * by_day[:5].min()
    at = since_midnight(times)
    assert ((at < 6 * HOUR) | (at > 22 * HOUR)).mean() < 0.002
    assert ((at > 9 * HOUR) & (at < 17 * HOUR)).mean() > 0.7


def test_lecture_rooms_fill_and_empty_by_the_timetable(fortnight: Simulated) -> None:
    regions, start = fortnight.column("truth/stays", "region"), fortnight.column("truth/stays", "start")
    in_halls = np.array([region.startswith("hall-") or "-class-" in region for region in regions])
    begins = since_midnight(start)[in_halls] // 60_000
    near = np.zeros(len(begins), dtype=bool)
    for lecture in (480, 570, 660, 750, 840, 930, 1020):
        near |= (begins >= lecture - 10) & (begins <= lecture + 16)
    assert near.mean() > 0.98
    lobby = np.bincount((since_midnight(start)[regions == "lobby"] // (10 * 60_000)), minlength=144)
    assert lobby[645 // 10] > 2 * lobby[615 // 10]  # before the lectures at 11:00, against half an hour earlier


def test_people_of_each_role_live_as_their_role_does(fortnight: Simulated) -> None:
    person, start, end = (fortnight.column("truth/stays", name) for name in ("person", "start", "end"))
    role = fortnight.column("truth/people", "role")
    day = start.astype("datetime64[D]").astype(np.int64)
    hours = (end - start).astype("timedelta64[s]").astype(np.int64) / 3600
    cells, at = np.unique(person * 100_000 + day, return_inverse=True)
    each = np.bincount(at, weights=hours)
    owner = role[cells // 100_000]
    assert 5 < each[owner == "staff"].mean() < 8.5
    assert 1 < each[owner == "student"].mean() < 3
    assert 0.5 < each[owner == "visitor"].mean() < 2
    staff_days = np.bincount(cells[owner == "staff"] // 100_000)
    visitor_days = np.bincount(cells[owner == "visitor"] // 100_000)
    assert staff_days[staff_days > 0].mean() > 6
    assert visitor_days[visitor_days > 0].mean() < 2.5


def test_staff_sit_in_offices_and_nobody_else_does(fortnight: Simulated) -> None:
    role = fortnight.column("truth/people", "role")[fortnight.column("truth/stays", "person")]
    hours = (fortnight.column("truth/stays", "end") - fortnight.column("truth/stays", "start")).astype(np.int64)
    in_offices = np.array(["-offices-" in region for region in fortnight.column("truth/stays", "region")])
    assert hours[in_offices & (role == "staff")].sum() > 0.6 * hours[role == "staff"].sum()
    assert not in_offices[role != "staff"].any()


def test_nobody_is_in_two_rooms_at_one_time(fortnight: Simulated) -> None:
    person, start, end = (fortnight.column("truth/stays", name) for name in ("person", "start", "end"))
    order = np.lexsort((start, person))
    person, start, end = person[order], start[order], end[order]
    assert (end > start).all()
    same = person[1:] == person[:-1]
    assert (start[1:][same] >= end[:-1][same]).all()


def test_no_device_is_heard_twice_at_one_time(fortnight: Simulated) -> None:
    device, time = fortnight.column("events", "device"), fortnight.column("events", "time")
    assert (time[1:] >= time[:-1]).all()
    assert len(set(zip(device, time.astype(np.int64), strict=True))) == len(device)


def test_a_device_is_heard_only_where_its_owner_is_or_next_door(fortnight: Simulated, house: Building) -> None:
    owner = dict(
        zip(fortnight.column("truth/devices", "device"), fortnight.column("truth/devices", "person"), strict=True)
    )
    columns = [fortnight.column("truth/stays", name) for name in ("person", "start", "end", "region")]
    stays: dict[int, list[tuple[Any, ...]]] = {}
    for person, start, end, region in zip(*columns, strict=True):
        stays.setdefault(person, []).append((start, end, region))
    floor = {region.id: place.id for place in house.floors for region in place.regions}
    at_home = 0
    sampled = list(zip(*(fortnight.column("events", name)[::37] for name in ("device", "place", "time")), strict=True))
    for device, place, time in sampled:
        (where,) = [region for start, end, region in stays[owner[device]] if start <= time < end]
        region = house.region_of(place)
        assert region is not None
        assert floor[region] == floor[where]
        at_home += region == where
    assert 0.93 < at_home / len(sampled) < 0.99


def test_devices_of_different_kinds_wait_differently(fortnight: Simulated) -> None:
    kind = dict(
        zip(fortnight.column("truth/devices", "device"), fortnight.column("truth/devices", "kind"), strict=True)
    )
    device, time = fortnight.column("events", "device"), fortnight.column("events", "time").astype(np.int64)
    order = np.argsort(device, kind="stable")
    gaps = np.diff(time[order]) / 60e6
    same = (device[order][1:] == device[order][:-1]) & (gaps < 120)
    kinds = np.array([kind[each] for each in device[order][1:]])
    means = {name: gaps[same & (kinds == name)].mean() for name in KINDS}
    assert means["laptop"] < means["phone"] < means["quiet phone"] < means["watch"]
    assert 3 < means["laptop"] < 9


def test_the_broken_access_point_is_silent_then_and_only_then(fortnight: Simulated) -> None:
    broken = json.loads(fortnight.texts["truth/incidents.json"])[0]
    assert broken["what"] == "a broken access point"
    start, end = (
        np.datetime64(datetime.fromisoformat(broken[name]).replace(tzinfo=None), "us") for name in ("start", "end")
    )
    heard = fortnight.column("events", "time")[fortnight.column("events", "place") == broken["place"]]
    assert end - start >= np.timedelta64(6, "h")
    assert not ((heard >= start) & (heard < end)).any()
    assert (heard < start).sum() > 50
    assert (heard >= end).sum() > 50
    stays = fortnight.column("truth/stays", "start")[fortnight.column("truth/stays", "region") == broken["region"]]
    assert ((stays >= start) & (stays < end)).sum() > 20  # people were there


def test_the_event_is_over_its_capacity_in_truth_and_in_what_is_heard(fortnight: Simulated, house: Building) -> None:
    event = json.loads(fortnight.texts["truth/incidents.json"])[1]
    assert event["what"] == "an overcrowded event"
    start, end = (
        np.datetime64(datetime.fromisoformat(event[name]).replace(tzinfo=None), "us") for name in ("start", "end")
    )
    time, place, people = (fortnight.column("truth/breaches", name) for name in ("time", "place", "people"))
    there = (place == event["place"]) & (time >= start) & (time < end)
    assert there.sum() >= 20
    assert people[there].max() > 1.2 * 250
    (point,) = next(region.access_points for region in house.regions if region.id == event["region"])
    heard = (
        fortnight.column("events", "time"),
        fortnight.column("events", "place"),
        fortnight.column("events", "device"),
    )
    during = (heard[0] >= start) & (heard[0] < end) & (heard[1] == point)
    assert len(set(heard[2][during])) > 250
    assert not (place[~((time >= start - np.timedelta64(1, "h")) & (time < end))] == event["place"]).any()


def test_breaches_are_what_a_slow_count_of_the_stays_finds(fortnight: Simulated, house: Building) -> None:
    stays = [fortnight.column("truth/stays", name) for name in ("room", "region", "start", "end")]
    limits = {("room", room.id): room.capacity for room in house.rooms}
    limits |= {("region", region.id): region.capacity for region in house.regions}
    found = set()
    for instant in np.arange(
        np.datetime64("2018-02-05T08:00"), np.datetime64("2018-02-05T17:00"), np.timedelta64(5, "m")
    ):
        inside = (stays[2] <= instant) & (stays[3] > instant)
        for level, places in (("room", stays[0]), ("region", stays[1])):
            for place, count in zip(*np.unique(places[inside], return_counts=True), strict=True):
                if count > limits[level, place]:
                    found.add((level, place, instant.astype("datetime64[us]"), count))
    listed = [fortnight.column("truth/breaches", name) for name in ("level", "place", "time", "people")]
    within = (listed[2] >= np.datetime64("2018-02-05T08:00")) & (listed[2] < np.datetime64("2018-02-05T17:00"))
    assert found
    assert found == set(zip(*(column[within] for column in listed), strict=True))


def test_energy_and_warmth_follow_people(fortnight: Simulated) -> None:
    for name, kind in (("energy", "power"), ("temperature", "temperature")):
        assert set(fortnight.column(name, "kind")) == {kind}
        time, value = fortnight.column(name, "time"), fortnight.column(name, "value")
        assert len(value) == 14 * 96 * 64
        noon = (since_midnight(time) > 10 * HOUR) & (since_midnight(time) < 16 * HOUR)
        working, night = weekday(time) < 5, since_midnight(time) < 5 * HOUR
        assert value[noon & working].mean() > 1.08 * value[night].mean()
        assert value[noon & working].mean() > value[noon & ~working].mean()
    celsius = fortnight.column("temperature", "value")
    assert 15 < celsius.min() < celsius.max() < 30


def test_a_part_of_people_carry_what_their_role_carries(fortnight: Simulated) -> None:
    role = fortnight.column("truth/people", "role")
    owner, kind = fortnight.column("truth/devices", "person"), fortnight.column("truth/devices", "kind")
    students = (role == "student").sum()
    for name, share in CARRIED["student"].items():
        assert abs(((role[owner] == "student") & (kind == name)).sum() / students - share) < 0.04
    assert (fortnight.column("truth/people", "devices") == 0).any()


def test_holidays_and_breaks_have_no_lectures() -> None:
    assert [kind_of_day(date(2018, 2, 17) + timedelta(days=number)) for number in range(4)] == [
        *("closed", "closed", "closed"),
        "teaching",
    ]
    made = simulate("building", days=3, people=2000, start=date(2018, 3, 26))
    assert not [region for region in set(made.column("truth/stays", "region")) if region.startswith("hall-")]


def test_activities_that_overlap_are_settled_one_after_the_other() -> None:
    def stays(*rows: tuple[int, int, int, int]) -> Stays:
        return Stays(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))

    made = settled(
        stays((1, 5, 20, 60), (1, 6, 30, 40), (1, OUTSIDE, 50, 55), (1, 7, 90, 95), (2, 5, 10, 12)),
        stays((1, 0, 10, 80), (3, 9, 0, 9)),
        shortest=5,
    )
    rows = list(zip(made.person, made.room, made.start, made.end, strict=True))
    assert rows == [
        (1, 0, 10, 20),
        (1, 5, 20, 30),
        (1, 6, 30, 40),
        (1, 0, 40, 50),
        (1, 0, 55, 80),
        (1, 7, 90, 95),
        (3, 9, 0, 9),
    ]


def test_the_calibration_is_what_a_count_of_heads_would_find(fortnight: Simulated, house: Building) -> None:
    """Devices that count as present, over people, at noon of each working day."""
    device, time = fortnight.column("events", "device"), fortnight.column("events", "time")
    start, end = fortnight.column("truth/stays", "start"), fortnight.column("truth/stays", "end")
    devices = people = 0
    for instant in np.arange(np.datetime64("2018-02-01T11:45"), np.datetime64("2018-02-14"), np.timedelta64(1, "D")):
        devices += len(set(device[(time > instant - np.timedelta64(10, "m")) & (time <= instant)]))
        people += int(((start <= instant) & (end > instant)).sum())
    assert house.devices_per_person is not None
    assert abs(devices / people - house.devices_per_person) < 0.12


def test_of_two_connections_of_a_device_at_one_instant_one_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """With waits of a millisecond in stays of three, most coincide."""
    monkeypatch.setattr(connecting, "KINDS", dict.fromkeys(KINDS, 1))
    made, size = hall(SMALL_HALL, "h"), 400
    carried = devices(people(size, (0.5, 0.5), made, Dice(1, 1)), Dice(1, 2))
    stays = Stays.of(np.arange(size), 0, 1000, 1003)
    heard = connecting.connections(stays, carried, made, Incident(-1, 0, 0), Dice(1, 3))
    assert len(heard) > size
    assert len(set(zip(heard.device, heard.time, strict=True))) == len(heard)


def test_each_person_adds_to_power_and_warmth() -> None:
    made = hall(SMALL_HALL, "h")
    capacity = np.array([region.capacity for region in made.building.regions])[:, np.newaxis]
    shape = (len(made.building.regions), 288)
    readings = [
        readings_of_day(made, np.broadcast_to(number, shape), 300_000, Dice(1, 1))
        for number in (np.zeros_like(capacity), np.ones_like(capacity), capacity)
    ]
    watts, warmth = ([each[kind].mean(axis=1) for each in readings] for kind in (0, 1))
    assert (watts[0] * 1.2 < watts[1]).all()
    assert (watts[1] * 1.05 < watts[2]).all()
    assert (warmth[0] + 20 < warmth[2]).all()
