"""Facts about values, and the cost of a fit."""

import numpy as np
import pytest
from scipy import sparse

from pyrocco.backends import ChunkedMatrix, ScratchStore
from pyrocco.cells.inspection import facts_of
from pyrocco.cells.side_sums import Table
from pyrocco.inspection import (
    estimate_cost,
    gather_facts,
)
from pyrocco.prepare import zscore

rng = np.random.default_rng(0)
# Counts as of a sequencer: genes of very different frequency, cells of different depth.
COUNTS = rng.poisson(np.outer(rng.gamma(4, 0.3, 300), rng.lognormal(-2, 1.5, 80))).astype(float)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_facts(form):
    X = np.array([[0.0, -2.0, np.nan], [4.0, 0.0, 1.0]])
    facts = gather_facts(form(X))
    assert (facts.n_rows, facts.n_columns, facts.n_missing) == (2, 3, 1)
    assert facts.density == 3 / 6
    assert (facts.minimum, facts.maximum) == (-2, 4)
    assert facts.mean == pytest.approx(3 / 5)
    assert facts.is_whole
    assert not gather_facts(form(X + 0.5)).is_whole


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_facts_with_missing_values(form):
    X = zscore(COUNTS)
    X[rng.random(X.shape) < 0.1] = np.nan
    facts = gather_facts(form(zscore(X)))
    assert facts.has_unit_columns
    assert facts.n_missing == np.isnan(X).sum()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_facts_of_chunks_and_of_transposes(form):
    X = COUNTS / 7
    expected, flipped = vars(gather_facts(X)), vars(gather_facts(X.T))
    chunks = ChunkedMatrix.split(form(X), [0, 70, 71, 300], ScratchStore(10**8, 1))
    assert vars(facts_of(Table(chunks))) == pytest.approx(expected)
    assert vars(facts_of(Table(chunks, transposed=True))) == pytest.approx(flipped)
    assert vars(facts_of(Table(form(X), transposed=True))) == pytest.approx(flipped)


def test_large_means_cost_no_precision():
    facts = gather_facts(rng.normal(1e9, [1.0, 3.0], (500, 2)))
    assert facts.mean == pytest.approx(1e9)
    assert facts.spread == pytest.approx(3, rel=0.2)
    assert facts.deviation == pytest.approx(np.sqrt(5), rel=0.1)


def test_cells_with_the_largest_value_are_counted():
    assert gather_facts(np.array([[7.0, 7.0], [np.nan, 3.0]])).n_largest == 2
    zeros = sparse.csr_array(np.array([[-1.0, 0.0], [0.0, 0.0]]))
    assert gather_facts(zeros).n_largest == 3


def test_row_effect():
    levels, noise = rng.normal(size=(400, 1)), rng.normal(size=(400, 50))
    assert gather_facts(levels + noise).row_effect == pytest.approx(0.5, abs=0.06)
    assert gather_facts(noise).row_effect == pytest.approx(0, abs=0.01)
    hidden = np.where(rng.random(noise.shape) < 0.8, np.nan, levels + noise)
    assert gather_facts(hidden).row_effect == pytest.approx(0.5, abs=0.08)
    assert gather_facts(np.full((3, 4), 2.0)).row_effect == 0


def test_cost_grows_with_both_sides_and_is_about_right():
    small, long, wide = (
        estimate_cost(*shape) for shape in ((1000, 100), (9000, 100), (1000, 900))
    )
    assert small.seconds < min(long.seconds, wide.seconds)
    assert small.memory < long.memory == wide.memory
    # benchmarks/speed/results/growth_refined.md
    for rows, seconds in ((10_000, 0.988), (50_000, 7.47), (100_000, 17.6)):
        assert seconds / 3 < estimate_cost(rows, 100, 4).seconds < seconds * 3
    assert str(estimate_cost(10**6, 10**4)).startswith("about ")
