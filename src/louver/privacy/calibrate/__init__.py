"""From a promise to levels and thresholds: which noise keeps a miss rate, at the least price.

`one_shot` decides at one look; `grid_levels` looks again, more clearly, only where needed; `failure_probability` is the
exact law behind it; `predict_fresh` and `predict_gradual` foresee the next look; `tslm`, `ppwlm`, `mim_shift` and
`mim_shift_in_text` are the published formulas. Each is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.privacy.calibrate.chain import failure_probability
    from louver.privacy.calibrate.grid import LevelGrid, grid_levels
    from louver.privacy.calibrate.oneshot import OneShot, one_shot
    from louver.privacy.calibrate.predict import predict_fresh, predict_gradual
    from louver.privacy.calibrate.published import (
        Progressive,
        ThresholdShift,
        mim_shift,
        mim_shift_in_text,
        ppwlm,
        tslm,
    )

__all__ = [
    "LevelGrid",
    "OneShot",
    "Progressive",
    "ThresholdShift",
    "failure_probability",
    "grid_levels",
    "mim_shift",
    "mim_shift_in_text",
    "one_shot",
    "ppwlm",
    "predict_fresh",
    "predict_gradual",
    "tslm",
]
_HOMES = {
    "LevelGrid": "grid",
    "OneShot": "oneshot",
    "Progressive": "published",
    "ThresholdShift": "published",
    "failure_probability": "chain",
    "grid_levels": "grid",
    "mim_shift": "published",
    "mim_shift_in_text": "published",
    "one_shot": "oneshot",
    "ppwlm": "published",
    "predict_fresh": "predict",
    "predict_gradual": "predict",
    "tslm": "published",
}
__getattr__ = lazily("louver.privacy.calibrate", _HOMES)


def __dir__() -> list[str]:
    return __all__
