"""Noise before anybody sees the answer: randomized response, and how many people have an answer."""

from louver.local.estimate import Estimate
from louver.local.randomized_response import Choice, YesNo
from louver.local.unary import Unary

__all__ = ["Choice", "Estimate", "Unary", "YesNo"]
