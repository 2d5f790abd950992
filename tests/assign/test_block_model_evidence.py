"""Evidence for blocks against integrals and sums over all labellings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from pyrocco.assign.block_model import BlockData, variational_fit
from pyrocco.assign.block_model.fit import label_evidence
from pyrocco.assign.block_model.gaussian import _SPREADS, SHARES, block_evidence
from pyrocco.assign.labels import hard_memberships
from tests.reference.literal_blocks import (
    block_log_evidence,
    labelling_log_prior,
    log_marginal_likelihood,
    spike_and_slab,
)


@pytest.mark.parametrize("total", [0.0, 3.0, -20.0])
@pytest.mark.parametrize("spread", [1e-3, 0.1, 10.0])
def test_completing_the_square_equals_the_integral(total, spread):
    found = spike_and_slab(total, 12.0, 2.5, spread, 0.35)
    assert found == pytest.approx(block_log_evidence(total, 12.0, 2.5, spread, 0.35), abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_the_best_over_spreads_and_shares(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 40, (2, 3)).astype(float)
    sums = sizes * rng.normal(0, 2, sizes.shape)
    values = [
        sum(
            spike_and_slab(s, n, 1.5, spread, share)
            for s, n in zip(sums.ravel(), sizes.ravel(), strict=True)
        )
        for spread in _SPREADS
        for share in SHARES
    ]
    assert block_evidence(sums, sizes, 1.5)[0] == pytest.approx(max(values))


def test_means_are_shrunk_towards_the_background():
    sizes = np.array([[200.0, 200.0, 200.0]])
    values = block_evidence(sizes * [5.0, 0.01, -4.0], sizes, 1.0)[1][0]
    np.testing.assert_allclose(values[[0, 2]], [5.0, -4.0], rtol=0.01)
    assert 0 <= values[1] < 0.01


def test_equal_blocks_cost_little_whatever_their_number():
    one, many = np.zeros((1, 1)), np.zeros((20, 20))
    costs = [-block_evidence(zeros, zeros + 25.0, 1.0)[0] for zeros in (one, many)]
    assert 0 < costs[0] < costs[1] < 0.15


def test_evidence_does_not_depend_on_the_unit():
    sums, sizes = np.array([[40.0, -3.0]]), np.array([[20.0, 30.0]])
    assert block_evidence(1e6 * sums, sizes, 1e12)[0] == pytest.approx(
        block_evidence(sums, sizes, 1.0)[0]
    )


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]])
def test_hard_labels_have_the_probability_of_a_division(labels):
    labels = np.array(labels)
    k = labels.max() + 1
    expected = labelling_log_prior(labels, k) + gammaln(k + 1)
    assert label_evidence(hard_memberships(labels)) == pytest.approx(expected)


def test_copies_of_one_cluster_add_no_evidence():
    """Ten equal clusters never have higher evidence than one cluster."""
    assert label_evidence(np.full((40, 10), 0.1)) <= 0
    assert label_evidence(np.ones((40, 1))) == pytest.approx(0)


def names(fit):
    """Log number of permutations of the clusters, which the bound includes."""
    return sum(gammaln(len(np.unique(side.argmax(axis=1))) + 1) for side in fit.memberships)


def prior(data, fit):
    """Spread and share with which the bound of a fit was computed."""
    sizes = np.outer(*(side.sum(axis=0) for side in fit.memberships))
    sums = data.sums(fit.memberships) - fit.background * sizes
    return max(
        product(_SPREADS, SHARES),
        key=lambda pair: sum(
            spike_and_slab(s, n, fit.variance, *pair)
            for s, n in zip(sums.ravel(), sizes.ravel(), strict=True)
        ),
    )


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 4.0]), st.booleans())
@settings(max_examples=15)
def test_the_bound_is_below_the_marginal_likelihood(seed, contrast, disturbed):
    """All 256 labellings, for the same variance, background and prior."""
    rng = np.random.default_rng(seed)
    side = np.array([0, 0, 1, 1])
    X = contrast * np.equal.outer(side, side) + rng.standard_normal((4, 4))
    start = rng.permutation(side) if disturbed else side
    data = BlockData(X)
    fit = variational_fit(data, (hard_memberships(start), hard_memberships(side)))
    exact = log_marginal_likelihood(X, (2, 2), fit.variance, fit.background, *prior(data, fit))
    bound = fit.evidence - 0.5 * X.size * (1 + np.log(2 * np.pi))
    assert bound - names(fit) <= exact + 1e-6


def test_the_bound_is_close_where_blocks_are_clear():
    """With clear blocks all labellings add only the permutations of the names."""
    side = np.array([0, 0, 1, 1])
    X = 20 * np.equal.outer(side, side) + np.random.default_rng(0).standard_normal((4, 4))
    data = BlockData(X)
    fit = variational_fit(data, (hard_memberships(side), hard_memberships(side)))
    exact = log_marginal_likelihood(X, (2, 2), fit.variance, fit.background, *prior(data, fit))
    bound = fit.evidence - 0.5 * X.size * (1 + np.log(2 * np.pi))
    assert bound == pytest.approx(exact, abs=0.01)
