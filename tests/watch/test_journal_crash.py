"""Kill -9 at random moments: what was said to be decided is there, and every slot is there whole or not at all."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from louver.watch.journal import Journal
from tests.watch.alarms_made import NOON, SLOT

KILLS = 12
ROOT = Path(__file__).parents[2]

# Each slot turns the state over, releases its number and raises an alarm; then the slot is written out as decided.
CHILD = """
import sys
from tests.watch.alarms_made import NOON, SLOT, alarm
from louver.watch.journal import Journal

with Journal.open(sys.argv[1]) as journal:
    slot = (journal.decided("fire-limit") or NOON - SLOT) + SLOT
    while True:
        step = (slot - NOON) // SLOT
        with journal.slot("fire-limit", slot) as change:
            change.set("Aula", "clear" if step % 2 else "firing", slot, step, 0)
            change.released("Aula", step)
            change.alarm(alarm("clear" if step % 2 else "firing", slot=slot, to=("desk", "file")))
        sys.stdout.write(f"{slot}\\n")
        sys.stdout.flush()
        slot += SLOT
"""


def test_a_journal_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    dice, said = random.Random(7), NOON - SLOT
    for _ in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path / "journal")], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert child.stdout is not None
        first = int(child.stdout.readline())
        assert first in (said + SLOT, said + 2 * SLOT)  # the last one may have been decided and not said
        time.sleep(dice.uniform(0, 0.03))
        child.kill()
        said = max([first, *map(int, child.communicate()[0].split())])
        check(tmp_path / "journal", said)
    assert said > NOON + KILLS * SLOT


def check(path: Path, said: int) -> None:
    with Journal.open(path) as journal:
        last = journal.decided("fire-limit")
        assert last in (said, said + SLOT)
        assert last is not None
        steps = (last - NOON) // SLOT
        assert [each.value for each in journal.released("fire-limit")] == list(range(steps + 1))
        state = journal.state("fire-limit", "Aula")
        assert state is not None
        assert (state.slot, state.streak) == (last, steps)
        alarms = journal.alarms(open_only=False)
        assert [each.alarm.slot for each in alarms] == [NOON + step * SLOT for step in range(steps + 1)]
        assert all({sent.channel for sent in each.sent} == {"desk", "file"} for each in alarms)
        assert [each.alarm.slot for each in journal.alarms()] == ([] if steps % 2 else [last])
        with journal._file.read() as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
