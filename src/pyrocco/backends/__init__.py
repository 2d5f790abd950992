"""Back ends: where arrays are stored, and the operations on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import joblib

from pyrocco.backends.base import (
    ArrayBackend,
    Backend,
    Operator,
    Workspace,
    is_missing,
    map_rows,
    matrix_norm,
    over_rows,
    sums_by_label,
)
from pyrocco.backends.chunked.engine import ChunkedBackend, even_ends
from pyrocco.backends.chunked.files import ScratchStore
from pyrocco.backends.chunked.matrix import Chunked, ChunkedMatrix, ChunkedTranspose, Rotation
from pyrocco.backends.numpy import NumpyBackend
from pyrocco.backends.torch import TorchBackend, cuda_is_available
from pyrocco.validation import shown

if TYPE_CHECKING:
    from dask.array import Array as DaskArray

DEVICES = ("cpu", "cuda", "auto")


def cpu_backend(n_jobs: int | None) -> NumpyBackend:
    """Return the NumPy back end with `n_jobs` threads, or as many as this process may use."""
    return NumpyBackend(joblib.cpu_count() if n_jobs is None else joblib.effective_n_jobs(n_jobs))


def resolve_backend(device: str | Backend, n_jobs: int | None) -> Backend:
    """Return the back end for a device; "auto" uses a GPU if PyTorch finds one."""
    if not isinstance(device, str) and hasattr(device, "in_one_place"):
        return device
    if not isinstance(device, str) or device not in DEVICES:
        raise ValueError(
            f"device must be one of {', '.join(DEVICES)}, or a back end; got {shown(device)}."
        )
    if device == "cuda" or (device == "auto" and cuda_is_available()):
        return TorchBackend("cuda")
    return cpu_backend(n_jobs)


def array_backend(device: str | Backend, n_jobs: int | None) -> ArrayBackend:
    """Return the back end for a device, which must keep arrays in one piece.

    Examples
    --------
    >>> array_backend("cpu", 1).name
    'numpy'
    """
    backend = resolve_backend(device, n_jobs)
    if not isinstance(backend, (NumpyBackend, TorchBackend)):
        raise ValueError(
            "device must be one of cpu, cuda, auto, or a back end of NumPy or PyTorch; a back end "
            f"with chunks does not serve here; got {shown(device)}."
        )
    return backend


def is_dask_array(X: object) -> TypeGuard[DaskArray]:
    """Whether `X` is a Dask array, without importing Dask."""
    return type(X).__module__.split(".")[0] == "dask" and hasattr(X, "to_delayed")


__all__ = [
    "DEVICES",
    "ArrayBackend",
    "Backend",
    "Chunked",
    "ChunkedBackend",
    "ChunkedMatrix",
    "ChunkedTranspose",
    "NumpyBackend",
    "Operator",
    "Rotation",
    "ScratchStore",
    "TorchBackend",
    "Workspace",
    "array_backend",
    "cpu_backend",
    "even_ends",
    "is_dask_array",
    "is_missing",
    "map_rows",
    "matrix_norm",
    "over_rows",
    "resolve_backend",
    "sums_by_label",
]
