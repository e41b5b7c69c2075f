"""Tables, surveys and bare noise under audit: one record that moves, one answer, one count."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from louver.attack.case import Case
from louver.attack.scores import Rows
from louver.local import Choice, Memory, Survey, Unary, YesNo
from louver.noise import clearer, discrete_laplace, levels
from louver.noise.bits import Bits
from louver.privacy import Pure, Subspace, ZeroConcentrated
from louver.table import ambient
from louver.table.agents import Agent
from louver.table.crossed import CrossedTable
from louver.table.invariants import Invariants
from louver.table.noisy import Noisy
from louver.table.null_space import null_part
from louver.table.whole import WholeTable

EPSILON, RHO = Fraction(1), Fraction(1, 2)
CELLS = np.array([5, 7, 6])
MOVED = np.array([6, 6, 6])
TOTAL = Invariants.total(3, name="the total")
PAIR = Invariants.total(2, name="the total")


def table_cases() -> Iterator[Case]:
    moves = "one record that moves"
    exact, concentrated = Subspace(EPSILON, 0, TOTAL.name), ZeroConcentrated(RHO)
    whole: dict[str, Any] = {"epsilon": EPSILON}
    normal: dict[str, Any] = {"rho": RHO, "noise": "gaussian"}
    yield _case("table", "whole", moves, exact, _added(lambda bits: WholeTable(TOTAL, **whole, bits=bits).draw), 2_000)
    drawing = _added(lambda bits: WholeTable(TOTAL, **normal, bits=bits).draw)
    yield _case("table", "whole gaussian", moves, concentrated, drawing, 3_000)
    laplace = ambient.Laplace(TOTAL, EPSILON)
    pressed = _pressed(lambda bits: ambient.Laplace(TOTAL, EPSILON, bits=bits))
    yield _case("table", "ambient laplace", moves, laplace.price, pressed, 10_000)
    for way in ("extension", "projection"):
        made = partial(ambient.Gaussian, TOTAL, RHO, way=way)
        pressed = _pressed(lambda bits, made=made: made(bits=bits))  # type: ignore[misc]
        yield _case("table", f"ambient gaussian by {way}", moves, concentrated, pressed, 3_000)
    yield _case("table", "noisy", "one record", Pure(EPSILON), _free(EPSILON, None), 2_000)
    yield _case("table", "noisy gaussian", "one record", concentrated, _free(None, RHO), 2_000)
    yield from _margins()
    yield from _nested()
    yield Case("table", "agents", moves, Subspace(EPSILON, 0, PAIR.name), _agents, 2_000, 1_500)


def _case(
    room: str, mechanism: str, differs: str, promise: Any, draw: Callable[[bool, int, Bits], Rows], hears: int
) -> Case:
    return Case(room, mechanism, differs, promise, draw, hears=hears)


def _margins() -> Iterator[Case]:
    """Two records change places in a table of 2 x 2 cells, so that both margins, which overlap, stay."""
    margins = Invariants([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], name="the margins")
    crossed = CrossedTable(margins, EPSILON, moved=2)

    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        cells = np.array([6, 6, 5, 5]) if has_unit else np.array([5, 7, 6, 4])
        return np.asarray(cells + crossed.draw(count, bits=bits))

    yield _case("table", "crossed", "two records that change places", crossed.price(), draw, 16_000)


def _nested() -> Iterator[Case]:
    """One record moves within three of five cells; the total of all and that of the three are exact, and overlap."""
    nested = Invariants([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], name="two totals")
    laplace = WholeTable(nested, epsilon=EPSILON)
    gaussian = WholeTable(nested, rho=RHO, noise="gaussian")
    made = {"": (laplace, laplace.price(), 8_000), " gaussian": (gaussian, ZeroConcentrated(RHO), 4_000)}
    for law, (table, price, hears) in made.items():

        def draw(has_unit: bool, count: int, bits: Bits, table: WholeTable = table) -> Rows:
            return np.append(MOVED if has_unit else CELLS, [4, 4]) + table.draw(count, bits=bits)

        yield _case("table", f"whole overlapping{law}", "one record that moves", price, draw, hears)


def _added(drawing: Callable[[Bits], Callable[[int], Rows]]) -> Callable[[bool, int, Bits], Rows]:
    return lambda has_unit, count, bits: (MOVED if has_unit else CELLS) + drawing(bits)(count)


def _pressed(made: Callable[[Bits], Any]) -> Callable[[bool, int, Bits], Rows]:
    """What an `Ambient` releases beside its invariants, many at a time: A h + P_N z, times a public denominator."""

    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        mechanism = made(bits)
        above, below = null_part(TOTAL, mechanism._noise(count))
        steps = int(np.max(below)) * int(1 / mechanism.step)
        return np.asarray((MOVED if has_unit else CELLS) * steps + above)

    return draw


def _free(epsilon: Fraction | None, rho: Fraction | None) -> Callable[[bool, int, Bits], Rows]:
    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        counts = np.tile(CELLS, count)
        counts[::3] += has_unit
        return Noisy(None, epsilon, rho, 1, bits).release(counts).reshape(count, -1)

    return draw


def _agents(has_unit: bool, count: int, bits: Bits) -> Rows:
    """Rounds of one key, which is as secret as the noise that it stands for."""
    key, table = bits.integer(256).to_bytes(32, "little"), WholeTable(PAIR, epsilon=EPSILON)
    agents = [Agent(key, table, cell, place="hall") for cell in range(2)]
    cells = [6, 6] if has_unit else [5, 7]
    return np.array(
        [
            [agent.publish(cell, round_number=number + 1) for agent, cell in zip(agents, cells, strict=True)]
            for number in range(count)
        ]
    )


def local_cases() -> Iterator[Case]:
    mechanisms: dict[str, Callable[[Bits], Any]] = {
        "yes or no": lambda bits: YesNo(EPSILON, bits=bits),
        "coin": lambda bits: YesNo.coin(bits=bits),
        "choice": lambda bits: Choice(3, EPSILON, bits=bits),
        "choice coin": lambda bits: Choice.coin(3, bits=bits),
        "unary": lambda bits: Unary(3, EPSILON, bits=bits),
        "unary symmetric": lambda bits: Unary(3, EPSILON, optimised=False, bits=bits),
    }
    for name, made in mechanisms.items():

        def draw(has_unit: bool, count: int, bits: Bits, name: str = name, made: Any = made) -> Rows:
            answer: Any = bool(has_unit) if name in ("yes or no", "coin") else int(has_unit)
            return np.asarray(made(bits).report(np.full(count, answer))).reshape(count, -1)

        yield _case("local", name, "one person's answer", made(Bits()).price, draw, 16_000)
    survey = Survey("Were you there?", epsilon=EPSILON)
    yield Case("local", "memory", "one person's answer, asked twice", survey.price, _asked_twice(survey), 2_000, 2_000)


def _asked_twice(survey: Survey) -> Callable[[bool, int, Bits], Rows]:
    """A device that remembers pays once: the second report is the first, though the answer has changed."""

    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        answers = survey.answers if has_unit else survey.answers[::-1]
        with tempfile.TemporaryDirectory() as folder:
            memories = [Memory(Path(folder) / str(number)) for number in range(count)]
            said = [[memory.report(survey, answer, bits=bits).said for answer in answers] for memory in memories]
        return np.asarray(np.array(said) == survey.answers[0])

    return draw


def noise_cases() -> Iterator[Case]:
    """One count under a chain of noise: all levels together cost the clearest one's rate, not their sum."""
    rates = (Fraction(1, 2), Fraction(1))

    def chain(has_unit: bool, count: int, bits: Bits) -> Rows:
        return np.asarray(int(has_unit) + levels(rates, count, bits=bits).T)

    def on_demand(has_unit: bool, count: int, bits: Bits) -> Rows:
        noisy = discrete_laplace(rates[0], count, bits=bits)
        return int(has_unit) + np.stack((noisy, clearer(noisy, *rates, bits=bits)), axis=1)

    yield _case("noise", "levels", "one count", Pure(rates[1]), chain, 2_000)
    yield _case("noise", "clearer", "one count", Pure(rates[1]), on_demand, 8_000)
