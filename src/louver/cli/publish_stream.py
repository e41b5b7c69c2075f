"""`louver publish stream`: a private number for each tick and region of a table, to a file, a broker or a database."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli.ask_source import asked_ledger, asked_source, ledger_address, why_refused
from louver.cli.options import add_payer, number_from
from louver.cli.publish_files import check_plot, check_written
from louver.cli.publish_live import check_live, run_live
from louver.cli.publish_shown import at_work, show_plan, show_stream, times_as_texts
from louver.cli.publish_tail import check_look, run_look
from louver.cli.publish_words import said, unspent
from louver.errors import DataError, LedgerError, LouverError, ParameterError
from louver.watch.targets import File, Target, target
from louver.watch.targets_growing import GrowingFile, live_target

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.source.domain import Domain
    from louver.stream.plan import StreamPlan

OPTIONS = ("smoother", "split", "arity", "lag", "threshold", "factor", "share", "threshold_part", "over", "bins")
PRICES = ("epsilon", "rho", "within", "slack")  # ways to say the price, and miss_rate with the last two
DOMAIN_FILES = (".csv", ".parquet", ".json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(question="")
    parser.add_argument(
        "source",
        metavar="FILE_OR_SOURCE",
        help="a .csv or .parquet file, louver.toml, a source named in one, or rules.toml with a feed",
    )
    what = parser.add_argument_group("what")
    what.add_argument("--by", metavar="COLUMNS", help="regions: key columns of the domain, with commas between them")
    what.add_argument("--every", metavar="TIME", required=True, help="how long a tick is: 5m, 1h, 1d")
    what.add_argument("--from", metavar="TIME", dest="begin", required=True, help="the first tick, in UTC")
    what.add_argument("--until", metavar="TIME", dest="end", required=True, help="the end, which is no tick any more")
    what.add_argument("--totals", action="store_true", help="numbers of each level of the columns, which add up")
    what.add_argument("--last", metavar="N_OR_TIME", help="also the sum of the last ticks, at no further cost")
    what.add_argument(
        "--above", metavar="X_OR_COLUMN", help="also which are above a limit, one for all or a column of the domain"
    )
    what.add_argument("--time", metavar="COLUMN", help="the column of times; as the source says, else slot or time")
    kinds = what.add_mutually_exclusive_group()
    kinds.add_argument("--count", action="store_true", help="rows, as without this option")
    kinds.add_argument("--distinct", metavar="COLUMN", help="different values of a column, such as the person")
    kinds.add_argument("--sum", metavar="COLUMN", help="the sum of a column whose bounds the source declares")
    way = parser.add_argument_group("the way and its price")
    way.add_argument("--mechanism", metavar="NAME", default="segment", help="segment, laplace, pegasus, sum, kary, ...")
    way.add_argument("--epsilon", metavar="E", help="what one unit pays for the whole stream")
    way.add_argument("--rho", metavar="R", help="the same, for Gaussian noise")
    way.add_argument("--within", metavar="D", help="for laplace: how far each number may be off, and so the price")
    way.add_argument(
        "--miss-rate", metavar="RATE", help="for --within and --above: in how many cases they may be wrong: 0.05"
    )
    way.add_argument("--slack", metavar="S", help="for --above: how far below its limit either answer may come")
    way.add_argument("--window", metavar="N_OR_TIME", help="so many units of somebody, or ticks of so long, together")
    way.add_argument("--smoother", metavar="NAME", help="pegasus: average, median or james-stein")
    way.add_argument("--split", metavar="NAME", help="pegasus: published or optimal")
    way.add_argument("--arity", metavar="N", type=int, help="kary and signed: children of a node")
    way.add_argument("--bins", metavar="EDGES", help="histogram: edges of its bins, with commas between them")
    way.add_argument("--over", metavar="N", type=int, help="window-mean: of how many ticks")
    cut = parser.add_argument_group("values without a known bound: truncated, running-mean, window-mean, present-mean")
    cut.add_argument("--tick-bound", metavar="X", help="the largest value of one tick of a region")
    cut.add_argument("--lag", metavar="N", type=int, help="after how many ticks the threshold is taken")
    cut.add_argument("--threshold", metavar="NAME", help="penalised, or smooth, which also costs a delta")
    cut.add_argument("--delta", metavar="D", help="smooth: the delta of its price; one over the ticks squared")
    cut.add_argument("--share", metavar="P", help="smooth: the share of values that it leaves above, 0.005")
    cut.add_argument(
        "--threshold-part", metavar="P", help="the part of epsilon that finds the threshold: 0.6, and 0.8 for smooth"
    )
    cut.add_argument("--factor", metavar="R", help="smooth: stretches the threshold, for light tails, 1")
    cut.add_argument(
        "--look-at-tail",
        action="store_true",
        help="pays --epsilon to say whether tails are light enough for a --factor, 2 unless given; publishes nothing",
    )
    data = parser.add_argument_group("the data")
    data.add_argument(
        "--feed", metavar="FEED", help="for rules.toml: mqtt://host/topic, a file of events, or - for the input"
    )
    data.add_argument("--unit", help="who is protected, for a bare file: '(person, day)', or row")
    data.add_argument("--domain", metavar="NAME_OR_FILE", help="the public list of regions")
    data.add_argument(
        "--rows-per-unit", metavar="N", type=int, help="how many rows of one unit count; one, unless given"
    )
    data.add_argument("--keys-per-unit", metavar="N", type=int, help="in how many ticks and regions one unit counts")
    data.add_argument("--dataset", metavar="ID", help="the name of a bare file's data set, as its ledger has it")
    add_payer(parser, key="with the same key again, the same stream costs nothing")
    show = parser.add_argument_group("where to")
    show.add_argument(
        "--to",
        metavar="WHERE",
        default="-",
        help="FILE.csv, .parquet or .json, mqtt://host/topic, postgresql://...#table, or - for the output, as CSV",
    )
    show.add_argument(
        "--live", action="store_true", help="publishes each tick when it is over, to -, a .csv, a broker or a table"
    )
    show.add_argument("--state", metavar="FILE", help="live: where the stream's private state is kept")
    show.add_argument("--late", metavar="TIME", help="live: how long after its end a tick is read: 1m")
    show.add_argument("--ticks", metavar="N", type=int, help="live: stops after so many ticks, to go on another time")
    show.add_argument("--force", action="store_true", help="writes over a file, or ticks of a table, that are there")
    show.add_argument(
        "--dry-run", action="store_true", help="price and promise only; nothing is reserved, and no row is read"
    )
    show.add_argument("--plot", metavar="FILE.svg", help="writes a picture of the stream with its bands there")
    show.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.cli import publish_feed
    from louver.steward import check
    from louver.stream.session import check_live as check_session

    if publish_feed.is_feed(arguments.source):
        with said():
            publish_feed.run(arguments, asked(arguments))
        return
    if arguments.feed is not None:
        raise ParameterError("--feed is for the rules of a watch; a table is read where it lies.")
    if arguments.look_at_tail:
        check_look(arguments)
        source = asked_source(arguments)
        factor = number_from(arguments, "factor", outside=False)
        budget = number_from(arguments, "budget", source.defaults.get("budget"))
        run_look(arguments, source, _wanted(arguments, source), factor, budget)
        return
    check_live(arguments)
    place = _place(arguments)
    with unspent():
        check_plot(arguments)
    source = asked_source(arguments)
    check_written(arguments, source)
    with said():
        plan = _plan(arguments, source)
        if arguments.live:
            check_session(plan, arguments.key)
    budget = number_from(arguments, "budget", source.defaults.get("budget"))
    if arguments.dry_run:
        check(source.table, plan, by_part=arguments.live)  # says what a run would refuse before it reserves
        refused = _need_rho(arguments, source, plan) or why_refused(arguments, source, plan, plan.worst, budget)
        show_plan(arguments, plan, refused or _why_not_there(place, plan), times_as_texts(source, plan))
        return
    if refused := _need_rho(arguments, source, plan):
        raise LedgerError(refused)
    with unspent():
        place.check(plan)
    with said(), asked_ledger(arguments, source, plan, lambda: plan.worst, budget) as ledger:
        (run_live if arguments.live else _publish)(arguments, source, plan, ledger, place)


def _place(arguments: argparse.Namespace) -> Target:
    if arguments.live:
        return live_target(arguments.to, begun=Path(arguments.state).exists(), force=arguments.force)
    return target(arguments.to, force=arguments.force, as_json=arguments.json)


def _why_not_there(place: Target, plan: StreamPlan) -> str | None:
    """Why a file could not be written; a dry run goes to no server."""
    try:
        place.check_plan(plan)
        if isinstance(place, File | GrowingFile):
            place.check(plan)
    except DataError as refusal:
        return str(refusal)
    return None


def _publish(arguments: argparse.Namespace, source: Source, plan: StreamPlan, ledger: Ledger, place: Target) -> None:
    """Pays, and writes what was released. It is in the ledger then, so that whatever fails later costs nothing."""
    from louver.stream.publishing import publish

    key = arguments.key or f"publish {secrets.token_hex(8)}"
    token = os.environ.get("LOUVER_TOKEN") or None
    with at_work():
        stream = publish(source, plan, ledger=ledger, token=token, audience=arguments.audience, key=key)
    try:
        if arguments.plot is not None:
            stream.plot(arguments.plot)
        written = place.write(stream)
    except (LouverError, OSError) as fault:
        what = str(fault) if isinstance(fault, LouverError) else f"{arguments.to} cannot be written."
        raise type(fault if isinstance(fault, LouverError) else LouverError())(
            f"{what.removesuffix('.')}; the stream is paid for and kept, and costs nothing again with --key {key!r}."
        ) from None
    show_stream(arguments, stream, written, key)
    sys.stdout.flush()


def _plan(arguments: argparse.Namespace, source: Source) -> StreamPlan:
    from louver.stream.planning import stream

    return stream(source, **_wanted(arguments, source))


def _wanted(arguments: argparse.Namespace, source: Source) -> dict[str, Any]:
    """The same of a stream whose rows are in a table."""
    wanted = asked(arguments)
    return {
        "time": arguments.time,
        "rows_per_unit": arguments.rows_per_unit,
        "keys_per_unit": arguments.keys_per_unit,
        "domain": _domain(source, arguments.domain or os.environ.get("LOUVER_DOMAIN"), wanted["by"]),
        **wanted,
    }


def asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options say of a stream, wherever its rows come from: parameters of `louver.stream.stream`."""
    return {
        "every": arguments.every,
        "begin": arguments.begin,
        "end": arguments.end,
        "by": [name.strip() for name in (arguments.by or "").split(",") if name.strip()],
        "sum_of": arguments.sum,
        "distinct": arguments.distinct,
        "mechanism": arguments.mechanism,
        "options": {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None},
        **_price(arguments),
        "above": _above(arguments),
        "last": arguments.last,
        "totals": arguments.totals,
        "live": arguments.live,
        "window": arguments.window or 1,
        "tick_bound": number_from(arguments, "tick_bound", outside=False),
    }


def _price(arguments: argparse.Namespace) -> dict[str, Fraction | None]:
    """What the flags say, or the environment where no flag says a price; a miss rate only where it means something."""
    is_said = any(getattr(arguments, name) is not None for name in PRICES)
    found = {
        name: number_from(arguments, name, outside=not is_said and name in ("epsilon", "within"))
        for name in (*PRICES, "delta")
    }
    is_promise = found["within"] is not None or arguments.above is not None
    return {**found, "miss_rate": number_from(arguments, "miss_rate", outside=is_promise)}


def _above(arguments: argparse.Namespace) -> Fraction | str | None:
    """A number for all regions, or the name of a column."""
    given: str | None = arguments.above
    is_number = given is not None and given[:1] in "+-.0123456789"
    return number_from(arguments, "above", outside=False) if is_number else given


def _domain(source: Source, given: str | None, by: list[str]) -> Domain | str | None:
    """A domain of the source by name, or a file or table with one, whose keys are the columns that are asked for."""
    from louver.source.public_list import public_list

    if given is None or given in source.domains or not by:
        return given if by else None
    is_place = "#" in given or "://" in given or Path(given).suffix.lower() in DOMAIN_FILES
    return public_list(source.table, given, by) if is_place else given


def _need_rho(arguments: argparse.Namespace, source: Source, plan: StreamPlan) -> str | None:
    """A ledger that --budget makes has a budget of epsilon, which pays for neither rho nor delta."""
    from louver.ledger.place import store_at

    where = ledger_address(arguments, source)
    needed = "rho" if plan.rho is not None else "delta" if getattr(plan.price, "delta", 0) else None
    if not needed or (where is not None and store_at(where).exists()):
        return None
    price = {"--cap": "epsilon", "--delta": "delta", "--rho": "rho"}
    caps = {flag: float(cap) for flag, name in price.items() if (cap := getattr(plan.price, name, 0))}
    words = ["louver", "ledger", "init", str(where or "FILE"), "--dataset", source.table.dataset, "--unit"]
    words += [str(plan.unit), *(word for flag, cap in caps.items() for word in (flag, f"{cap:.12g}"))]
    return (
        f"A stream that costs {needed} needs a ledger with a cap for it; `{shlex.join(words)}` makes one that pays for "
        "it once."
    )
