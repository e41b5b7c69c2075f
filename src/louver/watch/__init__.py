"""Standing questions: each slot, each rule is paid and decided, and whatever crosses its limit is told.

Each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.watch.deciding import Decided
    from louver.watch.forecast import Forecast
    from louver.watch.hours import Hours
    from louver.watch.journal import Journal
    from louver.watch.outbox import Outbox
    from louver.watch.pipeline import Pipeline, prepared
    from louver.watch.replay import Fire, Tried, tried
    from louver.watch.rules import Closer, Rule, Rules
    from louver.watch.states import Standing, advanced
    from louver.watch.stream_rules import StreamRule
    from louver.watch.watcher import Watched, Watcher
    from louver.watch.watching import watch

_HOMES = {
    "Closer": "rules",
    "Decided": "deciding",
    "Fire": "replay",
    "Forecast": "forecast",
    "Hours": "hours",
    "Journal": "journal",
    "Outbox": "outbox",
    "Pipeline": "pipeline",
    "Rule": "rules",
    "Rules": "rules",
    "Standing": "states",
    "StreamRule": "stream_rules",
    "Tried": "replay",
    "Watched": "watcher",
    "Watcher": "watcher",
    "advanced": "states",
    "prepared": "pipeline",
    "tried": "replay",
    "watch": "watching",
}
__all__ = [
    "Closer",
    "Decided",
    "Fire",
    "Forecast",
    "Hours",
    "Journal",
    "Outbox",
    "Pipeline",
    "Rule",
    "Rules",
    "Standing",
    "StreamRule",
    "Tried",
    "Watched",
    "Watcher",
    "advanced",
    "prepared",
    "tried",
    "watch",
]
__getattr__ = lazily("louver.watch", _HOMES)


def __dir__() -> list[str]:
    return __all__
