"""Prepare the values of a matrix for a fit.

Each preparation is a function; `ROCCO` applies them by name.
"""

from pyrocco.cells.preparation import (
    PREPARATIONS,
    Preparation,
    balance,
    center,
    center_rows,
    learn_preparations,
    log,
    log1p,
    normalize,
    prepare,
    prepare_alike,
    tfidf,
    zscore,
)

__all__ = [
    "PREPARATIONS",
    "Preparation",
    "balance",
    "center",
    "center_rows",
    "learn_preparations",
    "log",
    "log1p",
    "normalize",
    "prepare",
    "prepare_alike",
    "tfidf",
    "zscore",
]
