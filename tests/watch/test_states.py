from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from louver.watch.journal_states import CLEAR, FIRING, FIRING_UNDECIDED, NO_DATA, PENDING, STATES, UNDECIDED
from louver.watch.states import BETWEEN, BURNING, FLAGGED, NOT_FLAGGED, OUTCOMES, Standing, advanced

WITHOUT_ANSWER = (UNDECIDED, FIRING_UNDECIDED, NO_DATA)
HISTORIES = st.lists(st.tuples(st.sampled_from(OUTCOMES), st.booleans()), min_size=1, max_size=40)
LENGTHS = st.integers(1, 4)


def followed(history: list[tuple[str, bool]], pending: int, clear_after: int) -> list[Standing]:
    """The states after each slot of outcomes and gaps before them."""
    states: list[Standing] = []
    for slot, (outcome, gap) in enumerate(history):
        old = states[-1] if states else None
        states.append(advanced(old, outcome, slot, pending=pending, clear_after=clear_after, gap=gap))
    return states


def without_gaps(*outcomes: str) -> list[tuple[str, bool]]:
    return [(outcome, False) for outcome in outcomes]


@given(HISTORIES, LENGTHS, LENGTHS)
def test_a_slot_without_an_answer_is_never_clear(
    history: list[tuple[str, bool]], pending: int, clear_after: int
) -> None:
    for (outcome, _), new in zip(history, followed(history, pending, clear_after), strict=True):
        assert new.state in STATES
        assert (outcome in (UNDECIDED, NO_DATA)) == (new.state in WITHOUT_ANSWER)


@given(HISTORIES, LENGTHS, LENGTHS)
def test_so_many_flagged_slots_in_a_row_always_end_in_firing(
    history: list[tuple[str, bool]], pending: int, clear_after: int
) -> None:
    states = followed([*history, *without_gaps(*[FLAGGED] * pending)], pending, clear_after)
    assert states[-1].state == FIRING


@given(HISTORIES, LENGTHS, LENGTHS)
def test_what_begins_to_fire_was_flagged_often_enough_since_it_was_last_clear(
    history: list[tuple[str, bool]], pending: int, clear_after: int
) -> None:
    flagged = 0
    states = followed(history, pending, clear_after)
    for at, ((outcome, gap), new) in enumerate(zip(history, states, strict=True)):
        flagged = 0 if outcome in (NOT_FLAGGED, BETWEEN) or gap else flagged
        flagged += outcome == FLAGGED
        begins = new.state in BURNING and (at == 0 or states[at - 1].state not in BURNING)
        assert not begins or flagged >= pending


@given(HISTORIES, LENGTHS, LENGTHS)
def test_what_fires_is_clear_only_after_so_many_slots_in_a_row_that_are_not_flagged(
    history: list[tuple[str, bool]], pending: int, clear_after: int
) -> None:
    states = followed(history, pending, clear_after)
    for at in range(1, len(states)):
        if states[at - 1].state in BURNING and states[at].state not in BURNING:
            last = history[at - clear_after + 1 : at + 1]
            assert at >= clear_after
            assert all(outcome == NOT_FLAGGED for outcome, _ in last)
            assert not any(gap for _, gap in last[1:])


class Slowly:
    """The same by looking back over the whole history, as the words say it."""

    def __init__(self, history: list[tuple[str, bool]], pending: int, clear_after: int) -> None:
        self.history, self.pending, self.clear_after = history, pending, clear_after

    def row(self, at: int) -> list[int]:
        """The flagged slots in a row up to this one: neither a gap nor a slot that is not flagged among them."""
        found: list[int] = []
        for slot in range(at, -1, -1):
            outcome, gap = self.history[slot]
            if outcome in (NOT_FLAGGED, BETWEEN):
                break
            found += [slot] if outcome == FLAGGED else []
            if gap:
                break
        return found[::-1]

    def begins(self, at: int) -> bool:
        return self.history[at][0] == FLAGGED and len(self.row(at)) >= self.pending

    def clears(self, at: int) -> bool:
        last = self.history[max(0, at - self.clear_after + 1) : at + 1]
        whole = len(last) == self.clear_after and not any(gap for _, gap in last[1:])
        return whole and all(outcome == NOT_FLAGGED for outcome, _ in last)

    def fire(self, at: int) -> int | None:
        """The slot at which it began to fire, where it does so now."""
        begun = None
        for slot in range(at + 1):
            if self.clears(slot):
                begun = None
            elif begun is None and self.begins(slot):
                begun = slot
        return begun

    def state(self, at: int) -> str:
        outcome = self.history[at][0]
        if self.fire(at) is not None:
            return FIRING_UNDECIDED if outcome in (UNDECIDED, NO_DATA) else FIRING
        return {FLAGGED: PENDING, NOT_FLAGGED: CLEAR, BETWEEN: CLEAR}.get(outcome, outcome)

    def since(self, at: int) -> int:
        begun, state = self.fire(at), self.state(at)
        if begun is not None:
            return self.row(begun)[0]
        if state == PENDING:
            return self.row(at)[0]
        while at and self.state(at - 1) == state:
            at -= 1
        return at


@given(HISTORIES, LENGTHS, LENGTHS)
def test_the_state_and_since_when_are_what_looking_back_over_everything_says(
    history: list[tuple[str, bool]], pending: int, clear_after: int
) -> None:
    slowly = Slowly(history, pending, clear_after)
    expected = [(slowly.state(at), slowly.since(at)) for at in range(len(history))]
    assert [(each.state, each.since) for each in followed(history, pending, clear_after)] == expected


def test_what_was_pending_before_a_missing_answer_fires_since_its_first_flagged_slot() -> None:
    states = followed(without_gaps(NOT_FLAGGED, FLAGGED, UNDECIDED, NO_DATA, FLAGGED), pending=2, clear_after=1)
    assert [(each.state, each.since) for each in states[1:]] == [
        (PENDING, 1),
        (UNDECIDED, 2),
        (NO_DATA, 3),
        (FIRING, 1),
    ]


def test_a_gap_begins_what_is_pending_anew_and_nothing_else() -> None:
    states = followed([(FLAGGED, False), (FLAGGED, True), (FLAGGED, False), (FLAGGED, True)], pending=2, clear_after=1)
    assert [(each.state, each.since) for each in states] == [(PENDING, 0), (PENDING, 1), (FIRING, 1), (FIRING, 1)]
    states = followed([(UNDECIDED, False), (UNDECIDED, True)], pending=2, clear_after=1)
    assert states[-1].since == 0


def test_a_missing_answer_neither_adds_to_flagged_slots_nor_breaks_them() -> None:
    states = followed(without_gaps(FLAGGED, UNDECIDED, FLAGGED), pending=2, clear_after=1)
    assert [each.state for each in states] == [PENDING, UNDECIDED, FIRING]
    states = followed(without_gaps(FLAGGED, UNDECIDED, UNDECIDED), pending=2, clear_after=1)
    assert states[-1].state == UNDECIDED


def test_a_number_between_the_lines_keeps_what_fires_firing_and_lets_nothing_fire() -> None:
    states = followed(without_gaps(BETWEEN, FLAGGED, BETWEEN, NOT_FLAGGED, BETWEEN, NOT_FLAGGED), 1, clear_after=2)
    assert [each.state for each in states] == [CLEAR, *[FIRING] * 5]
    states = followed(without_gaps(FLAGGED, BETWEEN, NOT_FLAGGED, BETWEEN), 1, clear_after=1)
    assert [each.state for each in states] == [FIRING, FIRING, CLEAR, CLEAR]


def test_a_gap_breaks_what_is_pending() -> None:
    states = followed([(FLAGGED, False), (FLAGGED, True), (FLAGGED, False)], pending=2, clear_after=1)
    assert [each.state for each in states] == [PENDING, PENDING, FIRING]


def test_a_firing_key_stays_firing_without_an_answer_and_over_a_gap() -> None:
    history = [(FLAGGED, False), (UNDECIDED, False), (NO_DATA, False), (NOT_FLAGGED, True), (NOT_FLAGGED, False)]
    states = followed(history, pending=1, clear_after=2)
    assert [each.state for each in states] == [FIRING, FIRING_UNDECIDED, FIRING_UNDECIDED, FIRING, CLEAR]


def test_firing_begins_with_the_first_of_its_flagged_slots() -> None:
    states = followed(without_gaps(NOT_FLAGGED, FLAGGED, FLAGGED, FLAGGED), pending=3, clear_after=1)
    assert (states[-1].state, states[-1].since) == (FIRING, 1)
