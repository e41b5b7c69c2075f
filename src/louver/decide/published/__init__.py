"""The published algorithms as printed, on idealised noise: to reproduce the papers and compare, never to release.

Each takes counts and thresholds and returns a `Decision`. Floating-point noise is not private, so nothing here is a
plan and the steward has no way to run it. What is wrong with each is said where it is.
"""

from louver.decide.published.data_dependent import dppwlm
from louver.decide.published.decision import Decision
from louver.decide.published.one_look import mim_baseline, nlm, tslm
from louver.decide.published.progressive import mim_progressive, ppwlm
from louver.decide.published.splits import split_naive, split_price, split_published

__all__ = [
    "Decision",
    "dppwlm",
    "mim_baseline",
    "mim_progressive",
    "nlm",
    "ppwlm",
    "split_naive",
    "split_price",
    "split_published",
    "tslm",
]
