"""Nearest neighbours of rows that are PyTorch tensors, on a GPU or on the CPU.

`ExactNeighbors` compares rows in their own precision. `RoundedNeighbors` compares rounded rows by
the products that a GPU computes fastest, and then measures the few best in full precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pyrocco.backends.numpy import slices

if TYPE_CHECKING:
    from torch import Tensor

# Indices of neighbours and their distances.
Found = tuple["Tensor", "Tensor"]

# Columns whose smallest value represents all of them in the first round of selection.
_COLUMNS_TOGETHER = 128
# Share of the free memory that the distances computed at once may take.
_MEMORY_SHARE = 0.1
# Memory that they may take on the CPU.
_CPU_BYTES = 2**30
# Rows whose distances are computed at once, at most, and the number of these distances, at most:
# positions in larger arrays need 64 bits, which is slower.
_BLOCK_ROWS, _BLOCK_SCORES = 8192, 2**31
# Buckets have a multiple of this number of columns, which makes reading them efficient.
_BUCKET_STEP = 32
# The last of the 24 binary digits of float32 that TF32 does not have.
_DROPPED_BITS = 13
# Columns of products are a multiple of this number: others are computed more slowly.
_ALIGNED = 8
# Rows whose neighbours are compared with the true ones, and the least share that must be found.
_SAMPLE_ROWS, LEAST_RECALL = 256, 0.99
# Rows that the sample is compared with at the same time.
_SAMPLE_OTHERS = 2**16


def free_bytes(torch: ModuleType, rows: Tensor) -> int:
    """Return the free memory of the device of `rows`; on the CPU, a fixed size."""
    return int(torch.cuda.mem_get_info(rows.device)[0]) if rows.is_cuda else _CPU_BYTES


@dataclass(frozen=True)
class Lengths:
    """Distances of given pairs of rows in full precision, and the order that they give."""

    torch: Any
    rows: Tensor
    metric: str

    def nearest(self, queries: Tensor, candidates: Tensor, absent: Tensor, count: int) -> Found:
        """Return the `count` nearest candidates of every query, ties by index.

        Candidates that are `absent` become index -1 and distance inf.
        """
        candidates, order = candidates.sort(1)
        absent = absent.gather(1, order)
        exact = self._between(queries, candidates)
        order = self._without_rounding(exact).masked_fill(absent, self.torch.inf)
        order = order.sort(dim=1, stable=True).indices[:, :count]
        found = candidates.masked_fill(absent, -1).gather(1, order)
        return found, exact.masked_fill(absent, self.torch.inf).gather(1, order)

    def _between(self, queries: Tensor, candidates: Tensor) -> Tensor:
        differences = self.rows[queries][:, None, :] - self.rows[candidates]
        if self.metric == "manhattan":
            return differences.abs().sum(2, dtype=self.torch.float64)
        squared = differences.square().sum(2, dtype=self.torch.float64)
        return squared / 2 if self.metric == "cosine" else squared.sqrt()

    def _without_rounding(self, lengths: Tensor) -> Tensor:
        """Round to about ten digits, as on the CPU, so that ties are broken by index."""
        mantissa, exponent = self.torch.frexp(lengths)
        return self.torch.ldexp((mantissa * 2.0**34).round() / 2.0**34, exponent)


class ExactNeighbors:
    """Search by one product per batch of rows; distances of the candidates are then exact."""

    def __init__(self, torch: ModuleType, rows: Tensor, components: Tensor, metric: str):
        self.torch: Any = torch
        self.rows, self.metric, self.components = rows, metric, components
        self.lengths = Lengths(torch, rows, metric)
        if metric != "manhattan":
            # Half the squared distance minus half the square of the row itself, as one product.
            ones = self.torch.ones_like(rows[:, :1])
            self.left = self.torch.cat([-rows, ones], dim=1)
            self.right = self.torch.cat([rows, rows.square().sum(1, keepdim=True) / 2], dim=1).T

    def nearest(self, queries: Tensor, count: int, alone: bool) -> Found:
        """Return indices and exact distances of the `count` nearest rows of other components.

        `alone` says that every row is a component of its own.
        """
        batches = self._batches(len(queries))
        found = [self._nearest(queries[batch], count, alone) for batch in batches]
        indices, lengths = (self.torch.cat(parts) for parts in zip(*found, strict=True))
        return indices, lengths

    def _batches(self, n_queries: int) -> list[slice]:
        n_rows, n_columns = self.rows.shape
        # The scores, and the differences of the candidates to their row.
        row_bytes = 8 * (n_rows + 32 * n_columns)
        fitting = _MEMORY_SHARE * free_bytes(self.torch, self.rows) // row_bytes
        return slices(n_queries, int(max(1, fitting)))

    def _nearest(self, queries: Tensor, count: int, alone: bool) -> Found:
        # A few spare candidates, so that exact distances can correct the order of near-ties.
        spare = min(len(self.rows), count + max(5, count // 2))
        if self.metric == "manhattan":
            scores = self.torch.cdist(self.rows[queries], self.rows, p=1)
        else:
            scores = self.left[queries] @ self.right
        self._exclude(scores, queries, alone)
        candidates = self._smallest(scores, spare)
        absent = scores.gather(1, candidates).isinf()
        del scores
        return self.lengths.nearest(queries, candidates, absent, count)

    def _exclude(self, scores: Tensor, queries: Tensor, alone: bool) -> None:
        """Exclude rows of the same component: the row itself if it is its own component."""
        if alone:
            scores.scatter_(1, queries[:, None], self.torch.inf)
        else:
            same = self.components[queries][:, None] == self.components
            scores.masked_fill_(same, self.torch.inf)

    def _smallest(self, scores: Tensor, count: int) -> Tensor:
        """Return the indices of the smallest values of each row.

        A plain top-k reads wide rows many times. The minimum over every `_COLUMNS_TOGETHER`
        columns takes one pass, and the `count` smallest values lie where the `count` smallest
        minima are.
        """
        n_rows, width = scores.shape
        if width <= 4 * _COLUMNS_TOGETHER * count:
            return scores.topk(count, largest=False).indices
        whole = width // _COLUMNS_TOGETHER * _COLUMNS_TOGETHER
        minima = scores[:, :whole].view(n_rows, -1, _COLUMNS_TOGETHER).amin(2)
        chosen = minima.topk(count, largest=False, sorted=False).indices
        within = self.torch.arange(_COLUMNS_TOGETHER, device=scores.device)
        columns = (chosen[:, :, None] * _COLUMNS_TOGETHER + within).view(n_rows, -1)
        rest = self.torch.arange(whole, width, device=scores.device).expand(n_rows, -1)
        columns = self.torch.cat([columns, rest], dim=1)
        best = scores.gather(1, columns).topk(count, largest=False).indices
        return columns.gather(1, best)


def nearest_of_rounded(
    torch: ModuleType, rows: Tensor, count: int, metric: str, budget: int | None = None
) -> Found | None:
    """Find the `count` nearest other rows of every row among rounded rows.

    The search is first tried on a sample of rows, whose true neighbours are computed. Returns None
    if it misses more than a hundredth of them. `budget` is the memory, in bytes, for one block of
    distances: by default, a tenth of what is free.
    """
    search = RoundedNeighbors(torch, rows, count, metric, budget)
    if search.recall() < LEAST_RECALL:
        return None
    return search.nearest(torch.arange(len(rows), device=rows.device))


class RoundedNeighbors:
    """Search among rows rounded to the 11 binary digits that TF32 products read.

    Squares are those of the rounded rows, too. The distance between two near rows is therefore
    nearly that between the original rows, however far from the origin they are. Selection is
    complete: the best columns lie in the buckets with the best minima, in whatever order the rows
    are. Only rounding can lose a neighbour. Distances of the candidates are exact, and the same
    rows give the same neighbours in every run.
    """

    def __init__(
        self,
        torch: ModuleType,
        rows: Tensor,
        count: int,
        metric: str,
        budget: int | None = None,
    ):
        if metric == "manhattan":
            raise ValueError("No product gives Manhattan distances; use ExactNeighbors.")
        self.torch: Any = torch
        self.rows, self.count, self.metric, self.budget = rows, count, metric, budget
        self.n_candidates = min(len(rows), 2 * count + 4)
        self.bucket = bucket_columns(len(rows), self.n_candidates)
        self.lengths = Lengths(torch, rows, metric)

    def nearest(self, queries: Tensor) -> Found:
        """Return indices and exact distances of the nearest other rows of each query."""
        found = [
            self._nearest(queries[block]) for block in slices(len(queries), self.block_rows())
        ]
        indices, lengths = (self.torch.cat(parts) for parts in zip(*found, strict=True))
        return indices, lengths

    def recall(self) -> float:
        """Return the share of the nearest rows that is found for a sample of rows.

        It counts distances and not indices: of repeated rows, any are as good.
        """
        n_rows = len(self.rows)
        size = min(n_rows, _SAMPLE_ROWS)
        drawn = np.sort(np.random.default_rng(0).choice(n_rows, size, replace=False))
        sample = self.torch.from_numpy(drawn).to(self.rows.device)
        found = self.nearest(sample)[1]
        squared = 2 * found if self.metric == "cosine" else found.square()
        farthest, uncertain = self._farthest(sample)
        near = squared <= (farthest * (1 + 1e-5) + uncertain)[:, None]
        return float(near.to(self.torch.float64).mean())

    def block_rows(self) -> int:
        """Return how many rows fit into the memory at the same time: a power of two.

        Sizes that follow the free memory exactly could differ from run to run, and products of
        different sizes in their rounding errors.
        """
        n_rows, n_columns = self.rows.shape
        n_buckets = -(-n_rows // self.bucket)
        selected = n_buckets + 4 * self.n_candidates * self.bucket
        differences = 4 * self.n_candidates * n_columns * self.rows.element_size()
        row_bytes = 4 * (n_buckets * self.bucket + selected) + differences
        budget = self.budget
        if budget is None:
            budget = int(_MEMORY_SHARE * free_bytes(self.torch, self.rows))
        fitting = min(_BLOCK_ROWS, _BLOCK_SCORES // n_rows, budget // row_bytes)
        return 2 ** (max(1, fitting).bit_length() - 1)

    def _nearest(self, queries: Tensor) -> Found:
        candidates, absent = self.candidates(self.scores(queries))
        return self.lengths.nearest(queries, candidates, absent, self.count)

    def scores(self, queries: Tensor) -> Tensor:
        """Return half the squared distances minus half the squares of the queries."""
        left = self._left(queries)
        with tensor_float_products(self.torch):
            scores = left @ self._right.T
        return scores.scatter_(1, queries[:, None], self.torch.inf)

    def candidates(self, scores: Tensor) -> Found:
        """Return the columns with the smallest scores, and which of them are no rows."""
        buckets = scores.view(len(scores), -1, self.bucket)
        count = min(self.n_candidates, buckets.shape[1])
        chosen = buckets.amin(2).topk(count, largest=False, sorted=False).indices
        members = buckets.gather(1, chosen[:, :, None].expand(-1, -1, self.bucket)).flatten(1)
        best = members.topk(self.n_candidates, largest=False, sorted=False)
        columns = chosen.gather(1, best.indices // self.bucket) * self.bucket
        absent = best.values.isinf()
        return (columns + best.indices % self.bucket).masked_fill(absent, 0), absent

    @cached_property
    def _exponent(self) -> int:
        """Exponent by which rows are scaled, so that no square leaves the range of float32."""
        largest = float(self.rows.abs().max()) if self.rows.numel() else 0.0
        return int(np.frexp(largest)[1])

    def _rounded(self, rows: Tensor) -> Tensor:
        return to_tensor_float((rows * 2.0**-self._exponent).to(self.torch.float32), self.torch)

    def _left(self, queries: Tensor) -> Tensor:
        rounded = self._rounded(self.rows[queries])
        return self._aligned([-rounded, rounded.new_ones(len(queries), 3)])

    @cached_property
    def _right(self) -> Tensor:
        rounded = self._rounded(self.rows)
        right = self._aligned([rounded, self._half_squares(rounded)])
        # Columns that fill the last bucket and are no rows.
        more = right.new_zeros(-len(right) % self.bucket, right.shape[1])
        more[:, rounded.shape[1]] = self.torch.inf
        return self.torch.cat([right, more])

    def _half_squares(self, rounded: Tensor) -> Tensor:
        """Return half the squares of rows as the sum of three rounded numbers."""
        rest, thirds = rounded.square().sum(1, dtype=self.torch.float64) / 2, []
        for _ in range(3):
            thirds.append(to_tensor_float(rest.to(self.torch.float32), self.torch))
            rest = rest - thirds[-1]
        return self.torch.stack(thirds, dim=1)

    def _aligned(self, columns: list[Tensor]) -> Tensor:
        """Join columns, and add columns of zeros up to a number that is computed efficiently."""
        width = sum(part.shape[1] for part in columns)
        zeros = columns[0].new_zeros(len(columns[0]), -width % _ALIGNED)
        return self.torch.cat([*columns, zeros], dim=1)

    def _farthest(self, sample: Tensor) -> Found:
        """Return the true squared distances of the last neighbours, and how uncertain they are.

        They are computed in double precision, from some rows at a time.
        """
        queries = self.rows[sample].to(self.torch.float64)
        own = queries.square().sum(1)
        best = queries.new_zeros(len(sample), 0)
        for part in slices(len(self.rows), _SAMPLE_OTHERS):
            others = self.rows[part].to(self.torch.float64)
            squared = others.square().sum(1) - 2 * (queries @ others.T)
            numbers = self.torch.arange(part.start, part.stop, device=sample.device)
            squared.masked_fill_(sample[:, None] == numbers, self.torch.inf)
            both = self.torch.cat([best, squared], dim=1)
            best = both.topk(min(self.count, both.shape[1]), largest=False).values
        farthest = (best.amax(1) + own).clamp(min=0)
        return farthest, 1e-12 * own


def bucket_columns(n_rows: int, n_candidates: int) -> int:
    """Return how many columns form a bucket.

    Selection reads one value per bucket and then all columns of `n_candidates` buckets: the least
    if both are equally many.
    """
    ideal = (n_rows / n_candidates) ** 0.5
    return _BUCKET_STEP * max(1, round(ideal / _BUCKET_STEP))


@contextmanager
def tensor_float_products(torch: ModuleType) -> Iterator[None]:
    """Let a GPU compute float32 products in TF32, and restore the setting of the process."""
    settings: Any = torch.backends.cuda.matmul
    # PyTorch 2.9 and later have both settings, and refuse the old one after the new one was used.
    new = hasattr(settings, "fp32_precision")
    name, value = ("fp32_precision", "tf32") if new else ("allow_tf32", True)
    before = getattr(settings, name)
    setattr(settings, name, value)
    try:
        yield
    finally:
        setattr(settings, name, before)


def to_tensor_float(values: Tensor, torch: Any) -> Tensor:
    """Round float32 to the nearest numbers of 11 binary digits, as TF32 has them."""
    bits = values.contiguous().view(torch.int32)
    half = 1 << (_DROPPED_BITS - 1)
    rounded: Tensor = ((bits + half) & -(1 << _DROPPED_BITS)).view(torch.float32)
    return rounded
