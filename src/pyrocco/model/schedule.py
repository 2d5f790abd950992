"""Schedules of graduated non-convexity: when mu and the strengths change, when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyrocco.model.side import Side


class Schedule(Protocol):
    """Updates both sides after an iteration and decides when to stop."""

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Update `sides` given the change of the objective; return True to stop."""


class SmoothOnce:
    """The convex limit: all edges have weight 1, so that one solve gives the solution."""

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop."""
        return True


class SmoothUntilStill:
    """The convex limit with missing values, which follow U until the objective is stable."""

    def __init__(self, tolerance: float):
        self.tolerance = tolerance

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop when the objective changes by no more than the tolerance."""
        return change <= self.tolerance


class EveryFour:
    """Algorithm 1: halve mu and recompute the strengths every four iterations.

    The paper does not define convergence. This is RCC's test: both mu have passed their
    thresholds and the objective changes by less than `tolerance`.
    """

    def __init__(self, tolerance: float = 0.1):
        self.tolerance = tolerance

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop, or halve mu after every fourth iteration."""
        if all(side.is_sharp for side in sides) and change < self.tolerance:
            return True
        if iteration % 4 == 0:
            _sharpen(sides)
        return False


class UpToFour:
    """The schedule of RCC's program: `EveryFour`, with mu halved early on a stable objective."""

    def __init__(self, tolerance: float = 0.1):
        self.tolerance = tolerance
        self._count = 0

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop, or halve mu after at most four iterations."""
        self._count += 1
        full = self._count == 4
        if change >= self.tolerance and not full:
            return False
        if all(side.is_sharp for side in sides) and not full:
            return True
        _sharpen(sides)
        self._count = 0
        return False


def _sharpen(sides: Sequence[Side]) -> None:
    for side in sides:
        side.sharpen()
        side.calibrate()
