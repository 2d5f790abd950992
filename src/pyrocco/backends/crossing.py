"""From blocks of rows to panels of columns, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import blockwork
from pyrocco.backends.rowblocks import RowBlocks, Store, dense

# Pieces of work up to which every block is cut into every panel at once.
_FEW = 2000


@dataclass(frozen=True)
class Crossing:
    """Where blocks of rows and panels of columns meet.

    Every block has a piece of every panel. Many blocks and many panels make so many pieces that
    workers are busy with keeping account of them; then some blocks, and some panels, travel
    together: a block is cut into wide strips, strips of a few blocks are joined, and what is
    joined is cut into panels. With B blocks and P panels that is about 2 B sqrt(P) pieces.

    Parameters
    ----------
    store : Store
        Where the blocks lie.
    ends : ndarray of int
        Row at which each block begins, and the number of rows at the end.
    panels : list of slice
        Columns of every panel, from left to right.
    few : int
        Pieces up to which they are cut without strips.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> X = RowBlocks.cut(np.arange(8.0).reshape(4, 2), [0, 3, 4], ScratchStore())
    >>> crossing = Crossing(X.store, X.ends, [slice(0, 1), slice(1, 2)])
    >>> [np.concatenate(X.store.fetch(pieces)).ravel().tolist() for pieces in crossing.cut(X)]
    [[0.0, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]]
    """

    store: Store
    ends: NDArray[np.intp]
    panels: list[slice]
    few: int = _FEW

    def cut(self, U: RowBlocks) -> list[list[Any]]:
        """Pieces of every panel, from top to bottom."""
        if self._is_direct:
            return self._strips(U, self.panels)
        found: list[list[Any]] = [[] for _ in self.panels]
        for strip, pieces in zip(self._bundles, self._strips(U, self._wide), strict=True):
            for group in self._groups:
                joined = self.store.submit(np.concatenate, [pieces[i] for i in group])
                for j in strip:
                    inner = _within(self.panels[j], self.panels[strip[0]].start)
                    found[j].append(self.store.submit(blockwork.columns_of, joined, inner))
        return found

    def back(self, solved: list[Any]) -> list[list[Any]]:
        """Strips of every block, from left to right, of panels or of what work on them left."""
        if self._is_direct:
            return _turned([self._rows(panel, self._spans) for panel in solved])
        tall = [slice(self._spans[g[0]].start, self._spans[g[-1]].stop) for g in self._groups]
        pieces = [self._rows(panel, tall) for panel in solved]
        found: list[list[Any]] = [[] for _ in self._spans]
        for place, group in enumerate(self._groups):
            for strip in self._bundles:
                joined = self.store.submit(np.hstack, [pieces[j][place] for j in strip])
                inner = [_within(self._spans[i], tall[place].start) for i in group]
                for i, piece in zip(group, self._rows(joined, inner), strict=True):
                    found[i].append(piece)
        return found

    def _strips(self, U: RowBlocks, columns: list[slice]) -> list[list[Any]]:
        """Blocks cut up, each at once: it may have to be loaded for it."""
        parts = [U.columns(strip) for strip in columns]
        return _turned([[part.submit(i, dense) for part in parts] for i in range(len(U.blocks))])

    def _rows(self, panel: Any, spans: list[slice]) -> list[Any]:
        return [self.store.submit(blockwork.rows_of, panel, span) for span in spans]

    @property
    def _is_direct(self) -> bool:
        return len(self._spans) * len(self.panels) <= self.few

    @property
    def _spans(self) -> list[slice]:
        """Rows of every block."""
        return [slice(int(a), int(b)) for a, b in zip(self.ends, self.ends[1:], strict=False)]

    @property
    def _bundles(self) -> list[Sequence[int]]:
        """Panels that travel together."""
        return _dealt(len(self.panels), math.isqrt(len(self.panels)))

    @property
    def _wide(self) -> list[slice]:
        """Columns of every bundle of panels."""
        return [slice(self.panels[b[0]].start, self.panels[b[-1]].stop) for b in self._bundles]

    @property
    def _groups(self) -> list[Sequence[int]]:
        """Blocks that travel together: as many as there are strips, so no more than a block."""
        return _dealt(len(self._spans), -(-len(self._spans) // len(self._bundles)))


def _dealt(count: int, n_parts: int) -> list[Sequence[int]]:
    """Numbers 0, 1, ... in so many stretches of about the same length."""
    cuts = np.linspace(0, count, n_parts + 1).round().astype(int)
    return [range(a, b) for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)]


def _within(part: slice, start: int) -> slice:
    return slice(part.start - start, part.stop - start)


def _turned(table: list[list[Any]]) -> list[list[Any]]:
    return [list(line) for line in zip(*table, strict=True)]
