"""Where arrays live and what is done to them there."""

import joblib

from pyrocco.backends.base import Backend, Operator
from pyrocco.backends.numpy import NumpyBackend


def cpu_backend(n_jobs: int | None) -> NumpyBackend:
    """NumPy and numba with `n_jobs` threads, or as many as this process may use.

    Examples
    --------
    >>> cpu_backend(2).n_threads
    2
    """
    return NumpyBackend(joblib.cpu_count() if n_jobs is None else joblib.effective_n_jobs(n_jobs))


__all__ = ["Backend", "NumpyBackend", "Operator", "cpu_backend"]
