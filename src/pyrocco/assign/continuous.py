"""Robust Continuous Clustering of rows: the paper's assignment for dense input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from pyrocco.assign.base import relabel
from pyrocco.assign.kmeans import SilhouetteKMeans
from pyrocco.backends import Backend, NumpyBackend, matrix_norm
from pyrocco.graph import Graph, mutual_knn_graph
from pyrocco.model import LengthScales, Side, UpToFour, length_scales
from pyrocco.representation import Record, Representation, learn_representation
from pyrocco.solvers import Solver, resolve_solver


@dataclass(frozen=True)
class Calibration:
    """The quantities of RCC that carry a unit.

    Parameters
    ----------
    norm : float
        Spectral norm of strength x Laplacian.
    mu_end : callable
        The mu at which the penalty is sharp enough, from `LengthScales`.
    tolerance : float
        Change of the objective that counts as none.
    """

    norm: float
    mu_end: Callable[[LengthScales], float]
    tolerance: float


def published_calibration(X: NDArray[Any]) -> Calibration:
    """RCC as published: the answer depends on the units of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> published_calibration(np.diag([3.0, 4.0])).norm
    4.0
    """
    return Calibration(matrix_norm(X), lambda scales: scales.delta, 0.1)


def unit_free_calibration(X: NDArray[Any]) -> Calibration:
    """Every quantity relative to the data, for an `X` of unit root mean square.

    The published rules on data of the scale they work well on, put as ratios: smoothing a
    thousand times the data term, mu down to a twentieth of delta squared, a change of one in a
    hundred thousand of the largest data term. The ratios were set after looking at the labels
    of seven small sets (nine pairs tried, and a value between two of them taken), so agreement
    with those sets says little.

    Examples
    --------
    >>> import numpy as np
    >>> unit_free_calibration(np.ones((2, 2))).norm
    1000.0
    """
    return Calibration(1000.0, lambda scales: 0.05 * scales.delta**2, 1e-5 * X.size / 2)


@dataclass(frozen=True)
class ContinuousClustering:
    """Labels of rows and the representation they were read from."""

    labels: NDArray[np.intp]
    representation: Representation


def cluster_rows(
    X: NDArray[Any],
    graph: Graph,
    calibration: Calibration,
    *,
    solver: Solver,
    backend: Backend,
    max_iter: int = 99,
    report: Callable[[Record], object] = lambda record: None,
) -> ContinuousClustering:
    """Robust Continuous Clustering of the rows of `X`.

    Rows whose representatives end up within `epsilon` of each other along an edge belong
    together; the scales of the edges in X set that threshold and the course of mu.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends import NumpyBackend
    >>> from pyrocco.graph import mutual_knn_graph
    >>> from pyrocco.solvers import SpectralSolver
    >>> X = np.repeat([[0.0], [5.0]], 20, axis=0) + np.linspace(0, 0.5, 40)[:, None]
    >>> found = cluster_rows(
    ...     X,
    ...     mutual_knn_graph(X),
    ...     published_calibration(X),
    ...     solver=SpectralSolver(),
    ...     backend=NumpyBackend(),
    ... )
    >>> np.bincount(found.labels).tolist()
    [20, 20]
    """
    X = backend.asarray(X)
    n_columns = X.shape[1]
    lengths = backend.edge_lengths(X, graph.heads, graph.tails, 0)
    scales = length_scales(lengths, n_columns)
    none = np.empty(0, dtype=np.intp)
    rows = Side(graph, 0, calibration.norm, scales.mu, calibration.mu_end(scales))
    columns = Side(Graph(n_columns, none, none, np.empty(0)), 1, 0.0)
    learned = learn_representation(
        X,
        (rows, columns),
        shift=1.0,
        schedule=UpToFour(calibration.tolerance),
        solver=solver,
        backend=backend,
        max_iter=max_iter,
        report=report,
    )
    lengths = backend.edge_lengths(learned.U, graph.heads, graph.tails, 0)
    return ContinuousClustering(_components(graph, np.sqrt(lengths) <= scales.epsilon), learned)


class ContinuousAssigner:
    """RCC on the rows of a representation; k-means when the number of clusters is given.

    Parameters
    ----------
    n_neighbors : int
        Neighbours in the graph on the representation.
    solver : str or Solver
        Solves RCC's systems.
    random_state : int or RandomState
        Seeds k-means.
    backend : Backend, optional
        Where RCC computes; NumPy unless given.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0)
    >>> rows += np.linspace(0, 1, 80).reshape(40, 2)
    >>> np.bincount(ContinuousAssigner().assign(rows, None)).tolist()
    [20, 20]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        solver: str | Solver = "auto",
        random_state: Any = 0,
        backend: Backend | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.random_state = random_state
        self.backend = backend or NumpyBackend()

    def assign(self, U: Any, n_clusters: int | None) -> NDArray[np.intp]:
        """Label the rows of `U`."""
        U = self.backend.to_numpy(U)
        if n_clusters is not None:
            return SilhouetteKMeans(self.random_state).assign(U, n_clusters)
        graph = mutual_knn_graph(U, self.n_neighbors, bridges="forest")
        solver = resolve_solver(self.solver)
        calibration = published_calibration(U)
        found = cluster_rows(U, graph, calibration, solver=solver, backend=self.backend)
        return found.labels


def _components(graph: Graph, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
    part = Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], np.ones(kept.sum()))
    _, labels = connected_components(part.adjacency(), directed=False)
    return relabel(labels)
