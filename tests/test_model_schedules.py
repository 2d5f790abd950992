"""Schedules: when mu is halved and when the loop stops."""

import numpy as np
import pytest

from pyrocco.graph import Graph
from pyrocco.model import EveryFour, Side, SmoothOnce, SmoothUntilStill, UpToFour


@pytest.fixture
def sides():
    edge = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    return [Side(edge, axis, norm=1.0, mu=8.0, delta=3.0) for axis in (0, 1)]


def test_the_convex_limit_needs_one_iteration(sides):
    assert SmoothOnce().step(1, np.inf, sides)


def test_missing_values_need_a_stable_objective(sides):
    schedule = SmoothUntilStill(0.5)
    assert [schedule.step(1, change, sides) for change in (0.6, 0.5)] == [False, True]


def test_every_four_halves_after_four_iterations_and_stops_below_the_threshold(sides):
    schedule, mu = EveryFour(), []
    for iteration in range(1, 10):
        if schedule.step(iteration, 0.0, sides):
            break
        mu.append(sides[0].mu)
    assert mu == [8.0] * 3 + [4.0] * 4 + [2.0]
    assert iteration == 9


def test_every_four_continues_while_the_objective_changes(sides):
    for side in sides:
        side.mu = 1.0
    assert not EveryFour().step(1, 0.2, sides)
    assert EveryFour().step(1, 0.0, sides)


def test_up_to_four_halves_early_if_the_objective_is_stable(sides):
    schedule, mu = UpToFour(), []
    for change in (1.0, 0.0, 1.0, 1.0, 1.0, 1.0):
        assert not schedule.step(1, change, sides)
        mu.append(sides[1].mu)
    assert mu == [8.0, 4.0, 4.0, 4.0, 4.0, 2.0]
    assert schedule.step(1, 0.0, sides)
