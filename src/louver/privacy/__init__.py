"""What is promised and what it costs: units, scopes, guarantees, composition, calibration, min-entropy."""

from louver.privacy.calibrate import OneShot, failure_probability, grid_levels, one_shot, ppwlm, tslm

__all__ = ["OneShot", "failure_probability", "grid_levels", "one_shot", "ppwlm", "tslm"]
