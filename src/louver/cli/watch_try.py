"""`louver watch try --rule NAME`: what a rule would have told with other numbers, on what was already released."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from louver.cli import ui
from louver.cli.watch_feed import add_rules
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.watch.replay import Tried
    from louver.watch.rules import Rule, Rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules(parser)
    parser.add_argument("--rule", metavar="NAME", required=True, help="the rule that is tried")
    parser.add_argument("--pending", metavar="N", help="fires after so many flagged slots in a row")
    parser.add_argument("--clear-after", metavar="N", help="clear after so many slots in a row that are not flagged")
    parser.add_argument("--limit", metavar="L", help="of a rule that releases numbers: another limit, or a column")
    parser.add_argument("--hysteresis", metavar="H", help="and clear only so far below the line where it is flagged")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.sense.events import instant
    from louver.watch.journal import Journal
    from louver.watch.replay import tried
    from louver.watch.rules import Rules

    rules = Rules.read(arguments.rules)
    rule = rules.rule(arguments.rule)
    pending, clear_after = (
        _whole(flag, given, own)
        for flag, given, own in (
            ("--pending", arguments.pending, rule.pending),
            ("--clear-after", arguments.clear_after, rule.clear_after),
        )
    )
    limits = _limits(rules, rule, arguments.limit)
    with Journal.open(rules.journal, create=False) as journal:
        found = tried(
            journal.released(rule.name),
            step=rules.timing.slot,
            pending=pending,
            clear_after=clear_after,
            limits=limits,
            within=rule.within,
            hysteresis=_hysteresis(rule, arguments.hysteresis),
            decided=journal.slots(rule.name),
        )
    if arguments.json:
        fires = [
            {
                "key": fire.key,
                "since": instant(fire.since).isoformat(),
                "fired": instant(fire.fired).isoformat(),
                "cleared": None if fire.cleared is None else instant(fire.cleared).isoformat(),
            }
            for fire in found.fires
        ]
        ui.print_json("watch try", rule=rule.name, slots=found.slots, fires=fires)
        return
    _show(found, rule, rules.zone, pending)


def _show(found: Tried, rule: Rule, zone: ZoneInfo, pending: int) -> None:
    if not found.slots:
        print(f"The rule {rule.name} has released nothing yet.")
        return
    times = "once" if len(found.fires) == 1 else f"{len(found.fires):,} times"
    print(f"{found.slots:,} slots of {rule.name} were released; with these numbers it fires {times}.")
    print(f"Nothing was asked and nothing was paid. {_promise(rule, pending)}")
    if found.fires:
        rows = [
            [fire.key, *(_moment(at, zone) for at in (fire.since, fire.fired, fire.cleared))] for fire in found.fires
        ]
        ui.print_table([rule.level, "flagged since", "fires at", "clear at"], rows)


def _promise(rule: Rule, pending: int) -> str:
    """What still holds, by the rule as it is now: each slot was decided with its part of the miss rate."""
    from louver.privacy.rates import cases

    each = cases(rule.slot_miss_rate)
    if rule.is_number:
        return f"In each slot, every number was within {rule.within} except in at most {each}."
    said = f"In each slot, a {rule.level} that should be flagged was missed in at most {each}"
    together = rule.slot_miss_rate * pending
    if pending == 1:
        return f"{said}."
    if together >= 1:
        return f"{said}; over {pending} slots in a row nothing is promised."
    return f"{said}; over {pending} slots in a row, together in at most {cases(together)}."


def _moment(time: int | None, zone: ZoneInfo) -> str:
    from louver.sense.events import instant

    return "still fires" if time is None else f"{instant(time).astimezone(zone):%Y-%m-%d %H:%M %Z}"


def _whole(flag: str, given: str | None, own: int) -> int:
    from louver.watch.rules import MOST_SLOTS

    if given is None:
        return own
    if not given.isdecimal() or not 1 <= int(given) <= MOST_SLOTS:
        raise ParameterError(f"{flag} must be a whole number from 1 to {MOST_SLOTS}, not {given!r}.")
    return int(given)


def _limits(rules: Rules, rule: Rule, given: str | None) -> dict[str, Fraction | None] | None:
    """The limit of each key; none for a rule that released flags."""
    limit = rule.limit if given is None else _read(given)
    if not rule.is_number:
        if given is not None:
            raise ParameterError(
                f"The rule {rule.name!r} released flags and no numbers, so another limit takes a new question."
            )
        return None
    domain = rules.building.domain(rule.level)
    keys = [str(key) for key in domain.column(rule.level)]
    if isinstance(limit, str):
        return dict(zip(keys, domain.numbers(limit), strict=True))
    return dict.fromkeys(keys, limit)


def _hysteresis(rule: Rule, given: str | None) -> Fraction:
    from louver.cli.ledger.written import number
    from louver.parameters import within
    from louver.watch.rules import MOST_HYSTERESIS

    if given is None:
        return rule.hysteresis
    if not rule.is_number:
        raise ParameterError(f"The rule {rule.name!r} released flags and no numbers; try --clear-after instead.")
    return within("--hysteresis", Fraction(number("--hysteresis", given)), 0, MOST_HYSTERESIS)


def _read(given: str) -> str | Fraction:
    try:
        return Fraction(given)
    except (ValueError, ZeroDivisionError):
        return given
