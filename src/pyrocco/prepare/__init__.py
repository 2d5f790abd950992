"""Bringing a matrix into a form that groups can be found in, one preparation a file."""

from pyrocco.prepare.log1p import log1p
from pyrocco.prepare.normalize import normalize
from pyrocco.prepare.steps import PREPARATIONS, learn_preparations, prepare, prepare_alike
from pyrocco.prepare.tfidf import tfidf
from pyrocco.prepare.zscore import zscore

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
