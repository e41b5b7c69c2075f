"""A private value at every tick: fresh noise, smoothed noise, running sums, and sums of values without a known bound.

Each mechanism is a file and says why it is private; `Mechanism` is what they share. `stream` makes a plan from a
source, `publish` also runs it, and a `Session` goes on tick by tick. Each is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily
from louver.privacy.plan import found_in

if TYPE_CHECKING:
    from louver.stream.answer import Stream
    from louver.stream.buffered import Buffered
    from louver.stream.choose import Choice, choose
    from louver.stream.continual import ContinualSum
    from louver.stream.crossings import Crossings
    from louver.stream.gaussian import Gaussian
    from louver.stream.hierarchy import Hierarchy
    from louver.stream.histogram import Histogram
    from louver.stream.kary import KAry
    from louver.stream.laplace import Laplace
    from louver.stream.looking import Tails, look_at_tails, tails
    from louver.stream.means import PresentMean, RunningMean, WindowMean
    from louver.stream.mechanism import Mechanism
    from louver.stream.pegasus import Pegasus
    from louver.stream.plan import StreamPlan
    from louver.stream.planning import stream
    from louver.stream.publishing import publish
    from louver.stream.quantiles import interquartile_range, quantile
    from louver.stream.recent import Recent
    from louver.stream.segment import Segment
    from louver.stream.session import Session
    from louver.stream.smooth_quantile import SmoothQuantile
    from louver.stream.tail import Tail, look_at_tail
    from louver.stream.tail_plan import TailPlan
    from louver.stream.threshold import PenalisedThreshold
    from louver.stream.toeplitz import Toeplitz
    from louver.stream.tree import Tree
    from louver.stream.truncated import TruncatedSum

__all__ = [
    "Buffered",
    "Choice",
    "ContinualSum",
    "Crossings",
    "Gaussian",
    "Hierarchy",
    "Histogram",
    "KAry",
    "Laplace",
    "Mechanism",
    "Pegasus",
    "PenalisedThreshold",
    "PresentMean",
    "Recent",
    "RunningMean",
    "Segment",
    "Session",
    "SmoothQuantile",
    "Stream",
    "StreamPlan",
    "Tail",
    "TailPlan",
    "Tails",
    "Toeplitz",
    "Tree",
    "TruncatedSum",
    "WindowMean",
    "choose",
    "interquartile_range",
    "look_at_tail",
    "look_at_tails",
    "publish",
    "quantile",
    "stream",
    "tails",
]
_HOMES = {
    "Session": "session",
    "Stream": "answer",
    "StreamPlan": "plan",
    "publish": "publishing",
    "stream": "planning",
    "Buffered": "buffered",
    "Choice": "choose",
    "ContinualSum": "continual",
    "Crossings": "crossings",
    "Gaussian": "gaussian",
    "Hierarchy": "hierarchy",
    "Histogram": "histogram",
    "KAry": "kary",
    "Laplace": "laplace",
    "Mechanism": "mechanism",
    "Pegasus": "pegasus",
    "PenalisedThreshold": "threshold",
    "PresentMean": "means",
    "Recent": "recent",
    "RunningMean": "means",
    "Segment": "segment",
    "SmoothQuantile": "smooth_quantile",
    "Tail": "tail",
    "TailPlan": "tail_plan",
    "Tails": "looking",
    "Toeplitz": "toeplitz",
    "Tree": "tree",
    "TruncatedSum": "truncated",
    "WindowMean": "means",
    "choose": "choose",
    "interquartile_range": "quantiles",
    "look_at_tail": "tail",
    "look_at_tails": "looking",
    "tails": "looking",
    "quantile": "quantiles",
}
found_in({"stream": "louver.stream.plan", "tail": "louver.stream.tail_plan"})
__getattr__ = lazily("louver.stream", _HOMES)


def __dir__() -> list[str]:
    return __all__
