"""The problems that public programs of convex biclustering were run on.

tests/reference/cobra.npz holds numbers only: from cvxbiclustr 0.0.1 run to a tight tolerance
(objectives, U, weights, edges), from CVXPY with Clarabel (U, objective), and clusters of edges
shorter than 1e-5 ||X||. The clusters of cvxbiclustr are there for the validation error only.
"""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_biclusters, make_checkerboard

from pyrocco.convex import ConvexProblem, gaussian_knn_graph

NAMES = ("bic40x30_fro", "bic40x30_z", "chk60x50_fro", "chk60x50_z")


@pytest.fixture(scope="session")
def cobra_reference():
    path = Path(__file__).parents[1] / "reference" / "cobra.npz"
    return dict(np.load(path))


@pytest.fixture(scope="session")
def cobra_input():
    def make(name):
        if name.startswith("bic"):
            X, _, _ = make_biclusters((40, 30), 3, noise=5, random_state=0)
        else:
            X, _, _ = make_checkerboard((60, 50), (4, 3), noise=5, random_state=0)
        X = X - X.mean()
        if name.endswith("_fro"):
            return X / np.linalg.norm(X)
        return X / np.sqrt((X**2).mean())

    return make


@pytest.fixture(scope="session")
def make_problem(cobra_input):
    def make(name):
        X = cobra_input(name)
        return ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T))

    return make


@pytest.fixture
def small():
    """12 x 9, with two clusters on both sides."""
    X, _, _ = make_biclusters((12, 9), 2, noise=8, random_state=3)
    X = (X - X.mean()) / np.linalg.norm(X - X.mean())
    return ConvexProblem(X, gaussian_knn_graph(X, 3), gaussian_knn_graph(X.T, 3))
