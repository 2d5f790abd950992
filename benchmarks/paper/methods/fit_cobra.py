"""Fit COBRA as the paper sets it: gamma by validation from 1e-3 to 1e3, ten neighbours.

Methods that differ only in what they make of the representation have the same gamma: within
one process it is validated once for a matrix and a seed, and the seconds of that are told.
"""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from typing import Any, TypeVar

import joblib

from benchmarks.paper.methods.fit_rocco import stage_seconds
from pyrocco.estimators.cobra import COBRA

SETTINGS = {"n_neighbors": 10}

_Model = TypeVar("_Model", bound=COBRA)

# gamma, and the seconds its validation took, by matrix and seed.
_validated: dict[tuple[str, int], tuple[float, float]] = {}


def fit_cobra(kind: type[_Model], X: Any, seed: int) -> tuple[_Model, float]:
    """Return the fitted model, and seconds of a validation that was spared it."""
    key = joblib.hash(X), seed
    gamma, spared = _validated.get(key, (None, 0.0))
    told = StringIO()
    with redirect_stderr(told):
        model = kind(gamma, **SETTINGS, random_state=seed, verbose=1).fit(X)
    if gamma is None:
        _validated[key] = model.gamma_, stage_seconds(told.getvalue())["validation"]
    return model, spared
