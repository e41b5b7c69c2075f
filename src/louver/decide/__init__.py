"""Yes or no per key: which keys of a domain meet a condition, with a promise. One file per strategy; each is a plan.

`plan` makes one from a source, a question and a promise, `ask` also runs it; `choices` shows what it chose from. Each
is loaded when it is first used: a question needs one strategy, not all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily
from louver.privacy.plan import found_in

if TYPE_CHECKING:
    from louver.decide.adaptive_plan import Adaptive
    from louver.decide.answer import Answer
    from louver.decide.asking import ask
    from louver.decide.bands import Bands
    from louver.decide.choose import Candidate, explain
    from louver.decide.naive import Naive
    from louver.decide.planning import choices, plan
    from louver.decide.progressive import Progressive, decide
    from louver.decide.shift import Shift
    from louver.decide.sparse_plan import Sparse
    from louver.decide.spread import Margins
    from louver.decide.survey import Survey
    from louver.decide.within import Within

__all__ = [
    "Adaptive",
    "Answer",
    "Bands",
    "Candidate",
    "Margins",
    "Naive",
    "Progressive",
    "Shift",
    "Sparse",
    "Survey",
    "Within",
    "ask",
    "choices",
    "decide",
    "explain",
    "plan",
]
_PLANS = {
    "adaptive": "adaptive_plan",
    "bands": "bands",
    "naive": "naive",
    "progressive": "progressive",
    "shift": "shift",
    "sparse": "sparse_plan",
    "survey": "survey",
    "within": "within",
}
_HOMES = {name.capitalize(): module for name, module in _PLANS.items()} | {
    "Answer": "answer",
    "Candidate": "choose",
    "Margins": "spread",
    "ask": "asking",
    "choices": "planning",
    "decide": "progressive",
    "explain": "choose",
    "plan": "planning",
}
found_in({name: f"louver.decide.{module}" for name, module in _PLANS.items()})
__getattr__ = lazily("louver.decide", _HOMES)


def __dir__() -> list[str]:
    return __all__
