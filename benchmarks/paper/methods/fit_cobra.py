"""Fit COBRA with the paper's settings: gamma by validation from 1e-3 to 1e3, ten neighbours.

Several methods share one representation, and so do seeds with the same validated gamma. Within
one process gamma is therefore validated once per matrix and seed, and the problem is solved once
per matrix and gamma. The seconds saved are reported, so that they can be added again.
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
from pyrocco import COBRA
from pyrocco.convex import ConvexProblem, ConvexSolution, solve
from pyrocco.estimators import cobra

SETTINGS = {"n_neighbors": 10}

_Model = TypeVar("_Model", bound=COBRA)


@dataclass
class _Solved:
    """The solution for one matrix and gamma, and its seconds."""

    key: tuple[str, float]
    seconds: float
    solution: ConvexSolution


# (matrix, seed) -> validated gamma and the seconds of the validation.
_validated: dict[tuple[str, int], tuple[float, float]] = {}
# The last solutions only: each is as large as its matrix. One is that of the warm-up matrix.
_solved: deque[_Solved] = deque(maxlen=3)


def fit_cobra(kind: type[_Model], X: Any, seed: int, device: str = "cpu") -> tuple[_Model, float]:
    """Return the fitted model and the seconds saved by reusing results."""
    name = _contents(X)
    gamma, spared = _validated.get((name, seed), (None, 0.0))

    def solve_once(problem: ConvexProblem, gamma: float, **options: Any) -> ConvexSolution:
        nonlocal spared
        known = next((each for each in _solved if each.key == (name, gamma)), None)
        if known is not None:
            spared += known.seconds
            return known.solution
        started = time.perf_counter()
        solution = solve(problem, gamma, **options)
        _solved.append(_Solved((name, gamma), time.perf_counter() - started, solution))
        return solution

    output = StringIO()
    with redirect_stderr(output), patch.object(cobra, "solve", solve_once):
        model = kind(gamma, **SETTINGS, device=device, random_state=seed, verbose=1).fit(X)
    if gamma is None:
        _validated[name, seed] = model.gamma_, stage_seconds(output.getvalue())["validation"]
    return model, spared


def _contents(X: Any) -> str:
    """Hash of the values; hashing a sparse matrix object would include its cached state."""
    return joblib.hash((X.data, X.indices, X.indptr) if sparse.issparse(X) else X)
