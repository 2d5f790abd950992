"""Four people's tables, from their files to the clusters that were planted in them."""

import json

import numpy as np
import openpyxl
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco.cli import main
from pyrocco.io import read_matrix

ROWS, COLUMNS = np.arange(90) % 3, np.arange(18) % 3


def planted(seed=0, noise=0.6):
    """Three clusters of rows and of columns, with a block each on the diagonal."""
    noise = noise * np.random.default_rng(seed).normal(size=(90, 18))
    return 3.0 * (ROWS[:, None] == COLUMNS) + noise


def run(capsys, *words):
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured


def fit(capsys, path, *options):
    """Fit a file; return the labels of rows and of columns by name, and the summary."""
    out = path.parent / "out"
    said = run(capsys, "fit", path, "-o", out, "--no-report", *options)
    tables = [
        pd.read_csv(out / f"{side}_labels.csv", dtype={"name": str}) for side in ("row", "column")
    ]
    summary = json.loads((out / "summary.json").read_text())
    assert all(note in said.err for note in summary["notes"])
    rows, columns = (table.set_index("name")["label"] for table in tables)
    return rows, columns, summary


def refused(capsys, *words):
    assert main([str(word) for word in words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    return captured.err


def test_a_biologists_sheet(tmp_path, capsys):
    path, X = tmp_path / "table_s3.xlsx", planted()
    ids = np.random.default_rng(1).choice(100_000, 90, replace=False)
    sheet = (book := openpyxl.Workbook()).active
    sheet.append(["Table S3. Expression in three tissues"])
    sheet.append([])
    tissues = ["liver", "heart", "brain"]
    sheet.append(["Entrez ID", "Description", *(tissues[j] for j in COLUMNS)])
    for number, values in zip(ids, X, strict=True):
        sheet.append([int(number), "a protein kinase", *values.tolist()])
    book.save(path)
    rows, columns, summary = fit(capsys, path)
    assert rows.index.tolist() == [str(number) for number in ids]
    assert adjusted_rand_score(ROWS, rows) == 1
    assert columns.index[:4].tolist() == ["liver", "heart", "brain", "liver (2)"]
    assert adjusted_rand_score(COLUMNS, columns) == 1
    notes = " ".join(summary["notes"])
    assert 'not part of the table: "Table S3. Expression in three tissues"' in notes
    assert '("Entrez ID") holds the row names. If it is data, use --row-names none.' in notes
    assert "3 column names occur more than once" in notes
    about = json.loads(run(capsys, "inspect", path, "--json").out)
    assert about["notes"] == summary["notes"]
    assert tuple(summary["notes"][:-1]) == read_matrix(path).notes
    columns_and_ids = fit(capsys, path, "--row-names", "none")[1]
    assert columns_and_ids.index[0] == "Entrez ID"


def test_a_survey(tmp_path, capsys):
    rng, group = np.random.default_rng(2), np.arange(120) % 2
    answers = {f"answer {j}": rng.random(120) < 0.1 + 0.8 * group for j in range(5)}
    likert = {f"q{j}": np.clip(rng.integers(1, 4, 120) + 2 * group, 1, 5) for j in range(5)}
    survey = pd.DataFrame(
        {
            "respondent_id": rng.choice(10_000, 120, replace=False),
            **{name: np.where(yes, "yes", "no") for name, yes in answers.items()},
            **likert,
            "city": rng.choice(["Berlin", "Paris", "Rome"], 120),
        }
    )
    path = tmp_path / "survey.csv"
    survey.to_csv(path, index=False)
    rows, columns, summary = fit(capsys, path, "--n-clusters", "2,auto")
    assert rows.index.tolist() == survey["respondent_id"].astype(str).tolist()
    assert adjusted_rand_score(group, rows) > 0.95
    assert "city = Rome" in columns.index
    assert "respondent_id" not in columns.index
    assert '("respondent_id") holds the row names' in " ".join(summary["notes"])
    only = fit(capsys, path, "--columns", "q*,answer 1", "--row-names", "1")
    assert list(only[2]["encoding"]) == [*(f"q{j}" for j in range(5)), "answer 1"]
    assert fit(capsys, path, "--columns", "q*")[1].index.tolist() == [f"q{j}" for j in range(5)]


def test_a_survey_without_some_columns(tmp_path, capsys):
    table = pd.DataFrame({"a": ["yes", "no"] * 10, "b": ["x", "x", "z", "z"] * 5})
    table["age"], table["id"] = np.arange(20) * 7 % 20, np.arange(100, 120) * 3
    table.to_csv(tmp_path / "t.csv", index=False)
    about = json.loads(run(capsys, "inspect", tmp_path / "t.csv", "--json").out)
    assert list(about["encoding"]) == ["a", "b", "age"]
    about = json.loads(run(capsys, "inspect", tmp_path / "t.csv", "--json", "--ignore", "b").out)
    assert 'Not read, as asked: "b".' in about["notes"]


def ratings(seed=3):
    """Marks of 90 users for 60 movies, 60 % of which are not given."""
    rng = np.random.default_rng(seed)
    likes = ROWS[:, None] == np.arange(60) % 3
    marks = np.where(likes, rng.integers(4, 6, (90, 60)), rng.integers(1, 4, (90, 60)))
    users, movies = np.nonzero(rng.random((90, 60)) < 0.4)
    table = {"userId": users + 1, "movieId": 100 + movies, "rating": marks[users, movies]}
    return pd.DataFrame(table | {"timestamp": 881_250_949 + rng.integers(0, 10**7, len(users))})


@pytest.mark.parametrize(("name", "has_header"), [("ratings.csv", True), ("u.data", False)])
def test_ratings(tmp_path, capsys, name, has_header):
    path = tmp_path / name
    sep = "," if has_header else "\t"
    ratings().to_csv(path, index=False, header=has_header, sep=sep)
    rows, _, summary = fit(capsys, path)
    assert adjusted_rand_score([ROWS[int(name) - 1] for name in rows.index], rows) == 1
    assert summary["cells"] == "marks"
    assert summary["missing"] > 3000
    assert "not listed count as missing. If they are 0, use --absent zero." in " ".join(
        summary["notes"]
    )


def test_a_sales_pivot_from_german_excel(tmp_path, capsys):
    path = tmp_path / "umsatz.csv"
    sales = pd.DataFrame(np.round(1000 * np.exp(planted()), 2), columns=range(2006, 2024))
    sales.insert(0, "Filialnr", np.random.default_rng(4).choice(10_000, 90, replace=False))
    sales["Gesamt"] = sales.iloc[:, 1:].sum(axis=1)
    last = pd.DataFrame([["Summe", *sales.iloc[:, 1:].sum()]], columns=sales.columns)
    written = pd.concat([sales.astype({"Filialnr": object}), last])
    for name in written.columns[1:]:
        texts = [f"{value:,.2f}" for value in written[name]]
        written[name] = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    written.to_csv(path, sep=";", index=False, encoding="utf-8-sig")
    rows, columns, summary = fit(capsys, path)
    assert len(rows) == 90
    assert columns.index.tolist() == [str(year) for year in range(2006, 2024)]
    assert adjusted_rand_score(ROWS, rows) == 1
    assert adjusted_rand_score(COLUMNS, columns) == 1
    notes = " ".join(summary["notes"])
    assert "a decimal comma and points between thousands" in notes
    assert 'The last row, "Summe", is the sum of the others and is left out' in notes
    assert 'The last column, "Gesamt", is the sum of the others and is left out' in notes


def test_a_new_row_of_a_fit_whose_identifiers_are_data(tmp_path, capsys):
    table = pd.DataFrame(planted().round(2)).add_prefix("s")
    table.insert(0, "id", np.arange(90) * 7 % 90)
    table.to_csv(tmp_path / "t.csv", index=False)
    table[:4].to_csv(tmp_path / "new.csv", index=False)
    words = ("--row-names", "none", "--zscore")
    rows, columns, _ = fit(capsys, tmp_path / "t.csv", *words)
    assert columns.index[0] == "id"
    found = run(capsys, "predict", tmp_path / "out", tmp_path / "new.csv", "--json", "-q")
    assert [row["label"] for row in json.loads(found.out)] == rows[:4].tolist()


def test_the_report_is_written_again_from_the_same_columns(tmp_path, capsys):
    table = pd.DataFrame(planted().round(2)).add_prefix("s").assign(note="x")
    table.to_csv(tmp_path / "t.csv", index=False)
    fit(capsys, tmp_path / "t.csv", "--columns", "s1:s14", "--ignore", "s3", "--skip-rows", "0")
    run(capsys, "report", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Not read, as asked" in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--columns", "levir"], 'no column is called "levir"; similar names: liver'),
        (["--ignore", "9"], "--ignore: there is no column 9: the table has 3 columns"),
        (["--row-names", "gen"], '--row-names: no column is called "gen"; similar names: gene'),
        (["--skip-rows", "9"], "the file is empty below the first 9 lines"),
        (["--decimal", ";"], "decimal must be one of"),
    ],
)
def test_options_that_do_not_fit_the_table(tmp_path, capsys, options, words):
    (tmp_path / "t.csv").write_text("gene,liver,heart\nx,1,2\ny,3,5\n")
    assert words in refused(capsys, "inspect", tmp_path / "t.csv", *options)
