"""Steps of conjugate gradients on a system whose matrix is in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends.base import Operator
from pyrocco.backends.kernels import panel as kernels
from pyrocco.backends.rowblocks import RowBlocks, Store, dense

Sums = tuple[float, float]


class BlockSystem:
    """The operations of `ArrayBackend` on whole systems, for `BlockBackend`.

    The graph of the rows couples all blocks. Its product is made on panels of columns, so that
    every step re-chunks the matrix once each way; all the rest stays within blocks.
    """

    store: Store
    through_panels: Callable[..., RowBlocks]

    def apply(self, system: Any, U: RowBlocks, out: RowBlocks) -> float:
        """Left-hand side of the system."""
        rows, columns = self.store.put(system.rows), self.store.put(system.columns)
        coupled = self.through_panels(U, _row_product, rows)
        blocks = [
            U.submit_with(coupled, i, _left_side, columns, system.shift)
            for i in range(len(U.blocks))
        ]
        out.become(replace(U, blocks=blocks, steps=()))
        return float(sum(self._each(_inner, U, out)))

    def begin(self, system: Any, U: RowBlocks, R: RowBlocks, D: RowBlocks) -> Sums:
        """Residual and first direction."""
        self.apply(system, U, R)
        self._becomes(R, _rest, system.X, R, system.shift)
        return self.direction(system, R, D, 0.0)

    def direction(self, system: Any, R: RowBlocks, D: RowBlocks, momentum: float) -> Sums:
        """Jacobi-preconditioned direction."""
        degrees = self._degrees(system, R)
        blocks = [
            R.submit_with(D, i, _direction, degrees[i], momentum) for i in range(len(R.blocks))
        ]
        D.become(replace(R, blocks=blocks, steps=()))
        return self._sums(system, R)

    def advance(
        self,
        system: Any,
        U: RowBlocks,
        R: RowBlocks,
        D: RowBlocks,
        image: RowBlocks,
        step: float,
    ) -> Sums:
        """One step along the direction."""
        self._becomes(U, _plus, U, D, step)
        self._becomes(R, _plus, R, image, -step)
        return self._sums(system, R)

    def _sums(self, system: Any, R: RowBlocks) -> Sums:
        """<R, R / diagonal> and <R, R>."""
        degrees = self._degrees(system, R)
        blocks = range(len(R.blocks))
        found = self.store.fetch([R.submit(i, _squares, degrees[i]) for i in blocks])
        return float(sum(a for a, _ in found)), float(sum(b for _, b in found))

    def _degrees(self, system: Any, R: RowBlocks) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Diagonal of the system, as its parts: of the rows of every block and of columns."""
        rows, columns = system.rows.degrees + system.shift, system.columns.degrees
        return [(part, columns) for part in np.split(rows, R.ends[1:-1])]

    def _becomes(
        self, out: RowBlocks, work: Callable[..., Any], A: RowBlocks, B: RowBlocks, factor: float
    ) -> None:
        blocks = [A.submit_with(B, i, work, factor) for i in range(len(A.blocks))]
        out.become(replace(A, blocks=blocks, steps=()))

    def _each(self, work: Callable[..., Any], A: RowBlocks, B: RowBlocks) -> list[Any]:
        return self.store.fetch([A.submit_with(B, i, work) for i in range(len(A.blocks))])


def _row_product(panel: NDArray[Any], operator: Operator) -> NDArray[Any]:
    """P times some columns."""
    image = np.empty_like(panel)
    kernels.shifted_apply(panel, image, np.zeros(panel.shape[1], panel.dtype), *operator)
    return image


def _left_side(block: Any, coupled: Any, columns: Operator, shift: float) -> NDArray[Any]:
    """Shift times a block, plus the block times Q, plus what the other rows add."""
    turned = np.ascontiguousarray(dense(block).T)
    image = np.empty_like(turned)
    shifts = np.full(turned.shape[1], shift, turned.dtype)
    kernels.shifted_apply(turned, image, shifts, *columns)
    return np.asarray(np.add(image.T, coupled, order="C"))


def _inner(block: Any, other: Any) -> float:
    return float(np.einsum("ij,ij->", block, other, dtype=np.float64))


def _rest(block: Any, image: Any, shift: float) -> NDArray[Any]:
    return np.asarray(block * block.dtype.type(shift) - image)


def _plus(block: Any, other: Any, factor: float) -> NDArray[Any]:
    return np.asarray(block + other * block.dtype.type(factor))


def _direction(
    R: Any, D: Any, degrees: tuple[NDArray[Any], NDArray[Any]], momentum: float
) -> NDArray[Any]:
    fresh = R / np.add.outer(*degrees)
    return np.asarray(fresh + D * R.dtype.type(momentum) if momentum else fresh)


def _squares(R: Any, degrees: tuple[NDArray[Any], NDArray[Any]]) -> tuple[float, float]:
    return _inner(R, R / np.add.outer(*degrees)), _inner(R, R)
