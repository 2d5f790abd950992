"""Names of rows and columns in what a model returns; polars in, polars out."""

import pickle

import numpy as np
import pandas as pd
import pytest

import pyrocco
from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters

X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
GENES = [f"gene {j}" for j in range(40)]
PATIENTS = [f"patient {i}" for i in range(60)]
FRAME = pd.DataFrame(X, PATIENTS, GENES)


@pytest.fixture(name="model", scope="module")
def fit_model():
    return ROCCO().fit(FRAME)


@pytest.fixture(name="polars", scope="module")
def import_polars():
    return pytest.importorskip("polars", reason="polars is not installed")


def test_explanations_have_the_names_of_the_columns(model):
    named, plain = model.explain(top=3), ROCCO().fit(X).explain(top=3)
    columns = plain["kind"] == "column"
    expected = [GENES[j] for j in plain["column"][columns]]
    assert named["column"][columns].tolist() == expected
    assert named["column"][~columns].isna().all()
    pd.testing.assert_frame_equal(named.drop(columns="column"), plain.drop(columns="column"))
    assert model.at(2, 2).explain(top=1)["column"].dropna().isin(GENES).all()
    by_number = model.explain(top=3, column_names=range(40))
    assert by_number["column"][columns].tolist() == plain["column"][columns].tolist()


def test_clusters_are_listed_by_name(model):
    rows, columns = model.row_clusters(), model.column_clusters()
    assert rows.index.tolist() == PATIENTS
    assert columns.index.tolist() == GENES
    np.testing.assert_array_equal(rows["cluster"], model.row_labels_)
    np.testing.assert_array_equal(columns["membership"], model.column_membership_)
    cut = model.at(2, 2)
    np.testing.assert_array_equal(cut.row_clusters()["cluster"], cut.row_labels_)
    assert cut.column_clusters().index.tolist() == GENES
    assert ROCCO().fit(X).row_clusters().index.tolist() == list(range(60))


def test_names_are_those_of_the_last_fit_and_are_saved(model, tmp_path):
    assert model.row_names_in_.tolist() == PATIENTS
    model.save(tmp_path / "model.pyrocco")
    for other in (pyrocco.load(tmp_path / "model.pyrocco"), pickle.loads(pickle.dumps(model))):
        assert other.row_names_in_.tolist() == PATIENTS
        pd.testing.assert_frame_equal(other.explain(), model.explain())
    again = ROCCO().fit(FRAME)
    again.fit(X)
    assert not hasattr(again, "row_names_in_")
    # Numbers are no names, as for the columns in scikit-learn.
    assert not hasattr(ROCCO().fit(FRAME.reset_index(drop=True)), "row_names_in_")


def test_texts_of_polars_are_named(polars):
    frame = polars.DataFrame({name: X[:, j] for j, name in enumerate(GENES)})
    texts = frame.with_columns(polars.lit("red").alias("colour"))
    with pytest.raises(
        ValueError, match="row 0 of column 'colour' of X holds 'red', not a number"
    ):
        ROCCO().fit(texts)
    numbers = frame.with_columns(polars.col(GENES[0]).cast(polars.String))
    assert ROCCO().fit(numbers).n_row_clusters_ == ROCCO().fit(frame).n_row_clusters_


def test_polars_in_polars_out(polars, model, tmp_path):
    frame = polars.DataFrame({name: X[:, j] for j, name in enumerate(GENES)})
    of_polars = ROCCO().fit(frame)
    np.testing.assert_array_equal(of_polars.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(of_polars.predict(frame[:5]), model.row_labels_[:5])
    placed = of_polars.place(frame[:5])
    assert isinstance(placed, polars.DataFrame)
    expected = model.place(FRAME[:5])
    assert placed.columns == expected.columns.tolist()
    assert placed["membership"].to_list() == expected["membership"].tolist()
    assert of_polars.place_columns(frame[:, :3])["name"].to_list() == GENES[:3]
    # What is asked in pandas is answered in pandas.
    assert isinstance(of_polars.place(FRAME[:5]), pd.DataFrame)
    explained, in_pandas = of_polars.explain(top=2), model.explain(top=2)
    assert explained.columns == in_pandas.columns.tolist()
    columns = in_pandas["column"].astype(object).where(in_pandas["column"].notna(), None)
    assert explained["column"].to_list() == columns.tolist()
    assert explained["n_rows"].to_list() == in_pandas["n_rows"].tolist()
    assert of_polars.column_clusters()["name"].to_list() == GENES
    assert of_polars.row_clusters()["cluster"].to_list() == model.row_labels_.tolist()
    assert of_polars.at(2, 2).explain().columns == explained.columns
    of_polars.save(tmp_path / "model.pyrocco")
    assert pyrocco.load(tmp_path / "model.pyrocco").explain(top=2).equals(explained)
    means = ROCCO().set_output(transform="polars").fit(frame).transform(frame)
    assert isinstance(means, polars.DataFrame)
    assert means.columns == ["column_cluster_0", "column_cluster_1", "column_cluster_2"]


def test_polars_is_imputed_as_polars(polars):
    holes = X.copy()
    holes[3, 4] = np.nan
    frame = polars.DataFrame({name: holes[:, j] for j, name in enumerate(GENES)})
    filled = ROCCO().fit(frame).impute(frame)
    assert isinstance(filled, polars.DataFrame)
    assert filled.columns == GENES
    assert abs(filled["gene 4"][3] - X[3, 4]) < 8
    assert filled["gene 0"].to_list() == X[:, 0].tolist()
