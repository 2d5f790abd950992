"""Prepare the values of a matrix for a fit: normalize, log1p, tfidf, zscore."""

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
    "learn_preparations",
    "log1p",
    "normalize",
    "prepare",
    "prepare_alike",
    "tfidf",
    "zscore",
]
