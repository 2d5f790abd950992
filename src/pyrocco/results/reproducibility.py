"""Reproducibility: whether the clusters of a model are found again in other parts of the data."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import FittedCoClustering, Floats, Labels, Matrix, MatrixLike, is_sparse
from pyrocco.backends import is_dask_array
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import transpose
from pyrocco.progress import Observer, Progress
from pyrocco.validation import (
    check_clusters_both,
    check_count,
    check_fitted_shape,
    check_n_jobs,
    check_random_state,
)

__all__ = ["Reproducibility", "reproducibility"]

# A larger matrix is sampled, unless it has no more cells than a square of this size.
MOST = 2000
# Fewest rows and fewest columns: a half must have two.
_FEWEST = 4

# Clusters with a larger p-value count as not found again.
_LEVEL = 0.05

# How far a cluster is found again by fits to halves of the rows and of the columns.
_OVERLAPS = ("found_again_other_rows", "found_again_other_columns")

# Labels of the rows and of the columns.
_Pair = tuple[Labels, Labels]


@dataclass(frozen=True, eq=False)
class Reproducibility:
    """How far the clusters of a model are found again, from `reproducibility`.

    Parameters
    ----------
    rows, columns : DataFrame
        One row for each cluster: ``cluster``, ``size``, ``found_again_other_rows`` and
        ``found_again_other_columns``, from 0 (no more than by chance) to 1 (exactly); ``null``,
        the mean over matrices without structure of the cluster that is found again best there;
        and ``p_value``.
    scores : DataFrame
        For the rows and for the columns, the mean agreement of labels, from 0 to 1:
        ``other_rows`` and ``other_columns``; ``score``, the mean of the smaller of both;
        ``null``, the score of matrices without structure; and ``p_value``.
    n_repeats : int
        Number of splits.
    n_null : int
        Number of matrices without structure for each side.

    Examples
    --------
    >>> from pyrocco import ROCCO, reproducibility
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
    >>> found = reproducibility(ROCCO().fit(X), X, n_repeats=2)
    >>> found
    Reproducibility(row_score=1.00, column_score=1.00, n_repeats=2)
    >>> print(found.summary())
    The clusters of rows have a score of 1.00; without structure it would be ...
    """

    rows: pd.DataFrame
    columns: pd.DataFrame
    scores: pd.DataFrame
    n_repeats: int
    n_null: int

    @property
    def row_score(self) -> float:
        """Score of the clusters of rows."""
        return float(self.scores["score"].loc["rows"])

    @property
    def column_score(self) -> float:
        """Score of the clusters of columns."""
        return float(self.scores["score"].loc["columns"])

    @property
    def level(self) -> float:
        """Largest p-value of a cluster that counts as found again."""
        return max(_LEVEL, 1 / (1 + self.n_null))

    def __repr__(self) -> str:
        return (
            f"Reproducibility(row_score={self.row_score:.2f}, "
            f"column_score={self.column_score:.2f}, n_repeats={self.n_repeats})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dicts, which JSON can hold."""
        return {
            "n_repeats": self.n_repeats,
            "n_null": self.n_null,
            "summary": self.summary(),
            "scores": json.loads(self.scores.to_json(orient="index")),
            "rows": json.loads(self.rows.to_json(orient="records")),
            "columns": json.loads(self.columns.to_json(orient="records")),
        }

    def summary(self) -> str:
        """Describe the result in a few sentences."""
        sides = {"rows": self.rows, "columns": self.columns}
        about = [
            _describe(side, table["p_value"] <= self.level, self.scores.T[side], self.n_null)
            for side, table in sides.items()
        ]
        if self.n_null:
            about.append(f"A cluster counts as found again if p <= {self.level:.2g}.")
        return " ".join(about)


def _describe(side: str, is_found: pd.Series[bool], score: pd.Series[float], n_null: int) -> str:
    if len(is_found) == 1:
        return f"There is one cluster of {side}, so there is nothing to find again."
    text = f"The clusters of {side} have a score of {score['score']:.2f}"
    if not n_null:
        return f"{text} (0 is chance, 1 is identical)."
    return (
        f"{text}; without structure it would be {score['null']:.2f} (p = "
        f"{score['p_value']:.2g}). {is_found.sum()} of {len(is_found)} of them are found again."
    )


def reproducibility(
    model: FittedCoClustering,
    X: MatrixLike,
    n_repeats: int = 20,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    *,
    n_null: int | None = None,
    observer: Observer | None = None,
) -> Reproducibility:
    """Measure how far the clusters of a model are found again in other parts of the data.

    The columns are split at random into two halves, and a copy of the model is fitted to each.
    The two fits label the same rows but share no cell, so their agreement is not due to noise
    in single cells. The same is done with halves of the rows for the clusters of columns. Every
    cluster of the model is compared with the clusters of the refits.

    All of it is repeated on matrices without structure, in which the values are permuted within
    each column (for the clusters of rows) or within each row (for those of columns). There the
    clusters are found from scratch, so the p-values account for the clusters having been found
    in the same data.

    Parameters
    ----------
    model : ROCCO or another fitted estimator with row labels and column labels
        The fitted model. It is not changed; copies with the same parameters and the same
        preparations are fitted.
    X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
        The matrix that the model was fitted to. NaN marks missing values.
    n_repeats : int, default=20
        Number of splits of the rows and of the columns.
    random_state : None, int or RandomState, default=0
        Seed of the splits and of the permutations.
    n_jobs : int, default=None
        Number of processes that fit at the same time; None is one. With several, each of them
        uses a single thread.
    n_null : int, default=None
        Number of matrices without structure for each side; None is `n_repeats`. The smallest
        possible p-value is ``1 / (1 + n_null)``; with 0 there are no p-values.
    observer : Observer, optional
        Is told when a split begins and ends, see `pyrocco.progress.Observer`.

    Returns
    -------
    Reproducibility
        Scores and p-values of both sides, and a table of the clusters of each.

    Raises
    ------
    NotImplementedError
        If `X` or the labels of the model are Dask arrays.

    See Also
    --------
    ROCCO : Its ``row_membership_`` is the probability of a label under the fitted model.

    Notes
    -----
    A split takes about as long as two fits to `X`, and the matrices without structure, one for
    each side, as long as six. Larger matrices are sampled every time: of a matrix with more than
    2,000 rows and more than 2,000 columns, 2,000 of each; of others, four million cells. Weights
    of rows are not used.

    The overlap of two clusters is their Jaccard index, corrected for the overlap that random
    clusters of the same sizes have, and a cluster is compared with the cluster of a refit that
    it overlaps most. Labels are compared by their adjusted mutual information, which counts as
    0 if there is only one cluster. For the rows it is computed between two halves of the
    columns, and between the model and fits to half of the rows. The score of a split is the
    smaller of both.

    Each split is ranked among the matrices without structure, of which each is split once. A
    p-value is the mean of the ranks. It is conservative: without structure, small values are
    rarer than those of a uniform number. A cluster is ranked among the clusters that are found
    again best in each of those matrices, so its p-value accounts for the number of clusters.

    Examples
    --------
    >>> from pyrocco import ROCCO, reproducibility
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
    >>> found = reproducibility(ROCCO().fit(X), X, n_repeats=2)
    >>> round(found.row_score, 2), float(found.scores["p_value"]["rows"].round(2))
    (1.0, 0.33)
    >>> found.rows["found_again_other_columns"].tolist()
    [1.0, 1.0, 1.0]
    """
    n_repeats = check_count("n_repeats", n_repeats)
    n_null = n_repeats if n_null is None else check_count("n_null", n_null, least=0)
    n_processes = check_n_jobs(n_jobs) or 1
    labels = _checked_labels(model, X)
    matrix = check_matrix(X)
    _check_shape(labels, matrix.shape)
    generator = check_random_state(random_state)
    seeds, null_seeds = (generator.randint(2**31 - 1, size=n) for n in (n_repeats, n_null))
    copy = _unfitted(model, n_processes)
    progress = Progress(*([] if observer is None else [observer]))
    stages = ("split", progress), ("split without structure", progress)
    with progress.stage("reproducibility", steps=n_repeats + n_null):
        splits = _in_parallel(_split, (copy, matrix, labels), seeds, n_processes, stages[0])
        null = _in_parallel(
            _split_without_structure, (copy, matrix), null_seeds, n_processes, stages[1]
        )
    return _collected(splits, null, labels)


def _checked_labels(model: FittedCoClustering, X: MatrixLike) -> _Pair:
    check_is_fitted(model)
    check_clusters_both(model, "reproducibility")
    if is_dask_array(X) or is_dask_array(model.row_labels_):
        raise NotImplementedError(
            "Reproducibility needs a model and a matrix in memory, not Dask arrays: fit a sample "
            "of the rows in memory, and measure that."
        )
    return np.asarray(model.row_labels_), np.asarray(model.column_labels_)


def _check_shape(labels: _Pair, shape: tuple[int, ...]) -> None:
    check_fitted_shape((len(labels[0]), len(labels[1])), shape)
    if min(shape) < _FEWEST:
        raise ValueError(
            f"X has the shape {shape[0]} x {shape[1]}; halves can be fitted only if there are "
            f"at least {_FEWEST} rows and {_FEWEST} columns."
        )


def _unfitted(model: FittedCoClustering, n_processes: int) -> Any:
    """Return a copy of the model that is silent and leaves the processor to other processes.

    It prepares every matrix as the model did: the values of a half may look different.
    """
    copy = clone(model)
    wanted = {"verbose": 0, "prepare": getattr(model, "found_cells_", None)}
    wanted |= {"n_jobs": 1} if n_processes > 1 else {}
    known = copy.get_params(deep=False)
    return copy.set_params(**{name: value for name, value in wanted.items() if name in known})


@dataclass(frozen=True)
class _Refit:
    """Labels that a fit to one half gives."""

    members: _Pair  # positions of its rows and of its columns
    labels: _Pair


# The fits to both halves.
_Halves = tuple[_Refit, ...]


@dataclass(frozen=True)
class _Found:
    """What one split of the rows and one of the columns say about one side."""

    clusters: dict[str, Floats]  # how far each cluster is found again
    scores: dict[str, float]


# What is found about the rows and about the columns.
_Sides = tuple[_Found, _Found]


def _in_parallel(
    task: Callable[..., _Sides],
    given: tuple[Any, ...],
    seeds: Labels,
    n_processes: int,
    stages: tuple[str, Progress],
) -> list[_Sides]:
    """Carry out a task with every seed, and report each as a stage of its own."""
    name, progress = stages
    tasks = (joblib.delayed(task)(*given, int(seed)) for seed in seeds)
    found = iter(joblib.Parallel(n_processes, return_as="generator")(tasks))
    results = []
    for i in range(1, len(seeds) + 1):
        with progress.stage(f"{name} {i} of {len(seeds)}"):
            results.append(next(found))
    return results


def _split(model: Any, X: Matrix, labels: _Pair, seed: int) -> _Sides:
    """Split the rows once and the columns once, and look for the clusters of the model."""
    rng = np.random.default_rng(seed)
    rows, columns = _sample(X.shape, rng)
    halves = _fit_halves(model, X[rows][:, columns], rng)
    return (
        _find(labels[0][rows], halves, 0, int(labels[0].max()) + 1),
        _find(labels[1][columns], halves, 1, int(labels[1].max()) + 1),
    )


def _split_without_structure(model: Any, X: Matrix, seed: int) -> _Sides:
    """Do the same on a matrix without structure for each side, with clusters found there."""
    rng = np.random.default_rng(seed)
    rows, columns = _sample(X.shape, rng)
    sides = []
    for side in (0, 1):
        noise = _permuted(X[rows][:, columns], side, rng)
        labels = _fit(model, noise)[side]
        sides.append(_find(labels, _fit_halves(model, noise, rng), side, int(labels.max()) + 1))
    return sides[0], sides[1]


def _sample(shape: tuple[int, ...], rng: np.random.Generator) -> _Pair:
    """Draw rows and columns; all of them if the matrix is not large."""
    rows, columns = (
        np.sort(rng.permutation(size)[: max(MOST, MOST**2 // other)])
        for size, other in (shape, shape[::-1])
    )
    return rows, columns


def _fit_halves(model: Any, X: Matrix, rng: np.random.Generator) -> tuple[_Halves, _Halves]:
    """Fit two halves of the rows, and two halves of the columns."""
    rows, columns = np.arange(X.shape[0]), np.arange(X.shape[1])
    of_rows = tuple(_refit(model, X, (half, columns), "rows") for half in _halves(rows, rng))
    of_columns = tuple(_refit(model, X, (rows, half), "columns") for half in _halves(columns, rng))
    return of_rows, of_columns


def _halves(members: Labels, rng: np.random.Generator) -> list[Labels]:
    return [np.sort(half) for half in np.array_split(rng.permutation(members), 2)]


def _refit(model: Any, X: Matrix, members: _Pair, side: str) -> _Refit:
    try:
        return _Refit(members, _fit(model, X[members[0]][:, members[1]]))
    except ValueError as error:
        raise ValueError(f"Half of the {side} cannot be fitted: {error}") from error


def _fit(model: Any, X: Matrix) -> _Pair:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).fit(X)
    return np.asarray(fitted.row_labels_), np.asarray(fitted.column_labels_)


def _permuted(X: Matrix, axis: int, rng: np.random.Generator) -> Matrix:
    """Permute the values within each column (`axis` 0) or within each row (`axis` 1).

    Missing values stay where they are. Of a sparse matrix, the positions of the stored values
    are drawn again at random.
    """
    if axis == 1:
        return transpose(_permuted(transpose(X), 0, rng))
    return _permuted_sparse(X, rng) if is_sparse(X) else _permuted_dense(X, rng)


def _permuted_dense(X: Floats, rng: np.random.Generator) -> Floats:
    # Ranks of random keys: missing values have the last ranks in both orders.
    missing = np.isnan(X)
    places = np.argsort(np.where(missing, 2.0, rng.random(X.shape)), axis=0)
    sources = np.argsort(missing, axis=0, kind="stable")
    permuted = np.empty_like(X)
    np.put_along_axis(permuted, places, np.take_along_axis(X, sources, axis=0), axis=0)
    return permuted


def _permuted_sparse(X: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    by_column = X.tocsc()
    counts = np.diff(by_column.indptr)
    rows = [rng.choice(X.shape[0], count, replace=False) for count in counts]
    return sparse.csc_array(
        (by_column.data, np.concatenate(rows), by_column.indptr), shape=X.shape
    ).tocsr()


def _find(labels: Labels, halves: tuple[_Halves, _Halves], side: int, n_clusters: int) -> _Found:
    """Compare the labels of one side with those of the fits to halves."""
    of_other = halves[1 - side]
    shared_nothing = _agreement(of_other[0].labels[side], of_other[1].labels[side])
    same = [_agreement(labels[half.members[side]], half.labels[side]) for half in halves[side]]
    agreements = [float(np.mean(same)), shared_nothing]
    rows, columns = agreements if side == 0 else agreements[::-1]
    clusters = [_found_again(labels, each, side, n_clusters) for each in halves]
    return _Found(
        dict(zip(_OVERLAPS, clusters, strict=True)),
        {"other_rows": rows, "other_columns": columns, "score": min(agreements)},
    )


def _agreement(first: Labels, second: Labels) -> float:
    """Return the adjusted mutual information; 0 if there is nothing that could agree."""
    if len(np.unique(first)) == 1 or len(np.unique(second)) == 1:
        return 0.0
    return max(float(adjusted_mutual_info_score(first, second)), 0.0)


def _found_again(labels: Labels, halves: _Halves, side: int, n_clusters: int) -> Floats:
    """Return how far each cluster is found again, the mean over both halves.

    It is NaN for clusters without a member in the sample.
    """
    overlaps = [
        _best_overlaps(labels[half.members[side]], half.labels[side], n_clusters)
        for half in halves
    ]
    return _means(np.stack(overlaps))


def _best_overlaps(labels: Labels, others: Labels, n_clusters: int) -> Floats:
    """Return the largest overlap of each cluster with one of the others, corrected for chance.

    Examples
    --------
    >>> _best_overlaps(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 3)
    array([ 1.,  1., nan])
    """
    common = np.zeros((n_clusters, int(others.max()) + 1))
    np.add.at(common, (labels, others), 1)
    sizes, other_sizes = common.sum(axis=1, keepdims=True), common.sum(axis=0, keepdims=True)
    both = sizes + other_sizes
    expected = _jaccard(sizes * other_sizes / len(labels), both)
    overlap = _jaccard(common, both)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where all rows are in one cluster, nothing is found that chance does not find.
        corrected = np.where(expected < 1, (overlap - expected) / (1 - expected), 0.0)
    return np.where(sizes[:, 0] > 0, corrected.max(axis=1), np.nan)


def _jaccard(common: Floats, both: Floats) -> Floats:
    return np.asarray(common / (both - common))


def _collected(splits: list[_Sides], null: list[_Sides], labels: _Pair) -> Reproducibility:
    tested = "found_again_other_columns", "found_again_other_rows"
    sides = [([one[side] for one in splits], [one[side] for one in null]) for side in (0, 1)]
    rows, columns = (
        _table(*found, side, name) for found, side, name in zip(sides, labels, tested, strict=True)
    )
    scores = pd.DataFrame([_scores(*found) for found in sides], index=["rows", "columns"])
    return Reproducibility(rows, columns, scores, len(splits), len(null))


def _scores(splits: list[_Found], null: list[_Found]) -> dict[str, float]:
    found = pd.DataFrame([one.scores for one in splits])
    without = np.array([one.scores["score"] for one in null])
    p_value = _p_values(found[["score"]].to_numpy(), without).item()
    return {**found.mean(), "null": _mean(without), "p_value": p_value}


def _table(splits: list[_Found], null: list[_Found], labels: Labels, tested: str) -> pd.DataFrame:
    """Make the table of the clusters of one side; `tested` is what the p-values are of."""
    found = {name: np.stack([one.clusters[name] for one in splits]) for name in _OVERLAPS}
    without = np.array([one.clusters[tested].max() for one in null])
    return pd.DataFrame(
        {
            "cluster": np.arange(labels.max() + 1),
            "size": np.bincount(labels),
            **{name: _means(values) for name, values in found.items()},
            "null": _mean(without),
            "p_value": _p_values(found[tested], without),
        }
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else np.nan


def _p_values(found: Floats, null: Floats) -> Floats:
    """Rank every split among the matrices without structure; the mean over the splits."""
    as_large = (null >= found[:, :, None]).sum(axis=2)
    is_known = ~np.isnan(found) & (len(null) > 0)
    return _means(np.where(is_known, (1 + as_large) / (1 + len(null)), np.nan))


def _means(values: Floats) -> Floats:
    """Return the means over the first axis, leaving out NaN."""
    return np.asarray(pd.DataFrame(values).mean())
