"""Residuals of blocks: white or not, with outlier cells or not; gradients and modes."""

import numpy as np
import pytest

from pyrocco.assign.block_model import BlockData
from pyrocco.assign.block_model.gradient import fit_gradient, low_rank_evidence
from pyrocco.assign.block_model.levels import fit_levels
from pyrocco.assign.block_model.modes import has_modes
from pyrocco.assign.structure import is_contaminated, is_white

FACTORS = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.standard_normal(n),
    "linear": lambda rng, n: np.linspace(0, 1, n),
    "exponential": lambda rng, n: rng.exponential(size=n),
}


def noise(seed, shape=(80, 60)):
    return np.random.default_rng(seed).standard_normal(shape)


def test_residuals_have_no_block_means():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(12, 9)), (np.arange(12) % 3, np.arange(9) % 2)
    left = BlockData(X).residuals(labels)
    for i, j in np.ndindex(3, 2):
        block = np.ix_(labels[0] == i, labels[1] == j)
        assert left[block].mean() == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(left[block], X[block] - X[block].mean())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["gaussian", "outliers", "uneven rows"])
def test_noise_of_any_kind_is_white(seed, kind):
    X, rng = noise(seed), np.random.default_rng(seed)
    if kind == "outliers":
        X = np.where(rng.random(X.shape) < 0.05, 8 * X, X)
    if kind == "uneven rows":
        X *= rng.uniform(0.5, 2, (len(X), 1))
    assert is_white(X, np.linalg.norm(X))


@pytest.mark.parametrize("seed", range(5))
def test_structure_is_not_white(seed):
    X = noise(seed)
    X += 0.4 * np.outer(np.sign(X[:, 0]), np.sign(X[0]))
    assert not is_white(X, np.linalg.norm(X))


def test_rounding_is_white_and_clean():
    ramp = np.outer(np.arange(20.0), np.arange(15.0))
    ramp[3, 4] += 1e5
    assert is_white(1e-12 * ramp, 1.0)
    assert not is_contaminated(1e-12 * ramp, 1.0)
    assert not is_contaminated(np.zeros((5, 4)), 1.0)
    assert is_contaminated(ramp, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_one_width_is_clean_and_two_are_not(seed):
    X, rng = noise(seed, (100, 100)), np.random.default_rng(seed)
    assert not is_contaminated(X, 100.0)
    assert is_contaminated(np.where(rng.random(X.shape) < 0.1, 4 * X, X), 100.0)
    assert is_contaminated(rng.standard_t(2, X.shape), 100.0)


def test_contamination_does_not_depend_on_the_unit():
    X = np.where(noise(1) > 1.5, 9.0, noise(0))
    for factor in (1e-9, 1e9):
        assert is_contaminated(factor * X, factor * 50)


def test_a_gradient_is_found_under_noise():
    rng = np.random.default_rng(0)
    u, v = rng.normal(2, 1, 80), rng.normal(0, 1, 60)
    fit = fit_gradient(np.outer(u, v) + 0.5 * noise(3))
    line = np.polyfit(fit.scores[0], u, 1)
    error = np.std(np.polyval(line, fit.scores[0]) - u)
    assert error < 0.1
    assert fit.errors[0] * abs(line[0]) == pytest.approx(error, rel=0.25)
    assert np.std(fit.noise) == pytest.approx(0.5, abs=0.03)


def test_the_gradient_of_a_transpose_has_the_same_evidence():
    X = np.outer(np.arange(30), np.arange(20)) / 30 + noise(4, (30, 20))
    transposed = fit_gradient(np.ascontiguousarray(X.T))
    assert transposed.evidence == pytest.approx(fit_gradient(X).evidence, abs=0.1)


def test_evidence_of_a_gradient_changes_with_the_unit_as_that_of_blocks():
    X = np.outer(np.arange(30), np.arange(20)) / 30 + noise(5, (30, 20))
    scaled = fit_gradient(1e6 * X).evidence
    assert scaled == pytest.approx(fit_gradient(X).evidence - X.size * np.log(1e6), abs=0.05)


@pytest.mark.parametrize("X", [np.zeros((6, 7)), np.ones((6, 7)), np.arange(7.0)[None]])
def test_matrices_without_a_gradient(X):
    assert np.isfinite(fit_gradient(X).evidence)


def test_a_sum_of_gradients_has_more_evidence_only_if_there_are_several():
    rng = np.random.default_rng(0)
    one = np.outer(rng.standard_normal(60), rng.standard_normal(50))
    more = one + np.outer(rng.standard_normal(60), rng.standard_normal(50))
    single, double = (fit_gradient(X + rng.standard_normal(X.shape)) for X in (one, more))
    assert low_rank_evidence(single) - single.evidence < 5
    assert low_rank_evidence(double) - double.evidence > 100


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("error", [0.01, 0.1, 0.3])
def test_smooth_numbers_have_no_modes(seed, factor, error):
    rng = np.random.default_rng(seed)
    values = FACTORS[factor](rng, 150)
    values = values / values.std() + error * rng.standard_normal(150)
    assert not has_modes(values, error)


@pytest.mark.parametrize("ratio", [0.8, 0.9, 1.0])
def test_errors_alone_have_no_modes(ratio):
    """Errors that are a little smaller than expected have one mode, too."""
    rng = np.random.default_rng(1)
    assert not any(has_modes(ratio * rng.standard_normal(300), 1.0) for _ in range(20))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("width", [0.0, 0.05, 0.15])
def test_few_values_are_modes(k, width):
    rng = np.random.default_rng(k)
    values = np.arange(120) % k + width * rng.standard_normal(120)
    assert has_modes(values, 0.05)
    assert has_modes(1e6 * values - 3, 0.05e6)


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [1.0, 1.001]])
def test_too_few_or_equal_numbers_have_no_modes(values):
    assert not has_modes(np.array(values), 0.01)


def levels(seed=0, shape=(90, 70)):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.standard_normal(n) for n in shape)
    return rows[:, None] + columns, rows


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_levels_of_rows_and_columns_are_found(missing):
    expected, rows = levels()
    X = 5 + expected + 0.5 * noise(1, expected.shape)
    X[np.random.default_rng(2).random(X.shape) < missing] = np.nan
    fit = fit_levels(X)
    assert fit.is_smooth
    assert fit.evidence > fit_gradient(X).evidence + 100
    assert np.corrcoef(fit.scores[0], rows)[0, 1] > 0.98
    rest = fit.noise[~np.isnan(X)]
    assert rest.std() == pytest.approx(0.5, rel=0.05)
    assert np.all(fit.noise[np.isnan(X)] == 0)


def test_levels_do_not_depend_on_unit_offset_and_orientation():
    X = levels()[0] + noise(1, (90, 70))
    evidence = fit_levels(X).evidence
    assert fit_levels(X.T.copy()).evidence == pytest.approx(evidence, abs=0.1)
    scaled = fit_levels(1e6 * X + 1e3).evidence
    assert scaled == pytest.approx(evidence - X.size * np.log(1e6), abs=0.1)


@pytest.mark.parametrize("answers", [(0.0, 1.0), (-2.0, 5.0)])
def test_levels_of_answers_are_those_of_their_odds(answers):
    expected, rows = levels(shape=(200, 150))
    yes = np.random.default_rng(1).random(expected.shape) < 1 / (1 + np.exp(-2 * expected))
    X = np.where(yes, answers[1], answers[0])
    fit = fit_levels(X)
    assert fit.is_smooth
    assert is_white(fit.noise, float(np.linalg.norm(X)))
    assert np.corrcoef(fit.scores[0], rows)[0, 1] > 0.97


def test_levels_of_few_kinds_are_not_smooth():
    X = np.repeat([0.0, 3.0, 6.0], 30)[:, None] + noise(0, (90, 50))
    assert not fit_levels(X).is_smooth


def test_equal_values_have_levels_without_noise():
    fit = fit_levels(np.full((6, 5), 3.0))
    assert np.isfinite(fit.evidence)
    assert np.all(fit.noise == 0)
