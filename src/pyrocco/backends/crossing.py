"""From blocks of rows to panels of columns, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import blockwork
from pyrocco.backends.exchange import FEW, exchange
from pyrocco.backends.rowblocks import RowBlocks, Store, dense


@dataclass(frozen=True)
class Crossing:
    """Where blocks of rows and panels of columns meet: every block has a piece of every panel.

    Parameters
    ----------
    store : Store
        Where the blocks lie.
    ends : ndarray of int
        Row at which each block begins, and the number of rows at the end.
    panels : list of slice
        Columns of every panel, from left to right.
    few : int
        Pieces up to which nothing is joined on the way.

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
    few: int = FEW

    def cut(self, U: RowBlocks) -> list[list[Any]]:
        """Pieces of every panel, from top to bottom."""

        @cache  # One strip for all blocks: what they are multiplied by is laid down once.
        def strip(panels: range) -> RowBlocks:
            return U.columns(_joined(self.panels, panels))

        def again(piece: Any, panels: range, j: int) -> Any:
            columns = _within(self.panels[j], self.panels[panels.start])
            return self.store.submit(blockwork.columns_of, piece, columns)

        return exchange(
            self.store,
            len(U.blocks),
            len(self.panels),
            cut=lambda i, panels: strip(panels).submit(i, dense),
            join=np.concatenate,
            cut_again=again,
            few=self.few,
        )

    def back(self, solved: list[Any]) -> list[list[Any]]:
        """Strips of every block, from left to right, of panels or of what work on them left."""
        spans = [slice(a, b) for a, b in pairwise(self.ends.tolist())]

        def rows(panel: Any, span: slice) -> Any:
            return self.store.submit(blockwork.rows_of, panel, span)

        return exchange(
            self.store,
            len(solved),
            len(spans),
            cut=lambda j, blocks: rows(solved[j], _joined(spans, blocks)),
            join=np.hstack,
            cut_again=lambda piece, blocks, i: rows(piece, _within(spans[i], spans[blocks.start])),
            few=self.few,
        )


def _joined(parts: list[slice], which: range) -> slice:
    return slice(parts[which.start].start, parts[which.stop - 1].stop)


def _within(part: slice, whole: slice) -> slice:
    return slice(part.start - whole.start, part.stop - whole.start)
