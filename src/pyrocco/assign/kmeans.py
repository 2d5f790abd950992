"""k-means: from given centres, from Ward's tree of a sample, or with K by the silhouette."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import sklearn  # imports its modules when they are first used
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from pyrocco._typing import Array, Dense, Floats, Labels, Matrix
from pyrocco.assign.gram_kmeans import GramKMeans
from pyrocco.assign.labels import cluster_means, relabel
from pyrocco.backends import Backend, NumpyBackend, over_rows

# A few iterations are enough to compare partitions.
FEW_ITERATIONS = 5


def lloyd(
    rows: Array, centres: Dense, max_iter: int = 100, backend: Backend | None = None
) -> Labels:
    """Run Lloyd's algorithm for k-means from given centres.

    A cluster that loses all its rows restarts at the row farthest from its centre. If there
    are fewer distinct rows than centres, some labels remain without rows.
    """
    backend = backend or NumpyBackend()
    here = backend.asarray(rows)
    labels = np.full(rows.shape[0], -1, dtype=np.intp)
    for _ in range(max_iter):
        nearest, sums = backend.nearest_centres(here, centres)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        sizes = np.bincount(labels, minlength=len(centres))
        if sizes.all():
            centres = sums / sizes[:, None]
        else:
            labels = _refill(rows, labels, centres)
            centres = cluster_means(rows, labels, len(centres))
    return labels


def _refill(rows: Array, labels: Labels, centres: Dense) -> Labels:
    """Give each empty cluster the row that is farthest from its centre."""
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centres)) == 0)
    distances = np.concatenate(over_rows(partial(_distances, centres=centres), rows, labels))
    for label in empty:
        farthest = int(distances.argmax())
        alone = np.count_nonzero(labels == labels[farthest]) == 1
        if distances[farthest] <= 0 or alone:
            break
        labels[farthest] = label
        distances[farthest] = 0
    return labels


def _distances(rows: Dense, labels: Labels, centres: Dense) -> Dense:
    return np.asarray(np.square(rows - centres[labels]).sum(axis=1))


class MergeTree:
    """Nested partitions of rows by agglomerative clustering.

    `distances` are those of all pairs of rows, as `pdist` returns them, and `method` is one of
    SciPy's with merges of increasing height: "ward", "average", "complete" or "single".
    """

    def __init__(self, distances: Floats, method: str):
        self._order, self._borders = _leaves_and_borders(linkage(distances, method))

    def cut(self, n_clusters: int) -> Labels:
        """Return labels 0..n_clusters-1 of the rows."""
        marks = np.zeros(len(self._order), dtype=np.intp)
        marks[self._borders[len(self._borders) - (n_clusters - 1) :]] = 1
        labels = np.empty_like(marks)
        labels[self._order] = np.cumsum(marks)
        return labels


def _leaves_and_borders(merges: Floats) -> tuple[Labels, Labels]:
    """Return the order of the leaves of a tree, and where each two merged clusters meet in it.

    In this order the rows of every cluster are adjacent, so that a cut is given by the borders of
    the last merges.
    """
    n_rows = len(merges) + 1
    children = merges[:, :2].astype(np.intp).tolist()
    sizes = [1] * n_rows + merges[:, 3].astype(np.intp).tolist()
    start = [0] * (2 * n_rows - 1)
    for merge in range(n_rows - 2, -1, -1):
        left, right = children[merge]
        start[left] = start[n_rows + merge]
        start[right] = start[left] + sizes[left]
    places = np.array(start, dtype=np.intp)
    order = np.empty(n_rows, dtype=np.intp)
    order[places[:n_rows]] = np.arange(n_rows)
    return order, places[merges[:, 1].astype(np.intp)]


@dataclass(frozen=True)
class SampledRows:
    """Features of all rows, and a sample of rows that does not depend on their order."""

    features: Array
    index: Labels  # the rows of the sample

    @classmethod
    def draw(
        cls,
        features: Array,
        size: int,
        random_state: np.random.RandomState,
        keys: NDArray[np.uint64] | None = None,
    ) -> SampledRows:
        """Take all rows, or a sample of `size` rows, in the order of their first feature.

        `keys` are hashes of the content of each row. A sample drawn by keys does not change with
        the rounding errors of features, which differ between back ends.
        """
        if keys is None or len(keys) <= size:
            order = np.argsort(features[:, 0], kind="stable")
            if len(order) <= size:
                return cls(features, order)
            return cls(features, order[np.sort(random_state.choice(len(order), size, False))])
        salt = 2 * random_state.randint(2**62, dtype=np.uint64) + np.uint64(1)
        salted = keys * salt
        # Only the rows that may be drawn are sorted; of equal rows, more than are drawn.
        some = np.flatnonzero(salted <= np.partition(salted, size - 1)[size - 1])
        order = some[np.argsort(features[some][:, 0], kind="stable")]
        by_key = np.argsort(salted[order], kind="stable")
        return cls(features, order[np.sort(by_key[:size])])

    @classmethod
    def all_of(cls, features: Dense) -> SampledRows:
        """Take all rows, in their order."""
        return cls(features, np.arange(len(features)))

    @cached_property
    def sample(self) -> Dense:
        """Features of the sample."""
        return np.ascontiguousarray(self.features[self.index])

    @cached_property
    def tree(self) -> MergeTree:
        """Ward's tree of the sample."""
        return MergeTree(pdist(self.sample), "ward")

    def partition(self, k: int) -> Labels:
        """Cut the tree of the sample into at most `k` clusters and improve them by k-means."""
        k = min(k, len(self.index))
        if k == 1:
            return np.zeros(len(self.index), dtype=np.intp)
        centres = cluster_means(self.sample, self.tree.cut(k), k)
        return lloyd(self.sample, centres, max_iter=FEW_ITERATIONS)


def random_kmeans(
    rows: Dense,
    k: int,
    n_init: int,
    random_state: int | np.random.RandomState | None,
) -> Labels:
    """Run scikit-learn's k-means from several random starts."""
    model = sklearn.cluster.KMeans(k, n_init=n_init, random_state=random_state)
    with warnings.catch_warnings():
        # Fewer clusters are the right answer for rows that hardly differ.
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        return np.asarray(model.fit_predict(rows), dtype=np.intp)


def silhouettes(
    X: Matrix,
    labellings: Sequence[Labels],
    sample_size: int | None = None,
    metric: str = "euclidean",
) -> Floats:
    """Compute the mean silhouette of the rows for several labellings.

    The distances between rows, by far the largest cost, are computed once; sums of cosine
    distances need none of them. `sample_size` limits the number of rows. The value is NaN for a
    single cluster and for clusters of one row each.
    """
    if sample_size is not None and X.shape[0] > sample_size:
        some = np.random.RandomState(0).permutation(X.shape[0])[:sample_size]
        X, labellings = X[some], [labels[some] for labels in labellings]
    labels = [np.unique(each, return_inverse=True)[1] for each in labellings]
    members = [np.eye(each.max() + 1)[each] for each in labels]
    ends = np.cumsum([0, *(each.shape[1] for each in members)])
    sums = _sums_by_cluster(X, np.hstack(members), metric)
    parts = zip(pairwise(ends), labels, strict=True)
    return np.array([_silhouette(sums[:, a:b], each) for (a, b), each in parts])


def _sums_by_cluster(X: Matrix, members: Dense, metric: str) -> Dense:
    """Sum the distances from each row to the rows of each cluster."""
    if metric == "cosine":
        return _sums_of_cosines(X, members)
    add_up = partial(_sums, members=members)
    chunks = sklearn.metrics.pairwise_distances_chunked(X, reduce_func=add_up, metric=metric)
    return np.vstack(list(chunks))


def _sums(distances: Dense, start: int, members: Dense) -> Dense:
    """Sum the distances from some rows by cluster."""
    return np.asarray(distances @ members)


def _sums_of_cosines(X: Matrix, members: Dense) -> Dense:
    """Sum cosine distances: sizes minus the products with the sums of rows of length 1.

    As in the graphs, rows of zeros are at distance zero from each other and one from others.
    """
    directions: Matrix = sklearn.preprocessing.normalize(X)
    zero = np.asarray(abs(X).sum(axis=1)).reshape(-1, 1) == 0
    products = directions @ (directions.T @ members) + zero * (zero.T @ members)
    return np.asarray(members.sum(axis=0) - products)


def _silhouette(sums: Floats, labels: Labels) -> float:
    sizes = np.bincount(labels)
    if len(sizes) in (1, len(labels)):
        return float("nan")
    own = (np.arange(len(labels)), labels)
    # A row is not its own neighbour; a cluster of one row has silhouette zero.
    within = sums[own] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[own] = np.inf
    between = means.min(axis=1)
    larger = np.maximum(within, between)
    each = np.divide(between - within, larger, out=np.zeros_like(larger), where=larger > 0)
    return float(np.where(sizes[labels] > 1, each, 0.0).mean())


@dataclass(eq=False)
class SilhouetteKMeans:
    """k-means with the K of 2..20 that has the best silhouette.

    The assignment of ROCCO's paper for sparse input (Algorithm 1, lines 9-11). The silhouette
    (Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster
    analysis", Journal of Computational and Applied Mathematics 20 (1987) 53-65) is computed from
    at most `sample_size` rows. k-means itself always uses Euclidean distances.
    """

    random_state: int | np.random.RandomState | None = 0
    max_clusters: int = 20
    sample_size: int = 20_000
    metric: str = "euclidean"  # of the silhouette
    backend: Backend = field(default_factory=NumpyBackend)

    def assign(self, U: Array, n_clusters: int | None) -> Labels:
        """Label the rows of `U`, in main memory."""
        given = self.backend.to_numpy(U)
        n_distinct = _n_distinct(given)
        kmeans = GramKMeans.of(given).labels if _is_wide(given) else partial(random_kmeans, given)
        if n_clusters is not None:
            return self._labels(kmeans, min(n_clusters, n_distinct))
        # The silhouette needs at least two clusters and more rows than clusters.
        top = min(self.max_clusters, n_distinct, len(given) - 1)
        labellings = [self._labels(kmeans, k) for k in range(2, top + 1)]
        if not labellings:
            return np.zeros(len(given), dtype=np.intp)
        values = silhouettes(given, labellings, self.sample_size, self.metric)
        # The silhouette is NaN if the sample has rows of one cluster only.
        return labellings[int(np.nan_to_num(values, nan=-1.0).argmax())]

    def _labels(self, kmeans: Callable[..., Labels], k: int) -> Labels:
        return relabel(kmeans(k, 10, self.random_state))


def _is_wide(rows: Dense) -> bool:
    """Whether inner products of the rows save time and take at most five times their memory."""
    return len(rows) <= 20_000 and 8 * len(rows) ** 2 <= 5 * rows.nbytes


def _n_distinct(rows: Dense) -> int:
    """Count the rows that differ by more than rounding."""
    digits = np.finfo(rows.dtype).precision - 2
    return len(np.unique((rows / (np.abs(rows).max() or 1)).round(digits), axis=0))
