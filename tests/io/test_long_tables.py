"""Long tables: one line per cell, with row, column and value."""

import numpy as np
import openpyxl
import pandas as pd
import pytest
from scipy import sparse

from pyrocco.io import MatrixError, read_matrix

X = np.array([[5.0, 0.0, 2.0], [0.0, 1.5, 0.0], [7.0, 0.0, 0.0]])
ROWS, COLUMNS = ("TP53", "MYC", "NA"), ("liver", "heart", "brain")


def long_frame(X, fill=0.0):
    """Return the cells of X that are not `fill`, as pandas melts them."""
    frame = pd.DataFrame(X, index=list(ROWS), columns=list(COLUMNS))
    cells = frame.reset_index(names="gene").melt("gene", var_name="organ", value_name="count")
    return cells[cells["count"] != fill]


def check(matrix):
    dense = matrix.X.toarray() if sparse.issparse(matrix.X) else matrix.X
    order = [matrix.row_names.index(name) for name in ROWS]
    columns = [matrix.column_names.index(name) for name in COLUMNS]
    np.testing.assert_array_equal(dense[order][:, columns], X)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz", "t.parquet", "t.xlsx"])
@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_every_kind_of_table(tmp_path, monkeypatch, name, engine):
    monkeypatch.setattr("pyrocco.io.text_tables.LARGE", 0 if engine == "pyarrow" else 1 << 40)
    save = {
        "t.csv": lambda path: long_frame(X).to_csv(path, index=False),
        "t.tsv.gz": lambda path: long_frame(X).to_csv(path, index=False, sep="\t"),
        "t.parquet": lambda path: long_frame(X).to_parquet(path, index=False),
        "t.xlsx": lambda path: long_frame(X).to_excel(path, index=False),
    }[name]
    save(tmp_path / name)
    matrix = read_matrix(tmp_path / name)
    check(matrix)
    assert matrix.row_names[0] == "TP53"
    about = 'A long table: rows from "gene", columns from "organ", values from "count".'
    assert about in matrix.notes
    assert "The 5 pairs that are not listed count as 0." in matrix.notes


def read(tmp_path, text, **options):
    (tmp_path / "t.csv").write_text(text)
    return read_matrix(tmp_path / "t.csv", **options)


def test_pairs_that_are_not_listed_may_be_missing(tmp_path):
    matrix = read(tmp_path, "a,x,1\na,y,2\nb,x,3\n", absent="missing")
    np.testing.assert_array_equal(matrix.X, [[1, 2], [3, np.nan]])
    assert "The 1 pair that is not listed counts as missing." in matrix.notes
    assert matrix.n_missing == 1


def test_sparse_if_most_pairs_are_not_listed(tmp_path):
    text = "doc,word,n\n" + "".join(f"d{i},w{i // 2},{i + 1}\n" for i in range(40))
    matrix = read(tmp_path, text)
    assert isinstance(matrix.X, sparse.csr_array)
    assert matrix.shape == (40, 20)
    assert matrix.X[3, 1] == 4


def test_a_listed_pair_without_a_value_is_missing(tmp_path):
    matrix = read(tmp_path, "a,x,1\na,y,NA\nb,x,3\nb,y,4\n")
    np.testing.assert_array_equal(matrix.X, [[1, np.nan], [3, 4]])


@pytest.mark.parametrize(
    ("values", "expected", "word"), [((1, 2), 3, "added"), ((0.5, 1.5), 1, "averaged")]
)
def test_pairs_listed_twice(tmp_path, values, expected, word):
    matrix = read(tmp_path, f"a,x,{values[0]}\na,x,{values[1]}\na,y,3\nb,x,4\nb,y,5\n")
    np.testing.assert_array_equal(matrix.X, [[expected, 3], [4, 5]])
    assert f"1 pair is listed more than once; values were {word}." in matrix.notes


def test_numbers_as_names_are_recognised_by_their_headings(tmp_path):
    matrix = read(tmp_path, "user_id,item_id,rating\n7,1,5\n7,2,3\n9,1,1\n")
    assert (matrix.row_names, matrix.column_names) == (("7", "9"), ("1", "2"))
    wide = read(tmp_path, "user_id,item_id,rating\n7,1,5\n7,2,3\n9,1,1\n", layout="wide")
    assert (wide.shape, wide.row_names) == ((3, 2), ("7", "7 (2)", "9"))
    long = read(tmp_path, "a,b,c,when\n7,1,5,2020\n7,2,3,2021\n9,1,1,2022\n", layout="long")
    np.testing.assert_array_equal(long.X, [[5, 3], [1, 0]])
    assert 'Ignored, not needed: "when".' in long.notes


def test_one_sample_with_a_column_of_text_is_not_long(tmp_path):
    matrix = read(tmp_path, "gene,about,liver\nx,kinase,1\ny,receptor,2\n")
    assert matrix.shape == (2, 1)


def test_a_table_of_samples_and_their_treatments_is_not_long(tmp_path):
    names = [f"s{i}" for i in range(8)]
    lines = [f"{name},{'drug' if i % 2 else 'none'},{20 + i}" for i, name in enumerate(names)]
    matrix = read(tmp_path, "\n".join(["sample,treatment,age", *lines]))
    assert matrix.row_names == tuple(names)
    assert matrix.column_names == ("age",)
    assert "If every line is one cell (row, column, value), use --layout long." in matrix.notes
    (tmp_path / "t.csv").write_text("\n".join(["sample,treatment,age", *lines]))
    assert read_matrix(tmp_path / "t.csv", layout="long").shape == (8, 2)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_long_table_whose_first_lines_have_one_column(tmp_path, is_first):
    pairs = [(f"g{i}", f"s{j}") for j in range(3) for i in range(70)]
    lines = [",".join((a, b, "1.5") if is_first else (b, a, "1.5")) for a, b in pairs]
    matrix = read(tmp_path, "\n".join(["gene,sample,value", *lines]))
    assert matrix.shape == ((70, 3) if is_first else (3, 70))


def test_bad_long_tables(tmp_path):
    with pytest.raises(MatrixError, match=r"three columns \(row, column, value\).* has 2"):
        read(tmp_path, "a,b\n1,2\n3,4\n", layout="long")
    with pytest.raises(MatrixError, match='line 2 of the file holds the text "low"'):
        read(tmp_path, "a,x,1\na,y,low\nb,x,2\n")


def test_a_column_in_which_a_program_counted_the_rows(tmp_path):
    long_frame(X).to_csv(tmp_path / "t.csv")
    check(read_matrix(tmp_path / "t.csv", layout="long"))
    book = openpyxl.Workbook()
    for row in long_frame(X).itertuples(index=False):
        book.active.append(list(row))
    book.save(tmp_path / "t.xlsx")
    check(read_matrix(tmp_path / "t.xlsx"))
