"""`variant="paper"` is Algorithm 1 of the paper, from its first line to its last."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, silhouette_score

from pyrocco import RCC, ROCCO
from pyrocco.assign.kmeans import random_kmeans
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.fitting.engines import Given
from pyrocco.fitting.pipeline import fit_rocco
from pyrocco.fitting.settings import Settings
from pyrocco.graph import mutual_knn_graph
from pyrocco.progress import Progress
from tests.reference import literal_rocco


@pytest.fixture(scope="module")
def dense():
    return make_noisy_biclusters((24, 18), 2, noise=15, random_state=1).X


@pytest.fixture(scope="module")
def texts():
    """Three topics of ten documents of very different lengths."""
    rng = np.random.default_rng(0)
    rates = np.kron(np.eye(3), np.full((10, 6), 0.8)) + 0.02
    return sparse.csr_array(rng.poisson(rates * rng.uniform(0.5, 6, (30, 1))).astype(float))


def literal_representation(model, X):
    """Compute lines 2 to 8 by the slow reference, with as many iterations as the model had."""
    edges = [
        (np.c_[graph.heads, graph.tails], graph.weights)
        for graph in (model.row_graph_, model.column_graph_)
    ]
    mu = [model.history_[0][f"mu_{side}"] for side in ("rows", "columns")]
    return literal_rocco.representation(X, *edges[0], *edges[1], mu, model.n_iter_)[0]


def difference(U, V):
    """Return the relative difference; norms of Laplacians are computed to a thousandth."""
    return np.linalg.norm(U - V) / np.linalg.norm(V)


def test_dense_data_line_by_line(dense):
    model = ROCCO(variant="paper", solver="spectral").fit(dense)
    assert model.converged_
    graph = mutual_knn_graph(dense, 10, "euclidean", bridges="forest")  # line 1
    np.testing.assert_array_equal(graph.heads, model.row_graph_.heads)
    U = literal_representation(model, dense)  # lines 2-8
    assert difference(model.representation_, U) < 0.005
    for matrix, labels in ((U, model.row_labels_), (U.T, model.column_labels_)):  # lines 12-14
        found = RCC(variant="paper", metric="euclidean").fit(np.ascontiguousarray(matrix))
        assert adjusted_rand_score(labels, found.labels_) == 1


def test_sparse_data_line_by_line(texts):
    model = ROCCO((None, 2), variant="paper", solver="spectral").fit(texts)
    graph = mutual_knn_graph(texts, 10, "cosine", bridges="forest")  # line 1
    np.testing.assert_array_equal(graph.tails, model.row_graph_.tails)
    U = literal_representation(model, texts.toarray())  # lines 2-8
    assert difference(model.representation_, U) < 0.005
    partitions = [random_kmeans(U, k, 10, 0) for k in range(2, 21)]  # lines 9-11
    scores = [silhouette_score(U, labels, metric="cosine") for labels in partitions]
    best = partitions[int(np.argmax(scores))]
    assert adjusted_rand_score(model.row_labels_, best) == 1


@pytest.mark.parametrize(
    ("asked", "metric"),
    [("auto", "cosine"), ("euclidean", "euclidean"), ("manhattan", "manhattan")],
)
def test_the_silhouette_has_the_metric_of_the_graphs(texts, asked, metric):
    model = ROCCO(2, variant="paper", metric=asked, max_iter=1)
    with pytest.warns(UserWarning, match="max_iter=1"):
        assert model.fit(texts).assigner_.assigner.metric == metric


def test_the_loop_stops_after_the_four_iterations_of_the_last_mu(dense):
    history = ROCCO(variant="paper").fit(dense).history_
    assert len(history) % 4 == 0
    for side in ("mu_rows", "mu_columns"):
        mu = [record[side] for record in history]
        ratios = np.array(mu[4::4]) / np.array(mu[:-4:4])
        np.testing.assert_allclose(ratios[:-2], 0.5)


def test_the_stop_of_rcc_is_a_field_of_the_variant(dense):
    settings = Settings.of(ROCCO(variant="paper").get_params(deep=False))
    changes = {}
    for tolerance in (None, 1e-6):
        variant = replace(settings.variant, tolerance=tolerance)
        fit = fit_rocco(Given(dense), replace(settings, variant=variant), Progress())
        changes[tolerance] = np.diff([record["objective"] for record in fit.represented.history])
    assert len(changes[None]) == ROCCO(variant="paper").fit(dense).n_iter_ - 1
    assert abs(changes[None][-1]) > abs(changes[1e-6][-1])
    assert len(changes[None]) < len(changes[1e-6])
