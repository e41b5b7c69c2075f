"""`louver survey report`: one person's report, drawn where the person is, kept there, and added to a file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli.publish_shown import say
from louver.cli.survey_form import price, print_form
from louver.errors import DataError, LouverError, ParameterError

if TYPE_CHECKING:
    from louver.local import Report, Survey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN.json", help="what louver survey plan wrote")
    parser.add_argument("given", nargs="*", help=argparse.SUPPRESS)  # to say why no answer is taken here
    parser.add_argument("--to", metavar="FILE", default="-", help="adds the report to FILE.csv or .jsonl; - prints it")
    parser.add_argument("--state", metavar="FILE", help="where this device keeps its reports; in your settings")
    parser.add_argument("--key", metavar="NAME", default="", help="who answers, where several people share a device")
    parser.add_argument(
        "--most", metavar="E", help="refuses what would bring all reports of one person above this price"
    )
    parser.add_argument(
        "--each-line",
        action="store_true",
        help="the input has answers of many people, one a line; nothing is kept, so that a second run pays again",
    )


def run(arguments: argparse.Namespace) -> None:
    from louver.cli.ledger.written import number
    from louver.local import Memory, read_survey
    from louver.local.reports import kind_of

    if arguments.given:
        raise ParameterError(
            "Nothing was reported: an answer is not taken from the command line, which others on this machine can see "
            "and the shell keeps. Leave it out, and it is asked for."
        )
    survey = read_survey(arguments.plan)
    if arguments.to != "-":
        kind_of(arguments.to)
    if arguments.each_line:
        if arguments.key or arguments.state or arguments.most:
            raise ParameterError("--each-line keeps nothing about anybody; leave --key, --state and --most out.")
        _send(arguments.to, survey.reports(_many(survey, sys.stdin.read().splitlines())))
        return
    memory = Memory(arguments.state or _settings())
    before = memory.recall(survey, key=arguments.key)
    most = None if arguments.most is None else number("--most", arguments.most)
    report = before or memory.report(survey, _asked(survey), key=arguments.key, most=most)
    try:
        _send(arguments.to, [report])
    except LouverError as fault:
        again = "the report is kept, and the same command sends it"
        raise DataError(f"{str(fault).removesuffix('.')}; {again}.") from None
    if before is not None:
        say("again", "This survey has a report from here already; the same one was sent, at no price.", sys.stderr)
    paid = price(memory.paid(key=arguments.key))
    say("sent", f"what was drawn, not what was answered; your reports from here cost {paid} together", sys.stderr)


def _send(where: str, reports: Sequence[Report]) -> None:
    from louver.local import append_reports

    if where != "-":
        append_reports(where, reports)
        return
    for report in reports:
        print(report.as_json())


def _asked(survey: Survey) -> str:
    """The answer, from the terminal or the input."""
    if sys.stdin.isatty():
        print_form(survey, sys.stderr)
        print("\nYour answer: ", end="", file=sys.stderr, flush=True)
    return _many(survey, [sys.stdin.readline()])[0]


def _many(survey: Survey, lines: Sequence[str]) -> list[str]:
    """Answers by their names; large and small letters are the same where no two names differ by them only."""
    from louver.local.form import listed

    alike: dict[str, list[str]] = {}
    for name in survey.answers:
        alike.setdefault(name.casefold(), []).append(name)
    known, found = set(survey.answers), list[str]()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        names = [text] if text in known else alike.get(text.casefold(), [])
        if len(names) != 1:
            where = f"Line {number:,} of the input" if len(lines) > 1 else "What was written"
            raise ParameterError(
                f"{where} is none of the answers, so nothing was reported; they are: {listed(survey)}."
            )
        found += names
    return found


def _settings() -> Path:
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "louver" / "survey-reports.json"
