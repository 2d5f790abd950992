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
from pyrocco.backends.device_neighbors import ExactNeighbors, nearest_of_rounded
from pyrocco.backends.hashing import MIXER, STEPS
from pyrocco.backends.numpy import by_label

if TYPE_CHECKING:
    from torch import Tensor


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

    def dot(self, A: Tensor, B: Tensor) -> float:
        return float((A * B).sum(dtype=self.torch.float64))

    def averaged(self, U: Tensor, labels: Labels) -> Tensor:
        order, starts = by_label(labels)
        ones = self.torch.ones(len(order), dtype=U.dtype, device=self.device)
        sums = self.weighted_sums(U, self.tensor(starts), self.tensor(order), ones)
        sizes = self.tensor(np.diff(starts)).to(U.dtype)
        return (sums / sizes[:, None]).index_select(0, self.tensor(labels))

    def weighted_sums(self, U: Tensor, starts: Tensor, members: Tensor, weights: Tensor) -> Tensor:
        """Multiply a sparse matrix in CSR format (starts, members, weights) by U.

        Unlike `torch.sparse` and `index_add_`, this adds in a fixed order on a GPU too, so that
        the same call gives the same result. No array of the size of the gathered rows is made.
        """
        return self.torch.nn.functional.embedding_bag(
            members, U, starts, mode="sum", per_sample_weights=weights, include_last_offset=True
        )

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

    def shifted_residual(
        self, operator: Operator, shifts: Floats, F: Tensor, Y: Tensor
    ) -> tuple[Tensor, Floats]:
        image = self.torch.empty_like(Y)
        products = self.shifted_apply(operator, shifts, Y, image)
        return F - image, products

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
        search = ExactNeighbors(self.torch, rows, self.tensor(components), metric)
        alone = bool((np.diff(components) > 0).all())
        found, lengths = search.nearest(self.tensor(queries), count, alone)
        return found.cpu().numpy(), lengths.cpu().numpy()

    def nearest_of_many(
        self, rows: Tensor, count: int, metric: str
    ) -> tuple[Labels, Floats] | None:
        """Find nearly all of the `count` nearest other rows of every row, by rounded products.

        Returns None if a sample shows that more than a hundredth would be missed.
        """
        found = nearest_of_rounded(self.torch, rows, count, metric)
        return None if found is None else (self.to_numpy(found[0]), self.to_numpy(found[1]))

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
