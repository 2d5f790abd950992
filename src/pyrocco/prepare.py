"""Prepare the values of a matrix for a fit: encode, normalize, log1p, tfidf, zscore."""

from pyrocco.cells.encoding import Encoded, encode, encode_like
from pyrocco.cells.preparation import (
    PREPARATIONS,
    learn_preparations,
    log1p,
    normalize,
    prepare,
    prepare_alike,
    tfidf,
    zscore,
)

__all__ = [
    "PREPARATIONS",
    "Encoded",
    "encode",
    "encode_like",
    "learn_preparations",
    "log1p",
    "normalize",
    "prepare",
    "prepare_alike",
    "tfidf",
    "zscore",
]
