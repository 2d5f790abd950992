import itertools

import numpy as np
import pytest

from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.solvers import ConjugateGradientSolver
from tests.reference import literal_rocco


@pytest.mark.parametrize("solver", ["spectral", ConjugateGradientSolver(tol=1e-11)])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-6), (np.float32, 1e-3)])
def test_paper_variant_is_algorithm_1(solver, dtype, bound):
    """Every iteration of a fit against the one-page program: U, objective, strengths."""
    X = np.random.default_rng(0).normal(size=(16, 11)).astype(dtype)
    X[:8, :5] += 3
    with pytest.warns(match="max_iter=10"):
        model = ROCCO(variant="paper", solver=solver, n_neighbors=4, max_iter=10).fit(X)
    first = model.history_[0]
    graphs = model.row_graph_, model.column_graph_
    arguments = [
        part
        for graph in graphs
        for part in (list(zip(graph.heads, graph.tails, strict=True)), graph.weights)
    ]
    U, objectives = literal_rocco.representation(
        X.astype(float), *arguments, mu=(first["mu_rows"], first["mu_columns"]), n_iter=10
    )
    assert np.linalg.norm(model.representation_ - U) <= bound * np.linalg.norm(U)
    np.testing.assert_allclose(
        [record["objective"] for record in model.history_], objectives, rtol=max(bound, 1e-6)
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(80, 30), (30, 80)])
def test_the_objective_of_one_solve_is_the_same_for_every_solver(dtype, shape):
    """Also for the solver that computes it in passing."""
    X = make_noisy_biclusters(shape, 3, noise=10, random_state=0).X.astype(dtype)
    expected, found = (
        ROCCO(solver=solver).fit(X).history_[0]["objective"]
        for solver in ("spectral", "decoupled")
    )
    assert found == pytest.approx(expected, rel=1e-9 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_objective_does_not_rise_between_mu_updates(seed):
    X = np.random.default_rng(seed).normal(size=(30, 20))
    X[:10, :10] += 4
    history = ROCCO(variant="paper", solver="spectral").fit(X).history_
    for before, after in itertools.pairwise(history):
        same = all(before[key] == after[key] for key in ("mu_rows", "mu_columns", "alpha"))
        if same:
            assert after["objective"] <= before["objective"] * (1 + 1e-12)


def test_mu_halves_every_four_iterations(planted):
    history = ROCCO(variant="paper").fit(planted[0]).history_
    mu = [record["mu_rows"] for record in history[:12]]
    assert mu == [mu[0]] * 4 + [mu[0] / 2] * 4 + [mu[0] / 4] * 4


def test_history_has_every_promised_field(planted):
    for variant in ("refined", "paper"):
        record = ROCCO(variant=variant).fit(planted[0]).history_[0]
        assert set(record) == {
            "iteration", "objective", "alpha", "beta", "mu_rows", "mu_columns", "solver",
            "solver_iterations", "residual", "seconds",
        }  # fmt: skip
