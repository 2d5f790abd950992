"""Convex biclustering (Chi, Allen and Baraniuk 2017)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, validate_data

from pyrocco.assign.base import relabel
from pyrocco.convex import (
    ConvexProblem,
    ConvexSolution,
    Groups,
    hold_out,
    solve,
    solve_path,
    validate,
)
from pyrocco.convex.grid import check_gammas, check_positive
from pyrocco.convex.scaling import ScaledProblem, scaled_problem
from pyrocco.convex.validation import seen_block_means
from pyrocco.estimators.blocks import BlockMixin
from pyrocco.estimators.checks import (
    check_choice,
    check_count,
    fresh_random_state,
    resolve_metric,
)
from pyrocco.estimators.saving import SavingMixin
from pyrocco.estimators.watching import WatchedMixin, with_callbacks
from pyrocco.graph import METRICS
from pyrocco.progress import Progress

# Groups, and so validation errors, no longer changed below this tolerance on 40 planted
# matrices of five levels of noise; at ten times as much, 3 of 520 did.
_VALIDATION_TOL = 1e-7
_ACCEPTED = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


class COBRA(WatchedMixin, SavingMixin, BlockMixin, ClusterMixin, BaseEstimator):
    """Groups of rows and of columns by convex biclustering.

    Minimises 0.5 ||X - U||_F^2 + gamma (sum w_ij ||U_i. - U_j.|| + sum w_kl ||U_.k - U_.l||)
    over edges between nearest neighbours, with Gaussian weights. Rows and columns of U that
    have become equal are the groups. X may have missing cells (NaN).

    Parameters
    ----------
    gamma : float, default=None
        Strength of the penalty. None chooses it from `gammas` by validation: a part of the
        cells is held out, and the gamma is kept whose blocks foretell them best.
    gammas : sequence of float, default=None
        What to choose from; None means 13 values from 1e-3 to 1e3, the range of the paper.
    n_neighbors : int, default=5
        Neighbours each row (and each column) names; one end naming the other makes an edge.
    phi : float, default=0.5
        Decay of the edge weights exp(-phi d^2 / n), n the number of columns (of rows).
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance between rows and between columns. ``"auto"`` is cosine for data of which
        more than half the cells are zero, Euclidean otherwise and with missing cells.
    standardize : bool, default=True
        Work on X minus its mean over the Frobenius norm of that, as gamma, phi and the grid
        expect; results do not depend on the units of X. Data already in that form is left
        as it is. False takes X as it comes.
    held_out : float, default=0.1
        Share of the cells to hold out.
    tol : float, default=1e-8
        Duality gap at which to stop, as a share of half the squared distance of X to its
        mean. U is then within sqrt(tol) of the exact solution, relative to X minus its mean.
    max_iter : int, default=2000
        Newton steps of the solver at most, for each gamma.
    random_state : None, int or RandomState, default=0
        Seeds the choice of held-out cells.
    verbose : int, default=0
        1 tells of stages, 2 also of every gamma of the validation, on standard error.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Group of every row and of every column, largest group 0.
    labels_ : ndarray of int
        The row labels, under scikit-learn's name for them.
    representation_ : ndarray of shape (n_rows, n_columns)
        U in the units of X, without missing cells.
    block_means_ : ndarray of shape (n_row_clusters_, n_column_clusters_)
        Mean of the seen cells of every pair of a row group and a column group; NaN where a
        block has none.
    gamma_ : float
        The gamma of the representation.
    gammas_, validation_errors_ : ndarray of shape (n_gammas,)
        The gammas tried and the root of their summed squared error on the held-out cells,
        on the scale the method works on. Only when `gamma` is None.
    objective_, duality_gap_ : float
        Value of the problem, and how much lower any other U could be, on the same scale.
    n_iter_ : int
        Steps of the solver at `gamma_`.
    converged_ : bool
        Whether all solves reached the tolerance.
    row_graph_, column_graph_ : Graph
        Edges and weights.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of groups.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.estimators.cobra import COBRA
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> model = COBRA().fit(X)
    >>> model.n_row_clusters_, model.n_column_clusters_
    (3, 3)
    """

    def __init__(
        self,
        gamma: float | None = None,
        *,
        gammas: Sequence[float] | None = None,
        n_neighbors: int = 5,
        phi: float = 0.5,
        metric: str = "auto",
        standardize: bool = True,
        held_out: float = 0.1,
        tol: float = 1e-8,
        max_iter: int = 2000,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
    ):
        self.gamma = gamma
        self.gammas = gammas
        self.n_neighbors = n_neighbors
        self.phi = phi
        self.metric = metric
        self.standardize = standardize
        self.held_out = held_out
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> COBRA:
        """Find groups of rows and groups of columns of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data; NaN marks missing cells. The representation is dense, so sparse data
            becomes so too.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        COBRA
            Itself, fitted.
        """
        X = validate_data(self, X, **_ACCEPTED)
        with self._watched_fit(X) as progress:
            self._fit(X, progress)
        if not self.converged_:
            _warn_not_converged(self.max_iter)
        return self

    def _fit(self, X: Any, progress: Progress) -> None:
        with progress.stage("graph"):
            scaled = self._prepare(X)
        gamma, converged = self._choose_gamma(scaled.problem, progress)
        with progress.stage("representation"):
            solution = solve(scaled.problem, gamma, tol=self.tol, max_iter=self.max_iter)
        with progress.stage("clusters"):
            self._keep(X, scaled, solution)
            self._assign(X, solution)
        self.converged_ = converged and solution.converged

    def path(self, X: Any) -> list[ConvexSolution]:
        """Solve for every gamma of `gammas`, with all cells seen.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.

        Returns
        -------
        list of ConvexSolution
            In the order of `gammas`. U is in the units of X; objective and gap are on the
            scale the method works on. Groups are numbered from the largest.

        Examples
        --------
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> from pyrocco.estimators.cobra import COBRA
        >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
        >>> found = COBRA(gammas=[1.0, 10.0]).path(X)
        >>> [len(set(solution.groups.rows)) for solution in found]
        [40, 3]
        """
        scaled = self._prepare(check_array(X, **_ACCEPTED))
        gammas = check_gammas(self.gamma, self.gammas)
        found = solve_path(scaled.problem, gammas, tol=self.tol, max_iter=self.max_iter)
        if not all(solution.converged for solution in found):
            _warn_not_converged(self.max_iter)
        return [
            replace(solution, U=scaled.restore(solution.U), groups=_numbered(solution.groups))
            for solution in found
        ]

    def _check_parameters(self) -> None:
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_iter", self.max_iter)
        check_choice("metric", self.metric, ("auto", *METRICS))
        check_positive("phi", self.phi, or_zero=True)
        check_positive("tol", self.tol)
        check_positive("held_out", self.held_out, below=1.0)

    def _prepare(self, X: Any) -> ScaledProblem:
        self._check_parameters()
        metric = self.metric
        if metric == "auto":
            metric = "euclidean" if _has_missing(X) else resolve_metric(metric, X)
        return scaled_problem(
            X,
            n_neighbors=self.n_neighbors,
            phi=self.phi,
            metric=metric,
            standardize=self.standardize,
        )

    def _choose_gamma(self, problem: ConvexProblem, progress: Progress) -> tuple[float, bool]:
        gammas = check_gammas(self.gamma, self.gammas)
        if self.gamma is not None:
            return gammas[0], True
        hidden = hold_out(problem, self.held_out, fresh_random_state(self.random_state))
        tol = max(self.tol, _VALIDATION_TOL)
        with progress.stage("validation", steps=len(gammas)):
            found = validate(
                problem, gammas, hidden, tol=tol, max_iter=self.max_iter, report=progress.iteration
            )
        self.gammas_, self.validation_errors_ = found.gammas, found.errors
        return float(found.gammas[found.best]), found.converged

    def _keep(self, X: Any, scaled: ScaledProblem, solution: ConvexSolution) -> None:
        self.representation_ = scaled.restore(solution.U).astype(X.dtype, copy=False)
        self.gamma_ = solution.gamma
        self.objective_ = solution.objective
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.row_graph_ = scaled.problem.rows
        self.column_graph_ = scaled.problem.columns

    def _assign(self, X: Any, solution: ConvexSolution) -> None:
        self._keep_groups(X, _numbered(solution.groups))

    def _keep_groups(self, X: Any, groups: Groups) -> None:
        self.row_labels_ = self.labels_ = groups.rows
        self.column_labels_ = groups.columns
        self.n_row_clusters_ = int(groups.rows.max()) + 1
        self.n_column_clusters_ = int(groups.columns.max()) + 1
        self.block_means_ = seen_block_means(X.toarray() if sparse.issparse(X) else X, groups)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _has_missing(X: Any) -> bool:
    return bool(np.isnan(X.data if sparse.issparse(X) else X).any())


def _numbered(groups: Groups) -> Groups:
    """Number groups from the largest."""
    return Groups(relabel(groups.rows), relabel(groups.columns))


def _warn_not_converged(max_iter: int) -> None:
    warnings.warn(
        f"Stopped after max_iter={max_iter} steps with a duality gap above the tolerance; "
        "raise max_iter, or tol if a less exact answer will do.",
        ConvergenceWarning,
        stacklevel=3,
    )
