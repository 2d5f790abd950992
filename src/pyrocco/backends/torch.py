"""The PyTorch back end: the same few operations on a GPU, or on PyTorch's CPU device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.base import Operator
from pyrocco.backends.kernels.bits import MIXER, STEPS
from pyrocco.backends.torch_search import Scores, unit_rows


def import_torch() -> ModuleType:
    """PyTorch, or an error that says how to get it."""
    try:
        import torch  # noqa: PLC0415 - the one home of an optional package
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
    """Arrays are PyTorch tensors on `device` (see `Backend` for what each method means).

    Parameters
    ----------
    device : str
        ``"cuda"``, or ``"cpu"`` to run the same code without a GPU.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("torch")
    >>> from pyrocco import ROCCO
    >>> from pyrocco.backends.torch import TorchBackend
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((60, 50), 3, noise=5, random_state=0).X
    >>> ROCCO(device=TorchBackend("cpu")).fit(X).n_row_clusters_
    3
    """

    name = "torch"
    in_one_place = True

    def __init__(self, device: str = "cuda"):
        self.torch: Any = import_torch()
        if device.startswith("cuda") and not self.torch.cuda.is_available():
            raise RuntimeError(
                "device='cuda' was asked for, but PyTorch finds no CUDA GPU here; "
                "use device='cpu', or device='auto' to take a GPU only where there is one."
            )
        self.device = self.torch.device(device)

    def asarray(self, X: Any) -> Any:
        """Dense tensor on the device."""
        if sparse.issparse(X):
            csr = X.tocsr()
            indptr, indices, data = map(self._tensor, (csr.indptr, csr.indices, csr.data))
            return self._csr(indptr, indices, data, X.shape).to_dense()
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        return self._tensor(np.ascontiguousarray(X, dtype=dtype))

    def to_numpy(self, U: Any) -> NDArray[Any]:
        """Array in main memory."""
        return np.asarray(U.cpu().numpy() if self.torch.is_tensor(U) else U)

    def narrow(self, U: Any) -> NDArray[Any]:
        """Array in main memory."""
        return self.to_numpy(U)

    def kept(self, U: Any) -> NDArray[Any]:
        """A copy that outlives what happens to `U`, as a checkpoint holds it."""
        return np.array(self.to_numpy(U))

    def dtype(self, U: Any) -> np.dtype[Any]:
        """NumPy's name of the type of `U`."""
        return np.dtype(str(U.dtype).removeprefix("torch."))

    def copy(self, U: Any) -> Any:
        """Return a copy."""
        return U.clone()

    def empty_like(self, U: Any) -> Any:
        """Return a tensor like `U`."""
        return self.torch.empty_like(U)

    def zeros_like(self, U: Any) -> Any:
        """Return zeros like `U`."""
        return self.torch.zeros_like(U)

    def squared_norm(self, U: Any) -> float:
        """Squared Frobenius norm."""
        return float(self._dots(U, U).sum())

    def squared_distance(self, X: Any, U: Any) -> float:
        """Squared Frobenius distance."""
        return self.squared_norm(X - U)

    def edge_lengths(
        self, U: Any, heads: NDArray[np.intp], tails: NDArray[np.intp], axis: int
    ) -> NDArray[np.float64]:
        """Squared lengths of edges, by blocks of edges."""
        rows = U.T if axis else U
        out = np.empty(len(heads))
        size = max(1, 2**26 // max(1, rows.shape[1]))
        for a in range(0, len(heads), size):
            part = slice(a, a + size)
            difference = rows[self._tensor(heads[part])] - rows[self._tensor(tails[part])]
            out[part] = self.to_numpy(difference.square().sum(1, dtype=self.torch.float64))
        return out

    def matrix_norm(self, U: Any) -> float:
        """Spectral norm, from the smaller of the two Gram matrices."""
        short = U if U.shape[0] <= U.shape[1] else U.T
        gram = (short @ short.T).to(self.torch.float64)
        return float(self.torch.linalg.eigvalsh(gram)[-1].clamp(min=0).sqrt())

    def operator(self, laplacian: Any, strength: float, dtype: Any) -> Operator:
        """Scaled Laplacian on the device; `values` is the whole sparse matrix."""
        values = self._tensor((strength * laplacian.values).astype(dtype))
        degrees = self._tensor((strength * laplacian.degrees).astype(dtype))
        indptr = self._tensor(laplacian.indptr.astype(np.int32))
        return Operator(indptr, self._tensor(laplacian.indices), values, degrees)

    def apply(self, system: Any, U: Any, out: Any) -> float:
        """Left-hand side of the system."""
        self.torch.mul(U, system.shift + system.rows.degrees[:, None], out=out)
        out -= self._neighbors(system.rows, U)
        if len(system.columns.values):
            out += U * system.columns.degrees
            out -= self._neighbors(system.columns, U.T.contiguous()).T
        return float(self._dots(U, out).sum())

    def begin(self, system: Any, U: Any, R: Any, D: Any) -> tuple[float, float]:
        """Residual and first direction."""
        self.apply(system, U, R)
        self.residual(system, R)
        self.torch.div(R, self._diagonal(system), out=D)
        return float(self._dots(R, D).sum()), self.squared_norm(R)

    def residual(self, system: Any, image: Any) -> None:
        """Right-hand side minus `image`."""
        image.neg_().add_(system.X, alpha=system.shift)

    def direction(self, system: Any, R: Any, D: Any, momentum: float) -> tuple[float, float]:
        """Jacobi-preconditioned direction."""
        scaled = R / self._diagonal(system)
        D.mul_(momentum).add_(scaled)
        return float(self._dots(R, scaled).sum()), self.squared_norm(R)

    def advance(
        self, system: Any, U: Any, R: Any, D: Any, image: Any, step: float
    ) -> tuple[float, float]:
        """One step along the direction."""
        U.add_(D, alpha=step)
        R.add_(image, alpha=-step)
        return float(self._dots(R, R / self._diagonal(system)).sum()), self.squared_norm(R)

    def transpose(self, U: Any) -> Any:
        """Row-major transpose."""
        return U.T.contiguous()

    def rotate(
        self, U: Any, V: NDArray[np.float64], transposed: bool = False, out: Any = None
    ) -> Any:
        """Product with a small matrix."""
        rotation = self._tensor(V).to(U.dtype)
        return self.torch.matmul(U, rotation.T if transposed else rotation, out=out)

    def project(self, U: Any, Y: Any) -> NDArray[np.float64]:
        """U^T Y."""
        return self.to_numpy(U.T @ Y).astype(np.float64)

    def centred(self, U: Any) -> Any:
        """Columns less their means."""
        return U - U.mean(0, dtype=self.torch.float64).to(U.dtype)

    def nearest_centres(
        self, rows: Any, centres: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Label of the nearest centre of every row, and the sum of the rows of each."""
        points = self._tensor(centres).to(rows.dtype)
        labels = (0.5 * points.square().sum(1) - rows @ points.T).argmin(1)
        sums = self.torch.zeros(points.shape, dtype=self.torch.float64, device=self.device)
        sums.index_add_(0, labels, rows.to(self.torch.float64))
        return self.to_numpy(labels), self.to_numpy(sums)

    def content_keys(self, X: Any, axis: int) -> NDArray[np.uint64]:
        """A number for every row or column, of its cells."""
        cells = X.to(self.torch.float64).nan_to_num(nan=0.0)
        largest = cells.abs().amax(1 - axis, keepdim=True)
        steps = (cells / largest.masked_fill(largest == 0, 1) * STEPS).round().to(self.torch.int64)
        # PyTorch has no arithmetic of unsigned integers; the bits are the same.
        mixer = int(np.uint64(MIXER).astype(np.int64))
        mixed = steps * mixer
        mixed = (mixed ^ ((mixed >> 32) & 0xFFFFFFFF)) * mixer
        return self.to_numpy(mixed.sum(1 - axis)).astype(np.uint64)

    def over_panels(
        self,
        work: Callable[..., Any],
        operator: Operator,
        shifts: NDArray[np.float64],
        F: Any,
        Y: Any,
    ) -> list[Any]:
        """All columns at once."""
        F, panel = F.contiguous(), Y.contiguous()
        outcome = work(operator, shifts, F, panel, self)
        if panel is not Y:
            Y.copy_(panel)
        return [outcome]

    def overwrite(self, U: Any, values: Any) -> None:
        """Copy into `U`."""
        U.copy_(values)

    def shifted_residual(self, operator: Operator, shifts: Any, F: Any, Y: Any) -> Any:
        """Residual of the decoupled systems."""
        image = self.torch.empty_like(Y)
        self._shifted(operator, shifts, Y, image)
        return F - image

    def shifted_apply(
        self, operator: Operator, shifts: Any, Y: Any, out: Any
    ) -> NDArray[np.float64]:
        """Left-hand sides of the decoupled systems."""
        self._shifted(operator, shifts, Y, out)
        return self.to_numpy(self._dots(Y, out))

    def panel_advance(
        self, operator: Operator, shifts: Any, arrays: tuple[Any, Any, Any, Any], steps: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One step for each column."""
        Y, R, D, image = arrays
        size = self._tensor(steps).to(Y.dtype)
        Y.addcmul_(D, size)
        R.addcmul_(image, size, value=-1)
        weighted = self._dots(R, R / self._shifted_diagonal(operator, shifts, R))
        both = self.torch.stack([weighted, self._dots(R, R)])
        weighted_host, plain_host = self.to_numpy(both)
        return weighted_host, plain_host

    def panel_direction(
        self, operator: Operator, shifts: Any, R: Any, D: Any, momenta: Any
    ) -> None:
        """Next direction of each column."""
        D.mul_(self._tensor(momenta).to(D.dtype))
        D.addcdiv_(R, self._shifted_diagonal(operator, shifts, R))

    def prepare(self, X: Any, metric: str) -> Any:
        """Bring the rows of an input matrix here, ready for distances under `metric`."""
        rows = self.asarray(X)
        if metric == "cosine":
            return unit_rows(self.torch, rows)
        return self.centred(rows) if metric == "euclidean" else rows

    def nearest(
        self,
        rows: Any,
        asking: NDArray[np.intp],
        groups: NDArray[np.intp],
        count: int,
        metric: str,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Find the `count` rows of other groups nearest to each of `asking`, ties by index.

        Blocks of distances fit the free memory. Distances of what is found are exact. Index
        -1 and distance inf stand where there are too few.
        """
        return Scores(self.torch, rows, groups, metric).nearest(asking, count)

    def argsort(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Put values in order, equal ones by their place."""
        return self.to_numpy(self._tensor(values).sort(stable=True).indices)

    def _tensor(self, values: NDArray[Any]) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def _dots(self, A: Any, B: Any) -> Any:
        """Inner products of the columns of A and B, summed in float64 over blocks of rows."""
        return (A * B).sum(0, dtype=self.torch.float64)

    def _neighbors(self, operator: Operator, U: Any) -> Any:
        """Sum of the neighbours of every row, times their edge values."""
        n = len(operator.degrees)
        return self._csr(operator.indptr, operator.indices, operator.values, (n, n)) @ U

    def _csr(self, indptr: Any, indices: Any, values: Any, size: tuple[int, int]) -> Any:
        with warnings.catch_warnings():
            # PyTorch tells once a process that its CSR tensors may still change, and that it
            # trusts the indices; ours are sorted and in range by construction.
            warnings.filterwarnings("ignore", message="Sparse (CSR tensor|invariant checks)")
            return self.torch.sparse_csr_tensor(
                indptr, indices, values, size=size, check_invariants=False
            )

    def _diagonal(self, system: Any) -> Any:
        return system.shift + system.rows.degrees[:, None] + system.columns.degrees

    def _shifted(self, operator: Operator, shifts: NDArray[np.float64], Y: Any, out: Any) -> None:
        self.torch.mul(Y, self._shifted_diagonal(operator, shifts, Y), out=out)
        out -= self._neighbors(operator, Y)

    def _shifted_diagonal(self, operator: Operator, shifts: NDArray[np.float64], Y: Any) -> Any:
        return operator.degrees[:, None] + self._tensor(shifts).to(Y.dtype)
