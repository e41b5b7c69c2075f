"""`louver survey plan`: a question, its answers and the price of one report, as a file that everybody may have."""

from __future__ import annotations

import argparse
import csv
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.cli.map_options import check_new
from louver.cli.publish_shown import say
from louver.cli.survey_form import price, print_form
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.local import Survey

DEAR = 3  # even odds can become 95.3%


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN.json", help="the file that is written")
    parser.add_argument("--question", metavar="TEXT", required=True, help="what people are asked")
    parser.add_argument(
        "--answers", metavar="NAMES", default="yes,no", help="with commas between them; yes,no unless given"
    )
    cost = parser.add_argument_group("its price, one of")
    cost.add_argument("--epsilon", metavar="E", help="what one report costs")
    cost.add_argument("--truth", metavar="P", help="how often the truth is told, and else any answer: 1/2")
    cost.add_argument("--within", metavar="W", help="how well shares shall be known, with --people: 0.05")
    parser.add_argument("--people", metavar="N", type=int, help="how many will report; says how well shares are known")
    parser.add_argument("--force", action="store_true", help="writes over a file that is there")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.local import expected_error, form, write_survey
    from louver.local.form import most_sure

    check_new(arguments.plan, force=arguments.force)
    survey = _survey(arguments)
    error = None if arguments.people is None else expected_error(survey, arguments.people)
    write_survey(survey, arguments.plan)
    if arguments.json:
        ui.print_json(
            "survey plan",
            plan=arguments.plan,
            survey=survey.id,
            epsilon=str(survey.price.epsilon),
            way=survey.way,
            most_sure=most_sure(survey),
            people=arguments.people,
            within=error,
            form=form(survey),
        )
        return
    print_form(survey)
    print()
    say("price", f"{price(survey.price.epsilon)} for each report, paid by the one who sends it")
    if survey.price.epsilon > DEAR:
        say("warning", f"At this price a report nearly tells the answer: even odds can become {most_sure(survey)}.")
    if error is not None:
        known = f"each share comes out within {100 * error:.1f} points of the truth in 19 of 20 surveys, about"
        say("precision", f"with {arguments.people:,} reports {known}")
    say("written", f"{arguments.plan}, survey {survey.id}")


def _survey(arguments: argparse.Namespace) -> Survey:
    from louver.cli.ledger.written import number
    from louver.local import Survey, least_price

    answers = [name.strip() for name in next(csv.reader([arguments.answers], skipinitialspace=True), [])]
    given = [name for name in ("epsilon", "truth", "within") if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise ParameterError("A survey needs one price: --epsilon 1, or --truth 1/2, or --within 0.05 with --people.")
    value = number(f"--{given[0]}", getattr(arguments, given[0]))
    if given == ["epsilon"]:
        return Survey(arguments.question, answers, epsilon=value)
    if given == ["truth"]:
        return Survey(arguments.question, answers, truth=value)
    if arguments.people is None:
        raise ParameterError("--within needs --people, the number of people who will report.")
    return least_price(arguments.question, answers, within=value, people=arguments.people)
