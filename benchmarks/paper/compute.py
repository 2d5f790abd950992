"""Compute one cell. This runs in the worker process."""

from __future__ import annotations

import json
import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.paper.cell import Cell
from benchmarks.paper.datasets import Biclusters, Source
from benchmarks.paper.datasets.base import NOWHERE
from benchmarks.paper.methods import Found
from benchmarks.paper.scores import score
from benchmarks.paper.versions import machine
from pyrocco.datasets import Dataset

Row = dict[str, Any]


def compute(cell: Cell) -> Row:
    """Load the data, fit, and score. Errors are returned as a status with a reason."""
    try:
        data = _load(cell.source, cell.seed if cell.source.drawn else 0)
        _warm_up(cell)
        return {"status": "ok", **_measure(cell, data)}
    except ImportError as error:
        return {"status": "skipped", "reason": _one_line(error)}
    except Exception as error:
        return {"status": "failed", "reason": _one_line(error)}


@lru_cache(maxsize=1)
def _load(source: Source, seed: int) -> Dataset:
    return source.load(seed)


def _measure(cell: Cell, data: Dataset) -> Row:
    k = len(np.unique(data.row_labels[data.row_labels != NOWHERE]))
    started, cpu_started = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X = data.X if cell.method.takes_missing else with_column_means(data.X)
        found = cell.method.run(X, k, cell.seed, cell.columns, _options(cell))
    seconds = time.perf_counter() - started + found.spared
    cpu_seconds = time.process_time() - cpu_started + found.spared
    if cell.keep is not None:
        cell.keep.parent.mkdir(parents=True, exist_ok=True)
        np.save(cell.keep, found.representation)
    said = sorted({warning.category.__name__ for warning in caught})
    return {
        "reason": f"warned: {', '.join(said)}" if said else "",
        "seconds": round(seconds, 4),
        "cpu_seconds": round(cpu_seconds, 4),
        "stages": json.dumps(found.stages) if found.stages else "",
        "n_rows": data.X.shape[0],
        "n_columns": data.X.shape[1],
        "row_classes": k,
        "machine": machine(cell.device),
        **_scores("row", data.row_labels, found.rows),
        **_scores("column", data.column_labels, found.columns),
    }


def _options(cell: Cell) -> dict[str, Any]:
    device = {"device": cell.device} if cell.method.takes_device else {}
    return {**cell.options, **device}


def with_column_means(X: Any) -> Any:
    """Replace every missing value by the mean of its column."""
    if sparse.issparse(X) or not np.isnan(X).any():
        return X
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def _scores(side: str, truth: np.ndarray | None, labels: np.ndarray | None) -> Row:
    if labels is None:
        return {}
    row: Row = {f"{side}_clusters": len(np.unique(labels))}
    if truth is not None:
        scored = truth != NOWHERE
        found = score(truth[scored], labels[scored])
        row |= {f"{side}_{name}": value for name, value in found.items()}
    return row


_warm: set[tuple[str, bool]] = set()


def _warm_up(cell: Cell) -> None:
    """Fit a tiny matrix of the same kind first, to exclude compilation from the time."""
    is_sparse = cell.source.kind == "text"
    if (cell.method.name, is_sparse) in _warm:
        return
    _warm.add((cell.method.name, is_sparse))
    X: Any = np.abs(Biclusters(5, (60, 50)).load(0).X)
    if is_sparse:
        X = sparse.csr_matrix(np.where(X > 10, X, 0))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _: Found = cell.method.run(X, 5, 0, False, _options(cell))
    except Exception:
        return  # The same error will be reported for the data itself.


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}"
