"""What `louver ask` refuses before it pays says what is meant and what to write, and proposes only what would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.asking import BARE, CROWDED, DESCRIBED, PROMISE, Tell

ROOM = "SELECT room FROM presence GROUP BY room HAVING "
DAYS = """
[source.presence]
table = "presence.csv"
dataset = "house"
unit = "row"
ledger = "house.ledger"
domain = "rooms"
[source.presence.columns]
hour = "hour(time)"
[domain.rooms]
file = "rooms.csv"
[domain.room_days]
keys = ["room", "day"]
room = { domain = "rooms" }
day = { from = 2026-03-01, to = 2026-03-03 }
[domain.room_hours]
keys = ["room", "hour"]
room = { domain = "rooms" }
hour = { from = 8, to = 17 }
[ask]
miss_rate = 0.05
slack = 10
budget = 1
"""
OF_ONE_DAY = "SELECT room, day FROM presence WHERE day = {} GROUP BY room, day HAVING count(*) {}"


def said(told: object) -> str:
    return str(getattr(told, "err", "")).splitlines()[-1]


@pytest.fixture
def days(tell: Tell) -> Tell:
    """Two lists of keys beside the rooms; 300 rows in the hall and 3 in the lab on each of 3 days."""
    rows = [
        f"{room},2026-03-0{day},2026-03-0{day} 09:00:00"
        for day in (1, 2, 3)
        for room, size in (("hall", 300), ("lab", 3))
        for _ in range(size)
    ]
    Path("presence.csv").write_text("\n".join(["room,day,time", *rows]))
    Path("louver.toml").write_text(DAYS)
    return tell


def test_a_join_of_another_domain_is_refused(tell: Tell) -> None:
    sql = CROWDED.replace("rooms", "limits")
    told = tell("presence.csv", sql, *BARE[2:], *PROMISE, "--dry-run")
    assert told.code == 2
    assert "joins 'limits', but the domain that was given is 'rooms'" in said(told)
    Path("louver.toml").write_text(DESCRIBED)
    assert "joins 'limits', and there is no such domain (there are rooms, some)" in said(tell("presence", sql))
    assert "the domain that was given is 'some'" in said(tell("presence", CROWDED, "--domain", "some"))


def test_a_domain_is_joined_by_its_name_whatever_its_case(tell: Tell) -> None:
    assert tell("presence.csv", CROWDED.replace("rooms", "Rooms"), *BARE[2:], *PROMISE, "--dry-run").code == 0


def test_a_join_that_would_count_rows_several_times_is_refused(days: Tell) -> None:
    told = days("presence", "SELECT room FROM presence JOIN room_days USING (room) GROUP BY room HAVING count(*) > 10")
    assert told.code == 2
    assert "would count rows several times" in said(told)
    assert "leave the JOIN out, and give it with --domain room_days" in said(told)
    assert days("presence", ROOM + "count(*) > 10", "--domain", "room_days", "--dry-run").code == 0


def test_keys_that_where_leaves_out_are_not_asked_about(days: Tell) -> None:
    """Also where a key without rows would meet the condition."""
    sql = OF_ONE_DAY.format("DATE '2026-03-02'", "< 100")
    shown = days("presence", sql, "--domain", "room_days", "--dry-run")
    assert "3 of the 9 of the domain, by WHERE" in shown.words
    answer = days("presence", sql, "--domain", "room_days", "--json").json["answer"]
    assert answer["keys"] == 3
    assert ["lab", "2026-03-02"] in answer["flagged"]
    assert {day for _, day in answer["flagged"]} == {"2026-03-02"}


def test_a_text_that_writes_a_day_asks_for_that_day(days: Tell) -> None:
    """And pays as the day does: the ledger holds one kind of values for a column."""
    for written in ("'2026-03-02'", "DATE '2026-03-03'"):
        assert days("presence", OF_ONE_DAY.format(written, "> 100"), "--domain", "room_days").code == 0


def test_a_text_that_writes_no_day_is_refused(days: Tell) -> None:
    told = days("presence", OF_ONE_DAY.format("'tomorrow'", "> 100"), "--domain", "room_days")
    assert told.code == 2
    assert (
        "Column 'day' holds days, so it cannot be compared with the text 'tomorrow'; write DATE '2026-01-31'."
        in said(told)
    )


def test_filter_on_a_key_is_sent_to_where(days: Tell) -> None:
    sql = "SELECT room, day FROM presence GROUP BY room, day HAVING count(*) FILTER (WHERE day = DATE '2026-03-02') < 5"
    assert "A condition on the key 'day' goes to WHERE" in said(days("presence", sql, "--domain", "room_days"))


def test_a_refusal_proposes_a_wider_slack(tell: Tell) -> None:
    assert tell(*BARE, *PROMISE, "--budget", "0.5").code == 0
    told = tell("presence.csv", ROOM + "count(*) > 200", *BARE[2:], "--miss-rate", "0.05", "--slack", "1")
    assert told.code == 3
    slack = said(told).partition(" a slack of ")[2].removesuffix(".")
    assert tell("presence.csv", ROOM + "count(*) > 200", *BARE[2:], "--miss-rate", "0.05", "--slack", slack).code == 0


def test_a_refusal_widens_several_slacks_together(tell: Tell) -> None:
    sql = ROOM + "count(*) > 200 AND sum(least(greatest(watts, 0), 64)) > 1000"
    promise = ("--miss-rate", "0.05", "--budget", "0.5")
    told = tell("presence.csv", sql, *BARE[2:], *promise, "--slack", "10,100")
    assert told.code == 3
    assert "Nothing less would fit" not in told.err
    slacks = said(told).partition("slacks of ")[2].partition(";")[0].replace(", ", " ").replace(",", "").split()
    assert len(slacks) == 2
    assert tell("presence.csv", sql, *BARE[2:], *promise, "--slack", ",".join(slacks)).code == 0


def test_a_slack_past_every_threshold_is_said_to_tell_little(tell: Tell) -> None:
    told = tell("presence.csv", ROOM + "count(*) > 20", *BARE[2:], *PROMISE, "--budget", "0.05")
    assert told.code == 3
    assert ", at which any key may be flagged" in told.err


def test_a_refusal_proposes_no_day_beyond_the_domain(days: Tell) -> None:
    sql = OF_ONE_DAY.format("DATE '2026-03-0{}'", "> 100")
    for day in (2, 2, 3, 3):
        assert days("presence", sql.format(day), "--domain", "room_days").code == 0
    elsewhere = days("presence", sql.format(1), "--domain", "room_days", "--slack", "4")
    assert elsewhere.code == 0
    assert "from 2026-03" not in days("presence", sql.format(3), "--domain", "room_days").err


def test_a_refusal_proposes_another_day_of_the_domain(days: Tell) -> None:
    sql = OF_ONE_DAY.format("DATE '2026-03-01'", "> 100")
    for _ in range(2):
        assert days("presence", sql, "--domain", "room_days").code == 0
    assert "about day from 2026-03-02 00:00 UTC on" in days("presence", sql, "--domain", "room_days").err


def test_a_dry_run_says_that_a_run_would_be_refused(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--budget", "0.1", "--dry-run")
    assert told.code == 0
    assert "refused a run would be: The budget does not suffice: 0.4148" in told.words
    assert tell(*BARE, *PROMISE, "--budget", "0.5").code == 0
    told = tell(*BARE, *PROMISE, "--dry-run", "--json")
    assert told.code == 0
    assert told.json["refused"].startswith("The budget does not suffice on")
    assert tell(*BARE, "--miss-rate", "0.4", "--slack", "100", "--dry-run", "--json").json["refused"] is None


def test_a_column_of_an_unjoined_domain_is_offered_the_join(tell: Tell) -> None:
    told = tell("presence.csv", ROOM + "count(*) > rooms.capacity", *BARE[2:], *PROMISE)
    assert "write JOIN rooms USING (room), or capacity alone." in said(told)


def test_a_missing_file_is_named_first(tell: Tell) -> None:
    told = tell("nothing.csv", "SELECT FORM", "--unit", "row", "--domain", "none.csv")
    assert (told.code, said(told)) == (4, "louver ask: There is no file nothing.csv.")


def test_a_database_without_a_table_is_told_which(tell: Tell) -> None:
    Path("plant.duckdb").touch()
    told = tell("plant.duckdb", "SELECT room FROM readings GROUP BY room HAVING count(*) > 3", "--unit", "row")
    assert (told.code, said(told)) == (2, "louver ask: Name the table: plant.duckdb#readings.")


def test_the_keys_of_a_bare_domain_are_those_of_the_question(tell: Tell) -> None:
    Path("rooms.csv").write_text("capacity,room\n180,hall\n180,lab\n")
    assert tell(*BARE, *PROMISE, "--dry-run", "--json").json["keys"] == 2


def test_a_domain_that_has_the_key_is_named(days: Tell) -> None:
    told = days("presence", "SELECT room, hour FROM presence GROUP BY room, hour HAVING count(*) > 9")
    assert "The domain 'rooms' has no key column 'hour', but the domain 'room_hours' has" in said(told)
    assert "give it with --domain room_hours." in said(told)


def test_several_domains_are_chosen_from_by_join_or_flag(days: Tell) -> None:
    Path("louver.toml").write_text(DAYS.replace('domain = "rooms"\n[source', "[source"))
    told = days("presence", ROOM + "count(*) > 9")
    assert "name it with JOIN in the question, or give it with --domain." in said(told)


def test_a_unit_may_be_written_bare(tell: Tell) -> None:
    told = tell(*BARE[:2], "--unit", "device", *BARE[4:], *PROMISE, "--dry-run")
    assert told.code == 0
    assert "everything recorded about one device" in told.words
    told = tell(*BARE[:2], "--unit", "devize", *BARE[4:], *PROMISE, "--dry-run")
    assert "has no column 'devize' (did you mean 'device'?)" in said(told)


def test_times_are_not_reckoned_from_now(days: Tell) -> None:
    for time in ("now() - INTERVAL '7 days'", "CURRENT_DATE - 7", "DATE '2026-03-02' - INTERVAL 1 DAY"):
        sql = f"SELECT room FROM presence WHERE time > {time} GROUP BY room HAVING count(*) > 9"
        assert "Times are written out, like DATE '2026-01-31'" in said(days("presence", sql))
