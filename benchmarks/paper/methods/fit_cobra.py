"""Fit COBRA as the paper sets it: gamma by validation from 1e-3 to 1e3, ten neighbours.

Methods that differ only in what they make of the representation have the same one: within one
process gamma is validated, and the problem solved, once for a matrix and a seed. The seconds
that this spares the others are told.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any, TypeVar
from unittest.mock import patch

import joblib
from scipy import sparse

from benchmarks.paper.methods.fit_rocco import stage_seconds
from pyrocco.convex import ConvexProblem, ConvexSolution, solve
from pyrocco.estimators import cobra
from pyrocco.estimators.cobra import COBRA

SETTINGS = {"n_neighbors": 10}

_Model = TypeVar("_Model", bound=COBRA)


@dataclass
class _Solved:
    """The solution of one matrix, and the seconds that its gamma and itself took."""

    key: tuple[str, int]
    gamma: float
    seconds: float
    solution: ConvexSolution


# The matrix at hand, and the tiny one that a method is tried on first.
_solved: deque[_Solved] = deque(maxlen=2)


def fit_cobra(kind: type[_Model], X: Any, seed: int) -> tuple[_Model, float]:
    """Return the fitted model, and seconds of what was at hand and spared it."""
    key = _contents(X), seed
    known = next((each for each in _solved if each.key == key), None)
    if known is not None:
        with patch.object(cobra, "solve", lambda *_, **__: known.solution):
            return kind(known.gamma, **SETTINGS, random_state=seed).fit(X), known.seconds
    told, kept = StringIO(), []

    def solve_and_keep(problem: ConvexProblem, gamma: float, **options: Any) -> ConvexSolution:
        started = time.perf_counter()
        solution = solve(problem, gamma, **options)
        kept.append((solution, time.perf_counter() - started))
        return solution

    with redirect_stderr(told), patch.object(cobra, "solve", solve_and_keep):
        model = kind(None, **SETTINGS, random_state=seed, verbose=1).fit(X)
    solution, seconds = kept[0]
    seconds += stage_seconds(told.getvalue())["validation"]
    _solved.append(_Solved(key, model.gamma_, seconds, solution))
    return model, 0.0


def _contents(X: Any) -> str:
    """A name of the cells; that of a sparse matrix as such depends on what it was asked."""
    return joblib.hash((X.data, X.indices, X.indptr) if sparse.issparse(X) else X)
