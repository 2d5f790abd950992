"""What two users do from beginning to end: with scanpy, and with scikit-learn."""

import pickle

import anndata
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyrocco
from pyrocco import ROCCO


def test_a_scanpy_user(tmp_path, capsys):
    """Counts in a layer, logarithms in raw, highly variable genes, scaled X, as tutorials do."""
    rng = np.random.default_rng(0)
    types, marked = np.repeat([0, 1, 2], 50), np.repeat([0, 1, 2, 3], [25, 25, 25, 45])
    rates = np.where(types[:, None] == marked, 5.0, 1.0) * rng.lognormal(0.5, 1, 120)
    counts = rng.poisson(rates * rng.gamma(8, 1 / 8, (150, 1))).astype(np.float32)
    adata = anndata.AnnData(counts, layers={"counts": counts.copy()})
    adata.obs_names = [f"cell {i}" for i in range(150)]
    adata.var_names = [f"gene {j}" for j in range(120)]
    adata.obs["type"] = pd.Categorical([f"type {k}" for k in types])
    adata.X = np.log1p(1e3 * counts / counts.sum(axis=1, keepdims=True))
    adata.raw = adata
    adata.var["highly_variable"] = marked < 3
    adata.X = np.clip((adata.X - adata.X.mean(axis=0)) / adata.X.std(axis=0), None, 10)

    pyrocco.tl.rocco(adata)
    assert 'found in layer "counts", which holds counts, for 75 highly' in capsys.readouterr().err
    assert adjusted_rand_score(types, adata.obs["rocco"]) > 0.95
    genes = adata.var["rocco"].dropna()
    assert adjusted_rand_score(marked[:75], genes.astype(int)) > 0.95
    drawn = pyrocco.pl.heatmap(adata, obs=["type"])
    drawn.save(tmp_path / "heatmap.pdf")
    assert drawn.reordered.shape == (150, 75)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(again.obs, adata.obs)
    table = pyrocco.association(again.obs["rocco"].astype(int), again.obs[["type"]])
    assert table["effect"][0] > 0.9


def test_a_machine_learning_engineer(tmp_path):
    """Pipeline, grid search, cross-validation, clone, set_output, pickle, new data."""
    rng = np.random.default_rng(0)
    truth, columns = rng.integers(3, size=150), np.repeat([0, 1, 2], 8)
    values = 3.0 * (truth[:, None] == columns) + rng.normal(size=(150, 24))
    X = pd.DataFrame(values, columns=[f"sensor {j}" for j in range(24)])
    train, test = X[:110], X[110:]

    search = GridSearchCV(
        make_pipeline(StandardScaler().set_output(transform="pandas"), ROCCO()),
        {"rocco__n_clusters": [1, 2, (3, 3)], "rocco__n_neighbors": [5]},
        cv=3,
    ).fit(train)
    assert search.best_params_["rocco__n_clusters"] == (3, 3)
    best = clone(search.best_estimator_).set_output(transform="pandas").fit(train)
    assert adjusted_rand_score(truth[110:], best.predict(test)) > 0.95
    probabilities = best.predict_proba(test)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), best.predict(test))
    means = best.transform(test)
    assert list(means) == ["column_cluster_0", "column_cluster_1", "column_cluster_2"]
    assert means.index.equals(test.index)
    assert best.score(test) > 0.3
    assert cross_val_score(best, train, cv=3).min() > 0.3

    path = tmp_path / "pipeline.pickle"
    path.write_bytes(pickle.dumps(best))
    restored = pickle.loads(path.read_bytes())
    np.testing.assert_array_equal(restored.predict_proba(test), probabilities)
    model = restored[-1]
    assert model.column_clusters().index.tolist() == list(X)
    assert model.explain(top=2)["column"].dropna().str.startswith("sensor").all()
    strange = model.place(pd.DataFrame(rng.normal(size=(3, 24)) * 50, columns=list(X)))
    assert strange["far"].all()
