"""Tables with texts and numbers: ``fit`` encodes them, ``predict`` and ``report`` do so too."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality.mixed_tables import planted_table
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.cli import main
from pyrocco.cli.fitted_model import load_fitted
from pyrocco.prepare import encode
from tests.model_files import rewrite, set_value

TABLE, LABELS = planted_table(0, n_rows=140)
TABLE = TABLE.infer_objects()
SURVEY, NEW = TABLE[:110], TABLE[110:]


def people(table):
    """The table with a first column of names, and one of remarks."""
    remarks = [f"a remark about person number {i}" for i in table.index]
    names = [f"person {i}" for i in table.index]
    return table.assign(remark=remarks).set_axis(pd.Index(names, name="person"))


def run(capsys, *words):
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured


def refused(capsys, *words):
    assert main([str(word) for word in words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.fixture(scope="module", name="folder")
def fit_survey(tmp_path_factory):
    """A survey as CSV and the results of its fit."""
    folder = tmp_path_factory.mktemp("survey")
    people(SURVEY).to_csv(folder / "survey.csv")
    people(NEW).to_csv(folder / "new.csv")
    assert main(["fit", str(folder / "survey.csv"), "-o", str(folder / "out"), "-q"]) == 0
    return folder


def test_the_labels_are_those_of_the_library(folder):
    encoded = encode(SURVEY)
    expected = ROCCO(prepare=None).fit(encoded.X)
    rows = pd.read_csv(folder / "out" / "row_labels.csv")
    columns = pd.read_csv(folder / "out" / "column_labels.csv")
    assert rows["name"].tolist() == [f"person {i}" for i in SURVEY.index]
    assert rows["label"].tolist() == expected.row_labels_.tolist()
    assert columns["name"].tolist() == list(encoded.column_names)
    assert adjusted_rand_score(LABELS[:110], rows["label"]) > 0.8


def test_the_summary_and_the_report_say_what_was_encoded(folder):
    encoded = encode(SURVEY)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["cells"] == "encoded columns"
    assert summary["preparation"] == (
        f'{encoded.sentence} Left out: "remark" (it holds free text).'
    )
    assert summary["encoding"] == {column.name: column.kind for column in encoded.columns}
    assert set(summary["encoding"].values()) == {"numbers", "yes/no", "categories"}
    assert summary["parameters"]["prepare"] is None
    assert "Many columns hold texts, so all columns were encoded" in " ".join(summary["notes"])
    report = (folder / "out" / "report.html").read_text()
    assert f"The cells are encoded columns. {encoded.sentence}" in report


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "tsv.gz", "semicolons.csv"])
def test_every_format_of_tables_gives_the_same_labels(folder, tmp_path, ending, capsys):
    table, path = people(SURVEY), tmp_path / f"survey.{ending}"
    if ending == "xlsx":
        table.to_excel(path)
    elif ending == "parquet":
        table.to_parquet(path)
    elif ending == "tsv.gz":
        table.to_csv(path, sep="\t")
    else:
        table.to_csv(path, sep=";", decimal=",")
    run(capsys, "fit", path, "-o", tmp_path / "out", "--no-report", "-q")
    found = pd.read_csv(tmp_path / "out" / "row_labels.csv")
    pd.testing.assert_frame_equal(found, pd.read_csv(folder / "out" / "row_labels.csv"))


def test_new_rows_are_encoded_and_predicted_as_by_the_library(folder, capsys):
    captured = run(capsys, "predict", folder / "out", folder / "new.csv", "--json")
    found = pd.DataFrame(json.loads(captured.out))
    encoded = encode(SURVEY)
    expected = ROCCO(prepare=None).fit(encoded.X).place(encoded.like(NEW).X)
    pd.testing.assert_frame_equal(found.drop(columns="name"), expected, rtol=1e-9)
    assert found["name"].tolist() == [f"person {i}" for i in NEW.index]
    assert "Columns were encoded as for the fit." in captured.err


def test_a_single_new_row_with_an_unknown_category(folder, tmp_path, capsys):
    one = people(NEW[:1]).assign(**{"category 1": "other"})
    one.to_csv(tmp_path / "one.csv")
    captured = run(capsys, "predict", folder / "out", tmp_path / "one.csv", "--json")
    expected = ROCCO(prepare=None).fit(encode(SURVEY).X).place(encode(SURVEY).like(one).X)
    assert json.loads(captured.out)[0]["label"] == expected["label"][0]
    assert "1 value is in none of the categories" in captured.err


def test_what_cannot_be_predicted(folder, tmp_path, capsys):
    people(NEW).drop(columns="answer 2").to_csv(tmp_path / "less.csv")
    err = refused(capsys, "predict", folder / "out", tmp_path / "less.csv")
    assert "less.csv: the table has no column 'answer 2'" in err
    people(NEW).assign(**{"number 1": "many"}).to_csv(tmp_path / "bad.csv")
    err = refused(capsys, "predict", folder / "out", tmp_path / "bad.csv")
    assert "bad.csv: column 'number 1' holds 'many', not a number" in err
    np.save(tmp_path / "new.npy", np.eye(34))
    assert "as .csv" in refused(capsys, "predict", folder / "out", tmp_path / "new.npy")
    err = refused(capsys, "predict", folder / "out", folder / "new.csv", "--columns")
    assert "place_columns of the model in Python" in err


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("about", "encoding"), 3),
        (("about", "encoding"), [1, 2]),
        (("about", "encoding", 0, "scale"), 0.0),
        (("about", "encoding", 0, "offset"), "much"),
        (("about", "encoding", 0, "low"), float("nan")),
        (("about", "encoding", 4, "name"), None),
        (("about", "encoding", 8, "categories"), ["kind 0"]),
        (("about", "encoding", 8, "categories"), [0, 1, 2]),
    ],
)
def test_an_edited_encoding_is_refused(folder, tmp_path, keys, value, capsys):
    model = tmp_path / "model.pyrocco"
    model.write_bytes((folder / "out" / "model.pyrocco").read_bytes())
    set_value(model, keys, value)
    err = refused(capsys, "predict", model, folder / "new.csv")
    assert "fit again" in err or "fit the model again" in err


def test_models_without_an_encoding_can_be_read(folder, tmp_path):
    model = tmp_path / "model.pyrocco"
    model.write_bytes((folder / "out" / "model.pyrocco").read_bytes())
    rewrite(model, lambda text: text["content"]["about"].pop("encoding"))
    assert load_fitted(model).encoding == ()


def test_the_report_is_regenerated(folder, capsys):
    page = folder / "out" / "report.html"
    before = page.read_text()
    page.unlink()
    run(capsys, "report", folder / "out")
    assert page.read_text() == before


@pytest.mark.parametrize("option", [["--no-encode"], ["--prepare", "none"]])
def test_numbers_alone_on_request(folder, tmp_path, option, capsys):
    out = tmp_path / "out"
    captured = run(capsys, "fit", folder / "survey.csv", "-o", out, *option, "--no-report")
    assert pd.read_csv(out / "column_labels.csv")["name"].tolist() == list(
        SURVEY.filter(like="number")
    )
    assert "encoded" not in captured.err
    assert load_fitted(out / "model.pyrocco").encoding == ()
    assert json.loads((out / "summary.json").read_text())["encoding"] == {}


def test_few_texts_are_set_aside_unless_encoding_is_asked_for(tmp_path, capsys):
    numbers = SURVEY.filter(like="number").fillna(0)
    table = numbers.assign(**{"answer 0": SURVEY["answer 0"]})
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "-o", tmp_path / "out", "--no-report")
    err = run(capsys, *words).err
    assert "--annotate NAME shows them beside the clusters, --encode uses them as data" in err
    labels = pd.read_csv(tmp_path / "out" / "column_labels.csv")
    assert labels["name"].tolist() == list(numbers)
    run(capsys, *words, "--encode")
    labels = pd.read_csv(tmp_path / "out" / "column_labels.csv")
    assert labels["name"].tolist() == list(table)


def test_numbers_with_row_names_are_not_encoded(tmp_path, capsys):
    numbers = SURVEY.filter(like="number").fillna(0)
    people(numbers).drop(columns="remark").to_csv(tmp_path / "t.csv")
    err = run(capsys, "fit", tmp_path / "t.csv", "-o", tmp_path / "out", "--no-report").err
    assert "encode" not in err


def test_a_table_of_answers_alone(tmp_path, capsys):
    answers = planted_table(3)[0].filter(regex="answer|category").fillna("NA")
    answers.to_csv(tmp_path / "answers.csv", index=False)
    words = ("fit", tmp_path / "answers.csv", "-o", tmp_path / "out", "--no-report")
    err = run(capsys, *words).err
    assert "The first line holds the column names" in err
    assert "There is no column of row names." in err
    model = load_fitted(tmp_path / "out" / "model.pyrocco")
    assert [column.name for column in model.encoding] == list(answers)
    assert len(model.row_names) == len(answers)
    captured = run(capsys, "predict", tmp_path / "out", tmp_path / "answers.csv", "--json")
    labels = pd.read_csv(tmp_path / "out" / "row_labels.csv")["label"]
    assert [row["label"] for row in json.loads(captured.out)] == labels.tolist()


def test_inspect_describes_the_encoded_table(folder, capsys):
    out = run(capsys, "inspect", folder / "survey.csv").out
    assert f"Cells: encoded columns. {encode(SURVEY).sentence}" in out
    assert out.count("the categories of 4 columns became one column each") == 1
    about = json.loads(run(capsys, "inspect", folder / "survey.csv", "--json").out)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    for key in ("cells", "preparation", "encoding"):
        assert about[key] == summary[key]


@pytest.mark.parametrize(
    "option", [["--zscore"], ["--prepare", "none"], ["--transpose"], ["--layout", "long"]]
)
def test_options_that_do_not_go_together(folder, tmp_path, option, capsys):
    err = refused(capsys, "fit", folder / "survey.csv", "-o", tmp_path, "--encode", *option)
    assert "leave out --transpose" in err


def test_encode_has_no_effect_on_arrays(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.eye(20))
    err = refused(capsys, "fit", tmp_path / "x.npy", "-o", tmp_path / "out", "--encode")
    assert "--encode has no effect on this file, only on .csv" in err


def test_tables_that_cannot_be_encoded(tmp_path, capsys):
    (tmp_path / "u.csv").write_text("a,b\nAnn,one\nBob,two\nCem,three\n")
    err = refused(capsys, "fit", tmp_path / "u.csv", "-o", tmp_path / "out", "--encode")
    assert "u.csv: the table has no column that can be encoded" in err
    (tmp_path / "v.csv").write_text("a,b,c\nyes,no,1\nno,yes\nyes,yes,4\n")
    err = refused(capsys, "fit", tmp_path / "v.csv", "-o", tmp_path / "out", "--encode")
    assert "line 3 of the file has 2 cells, but the other lines have 3" in err
