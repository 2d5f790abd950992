"""Bringing a matrix into a form that groups can be found in, one preparation a file."""

from pyrocco.prepare.log1p import log1p
from pyrocco.prepare.normalize import normalize
from pyrocco.prepare.steps import PREPARATIONS, prepare
from pyrocco.prepare.tfidf import tfidf
from pyrocco.prepare.zscore import zscore

__all__ = ["PREPARATIONS", "log1p", "normalize", "prepare", "tfidf", "zscore"]
