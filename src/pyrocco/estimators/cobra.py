"""Convex biclustering (Chi, Allen and Baraniuk 2017)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, BiclusterMixin, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import Mask, Matrix, MatrixLike
from pyrocco.assign import ContinuousAssigner, SilhouetteKMeans, relabel
from pyrocco.backends import ArrayBackend, Backend, array_backend
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import (
    has_missing,
    is_mostly_zero,
    resolve_metric,
    room_for_sums,
    to_dense,
)
from pyrocco.convex import (
    Clusters,
    ConvexProblem,
    ConvexSolution,
    ScaledProblem,
    check_gammas,
    hold_out,
    scaled_problem,
    solve,
    solve_path,
    validate,
)
from pyrocco.estimators.presentation import notebook_bundle, plot, report
from pyrocco.fitting.result import bicluster_columns, bicluster_rows
from pyrocco.graph import METRICS
from pyrocco.progress import (
    CallbackSupportMixin,
    Observer,
    Progress,
    observed_fit,
    with_callbacks,
)
from pyrocco.results.persistence import save
from pyrocco.validation import (
    check_choice,
    check_count,
    check_flag,
    check_positive,
    check_random_state,
    check_verbose,
)

# Below this tolerance, the clusters and thus the validation errors of 40 planted matrices with
# five levels of noise did not change any more; at ten times as much, 3 of 520 did.
_VALIDATION_TOL = 1e-7


class COBRA(BiclusterMixin, ClusterMixin, BaseEstimator, CallbackSupportMixin):
    """Convex biclustering (COBRA).

    Clusters the rows and the columns of a matrix by solving a convex problem [1]_. It minimises ::

        0.5 ||X - U||_F^2 + gamma (sum w_ij ||U_i. - U_j.|| + sum w_kl ||U_.k - U_.l||)

    over edges between nearest neighbours with Gaussian weights. Rows of U that have become equal
    form a row cluster, and equal columns a column cluster. Missing values (NaN) are allowed.

    Parameters
    ----------
    gamma : float, default=None
        Strength of the penalty. None chooses it from `gammas` by validation: a share of the
        cells is held out, and the gamma is chosen whose block means predict them best.
    gammas : sequence of float, default=None
        Values to choose from; None means 13 values from 1e-3 to 1e3, the range of the paper.
    n_neighbors : int, default=5
        Number of nearest neighbours of each row and each column. Two rows are joined if one of
        them is a neighbour of the other.
    phi : float, default=0.5
        Decay of the edge weights exp(-phi d^2 / n), where n is the number of columns (for rows)
        or rows (for columns).
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance between rows and between columns. ``"auto"`` is cosine if more than half of the
        values are zero, and Euclidean otherwise or if values are missing.
    standardize : bool, default=True
        Whether to subtract the mean of X and divide by the Frobenius norm, as gamma, phi and
        the grid assume. Then the result does not depend on the units of X. Data that already
        have this form are not changed. False uses X as it is.
    held_out : float, default=0.1
        Share of the cells to hold out.
    tol : float, default=1e-8
        Duality gap at which to stop, relative to half the squared distance of X from its mean.
        U is then within sqrt(tol) of the exact solution, relative to X minus its mean.
    max_iter : int, default=2000
        Maximum number of Newton steps for each gamma.
    device : {"cpu", "cuda", "auto"} or backend, default="cpu"
        Where to solve the problem. ``"cuda"`` needs a GPU and the extra ``gpu``; ``"auto"`` uses a
        GPU if there is one. The result is the same up to rounding. Graphs are computed on the CPU.
    random_state : None, int or RandomState, default=0
        Seed of the choice of held-out cells.
    verbose : int, default=0
        1 prints the stages, 2 also every gamma of the validation, to standard error.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column; 0 is the largest.
    labels_ : ndarray of int
        The row labels, under the name that scikit-learn uses.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of clusters.
    representation_ : ndarray of shape (n_rows, n_columns)
        U in the units of X, without missing values.
    block_means_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of every block, ignoring missing values; NaN if all of a block are missing.
    gamma_ : float
        The gamma of the representation.
    gammas_, validation_errors_ : ndarray of shape (n_gammas,)
        The gammas tried, and the square root of their summed squared errors on the held-out
        cells, for the standardised data. Only if `gamma` is None.
    objective_, duality_gap_ : float
        Value of the objective, and a bound on its distance from the minimum, for the
        standardised data.
    n_iter_ : int
        Number of steps of the solver at `gamma_`.
    converged_ : bool
        Whether all problems were solved to the tolerance.
    row_graph_, column_graph_ : Graph
        Edges and their weights.
    rows_, columns_ : ndarray of bool
        Which rows, and which columns, are in each block.
    biclusters_ : tuple of ndarray
        The pair ``(rows_, columns_)``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if X was a DataFrame whose column names are all texts.

    See Also
    --------
    ROCCO : Needs no gamma, and scales to much larger matrices.
    COBRAr : COBRA's representation, clustered as in the paper of ROCCO.

    References
    ----------
    .. [1] E. C. Chi, G. I. Allen and R. G. Baraniuk. Convex biclustering. Biometrics 73(1),
       2017.

    Examples
    --------
    >>> from pyrocco import COBRA
    >>> from pyrocco.datasets import make_noisy_biclusters
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
        device: str | Backend = "cpu",
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
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: MatrixLike, y: object = None, *, observer: Observer | None = None) -> COBRA:
        """Cluster the rows and the columns of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data; NaN marks missing values. A sparse matrix becomes dense, because the
            representation is.
        y : ignored
            Present for API consistency.
        observer : Observer, optional
            Is told about stages and iterations, see `pyrocco.progress.Observer`.

        Returns
        -------
        COBRA
            The fitted estimator.
        """
        backend = self._checked_backend()
        matrix = check_matrix(X, estimator=self)
        with observed_fit(self, X, observer) as progress:
            with progress.stage("graph"):
                scaled = self._problem(matrix, backend)
            gamma, converged = self._choose_gamma(scaled.problem, progress)
            with progress.stage("representation"):
                solution = solve(scaled.problem, gamma, tol=self.tol, max_iter=self.max_iter)
            with progress.stage("clusters"):
                self._publish(matrix, scaled, solution)
            self.converged_ = converged and solution.converged
        if not self.converged_:
            _warn_not_converged(self.max_iter)
        return self

    def path(self, X: MatrixLike) -> list[ConvexSolution]:
        """Solve the problem for every gamma of `gammas`, without holding out cells.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.

        Returns
        -------
        list of ConvexSolution
            In the order of `gammas`. U is in the units of X; objective and gap are those of the
            standardised data. Cluster 0 is the largest.

        Examples
        --------
        >>> from pyrocco import COBRA
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
        >>> solutions = COBRA(gammas=[1.0, 10.0]).path(X)
        >>> [len(set(solution.clusters.rows)) for solution in solutions]
        [40, 3]
        """
        backend = self._checked_backend()
        scaled = self._problem(check_matrix(X), backend)
        gammas = check_gammas(self.gamma, self.gammas)
        solutions = solve_path(scaled.problem, gammas, tol=self.tol, max_iter=self.max_iter)
        if not all(solution.converged for solution in solutions):
            _warn_not_converged(self.max_iter)
        return [
            replace(solution, U=scaled.restore(solution.U), clusters=_numbered(solution.clusters))
            for solution in solutions
        ]

    def _checked_backend(self) -> ArrayBackend:
        """Check the parameters and return the back end that `device` stands for."""
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_iter", self.max_iter)
        check_choice("metric", self.metric, ("auto", *METRICS))
        check_positive("phi", self.phi, or_zero=True)
        check_positive("tol", self.tol)
        check_positive("held_out", self.held_out, below=1.0)
        check_flag("standardize", self.standardize)
        check_verbose(self.verbose)
        check_random_state(self.random_state)
        check_gammas(self.gamma, self.gammas)
        # The kernels for the CPU run in one thread.
        return array_backend(self.device, n_jobs=1)

    def _problem(self, X: Matrix, backend: ArrayBackend) -> ScaledProblem:
        cosine = self.metric == "auto" and not has_missing(X) and is_mostly_zero(X)
        return scaled_problem(
            X,
            n_neighbors=self.n_neighbors,
            phi=self.phi,
            metric=resolve_metric(self.metric, cosine),
            standardize=self.standardize,
            backend=backend,
        )

    def _choose_gamma(self, problem: ConvexProblem, progress: Progress) -> tuple[float, bool]:
        gammas = check_gammas(self.gamma, self.gammas)
        if self.gamma is not None:
            return gammas[0], True
        hidden = hold_out(problem, self.held_out, check_random_state(self.random_state))
        tol = max(self.tol, _VALIDATION_TOL)
        with progress.stage("validation", steps=len(gammas)):
            found = validate(
                problem, gammas, hidden, tol=tol, max_iter=self.max_iter, report=progress.iteration
            )
        self.gammas_, self.validation_errors_ = found.gammas, found.errors
        return float(found.gammas[found.best]), found.converged

    def _publish(self, X: Matrix, scaled: ScaledProblem, solution: ConvexSolution) -> None:
        """Set the fitted attributes."""
        self.representation_ = scaled.restore(solution.U).astype(X.dtype, copy=False)
        self.gamma_ = solution.gamma
        self.objective_ = solution.objective
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.row_graph_ = scaled.problem.rows
        self.column_graph_ = scaled.problem.columns
        clusters = self._cluster(X, solution)
        self.row_labels_ = self.labels_ = clusters.rows
        self.column_labels_ = clusters.columns
        self.n_row_clusters_ = int(clusters.rows.max()) + 1
        self.n_column_clusters_ = int(clusters.columns.max()) + 1
        room = room_for_sums(X, X.shape[0] * X.shape[1])
        means = clusters.block_means(np.ldexp(to_dense(X), -room))
        self.block_means_ = np.ldexp(means, room)

    def _cluster(self, X: Matrix, solution: ConvexSolution) -> Clusters:
        return _numbered(solution.clusters)

    @property
    def rows_(self) -> Mask:
        """Which rows are in each block; one row for each block."""
        check_is_fitted(self)
        return bicluster_rows(self.row_labels_, self.column_labels_)

    @property
    def columns_(self) -> Mask:
        """Which columns are in each block; one row for each block."""
        check_is_fitted(self)
        return bicluster_columns(self.row_labels_, self.column_labels_)

    save = save
    plot = plot
    report = report

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return what a notebook shows: scikit-learn's diagram, and the clusters of a fit."""
        return notebook_bundle(self, super()._repr_mimebundle_(**kwargs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class COBRAr(COBRA):
    """COBRA's representation, clustered as in the paper of ROCCO (COBRAr).

    The representation is that of `COBRA`. Its rows and its columns are clustered by RCC or, if
    more than half of the values of X are zero, by k-means with the number of clusters that has
    the best silhouette (Section 3.1 of [1]_). The published thresholds of RCC have units, so U
    is scaled to unit root mean square for it, unless `standardize` is False.

    Parameters
    ----------
    gamma, gammas, n_neighbors, phi, metric, standardize, held_out, tol, max_iter, device
        As for `COBRA`. The representation is clustered on the CPU.
    random_state : None, int or RandomState, default=0
        Seed of the choice of held-out cells, and of k-means.
    verbose : int, default=0
        As for `COBRA`.

    Attributes
    ----------
    row_labels_, column_labels_, labels_ : ndarray of int
        Cluster of every row and of every column; 0 is the largest.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of clusters.
    representation_, block_means_, rows_, columns_ : ndarray
        As for `COBRA`.
    biclusters_ : tuple of ndarray
        The pair ``(rows_, columns_)``.
    gamma_, objective_, duality_gap_ : float
        As for `COBRA`.
    gammas_, validation_errors_ : ndarray of shape (n_gammas,)
        As for `COBRA`.
    n_iter_, converged_, row_graph_, column_graph_, n_features_in_, feature_names_in_
        As for `COBRA`.

    See Also
    --------
    COBRA : Clusters rows and columns that have become equal.

    References
    ----------
    .. [1] X. He and L. Moreira-Matias. Robust Continuous Co-Clustering. arXiv:1802.05036, 2018.

    Examples
    --------
    >>> from pyrocco import COBRAr
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((60, 50), 3, noise=5, random_state=0).X
    >>> model = COBRAr().fit(X)
    >>> model.n_row_clusters_, model.n_column_clusters_
    (3, 3)
    """

    def _cluster(self, X: Matrix, solution: ConvexSolution) -> Clusters:
        random = check_random_state(self.random_state)
        assigner: SilhouetteKMeans | ContinuousAssigner
        if is_mostly_zero(X):
            assigner = SilhouetteKMeans(random)
        else:
            assigner = ContinuousAssigner(random_state=random)
        U = solution.U * np.sqrt(solution.U.size) if self.standardize else solution.U
        return Clusters(
            assigner.assign(np.ascontiguousarray(U), None),
            assigner.assign(np.ascontiguousarray(U.T), None),
        )


def _numbered(clusters: Clusters) -> Clusters:
    """Number the clusters by size, the largest first."""
    return Clusters(relabel(clusters.rows), relabel(clusters.columns))


def _warn_not_converged(max_iter: int) -> None:
    warnings.warn(
        f"The duality gap was above the tolerance after max_iter={max_iter} steps; increase "
        "max_iter, or increase tol if a less precise result is sufficient.",
        ConvergenceWarning,
        stacklevel=3,
    )
