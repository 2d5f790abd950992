"""The same cases on every back end that this machine has."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_biclusters, make_blobs, make_checkerboard
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO, mutual_knn_graph
from pyrocco.backends import NumpyBackend, resolve_backend
from pyrocco.graph import Laplacian
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import (
    SOLVERS,
    ConjugateGradientSolver,
    DecoupledSolver,
    SpectralSolver,
    resolve_solver,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install pyrocco[gpu]")

from pyrocco.backends.torch import TorchBackend  # noqa: E402 - after the check for PyTorch
from pyrocco.graph.exact import DeviceSearch  # noqa: E402

BACKENDS = [NumpyBackend(1), NumpyBackend(2), TorchBackend("cpu")]
if torch.cuda.is_available():
    BACKENDS.append(TorchBackend("cuda"))
TORCHES = BACKENDS[2:]


def name(value):
    return getattr(value, "name", None)


@pytest.fixture(params=BACKENDS, ids=name)
def backend(request):
    return request.param


def systems(backend, shape, dtype):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    sides = [Side(mutual_knn_graph(M, 4), axis, 40.0) for axis, M in enumerate((X, X.T))]
    operators = [side.operator(backend, X.dtype) for side in sides]
    return X, SylvesterSystem(backend.asarray(X), 2.0, *operators, backend)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", [SpectralSolver(), ConjugateGradientSolver(1e-9),
                                    DecoupledSolver(1e-9)], ids=name)  # fmt: skip
@pytest.mark.parametrize("shape", [(30, 20), (9, 40), (5, 1)])
def test_solvers(backend, dtype, solver, shape):
    X, system = systems(backend, shape, dtype)
    _, reference = systems(NumpyBackend(), shape, np.float64)
    expected = SpectralSolver().solve(reference, X).U
    solution = solver.solve(system, backend.asarray(X))
    bound = 1e-6 if dtype == np.float64 else 1e-3
    error = np.linalg.norm(backend.to_numpy(solution.U) - expected)
    assert backend.dtype(solution.U) == dtype
    assert error <= bound * np.linalg.norm(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_primitives(backend, dtype):
    rng = np.random.default_rng(0)
    U = rng.normal(size=(37, 12)).astype(dtype)
    here = backend.asarray(U)
    tight = {"rtol": 1e-5 if dtype == np.float32 else 1e-12}
    np.testing.assert_array_equal(backend.to_numpy(backend.asarray(sparse.csr_array(U))), U)
    for axis, M in enumerate((U, U.T)):
        graph = mutual_knn_graph(np.ascontiguousarray(M), 3)
        lengths = backend.edge_lengths(here, graph.heads, graph.tails, axis)
        np.testing.assert_allclose(
            lengths, np.square(M[graph.heads] - M[graph.tails]).sum(axis=1), **tight
        )
    assert backend.squared_norm(here) == pytest.approx(np.square(U).sum(), rel=1e-5)
    assert backend.matrix_norm(here) == pytest.approx(np.linalg.norm(U, 2), rel=1e-5)
    np.testing.assert_allclose(backend.to_numpy(backend.centred(here)), U - U.mean(0), atol=1e-6)
    centres = rng.normal(size=(3, 12))
    labels, sums = backend.nearest_centres(here, centres)
    expected = np.square(U[:, None] - centres).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(labels, expected)
    for k in range(3):
        np.testing.assert_allclose(sums[k], U[labels == k].sum(axis=0), atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_content_keys(backend, dtype, axis):
    """The same on every back end, for any order and unit; missing values do not count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(37, 12)).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[3], X[:, 4] = 0, 0
    keys = NumpyBackend().content_keys(X, axis)
    assert len(np.unique(keys)) == X.shape[axis]
    rows, columns = rng.permutation(37), rng.permutation(12)
    permuted = backend.asarray(8 * X[rows][:, columns])
    found = backend.content_keys(permuted, axis)
    np.testing.assert_array_equal(found, keys[(rows, columns)[axis]])


def gradient():
    rng = np.random.default_rng(0)
    return np.outer(rng.random(60), rng.random(50)) + 0.05 * rng.standard_normal((60, 50))


def with_outliers(X):
    rng = np.random.default_rng(1)
    return np.where(rng.random(X.shape) < 0.05, rng.choice([-500.0, 500.0], X.shape), X)


def with_a_stored_outlier():
    X = np.kron(np.eye(3), np.ones((20, 24))) * np.random.default_rng(0).random((60, 72))
    X[3, 4] = 1e5
    return sparse.csr_array(X)


def with_missing(X):
    return np.where(np.random.default_rng(2).random(X.shape) < 0.3, np.nan, X)


CASES = {
    "separated": make_biclusters((90, 70), 4, noise=5, random_state=0)[0],
    "noise 30": make_biclusters((100, 100), 5, noise=30, random_state=1)[0],
    "checkerboard": make_checkerboard((80, 150), (4, 3), noise=10, random_state=0)[0],
    "sparse": sparse.csr_array(
        np.kron(np.eye(3), np.ones((20, 24))) * np.random.default_rng(0).random((60, 72))
    ),
    "wide": make_biclusters((40, 600), 3, noise=5, random_state=0)[0],
    "noise": np.random.default_rng(0).standard_normal((60, 50)),
    "gradient": gradient(),
    "blobs": make_blobs(90, 30, centers=3, cluster_std=0.5, random_state=0)[0],
    "outlier cells": with_outliers(make_biclusters((80, 60), 4, noise=20, random_state=0)[0]),
    "stored outlier cell": with_a_stored_outlier(),
    "missing values": with_missing(make_biclusters((80, 60), 4, noise=20, random_state=0)[0]),
}
STRUCTURES = {
    "noise": "blocks", "gradient": "gradient", "blobs": "features", "outlier cells": "blocks",
    "missing values": "blocks"}  # fmt: skip


@cache
def on_numpy(case, variant, dtype):
    return ROCCO(variant=variant).fit(CASES[case].astype(dtype))


# The expected result was computed with all threads; one thread, and PyTorch, must agree.
OTHERS = pytest.mark.parametrize("backend", [BACKENDS[0], *TORCHES], ids=name)


@OTHERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("variant", ["refined", "paper"])
@pytest.mark.parametrize("case", list(CASES)[:5])
def test_labels(backend, case, variant, dtype):
    expected = on_numpy(case, variant, dtype)
    model = ROCCO(variant=variant, device=backend).fit(CASES[case].astype(dtype))
    assert adjusted_rand_score(expected.row_labels_, model.row_labels_) >= 0.98
    assert adjusted_rand_score(expected.column_labels_, model.column_labels_) >= 0.98
    assert isinstance(model.representation_, np.ndarray)
    assert model.representation_.dtype == dtype


@OTHERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", [*STRUCTURES, "stored outlier cell"])
def test_structure_weights_and_membership(backend, case, dtype):
    expected = on_numpy(case, "refined", dtype)
    model = ROCCO(device=backend).fit(CASES[case].astype(dtype))
    assert model.structure_ == expected.structure_ == STRUCTURES.get(case, "features")
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, expected.column_labels_)
    np.testing.assert_allclose(model.row_membership_, expected.row_membership_, atol=0.01)
    assert (model.cell_weights_ is None) == ("outlier" not in case)
    if model.cell_weights_ is not None:
        assert abs(model.cell_weights_ - expected.cell_weights_).max() <= 0.01


@pytest.mark.parametrize("backend", TORCHES, ids=name)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_runs_on_torch(backend, solver):
    X = CASES["separated"]
    model = ROCCO(solver=solver, device=backend).fit(X)
    np.testing.assert_array_equal(model.row_labels_, ROCCO().fit(X).row_labels_)
    assert resolve_solver(solver) is not None


@pytest.mark.parametrize("backend", TORCHES, ids=name)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("n_rows", [40, 3000])
def test_neighbours_on_torch(backend, metric, n_rows, monkeypatch):
    """The large case selects by minima over columns, in several batches."""
    monkeypatch.setattr("pyrocco.backends.device_neighbors._MEMORY_SHARE", 0.01)
    monkeypatch.setattr("pyrocco.backends.device_neighbors._COLUMNS_TOGETHER", 16)
    X = np.random.default_rng(0).normal(size=(n_rows, 6))
    found = mutual_knn_graph(X, 5, metric, search=DeviceSearch(backend))
    expected = mutual_knn_graph(X, 5, metric)
    np.testing.assert_array_equal(found.heads, expected.heads)
    np.testing.assert_array_equal(found.tails, expected.tails)


@pytest.mark.parametrize("backend", TORCHES, ids=name)
def test_zero_rows_under_cosine_on_torch(backend):
    X = np.random.default_rng(0).normal(size=(30, 6))
    X[5] = X[11] = 0
    assert DeviceSearch(backend).search(X, 1, "cosine").indices[5] == 11


def test_cuda_without_a_gpu_is_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="no CUDA GPU here; use device='cpu'"):
        ROCCO(device="cuda").fit(CASES["separated"])
    assert resolve_backend("auto", 1).name == "numpy"


def test_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'pyrocco\[gpu\]'"):
        ROCCO(device="cuda").fit(CASES["separated"])
    assert resolve_backend("auto", 1).name == "numpy"


def test_unknown_device():
    with pytest.raises(ValueError, match="device must be one of cpu, cuda, auto"):
        ROCCO(device="tpu").fit(CASES["separated"])


def test_threads_change_nothing():
    X = make_biclusters((1500, 120), 5, noise=20, random_state=0)[0]
    laplacian = Laplacian(mutual_knn_graph(X, 5))
    assert laplacian.n_nodes == 1500
    one, two = (ROCCO(n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.row_labels_, two.row_labels_)
    np.testing.assert_allclose(one.representation_, two.representation_, rtol=1e-9, atol=1e-9)
