"""What a fit of a matrix in blocks of rows asks of the blocks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends import RowBlocks
from pyrocco.backends.kernels.partition import sums_by_label
from pyrocco.backends.rowblocks import dense
from pyrocco.estimators.blocks import indicator
from pyrocco.estimators.stages import Fitted

# Sides up to this have their eigenvectors computed in one place.
LONGEST_SHORT_SIDE = 10_000
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
    squares: float
    n_cells: int

    @classmethod
    def of(cls, X: RowBlocks) -> BlockFacts:
        """Look at every block; raise where a cell is no number."""
        largest, squares = zip(*X.results(_look), strict=True)
        top = float(np.max(largest))
        if not np.isfinite(top):
            kind = "missing cells (NaN)" if np.isnan(top) else "infinite cells"
            raise ValueError(
                f"X has {kind}. A matrix in blocks must have a number in every cell: fill them "
                "in first, for instance with the means of columns, or fit in memory, where NaN "
                "marks missing cells."
            )
        return cls(top, float(sum(squares)), X.shape[0] * X.shape[1])

    @property
    def scale(self) -> float:
        """Root mean square of the cells, or 1 where all are zero."""
        return float(np.sqrt(self.squares / self.n_cells)) if self.squares > 0 else 1.0


def unitless(X: RowBlocks, scale: float) -> RowBlocks:
    """The blocks without units; they are not stored again."""
    return X.then(partial(_times, factor=1 / scale))


def warn_of_wild_cells(fitted: Fitted) -> None:
    """Say where a fit in one place would have done more."""
    if fitted.found.contaminated:
        warnings.warn(
            "Some cells are off by far more than the rest. Their influence is reduced only for "
            "matrices that are fitted in memory: look at the largest cells, and clip them or "
            "take logarithms.",
            UserWarning,
            stacklevel=4,
        )


def means_of_blocks(
    X: RowBlocks, row_labels: NDArray[np.intp], column_labels: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Mean of `X` over every pair of a row cluster and a column cluster."""
    k = int(row_labels.max()) + 1
    sums = sum(X.results(partial(_sums, k=k), row_labels)) @ indicator(column_labels)
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


def _look(block: Any) -> tuple[float, float]:
    values = (block.data if sparse.issparse(block) else np.asarray(block)).ravel()
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    # NaN is the largest of all where there is any.
    largest = np.nan if np.isnan(values).any() else largest
    return float(largest), float(np.einsum("i,i->", values, values, dtype=np.float64))


def _times(block: Any, factor: float) -> Any:
    return block * block.dtype.type(factor)


def _sums(block: Any, labels: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    return np.asarray(sums_by_label(dense(block), labels, k))
