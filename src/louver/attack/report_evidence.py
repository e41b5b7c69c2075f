"""Evidence of the network attackers and of the learned ones: their results as sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from louver.attack.classes import NAMES
from louver.attack.figure_spans import Span, Spans
from louver.attack.figures import Bar, ClassBars
from louver.attack.learned_score import Score
from louver.attack.network import LOOKS, Exposure
from louver.attack.report import Evidence, Table
from louver.errors import ParameterError
from louver.privacy import Pure

UPPER = slice(len(NAMES) // 2, None)  # a guess between two answers is never less than half sure


def of_network(exposures: Mapping[str, Sequence[Exposure]], price: Pure) -> Evidence:
    """What friends' answers give away, by network; several runs of one are averaged."""
    if not exposures or not all(exposures.values()):
        raise ParameterError("There is a run or more of each network.")
    rows, bars = [], []
    for name, runs in exposures.items():
        alike = float(np.mean([run.alike for run in runs]))
        for look in LOOKS:
            seen = [run.by(look) for run in runs]
            right = np.array([each.right for each in seen])
            classes = np.mean([each.classes for each in seen], axis=0)
            error = float(right.std(ddof=1) / np.sqrt(len(right))) if len(right) > 1 else None
            rows.append((name, look, alike, float(right.mean()), error, float(classes[-1])))
            bars.append(Bar(look, tuple((100 * classes[UPPER]).tolist()), name))
    most = max(float(np.mean([run.beyond for run in runs])) for runs in exposures.values())
    sentence = (
        f"Each own answer moves the odds by a factor of at most {np.exp(float(price.epsilon)):.3g}, as promised; yet "
        f"of up to {100 * most:.0f} in 100 people the attacker is surer, and rightly, than any own answer could make "
        "it, because friends' answers tell on them."
    )
    heads = ("network", "looks at", "friends alike", "right", "standard error", "right and above 90% sure")
    figure = ClassBars("Right guesses, by how sure the attacker is", tuple(NAMES[UPPER]), tuple(bars), "of 100 people")
    return Evidence("Randomized answers of friends", sentence, Table(heads, tuple(rows)), figure)


def of_scores(title: str, sentence: str, scores: Sequence[Score]) -> Evidence:
    """What learned attackers reached, each with its interval, chance, and the control that learnt mixed-up labels."""
    heads = ("attack", "score", "low", "high", "chance", "control", "cases", "days")
    rows = tuple(
        (each.what, each.value, each.low, each.high, each.chance, each.control, each.cases, each.days)
        for each in scores
    )
    spans = tuple(Span(each.what, each.value, each.low, each.high, each.chance) for each in scores)
    return Evidence(title, sentence, Table(heads, rows), Spans("Score with its 95% interval, and chance", spans))
