"""What the stages of a fit hand on to each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyrocco.assign import Assignment, JointAssigner
from pyrocco.assign.labels import Numbers
from pyrocco.backends import Backend
from pyrocco.checkpoint import Journal
from pyrocco.estimators.checks import is_mostly_zero
from pyrocco.estimators.variants import Variant
from pyrocco.graph import Graph
from pyrocco.progress import Progress
from pyrocco.representation import Representation
from pyrocco.solvers import Solver


@dataclass(frozen=True)
class Work:
    """What every stage of a fit needs: the data without units, and the parts of the variant."""

    X: Any
    variant: Variant
    solver: Solver
    backend: Backend
    progress: Progress
    journal: Journal
    numbers: Numbers

    @cached_property
    def mostly_zero(self) -> bool:
        """Whether the data are sparse, however they are stored."""
        return is_mostly_zero(self.X)


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves, before it is turned into attributes."""

    X: Any
    graphs: tuple[Graph, Graph]
    learned: Representation
    assigner: JointAssigner
    found: Assignment
    weights: Any = None
