import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco.convex import Clusters, solve, solve_path
from pyrocco.convex.model_selection import held_out_error

from .conftest import NAMES

FRO = [name for name in NAMES if name.endswith("_fro")]


@pytest.mark.parametrize("name", NAMES)
def test_edges_and_weights(name, make_problem, cobra_reference):
    problem = make_problem(name)
    for side, graph in (("row", problem.rows), ("column", problem.columns)):
        edges = cobra_reference[f"{name.replace('_z', '_fro')}_{side}_edges"]
        np.testing.assert_array_equal(np.column_stack([graph.heads, graph.tails]), edges)
        np.testing.assert_allclose(graph.weights, cobra_reference[f"{name}_{side}_weights"])


@pytest.mark.parametrize("name", NAMES)
def test_objectives_and_clusters_along_the_path(name, make_problem, cobra_reference):
    problem = make_problem(name)
    found = solve_path(problem, cobra_reference[f"{name}_gammas"])
    objectives = [solution.objective for solution in found]
    np.testing.assert_allclose(objectives, cobra_reference[f"{name}_objectives"], rtol=1e-6)
    for place, solution in enumerate(found):
        assert solution.converged
        for side in ("row", "column"):
            expected = cobra_reference[f"{name}_{side}_groups"][place]
            labels = getattr(solution.clusters, side + "s")
            assert len(np.unique(labels)) == len(np.unique(expected))
            assert adjusted_rand_score(labels, expected) == 1.0


@pytest.mark.parametrize("program", ["", "_clarabel"])
@pytest.mark.parametrize("name", FRO)
def test_representation(name, program, make_problem, cobra_reference):
    U = cobra_reference[f"{name}{program}_U"]
    gamma = float(cobra_reference[f"{name}{program}_U_at"])
    found = solve(make_problem(name), gamma, tol=1e-11)
    assert np.linalg.norm(found.U - U) <= 1e-5 * np.linalg.norm(U)


@pytest.mark.parametrize("name", FRO)
def test_validation_error_formula(name, cobra_input, cobra_reference):
    X = cobra_input(name)
    cells = np.zeros(X.shape, dtype=bool)
    cells[tuple(cobra_reference[f"{name}_held_out"].T)] = True
    for place, expected in enumerate(cobra_reference[f"{name}_errors"]):
        rows, columns = (
            np.unique(
                cobra_reference[f"{name}_held_out_{side}_groups"][place], return_inverse=True
            )
            for side in ("row", "column")
        )
        assert held_out_error(X, cells, Clusters(rows[1], columns[1])) == pytest.approx(expected)
