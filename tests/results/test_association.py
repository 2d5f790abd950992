"""Annotations beside clusters: their kind, tests of association, and cross-tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pyrocco import association, cross_table
from pyrocco.results.association import annotation_kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.0, 3.0], "number"),
        (range(13), "number"),
        (range(12), "category"),
        ([21, 27, 43, 45, 57, 61, 67, 67], "number"),
        ([21, 21, 43, 43, 57, 57], "category"),
        ([2001, 2002], "category"),
        ([1.0, 2.0, np.nan], "category"),
        ([0.5, None, 1.0], "number"),
        (["a", "b"], "category"),
        (["1.5", "2.5"], "category"),
        ([True, False], "category"),
        ([True, None, False], "category"),
        ([None, None], "category"),
        (pd.Categorical([1.5, 2.5]), "category"),
        (pd.array([1, None, 40], dtype="Int64"), "category"),
        (pd.array([1.5, None, 40], dtype="Float64"), "number"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "category"),
        (pd.date_range("2020-01-01", periods=5), "date"),
        (pd.date_range("2020-01-01", periods=5, tz="Europe/Berlin"), "date"),
        (["2020-01-01"] * 4 + ["2021-01-01"] * 4, "category"),
        (["2020-01-01", None, "2020-01-02 10:30", "2020-02-01"], "date"),
        (["1.3.2020", "17.03.2020", "02.04.2020"], "date"),
        (["2020-01-01", "2020-01-02", "later"], "category"),
        (["2020-02-30", "2020-01-02", "2020-01-03"], "category"),
        (pd.Categorical(["2020-01-01", "2020-01-02", "2020-01-03"]), "category"),
    ],
)
def test_kinds(values, kind):
    assert annotation_kind(pd.Series(values)) == kind


def test_dates_are_compared_as_days():
    labels = np.repeat([0, 1, 2], 10)
    days = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(30) * 3, unit="D"))
    days[4] = pd.NaT
    found = association(labels, pd.DataFrame({"visit": days}))
    expected = association(
        labels, pd.DataFrame({"visit": np.where(days.isna(), np.nan, np.arange(30) + 0.5)})
    )
    assert found["kind"].tolist() == ["date"]
    columns = ["test", "statistic", "p_value", "effect", "n"]
    pd.testing.assert_frame_equal(found[columns], expected[columns])
    table = cross_table(labels, days)
    assert table.columns.tolist() == ["n", "median", "min", "max"]
    assert table["n"].tolist() == [9, 10, 10]
    assert table.loc[1, "min"] == pd.Timestamp("2024-01-31")
    assert table.loc[2, "median"] == pd.Timestamp("2024-03-14 12:00")
    texts = days.dt.strftime("%Y-%m-%d")
    pd.testing.assert_frame_equal(cross_table(labels, texts), table)


def table_of(counts):
    """Labels and categories with these counts."""
    counts = np.asarray(counts)
    rows, columns = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    return rows, pd.Series([f"c{j}" for j in columns], name="category")


def test_large_counts_are_tested_by_chi_squared():
    counts = np.array([[30, 10, 20], [10, 30, 25]])
    found = association(*table_of(counts)).iloc[0]
    expected = stats.chi2_contingency(counts, correction=False)
    assert found["test"] == "chi-squared"
    assert found["statistic"] == pytest.approx(expected.statistic)
    assert found["p_value"] == pytest.approx(expected.pvalue)
    assert found["effect"] == pytest.approx(stats.contingency.association(counts))
    assert found["n"] == counts.sum()


def test_small_counts_of_two_by_two_are_tested_by_fisher():
    counts = np.array([[7, 1], [2, 8]])
    found = association(*table_of(counts)).iloc[0]
    assert found["test"] == "Fisher's exact"
    assert found["p_value"] == pytest.approx(stats.fisher_exact(counts).pvalue)


def test_other_small_counts_are_tested_by_permutations():
    labels, category = table_of([[4, 1, 0], [1, 3, 1], [0, 1, 4]])
    found = association(labels, category).iloc[0]
    assert found["test"] == "chi-squared, 9999 permutations"
    codes = category.str[1:].astype(int).to_numpy()
    rng = np.random.default_rng(1)

    def statistic(order):
        counts = np.zeros((3, 3))
        np.add.at(counts, (labels, order), 1)
        return stats.chi2_contingency(counts, correction=False).statistic

    observed = statistic(codes)
    assert found["statistic"] == pytest.approx(observed)
    random = [statistic(rng.permutation(codes)) >= observed - 1e-9 for _ in range(2000)]
    assert found["p_value"] == pytest.approx(np.mean(random), abs=0.01)
    again = association(labels, category).iloc[0]
    assert again["p_value"] == found["p_value"]


def test_p_values_of_independent_categories_are_uniform():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=30)
    frame = pd.DataFrame({f"a{j}": rng.choice(list("abc"), 30) for j in range(100)})
    p_values = association(labels, frame)["p_value"]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_numbers_are_tested_by_kruskal_wallis():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    age = pd.Series(rng.normal(size=60) + labels, name="age")
    age[3] = np.nan
    found = association(labels, age).iloc[0]
    known = age.notna()
    expected = stats.kruskal(*(age[known & (labels == k)] for k in range(3)))
    assert (found["annotation"], found["kind"], found["test"]) == (
        "age",
        "number",
        "Kruskal-Wallis",
    )
    assert found["statistic"] == pytest.approx(expected.statistic)
    assert found["p_value"] == pytest.approx(expected.pvalue)
    assert found["effect"] == pytest.approx((expected.statistic - 2) / (59 - 3))
    assert found["n"] == 59


def test_p_values_are_adjusted_over_those_that_were_tested():
    labels = np.repeat([0, 1], 20)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "same": labels.astype(float) + rng.normal(scale=0.1, size=40),
            "constant": ["x"] * 40,
            "noise": rng.normal(size=40),
            "empty": [None] * 40,
        }
    )
    table = association(labels, frame)
    assert list(table["annotation"]) == list(frame)
    assert list(table["test"]) == ["Kruskal-Wallis", "none", "Kruskal-Wallis", "none"]
    assert list(table["n"]) == [40, 40, 40, 0]
    p_values = table["p_value"].to_numpy()
    assert np.isnan(p_values[[1, 3]]).all()
    assert np.isnan(table["p_adjusted"][[1, 3]]).all()
    assert table["p_adjusted"][0] == pytest.approx(min(2 * p_values[0], p_values[2]))
    assert table["p_adjusted"][2] == pytest.approx(p_values[2])


def test_a_single_cluster_is_not_tested():
    table = association([0, 0, 0], pd.DataFrame({"a": list("xyz"), "b": [0.5, 1.5, 2.5]}))
    assert list(table["test"]) == ["none", "none"]
    assert table[["statistic", "p_value", "p_adjusted", "effect"]].isna().all(axis=None)


def test_clusters_of_single_rows():
    table = association([0, 1, 2], pd.DataFrame({"a": list("xyz"), "b": [0.5, 1.5, 2.5]}))
    assert table["p_value"].between(0, 1).all()
    assert table["effect"][0] == pytest.approx(1)
    assert np.isnan(table["effect"][1])


def test_many_categories_take_little_time_and_memory():
    rng = np.random.default_rng(0)
    names = pd.Series([f"cell{i}" for i in np.arange(4000) % 2000])
    found = association(rng.integers(20, size=4000), names).iloc[0]
    assert found["test"] == "chi-squared, 2500 permutations"
    assert found["p_value"] > 0.001


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="same length"):
        association([0, 1], pd.DataFrame({"a": [1, 2, 3]}))
    with pytest.raises(ValueError, match="same length"):
        cross_table([0, 1], pd.Series([1, 2, 3]))


def test_cross_table_of_categories_keeps_their_order():
    grade = pd.Categorical(["low", "high", None, "low"], ["low", "mid", "high"])
    table = cross_table([2, 2, 5, 0], pd.Series(grade))
    assert list(table.index) == [0, 2, 5]
    assert list(table.columns) == ["low", "high"]
    assert table.to_numpy().tolist() == [[1, 0], [1, 1], [0, 0]]


def test_cross_table_of_marks_and_of_nothing():
    table = cross_table([0, 0, 1], pd.Series([1.0, 10.0, 2.0]))
    assert list(table.columns) == ["1", "2", "10"]
    assert cross_table([0, 1], pd.Series([None, None])).shape == (2, 0)


def test_cross_table_of_numbers():
    table = cross_table(["b", "a", "a", "c"], pd.Series([1.5, 2.0, 4.0, np.nan]))
    assert list(table.columns) == ["n", "mean", "sd", "median", "min", "max"]
    assert table["n"].to_dict() == {"a": 2, "b": 1, "c": 0}
    assert table.loc["a", ["mean", "median", "min", "max"]].tolist() == [3, 3, 2, 4]
    assert table.loc["a", "sd"] == pytest.approx(np.sqrt(2))
    assert table.loc["c"].drop("n").isna().all()


def test_columns_of_a_cross_table_are_in_natural_order():
    days = pd.Series(["day 10", "day 2", "day 1", "day 2", None])
    table = cross_table([0, 0, 1, 1, 1], days)
    assert table.columns.tolist() == ["day 1", "day 2", "day 10"]
    assert table.to_numpy().tolist() == [[0, 1, 1], [1, 1, 0]]
