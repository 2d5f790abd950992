"""COBRAr: convex biclustering with the cluster assignment of ROCCO's paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrocco.assign import Assigner, ContinuousAssigner, SilhouetteKMeans
from pyrocco.convex import Clusters, ConvexSolution
from pyrocco.estimators.checks import fresh_random_state, is_mostly_zero
from pyrocco.estimators.cobra import COBRA


class COBRAr(COBRA):
    """Groups of rows and of columns from COBRA's representation by RCC or k-means.

    The representation is that of `COBRA`. Its groups are not the rows and columns that have
    become equal: they are found by RCC on the rows and on the columns of U or, for data of
    which more than half the cells are zero, by k-means with the number of clusters that has
    the best silhouette (He and Moreira-Matias 2018, Section 3.1). RCC's published thresholds
    carry units, so U is brought to unit root mean square for it, unless `standardize` is
    False.

    Parameters
    ----------
    gamma, gammas, n_neighbors, phi, metric, standardize, held_out, tol, max_iter
        As for `COBRA`.
    random_state : None, int or RandomState, default=0
        Seeds the choice of held-out cells, and k-means.
    verbose : int, default=0
        As for `COBRA`.

    Attributes
    ----------
    row_labels_, column_labels_, labels_, representation_, block_means_, gamma_, ...
        As for `COBRA`.

    Examples
    --------
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.estimators.cobrar import COBRAr
    >>> X = make_noisy_biclusters((60, 50), 3, noise=5, random_state=0).X
    >>> model = COBRAr().fit(X)
    >>> model.n_row_clusters_, model.n_column_clusters_
    (3, 3)
    """

    def _assign(self, X: Any, solution: ConvexSolution) -> None:
        assigner = self._assigner(X)
        U = solution.U * np.sqrt(solution.U.size) if self.standardize else solution.U
        groups = Clusters(
            assigner.assign(np.ascontiguousarray(U), None),
            assigner.assign(np.ascontiguousarray(U.T), None),
        )
        self._keep_groups(X, groups)

    def _assigner(self, X: Any) -> Assigner:
        random = fresh_random_state(self.random_state)
        if is_mostly_zero(X):
            return SilhouetteKMeans(random)
        return ContinuousAssigner(random_state=random)
