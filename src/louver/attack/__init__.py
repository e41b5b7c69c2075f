"""What somebody would really learn: attackers with a prior, releases only, and truth only to score.

Nothing here protects anybody. Each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.attack.classes import advantage, confidence_class, localised, over_runs
    from louver.attack.composition import (
        bound_with_more,
        log_ratio_of_more,
        published_bound_with_more,
        repeated_posterior,
    )
    from louver.attack.expected import expected_posterior, sampled_posterior
    from louver.attack.individual import individual_posterior
    from louver.attack.joint import joint_posterior, joint_posterior_of_unknown
    from louver.attack.law import Additive, ContinuousLaplace, DiscreteGaussian, DiscreteLaplace, NoNoise, Tabled
    from louver.attack.learned_law import LearnedLaw, learn_law
    from louver.attack.open_regions import (
        Attacker,
        administrator,
        opened_at_random,
        outsider,
        unknown_groups,
        who_sees,
        with_role,
    )
    from louver.attack.posterior import from_true_counts, single_posterior
    from louver.attack.prior import presences, prior_by_weekday, prior_of, with_outside
    from louver.attack.worst_case import worst_posterior

_HOMES = {
    "Additive": "law",
    "Attacker": "open_regions",
    "ContinuousLaplace": "law",
    "DiscreteGaussian": "law",
    "DiscreteLaplace": "law",
    "LearnedLaw": "learned_law",
    "NoNoise": "law",
    "Tabled": "law",
    "administrator": "open_regions",
    "advantage": "classes",
    "bound_with_more": "composition",
    "confidence_class": "classes",
    "expected_posterior": "expected",
    "from_true_counts": "posterior",
    "individual_posterior": "individual",
    "joint_posterior": "joint",
    "joint_posterior_of_unknown": "joint",
    "learn_law": "learned_law",
    "localised": "classes",
    "log_ratio_of_more": "composition",
    "opened_at_random": "open_regions",
    "outsider": "open_regions",
    "over_runs": "classes",
    "presences": "prior",
    "prior_by_weekday": "prior",
    "prior_of": "prior",
    "published_bound_with_more": "composition",
    "repeated_posterior": "composition",
    "sampled_posterior": "expected",
    "single_posterior": "posterior",
    "unknown_groups": "open_regions",
    "who_sees": "open_regions",
    "with_outside": "prior",
    "with_role": "open_regions",
    "worst_posterior": "worst_case",
}
__all__ = [
    "Additive",
    "Attacker",
    "ContinuousLaplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "LearnedLaw",
    "NoNoise",
    "Tabled",
    "administrator",
    "advantage",
    "bound_with_more",
    "confidence_class",
    "expected_posterior",
    "from_true_counts",
    "individual_posterior",
    "joint_posterior",
    "joint_posterior_of_unknown",
    "learn_law",
    "localised",
    "log_ratio_of_more",
    "opened_at_random",
    "outsider",
    "over_runs",
    "presences",
    "prior_by_weekday",
    "prior_of",
    "published_bound_with_more",
    "repeated_posterior",
    "sampled_posterior",
    "single_posterior",
    "unknown_groups",
    "who_sees",
    "with_outside",
    "with_role",
    "worst_posterior",
]
__getattr__ = lazily("louver.attack", _HOMES)


def __dir__() -> list[str]:
    return __all__
