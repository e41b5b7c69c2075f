"""What is promised and what it costs: units, scopes, guarantees, composition, calibration, min-entropy."""

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
from louver.privacy.guarantee import Approximate, Pure, Subspace, ZeroConcentrated
from louver.privacy.plan import Outcome, Plan, plan_from_dict, plan_to_dict
from louver.privacy.predicatewise import Charge, ExPost, largest_total, refinement, spent, total_at
from louver.privacy.ranges import Among, Between
from louver.privacy.scope import Scope
from louver.privacy.unit import Unit

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
