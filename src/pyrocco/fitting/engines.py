"""Where a fit runs: in memory, or on chunks of rows in files or on a Dask cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco._typing import Array, Dense, Matrix, stored_values
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
from pyrocco.cells.kinds import Cells, read_kind
from pyrocco.cells.preparation import Preparation, learn_steps
from pyrocco.cells.values import SMALLEST, divided, has_missing, largest_value
from pyrocco.fitting.memory_plan import plan_fit, plan_in_files
from pyrocco.fitting.missing import NonEmpty, drop_empty
from pyrocco.fitting.repeated_rows import RowCopies, chunked_row_order
from pyrocco.fitting.result import (
    Fit,
    FitResult,
    FittedRows,
    PreparedCells,
    PreparedColumns,
    Represented,
    block_means,
)
from pyrocco.fitting.settings import Settings
from pyrocco.fitting.variants import Variant
from pyrocco.representation import Representation
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
        The matrix to fit, before its values are prepared.
    scale : float
        Scale of its values.
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

    def prepare(self, arranged: Arranged, settings: Settings) -> PreparedCells:
        """Find out what the cells are, prepare them, and divide them by their scale.

        The arranged matrix may be given up for that, if nothing else is done to it.
        """

    def result(
        self, fit: Fit, arranged: Arranged, given: Given, cells: PreparedCells
    ) -> FitResult:
        """Return the result for the given matrix, in its units."""


# Names of preparations, and whether rows and columns swap their roles.
_Steps = tuple[tuple[str, ...], bool]


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

    def prepare(self, arranged: Arranged, settings: Settings) -> PreparedCells:
        """Find out what the cells are, prepare them, and divide them by their scale."""
        cells = read_cells(arranged, settings)
        X, preparation = learn_steps(arranged.X, cells.steps)
        scale = settings.variant.scale(X) if cells.steps else arranged.scale
        counts = preparation.before_counting.apply(arranged.X) if cells.each_side else None
        columns = None
        if cells.has_two_preparations and not has_missing(arranged.X):
            columns = self._prepare_columns(arranged.X, cells, settings)
        return PreparedCells(divided(X, scale), scale, cells, preparation, counts, columns)

    def _prepare_columns(self, X: Matrix, cells: Cells, settings: Settings) -> PreparedColumns:
        prepared, preparation = learn_steps(X, *_steps_of_sides(cells, transposed=False)[1])
        scale = settings.variant.scale(prepared)
        return PreparedColumns(divided(prepared, scale), scale, preparation)

    def result(
        self, fit: Fit, arranged: Arranged, given: Given, cells: PreparedCells
    ) -> FitResult:
        """Undo the preparation and the arrangement; keep a copy of the data."""
        unit, copies = arranged.scale, arranged.copies
        fit = self._in_given_units(fit, arranged, cells)
        if arranged.non_empty is not None:
            fit = arranged.non_empty.restore(fit, self.backend)
        fitted, U = fit.clusters, self._values(fit.learned)
        means = block_means(fit.X, fitted.row_labels, fitted.column_labels, U)
        rows = None
        if not (copies.counts == 1).all():
            rows = FittedRows(copies.index, fitted.row_labels, fitted.rows.membership)
        fit = copies.restore(fit, self.backend)
        complete = fit.cell_weights is None and not len(copies.left_out)
        data = given.X.astype(np.float32) if self.single else given.X
        columns = cells.columns
        return _result(
            fit,
            cells,
            U=self._times_unit(fit.learned, unit),
            preparation=_of_given_rows(cells.preparation, arranged, data),
            column_preparation=None
            if columns is None
            else _of_given_rows(columns.preparation, arranged, data),
            unit=unit,
            block_means=means * unit,
            data=data if given.is_own or self.single else data.copy(),
            cleaned=None if complete else fit.X,
            fitted_rows=rows,
        )

    def _values(self, learned: Representation | None) -> Dense | None:
        return None if learned is None else self.backend.to_numpy(learned.U)

    def _times_unit(self, learned: Representation | None, unit: float) -> Dense | None:
        U = self._values(learned)
        if U is not None:
            U *= U.dtype.type(unit)  # in place, to save memory
        return U

    def _in_given_units(self, fit: Fit, arranged: Arranged, cells: PreparedCells) -> Fit:
        """Undo the preparation of data and representation, divided by the scale of the data."""
        if not cells.are_prepared:
            return fit
        undo, learned = partial(_undone, cells=cells, unit=arranged.scale), fit.learned
        if learned is not None:
            U = self.backend.asarray(undo(self.backend.to_numpy(learned.U)))
            learned = replace(learned, U=U)
        complete = fit.cell_weights is None
        X = divided(arranged.X, arranged.scale) if complete else undo(fit.X)
        return replace(fit, X=X, learned=learned)


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

    def prepare(self, arranged: Arranged, settings: Settings) -> PreparedCells:
        """Find out what the cells are, prepare every chunk, and let the old chunks go."""
        cells = read_cells(arranged, settings)
        chunks: Any = arranged.X
        first, second = _steps_of_sides(cells, arranged.transposed)
        X, preparation = learn_steps(chunks, *first)
        scale = _ChunkedScale.of(X).scale if first[0] else arranged.scale
        counts = preparation.before_counting.apply(replace(chunks)) if cells.each_side else None
        columns = None
        if cells.has_two_preparations:
            columns = self._prepare_columns(replace(chunks), *second)
        result = X.then(partial(divided, scale=scale)).persist()
        X.assign(result)
        wide = arranged.transposed
        return PreparedCells(result, scale, cells, preparation, counts, columns, wide)

    def _prepare_columns(
        self, X: ChunkedMatrix, steps: tuple[str, ...], transposed: bool
    ) -> PreparedColumns:
        prepared, preparation = learn_steps(X, steps, transposed)
        scale = _ChunkedScale.of(prepared).scale
        return PreparedColumns(
            prepared.then(partial(divided, scale=scale)).persist(), scale, preparation
        )

    def result(
        self, fit: Fit, arranged: Arranged, given: Given, cells: PreparedCells
    ) -> FitResult:
        """Undo the preparation and the arrangement; labels are chunked like a Dask array."""
        unit, wide, copies = arranged.scale, arranged.transposed, arranged.copies
        fitted, data = fit.clusters, fit.X
        if cells.are_prepared:
            data = arranged.X.then(partial(divided, scale=unit))  # type: ignore[union-attr]
        means = block_means(data, fitted.row_labels, fitted.column_labels)
        fit = copies.restore(fit, self.backend)
        both = [cells.preparation.rows(copies.first)]
        if cells.columns is not None:
            both.append(cells.columns.preparation.rows(copies.first))
        U = None
        if fit.learned is not None:
            times = partial(_times, factor=cells.of_given_rows.scale)
            learned: Any = fit.learned.U
            chunks = both[-1 if wide else 0].undo(learned.then(times))
            U = to_dask(chunks) if given.is_dask else as_mapped(chunks)
            U = U.T if wide else U
        if wide:
            fit, both = _transposed(fit), [part.transposed() for part in both[::-1]]
        result = _result(
            fit,
            cells,
            U=U,
            preparation=both[0],
            column_preparation=both[-1],
            unit=unit,
            block_means=unit * (means.T if wide else means),
            data=None if given.is_dask else self._copy(given.X),
        )
        if wide:
            result = replace(result, scale=result.column_scale, column_scale=result.scale)
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
            represented=_rechunked(result.represented, chunks),
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
                "memory_limit applies to one machine. The workers of a cluster have their own: "
                "set these where workers are started, as in LocalCluster(memory_limit='4GB') or "
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


def read_cells(arranged: Arranged, settings: Settings) -> Cells:
    """Find out what the cells are; the parameters may say what is done with them."""
    if isinstance(settings.prepare, Cells):
        return settings.prepare
    cells = read_kind(arranged.X, transposed=arranged.transposed)
    if settings.prepare is not None:
        return cells.forced(settings.prepare, "as asked")
    return cells if settings.variant.prepares else cells.forced((), "as in the paper")


def _steps_of_sides(cells: Cells, transposed: bool) -> tuple[_Steps, _Steps]:
    """Return the steps before the rows of a matrix are labelled, and before its columns are.

    Each comes with whether rows and columns swap their roles in it. `transposed` says whether
    the rows of the matrix are the columns of the given one.
    """
    if cells.column_steps is not None:
        both = (cells.steps, transposed), (cells.column_steps, transposed)
        return both[::-1] if transposed else both
    return (cells.steps, transposed and not cells.each_side), (cells.steps, True)


def _of_given_rows(preparation: Preparation, arranged: Arranged, X: Matrix) -> Preparation:
    """Return the preparation of the given rows and columns, fitted or not."""
    non_empty = arranged.non_empty
    if non_empty is not None and not non_empty.is_all:
        preparation = preparation.spread_columns(non_empty.columns, X.shape[1])
    elif arranged.copies.is_identity:
        return preparation
    return preparation.for_new_rows(X)


def _undone(X: Matrix, cells: PreparedCells, unit: float) -> Matrix:
    return divided(cells.preparation.undo(X * X.dtype.type(cells.scale)), unit)


def _result(
    fit: Fit,
    cells: PreparedCells,
    U: Any,
    preparation: Preparation,
    column_preparation: Preparation | None = None,
    **parts: Any,
) -> FitResult:
    represented = None
    if fit.learned is not None and fit.graphs is not None:
        represented = Represented(U, fit.graphs, fit.learned.history, fit.learned.converged)
    return FitResult(
        cells=cells.cells,
        scale=cells.scale,
        column_scale=cells.scale if cells.columns is None else cells.columns.scale,
        preparation=preparation,
        column_preparation=column_preparation or preparation,
        clusters=fit.clusters,
        represented=represented,
        cell_weights=fit.cell_weights,
        assigner=fit.assigner,
        **parts,
    )


def _rechunked(represented: Represented | None, chunks: tuple[int, ...]) -> Represented | None:
    if represented is None:
        return None
    return replace(represented, U=represented.U.rechunk({0: chunks}))


def _transposed(fit: Fit) -> Fit:
    clusters = replace(fit.clusters, rows=fit.clusters.columns, columns=fit.clusters.rows)
    graphs = None if fit.graphs is None else fit.graphs[::-1]
    return replace(fit, graphs=graphs, clusters=clusters)


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
