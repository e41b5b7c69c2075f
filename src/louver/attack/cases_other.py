"""Maps, tables, surveys and bare noise under audit: one reading, one record that moves, one answer, one count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from louver.attack.case import Case, one_by_one
from louver.attack.scores import LEARNED, Rows, known
from louver.local import Choice, Unary, YesNo
from louver.noise import clearer, discrete_laplace, levels
from louver.noise.bits import Bits
from louver.privacy import Pure, Subspace, ZeroConcentrated
from louver.space.adaptive import Adaptive
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.released import Map
from louver.space.structure import Structure
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform
from louver.table import ambient
from louver.table.agents import Agent
from louver.table.crossed import CrossedTable
from louver.table.invariants import Invariants
from louver.table.noisy import Noisy
from louver.table.null_space import null_part
from louver.table.whole import WholeTable

EPSILON, RHO = Fraction(1), Fraction(1, 2)
MAP_EPSILON = Fraction(2)
SQUARE = (0, 0, 100, 100)
CELLS = np.array([5, 7, 6])
MOVED = np.array([6, 6, 6])
TOTAL = Invariants.total(3, name="the total")


def space_cases() -> Iterator[Case]:
    """One reading of the largest value more, where some are already: so many that their cells are divided, or few."""
    structures: dict[Structure, int] = {
        Uniform(MAP_EPSILON, readings=0): 2,
        TwoLevel(MAP_EPSILON, readings=60): 200,
        Adaptive(MAP_EPSILON, readings=60): 200,
        Decomposition(MAP_EPSILON, depth=1, stop="count", least=2): 2,
        Cut(MAP_EPSILON, readings=0): 2,
    }
    for structure, readings in structures.items():
        fields = [_in_the_corner(size) for size in (readings, readings + 1)]

        def release(
            has_unit: bool,
            bits: Bits,
            structure: Structure = structure,
            fields: list[Field] = fields,
            readings: int = readings,
        ) -> Rows:
            return leaning(structure.release(fields[has_unit], bits=bits), readings)

        scores = (known(lambda rows: rows.sum(axis=1)), *LEARNED)
        yield Case("space", structure.kind, "one reading", structure.price, one_by_one(release), 1_500, scores=scores)


def _in_the_corner(readings: int) -> Field:
    place, value = [1.0] * readings, [100.0] * readings
    return Field.of(place, place, value, SQUARE, high=100, atoms=16, step=4)


def leaning(released: Map, readings: int) -> Rows:
    """How far the numbers of all nodes around the reading lean towards it, which is nearly the likelihood ratio."""
    around = (released.rectangles[:, :2] == 0).all(axis=1)
    counts, sums, count_variances, sum_variances = (column[around] for column in released.noisy)
    step = float(released.values.highest - released.centre)
    by_count = np.clip(counts - readings, 0, 1) / np.sqrt(count_variances)
    by_sum = np.clip(sums / step - readings, 0, 1) * step / np.sqrt(sum_variances)
    return np.array([by_count.sum(), by_sum.sum()])


def table_cases() -> Iterator[Case]:
    moves = "one record that moves"
    exact, concentrated = Subspace(EPSILON, 0, TOTAL.name), ZeroConcentrated(RHO)
    whole: dict[str, Any] = {"epsilon": EPSILON}
    yield Case("table", "whole", moves, exact, _added(lambda bits: WholeTable(TOTAL, **whole, bits=bits).draw))
    normal: dict[str, Any] = {"rho": RHO, "noise": "gaussian"}
    yield Case(
        "table", "whole gaussian", moves, concentrated, _added(lambda bits: WholeTable(TOTAL, **normal, bits=bits).draw)
    )
    laplace = ambient.Laplace(TOTAL, EPSILON)
    yield Case(
        "table", "ambient laplace", moves, laplace.price, _pressed(lambda b: ambient.Laplace(TOTAL, EPSILON, bits=b))
    )
    for way in ("extension", "projection"):
        made = partial(ambient.Gaussian, TOTAL, RHO, way=way)
        draw = _pressed(lambda bits, made=made: made(bits=bits))  # type: ignore[misc]
        yield Case("table", f"ambient gaussian by {way}", moves, concentrated, draw)
    yield Case("table", "noisy", "one record", Pure(EPSILON), _free(EPSILON, None))
    yield Case("table", "noisy gaussian", "one record", concentrated, _free(None, RHO))
    yield _crossed()
    yield Case("table", "agents", moves, exact, one_by_one(_agents()), 400)


def _crossed() -> Case:
    """Two records change places in a table of 2 x 2 cells, so that both margins stay."""
    margins = Invariants([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], name="the margins")
    made = CrossedTable(margins, EPSILON, moved=2)

    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        cells = np.array([6, 6, 5, 5]) if has_unit else np.array([5, 7, 6, 4])
        return np.asarray(cells + made.draw(count, bits=bits))

    return Case("table", "crossed", "two records that change places", made.price(), draw)


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


def _agents() -> Callable[[bool, Bits], list[int]]:
    """A fresh key for each release, as secret as the noise that it stands for."""

    def release(has_unit: bool, bits: Bits) -> list[int]:
        key = bits.integer(256).to_bytes(32, "little")
        counts = (MOVED if has_unit else CELLS).tolist()
        agents = [Agent(key, WholeTable(TOTAL, epsilon=EPSILON), cell, place="hall") for cell in range(3)]
        return [agent.publish(count, round_number=1) for agent, count in zip(agents, counts, strict=True)]

    return release


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

        yield Case("local", name, "one person's answer", made(Bits()).price, draw)


def noise_cases() -> Iterator[Case]:
    """One count under a chain of noise: all levels together cost the clearest one's rate, not their sum."""
    rates = (Fraction(1, 2), Fraction(1))

    def chain(has_unit: bool, count: int, bits: Bits) -> Rows:
        return np.asarray(int(has_unit) + levels(rates, count, bits=bits).T)

    def on_demand(has_unit: bool, count: int, bits: Bits) -> Rows:
        noisy = discrete_laplace(rates[0], count, bits=bits)
        return int(has_unit) + np.stack((noisy, clearer(noisy, *rates, bits=bits)), axis=1)

    yield Case("noise", "levels", "one count", Pure(rates[1]), chain)
    yield Case("noise", "clearer", "one count", Pure(rates[1]), on_demand)
