"""Block models of counts: evidence, moves, merges, splits, and when counts consist of blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma, poisson
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.assign.block_model import (
    CountData,
    best_block_fit,
    fitted_labels,
    split_clusters,
    sweep,
    variational_fit,
)
from pyrocco.assign.block_model.counts import _SHAPES, rate_evidence
from pyrocco.assign.block_model.gaussian import SHARES
from pyrocco.assign.labels import hard_memberships
from pyrocco.assign.structure import detect_count_structure


def planted(seed=0, shape=(120, 90), k=3, base=2.0, factor=2.0):
    """Counts with row and column effects; the diagonal blocks are higher."""
    rng = np.random.default_rng(seed)
    rows, columns = (rng.integers(k, size=n) for n in shape)
    effects = np.outer(*(rng.gamma(2.0, 0.5, n) for n in shape))
    rates = base * effects * np.where(np.equal.outer(rows, columns), factor, 1.0)
    return rng.poisson(rates).astype(float), (rows, columns)


def one_cluster(X):
    return CountData(X).evaluate((np.ones((X.shape[0], 1)), np.ones((X.shape[1], 1))))


@pytest.mark.parametrize(("total", "size"), [(0, 2.0), (7, 2.5), (40, 60.0), (3, 0.2)])
def test_evidence_of_a_block_is_the_integral_over_its_rate(total, size):
    """The evidence is relative to the likelihood at a rate of one."""
    evidence, rates, logs = rate_evidence(np.array([[float(total)]]), np.array([[size]]))

    def relative(rate, shape):
        likelihood = poisson.pmf(total, rate * size) / poisson.pmf(total, size)
        return likelihood * gamma.pdf(rate, shape, scale=1 / shape)

    slabs = [
        quad(relative, 0, 50, (shape,), points=[total / size], limit=200)[0] for shape in _SHAPES
    ]
    best = max((1 - share) + share * slab for share in SHARES for slab in slabs)
    assert evidence == pytest.approx(np.log(best), abs=1e-3)
    assert logs <= np.log(rates)  # Jensen


def test_totals_alone_are_no_evidence():
    X = np.random.default_rng(0).poisson(np.outer(np.arange(1, 31), np.arange(1, 21)) / 20.0)
    data = CountData(X.astype(float))
    halves = hard_memberships(np.arange(30) // 15), hard_memberships(np.arange(20) // 10)
    assert data.evaluate(halves).evidence < 0
    assert one_cluster(X.astype(float)).evidence == pytest.approx(0, abs=0.05)


def test_sums_and_expected_counts_are_those_of_the_blocks():
    X, labels = planted()
    data = CountData(X)
    memberships = hard_memberships(labels[0]), hard_memberships(labels[1])
    expected = np.outer(X.sum(axis=1), X.sum(axis=0)) / X.sum()
    for k, h in np.ndindex(3, 3):
        block = np.ix_(labels[0] == k, labels[1] == h)
        assert data.sums(memberships)[k, h] == pytest.approx(X[block].sum())
        assert data.sizes(memberships)[k, h] == pytest.approx(expected[block].sum())


def test_losses_of_merges_are_those_of_the_profile_likelihood():
    X, labels = planted()
    data = CountData(X)

    def log_likelihood(rows):
        members = hard_memberships(rows), hard_memberships(labels[1])
        sums, sizes = data.sums(members), data.sizes(members)
        return np.sum(sums * np.log(sums / sizes))

    members = hard_memberships(labels[0]), hard_memberships(labels[1])
    losses = data.merge_losses(data.sums(members), data.sizes(members))
    merged = np.where(labels[0] == 2, 1, labels[0])
    assert losses[1, 2] == pytest.approx(log_likelihood(labels[0]) - log_likelihood(merged))


def test_sweeps_find_the_rows_that_were_moved():
    X, labels = planted(factor=4.0)
    start = labels[0].copy()
    start[:10] = (start[:10] + 1) % 3
    found = sweep(CountData(X), (start, labels[1]))
    assert adjusted_rand_score(labels[0], found[0]) > adjusted_rand_score(labels[0], start)


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_the_bound_rises_with_every_round(seed):
    X, labels = planted(seed, shape=(40, 30))
    start = hard_memberships(labels[0]), hard_memberships(labels[1])
    bounds = [variational_fit(CountData(X), start, rounds).evidence for rounds in range(1, 6)]
    assert np.all(np.diff(bounds) > -0.5)


def test_splits_of_one_cluster_find_blocks_on_the_diagonal():
    """Neither the rows nor the columns alone show these blocks."""
    X, labels = planted(shape=(200, 150), k=4)
    fit = split_clusters(CountData(X), one_cluster(X))
    for found, truth in zip(fitted_labels(fit), labels, strict=True):
        assert adjusted_rand_score(truth, found) > 0.95


def test_merges_find_blocks_from_a_fine_start():
    X, labels = planted(factor=3.0)
    rng = np.random.default_rng(1)
    start = tuple(4 * side + rng.integers(4, size=len(side)) for side in labels)
    fit = best_block_fit(CountData(X), start, (None, None))
    assert adjusted_rand_score(labels[0], fitted_labels(fit)[0]) > 0.95


def starts(X):
    return [(np.arange(X.shape[0]) % 8, np.arange(X.shape[1]) % 8)]


def test_planted_counts_consist_of_blocks():
    X, labels = planted(shape=(200, 150), k=4)
    structure = detect_count_structure(X, starts(X), (None, None), mostly_zero=False)
    assert structure.kind == "blocks"
    assert adjusted_rand_score(labels[0], fitted_labels(structure.fit)[0]) > 0.95


@pytest.mark.parametrize("seed", range(4))
def test_noise_with_row_and_column_effects_is_one_block(seed):
    X, _ = planted(seed, factor=1.0)
    structure = detect_count_structure(X, starts(X), (None, None), mostly_zero=False)
    assert structure.kind == "blocks"
    assert max(side.max() for side in fitted_labels(structure.fit)) == 0


def test_counts_that_come_in_bursts_do_not_consist_of_blocks():
    X, _ = planted()
    bursts = X * np.random.default_rng(0).poisson(1.0, X.shape)
    assert (
        detect_count_structure(bursts, starts(X), (None, None), mostly_zero=False).kind
        == "features"
    )


def overdispersed(seed, factor=1.0):
    """Negative-binomial counts with row and column effects: their blocks differ by `factor`."""
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(150) % 3, np.arange(100) % 3
    means = 5 * np.outer(rng.gamma(2, 0.5, 150), rng.gamma(2, 0.5, 100))
    means *= np.where(rows[:, None] == columns, factor, 1)
    return rng.poisson(means * rng.gamma(1.5, 1 / 1.5, means.shape)).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_overdispersed_noise_is_one_block_unless_it_is_mostly_zero(seed):
    X = overdispersed(seed)
    structure = detect_count_structure(X, starts(X), (None, None), mostly_zero=False)
    assert (structure.kind, structure.fit.rates.shape) == ("blocks", (1, 1))
    for numbers, mostly_zero in (((None, None), True), ((2, None), False)):
        structure = detect_count_structure(X, starts(X), numbers, mostly_zero=mostly_zero)
        assert structure.kind == "features"


def test_overdispersed_blocks_are_not_one_block():
    X = overdispersed(0, factor=4.0)
    structure = detect_count_structure(X, starts(X), (None, None), mostly_zero=False)
    assert structure.kind == "features"


def with_wide_levels(seed, factor=1.0):
    """Counts as of genes: levels over orders of magnitude, and noise that grows with the level."""
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(120) % 3, np.arange(60) % 3
    means = 100 * np.outer(rng.lognormal(0, 1.5, 120), rng.lognormal(0, 1.5, 60))
    means *= np.where(rows[:, None] == columns, factor, 1)
    return rng.poisson(means * rng.gamma(1, 1, means.shape)).astype(float)


@pytest.mark.parametrize("share", [0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_large_counts_do_not_hide_the_blocks_of_all_others(seed, share):
    for factor, kind in ((1.0, "blocks"), (3.0, "features")):
        X = without_some(with_wide_levels(seed, factor), share)
        structure = detect_count_structure(X, starts(X), (None, None), mostly_zero=False)
        assert structure.kind == kind
        assert structure.fit is None or structure.fit.rates.shape == (1, 1)


def test_overdispersed_residuals_have_the_variance_of_their_noise():
    X = with_wide_levels(0)
    residuals = CountData(X).overdispersed_residuals()
    large = X.mean() < np.outer(X.mean(axis=1), X.mean(axis=0)) / X.mean()
    for cells in (large, ~large):
        assert residuals[cells].std() == pytest.approx(1, abs=0.15)


def without_some(X, share, seed=5):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def test_levels_of_incomplete_counts_have_their_totals():
    X, labels = planted(shape=(60, 40))
    incomplete = without_some(X, 0.3)
    data = CountData(incomplete, complete=False)
    expected = np.where(np.isnan(incomplete), 0, np.outer(*data.levels))
    np.testing.assert_allclose(expected.sum(axis=1), np.nansum(incomplete, axis=1), rtol=1e-4)
    np.testing.assert_allclose(expected.sum(axis=0), np.nansum(incomplete, axis=0), rtol=1e-4)
    members = hard_memberships(labels[0]), hard_memberships(labels[1])
    np.testing.assert_allclose(data.sizes(members).sum(), np.nansum(incomplete), rtol=1e-4)
    assert np.all(data.residuals(labels)[np.isnan(incomplete)] == 0)


def test_counts_marked_as_incomplete_without_missing_ones_have_the_same_fit():
    X, _ = planted(shape=(60, 40))
    one, other = (one_cluster_fit(X, complete) for complete in (True, False))
    assert one.evidence == pytest.approx(other.evidence)


def one_cluster_fit(X, complete):
    start = np.ones((X.shape[0], 1)), np.ones((X.shape[1], 1))
    return CountData(X, complete=complete).evaluate(start)


def test_levels_do_not_depend_on_which_counts_are_missing():
    """Rows that lack counts of a block where they are high have lower totals, not lower levels."""
    rows, columns = np.arange(60) % 2, np.arange(40) % 2
    X = np.where(rows[:, None] == columns, 100.0, 10.0)
    data = CountData(without_some(X, 0.4), complete=False)
    assert np.ptp(data.levels[0]) > 0.2 * data.levels[0].mean()
    assert np.ptp(data.completed((rows, columns)).levels[0]) < 0.01 * data.levels[0].mean()


@pytest.mark.parametrize("base", [3.0, 60.0])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_blocks_are_found_in_incomplete_counts(share, base):
    rng = np.random.default_rng(4)
    rows, columns = rng.integers(4, size=180), rng.integers(3, size=120)
    means = np.exp(rng.standard_normal((4, 3)))[rows][:, columns] * base
    means *= np.outer(rng.gamma(4, 0.25, 180), rng.gamma(4, 0.25, 120))
    X = without_some(rng.poisson(means).astype(float), share)
    model = ROCCO().fit(X)
    assert (model.cells_, model.structure_) == ("counts", "blocks")
    assert (model.n_row_clusters_, model.n_column_clusters_) == (4, 3)
    assert adjusted_rand_score(rows, model.row_labels_) > 0.95
    assert np.array_equal(model.predict(X), model.row_labels_)
    assert "Columns are compared" not in model.preparation_


@pytest.mark.parametrize("base", [0.3, 5.0])
def test_incomplete_noise_with_row_and_column_effects_is_one_block(base):
    rng = np.random.default_rng(0)
    means = base * np.outer(rng.gamma(2, 0.5, 200), rng.gamma(2, 0.5, 100))
    model = ROCCO().fit(without_some(rng.poisson(means).astype(float), 0.2))
    assert (model.structure_, model.n_row_clusters_, model.n_column_clusters_) == ("blocks", 1, 1)


def test_the_transpose_gives_the_same_fit():
    X, _ = planted(shape=(100, 80))
    one = split_clusters(CountData(X), one_cluster(X))
    other = split_clusters(CountData(X.T.copy()), one_cluster(X.T.copy()))
    for found, swapped in zip(fitted_labels(one), fitted_labels(other)[::-1], strict=True):
        assert adjusted_rand_score(found, swapped) == 1.0
