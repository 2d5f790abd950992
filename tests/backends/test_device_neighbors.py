"""The search among rounded rows, as it runs on a GPU, on tensors of the CPU."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pyrocco import ROCCO, mutual_knn_graph

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install pyrocco[gpu]")

from pyrocco.backends import device_neighbors  # noqa: E402 - after the check for PyTorch
from pyrocco.backends.device_neighbors import (  # noqa: E402
    RoundedNeighbors,
    bucket_columns,
    nearest_of_rounded,
    tensor_float_products,
)
from pyrocco.backends.torch import TorchBackend  # noqa: E402
from pyrocco.graph.exact import DeviceSearch, ExactSearch  # noqa: E402

K = 10


def blobs(n, separation):
    """Make clusters of rows that are sorted by cluster, and as far apart as is said."""
    X, labels = make_blobs(n, 30, centers=12, center_box=(-separation, separation), random_state=0)
    return X[np.argsort(labels, kind="stable")]


def rng():
    return np.random.default_rng(0)


DATA = {
    "uniform": rng().random((4000, 8)),
    "normal": rng().normal(size=(4001, 60)),
    "far from zero": rng().normal(size=(3000, 20)) + 1e4,
    "huge": 1e12 * rng().normal(size=(3000, 20)),
    "tiny": 1e-12 * rng().normal(size=(3000, 20)),
    "two columns": rng().random((3000, 2)),
    "sorted clusters": blobs(4000, 10),
    "sorted clusters, far apart": blobs(4000, 100),
    "sorted line": np.sort(rng().random((3000, 1)), axis=0) * [1.0, 2.0],
}


def searched(X, metric="euclidean", count=K, dtype=np.float32, **options):
    rows = TorchBackend("cpu").prepare(X.astype(dtype), metric)
    return RoundedNeighbors(torch, rows, count, metric, **options)


def everyone(search):
    indices, lengths = search.nearest(torch.arange(len(search.rows)))
    return indices.numpy(), lengths.numpy()


def recall(found, truth):
    return np.mean([len(set(a) & set(b)) for a, b in zip(found, truth, strict=True)]) / K


@pytest.mark.parametrize("case", list(DATA))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearly_all_neighbours_are_found(case, dtype):
    X = DATA[case].astype(dtype)
    truth = ExactSearch().search(X.astype(np.float64), K, "euclidean")
    search = searched(X, dtype=dtype)
    indices, lengths = everyone(search)
    assert recall(indices, truth.indices) > 0.99
    assert np.all(np.diff(lengths, axis=1) >= 0)
    rows = search.rows.numpy().astype(np.float64)
    np.testing.assert_allclose(lengths, np.linalg.norm(rows[:, None] - rows[indices], axis=2),
                               rtol=1e-6)  # fmt: skip


def test_nearly_all_neighbours_are_found_under_cosine():
    X = DATA["normal"].copy()
    X[[5, 77]] = 0
    truth = ExactSearch().search(X, K, "cosine")
    indices, lengths = everyone(searched(X, "cosine"))
    assert recall(np.delete(indices, [5, 77], 0), np.delete(truth.indices, [5, 77], 0)) > 0.99
    assert (indices[5, 0], indices[77, 0]) == (77, 5)
    np.testing.assert_allclose(lengths, truth.distances, atol=1e-6)


def test_repeated_rows_find_each_other_and_not_themselves():
    X = np.repeat(rng().normal(size=(60, 6)), 50, axis=0)
    indices, lengths = everyone(searched(X))
    assert not np.any(indices == np.arange(3000)[:, None])
    assert not lengths.any()
    assert np.array_equal(indices // 50, np.repeat(np.arange(3000) // 50, K).reshape(-1, K))
    assert all(len(set(row)) == K for row in indices.tolist())
    assert np.all(np.diff(indices, axis=1) > 0)


def test_the_same_in_every_run_and_in_blocks_of_any_size():
    X = DATA["sorted clusters"]
    first = everyone(searched(X))
    np.testing.assert_array_equal(first, everyone(searched(X)))
    small = searched(X, budget=2**20)
    assert small.block_rows() < searched(X).block_rows()
    assert recall(everyone(small)[0], first[0]) > 0.9999


def test_blocks_keep_to_the_budget(monkeypatch):
    rows, sizes = [], []
    search = searched(DATA["normal"], budget=2**22)
    candidates = RoundedNeighbors.candidates

    def recorded(self, scores):
        rows.append(len(scores))
        sizes.append(scores.numel() * scores.element_size())
        return candidates(self, scores)

    monkeypatch.setattr(RoundedNeighbors, "candidates", recorded)
    everyone(search)
    assert sum(rows) == len(search.rows)
    assert max(rows) == search.block_rows()
    assert 2**19 < max(sizes) <= 2**22
    assert searched(DATA["normal"], budget=1).block_rows() == 1


def test_blocks_are_powers_of_two_that_follow_the_free_memory(monkeypatch):
    search = searched(DATA["normal"])
    sizes = {}
    for free in (2**22, 2**28, 2**31, 2**40):
        monkeypatch.setattr(device_neighbors, "_CPU_BYTES", free)
        sizes[free] = search.block_rows()
    assert list(sizes.values()) == sorted(set(sizes.values()))
    assert all(size & (size - 1) == 0 for size in sizes.values())
    assert sizes[2**40] == 8192
    monkeypatch.setattr(device_neighbors, "_BLOCK_SCORES", 100 * len(search.rows))
    assert search.block_rows() == 64


@pytest.mark.parametrize("n_rows", [2, 3, 12, 31, 33, 64, 65])
def test_few_rows(n_rows):
    X = rng().normal(size=(n_rows, 3))
    count = min(5, n_rows - 1)
    truth = ExactSearch().search(X, count, "euclidean")
    indices, _ = everyone(searched(X, count=count, dtype=np.float64))
    assert np.array_equal(indices, truth.indices)


def test_more_neighbours_than_rows_leave_places_empty():
    indices, lengths = everyone(searched(rng().normal(size=(4, 3)), count=4))
    assert np.array_equal(indices[:, 3], [-1] * 4)
    assert np.isinf(lengths[:, 3]).all()


def test_rounded_rows_have_eleven_digits():
    values = torch.tensor([1 + 2**-10, 1 + 2**-11, 1 + 2**-12, -3.14159265, 0.0, 1e-30])
    rounded = device_neighbors.to_tensor_float(values, torch)
    mantissa, _ = torch.frexp(rounded)
    assert torch.equal(mantissa * 2**11, (mantissa * 2**11).round())
    assert torch.all((rounded - values).abs() <= values.abs() * 2**-11)


def test_the_sample_measures_the_recall():
    assert searched(DATA["sorted clusters"]).recall() > 0.999
    # Numbers that begin with the same digits.
    X = 3e3 + rng().random((3000, 1))
    lossy = RoundedNeighbors(torch, torch.from_numpy(X), K, "euclidean")
    actual = recall(everyone(lossy)[0], ExactSearch().search(X, K, "euclidean").indices)
    assert 0 < actual < 0.5
    assert abs(lossy.recall() - actual) < 0.05


def test_rows_that_rounding_confuses_are_left_to_the_exact_search():
    """Clusters so far apart that 11 digits do not tell the rows of one cluster apart."""
    X = blobs(1500, 1e5)
    rows = TorchBackend("cpu").prepare(X, "euclidean")
    assert nearest_of_rounded(torch, rows, K, "euclidean") is None
    search = DeviceSearch(TorchBackend("cpu"), exact_rows=1000)
    truth = ExactSearch().search(X, K, "euclidean")
    assert np.array_equal(search.search(X, K, "euclidean").indices, truth.indices)
    assert search.name == "exact on device"


def test_graphs_of_many_rows_say_that_they_are_approximate():
    X = DATA["sorted clusters"]
    search = DeviceSearch(TorchBackend("cpu"), exact_rows=1000)
    graph, expected = mutual_knn_graph(X, K, search=search), mutual_knn_graph(X, K)
    assert graph.search == "approximate on device"
    keys, expected_keys = (set(zip(g.heads, g.tails, strict=True)) for g in (graph, expected))
    assert len(keys ^ expected_keys) <= 0.01 * len(expected_keys)
    assert graph.n_components == 1
    assert mutual_knn_graph(X[:900], K, search=search).search == "exact on device"


def test_manhattan_is_always_exact():
    X = rng().normal(size=(300, 3))
    search = DeviceSearch(TorchBackend("cpu"), exact_rows=100)
    truth = ExactSearch().search(X, K, "manhattan")
    assert np.array_equal(search.search(X, K, "manhattan").indices, truth.indices)
    with pytest.raises(ValueError, match="use ExactNeighbors"):
        searched(X, "manhattan")


def test_only_a_gpu_rounds_by_default():
    search = DeviceSearch(TorchBackend("cpu"))
    assert search.exact_rows > 10**12
    assert ROCCO(device=TorchBackend("cpu")).fit(DATA["uniform"][:300]).row_graph_ is not None


def test_the_default_type_of_pytorch_does_not_matter():
    X = DATA["uniform"][:500]
    expected = everyone(searched(X))
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        found = searched(X)
        assert found.scores(torch.arange(3)).dtype == torch.float32
        np.testing.assert_array_equal(everyone(found), expected)
    finally:
        torch.set_default_dtype(before)


def test_buckets_grow_with_the_root_of_the_rows():
    assert [bucket_columns(n, 24) for n in (10, 10**4, 10**5, 10**6, 10**7)] == [
        32, 32, 64, 192, 640,
    ]  # fmt: skip


def test_the_precision_of_products_is_restored():
    settings = torch.backends.cuda.matmul
    before = settings.fp32_precision
    with tensor_float_products(torch):
        assert settings.fp32_precision == "tf32"
    assert settings.fp32_precision == before
    with pytest.raises(RuntimeError, match="in between"), tensor_float_products(torch):
        raise RuntimeError("in between")
    assert settings.fp32_precision == before


def test_the_precision_of_products_before_pytorch_2_9():
    class Settings:
        allow_tf32 = False

    class Old:
        class backends:  # noqa: N801
            class cuda:  # noqa: N801
                matmul = Settings()

    with tensor_float_products(Old):
        assert Old.backends.cuda.matmul.allow_tf32
    assert not Old.backends.cuda.matmul.allow_tf32
