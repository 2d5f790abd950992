"""What a fit of a matrix in blocks of rows asks of the blocks."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.assign.lloyd import label_sums
from pyrocco.backends import ChunkedMatrix
from pyrocco.backends.chunked.matrix import dense
from pyrocco.estimators.blocks import indicator
from pyrocco.estimators.stages import Fitted, Work
from pyrocco.estimators.trust import DOMINANT, filled_cells

# Sides up to this have their eigenvectors computed in one place.
LONGEST_SHORT_SIDE = 10_000
# Filled cells whose median stands for that of all.
_MEDIAN_CELLS = 100_000
# Solvers that need not have the whole matrix in one place.
_SOLVERS = ("auto", "decoupled", "conjugate-gradient")


def check_options(model: Any, sample_weight: Any) -> None:
    """Refuse what blocks cannot do, and say what to do instead."""
    if model.variant == "paper":
        raise ValueError(
            "variant='paper' needs the whole matrix in one place: use variant='refined' for a "
            "matrix in blocks, or raise memory_limit."
        )
    name = model.solver if isinstance(model.solver, str) else model.solver.name
    if name not in _SOLVERS:
        raise ValueError(
            f"solver={name!r} needs the whole matrix in one place: for a matrix in blocks use "
            f"{', '.join(map(repr, _SOLVERS[:-1]))} or {_SOLVERS[-1]!r}."
        )
    if model.device not in ("cpu", "auto"):
        raise ValueError("device must be 'cpu' for a matrix in blocks, which no GPU works on.")
    if sample_weight is not None:
        raise ValueError("sample_weight is not taken into account for a matrix in blocks.")


def check_shape(shape: tuple[int, int]) -> None:
    """Refuse a matrix whose shorter side is too long for one place."""
    if min(shape) > LONGEST_SHORT_SIDE:
        raise ValueError(
            f"X has {shape[0]:,} rows and {shape[1]:,} columns. In blocks the shorter side may "
            f"have {LONGEST_SHORT_SIDE:,} at most: choose the columns that vary most, or fit in "
            "memory."
        )


def check_no_limit(model: Any) -> None:
    """Refuse a limit that nobody would keep to."""
    if model.memory_limit is not None:
        raise ValueError(
            "memory_limit is that of one machine. On a cluster every worker has its own: set it "
            "where workers are started, as in LocalCluster(memory_limit='4GB') or "
            "dask worker --memory-limit 4GB."
        )


@dataclass(frozen=True)
class BlockFacts:
    """What one look at all blocks tells."""

    largest: float
    unit: float  # a power of two near the largest: squares of very large numbers are infinite
    squares: float  # sum of the squares of cells over the unit
    n_cells: int

    @classmethod
    def of(cls, X: ChunkedMatrix) -> BlockFacts:
        """Look at every block; raise where a cell is no number."""
        largest = X.results(_largest)
        top = float(np.max(largest))
        if not np.isfinite(top):
            kind = "missing cells (NaN)" if np.isnan(top) else "infinite cells"
            raise ValueError(
                f"X has {kind}. A matrix in blocks must have a number in every cell: fill them "
                "in first, for instance with the means of columns, or fit in memory, where NaN "
                "marks missing cells."
            )
        unit = math.ldexp(1.0, math.frexp(top)[1])
        squares = sum(X.results(partial(_squares, unit=unit)))
        return cls(top, unit, squares, X.shape[0] * X.shape[1])

    @property
    def scale(self) -> float:
        """Root mean square of the cells, or 1 where all are zero."""
        if self.squares == 0:
            return 1.0
        return self.unit * math.sqrt(self.squares / self.n_cells)


def unitless(X: ChunkedMatrix, scale: float) -> ChunkedMatrix:
    """The blocks without units; they are not stored again."""
    return X.then(partial(_times, factor=1 / scale))


def is_dominated(X: ChunkedMatrix) -> bool:
    """`trust.is_dominated` of blocks without units, the median from a sample of filled cells."""
    count = -(-_MEDIAN_CELLS // len(X.chunks))
    some = np.concatenate(X.results(partial(_some_filled, count=count)))
    if not len(some):
        return False
    beyond = sum(X.results(partial(_squares_beyond, size=DOMINANT * float(np.median(some)))))
    return bool(beyond > 0.5 * X.shape[0] * X.shape[1])  # of blocks whose mean square is one


def warn_of_wild_cells(work: Work, fitted: Fitted) -> None:
    """Say where a fit in one place would have done more."""
    if fitted.found.contaminated or (work.mostly_zero and is_dominated(work.X)):
        warnings.warn(
            "Some cells are off by far more than the rest. Their influence is reduced only for "
            "matrices that are fitted in memory: look at the largest cells, and clip them or "
            "take logarithms.",
            UserWarning,
            stacklevel=4,
        )


def means_of_blocks(
    X: ChunkedMatrix, row_labels: NDArray[np.intp], column_labels: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Mean of `X` over every pair of a row cluster and a column cluster."""
    k = int(row_labels.max()) + 1
    sums = X.then(dense).total(partial(label_sums, k=k), row_labels) @ indicator(column_labels)
    sizes = np.outer(np.bincount(row_labels), np.bincount(column_labels))
    return np.asarray(sums / sizes)


def put_back(fitted: Fitted, order: NDArray[np.intp]) -> Fitted:
    """What was found of rows in another order, in the order of the rows themselves."""
    places, found, learned = np.argsort(order), fitted.found, fitted.learned
    rows = found.rows
    labels, confidence = rows.labels[places], rows.confidence[places]
    graph = fitted.graphs[0]
    ends = np.sort([order[graph.heads], order[graph.tails]], axis=0)
    first = np.lexsort(ends[::-1])
    heads, tails = ends[:, first]
    graph = replace(graph, heads=heads, tails=tails, weights=graph.weights[first])
    return replace(
        fitted,
        graphs=(graph, fitted.graphs[1]),
        learned=replace(learned, U=learned.U.reordered(places)),
        found=replace(found, rows=replace(rows, labels=labels, confidence=confidence)),
    )


def turned(fitted: Fitted) -> Fitted:
    """What was found of the transpose, as found of the matrix itself."""
    found = fitted.found
    return replace(
        fitted,
        graphs=fitted.graphs[::-1],
        found=replace(found, rows=found.columns, columns=found.rows),
    )


def _values(block: Any) -> NDArray[Any]:
    return np.asarray(block.data if sparse.issparse(block) else block).ravel()


def _largest(block: Any) -> float:
    """Size of the largest cell; NaN where there is any."""
    return float(np.abs(_values(block)).max(initial=0.0))


def _squares(block: Any, unit: float) -> float:
    scaled = _values(block).astype(np.float64) / unit
    return float(scaled @ scaled)


def _some_filled(block: Any, count: int) -> NDArray[Any]:
    """Filled cells at even steps."""
    filled = filled_cells(block)
    return np.asarray(np.abs(filled[:: max(1, len(filled) // count)]))


def _squares_beyond(block: Any, size: float) -> float:
    filled = filled_cells(block).astype(np.float64)
    large = filled[np.abs(filled) > size]
    return float(large @ large)


def _times(block: Any, factor: float) -> Any:
    return block * block.dtype.type(factor)
