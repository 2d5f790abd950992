"""The block model of a matrix with missing values, which are no evidence."""

from functools import partial

import numpy as np
import pytest

from pyrocco.assign.block_model import (
    BlockData,
    best_block_fit,
    fit_gradient,
    fitted_labels,
    sweep,
    variational_fit,
)
from pyrocco.assign.block_model.gaussian import _explained_together
from pyrocco.assign.block_model.search import BlockSums, _saved_parameters, cheapest_merge
from pyrocco.assign.labels import hard_memberships
from pyrocco.assign.structure import detect_structure


def blocks(seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = np.kron([[4.0, 0.0, 1.0], [0.0, 3.0, -2.0]], np.ones((12, 8)))
    labels = np.repeat([0, 1], 12), np.repeat([0, 1, 2], 8)
    return X + noise * rng.standard_normal(X.shape), labels


def with_missing(X, share=0.3, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def test_sums_and_sizes_leave_missing_values_out():
    X, labels = blocks()
    X = with_missing(X)
    data, members = BlockData(X), tuple(map(hard_memberships, labels))
    sums, sizes = data.sums(members), data.sizes(members)
    for i in range(2):
        for j in range(3):
            block = X[labels[0] == i][:, labels[1] == j]
            assert sums[i, j] == pytest.approx(np.nansum(block))
            assert sizes[i, j] == np.isfinite(block).sum()
    assert data.n_cells == np.isfinite(X).sum()
    assert data.squares == pytest.approx(np.nansum(X**2))
    assert data.total == pytest.approx(np.nansum(X))


def test_a_missing_column_has_no_effect():
    X, labels = blocks()
    wider = np.insert(X, 24, np.nan, axis=1)
    rows = hard_memberships(labels[0])
    narrow = variational_fit(BlockData(X), (rows, hard_memberships(labels[1])))
    wide = variational_fit(BlockData(wider), (rows, hard_memberships(np.r_[labels[1], 2])))
    np.testing.assert_allclose(wide.memberships[0], narrow.memberships[0], atol=1e-6)
    np.testing.assert_allclose(wide.means, narrow.means, rtol=1e-3, atol=1e-3)
    # Its cluster is known only from the sizes of the clusters.
    columns = wide.memberships[1]
    np.testing.assert_allclose(columns[24], columns[:24].mean(axis=0), atol=0.03)


def test_filled_values_would_lower_the_noise():
    X, labels = blocks()
    incomplete = with_missing(X, 0.5)
    members = tuple(map(hard_memberships, labels))
    means = np.kron([[4.0, 0.0, 1.0], [0.0, 3.0, -2.0]], np.ones((12, 8)))
    filled = np.where(np.isnan(incomplete), means, incomplete)
    known, made_up = (variational_fit(BlockData(Z), members) for Z in (incomplete, filled))
    assert known.variance == pytest.approx(1.0, rel=0.2)
    assert made_up.variance < 0.7


def test_costs_of_merges_are_those_of_the_complete_matrix_where_it_is_complete():
    X, _ = blocks()
    labels = np.repeat(np.arange(6), 4), np.repeat(np.arange(6), 4)
    sums = BlockSums.of(BlockData(X), labels)
    # Sizes that are hardly products of a height and a width take the general way.
    general = sums.cells * (1 + 1e-7 * np.random.default_rng(0).random(sums.cells.shape))
    different = ~np.eye(6, dtype=bool)
    for cost in (partial(_explained_together, sums.sums), _saved_parameters):
        ours, theirs = cost(sums.cells), cost(general)
        np.testing.assert_allclose(ours[different], theirs[different], rtol=1e-5)


def test_the_cheapest_merge_joins_parts_of_a_cluster():
    X, labels = blocks()
    fine = np.repeat([0, 1, 2], [6, 6, 12]), labels[1]
    data = BlockData(with_missing(X))
    merge = cheapest_merge(data, BlockSums.of(data, fine), (1, 1))
    assert (merge.axis, merge.first, merge.second) == (0, 0, 1)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_blocks_are_found(share):
    X, labels = blocks()
    data = BlockData(with_missing(X, share))
    start = np.arange(24) // 3, np.arange(24) // 3
    fit = best_block_fit(data, sweep(data, start), (None, None))
    for found, truth in zip(fitted_labels(fit), labels, strict=True):
        assert len(set(zip(found.tolist(), truth.tolist(), strict=True))) == truth.max() + 1


def test_residuals_of_missing_values_are_zero():
    X, labels = blocks()
    incomplete = with_missing(X)
    rest = BlockData(incomplete).residuals(labels)
    assert np.all(rest[np.isnan(incomplete)] == 0)
    block = np.ix_(labels[0] == 0, labels[1] == 1)
    assert rest[block].sum() == pytest.approx(0, abs=1e-9)


def test_a_gradient_is_found_with_missing_values():
    rng = np.random.default_rng(0)
    u, v = rng.uniform(1, 3, 60), rng.uniform(1, 3, 50)
    X = np.outer(u, v) + 0.3 * rng.standard_normal((60, 50))
    whole, part = fit_gradient(X), fit_gradient(with_missing(X, 0.4))
    assert whole.is_smooth
    assert part.is_smooth
    assert abs(np.corrcoef(part.scores[0], u)[0, 1]) > 0.99
    assert part.noise[part.noise != 0].std() == pytest.approx(0.3, rel=0.1)
    fine = np.arange(60) // 4, np.arange(50) // 4
    assert detect_structure(with_missing(X, 0.4), [fine], (None, None)).kind == "gradient"
