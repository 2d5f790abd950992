"""Where a fit runs: in memory, or on chunks of rows in files or on a Dask cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco._typing import Array, Matrix, stored_values
from pyrocco.backends import (
    Backend,
    ChunkedBackend,
    ChunkedMatrix,
    ScratchStore,
    cpu_backend,
    even_ends,
)
from pyrocco.backends.chunked.dask import (
    DaskStore,
    active_client,
    chunked_like,
    from_dask,
    to_dask,
)
from pyrocco.backends.chunked.files import as_mapped
from pyrocco.cells.values import SMALLEST, divided, has_missing, largest_value
from pyrocco.fitting.memory_plan import plan_fit, plan_in_files
from pyrocco.fitting.missing import NonEmpty, drop_empty
from pyrocco.fitting.repeated_rows import RowCopies, chunked_row_order
from pyrocco.fitting.result import Fit, FitResult, FittedRows, block_means
from pyrocco.fitting.settings import Settings
from pyrocco.fitting.variants import Variant
from pyrocco.validation import NClusters, check_n_clusters_fit

# Eigenvectors of the shorter side of a chunked matrix are computed in one place.
LONGEST_SHORT_SIDE = 10_000
# Bytes for work on chunks in files if no limit is set.
_WORK_BYTES = 2 * 10**9
# Solvers that do not need the whole matrix in one place.
_CHUNKED_SOLVERS = ("auto", "decoupled", "conjugate-gradient")


@dataclass(frozen=True)
class Given:
    """The validated input of a fit.

    Parameters
    ----------
    X : ndarray, CSR matrix or Dask array
        The data.
    sample_weight : array-like or None
        Weights of the rows.
    is_dask : bool
        Whether X is a Dask array.
    is_own : bool
        Whether X is a new array, to which the caller has no reference.
    """

    X: Any
    sample_weight: ArrayLike | None = None
    is_dask: bool = False
    is_own: bool = False


@dataclass(frozen=True)
class Arranged:
    """The matrix to fit, and how it was made from the given one.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The matrix to fit.
    scale : float
        Scale by which its values are divided.
    copies : RowCopies
        Which given row each of its rows is.
    non_empty : NonEmpty or None
        Which rows and columns it has, if some values are missing.
    transposed : bool
        Whether it is the transpose of the given matrix.
    """

    X: Matrix | ChunkedMatrix
    scale: float
    copies: RowCopies
    non_empty: NonEmpty | None = None
    transposed: bool = False

    def n_clusters(self, value: object) -> NClusters:
        """Check the parameter `n_clusters`; return the numbers for the matrix to fit."""
        if not self.transposed:
            return check_n_clusters_fit(value, self.X.shape)
        return check_n_clusters_fit(value, self.X.shape[::-1])[::-1]


class Engine(Protocol):
    """Does what depends on where the data are. All else is the same for every engine."""

    @property
    def backend(self) -> Backend:
        """Where arrays are and what computes on them."""

    def arrange(self, given: Given, variant: Variant) -> Arranged:
        """Return the matrix to fit."""

    def divide(self, X: Any, scale: float) -> Any:
        """Divide the matrix by its scale. The matrix itself may be given up for that."""

    def result(self, fit: Fit, arranged: Arranged, given: Given) -> FitResult:
        """Return the result for the given matrix, in its units."""


@dataclass(frozen=True)
class MemoryEngine:
    """Fits a matrix in memory, on the CPU or on a GPU.

    Parameters
    ----------
    backend : Backend
        Where it computes.
    single : bool
        Whether to use single precision whatever the data have.
    """

    backend: Backend
    single: bool = False

    def arrange(self, given: Given, variant: Variant) -> Arranged:
        """Repeat and sort rows, and remove empty rows and columns."""
        X = _in_single_precision(given.X) if self.single else given.X
        copies = RowCopies.of(X, given.sample_weight, variant.sorts_repeated_rows)
        X, non_empty = copies.take(X), None
        if has_missing(X):
            if not variant.allows_missing:
                raise ValueError(
                    "X contains NaN, and the method of the paper does not allow missing values: "
                    "use variant='refined', or impute them."
                )
            X, non_empty = drop_empty(X, copies.index)
        return Arranged(X, variant.scale(X), copies, non_empty)

    def divide(self, X: Matrix, scale: float) -> Matrix:
        """Divide the matrix by its scale."""
        return divided(X, scale)

    def result(self, fit: Fit, arranged: Arranged, given: Given) -> FitResult:
        """Undo the arrangement; keep a copy of the data."""
        scale, copies = arranged.scale, arranged.copies
        if arranged.non_empty is not None:
            fit = arranged.non_empty.restore(fit, self.backend)
        fitted, U = fit.clusters, self.backend.to_numpy(fit.learned.U)
        means = block_means(fit.X, fitted.row_labels, fitted.column_labels, U)
        rows = None
        if not (copies.counts == 1).all():
            rows = FittedRows(copies.index, fitted.row_labels, fitted.rows.membership, U)
        fit = copies.restore(fit, self.backend)
        U = self.backend.to_numpy(fit.learned.U)
        if rows is None:
            U *= U.dtype.type(scale)  # in place, to save memory
        else:
            U = U * U.dtype.type(scale)
        complete = fit.cell_weights is None and not len(copies.left_out)
        data = given.X.astype(np.float32) if self.single else given.X
        return _result(
            fit,
            scale=scale,
            representation=U,
            block_means=means * scale,
            data=data if given.is_own or self.single else data.copy(),
            cleaned=None if complete else fit.X,
            fitted_rows=rows,
        )


@dataclass(frozen=True)
class ChunkedEngine:
    """Fits a matrix in chunks of rows: on a Dask cluster, or in files of this machine.

    Parameters
    ----------
    store : DaskStore or ScratchStore
        Where the chunks are, and what works on them.
    n_jobs : int or None
        Threads of this process.
    """

    store: DaskStore | ScratchStore
    n_jobs: int | None

    @property
    def backend(self) -> Backend:
        """Where arrays are and what computes on them."""
        return ChunkedBackend(self.store)

    def arrange(self, given: Given, variant: Variant) -> Arranged:
        """Cut the longer side into chunks; sort the rows if some are repeated."""
        wide = given.X.shape[1] > given.X.shape[0]
        tall = given.X.T if wide else given.X
        chunks = from_dask(tall, self.store) if given.is_dask else self._cut(tall)
        size = _ChunkedScale.of(chunks)
        index = np.arange(chunks.shape[0])
        if not wide:
            index = chunked_row_order(chunks, size.largest)
        copies = RowCopies(chunks.shape[0], index)
        ordered = chunks if copies.is_identity else chunks.reordered(index)
        return Arranged(ordered, size.scale, copies, transposed=wide)

    def _cut(self, X: Matrix) -> ChunkedMatrix:
        row_bytes = X.shape[1] * X.dtype.itemsize
        return ChunkedMatrix.split(X, even_ends(X.shape[0], row_bytes, self.store), self.store)

    def divide(self, X: ChunkedMatrix, scale: float) -> ChunkedMatrix:
        """Divide every chunk, and let the old chunks go."""
        result = X.then(partial(divided, scale=scale)).persist()
        X.assign(result)
        return result

    def result(self, fit: Fit, arranged: Arranged, given: Given) -> FitResult:
        """Undo the arrangement; labels of a Dask array are chunked like its rows."""
        scale, wide = arranged.scale, arranged.transposed
        fitted = fit.clusters
        means = block_means(fit.X, fitted.row_labels, fitted.column_labels)
        fit = arranged.copies.restore(fit, self.backend)
        chunks = fit.learned.U.then(partial(_times, factor=scale))
        U = to_dask(chunks) if given.is_dask else as_mapped(chunks)
        if wide:
            fit = _transposed(fit)
        result = _result(
            fit,
            scale=scale,
            representation=U.T if wide else U,
            block_means=scale * (means.T if wide else means),
            data=None if given.is_dask else self._copy(given.X),
        )
        # The result must not hold the store, which can be neither saved nor copied.
        result.assigner.backend = cpu_backend(self.n_jobs)  # type: ignore[attr-defined]
        return self._as_dask(result, given.X.chunks[0]) if given.is_dask else result

    def _copy(self, X: Matrix) -> Matrix:
        """Copy a matrix in memory to a mapped file."""
        return X.copy() if sparse.issparse(X) else as_mapped(self._cut(X))

    def _as_dask(self, result: FitResult, chunks: tuple[int, ...]) -> FitResult:
        ends, rows = np.r_[0, np.cumsum(chunks)], result.clusters.rows
        chunked = replace(
            rows,
            labels=chunked_like(rows.labels, ends),
            membership=chunked_like(rows.membership, ends),
        )
        return replace(
            result,
            clusters=replace(result.clusters, rows=chunked),
            representation=result.representation.rechunk({0: chunks}),
        )


def engine_for(given: Given, settings: Settings) -> Engine:
    """Choose the engine for a matrix; options that it does not support are an error."""
    X, limit = given.X, settings.memory_limit
    n_jobs = settings.parameters["n_jobs"]
    if given.is_dask:
        _check_chunked(given, settings)
        client = active_client()
        if client is not None and limit is not None:
            raise ValueError(
                "memory_limit is that of one machine. On a cluster every worker has its own: set "
                "it where workers are started, as in LocalCluster(memory_limit='4GB') or "
                "dask worker --memory-limit 4GB."
            )
        if client is not None:
            return ChunkedEngine(DaskStore(client), n_jobs)
        work = _WORK_BYTES
        if limit is not None:
            work = plan_in_files(X.shape, X.dtype, settings.n_neighbors, limit).work
        return _engine_in_files(work, n_jobs)
    if limit is None:
        return MemoryEngine(settings.backend)
    # A sparse matrix itself is small, but its representation is dense.
    mapped = sparse.issparse(X) or isinstance(X, np.memmap) or isinstance(X.base, np.memmap)
    plan = plan_fit(X.shape, X.dtype, settings.n_neighbors, limit, mapped)
    if plan.way != "files":
        return MemoryEngine(settings.backend, single=plan.way == "single")
    _check_chunked(given, settings)
    return _engine_in_files(plan.work, n_jobs)


def _engine_in_files(work: int, n_jobs: int | None) -> ChunkedEngine:
    return ChunkedEngine(ScratchStore(work, cpu_backend(n_jobs).n_threads), n_jobs)


def _check_chunked(given: Given, settings: Settings) -> None:
    """Refuse what is not possible in chunks, and say what to do instead."""
    if settings.parameters["variant"] == "paper":
        raise ValueError(
            "variant='paper' needs the whole matrix in one place: use variant='refined' for a "
            "matrix in chunks, or raise memory_limit."
        )
    solver = settings.parameters["solver"]
    name = solver if isinstance(solver, str) else solver.name
    if name not in _CHUNKED_SOLVERS:
        raise ValueError(
            f"solver={name!r} needs the whole matrix in one place: for a matrix "
            "in chunks use 'auto', 'decoupled' or 'conjugate-gradient'."
        )
    if settings.parameters["device"] not in ("cpu", "auto"):
        raise ValueError("device must be 'cpu' for a matrix in chunks; GPUs are not used there.")
    if given.sample_weight is not None:
        raise ValueError("sample_weight is not supported for a matrix in chunks.")
    shape = given.X.shape
    if min(shape) > LONGEST_SHORT_SIDE:
        raise ValueError(
            f"X has {shape[0]:,} rows and {shape[1]:,} columns. The shorter side of a matrix in "
            f"chunks may have at most {LONGEST_SHORT_SIDE:,}: choose the columns that vary most, "
            "or fit in memory."
        )


def _result(fit: Fit, **parts: Any) -> FitResult:
    return FitResult(
        clusters=fit.clusters,
        graphs=fit.graphs,
        history=fit.learned.history,
        converged=fit.learned.converged,
        cell_weights=fit.cell_weights,
        assigner=fit.assigner,
        **parts,
    )


def _transposed(fit: Fit) -> Fit:
    clusters = replace(fit.clusters, rows=fit.clusters.columns, columns=fit.clusters.rows)
    return replace(fit, graphs=fit.graphs[::-1], clusters=clusters)


@dataclass(frozen=True)
class _ChunkedScale:
    """Largest value and scale of a chunked matrix."""

    largest: float
    scale: float

    @classmethod
    def of(cls, X: ChunkedMatrix) -> _ChunkedScale:
        """Read every chunk; raise an error if a value is not a number."""
        largest = float(np.max(X.results(_largest)))
        if not np.isfinite(largest):
            kind = "missing values (NaN)" if np.isnan(largest) else "infinite values"
            raise ValueError(
                f"X has {kind}, which are not supported for a matrix in chunks: impute them "
                "first, for instance by the means of the columns, or fit in memory, where NaN "
                "marks missing values."
            )
        # A power of two near the largest value: squares of very large numbers are infinite.
        exponent = math.frexp(largest)[1]
        squares = sum(X.results(partial(_squares, exponent=exponent)))
        if not squares:
            return cls(largest, 1.0)
        size = math.sqrt(squares / (X.shape[0] * X.shape[1]))
        return cls(largest, max(math.ldexp(size, exponent), SMALLEST))


def _largest(chunk: Matrix) -> float:
    """Largest absolute value; NaN if any value is NaN."""
    return float(np.abs(stored_values(chunk)).max(initial=0.0))


def _squares(chunk: Matrix, exponent: int) -> float:
    scaled = np.ldexp(stored_values(chunk).ravel().astype(np.float64), -exponent)
    return float(scaled @ scaled)


def _in_single_precision(X: Matrix) -> Matrix:
    limits, largest = np.finfo(np.float32), largest_value(X)
    if largest > float(limits.max) or 0 < largest < float(limits.tiny):
        raise ValueError(
            f"The largest absolute value of X is {largest:g}, out of the range of the single "
            "precision that memory_limit needs: choose another unit, or raise memory_limit."
        )
    return X.astype(np.float32)


def _times(chunk: Array, factor: float) -> Any:
    return chunk * chunk.dtype.type(factor)
