"""Prepare the values of a matrix for a fit, and encode tables with texts.

Each preparation is a function; `ROCCO` applies them by name.
"""

from pyrocco.cells.encoding import Encoded, encode, encode_like
from pyrocco.cells.preparation import (
    PREPARATIONS,
    Preparation,
    balance,
    center,
    center_rows,
    complement,
    learn_preparations,
    log,
    log1p,
    normalize,
    prepare,
    prepare_alike,
    scale_rows,
    tfidf,
    zscore,
)

__all__ = [
    "PREPARATIONS",
    "Encoded",
    "Preparation",
    "balance",
    "center",
    "center_rows",
    "complement",
    "encode",
    "encode_like",
    "learn_preparations",
    "log",
    "log1p",
    "normalize",
    "prepare",
    "prepare_alike",
    "scale_rows",
    "tfidf",
    "zscore",
]
