"""What somebody believes of friends before any answer: how many have the attribute, and how alike friends are.

P(x) is in proportion to a product over people and over friendships. `Friends` takes p(x_i) for people and
p(x_i, x_j) / (p(x_i) p(x_j)) for friendships: where these make no circle, a law with exactly that share and those
pairs. In circles it counts likeness again and again and takes one side for everybody; there `Pulled`, the model of
Ising (1925), has a lean and a pull that can be fitted. After the talk of Gao (2023) on attributes that spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.attack.network_graph import Network
from louver.errors import ParameterError
from louver.local import YesNo

Floats = NDArray[np.float64]
LEAST_SHARE, MOST_ALIKE = 0.001, 0.99


@dataclass(frozen=True, slots=True)
class Friends:
    """`share` of people have the attribute; `alike` is the correlation of two friends: 0 for strangers, 1 for twins.

    >>> Friends(share=0.3, alike=0.5).given().round(2).tolist()
    [0.15, 0.65]
    """

    share: float
    alike: float

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ParameterError("share must be greater than 0 and less than 1.")
        if not 0 <= self.alike < 1:
            raise ParameterError("alike must be at least 0 and less than 1.")

    @property
    def lean(self) -> float:
        """The log odds of somebody without friends."""
        return log_odds(self.share)

    def given(self) -> Floats:
        """The chance that a friend has the attribute, of somebody who has it not, and of somebody who has it."""
        apart = self.share * (1 - self.alike)
        return np.array([apart, apart + self.alike])

    def bonds(self) -> Floats:
        """ln of p(x, y) / (p(x) p(y)) for two friends, by their answers no and yes."""
        alone = np.array([1 - self.share, self.share])
        yes = self.given()
        return np.asarray(np.log(np.stack([1 - yes, yes], axis=1) / alone), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Pulled:
    """Somebody without friends has the log odds `lean`, and each friend pulls them by up to `pull` to the own side.

    `share` is how many have the attribute, as far as known; it is what is believed of somebody by nothing else.
    """

    share: float
    lean: float
    pull: float

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ParameterError("share must be greater than 0 and less than 1.")

    def bonds(self) -> Floats:
        return np.array([[self.pull, -self.pull], [-self.pull, self.pull]]) / 2


Prior: TypeAlias = Friends | Pulled


def log_odds(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))


def averaged(network: Network, reports: NDArray[np.bool_], mechanism: YesNo) -> Friends:
    """Share and likeness as the reports of everybody show them: noise is fair, so it can be taken out of averages."""
    said, low, high = reports.astype(np.float64), *mechanism.law()[:, 1]
    clear = (said - low) / (high - low)
    share = float(np.clip(clear.mean(), LEAST_SHARE, 1 - LEAST_SHARE))
    return Friends(share, _correlation(network, clear, share))


def likeness(network: Network, answers: NDArray[np.bool_]) -> float:
    """How alike friends are in truth: the correlation over friendships, 0 where all answers are one."""
    share = float(answers.mean())
    return _correlation(network, answers.astype(np.float64), share) if 0 < share < 1 else 0.0


def _correlation(network: Network, clear: Floats, share: float) -> float:
    """Of both ends of a friendship, around their own mean: who has more friends counts more often."""
    if not len(network.one):
        return 0.0
    one, other = clear[network.one], clear[network.other]
    mean = (one.mean() + other.mean()) / 2
    covariance = float(((one - mean) * (other - mean)).mean())
    return float(np.clip(covariance / (share * (1 - share)), 0, MOST_ALIKE))
