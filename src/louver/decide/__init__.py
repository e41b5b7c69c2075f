"""Yes or no per key: which keys have a count beyond their threshold. One file per mechanism; each class is a plan."""

from louver.decide.gradual import GradualCounts
from louver.decide.one_shot import OneShotCounts

__all__ = ["GradualCounts", "OneShotCounts"]
