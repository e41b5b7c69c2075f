"""`louver survey form`: what respondents are told, to be printed or shown on a page."""

from __future__ import annotations

import argparse
import sys
import textwrap
from fractions import Fraction
from typing import TYPE_CHECKING, TextIO

from louver.cli import ui
from louver.cli.publish_shown import WIDTH

if TYPE_CHECKING:
    from louver.local import Survey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN.json", help="what louver survey plan wrote")


def run(arguments: argparse.Namespace) -> None:
    from louver.local import read_survey

    print_form(read_survey(arguments.plan))


def print_form(survey: Survey, out: TextIO | None = None) -> None:
    from louver.local import form

    for line in form(survey).splitlines():
        print(textwrap.fill(ui.printable(line), WIDTH, break_on_hyphens=False), file=out or sys.stdout)


def price(epsilon: Fraction) -> str:
    """To four places, rounded up."""
    return f"epsilon {(epsilon * 10000).__ceil__() / 10000:.4f}"
