"""k-means on the inner products of rows: for many runs on the same wide rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pyrocco._typing import Dense, Floats, Labels

# As in scikit-learn's KMeans.
_MAX_ITER, _TOLERANCE = 300, 1e-4


@dataclass(frozen=True)
class GramKMeans:
    """k-means on rows of which only the inner products are known.

    The inner products give all distances between rows and centres. They are computed once for
    all starts and all numbers of clusters. A start then costs almost nothing, and an iteration
    only adds and subtracts the inner products of the rows that change their cluster. Draws,
    steps and stop are those of scikit-learn's KMeans, and so are the labels; KMeans computes
    the distances again in each iteration.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        Inner products of the rows minus their mean.
    tolerance : float
        A run stops when the squared shifts of the centres add up to at most this.
    """

    gram: Floats
    tolerance: float

    @classmethod
    def of(cls, rows: Dense) -> GramKMeans:
        """Compute the inner products of `rows`."""
        centred = rows - rows.mean(axis=0, dtype=np.float64)
        gram = centred @ centred.T
        return cls(gram, _TOLERANCE * float(gram.trace()) / rows.size)

    @cached_property
    def _squares(self) -> Floats:
        """Squared lengths of the rows."""
        return self.gram.diagonal().copy()

    def labels(
        self, k: int, n_init: int, random_state: int | np.random.RandomState | None
    ) -> Labels:
        """Return the labels with the smallest inertia of `n_init` runs."""
        generator = check_random_state(random_state)
        runs = (self._run(self._drawn(k, generator)) for _ in range(n_init))
        return min(runs, key=itemgetter(1))[0]

    def _drawn(self, k: int, random_state: np.random.RandomState) -> Labels:
        """Draw the rows to start from by greedy k-means++."""
        n_rows, n_trials = len(self.gram), 2 + int(np.log(k))
        drawn = [random_state.choice(n_rows, p=np.full(n_rows, 1 / n_rows))]
        nearest = self._distances(np.array(drawn))[0]
        for _ in range(1, k):
            places = random_state.uniform(size=n_trials) * nearest.sum()
            tried = np.minimum(np.searchsorted(np.cumsum(nearest), places), n_rows - 1)
            distances = np.minimum(self._distances(tried), nearest)
            best = int(distances.sum(axis=1).argmin())
            drawn.append(tried[best])
            nearest = distances[best]
        return np.array(drawn, dtype=np.intp)

    def _distances(self, some: Labels) -> Floats:
        """Return the squared distances of some rows to all rows."""
        squared = self._squares[some, None] + self._squares - 2 * self.gram[some]
        return np.maximum(squared, 0)

    def _run(self, start: Labels) -> tuple[Labels, float]:
        """Run Lloyd's algorithm from centres at some rows; return labels and inertia."""
        k, n_rows = len(start), len(self.gram)
        centres = _Centres(self.gram[start], np.ones(k), self._squares[start])
        labels, far = self._nearest(centres)
        members, sums = sparse.csr_array((k, n_rows)), np.zeros((k, n_rows))
        for _ in range(_MAX_ITER):
            held = _without_empty(labels, far, k)
            former = members
            members = sparse.csr_array((np.ones(n_rows), (held, np.arange(n_rows))), (k, n_rows))
            sums = sums + (members - former) @ self.gram
            before, centres = centres, _Centres.of(sums, held)
            labels, far = self._nearest(centres)
            if centres.shift(before, held) <= self.tolerance:
                break
        return labels, float(far.sum())

    def _nearest(self, centres: _Centres) -> tuple[Labels, Floats]:
        """Return the nearest centre of each row and the squared distance to it."""
        squared = centres.squares[:, None] - (2 / centres.sizes)[:, None] * centres.sums
        labels = squared.argmin(axis=0)
        return labels, self._squares + squared[labels, np.arange(len(labels))]


@dataclass(frozen=True)
class _Centres:
    sums: Floats  # for each cluster and each row, the sum of its inner products with the members
    sizes: Floats
    squares: Floats  # squared lengths

    @classmethod
    def of(cls, sums: Floats, held: Labels) -> _Centres:
        sizes = np.maximum(np.bincount(held, minlength=len(sums)), 1).astype(np.float64)
        return cls(sums, sizes, _sums_of_members(sums, held) / sizes**2)

    def shift(self, before: _Centres, held: Labels) -> float:
        """Return the sum of the squared distances to earlier centres; `held` are the labels."""
        products = _sums_of_members(before.sums, held) / (before.sizes * self.sizes)
        return float((self.squares + before.squares - 2 * products).sum())


def _sums_of_members(sums: Floats, held: Labels) -> Any:
    own = sums[held, np.arange(len(held))]
    return np.bincount(held, own, minlength=len(sums))


def _without_empty(labels: Labels, far: Floats, k: int) -> Labels:
    """Move the rows that are farthest from their centres into the empty clusters."""
    empty = np.flatnonzero(np.bincount(labels, minlength=k) == 0)
    if not len(empty) or far.max() <= 0:
        return labels
    moved = labels.copy()
    moved[np.argpartition(far, -len(empty))[: -len(empty) - 1 : -1]] = empty
    return moved
