import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyrocco import RCC
from pyrocco.assign.continuous import published_calibration
from pyrocco.graph import Laplacian
from pyrocco.solvers import ConjugateGradientSolver, DecoupledSolver

CASES = [
    (name, metric) for name in ("blobs300x5", "digits", "glioma_z")
    for metric in ("euclidean", "cosine")
]  # fmt: skip


@parametrize_with_checks([RCC()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_paper_variant_reproduces_both_programs(name, metric, rcc_reference, rcc_input):
    model = RCC(variant="paper", metric=metric, solver=ConjugateGradientSolver(tol=1e-6))
    model.fit(rcc_input(name))
    port = {k.split("/")[1]: v for k, v in rcc_reference.items() if f"pyrcc_{name}_{metric}/" in k}
    assert adjusted_rand_score(port["labels"], model.labels_) == 1
    assert model.history_[0]["mu_rows"] == pytest.approx(float(port["mu0"]), rel=1e-5)
    assert model.history_[0]["alpha"] == pytest.approx(float(port["lambda0"]), rel=1e-5)
    keys = ("iteration", "alpha", "mu_rows", "objective")
    trace = [[record[key] for key in keys] for record in model.history_]
    np.testing.assert_allclose(trace, port["trace"], rtol=1e-4)
    matlab = rcc_reference.get(f"rccmatlab_{name}_{metric}/labels")
    if matlab is not None:
        assert adjusted_rand_score(matlab, model.labels_) == 1


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_blobs_representation_equals_the_port(metric, rcc_reference, rcc_input):
    model = RCC(variant="paper", metric=metric, solver=ConjugateGradientSolver(tol=1e-8))
    model.fit(rcc_input("blobs300x5"))
    U = rcc_reference[f"pyrcc_blobs300x5_{metric}/U"]
    np.testing.assert_allclose(model.representation_, U, atol=1e-4)


def test_paper_variant_stops_where_the_program_stops(rcc_reference):
    """With residuals of 1e-3, the change of the objective is below 0.1 an iteration too early."""
    model = RCC(5, variant="paper", metric="euclidean").fit(load_digits().data[:1000] / 16)
    port = {k.split("/")[1]: v for k, v in rcc_reference.items() if "pyrcc_digits1000k5_" in k}
    keys = np.sort(port["edges"].astype(int) @ [1000, 1])
    np.testing.assert_array_equal(1000 * model.graph_.heads + model.graph_.tails, keys)
    assert model.n_iter_ == len(port["trace"]) == 35
    assert adjusted_rand_score(port["labels"], model.labels_) == 1


def test_paper_variant_solves_as_exactly_as_its_stop_needs():
    X = load_digits().data[:300] / 16
    bounds = [published_calibration(unit * X).solver_tol for unit in (1e-3, 1, 1e9)]
    # Residuals may raise the objective by a hundredth of 0.1, the change that counts as stable.
    needed = np.sqrt(2 * 0.01 * 0.1) / np.linalg.norm(X)
    assert bounds == pytest.approx([1e-3, needed, 1e-6])
    assert published_calibration(sparse.csr_array(X)).solver_tol == pytest.approx(needed)
    model = RCC(variant="paper").fit(X)
    assert max(record["residual"] for record in model.history_) <= needed
    exact = RCC(variant="paper", solver=DecoupledSolver(1e-9)).fit(X)
    assert model.n_iter_ == exact.n_iter_


def test_default_does_not_depend_on_units():
    X = load_digits().data[:300] / 16
    expected = RCC().fit(X)
    assert 5 < expected.n_clusters_ < 60
    for factor in (0.01, 0.1, 10, 100):
        model = RCC().fit(factor * X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        error = np.linalg.norm(model.representation_ / factor - expected.representation_)
        assert error <= 1e-3 * np.linalg.norm(expected.representation_)


def test_paper_variant_depends_on_units():
    X = load_digits().data / 16
    assert RCC(variant="paper").fit(X).n_clusters_ != RCC(variant="paper").fit(X / 100).n_clusters_


def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((20, 10))) * rng.random((60, 30))
    dense, csr = RCC().fit(X), RCC().fit(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.labels_, csr.labels_)
    assert dense.n_clusters_ == 3


@pytest.mark.parametrize("variant", ["refined", "paper"])
def test_sparse_stops_where_dense_does(variant):
    X = load_digits().data[:400] / 16
    X[X < 0.6] = 0
    dense, csr = (RCC(variant=variant).fit(data) for data in (X, sparse.csr_array(X)))
    assert csr.n_iter_ == dense.n_iter_
    np.testing.assert_allclose(csr.representation_, dense.representation_, atol=1e-9)
    np.testing.assert_array_equal(csr.labels_, dense.labels_)


def test_iteration_cap_warns():
    X = load_digits().data[:200] / 16
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = RCC(max_iter=2).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_graph_weights_are_used():
    X = load_digits().data[:100] / 16
    model = RCC().fit(X)
    assert Laplacian(model.graph_).degrees.sum() == pytest.approx(2 * model.graph_.weights.sum())
