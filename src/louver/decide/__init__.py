"""Yes or no per key: which keys of a domain meet a condition, with a promise. One file per strategy; each is a plan.

`plan` makes one from a source, a question and a promise, `ask` also runs it; `choices` shows what it chose from.
"""

from louver.decide.adaptive_plan import Adaptive
from louver.decide.answer import Answer
from louver.decide.ask import ask
from louver.decide.bands import Bands
from louver.decide.choose import Candidate, explain
from louver.decide.naive import Naive
from louver.decide.plan import choices, plan
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
