"""`louver survey estimate`: how many of those who reported have each answer, with intervals."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.cli.map_options import check_new
from louver.cli.publish_shown import say
from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.local import Estimate, Sifted, Survey

COLUMNS = ("answer", "people", "low", "high", "share", "share_low", "share_high", "standard_error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN.json", help="what louver survey plan wrote")
    parser.add_argument("reports", metavar="REPORTS", nargs="+", help="files .csv or .jsonl with reports")
    parser.add_argument("--level", metavar="L", default="0.95", help="how often an interval must hold: 0.95")
    parser.add_argument("--to", metavar="FILE.csv", help="writes the estimates there as well")
    parser.add_argument("--force", action="store_true", help="writes over a file that is there")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.cli.ledger.written import number
    from louver.local import read_reports, read_survey

    survey = read_survey(arguments.plan)
    level = number("--level", arguments.level)
    if arguments.to is not None:
        _check_target(arguments)
    reports = list(read_reports(arguments.reports))
    found = survey.estimate(reports, level)
    sifted = survey.sift(reports)
    if arguments.to is not None:
        _write(Path(arguments.to), found)
    if arguments.json:
        ui.print_json(
            "survey estimate",
            survey=survey.id,
            question=survey.question,
            reports=len(sifted.said),
            repeated=sifted.repeated,
            odd=sifted.odd,
            epsilon=str(survey.price.epsilon),
            level=float(level),
            answers=[dict(zip(COLUMNS, _cells(name, each), strict=True)) for name, each in found.items()],
        )
        return
    _print(survey, found, sifted)
    if arguments.to is not None:
        say("written", arguments.to)


def _print(survey: Survey, found: dict[str, Estimate], sifted: Sifted) -> None:
    people = len(sifted.said)
    again = f"; left out because they came again: {sifted.repeated:,}" if sifted.repeated else ""
    odd = f"; left out because no device sends such to this survey: {sifted.odd:,}" if sifted.odd else ""
    say("question", survey.question)
    say("reports", f"{people:,}{again}{odd}")
    print()
    rows = [
        (
            ui.printable(name),
            f"{round(each.value):,}",
            f"{each.low:,} to {each.high:,}",
            _percent(each.share),
            f"{_percent(each.low / people)} to {_percent(each.high / people)}",
        )
        for name, each in found.items()
    ]
    ui.print_table(("answer", "people", "between", "share", "between"), rows, (1, 2, 3, 4))
    print()
    level = 100 * next(iter(found.values())).level
    say(
        "meaning",
        f"Each interval by itself holds the true number of those who reported in at least {level:.15g}% of surveys. "
        "Numbers are right on average, so that they can come out below 0 or above all. Others who did not report, and "
        "reports that are made up, are not covered.",
    )


def _percent(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:.1f}%"


def _cells(name: str, each: Estimate) -> tuple[str | float, ...]:
    ends = (each.low / each.people, each.high / each.people)
    return (name, each.value, each.low, each.high, each.share, *ends, each.standard_error)


def _check_target(arguments: argparse.Namespace) -> None:
    if Path(arguments.to).suffix.lower() != ".csv":
        raise ParameterError("Estimates are written to a file .csv; for JSON there is --json.")
    check_new(arguments.to, force=arguments.force)
    read = {Path(each).resolve() for each in (arguments.plan, *arguments.reports)}
    if Path(arguments.to).resolve() in read:
        raise ParameterError("--to would write over what is read; name another file.")


def _write(path: Path, found: dict[str, Estimate]) -> None:
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(COLUMNS)
    lines.writerows(_cells(name, each) for name, each in found.items())
    try:
        path.write_text(written.getvalue(), encoding="utf-8")
    except OSError as fault:
        raise DataError(f"{path} cannot be written: {fault.strerror}.") from None
