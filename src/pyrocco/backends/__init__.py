"""Where arrays live and what is done to them there."""

import joblib

from pyrocco.backends.base import ArrayBackend, Backend, Operator
from pyrocco.backends.blocks import BlockBackend, even_ends, is_blocks
from pyrocco.backends.numpy import NumpyBackend
from pyrocco.backends.rowblocks import RowBlocks, map_rows, over_rows
from pyrocco.backends.scratch import ScratchStore
from pyrocco.backends.torch import TorchBackend, cuda_is_available
from pyrocco.backends.workspace import Workspace

DEVICES = ("cpu", "cuda", "auto")


def cpu_backend(n_jobs: int | None) -> NumpyBackend:
    """NumPy and numba with `n_jobs` threads, or as many as this process may use.

    Examples
    --------
    >>> cpu_backend(2).n_threads
    2
    """
    return NumpyBackend(joblib.cpu_count() if n_jobs is None else joblib.effective_n_jobs(n_jobs))


def resolve_backend(device: str | Backend, n_jobs: int | None) -> Backend:
    """Turn the name of a device into the back end that computes there.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"} or Backend
        ``"auto"`` takes a GPU where PyTorch finds one. A back end passes through.
    n_jobs : int or None
        Threads of the CPU back end.

    Examples
    --------
    >>> resolve_backend("cpu", 1).name
    'numpy'
    """
    if not isinstance(device, str):
        return device
    if device not in DEVICES:
        raise ValueError(f"device must be one of {', '.join(DEVICES)}; got {device!r}.")
    if device == "cuda" or (device == "auto" and cuda_is_available()):
        return TorchBackend("cuda")
    return cpu_backend(n_jobs)


__all__ = [
    "DEVICES",
    "ArrayBackend",
    "Backend",
    "BlockBackend",
    "NumpyBackend",
    "Operator",
    "RowBlocks",
    "ScratchStore",
    "TorchBackend",
    "Workspace",
    "cpu_backend",
    "even_ends",
    "is_blocks",
    "map_rows",
    "over_rows",
    "resolve_backend",
]
