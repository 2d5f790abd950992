"""The PyTorch back end: the same few operations on a GPU, or on PyTorch's CPU device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Matrix
from pyrocco.backends.base import Iterates, LaplacianArrays, LinearSystem, Operator, Sums
from pyrocco.backends.kernels.hashing import MIXER, STEPS
from pyrocco.backends.numpy import slices

if TYPE_CHECKING:
    from torch import Tensor

# Columns whose smallest value represents all of them in the first round of selection.
_COLUMNS_TOGETHER = 128
# Share of the free memory that the distances computed at once may take.
_MEMORY_SHARE = 0.1


def import_torch() -> ModuleType:
    """Import PyTorch, or raise an error that says how to install it."""
    try:
        import torch  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ImportError(
            "device='cuda' needs PyTorch, which is not installed: pip install 'pyrocco[gpu]'"
        ) from error
    return torch


def cuda_is_available() -> bool:
    """Whether PyTorch is installed and finds a GPU."""
    try:
        return bool(import_torch().cuda.is_available())
    except ImportError:
        return False


class TorchBackend:
    """PyTorch tensors on a device, "cuda" or "cpu". `BackendOf` documents the methods."""

    name = "torch"
    in_one_place = True

    def __init__(self, device: str = "cuda"):
        self.torch: Any = import_torch()
        if device.startswith("cuda") and not self.torch.cuda.is_available():
            raise RuntimeError(
                "device='cuda' was asked for, but PyTorch finds no CUDA GPU here; "
                "use device='cpu', or device='auto' to use a GPU only if there is one."
            )
        self.device = self.torch.device(device)

    def asarray(self, X: Matrix | Tensor) -> Tensor:
        if sparse.issparse(X):
            csr = sparse.csr_array(X)
            indptr, indices, data = map(self.tensor, (csr.indptr, csr.indices, csr.data))
            return self._csr(indptr, indices, data, csr.shape).to_dense()
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        return self.tensor(np.ascontiguousarray(X, dtype=dtype))

    def operand(self, X: Matrix | Tensor) -> Tensor:
        return self.asarray(X)

    def to_numpy(self, U: Tensor | Dense) -> Dense:
        return U if isinstance(U, np.ndarray) else np.asarray(U.cpu().numpy())

    def narrow(self, U: Tensor) -> Dense:
        return self.to_numpy(U)

    def snapshot(self, U: Tensor) -> Dense:
        return np.array(self.to_numpy(U))

    def dtype(self, U: Tensor) -> np.dtype[Any]:
        return np.dtype(str(U.dtype).removeprefix("torch."))

    def copy(self, U: Tensor) -> Tensor:
        return U.clone()

    def empty_like(self, U: Tensor) -> Tensor:
        return self.torch.empty_like(U)

    def zeros_like(self, U: Tensor) -> Tensor:
        return self.torch.zeros_like(U)

    def squared_norm(self, U: Tensor) -> float:
        return float(self._dots(U, U).sum())

    def squared_distance(self, X: Tensor, U: Tensor) -> float:
        return self.squared_norm(X - U)

    def edge_lengths(self, U: Tensor, heads: Labels, tails: Labels, axis: int) -> Floats:
        """Compute the squared lengths of edges, a batch of edges at a time."""
        rows = U.T if axis else U
        out = np.empty(len(heads))
        size = max(1, 2**26 // max(1, rows.shape[1]))
        for a in range(0, len(heads), size):
            part = slice(a, a + size)
            difference = rows[self.tensor(heads[part])] - rows[self.tensor(tails[part])]
            out[part] = self.to_numpy(difference.square().sum(1, dtype=self.torch.float64))
        return out

    def matrix_norm(self, U: Tensor) -> float:
        """Compute the spectral norm from the smaller of the two Gram matrices."""
        short = U if U.shape[0] <= U.shape[1] else U.T
        gram = (short @ short.T).to(self.torch.float64)
        return float(self.torch.linalg.eigvalsh(gram)[-1].clamp(min=0).sqrt())

    def operator(self, laplacian: LaplacianArrays, strength: float, dtype: DTypeLike) -> Operator:
        values = self.tensor((strength * laplacian.values).astype(dtype))
        degrees = self.tensor((strength * laplacian.degrees).astype(dtype))
        indptr = self.tensor(laplacian.indptr.astype(np.int32))
        return Operator(indptr, self.tensor(laplacian.indices), values, degrees)

    def apply(self, system: LinearSystem[Tensor], U: Tensor, out: Tensor) -> float:
        self.torch.mul(U, system.shift + system.rows.degrees[:, None], out=out)
        out -= self._neighbors(system.rows, U)
        if len(system.columns.values):
            out += U * system.columns.degrees
            out -= self._neighbors(system.columns, U.T.contiguous()).T
        return float(self._dots(U, out).sum())

    def begin(self, system: LinearSystem[Tensor], U: Tensor, R: Tensor, D: Tensor) -> Sums:
        self.apply(system, U, R)
        self.residual(system, R)
        self.torch.div(R, self._diagonal(system), out=D)
        return float(self._dots(R, D).sum()), self.squared_norm(R)

    def residual(self, system: LinearSystem[Tensor], image: Tensor) -> None:
        image.neg_().add_(system.X, alpha=system.shift)

    def direction(
        self, system: LinearSystem[Tensor], R: Tensor, D: Tensor, momentum: float
    ) -> Sums:
        scaled = R / self._diagonal(system)
        D.mul_(momentum).add_(scaled)
        return float(self._dots(R, scaled).sum()), self.squared_norm(R)

    def advance(
        self,
        system: LinearSystem[Tensor],
        U: Tensor,
        R: Tensor,
        D: Tensor,
        image: Tensor,
        step: float,
    ) -> Sums:
        U.add_(D, alpha=step)
        R.add_(image, alpha=-step)
        return float(self._dots(R, R / self._diagonal(system)).sum()), self.squared_norm(R)

    def transpose(self, U: Tensor) -> Tensor:
        return U.T.contiguous()

    def rotate(
        self, U: Tensor, V: Floats, transposed: bool = False, out: Tensor | None = None
    ) -> Tensor:
        rotation = self.tensor(V).to(U.dtype)
        return self.torch.matmul(U, rotation.T if transposed else rotation, out=out)

    def project(self, U: Tensor, Y: Tensor) -> Floats:
        return self.to_numpy(U.T @ Y).astype(np.float64)

    def centred(self, U: Tensor) -> Tensor:
        return U - U.mean(0, dtype=self.torch.float64).to(U.dtype)

    def nearest_centres(self, rows: Tensor, centres: Dense) -> tuple[Labels, Floats]:
        points = self.tensor(centres).to(rows.dtype)
        labels = (0.5 * points.square().sum(1) - rows @ points.T).argmin(1)
        sums = self.torch.zeros(points.shape, dtype=self.torch.float64, device=self.device)
        sums.index_add_(0, labels, rows.to(self.torch.float64))
        return self.to_numpy(labels), self.to_numpy(sums)

    def content_keys(self, X: Tensor, axis: int) -> NDArray[np.uint64]:
        cells = X.to(self.torch.float64).nan_to_num(nan=0.0)
        largest = cells.abs().amax(1 - axis, keepdim=True)
        steps = (cells / largest.masked_fill(largest == 0, 1) * STEPS).round().to(self.torch.int64)
        # PyTorch has no arithmetic for unsigned integers; signed integers have the same bits.
        mixer = int(np.uint64(MIXER).astype(np.int64))
        mixed = steps * mixer
        mixed = (mixed ^ ((mixed >> 32) & 0xFFFFFFFF)) * mixer
        return self.to_numpy(mixed.sum(1 - axis)).astype(np.uint64)

    def over_panels(
        self, work: Callable[..., Any], operator: Operator, shifts: Floats, F: Tensor, Y: Tensor
    ) -> list[Any]:
        """Work on all columns at once."""
        F, panel = F.contiguous(), Y.contiguous()
        outcome = work(operator, shifts, F, panel, self)
        if panel is not Y:
            Y.copy_(panel)
        return [outcome]

    def overwrite(self, U: Tensor, values: Tensor) -> None:
        U.copy_(values)

    def shifted_residual(self, operator: Operator, shifts: Floats, F: Tensor, Y: Tensor) -> Tensor:
        image = self.torch.empty_like(Y)
        self._shifted(operator, shifts, Y, image)
        return F - image

    def shifted_apply(self, operator: Operator, shifts: Floats, Y: Tensor, out: Tensor) -> Floats:
        self._shifted(operator, shifts, Y, out)
        return self.to_numpy(self._dots(Y, out))

    def panel_advance(
        self, operator: Operator, shifts: Floats, arrays: Iterates[Tensor], steps: Floats
    ) -> tuple[Floats, Floats]:
        Y, R, D, image = arrays
        size = self.tensor(steps).to(Y.dtype)
        Y.addcmul_(D, size)
        R.addcmul_(image, size, value=-1)
        weighted = self._dots(R, R / self._shifted_diagonal(operator, shifts, R))
        both = self.torch.stack([weighted, self._dots(R, R)])
        weighted_host, plain_host = self.to_numpy(both)
        return weighted_host, plain_host

    def panel_direction(
        self, operator: Operator, shifts: Floats, R: Tensor, D: Tensor, momenta: Floats
    ) -> None:
        D.mul_(self.tensor(momenta).to(D.dtype))
        D.addcdiv_(R, self._shifted_diagonal(operator, shifts, R))

    def prepare(self, X: Matrix, metric: str) -> Tensor:
        """Bring the rows of a matrix to the device, ready for distances under `metric`."""
        rows = self.asarray(X)
        if metric == "cosine":
            return _unit_rows(self.torch, rows)
        return self.centred(rows) if metric == "euclidean" else rows

    def nearest(
        self, rows: Tensor, queries: Labels, components: Labels, count: int, metric: str
    ) -> tuple[Labels, Floats]:
        """Find the `count` rows of other components nearest to each query, ties by index.

        Batches of distances fit into the free memory. The distances returned are exact. If there
        are too few rows, index -1 and distance inf fill the rest.
        """
        return _NearestRows(self, rows, components, metric).nearest(queries, count)

    def argsort(self, values: Dense) -> Labels:
        """Return the order that sorts the values; equal values keep their order."""
        return self.to_numpy(self.tensor(values).sort(stable=True).indices)

    def tensor(self, values: Dense) -> Tensor:
        """Copy an array to the device."""
        tensor: Tensor = self.torch.from_numpy(np.ascontiguousarray(values))
        return tensor.to(self.device)

    def _dots(self, A: Tensor, B: Tensor) -> Tensor:
        """Compute the inner products of the columns of A and B, summed in float64."""
        return (A * B).sum(0, dtype=self.torch.float64)

    def _neighbors(self, operator: Operator, U: Tensor) -> Tensor:
        """Sum the neighbours of every row, times their edge values."""
        n = len(operator.degrees)
        return self._csr(operator.indptr, operator.indices, operator.values, (n, n)) @ U

    def _csr(
        self, indptr: Tensor, indices: Tensor, values: Tensor, size: tuple[int, int]
    ) -> Tensor:
        with warnings.catch_warnings():
            # PyTorch warns once per process that CSR tensors are in beta and that it does not
            # check the indices; these are sorted and in range by construction.
            warnings.filterwarnings("ignore", message="Sparse (CSR tensor|invariant checks)")
            return self.torch.sparse_csr_tensor(
                indptr, indices, values, size=size, check_invariants=False
            )

    def _diagonal(self, system: LinearSystem[Tensor]) -> Tensor:
        return system.shift + system.rows.degrees[:, None] + system.columns.degrees

    def _shifted(self, operator: Operator, shifts: Floats, Y: Tensor, out: Tensor) -> None:
        self.torch.mul(Y, self._shifted_diagonal(operator, shifts, Y), out=out)
        out -= self._neighbors(operator, Y)

    def _shifted_diagonal(self, operator: Operator, shifts: Floats, Y: Tensor) -> Tensor:
        return operator.degrees[:, None] + self.tensor(shifts).to(Y.dtype)


def _unit_rows(torch: ModuleType, rows: Tensor) -> Tensor:
    """Scale rows to length one; rows of zeros get a direction of their own, an extra column."""
    lengths = rows.norm(dim=1, keepdim=True)
    empty = lengths == 0
    unit = rows / lengths.masked_fill(empty, 1)
    if not empty.any():
        return unit
    with_empty: Tensor = torch.cat([unit, empty.to(rows.dtype)], dim=1)
    return with_empty


class _NearestRows:
    """Search by one product per batch of rows; distances of the candidates are then exact."""

    def __init__(self, backend: TorchBackend, rows: Tensor, components: Labels, metric: str):
        self.torch, self.tensor = backend.torch, backend.tensor
        self.rows, self.metric = rows, metric
        self.components = backend.tensor(components)
        self.alone = bool((np.diff(components) > 0).all())
        if metric != "manhattan":
            # Half the squared distance minus half the square of the row itself, as one product.
            ones = self.torch.ones_like(rows[:, :1])
            self.left = self.torch.cat([-rows, ones], dim=1)
            self.right = self.torch.cat([rows, rows.square().sum(1, keepdim=True) / 2], dim=1).T

    def nearest(self, queries: Labels, count: int) -> tuple[Labels, Floats]:
        """Return indices and exact distances of the `count` nearest, in batches of queries."""
        found = [
            self._nearest(self.tensor(queries[batch]), count)
            for batch in self._batches(len(queries))
        ]
        indices, lengths = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return indices, lengths

    def _batches(self, n_queries: int) -> list[slice]:
        n_rows, n_columns = self.rows.shape
        free = self.torch.cuda.mem_get_info()[0] if self.rows.is_cuda else 2**30
        # The scores, and the differences of the candidates to their row.
        row_bytes = 8 * (n_rows + 32 * n_columns)
        return slices(n_queries, int(max(1, _MEMORY_SHARE * free // row_bytes)))

    def _nearest(self, queries: Tensor, count: int) -> tuple[Labels, Floats]:
        # A few spare candidates, so that exact distances can correct the order of near-ties.
        spare = min(len(self.rows), count + max(5, count // 2))
        if self.metric == "manhattan":
            scores = self.torch.cdist(self.rows[queries], self.rows, p=1)
        else:
            scores = self.left[queries] @ self.right
        self._exclude(scores, queries)
        candidates = self._smallest(scores, spare).sort(1).values
        inside = scores.gather(1, candidates).isinf()
        del scores
        exact = self._exact(queries, candidates)
        order = self._without_rounding(exact).masked_fill(inside, self.torch.inf)
        order = order.sort(dim=1, stable=True).indices[:, :count]
        found = candidates.masked_fill(inside, -1).gather(1, order)
        lengths = exact.masked_fill(inside, self.torch.inf).gather(1, order)
        return found.cpu().numpy(), lengths.cpu().numpy()

    def _without_rounding(self, lengths: Tensor) -> Tensor:
        """Round to about ten digits, as on the CPU, so that ties are broken by index."""
        mantissa, exponent = self.torch.frexp(lengths)
        rounded: Tensor = self.torch.ldexp((mantissa * 2.0**34).round() / 2.0**34, exponent)
        return rounded

    def _exclude(self, scores: Tensor, queries: Tensor) -> None:
        """Exclude rows of the same component: the row itself if it is its own component."""
        if self.alone:
            scores.scatter_(1, queries[:, None], self.torch.inf)
        else:
            same = self.components[queries][:, None] == self.components
            scores.masked_fill_(same, self.torch.inf)

    def _exact(self, queries: Tensor, candidates: Tensor) -> Tensor:
        differences = self.rows[queries][:, None, :] - self.rows[candidates]
        if self.metric == "manhattan":
            return differences.abs().sum(2, dtype=self.torch.float64)
        squared = differences.square().sum(2, dtype=self.torch.float64)
        return squared / 2 if self.metric == "cosine" else squared.sqrt()

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
