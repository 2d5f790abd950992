"""Learn the literal representation once for all fits of a process that differ in the last step.

Seeds, numbers of clusters and metrics of the silhouette change what is made of the representation,
not the representation. The seconds saved are reported, so that they can be added again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import joblib

from pyrocco.fitting import pipeline
from pyrocco.model import Side
from pyrocco.representation import Representation, learn_representation


@dataclass
class Spared:
    """Seconds that were saved."""

    seconds: float = 0.0


@dataclass(frozen=True)
class _Learned:
    key: str
    seconds: float
    representation: Representation


# The last ones only: each is as large as its matrix. One is that of the warm-up matrix.
_learned: deque[_Learned] = deque(maxlen=3)


@contextmanager
def shared_representation() -> Iterator[Spared]:
    """Within this context, fits with the same data, graphs and schedule share a representation."""
    spared = Spared()

    def learn_once(X: Any, sides: tuple[Side, Side], **options: Any) -> Representation:
        key = _key(X, sides, options)
        known = next((each for each in _learned if each.key == key), None)
        if known is not None:
            spared.seconds += known.seconds
            return known.representation
        started = time.perf_counter()
        representation = learn_representation(X, sides, **options)
        _learned.append(_Learned(key, time.perf_counter() - started, representation))
        return representation

    with patch.object(pipeline, "learn_representation", learn_once):
        yield spared


def _key(X: Any, sides: tuple[Side, Side], options: dict[str, Any]) -> str:
    """Hash everything that decides the representation, before the loop changes the sides."""
    graphs = [(each.graph.heads, each.graph.tails, each.graph.weights) for each in sides]
    strengths = [(each.norm, each.mu, each.delta) for each in sides]
    schedule = type(options["schedule"]).__name__, vars(options["schedule"])
    rest = (
        options["shift"],
        options["max_iter"],
        options["missing"],
        type(options["solver"]).__name__,
    )
    return str(joblib.hash((X, graphs, strengths, schedule, rest)))
