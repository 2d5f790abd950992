"""Every group of rows against all others: means, effect sizes, p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, ttest_ind_from_stats

from pyrocco.estimators.statistics import Moments

Array = NDArray[np.float64]

# Share of a line's scatter that subtraction cannot tell from none.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Contrast:
    """Each group of rows against the rows that are not in it, for every line.

    Parameters
    ----------
    mean, rest_mean : ndarray of shape (n_groups, n_lines)
        Mean of the group, and of the rest; NaN without observed cells.
    effect : ndarray of shape (n_groups, n_lines)
        Their difference in standard deviations, pooled over group and rest by their degrees
        of freedom (Cohen's d). Infinite where neither scatters and the means differ.
    p : ndarray of shape (n_groups, n_lines)
        Of Welch's t-test; NaN with fewer than two observed rows on either side, and where
        neither scatters.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]])
    >>> found = Contrast.of(Moments.of(X, np.array([0, 0, 0, 1, 1, 1])))
    >>> found.mean.ravel().tolist(), found.effect.ravel().tolist()
    ([2.0, 8.0], [-6.0, 6.0])
    >>> found.p.ravel().round(4).tolist()
    [0.0018, 0.0018]
    """

    mean: Array
    rest_mean: Array
    effect: Array
    p: Array

    @classmethod
    def of(cls, groups: Moments) -> Contrast:
        """Contrast the groups of `groups`."""
        rest = _rest(groups)
        mean, rest_mean = (np.where(m.counts > 0, m.means, np.nan) for m in (groups, rest))
        return cls(mean, rest_mean, _effect(groups, rest, mean - rest_mean), _welch(groups, rest))

    @property
    def direction(self) -> NDArray[np.str_]:
        """Whether the group is higher or lower than the rest; empty where it is neither."""
        return np.where(self.effect > 0, "higher", np.where(self.effect < 0, "lower", ""))


def adjusted(p: Array) -> Array:
    """Adjust p-values for their number (Benjamini and Hochberg 1995), leaving NaN aside.

    Examples
    --------
    >>> adjusted(np.array([0.01, np.nan, 0.04])).tolist()
    [0.02, nan, 0.04]
    """
    known = ~np.isnan(p)
    found = np.full(p.shape, np.nan)
    if known.any():
        found[known] = false_discovery_control(p[known])
    return found


def _rest(groups: Moments) -> Moments:
    """All rows but those of the group, by subtraction from all rows."""
    total = groups.merged(np.zeros(len(groups.counts), dtype=np.intp))
    counts = total.counts - groups.counts
    sums = total.counts * total.means - groups.counts * groups.means
    means = sums / np.maximum(counts, 1)
    # Scatter of all is that of either part, and of the parts' means about the common one.
    apart = groups.counts * np.square(groups.means - total.means)
    apart += counts * np.square(means - total.means)
    scatter = total.scatter - groups.scatter - apart
    return Moments(counts, means, np.where(scatter > _ROUNDING * total.scatter, scatter, 0.0))


def _effect(groups: Moments, rest: Moments, difference: Array) -> Array:
    freedom = groups.counts + rest.counts - 2
    deviation = np.sqrt((groups.scatter + rest.scatter) / np.maximum(freedom, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = difference / deviation
    # Nothing scatters: equal means are no effect; with one row a side nobody can tell.
    effect = np.where((deviation == 0) & (difference == 0), 0.0, effect)
    return np.where(freedom > 0, effect, np.nan)


def _welch(groups: Moments, rest: Moments) -> Array:
    sides = []
    for side in (groups, rest):
        deviation = np.sqrt(side.scatter / np.maximum(side.counts - 1, 1))
        sides += [side.means, deviation, np.maximum(side.counts, 2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = ttest_ind_from_stats(*sides, equal_var=False).pvalue
    meaningful = np.minimum(groups.counts, rest.counts) >= 2
    return np.where(meaningful & (groups.scatter + rest.scatter > 0), p, np.nan)
