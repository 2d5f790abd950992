"""The back end for matrices in blocks of rows: the same operations, wherever blocks lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import blockwork
from pyrocco.backends.base import Operator
from pyrocco.backends.blocksystem import BlockSystem
from pyrocco.backends.crossing import Crossing
from pyrocco.backends.numpy import PANEL, NumpyBackend, cut_columns
from pyrocco.backends.rowblocks import Rotation, RowBlocks, Store, Turned, dense, total

# Arrays of the height of the matrix that the work on a panel holds at once.
_PANEL_ARRAYS = 9
# Panels for every worker, so that none is idle while the hardest is solved.
_PANELS_EACH = 2
# A block, and how many of its size some work holds at once.
_BLOCK_BYTES = 2**26
_BLOCKS_AT_ONCE = 16


class BlockBackend(BlockSystem):
    """Arrays are `RowBlocks` of a store (see `Backend` for what each method means).

    What is written into an array takes the place of its blocks. Small arrays, of the columns
    or of a few features, are NumPy's and stay here. The whole matrix never does.

    Parameters
    ----------
    store : Store
        Where blocks lie and who works on them.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> backend = BlockBackend(ScratchStore())
    >>> X = RowBlocks.cut(np.eye(4), [0, 2, 4], backend.store)
    >>> backend.squared_norm(X), backend.centred(X)[np.array([3])].tolist()
    (4.0, [[-0.25, -0.25, -0.25, 0.75]])
    """

    name = "blocks"
    in_one_place = False

    def __init__(self, store: Store):
        self.store = store
        self.local = NumpyBackend()

    def asarray(self, X: Any) -> Any:
        """Dense blocks; arrays that are here stay here."""
        if not isinstance(X, RowBlocks):
            return X if isinstance(X, Turned) else self.local.asarray(X)
        return X.then(dense)

    def to_numpy(self, U: Any) -> NDArray[Any]:
        """Bring something narrow here."""
        return np.concatenate(U.results(dense)) if isinstance(U, RowBlocks) else np.asarray(U)

    def narrow(self, U: Any) -> Any:
        """Blocks stay where they are."""
        return U

    def kept(self, U: RowBlocks) -> RowBlocks:
        """A copy that outlives what happens to `U`, as a checkpoint holds it."""
        return replace(U.settled())

    def dtype(self, U: Any) -> np.dtype[Any]:
        """Type of the cells."""
        dtype: np.dtype[Any] = U.dtype
        return dtype

    def copy(self, U: RowBlocks) -> RowBlocks:
        """Another matrix of the same blocks, which nobody changes."""
        return replace(U)

    def empty_like(self, U: RowBlocks) -> RowBlocks:
        """A matrix to be written into."""
        return replace(U)

    def matrix_norm(self, U: RowBlocks) -> float:
        """Spectral norm, from the Gram matrix of the columns."""
        return float(np.sqrt(max(np.linalg.eigvalsh(U.total(blockwork.gram))[-1], 0.0)))

    def squared_norm(self, U: RowBlocks) -> float:
        """Squared Frobenius norm."""
        return float(sum(U.results(blockwork.squared_norm)))

    def squared_distance(self, X: RowBlocks, U: RowBlocks) -> float:
        """Squared Frobenius distance."""
        return float(sum(self._paired(blockwork.squared_distance, X, U)))

    def project(self, U: Any, Y: Any) -> NDArray[np.float64]:
        """U^T Y; for the transpose, a product with every block."""
        if isinstance(U, Turned):
            # The transpose of its own is asked for only of matrices as short as wide.
            right = self.to_numpy(Y.blocks).T if isinstance(Y, Turned) else Y
            return np.asarray(self.to_numpy(self.rotate(U.blocks, right)), dtype=np.float64)
        if isinstance(Y, RowBlocks):
            if Y is U:
                return np.asarray(U.total(blockwork.gram))
            return _sum(self._paired(blockwork.product, U, Y))
        return np.asarray(U.total(blockwork.product, Y))

    def rotate(
        self, U: Any, V: NDArray[np.float64], transposed: bool = False, out: Any = None
    ) -> Any:
        """Product with a small matrix; for the transpose, with one as long as the matrix."""
        matrix = V.astype(U.dtype).T if transposed else V.astype(U.dtype)
        if isinstance(U, Turned):
            return U.blocks.total(blockwork.product, matrix).astype(U.dtype)
        rotated = U.then(Rotation(matrix), matrix.shape[1])
        if out is None:
            return rotated
        out.become(rotated)
        return out

    def centred(self, U: Any) -> Any:
        """Columns less their means."""
        if isinstance(U, Turned):
            return Turned(U.blocks.then(blockwork.less_row_means))
        means = U.total(blockwork.column_sums) / len(U)
        return U.then(partial(_less, means=means.astype(U.dtype)))

    def transpose(self, U: Any) -> Any:
        """The other way round, nothing moved."""
        if isinstance(U, Turned):
            return U.blocks
        return Turned(U) if isinstance(U, RowBlocks) else self.local.transpose(U)

    def nearest_centres(
        self, rows: Any, centres: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Nearest centre of every row, and the sum of the rows of each."""
        if not isinstance(rows, RowBlocks):
            return self.local.nearest_centres(rows, centres)
        found = rows.results(partial(blockwork.nearest_centres, centres=centres))
        return np.concatenate([labels for labels, _ in found]), _sum([sums for _, sums in found])

    def content_keys(self, X: RowBlocks, axis: int) -> NDArray[np.uint64]:
        """A number for every row or column, of its cells."""
        if axis == 0:
            return np.concatenate(X.results(blockwork.row_keys))
        largest = np.max(X.results(blockwork.column_sizes), axis=0)
        return np.asarray(X.total(partial(blockwork.column_keys, largest=largest)))

    def edge_lengths(
        self, U: RowBlocks, heads: NDArray[np.intp], tails: NDArray[np.intp], axis: int
    ) -> NDArray[np.float64]:
        """Squared lengths of edges: sums over blocks, or for rows over panels of columns."""
        ends = self.store.put(heads), self.store.put(tails)
        if axis:
            blocks = range(len(U.blocks))
            parts = [U.submit(i, blockwork.column_edge_lengths, *ends) for i in blocks]
        else:
            panels = self._crossing(U).cut(U)
            parts = [
                self.store.submit(blockwork.row_edge_lengths, pieces, *ends) for pieces in panels
            ]
        return np.asarray(total(parts, self.store))

    def operator(self, laplacian: Any, strength: float, dtype: Any) -> Operator:
        """Scale a Laplacian and cast it to the type of U, here."""
        return self.local.operator(laplacian, strength, dtype)

    def over_panels(
        self,
        work: Callable[..., Any],
        operator: Operator,
        shifts: NDArray[np.float64],
        F: RowBlocks,
        Y: RowBlocks,
    ) -> list[Any]:
        """One re-chunk from blocks of rows to panels of columns, one back."""
        crossing, graph = self._crossing(F), self.store.put(operator)
        times = _multiple(F, Y)
        # The first start is the data itself: it need not travel twice.
        fixed = [times] * len(crossing.panels) if times else crossing.cut(F)
        solved = [
            self.store.submit(blockwork.solve_panel, work, graph, shifts[columns], *pieces)
            for columns, *pieces in zip(crossing.panels, fixed, crossing.cut(Y), strict=True)
        ]
        told = [self.store.submit(blockwork.outcomes_of, panel) for panel in solved]
        Y.become(replace(Y, blocks=crossing.back(solved), steps=(np.hstack,)))
        # A panel may go as soon as it is cut into blocks.
        del solved
        return [outcome for part in self.store.fetch(told) for outcome in part]

    def through_panels(self, U: RowBlocks, work: Callable[..., Any], *arguments: Any) -> RowBlocks:
        """What some work on panels of columns gives, in blocks of rows again."""
        crossing = self._crossing(U)
        done = [
            self.store.submit(blockwork.on_panel, work, pieces, *arguments)
            for pieces in crossing.cut(U)
        ]
        return replace(U, blocks=crossing.back(done), steps=(np.hstack,))

    def overwrite(self, U: RowBlocks, values: RowBlocks) -> None:
        """Let `U` have other blocks, with all steps taken."""
        U.become(values.settled())

    def _paired(self, work: Callable[..., Any], A: RowBlocks, B: RowBlocks) -> list[Any]:
        """Results of work on blocks of two matrices cut alike."""
        return self.store.fetch([A.submit_with(B, i, work) for i in range(len(A.blocks))])

    def _crossing(self, U: RowBlocks) -> Crossing:
        """Columns cut so that a panel fits, and every worker has some; whole cache lines."""
        n_rows, n_columns = U.shape
        fitting = self.store.memory // (_PANEL_ARRAYS * n_rows * U.dtype.itemsize)
        share = -(-n_columns // (_PANELS_EACH * self.store.n_workers))
        width = min(fitting, -(-share // PANEL) * PANEL)
        return Crossing(self.store, U.ends, cut_columns(n_columns, max(1, width)))


def is_blocks(X: Any) -> bool:
    """Whether a matrix is in blocks, or the transpose of one.

    Examples
    --------
    >>> is_blocks(np.eye(2))
    False
    """
    return isinstance(X, (RowBlocks, Turned))


def even_ends(n_rows: int, row_bytes: int, store: Store) -> NDArray[np.intp]:
    """Where to cut so that several blocks fit into the memory for one piece of work.

    Examples
    --------
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> even_ends(10, 2**20, ScratchStore(memory=2**26)).tolist()
    [0, 3, 7, 10]
    """
    fitting = max(1, min(_BLOCK_BYTES, store.memory // _BLOCKS_AT_ONCE) // max(1, row_bytes))
    count = max(-(-n_rows // fitting), min(n_rows, _PANELS_EACH * store.n_workers))
    return np.linspace(0, n_rows, count + 1).round().astype(np.intp)


def _multiple(F: RowBlocks, Y: RowBlocks) -> float | None:
    """The number by which `F` is `Y`, where both are products of the same blocks."""
    if F.blocks is not Y.blocks or not (F.steps and Y.steps) or F.steps[:-1] != Y.steps[:-1]:
        return None
    left, right = F.steps[-1], Y.steps[-1]
    if not (isinstance(left, Rotation) and isinstance(right, Rotation)):
        return None
    largest = np.abs(right.matrix).argmax()
    times = float(left.matrix.flat[largest] / right.matrix.flat[largest])
    return times if np.array_equal(left.matrix, times * right.matrix) else None


def _sum(parts: list[NDArray[Any]]) -> NDArray[np.float64]:
    return np.asarray(reduce(np.add, parts), dtype=np.float64)


def _less(block: Any, means: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(block - means)
