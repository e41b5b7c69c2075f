"""What is promised and what it costs: units, scopes, guarantees, composition, calibration, min-entropy.

Calibration and min-entropy are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily
from louver.privacy.guarantee import Approximate, Pure, Subspace, ZeroConcentrated
from louver.privacy.plan import Outcome, Plan, plan_from_dict, plan_to_dict
from louver.privacy.predicatewise import Charge, ExPost, largest_total, refinement, spent, total_at
from louver.privacy.ranges import Among, Between
from louver.privacy.scope import Scope
from louver.privacy.unit import Unit

if TYPE_CHECKING:
    from louver.privacy.calibrate import (
        LevelGrid,
        OneShot,
        Progressive,
        ThresholdShift,
        failure_probability,
        grid_levels,
        mim_shift,
        mim_shift_in_text,
        one_shot,
        ppwlm,
        predict_fresh,
        predict_gradual,
        tslm,
    )
    from louver.privacy.entropy import MinEntropy, min_entropy, published_min_entropy

__all__ = [
    "Among",
    "Approximate",
    "Between",
    "Charge",
    "ExPost",
    "LevelGrid",
    "MinEntropy",
    "OneShot",
    "Outcome",
    "Plan",
    "Progressive",
    "Pure",
    "Scope",
    "Subspace",
    "ThresholdShift",
    "Unit",
    "ZeroConcentrated",
    "failure_probability",
    "grid_levels",
    "largest_total",
    "mim_shift",
    "mim_shift_in_text",
    "min_entropy",
    "one_shot",
    "plan_from_dict",
    "plan_to_dict",
    "ppwlm",
    "predict_fresh",
    "predict_gradual",
    "published_min_entropy",
    "refinement",
    "spent",
    "total_at",
    "tslm",
]
_HOMES = {
    "LevelGrid": "calibrate",
    "OneShot": "calibrate",
    "Progressive": "calibrate",
    "ThresholdShift": "calibrate",
    "failure_probability": "calibrate",
    "grid_levels": "calibrate",
    "mim_shift": "calibrate",
    "mim_shift_in_text": "calibrate",
    "one_shot": "calibrate",
    "ppwlm": "calibrate",
    "predict_fresh": "calibrate",
    "predict_gradual": "calibrate",
    "tslm": "calibrate",
    "MinEntropy": "entropy",
    "min_entropy": "entropy",
    "published_min_entropy": "entropy",
}
__getattr__ = lazily("louver.privacy", _HOMES)


def __dir__() -> list[str]:
    return __all__
