"""How to keep a fit within a memory limit: whole, in single precision, in files, or not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}

# Bounds on the high side: measured peaks stay below them (benchmarks/speed/results/budget.md and
# memory.md). What the program itself takes, copies of the matrix that a fit in memory holds
# beside it, and bytes for every row and neighbour of the graphs.
BASE = 300e6
COPIES = 8.5
EDGE_BYTES = 90
# In files: bytes for every row beside its edges (features, labels, memberships), and the least
# that a piece of work needs to be worth its overhead.
ROW_BYTES = 900
LEAST_WORK = 64e6


def parse_bytes(limit: Any) -> int:
    """Understand ``"4GB"``, ``"512 MiB"`` and plain numbers of bytes.

    Examples
    --------
    >>> parse_bytes("4GB"), parse_bytes("512 MiB"), parse_bytes(10**6)
    (4000000000, 536870912, 1000000)
    """
    if isinstance(limit, (int, np.integer)) and not isinstance(limit, bool) and limit > 0:
        return int(limit)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?)?B?\s*", str(limit).upper())
    if not isinstance(limit, str) or match is None:
        raise ValueError(
            f"memory_limit must be a text like '4GB' or '500MB', or a number of bytes; got "
            f"{limit!r}."
        )
    return int(float(match[1]) * {**_UNITS, **_BINARY}[match[2] or ""])


@dataclass(frozen=True)
class Plan:
    """How a fit keeps within its limit.

    Parameters
    ----------
    way : {"whole", "single", "files"}
        All in memory; the same in single precision; representation and panels in files.
    work : int
        Bytes for the work on blocks, where they are in files.

    Examples
    --------
    >>> plan_fit((1000, 100), np.dtype(float), 10, 10**9).way
    'whole'
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
) -> Plan:
    """Choose the fastest way that fits.

    Parameters
    ----------
    shape : pair of int
        Of the matrix.
    dtype : dtype
        Of its cells.
    n_neighbors : int
        Neighbours in the graphs.
    limit : int
        Bytes that the program may take in all, the matrix among them.
    mapped : bool
        Whether the matrix itself is in a file.

    Returns
    -------
    Plan

    Raises
    ------
    MemoryError
        Nothing fits; the message says what would.

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
        return Plan("whole")
    if dtype.itemsize == 8 and graphs + own + (COPIES + 1) * cells * 4 <= limit:
        return Plan("single")
    return plan_in_files(shape, dtype, n_neighbors, limit, mapped)


def plan_in_files(
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    n_neighbors: int,
    limit: int,
    mapped: bool = True,
) -> Plan:
    """The last way of `plan_fit`, or its MemoryError.

    Examples
    --------
    >>> plan_in_files((1000, 100), np.dtype(float), 10, 10**9).way
    'files'
    """
    own = 0 if mapped else shape[0] * shape[1] * dtype.itemsize
    graphs = sum(shape) * n_neighbors * EDGE_BYTES + BASE
    fixed = graphs + own + max(shape) * ROW_BYTES + 3 * 8 * min(shape) ** 2
    # A panel of one column, and the blocks of a search, must fit.
    work = max(LEAST_WORK, 8 * max(shape) * dtype.itemsize)
    if fixed + work <= limit:
        return Plan("files", int(limit - fixed))
    raise MemoryError(_refusal(shape, fixed + work, fixed - own + work, limit, mapped))


def plan_for(model: Any, X: Any) -> Plan:
    """The plan of an estimator with a ``memory_limit`` for a matrix that is here.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> plan_for(ROCCO(memory_limit="1GB"), np.eye(3)).way
    'whole'
    """
    if model.memory_limit is None:
        return Plan("whole")
    limit = parse_bytes(model.memory_limit)
    if model.device != "cpu":
        raise ValueError("memory_limit is that of the main memory: use it with device='cpu'.")
    # A sparse matrix takes little itself, but its representation is dense.
    elsewhere = sparse.issparse(X) or isinstance(X, np.memmap) or isinstance(X.base, np.memmap)
    return plan_fit(X.shape, X.dtype, model.n_neighbors, limit, elsewhere)


def _refusal(
    shape: tuple[int, int], needed: float, without: float, limit: int, mapped: bool
) -> str:
    most = math.floor(shape[0] * max(limit - BASE, 0) / (needed - BASE))
    fewer = f"fit about {most:,} of its rows, " if most > 1 else ""
    file = (
        "" if mapped else f", or {_said(without)} if X is memory-mapped (np.load(mmap_mode='r'))"
    )
    return (
        f"A matrix of {shape[0]:,} x {shape[1]:,} needs {_said(needed)} even with its parts in "
        f"files{file}, and memory_limit is {_said(limit)}: allow as much, {fewer}or use a "
        "cluster (a Dask array and its client)."
    )


def _said(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
