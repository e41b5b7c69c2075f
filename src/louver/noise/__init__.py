"""Randomness: the only room that draws it.

Everything is exact on integers, from the operating system's generator, with rational rates and no seed. `idealised`
alone is not, and is not exported here.
"""

from louver.noise.bits import Bits
from louver.noise.coins import bernoulli, bernoulli_exp
from louver.noise.gaussian import discrete_gaussian
from louver.noise.gradual import clearer, levels
from louver.noise.grid import Grid
from louver.noise.laplace import discrete_laplace, geometric
from louver.noise.lattice import fixed_sum, fixed_sums, gaussian_fixed_sum
from louver.noise.truncated import reaches, uniform_laplace

__all__ = [
    "Bits",
    "Grid",
    "bernoulli",
    "bernoulli_exp",
    "clearer",
    "discrete_gaussian",
    "discrete_laplace",
    "fixed_sum",
    "fixed_sums",
    "gaussian_fixed_sum",
    "geometric",
    "levels",
    "reaches",
    "uniform_laplace",
]
