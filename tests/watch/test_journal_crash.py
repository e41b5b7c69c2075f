"""Kill -9 at random moments: what was said to be decided is there, and every slot is there whole or not at all."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from louver.watch.journal import Journal
from tests.watch.alarms_made import NOON, SLOT

KILLS = 30
ROOT = Path(__file__).parents[2]

# For each line it is given, a child that is to be killed, so that all is loaded once. Each slot turns
# the state over, releases its number and raises an alarm; then the slot is written out as decided.
NURSERY = """
import os, sys
from tests.watch.alarms_made import NOON, SLOT, alarm
from louver.watch.journal import Journal

def child():
    with Journal.open(sys.argv[1]) as journal:
        slot = (journal.decided("fire-limit") or NOON - SLOT) + SLOT
        while True:
            step = (slot - NOON) // SLOT
            with journal.slot("fire-limit", slot) as change:
                change.set("Aula", "clear" if step % 2 else "firing", slot, step, 0)
                change.released("Aula", step)
                change.alarm(alarm("clear" if step % 2 else "firing", slot=slot, to=("desk", "file")))
            print(slot, flush=True)
            slot += SLOT

for _ in sys.stdin:
    pid = os.fork()
    if pid == 0:
        child()
    print("born", pid, flush=True)
    os.waitpid(pid, 0)
    print("dead", flush=True)
"""


def test_a_journal_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    dice, said = random.Random(7), NOON - SLOT
    command = [sys.executable, "-c", NURSERY, str(tmp_path / "journal")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        for _ in range(KILLS):
            nursery.stdin.write("\n")
            nursery.stdin.flush()
            lines = [nursery.stdout.readline().split() for _ in range(2)]
            (pid,) = (int(words[1]) for words in lines if words[0] == "born")
            (first,) = (int(words[0]) for words in lines if words[0] != "born")
            assert first in (said + SLOT, said + 2 * SLOT)  # the last one may have been decided and not said
            time.sleep(dice.uniform(0, 0.015))
            os.kill(pid, signal.SIGKILL)
            said = max([first, *map(int, iter(lambda: nursery.stdout.readline().strip(), "dead"))])  # type: ignore[union-attr]
            check(tmp_path / "journal", said)
        nursery.stdin.close()
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
