"""How a fit stays within a memory limit: in memory, in single precision, or in files."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrocco.validation import shown

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}

# Upper bounds: measured peaks are below them (benchmarks/speed/results/budget.md, memory.md).
# Memory of the program itself, copies of the matrix that a fit in memory makes besides the
# given one, and bytes for every row and neighbour of the graphs.
BASE = 300e6
COPIES = 8.5
EDGE_BYTES = 90
# In files: bytes for every row besides its edges (features, labels, memberships), and the
# least memory with which work on chunks is worth its overhead.
ROW_BYTES = 900
LEAST_WORK = 64e6


def parse_bytes(limit: object) -> int:
    """Parse a memory size such as ``"4GB"``, ``"512 MiB"`` or a number of bytes.

    Examples
    --------
    >>> parse_bytes("4GB"), parse_bytes("512 MiB"), parse_bytes(10**6)
    (4000000000, 536870912, 1000000)
    """
    if isinstance(limit, (int, np.integer)) and not isinstance(limit, bool) and limit > 0:
        return int(limit)
    text = limit.upper() if isinstance(limit, str) else ""
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]I?)?B?\s*", text)
    size = int(float(match[1]) * {**_UNITS, **_BINARY}[match[2] or ""]) if match else 0
    if size < 1:
        raise ValueError(
            "memory_limit must be a text such as '4GB' or '500MB', or a number of bytes; got "
            f"{shown(limit)}."
        )
    return size


@dataclass(frozen=True)
class MemoryPlan:
    """How a fit stays within its memory limit.

    Parameters
    ----------
    way : {"memory", "single", "files"}
        Everything in memory; the same in single precision; the prepared matrix in files.
    work : int
        Bytes for the work on chunks, if they are in files.

    Examples
    --------
    >>> plan_fit((1000, 100), np.dtype(float), 10, 10**9).way
    'memory'
    >>> plan_fit((1_000_000, 500), np.dtype(float), 10, 8 * 10**9).way
    'files'
    """

    way: str
    work: int = 0


def plan_fit(
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    n_neighbors: int,
    limit: int,
    mapped: bool = False,
) -> MemoryPlan:
    """Choose the fastest way that stays within the limit.

    Parameters
    ----------
    shape : pair of int
        Shape of the matrix.
    dtype : dtype
        Type of its values.
    n_neighbors : int
        Number of neighbours in the graphs.
    limit : int
        Bytes that the program may use in all, including the matrix.
    mapped : bool
        Whether the matrix itself is in a file.

    Returns
    -------
    MemoryPlan

    Raises
    ------
    MemoryError
        If there is no such way; the message says what would help.

    Examples
    --------
    >>> plan_fit((1_000_000, 500), np.dtype(float), 10, 10**9)
    Traceback (most recent call last):
    ...
    MemoryError: A matrix of 1,000,000 x 500 needs ...
    """
    cells = shape[0] * shape[1]
    graphs = sum(shape) * n_neighbors * EDGE_BYTES + BASE
    own = 0 if mapped else cells * dtype.itemsize
    if graphs + own + COPIES * cells * dtype.itemsize <= limit:
        return MemoryPlan("memory")
    if dtype.itemsize == 8 and graphs + own + (COPIES + 1) * cells * 4 <= limit:
        return MemoryPlan("single")
    return plan_in_files(shape, dtype, n_neighbors, limit, mapped)


def plan_in_files(
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    n_neighbors: int,
    limit: int,
    mapped: bool = True,
) -> MemoryPlan:
    """Plan a fit in files, or raise a MemoryError; the parameters are those of `plan_fit`.

    Examples
    --------
    >>> plan_in_files((1000, 100), np.dtype(float), 10, 10**9).way
    'files'
    """
    own = 0 if mapped else shape[0] * shape[1] * dtype.itemsize
    graphs = sum(shape) * n_neighbors * EDGE_BYTES + BASE
    fixed = graphs + own + max(shape) * ROW_BYTES + 3 * 8 * min(shape) ** 2
    # One column of all rows, and the chunks of a neighbour search, must fit.
    work = max(LEAST_WORK, 8 * max(shape) * dtype.itemsize)
    if fixed + work <= limit:
        return MemoryPlan("files", int(limit - fixed))
    raise MemoryError(_refusal(shape, fixed + work, fixed - own + work, limit, mapped))


def _refusal(
    shape: tuple[int, int], needed: float, without: float, limit: int, mapped: bool
) -> str:
    most = math.floor(shape[0] * max(limit - BASE, 0) / (needed - BASE))
    fewer = f"fit about {most:,} of its rows, " if most > 1 else ""
    if mapped:
        file = ""
    else:
        file = f", or {_shown(without)} if X is memory-mapped (np.load(mmap_mode='r'))"
    return (
        f"A matrix of {shape[0]:,} x {shape[1]:,} needs {_shown(needed)} even with the "
        f"prepared matrix in files{file}, but memory_limit is {_shown(limit)}: raise the limit, "
        f"{fewer}or use a cluster (a Dask array and its client)."
    )


def _shown(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
