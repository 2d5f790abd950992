"""What a fit will take, roughly."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["Cost", "estimate_cost", "machine_memory"]

# Measured with ROCCO() on two cores of a 2.8 GHz Xeon, 1,000 x 1,000 to 20,000 x 1,000, and in
# line with benchmarks/speed/results/growth_refined.md to within a factor of two.
_SECONDS, _WORK, _EXPONENT = 5.0, 7e10, 0.65
_BASE_BYTES, _COPIES = 350e6, 7


@dataclass(frozen=True)
class Cost:
    """Time and memory of a fit.

    Attributes
    ----------
    seconds : float
        On two cores.
    memory : float
        Bytes at the peak.

    Examples
    --------
    >>> print(Cost(12.3, 2.5e9))
    about 12 s on two cores and 2.5 GB of memory
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        return f"about {_time(self.seconds)} on two cores and {_size(self.memory)} of memory"


def estimate_cost(n_rows: int, n_columns: int, itemsize: int = 8) -> Cost:
    """Guess what ``ROCCO().fit`` takes; expect to be wrong by a factor of three.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrix. Sparse or dense makes little difference: the representation is
        dense.
    itemsize : int
        Bytes of a number: 8 for float64, 4 for float32.

    Returns
    -------
    Cost

    Examples
    --------
    >>> print(estimate_cost(5000, 2000))
    about 5 s on two cores and 0.9 GB of memory
    """
    work = n_rows**2 * n_columns + n_columns**2 * n_rows
    memory = _BASE_BYTES + _COPIES * itemsize * n_rows * n_columns
    return Cost(_SECONDS * (work / _WORK) ** _EXPONENT, memory)


def machine_memory() -> float | None:
    """Bytes of memory of this machine, where the system tells.

    Returns
    -------
    float or None

    Examples
    --------
    >>> machine_memory() is None or machine_memory() > 0
    True
    """
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None


def _time(seconds: float) -> str:
    if seconds < 1:
        return "1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB"
