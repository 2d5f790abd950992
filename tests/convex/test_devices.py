"""COBRA in PyTorch gives what it gives in NumPy."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_biclusters

import pyrocco
from pyrocco import COBRA, COBRAr
from pyrocco.backends import ChunkedBackend, NumpyBackend
from pyrocco.convex import ConvexProblem, gaussian_knn_graph, hold_out, solve_path, validate
from pyrocco.convex.edges import edge_kernels
from pyrocco.graph import Graph
from tests.model_files import rewrite

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install pyrocco[gpu]")

from pyrocco.backends.torch import TorchBackend  # noqa: E402 - after the check for PyTorch
from pyrocco.convex import torch_edges  # noqa: E402

TORCHES = [TorchBackend("cpu")]
if torch.cuda.is_available():
    TORCHES.append(TorchBackend("cuda"))


@pytest.fixture(params=TORCHES, ids=lambda backend: backend.device.type)
def backend(request):
    return request.param


def noisy(noise=20, seed=1):
    return make_biclusters((40, 30), 3, noise=noise, random_state=seed)[0]


def with_missing():
    X = noisy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


def mostly_zero():
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(3), np.ones((20, 10)))
    return sparse.csr_matrix(blocks * rng.poisson(3, blocks.shape))


# From no clusters to one cluster, not in order.
GAMMAS = [0.3, 3.0, 1000.0, 10.0, 0.01, 100.0]
DATA = {"noisy": noisy, "missing": with_missing, "mostly zero": mostly_zero}


def assert_same_fit(model, expected):
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, expected.column_labels_)
    assert (model.gamma_, model.converged_) == (expected.gamma_, expected.converged_)
    np.testing.assert_allclose(model.validation_errors_, expected.validation_errors_, rtol=1e-9)
    # Both are within sqrt(tol) of the solution, relative to X minus its mean.
    U = expected.representation_
    error = np.linalg.norm(model.representation_ - U)
    assert error <= 2 * np.sqrt(expected.tol) * np.linalg.norm(U - U.mean())
    assert model.duality_gap_ <= expected.tol * 0.5


@pytest.mark.parametrize("method", [COBRA, COBRAr])
@pytest.mark.parametrize("data", DATA)
def test_fits_agree(method, data, backend):
    X = DATA[data]()
    assert_same_fit(method(gammas=GAMMAS, device=backend).fit(X), method(gammas=GAMMAS).fit(X))


@pytest.mark.parametrize("data", ["noisy", "missing"])
def test_paths_agree(data, backend):
    X = DATA[data]()
    norm = np.linalg.norm(np.nan_to_num(X - np.nanmean(X)))
    expected = COBRA(gammas=GAMMAS).path(X)
    for one, other in zip(COBRA(gammas=GAMMAS, device=backend).path(X), expected, strict=True):
        assert isinstance(one.U, np.ndarray)
        assert one.converged
        assert abs(one.objective - other.objective) <= one.gap + other.gap + 1e-12
        np.testing.assert_array_equal(one.clusters.rows, other.clusters.rows)
        np.testing.assert_array_equal(one.clusters.columns, other.clusters.columns)
        # The bound of the error holds for known values.
        known = ~np.isnan(X)
        assert np.linalg.norm((one.U - other.U)[known]) <= 2e-4 * norm


def test_the_same_call_gives_the_same_values(backend):
    first, again = (COBRA(gammas=[3.0, 30.0], device=backend).fit(with_missing()) for _ in "12")
    np.testing.assert_array_equal(first.representation_, again.representation_)
    np.testing.assert_array_equal(first.validation_errors_, again.validation_errors_)


def test_batches_of_edges_change_nothing(backend, monkeypatch):
    expected = COBRA(gamma=3.0, device=backend).fit(with_missing())
    monkeypatch.setattr(torch_edges, "_BATCH_VALUES", 100)
    model = COBRA(gamma=3.0, device=backend).fit(with_missing())
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_allclose(model.representation_, expected.representation_, rtol=1e-9)


def test_validation_agrees(small, backend):
    cells = hold_out(small, 0.1, np.random.RandomState(0))
    problem = ConvexProblem(small.X, small.rows, small.columns, backend)
    gammas = np.logspace(-1, 2, 7)
    expected, found = (validate(each, gammas, cells) for each in (small, problem))
    np.testing.assert_allclose(found.errors, expected.errors)


@pytest.fixture
def star():
    """Edges in every state: at a hub, of weight zero, and a node without edges."""
    heads, tails = np.array([0, 0, 0, 0, 1, 2]), np.array([1, 2, 3, 4, 2, 3])
    return Graph(6, heads, tails, np.array([0.5, 0.1, 0.0, 2.0, 1.0, 1e-3]))


def kernel_results(graph, backend, U, D, multipliers):
    """Everything that the kernels compute, in NumPy."""

    def put(values):
        return backend.copy(backend.asarray(values))

    kernels, n_edges = edge_kernels(graph, backend), graph.n_edges
    given, radii = put(multipliers), put(graph.weights)
    kernels.clip_lengths(given, radii)
    stiffness, tension = radii / 0.3, kernels.zeros(U.shape[1])
    shares, lengths, gradient, image = map(put, (np.zeros(n_edges), np.zeros(n_edges), D, D))
    state = tension, shares, lengths
    value = kernels.gradient(put(U), given, stiffness, radii, *state, gradient)
    kernels.hessian(put(D), tension, stiffness, radii, shares, image)
    arrays = {
        "multipliers": given, "tension": tension, "shares": shares, "lengths": lengths,
        "gradient": gradient, "image": image, "at nodes": kernels.at_nodes(stiffness),
    }  # fmt: skip
    return {"value": value} | {name: backend.to_numpy(each) for name, each in arrays.items()}


def test_kernels_agree(star, backend):
    rng = np.random.default_rng(0)
    U, D = rng.normal(size=(2, 6, 4))
    U[4] = U[0] + 0.01
    multipliers = 0.1 * rng.normal(size=(6, 4))
    expected, found = (
        kernel_results(star, each, U, D, multipliers) for each in (NumpyBackend(), backend)
    )
    # Open, closed and without a term.
    assert {0.0, 1.0} < set(expected["shares"])
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-10, atol=1e-12, err_msg=name)


def test_sides_without_edges(backend):
    X = np.array([[0.0, 1.0], [2.0, 3.0], [50.0, 50.0], [52.0, np.nan]])
    none = np.empty(0, dtype=np.intp)
    alone = Graph(2, none, none, np.empty(0))
    problems = [
        ConvexProblem(X, gaussian_knn_graph(X, 1), alone, each)
        for each in (NumpyBackend(), backend)
    ]
    for one, other in zip(*(solve_path(each, [10.0, 0.1]) for each in problems), strict=True):
        np.testing.assert_allclose(one.U, other.U, atol=1e-6)
        np.testing.assert_array_equal(one.clusters.rows, other.clusters.rows)


def test_means_by_label_agree(backend):
    U = np.random.default_rng(0).normal(size=(7, 3))
    labels = np.array([1, 0, 2, 1, 1, 0, 3])
    found = backend.to_numpy(backend.averaged(backend.asarray(U), labels))
    np.testing.assert_allclose(found, NumpyBackend().averaged(U, labels))
    np.testing.assert_array_equal(found[0], found[3])
    assert backend.dot(*map(backend.asarray, (U, found))) == pytest.approx(np.vdot(U, found))


@pytest.mark.parametrize("call", ["fit", "path"])
def test_cuda_without_a_gpu_is_an_error(call, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="no CUDA GPU here; use device='cpu'"):
        getattr(COBRA(device="cuda"), call)(noisy())
    model = COBRAr(gamma=3.0, device="auto").fit(noisy())
    np.testing.assert_array_equal(model.row_labels_, COBRAr(gamma=3.0).fit(noisy()).row_labels_)


def test_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'pyrocco\[gpu\]'"):
        COBRA(device="cuda").fit(noisy())


@pytest.mark.parametrize("device", ["tpu", None, 0])
def test_unknown_device(device):
    with pytest.raises(ValueError, match="device must be one of cpu, cuda, auto"):
        COBRA(device=device).fit(noisy())


def test_a_back_end_in_chunks_is_an_error():
    backend = ChunkedBackend.__new__(ChunkedBackend)
    with pytest.raises(ValueError, match="back end of NumPy or PyTorch"):
        COBRA(device=backend).fit(noisy())


def test_a_model_fitted_in_pytorch_loads_anywhere(backend, tmp_path):
    model = COBRA(gamma=3.0, device=backend).fit(noisy())
    model.save(tmp_path / "model.pyrocco")
    loaded = pyrocco.load(tmp_path / "model.pyrocco")
    assert loaded.device == backend.device.type
    np.testing.assert_array_equal(loaded.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(loaded.representation_, model.representation_)
    assert clone(loaded).get_params() == loaded.get_params()


def test_a_model_saved_without_a_device_was_fitted_on_the_cpu(tmp_path):
    def forget(text):
        del text["content"]["parameters"]["device"]

    COBRA(gamma=3.0).fit(noisy()).save(tmp_path / "model.pyrocco")
    rewrite(tmp_path / "model.pyrocco", forget)
    assert pyrocco.load(tmp_path / "model.pyrocco").device == "cpu"
