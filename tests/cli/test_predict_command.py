"""``pyrocco predict``: numbers of the library, columns by name, values prepared alike."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pyrocco
from pyrocco import RCC, ROCCO
from pyrocco.cli import main
from pyrocco.prepare import learn_preparations, prepare_alike

RNG = np.random.default_rng(0)
MEANS = np.array([[9.0, 1.0, 1.0], [1.0, 7.0, 1.0], [1.0, 1.0, 5.0]])
COUNTS = RNG.poisson(MEANS[np.arange(90) % 3][:, np.arange(45) % 3]).astype(float)
COUNTS *= RNG.integers(1, 4, 90)[:, None]
TABLE = pd.DataFrame(COUNTS, [f"c{i}" for i in range(90)], [f"g{j}" for j in range(45)])


@pytest.fixture(scope="module", name="out")
def fit_sixty(tmp_path_factory):
    """The folder of a fit to the first sixty rows, prepared in every way that goes together."""
    folder = tmp_path_factory.mktemp("fit")
    TABLE[:60].to_csv(folder / "counts.csv")
    words = ["--normalize", "--log1p", "--zscore", "--no-report", "-q"]
    assert main(["fit", str(folder / "counts.csv"), "-o", str(folder / "out"), *words]) == 0
    return folder / "out"


def predict(capsys, *words):
    """What the command prints, as a table."""
    code = main(["predict", *map(str, words)])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return pd.read_csv(io.StringIO(captured.out)), captured.err


def refused(capsys, *words):
    assert main(["predict", *map(str, words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_rows_of_the_fit_keep_their_labels(out, tmp_path, capsys):
    TABLE[20:60].to_csv(tmp_path / "again.csv")
    found, _ = predict(capsys, out, tmp_path / "again.csv", "-q")
    fitted = pd.read_csv(out / "row_labels.csv").set_index("name")["label"]
    assert found["label"].tolist() == fitted[found["name"]].tolist()
    assert list(found.columns) == ["name", "label", "membership", "distance", "far"]


def test_new_rows_are_those_of_the_library(out, tmp_path, capsys):
    TABLE[60:].to_csv(tmp_path / "new.csv")
    found, _ = predict(capsys, out / "model.pyrocco", tmp_path / "new.csv")
    X, learned = learn_preparations(COUNTS[:60], ["normalize", "log1p", "zscore"])
    model = ROCCO(prepare=None).fit(X)
    expected = model.place(prepare_alike(COUNTS[60:], learned))
    assert found["name"].tolist() == TABLE.index[60:].tolist()
    pd.testing.assert_frame_equal(found.drop(columns="name"), expected, rtol=1e-9)


def test_columns_are_matched_by_name(out, tmp_path, capsys):
    new = TABLE[60:]
    new.to_csv(tmp_path / "new.csv")
    shuffled = new.iloc[:, ::-1].assign(more=1.0, others=2.0)
    shuffled.to_csv(tmp_path / "shuffled.csv")
    expected, _ = predict(capsys, out, tmp_path / "new.csv")
    found, err = predict(capsys, out, tmp_path / "shuffled.csv")
    pd.testing.assert_frame_equal(found, expected)
    assert "2 columns that the model does not know were left out." in err
    np.save(tmp_path / "new.npy", new.to_numpy())
    found, err = predict(capsys, out, tmp_path / "new.npy")
    assert found["label"].tolist() == expected["label"].tolist()
    assert "assumed to be in the same order as those of the model" in err
    new.T.to_csv(tmp_path / "transposed.csv")
    found, _ = predict(capsys, out, tmp_path / "transposed.csv", "--transpose")
    pd.testing.assert_frame_equal(found, expected)


def test_what_is_missing_is_named(out, tmp_path, capsys):
    TABLE[60:].drop(columns=["g7", "g9"]).to_csv(tmp_path / "new.csv")
    err = refused(capsys, out, tmp_path / "new.csv")
    assert 'lacks 2 of the 45 columns that the model was fitted to: "g7", "g9"; add them' in err


def test_output_to_a_file(out, tmp_path, capsys):
    TABLE[60:].to_csv(tmp_path / "new.csv")
    expected, _ = predict(capsys, out, tmp_path / "new.csv")
    for name, read in (("a.csv", pd.read_csv), ("a.parquet", pd.read_parquet)):
        assert (
            main(["predict", *map(str, (out, tmp_path / "new.csv", "-o", tmp_path / name))]) == 0
        )
        pd.testing.assert_frame_equal(read(tmp_path / name), expected)
        assert "30 rows, " in capsys.readouterr().out
    words = map(str, (out, tmp_path / "new.csv", "--json", "-q"))
    assert main(["predict", *words]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["label"] for record in records] == expected["label"].tolist()
    err = refused(capsys, out, tmp_path / "new.csv", "-q", "-o", tmp_path / "a.txt")
    assert ".csv or .parquet" in err


def test_new_columns(tmp_path, capsys):
    columns = TABLE.iloc[:, :30]
    columns.to_csv(tmp_path / "counts.csv")
    words = ["--log1p", "--zscore", "--no-report", "-q"]
    assert main(["fit", str(tmp_path / "counts.csv"), "-o", str(tmp_path / "out"), *words]) == 0
    TABLE.iloc[::-1, 10:].to_csv(tmp_path / "new.csv")
    found, _ = predict(capsys, tmp_path / "out", tmp_path / "new.csv", "--columns")
    fitted = pd.read_csv(tmp_path / "out" / "column_labels.csv").set_index("name")["label"]
    assert found["name"].tolist() == TABLE.columns[10:].tolist()
    assert found["label"][:20].tolist() == fitted[found["name"][:20]].tolist()
    X = learn_preparations(COUNTS, ["log1p", "zscore"])[0]
    model = ROCCO(prepare=None).fit(X[:, :30])
    np.testing.assert_array_equal(found["label"][20:], model.predict_columns(X[:, 30:]))


def test_new_columns_of_scaled_rows(out, tmp_path, capsys):
    TABLE[:60].to_csv(tmp_path / "new.csv")
    found, _ = predict(capsys, out, tmp_path / "new.csv", "--columns", "-q")
    fitted = pd.read_csv(out / "column_labels.csv")
    assert found["label"].tolist() == fitted["label"].tolist()


def test_words_are_weighed_as_those_of_the_fit(tmp_path, capsys):
    words = (COUNTS > 4) * COUNTS
    sparse.save_npz(tmp_path / "texts.npz", sparse.csr_array(words[:60]))
    sparse.save_npz(tmp_path / "new.npz", sparse.csr_array(words[58:]))
    fit = ["fit", str(tmp_path / "texts.npz"), "-o", str(tmp_path / "out"), "--tfidf", "-q"]
    assert main([*fit, "--no-report"]) == 0
    found, _ = predict(capsys, tmp_path / "out", tmp_path / "new.npz", "-q")
    fitted = pd.read_csv(tmp_path / "out" / "row_labels.csv")["label"]
    assert found["label"][:2].tolist() == fitted[58:].tolist()
    assert found["label"][2:].tolist() == [fitted[i % 3] for i in range(60, 90)]


def test_models_that_cannot_predict(tmp_path, capsys):
    TABLE.to_csv(tmp_path / "new.csv")
    RCC().fit(COUNTS).save(tmp_path / "rcc.pyrocco")
    assert "contains a model of class RCC" in refused(
        capsys, tmp_path / "rcc.pyrocco", tmp_path / "new.csv"
    )
    ROCCO().fit(COUNTS).save(tmp_path / "own.pyrocco")
    assert "pyrocco.load" in refused(capsys, tmp_path / "own.pyrocco", tmp_path / "new.csv")
    assert "not a model file" in refused(capsys, tmp_path / "new.csv", tmp_path / "new.csv")
    refused(capsys, tmp_path / "nowhere", tmp_path / "new.csv")


def test_names_that_do_not_tell_which_is_which(tmp_path, capsys):
    twice = TABLE.rename(columns={"g1": "g0"})
    twice.T.to_csv(tmp_path / "a.csv")
    model = ROCCO().fit(COUNTS)
    about = {"row_names": list(TABLE.index), "column_names": list(twice.columns)}
    model.save(tmp_path / "a.pyrocco", about)
    found, _ = predict(capsys, tmp_path / "a.pyrocco", tmp_path / "a.csv", "--transpose", "-q")
    assert found["label"].tolist() == model.row_labels_.tolist()
    twice.iloc[:, ::-1].T.to_csv(tmp_path / "b.csv")
    err = refused(capsys, tmp_path / "a.pyrocco", tmp_path / "b.csv", "--transpose", "-q")
    assert 'several columns are called "g0"' in err


def test_the_model_of_the_command_is_that_of_the_library(out):
    model = pyrocco.load(out / "model.pyrocco")
    fitted = pd.read_csv(out / "row_labels.csv")["label"]
    assert model.row_labels_.tolist() == fitted.tolist()
