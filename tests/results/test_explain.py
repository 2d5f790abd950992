"""The table of what sets clusters apart, compared with SciPy on the cells themselves."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import false_discovery_control, ttest_ind
from sklearn.datasets import make_biclusters

from pyrocco import ROCCO
from pyrocco.assign.nested import NestedClusters
from pyrocco.results.explain import COLUMNS, Contrast, Explainer
from pyrocco.results.statistics import Moments, TreeStatistics


def explain(X, row_labels, column_labels, numbers=None, scale=1.0, **options):
    """The table for given labels, no fit needed."""
    row_labels, column_labels = np.asarray(row_labels), np.asarray(column_labels)
    tree = NestedClusters.build(np.nan_to_num(X), row_labels, column_labels)
    statistics = TreeStatistics.of(X / scale, tree, scale)
    sure = np.linspace(0, 1, X.shape[0]), np.linspace(0.5, 1, X.shape[1])
    numbers = numbers or (row_labels.max() + 1, column_labels.max() + 1)
    return Explainer.of(tree, statistics, sure, numbers).table(**options)


@pytest.fixture
def noisy():
    """Noise with two shifted blocks: X, row labels, column labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12))
    X[:20, :5] += 3
    X[30:, 8:] -= 2
    return X, np.repeat([0, 1, 2], [20, 10, 10]), np.repeat([0, 1], [8, 4])


def cohen(a, b):
    freedom = len(a) + len(b) - 2
    return (a.mean() - b.mean()) / np.sqrt((len(a) * a.var() + len(b) * b.var()) / freedom)


def welch(a, b):
    return ttest_ind(a, b, equal_var=False).pvalue


@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("scale", [1.0, 1e-150])
def test_every_figure_is_that_of_the_cells(noisy, missing, scale):
    X, rows, columns = noisy
    X = scale * X
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    table = explain(X, rows, columns, scale=scale, top=12)
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 3 * 2 + 3 * 12
    values, p = X / scale, []
    for line in table.itertuples():
        inside = rows == line.row_cluster
        chosen = [line.column] if line.kind == "column" else columns == line.column_cluster
        block, rest = values[inside][:, chosen], values[~inside][:, chosen]
        assert line.n_rows == inside.sum()
        assert line.n_columns == (1 if line.kind == "column" else sum(chosen))
        assert line.mean / scale == pytest.approx(np.nanmean(block))
        assert line.rest_mean / scale == pytest.approx(np.nanmean(rest))
        total = np.nanvar(values[:, chosen] if line.kind == "column" else values)
        assert line.homogeneity == pytest.approx(1 - np.nanvar(block) / total)
        a, b = np.nanmean(block, axis=1), np.nanmean(rest, axis=1)
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        assert line.effect == pytest.approx(cohen(a, b))
        assert line.direction == ("higher" if a.mean() > b.mean() else "lower")
        p.append(welch(a, b))
    np.testing.assert_allclose(table["p_adjusted"], false_discovery_control(p))


def test_the_lines_that_are_left_out_are_tested_too(noisy):
    few, all_lines = explain(*noisy, top=2), explain(*noisy, top=12)
    assert (few["kind"] == "column").sum() == 6
    shared = all_lines.merge(few, on=["kind", "row_cluster", "column_cluster", "column"])
    assert len(shared) == len(few)
    np.testing.assert_array_equal(shared["p_adjusted_x"], shared["p_adjusted_y"])


def test_order_is_by_row_cluster_then_blocks_then_effect(noisy):
    table = explain(*noisy)
    assert table["row_cluster"].is_monotonic_increasing
    for _, part in table.groupby(["row_cluster", "kind"]):
        assert part["effect"].abs().is_monotonic_decreasing
    assert (table.groupby("row_cluster")["kind"].first() == "block").all()


def test_membership_is_the_mean_of_both_sides(noisy):
    _, rows, columns = noisy
    table = explain(*noisy)
    block = table[(table.kind == "block") & (table.row_cluster == 1) & (table.column_cluster == 0)]
    sure = np.linspace(0, 1, 40), np.linspace(0.5, 1, 12)
    expected = (sure[0][rows == 1].mean() + sure[1][columns == 0].mean()) / 2
    assert block["membership"].item() == pytest.approx(expected)


def test_sparse_data_give_the_same_table(noisy):
    X, rows, columns = noisy
    X = np.where(X > 1, X, 0.0)
    tree = NestedClusters.build(X, rows, columns)
    dense, stored = (
        Explainer.of(tree, TreeStatistics.of(Y, tree, 1.0), (np.ones(40), np.ones(12)), (3, 2))
        for Y in (X, sparse.csr_array(X))
    )
    pd.testing.assert_frame_equal(dense.table(), stored.table())


def test_other_cuts_are_explained_too(noisy):
    X, rows, columns = noisy
    table = explain(X, rows, columns, (2, 1), top=12)
    tree = NestedClusters.build(X, rows, columns)
    labels = tree.rows.cut(2)
    block = table[(table["kind"] == "block") & (table["row_cluster"] == 1)]
    assert block["mean"].item() == pytest.approx(X[labels == 1].mean())
    assert block["n_rows"].item() == (labels == 1).sum()


def test_a_single_row_has_an_effect_but_no_p_value():
    X = np.random.default_rng(0).standard_normal((9, 4))
    X[0] += 9
    table = explain(X, [1, *[0] * 8], [0, 0, 1, 1])
    alone = table[table["row_cluster"] == 1]
    assert (alone["effect"] > 3).all()
    assert alone["p_adjusted"].isna().all()


def test_columns_without_scatter_have_no_p_value_and_equal_ones_are_not_listed():
    X = np.zeros((8, 4))
    X[:4, :2] = 5
    table = explain(X, np.repeat([0, 1], 4), [0, 0, 1, 1])
    assert table["p_adjusted"].isna().all()
    columns = table[table["kind"] == "column"]
    assert sorted(columns["column"]) == [0, 0, 1, 1]
    assert np.isinf(columns["effect"]).all()
    same = table[(table["kind"] == "block") & (table["column_cluster"] == 1)]
    assert same["effect"].tolist() == [0, 0]
    assert same["direction"].tolist() == ["", ""]


def test_one_row_cluster_has_nothing_to_be_set_apart_from(noisy):
    X, rows, columns = noisy
    table = explain(X, 0 * rows, columns)
    assert table["kind"].tolist() == ["block", "block"]
    assert table[["rest_mean", "effect", "p_adjusted"]].isna().all(axis=None)
    assert table["homogeneity"].notna().all()
    assert (table["direction"] == "").all()


def test_names_of_columns(noisy):
    names = [f"gene {j}" for j in range(12)]
    table = explain(*noisy, column_names=names)
    by_position = explain(*noisy)
    listed = table["kind"] == "column"
    assert table.loc[listed, "column"].tolist() == [
        names[j] for j in by_position.loc[listed, "column"]
    ]
    assert table.loc[~listed, "column"].isna().all()
    with pytest.raises(ValueError, match="has 11 names, but the model was fitted to 12 columns"):
        explain(*noisy, column_names=names[:-1])
    with pytest.raises(ValueError, match="top must be an integer of at least 0"):
        explain(*noisy, top=-1)


def test_a_model_explains_itself():
    X = make_biclusters((60, 40), 3, noise=5, random_state=0)[0]
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    model = ROCCO().fit(frame)
    table = model.explain(top=4, column_names=frame.columns)
    for cluster in range(3):
        lines = table[table["row_cluster"] == cluster]
        strongest = lines.iloc[0]
        means = model.block_means_[cluster]
        assert strongest["mean"] == pytest.approx(means[strongest["column_cluster"]])
        named = lines[lines["kind"] == "column"]
        expected = frame.loc[model.row_labels_ == cluster, named["column"]].mean()
        np.testing.assert_allclose(named["mean"], expected)
    assert (table["p_adjusted"].dropna() <= 1).all()
    assert model.explain()["column"].dropna().isin(frame.columns).all()
    assert ROCCO().fit(X).explain()["column"].dropna().between(0, 39).all()


def test_a_rest_that_does_not_scatter_is_seen_through_rounding():
    X = np.concatenate([np.random.default_rng(0).standard_normal(5) * 1e3, np.full(5, 0.125)])
    found = Contrast.of(Moments.of(X[:, None], np.repeat([0, 1], 5)))
    with pytest.warns(RuntimeWarning, match="identical"):
        expected = ttest_ind(X[:5], X[5:], equal_var=False).pvalue
    np.testing.assert_allclose(found.p.ravel(), [expected, expected])
