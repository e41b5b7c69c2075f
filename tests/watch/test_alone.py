"""Two watchers of one journal or store: the second one is refused before it touches anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from louver.errors import DataError
from louver.watch.alone import alone
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.watching import watch
from tests.watch.made import FULL, Given, events, house, watched

HOLDS = """
import sys
from louver.sense.store import Store
with Store.open(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_watcher_of_a_journal_is_refused_until_the_first_one_ends(tmp_path: Path) -> None:
    rules = house(tmp_path)
    other = replace(rules, store=tmp_path / "other")
    with Journal.open(rules.journal) as journal:
        with (
            Pipeline.open(rules, journal),
            pytest.raises(DataError, match="Another watcher is at work with the journal"),
        ):
            Pipeline.open(other, journal)
        Pipeline.open(rules, journal).close()


def test_a_watcher_that_is_refused_sends_no_alarms_of_the_first(tmp_path: Path) -> None:
    table = f'\n[alarm.desk]\nfile = "{tmp_path}/alarms"\n'
    rules = house(tmp_path, rules=FIRE_DESK + table)
    asyncio.run(watched(rules, Given(events({"aula": FULL}))))  # an alarm waits in the journal
    with alone(rules.journal), pytest.raises(DataError, match="Another watcher"):
        asyncio.run(watch(rules, Given(), clock="events"))
    assert not (tmp_path / "alarms").exists()
    asyncio.run(watch(rules, Given(), clock="events"))
    assert (tmp_path / "alarms").exists()


FIRE_DESK = """
[rule.fire-limit]
having = "count(*) > capacity"
miss_rate = 0.05
slack = 10
to = ["desk"]
"""


def test_a_second_watcher_of_a_store_is_refused_before_it_sends_or_pays(tmp_path: Path) -> None:
    rules = house(tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(rules.store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        with pytest.raises(DataError, match="is in use by another process"):
            asyncio.run(watch(rules, Given(events({"aula": FULL})), clock="events"))
        holder.stdin.close()
    assert not Path(rules.salt).exists()


def test_the_lock_is_for_its_owner_alone(tmp_path: Path) -> None:
    with alone(tmp_path / "journal"):
        assert (tmp_path / "journal.lock").stat().st_mode & 0o077 == 0
