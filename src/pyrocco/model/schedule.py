"""Graduated non-convexity: when mu falls, when the strengths follow, when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyrocco.model.side import Side


class Schedule(Protocol):
    """Decides after every iteration what happens to both sides."""

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Take the iterations so far and the change of the objective, update the sides.

        Returns whether to stop.
        """


class SmoothOnce:
    """The convex limit: every edge keeps full trust, so one solve is the answer."""

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop."""
        return True


class SmoothUntilStill:
    """As `SmoothOnce` where cells are missing: they follow the representation until it rests."""

    def __init__(self, tolerance: float):
        self.tolerance = tolerance

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop once the objective moves by no more than the tolerance."""
        return change <= self.tolerance


class EveryFour:
    """Algorithm 1: every four iterations mu is halved and the strengths are set anew.

    The paper leaves "converged" open; this is RCC's test: both mu have passed their
    thresholds and the objective moves by less than `tolerance`.
    """

    def __init__(self, tolerance: float = 0.1):
        self.tolerance = tolerance

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Stop, or sharpen after every fourth iteration."""
        if all(side.is_sharp for side in sides) and change < self.tolerance:
            return True
        if iteration % 4 == 0:
            _sharpen(sides)
        return False


class UpToFour:
    """RCC's program: as `EveryFour`, but moves on early once the objective settles."""

    def __init__(self, tolerance: float = 0.1):
        self.tolerance = tolerance
        self._count = 0

    def step(self, iteration: int, change: float, sides: Sequence[Side]) -> bool:
        """Count the iterations since mu fell last."""
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
