"""Nearest neighbours on PyTorch tensors: blocks of scores, then an exact second look."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Columns whose least value stands for all of them in the first round of selection.
_GROUP = 128
# Share of the free memory that one block of distances may take.
_BLOCK_SHARE = 0.1


def unit_rows(torch: ModuleType, rows: Any) -> Any:
    """Rows of length one; rows of zeros get a direction of their own, an extra column."""
    lengths = rows.norm(dim=1, keepdim=True)
    empty = lengths == 0
    unit = rows / lengths.masked_fill(empty, 1)
    return torch.cat([unit, empty.to(rows.dtype)], dim=1) if empty.any() else unit


class Scores:
    """Values that order the distances from some rows to all rows of other groups.

    Parameters
    ----------
    torch : module
        PyTorch, whose import has its home in the back end.
    rows : tensor of shape (n_rows, n_columns)
        The rows, ready for distances under `metric`.
    groups : ndarray of int
        Group of every row; neighbours come from other groups.
    metric : {"euclidean", "manhattan", "cosine"}
        Distance between rows.
    """

    def __init__(self, torch: ModuleType, rows: Any, groups: NDArray[np.intp], metric: str):
        self.torch, self.rows, self.metric = torch, rows, metric
        self.groups = self._tensor(groups)
        self.alone = bool((np.diff(groups) > 0).all())
        if metric != "manhattan":
            # Half the squared distance less half the row's own square, as one product.
            ones = self.torch.ones_like(rows[:, :1])
            self.left = self.torch.cat([-rows, ones], dim=1)
            self.right = self.torch.cat([rows, rows.square().sum(1, keepdim=True) / 2], dim=1).T

    def nearest(
        self, asking: NDArray[np.intp], count: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Indices and exact distances of the `count` nearest, in blocks that fit the memory."""
        parts = [
            self._nearest(self._tensor(asking[block]), count)
            for block in self._blocks(len(asking))
        ]
        indices, lengths = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return indices, lengths

    def _blocks(self, n_asking: int) -> Iterator[slice]:
        n_rows, n_columns = self.rows.shape
        free = self.torch.cuda.mem_get_info()[0] if self.rows.is_cuda else 2**30
        # A block of scores, and the differences of the candidates to their row.
        row_bytes = 8 * (n_rows + 32 * n_columns)
        size = int(max(1, _BLOCK_SHARE * free // row_bytes))
        for start in range(0, n_asking, size):
            yield slice(start, min(start + size, n_asking))

    def _tensor(self, values: NDArray[Any]) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.rows.device)

    def _nearest(self, asking: Any, count: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        # A few spare candidates, so that the exact second look can put near-ties right.
        spare = min(len(self.rows), count + max(5, count // 2))
        if self.metric == "manhattan":
            scores = self.torch.cdist(self.rows[asking], self.rows, p=1)
        else:
            scores = self.left[asking] @ self.right
        self._exclude(scores, asking)
        candidates = self._smallest(scores, spare).sort(1).values
        inside = scores.gather(1, candidates).isinf()
        del scores
        exact = self._exact(asking, candidates)
        order = self._without_rounding(exact).masked_fill(inside, self.torch.inf)
        order = order.sort(dim=1, stable=True).indices[:, :count]
        found = candidates.masked_fill(inside, -1).gather(1, order)
        lengths = exact.masked_fill(inside, self.torch.inf).gather(1, order)
        return found.cpu().numpy(), lengths.cpu().numpy()

    def _without_rounding(self, lengths: Any) -> Any:
        """Some ten digits, as on the CPU, so that ties are broken by index."""
        mantissa, exponent = self.torch.frexp(lengths)
        return self.torch.ldexp((mantissa * 2.0**34).round() / 2.0**34, exponent)

    def _exclude(self, scores: Any, asking: Any) -> None:
        """Rule out rows of the same group; when each row is its own group, only itself."""
        if self.alone:
            scores.scatter_(1, asking[:, None], self.torch.inf)
        else:
            same = self.groups[asking][:, None] == self.groups
            scores.masked_fill_(same, self.torch.inf)

    def _exact(self, asking: Any, candidates: Any) -> Any:
        differences = self.rows[asking][:, None, :] - self.rows[candidates]
        if self.metric == "manhattan":
            return differences.abs().sum(2, dtype=self.torch.float64)
        squared = differences.square().sum(2, dtype=self.torch.float64)
        return squared / 2 if self.metric == "cosine" else squared.sqrt()

    def _smallest(self, scores: Any, count: int) -> Any:
        """Indices of the least values of each row: the best groups first, then inside them.

        A plain top-k reads wide rows many times; the least value of every group of columns
        is one pass, and the least `count` values lie in the `count` groups of least value.
        """
        n_rows, width = scores.shape
        if width <= 4 * _GROUP * count:
            return scores.topk(count, largest=False).indices
        whole = width // _GROUP * _GROUP
        groups = scores[:, :whole].view(n_rows, -1, _GROUP).amin(2)
        chosen = groups.topk(count, largest=False, sorted=False).indices
        within = self.torch.arange(_GROUP, device=scores.device)
        columns = (chosen[:, :, None] * _GROUP + within).view(n_rows, -1)
        rest = self.torch.arange(whole, width, device=scores.device).expand(n_rows, -1)
        columns = self.torch.cat([columns, rest], dim=1)
        best = scores.gather(1, columns).topk(count, largest=False).indices
        return columns.gather(1, best)
