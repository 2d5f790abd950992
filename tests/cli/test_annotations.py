"""``pyrocco fit --annotate`` and ``--annotate-from``, and what is made of them."""

import json
import re

import anndata
import numpy as np
import pandas as pd
import pytest

import pyrocco
from pyrocco import association, cross_table, load
from pyrocco.cli import main
from pyrocco.io import read_matrix


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A table with a treatment and an age beside its numbers, and a table about its columns."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    X = np.kron(np.array([[4.0, 0], [0, 4]]), np.ones((20, 8))) + rng.standard_normal((40, 16))
    frame = pd.DataFrame(X, [f"patient {i}" for i in range(40)], [f"m{j}" for j in range(16)])
    frame.insert(2, "treatment", np.where(np.arange(40) % 20 < 18, "drug", "none"))
    frame.loc[frame.index[20:], "treatment"] = "none"
    frame["age"] = rng.integers(25, 80, 40)
    frame.to_csv(folder / "study.csv", index_label="patient")
    about = pd.DataFrame({"measure": [f"m{j}" for j in range(16)], "assay": ["rna", "dna"] * 8})
    about.to_csv(folder / "measures.csv", index=False)
    options = ["--annotate", "treatment,age", "--annotate-from", str(folder / "measures.csv")]
    assert main(["fit", str(folder / "study.csv"), "-o", str(folder / "out"), *options]) == 0
    return folder, frame, about


def test_annotations_are_not_part_of_the_matrix(study):
    folder, frame, _ = study
    table = pd.read_csv(folder / "out" / "column_labels.csv")
    assert table["name"].tolist() == [f"m{j}" for j in range(16)]
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["shape"] == [40, 16]
    assert {"annotations.csv", "cross_tables.csv"} <= set(summary["files"])
    model = load(folder / "out" / "model.pyrocco")
    np.testing.assert_array_equal(model.row_labels_, np.arange(40) // 20)
    assert len(frame) == 40


def test_the_tests_and_cross_tables_are_those_of_the_library(study):
    folder, frame, about = study
    labels = {
        side: pd.read_csv(folder / "out" / f"{side}_labels.csv")["label"]
        for side in ("row", "column")
    }
    known = {"row": frame[["treatment", "age"]], "column": about[["assay"]]}
    tests = pd.read_csv(folder / "out" / "annotations.csv")
    crossed = pd.read_csv(folder / "out" / "cross_tables.csv")
    assert tests["annotation"].tolist() == ["treatment", "age", "assay"]
    for side, table in known.items():
        expected = association(labels[side], table)
        found = tests[tests["side"] == side].drop(columns="side").reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected)
        for name in table:
            lines = crossed[(crossed["side"] == side) & (crossed["annotation"] == name)]
            found = lines.pivot_table(index="cluster", columns="value", values="number")
            expected = cross_table(labels[side], table[name].reset_index(drop=True))
            expected.columns = expected.columns.astype(str)
            pd.testing.assert_frame_equal(
                found[expected.columns], expected, check_dtype=False, check_names=False
            )


def test_the_report_shows_them_and_can_be_regenerated(study):
    folder, _, _ = study
    page = folder / "out" / "report.html"
    before = page.read_text(encoding="utf-8")
    assert "treatment: associated with the row clusters (Cramer&#x27;s V 0.9" in before
    assert "assay: no association with the column clusters was found" in before
    (folder / "measures.csv").rename(folder / "moved.csv")  # they are stored with the model
    try:
        page.unlink()
        assert main(["report", str(folder / "out"), "-q"]) == 0
        assert page.read_text(encoding="utf-8") == before
    finally:
        (folder / "moved.csv").rename(folder / "measures.csv")


def test_the_notes_say_what_was_matched(study, tmp_path, capsys):
    folder, _, _ = study
    options = ["--annotate", "treatment", "--annotate-from", str(folder / "measures.csv")]
    assert main(["fit", str(folder / "study.csv"), "-o", str(tmp_path / "out"), *options]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert 'Set aside: "treatment" annotates the rows and is not part of the matrix.' in said
    assert 'measures.csv: "assay" annotates 16 of the 17 columns.' in said


def test_new_rows_are_predicted_from_the_same_table(study, tmp_path):
    folder, _, _ = study
    new = tmp_path / "new.csv"
    words = ["predict", str(folder / "out"), str(folder / "study.csv"), "-o", str(new), "-q"]
    assert main(words) == 0
    labels = pd.read_csv(folder / "out" / "row_labels.csv")["label"]
    np.testing.assert_array_equal(pd.read_csv(new)["label"], labels)


def test_rows_of_the_matrix_may_be_columns_of_the_file(study, tmp_path):
    folder, frame, _ = study
    words = ["--annotate", "treatment,age", "--transpose", "-q", "-o", str(tmp_path / "out")]
    assert main(["fit", str(folder / "study.csv"), *words]) == 0
    tests = pd.read_csv(tmp_path / "out" / "annotations.csv")
    assert tests["side"].tolist() == ["column", "column"]
    before = (tmp_path / "out" / "report.html").read_bytes()
    assert main(["report", str(tmp_path / "out"), "-q"]) == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert len(frame) == 40


def test_a_table_that_is_encoded(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b"], 30)
    answers = {f"q{j}": np.where(rng.random(60) < 0.1, "no", "yes") for j in range(6)}
    for name in list(answers)[:3]:
        answers[name] = np.where(kind == "a", answers[name], "no")
    frame = pd.DataFrame({"person": [f"p{i}" for i in range(60)], **answers, "kind": kind})
    frame.to_csv(tmp_path / "survey.csv", index=False)
    words = ["fit", str(tmp_path / "survey.csv"), "-o", str(tmp_path / "out"), "-q"]
    assert main([*words, "--annotate", "kind"]) == 0
    tests = pd.read_csv(tmp_path / "out" / "annotations.csv")
    assert tests["annotation"].tolist() == ["kind"]
    columns = pd.read_csv(tmp_path / "out" / "column_labels.csv")["name"]
    assert not columns.str.startswith("kind").any()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    about = 'Set aside: "kind" annotates the rows and is not part of the matrix.'
    assert about in summary["notes"]
    before = (tmp_path / "out" / "report.html").read_bytes()
    assert main(["report", str(tmp_path / "out"), "-q"]) == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == before


@pytest.mark.parametrize("form", ["parquet", "h5ad"])
def test_other_formats_of_the_results(study, tmp_path, form):
    folder, frame, _ = study
    words = ["--annotate", "treatment,age", "--output-format", form, "--no-report", "-q"]
    assert main(["fit", str(folder / "study.csv"), "-o", str(tmp_path / "out"), *words]) == 0
    if form == "parquet":
        tests = pd.read_parquet(tmp_path / "out" / "annotations.parquet")
    else:
        tests = pd.read_csv(tmp_path / "out" / "annotations.csv")
        obs = anndata.read_h5ad(tmp_path / "out" / "clusters.h5ad").obs
        assert obs["treatment"].tolist() == frame["treatment"].tolist()
        assert obs["age"].tolist() == frame["age"].tolist()
    assert tests["annotation"].tolist() == ["treatment", "age"]


def test_dates_beside_a_matrix(tmp_path):
    rng = np.random.default_rng(0)
    X = np.kron(np.array([[4.0, 0], [0, 4]]), np.ones((20, 8))) + rng.standard_normal((40, 16))
    table = pd.DataFrame(X, [f"s{i}" for i in range(40)], [f"m{j}" for j in range(16)])
    table["visit"] = pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d")
    table.to_csv(tmp_path / "t.csv", index_label="sample")
    for form in ("csv", "parquet"):
        words = ["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / form), "-q"]
        assert main([*words, "--annotate", "visit", "--output-format", form]) == 0
    tests = pd.read_parquet(tmp_path / "parquet" / "annotations.parquet")
    assert tests[["kind", "test"]].values.tolist() == [["date", "Kruskal-Wallis"]]
    crossed = pd.read_csv(tmp_path / "csv" / "cross_tables.csv")
    first = crossed[(crossed["cluster"] == 0) & (crossed["value"] == "min")]
    assert first["date"].tolist() == ["2024-01-01"]
    assert crossed.loc[crossed["value"] == "n", "number"].tolist() == [20, 20]
    assert main(["report", str(tmp_path / "csv"), "-q"]) == 0


def test_an_anndata_file_has_cells_and_genes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    means = np.kron(np.array([[9.0, 1], [1, 7]]), np.ones((20, 10)))
    obs = pd.DataFrame({"donor": ["d1"] * 20 + ["d2"] * 20}, index=[f"c{i}" for i in range(40)])
    var = pd.DataFrame({"length": rng.random(20)}, index=[f"g{j}" for j in range(20)])
    X = rng.poisson(means).astype(np.float32)
    anndata.AnnData(X, obs=obs, var=var).write_h5ad(tmp_path / "cells.h5ad")
    score = pd.DataFrame({"cell": obs.index[:30], "score": rng.random(30)})
    score.to_csv(tmp_path / "score.csv", index=False)
    words = ["fit", str(tmp_path / "cells.h5ad"), "-o", str(tmp_path / "scored")]
    assert main([*words, "--annotate-from", str(tmp_path / "score.csv")]) == 0
    captured = capsys.readouterr()
    said = captured.out + captured.err
    assert "its observations are cells, its variables are genes" in said
    assert "The matrix has 40 cells and 20 genes." in said
    assert "Found 2 clusters of cells and 2 clusters of genes." in said
    page = (tmp_path / "scored" / "report.html").read_text(encoding="utf-8")
    assert "its observations are cells, its variables are genes" in page
    assert "annotates 30 of the 40 cells" in page
    words = ["fit", str(tmp_path / "cells.h5ad"), "-o", str(tmp_path / "out"), "-q"]
    assert main([*words, "--annotate", "donor,length"]) == 0
    tests = pd.read_csv(tmp_path / "out" / "annotations.csv")
    assert tests[["side", "annotation"]].values.tolist() == [["cell", "donor"], ["gene", "length"]]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "pyrocco found 2 cell clusters and 2 gene clusters in a matrix of 40 cells" in page
    assert "donor: associated with the cell clusters (Cramer&#x27;s V 1," in page
    visible = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", page)
    assert re.findall(r"(?i)\b(?:rows?|columns?)\b", visible.split("How to cite")[0]) == []
    assert main(["report", str(tmp_path / "out"), "-q"]) == 0
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == page
    assert read_matrix(tmp_path / "cells.h5ad").axis_names == ("cell", "gene")


def test_logarithms_of_an_anndata_file_are_prepared_as_in_python(tmp_path, capsys):
    rng = np.random.default_rng(0)
    marked = np.repeat([0, 1, 2], 15)
    rates = np.where(np.repeat([0, 1, 2], 30)[:, None] == marked, 5.0, 1.0) * rng.gamma(1, 2, 45)
    counts = rng.poisson(rates).astype(float)
    X = np.log1p(1e3 * counts / counts.sum(axis=1, keepdims=True))
    adata = anndata.AnnData(X)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    words = ["fit", str(tmp_path / "cells.h5ad"), "-o", str(tmp_path / "out"), "--no-report"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "because they are logarithms of counts" in said
    assert "If they are something else, use --prepare" in said
    pyrocco.tl.rocco(adata)
    for side, table in (("row", adata.obs), ("column", adata.var)):
        labels = pd.read_csv(tmp_path / "out" / f"{side}_labels.csv")["label"]
        np.testing.assert_array_equal(labels, table["rocco"].astype(int))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["parameters"]["prepare"] == "balance; for columns zscore"
    assert load(tmp_path / "out" / "model.pyrocco").found_cells_.column_steps == ("zscore",)
    assert main(["inspect", str(tmp_path / "cells.h5ad")]) == 0
    assert "because they are logarithms of counts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--annotate", "treatmnt"], 'no column "treatmnt" .* did you mean "treatment"'),
        (["--annotate-from", "MISSING"], "there is no such file"),
        (["--annotate-from", "OTHER"], "none of its names is a row or a column of the matrix"),
        (["--annotate", "age", "--cluster", "local"], "need the whole matrix in memory"),
    ],
)
def test_errors_say_what_to_do(study, tmp_path, capsys, options, message):
    folder, _, _ = study
    other = tmp_path / "other.csv"
    other.write_text("name,value\nq,1\nr,2\n", encoding="utf-8")
    paths = {"MISSING": str(tmp_path / "missing.csv"), "OTHER": str(other)}
    words = [paths.get(word, word) for word in options]
    out = tmp_path / "out"
    assert main(["fit", str(folder / "study.csv"), "-o", str(out), "-q", *words]) == 2
    assert re.search(message, " ".join(capsys.readouterr().err.split()))
    assert not (out / "summary.json").exists()


def test_a_table_of_annotations_is_never_overwritten(study, tmp_path, capsys):
    folder, _, _ = study
    out = tmp_path / "out"
    out.mkdir()
    content = (folder / "measures.csv").read_bytes()
    (out / "annotations.csv").write_bytes(content)
    words = ["--annotate-from", str(out / "annotations.csv"), "--force", "-q", "-o", str(out)]
    assert main(["fit", str(folder / "study.csv"), "--annotate", "treatment", *words]) == 2
    assert "is an input of this command" in capsys.readouterr().err
    assert (out / "annotations.csv").read_bytes() == content
