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


def test_every_four_halves_after_four_iterations_and_stops_after_the_last_mu(sides):
    sides[1].mu = 100.0  # one side is enough
    schedule, mu = EveryFour(), [sides[0].mu]
    while not schedule.step(len(mu), np.inf, sides):
        mu.append(sides[0].mu)
    assert mu == [8.0] * 4 + [4.0] * 4 + [2.0] * 4 + [1.5] * 4


def test_every_four_does_not_wait_for_a_side_without_edges(sides):
    none = np.empty(0, dtype=np.intp)
    empty = Side(Graph(2, none, none, np.empty(0)), 0, 1.0, mu=1.0, delta=2.0)
    assert [EveryFour().step(4, 0.0, [empty, side]) for side in sides] == [False, False]
    assert EveryFour().step(4, 0.0, [empty, empty])


def test_every_four_with_a_tolerance_has_the_stop_of_rcc(sides):
    schedule, mu = EveryFour(0.1), []
    for iteration in range(1, 10):
        if schedule.step(iteration, 0.0, sides):
            break
        mu.append(sides[0].mu)
    assert mu == [8.0] * 3 + [4.0] * 4 + [2.0]
    assert iteration == 9


def test_every_four_with_a_tolerance_continues_while_the_objective_changes(sides):
    for side in sides:
        side.mu = 1.0
    assert not EveryFour(0.1).step(1, 0.2, sides)
    assert EveryFour(0.1).step(1, 0.0, sides)


def test_up_to_four_halves_early_if_the_objective_is_stable(sides):
    schedule, mu = UpToFour(), []
    for change in (1.0, 0.0, 1.0, 1.0, 1.0, 1.0):
        assert not schedule.step(1, change, sides)
        mu.append(sides[1].mu)
    assert mu == [8.0, 4.0, 4.0, 4.0, 4.0, 2.0]
    assert schedule.step(1, 0.0, sides)
