"""Encoded tables: values, equal weights, missing values, new rows, and planted clusters."""

import datetime

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality.mixed_tables import one_hot, planted_table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.cells.encoding import is_mixed
from pyrocco.prepare import encode, encode_like


def weights(encoded):
    """Total variance of the encoded columns of every column of the table."""
    variances = pd.Series(np.nanvar(encoded.X, axis=0))
    return variances.groupby(list(encoded.sources)).sum()


def test_every_column_has_the_same_weight_whatever_it_holds():
    table, _ = planted_table(0)
    encoded = encode(table)
    assert encoded.X.dtype == np.float64
    assert encoded.X.shape == (150, 4 + 4 + 3 + 5 + 8 + 10)
    np.testing.assert_allclose(weights(encoded).to_numpy(), 1, rtol=1e-12)
    assert set(encoded.sources) == set(table)


def test_missing_values_stay_missing_in_all_columns_of_their_source():
    table, _ = planted_table(1)
    encoded = encode(table)
    for name in table:
        columns = encoded.X[:, [source == name for source in encoded.sources]]
        expected = np.repeat(table[name].isna().to_numpy()[:, None], columns.shape[1], axis=1)
        np.testing.assert_array_equal(np.isnan(columns), expected)


def test_numbers_are_standardised_and_outliers_are_moved_to_the_fence():
    plain = np.random.default_rng(0).normal(50, 3, 200)
    expected = (plain - plain.mean()) / plain.std()
    np.testing.assert_allclose(encode(pd.DataFrame({"x": plain})).X[:, 0], expected)
    wild = plain.copy()
    wild[7] = 1e9
    encoded = encode(pd.DataFrame({"x": wild})).X[:, 0]
    assert encoded.argmax() == 7
    assert encoded.max() < 6
    np.testing.assert_allclose(np.delete(encoded, 7), np.delete(expected, 7), atol=0.25)


@pytest.mark.parametrize("zeros", [0, 30])
def test_numbers_with_a_long_tail_are_compressed_first(zeros):
    incomes = np.exp(np.random.default_rng(0).normal(10, 1.2, 300))
    incomes[:zeros] = 0
    encoded = encode(pd.DataFrame({"income": incomes, "loss": -incomes}))
    income, loss = encoded.X.T
    assert "after a logarithm of 1" in encoded.sentence
    assert skew(income) < 1.5
    assert skew(incomes) > 4
    assert skew(loss) < -1
    again = encoded.like(pd.DataFrame({"income": [-5.0], "loss": [0.0]}))
    assert again.X[0, 0] <= income.min()


@pytest.mark.parametrize(
    "cells",
    [
        [True, False, None, True],
        ["yes", "No", None, "YES"],
        ["true", "FALSE", "", "True"],
        ["ja", "nein", None, "ja"],
        ["oui", "non", None, "oui"],
        ["y", "n", " ", "y"],
        ["1", "0", None, "1"],
        [1, 0, None, 1],
        pd.array([True, False, None, True], dtype="boolean"),
        pd.Categorical(["yes", "no", None, "yes"]),
    ],
)
def test_every_spelling_of_yes_and_no(cells):
    encoded = encode(pd.DataFrame({"smoker": cells}))
    deviation = np.sqrt(2) / 3
    np.testing.assert_allclose(encoded.X.ravel(), [1 / deviation, 0, np.nan, 1 / deviation])
    assert encoded.column_names == ("smoker",)
    assert encoded.sentence.startswith("1 yes/no column became 0 and 1. ")
    np.testing.assert_allclose(
        encoded.like(pd.DataFrame({"smoker": ["Oui", "0"]})).X.ravel(), [1 / deviation, 0]
    )


def test_ordered_categories_are_equally_spaced():
    sizes = pd.Categorical(["L", "S", "M", None, "M"], ["S", "M", "L"], ordered=True)
    habits = ["always", "Never", "sometimes", "seldom", None]
    encoded = encode(pd.DataFrame({"size": sizes, "sport": habits}))
    assert encoded.column_names == ("size", "sport")
    np.testing.assert_allclose(encoded.X[:, 0], np.array([1, -1, 0, np.nan, 0]) * np.sqrt(2))
    levels = np.array([4, 0, 2, 1, np.nan])
    expected = (levels - np.nanmean(levels)) / np.nanstd(levels)
    np.testing.assert_allclose(encoded.X[:, 1], expected)
    # Words of the scale that the first table does not contain have their place too.
    new = encoded.like(pd.DataFrame({"size": ["S"], "sport": ["frequently"]}))
    assert expected[2] < new.X[0, 1] < expected[0]


def test_categories_become_one_column_each():
    encoded = encode(pd.DataFrame({"colour": ["red", "blue ", " red", None, "red"]}))
    assert encoded.column_names == ("colour = blue", "colour = red")
    assert encoded.sources == ("colour", "colour")
    high = 1 / np.sqrt(2 * 0.25 * 0.75)
    nan = np.nan
    expected = [[0, high], [high, 0], [0, high], [nan, nan], [0, high]]
    np.testing.assert_allclose(encoded.X, expected)


def test_columns_that_cannot_be_data_are_left_out_with_the_reason():
    n = 40
    random = np.random.default_rng(0)
    days = [datetime.date(2024, 1, 1 + i % 28) for i in range(n)]
    table = pd.DataFrame(
        {
            "height": random.normal(size=n),
            "row": np.arange(1, n + 1),
            "name": [f"person {i}" for i in range(n)],
            "nickname": [f"person {i // 2 if i < 4 else i}" for i in range(n)],
            "city": [f"city {i % 25}" for i in range(n)],
            "remark": [f"I would like to say {i} things" for i in range(n)],
            "born": pd.to_datetime(pd.Series(days)),
            "seen": days,
            "date": [f"{day:%d.%m.%Y}" for day in days],
            "country": ["France"] * n,
            "empty": [None] * n,
            "nothing": np.full(n, np.nan),
            "constant": np.full(n, 7.0),
            "dose": ["unknown", *map(str, range(1, n))],
            "lists": [[i] for i in range(n)],
        }
    )
    encoded = encode(table)
    assert encoded.column_names == ("height",)
    assert encoded.left_out == {
        "row": "it numbers the rows",
        "name": "every row has a different text",
        "nickname": "nearly every row has a different text",
        "city": "it holds 25 different texts, which are too many for categories",
        "remark": "it holds free text",
        "born": "it holds dates or times",
        "seen": "it holds dates or times",
        "date": "it holds dates or times",
        "country": "it holds the same value in every row",
        "empty": "it is empty",
        "nothing": "it is empty",
        "constant": "it holds the same value in every row",
        "dose": "it holds numbers, but also 'unknown'",
        "lists": "it holds neither numbers nor texts",
    }
    assert 'Left out: "row" (it numbers the rows); "name" (every' in encoded.sentence


def test_the_sentence_says_what_was_done():
    table, _ = planted_table(0)
    assert encode(table).sentence == (
        "4 numeric columns were scaled (after a logarithm of 1), 4 yes/no columns became 0 and 1, "
        "and the categories of 4 columns became one column each. Every column of the table has "
        "the same weight."
    )


def test_new_rows_are_encoded_in_the_same_way():
    table, _ = planted_table(2)
    encoded = encode(table)
    new = encoded.like(table[::-1].iloc[:10, ::-1].assign(more=1))
    np.testing.assert_array_equal(new.X, encoded.X[::-1][:10])
    assert new.column_names == encoded.column_names
    assert new.sentence == "Columns were encoded as for the fit."


def test_unknown_categories_and_answers_count_as_missing():
    table, _ = planted_table(2)
    encoded = encode(table)
    strange = table[:2].assign(**{"category 0": ["new kind", None], "answer 1": "perhaps"})
    new = encoded.like(strange)
    is_strange = np.isin(encoded.sources, ["category 0", "answer 1"])
    assert np.isnan(new.X[:, is_strange]).all()
    np.testing.assert_array_equal(new.X[:, ~is_strange], encoded.X[:2, ~is_strange])
    assert new.sentence.endswith("3 values are in none of the categories and count as missing.")


def test_what_new_rows_must_hold():
    encoded = encode(pd.DataFrame({"age": [20.0, 30.0], "sport": ["yes", "no"]}))
    with pytest.raises(ValueError, match="no column 'sport'"):
        encoded.like(pd.DataFrame({"age": [20.0]}))
    with pytest.raises(ValueError, match="column 'age' holds 'old', not a number"):
        encoded.like(pd.DataFrame({"age": ["old"], "sport": ["yes"]}))


def test_bad_tables_are_refused_with_a_reason():
    with pytest.raises(TypeError, match="must be a DataFrame; got ndarray"):
        encode(np.eye(3))
    with pytest.raises(ValueError, match="several columns are named 'a'"):
        encode(pd.DataFrame([[1, 2], [3, 5]], columns=["a", "a"]))
    with pytest.raises(ValueError, match=r'no column that can be encoded. Left out: "a" \(it is'):
        encode(pd.DataFrame({"a": [None, None]}))
    with pytest.raises(ValueError, match="column 'a' holds an infinite value"):
        encode(pd.DataFrame({"a": [1.0, np.inf]}))


def test_the_table_is_not_changed_and_its_index_does_not_matter():
    table, _ = planted_table(3)
    shuffled = table.set_axis(np.arange(len(table))[::-1])
    before = shuffled.copy()
    np.testing.assert_array_equal(encode(shuffled).X, encode(table).X)
    pd.testing.assert_frame_equal(shuffled, before)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries(library):
    module = pytest.importorskip(library)
    table = planted_table(0)[0].infer_objects()
    cells = table.astype(object)
    columns = {name: cells[name].where(cells[name].notna(), None).tolist() for name in table}
    other = module.DataFrame(columns) if library == "polars" else module.table(columns)
    np.testing.assert_array_equal(encode(other).X, encode(table).X)


def test_the_error_of_a_fit_names_encode():
    with pytest.raises(ValueError, match=r"pyrocco\.prepare\.encode"):
        ROCCO().fit(planted_table(0)[0])


def test_tables_with_many_texts_are_mixed():
    table, _ = planted_table(0)
    assert is_mixed(table)
    assert is_mixed(table.filter(like="answer"))
    assert not is_mixed(table.filter(like="number"))
    assert not is_mixed(table[["number 0", "number 1", "category 0", "category 1"]])
    wide = table.filter(like="number").infer_objects()
    annotated = pd.concat([wide.add_suffix(f" {i}") for i in range(5)], axis=1)
    assert not is_mixed(annotated.join(table[["category 0", "category 1", "answer 0"]]))
    assert not is_mixed(pd.DataFrame(np.eye(6), columns=list("abcdef")))


CELLS = {
    "number": st.floats(-1e6, 1e6) | st.none(),
    "answer": st.sampled_from(["yes", "no", None]),
    "category": st.sampled_from(["a", "b", "c", None]),
    "level": st.sampled_from(["low", "medium", "high", None]),
}


def _is_constant(column):
    filled = column.dropna()
    if column.name != "number":
        return len(filled.unique()) < 2
    values = filled.to_numpy(dtype=float)
    return len(values) == 0 or np.ptp(values) <= 1e-12 * np.abs(values).max()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(6, 30).flatmap(
        lambda n: st.fixed_dictionaries(
            {name: st.lists(cells, min_size=n, max_size=n) for name, cells in CELLS.items()}
        )
    )
)
def test_any_table_has_equal_weights_and_comes_back(cells):
    table = pd.DataFrame(cells)
    if all(_is_constant(table[name]) for name in table):
        with pytest.raises(ValueError, match="no column that can be encoded"):
            encode(table)
        return
    encoded = encode(table)
    np.testing.assert_allclose(weights(encoded).to_numpy(), 1, rtol=1e-6)
    assert set(encoded.sources) | set(encoded.left_out) == set(table)
    again = encode_like(table, encoded.columns)
    np.testing.assert_array_equal(again.X, encoded.X)
    assert set(encoded.left_out) == {name for name in table if _is_constant(table[name])}


@pytest.mark.parametrize(
    ("informative", "least"),
    [(("numbers", "answers", "categories"), 0.85), (("answers", "categories"), 0.5)],
)
def test_planted_clusters_are_found_and_better_than_by_one_hot_columns(informative, least):
    scores = []
    for seed in range(3):
        table, labels = planted_table(seed, informative=informative)
        found = [ROCCO(prepare=None).fit(X).row_labels_ for X in (encode(table).X, one_hot(table))]
        scores.append([adjusted_rand_score(labels, each) for each in found])
    encoded, plain = np.mean(scores, axis=0)
    assert encoded > least
    assert encoded > plain + 0.15


@pytest.mark.parametrize("seed", [0, 1])
def test_rows_that_were_left_out_are_predicted(seed):
    table, labels = planted_table(seed, n_rows=220)
    encoded = encode(table[:150])
    model = ROCCO((3, None), prepare=None).fit(encoded.X)
    predicted = model.predict(encoded.like(table[150:]).X)
    assert adjusted_rand_score(labels[150:], predicted) > 0.8
