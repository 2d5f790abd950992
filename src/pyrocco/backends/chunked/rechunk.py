"""Re-chunk a matrix from chunks of rows to panels of columns, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from pyrocco._typing import Dense, Labels
from pyrocco.backends.chunked.matrix import ChunkedMatrix, Store, dense

# Number of pieces up to which every source is cut for every target directly.
DIRECT_PIECES = 2000


def exchange(
    store: Store,
    n_sources: int,
    n_targets: int,
    cut: Callable[[int, range], Any],
    join: Callable[[list[Any]], Any],
    cut_again: Callable[[Any, range, int], Any],
    direct_pieces: int = DIRECT_PIECES,
) -> list[list[Any]]:
    """All-to-all exchange: send a piece of every source to every target.

    S sources and T targets make S T pieces. If there are many of them, the scheduler of a
    cluster is the bottleneck. The exchange then takes two steps with about 2 S sqrt(T) pieces:
    each source is cut for ranges of targets, the pieces of several sources for the same range
    are joined, and the joined piece, which is no larger than a source, is cut for each target.

    `cut` starts to cut the piece of one source for a range of targets, `join` is the work that
    joins the pieces of several sources for the same targets, and `cut_again` starts to cut the
    piece for one target from a joined piece. Up to `direct_pieces` nothing is joined. Return the
    pieces of every target, in the order of the sources.
    """
    if n_sources * n_targets <= direct_pieces:
        return _transposed(
            [[cut(i, range(j, j + 1)) for j in range(n_targets)] for i in range(n_sources)]
        )
    target_ranges = _ranges(n_targets, math.isqrt(n_targets))
    source_ranges = _ranges(n_sources, -(-n_sources // len(target_ranges)))
    # One source after the other, because it may have to be loaded.
    cuts = [[cut(i, targets) for targets in target_ranges] for i in range(n_sources)]
    received: list[list[Any]] = [[] for _ in range(n_targets)]
    for targets, pieces in zip(target_ranges, _transposed(cuts), strict=True):
        for sources in source_ranges:
            joined = store.submit(join, [pieces[i] for i in sources])
            for j in targets:
                received[j].append(cut_again(joined, targets, j))
    return received


@dataclass(frozen=True)
class Rechunk:
    """The exchange between chunks of rows and panels of columns."""

    store: Store
    ends: Labels  # first row of each chunk, and the number of rows at the end
    panels: list[slice]  # columns of every panel, from left to right
    direct_pieces: int = DIRECT_PIECES  # number of pieces up to which nothing is joined on the way

    def to_panels(self, U: ChunkedMatrix) -> list[list[Any]]:
        """Return the pieces of every panel, from top to bottom."""

        @cache  # One selection for all chunks, so that the matrix of a product is stored once.
        def selected(panels: range) -> ChunkedMatrix:
            return U.columns(_joined(self.panels, panels))

        def columns(piece: object, panels: range, j: int) -> Any:
            within = _within(self.panels[j], self.panels[panels.start])
            return self.store.submit(_columns_of, piece, within)

        return exchange(
            self.store,
            len(U.chunks),
            len(self.panels),
            cut=lambda i, panels: selected(panels).submit(i, dense),
            join=np.concatenate,
            cut_again=columns,
            direct_pieces=self.direct_pieces,
        )

    def to_chunks(self, panels: list[Any]) -> list[list[Any]]:
        """Return the pieces of every chunk of rows, from left to right."""
        spans = [slice(a, b) for a, b in pairwise(self.ends.tolist())]

        def rows(panel: object, span: slice) -> Any:
            return self.store.submit(_rows_of, panel, span)

        return exchange(
            self.store,
            len(panels),
            len(spans),
            cut=lambda j, chunks: rows(panels[j], _joined(spans, chunks)),
            join=np.hstack,
            cut_again=lambda piece, chunks, i: rows(piece, _within(spans[i], spans[chunks.start])),
            direct_pieces=self.direct_pieces,
        )


def _rows_of(panel: Dense | tuple[Dense, list[Any]], rows: slice) -> Dense:
    """Copy some rows of a panel, or of the solution in the result of work on a panel."""
    whole = panel[0] if isinstance(panel, tuple) else panel
    return np.array(whole[rows])


def _columns_of(piece: Dense, columns: slice) -> Dense:
    return np.array(piece[:, columns])


def _ranges(count: int, n_ranges: int) -> list[range]:
    """Split 0, 1, ... into ranges of about the same length."""
    cuts = np.linspace(0, count, n_ranges + 1).round().astype(int).tolist()
    return [range(a, b) for a, b in pairwise(cuts)]


def _transposed(table: list[list[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*table, strict=True)]


def _joined(parts: list[slice], which: range) -> slice:
    return slice(parts[which.start].start, parts[which.stop - 1].stop)


def _within(part: slice, whole: slice) -> slice:
    return slice(part.start - whole.start, part.stop - whole.start)
