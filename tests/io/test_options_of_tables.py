"""Options that say how to read a table: which columns are names and data, and where it begins."""

import numpy as np
import openpyxl
import pandas as pd
import pytest

from pyrocco.io import MatrixError, read_matrix
from pyrocco.io.errors import ColumnChoiceError
from pyrocco.io.table_options import find_columns

NAMES = ("gene", "day1", "day2", "day 3", "2001", "a,b", "x-y")


def write(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("day1", (1,)),
        ("DAY1", (1,)),
        ("2001", (4,)),
        ("3", (2,)),
        (3, (2,)),
        ("2-4", (1, 2, 3)),
        ("day1:2001", (1, 2, 3, 4)),
        ("day*", (1, 2, 3)),
        ("day?", (1, 2)),
        ("a,b", (5,)),
        ("x-y", (6,)),
        ("day2, gene", (2, 0)),
        ("day1,day*", (1, 2, 3)),
    ],
)
def test_columns_by_name_position_range_or_pattern(wanted, expected):
    assert find_columns([wanted], NAMES, len(NAMES), "--columns") == expected


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("dya1", 'no column is called "dya1"; similar names: day1'),
        ("8", "there is no column 8: the table has 7 columns, which are counted from 1"),
        ("0", "there is no column 0"),
        ("hour*", 'no name of a column matches "hour\\*"; the columns are: gene, day1'),
        ("day2:day1", "ends before it begins"),
        ("x-z", 'no column is called "x-z"; similar names: x-y'),
        ("day1:day9", 'no column is called "day9"'),
    ],
)
def test_columns_that_do_not_exist(wanted, words):
    with pytest.raises(ColumnChoiceError, match=words):
        find_columns([wanted], NAMES, len(NAMES), "--columns")


def test_columns_without_names_have_positions():
    assert find_columns(["2"], None, 3, "--columns") == (1,)
    with pytest.raises(ColumnChoiceError, match="give positions, counted from 1"):
        find_columns(["a"], None, 3, "--columns")


TABLE = "gene_id,age,liver,heart,note\n7,41,1.5,2,x\n9,35,3,4,y\n8,29,5,6,z\n"


def test_row_names_by_name_position_or_none(tmp_path):
    path = write(tmp_path, TABLE)
    matrix = read_matrix(path)
    assert (matrix.row_names, matrix.set_aside) == (("7", "9", "8"), ("note",))
    assert matrix.column_names == ("age", "liver", "heart")
    about = (
        'The first column ("gene_id") holds the row names. If it is data, use --row-names none.'
    )
    assert about in matrix.notes
    assert read_matrix(path, row_names="note").row_names == ("x", "y", "z")
    assert read_matrix(path, row_names=5).row_names == ("x", "y", "z")
    none = read_matrix(path, row_names="none")
    assert none.column_names == ("gene_id", "age", "liver", "heart")
    assert none.row_names == ("row_0", "row_1", "row_2")
    with pytest.raises(MatrixError, match=r't.csv: --row-names: no column is called "notes"'):
        read_matrix(path, row_names="notes")


def test_columns_of_data(tmp_path):
    path = write(tmp_path, TABLE)
    matrix = read_matrix(path, columns="heart,liver")
    np.testing.assert_array_equal(matrix.X, [[2, 1.5], [4, 3], [6, 5]])
    assert matrix.column_names == ("heart", "liver")
    assert matrix.set_aside == ("age", "note")
    assert read_matrix(path, columns=["gene_id", 3]).column_names == ("gene_id", "liver")
    with pytest.raises(MatrixError, match='--columns: "note" holds no numbers'):
        read_matrix(path, columns=["note", "age"])


def test_ignored_columns(tmp_path):
    matrix = read_matrix(write(tmp_path, TABLE), ignore=["age", "note"])
    assert (matrix.column_names, matrix.set_aside) == (("liver", "heart"), ())
    assert 'Not read, as asked: "age", "note".' in matrix.notes
    with pytest.raises(MatrixError, match="--ignore names columns that other options need"):
        read_matrix(tmp_path / "t.csv", ignore="1", row_names="1")


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_every_format_of_tables_takes_them(tmp_path, ending):
    frame = pd.DataFrame({"a": [1.5, 2], "b": [3, 4], "c": [5.5, 6], "d": [7, 8]})
    path = tmp_path / f"t.{ending}"
    save = {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}[ending]
    save(path, index=False)
    matrix = read_matrix(path, row_names="d", columns="a:c", ignore="b")
    np.testing.assert_array_equal(matrix.X, [[1.5, 5.5], [2, 6]])
    assert (matrix.row_names, matrix.column_names) == (("7", "8"), ("a", "c"))


def test_long_tables_by_their_columns(tmp_path):
    path = write(tmp_path, "when,stars,film,who\n1,5,x,Ann\n2,3,y,Ann\n3,1,x,Bob\n")
    matrix = read_matrix(path, layout="long", columns="who,film,stars")
    np.testing.assert_array_equal(matrix.X, [[5, 3], [1, np.nan]])
    assert matrix.row_names == ("Ann", "Bob")
    with pytest.raises(MatrixError, match="in the order row, column, value; got 2"):
        read_matrix(path, layout="long", columns="who,film")
    with pytest.raises(MatrixError, match="--row-names has no effect on a long table"):
        read_matrix(path, layout="long", row_names="who")


def test_lines_before_the_table(tmp_path):
    path = write(tmp_path, "id,x,y\n0,8,9\ngene,a,b\ng1,1,2\ng2,3,5\n")
    matrix = read_matrix(path, skip_rows=2)
    assert (matrix.row_names, matrix.column_names) == (("g1", "g2"), ("a", "b"))
    assert "The first 2 lines are not part of the table." in matrix.notes
    with pytest.raises(MatrixError, match="is empty below the first 5 lines"):
        read_matrix(path, skip_rows=5)
    with pytest.raises(MatrixError, match="skip_rows must be at least 0; got -1"):
        read_matrix(path, skip_rows=-1)


def test_rows_of_a_sheet_before_the_table(tmp_path):
    book = openpyxl.Workbook()
    other = book.create_sheet("2024")
    for i, row in enumerate([["x", 1, 2], ["y", 3, 4], ["gene", "a", "b"], ["g", 5, 6]], start=3):
        for j, cell in enumerate(row, start=1):
            other.cell(i, j, cell)
    book.save(tmp_path / "t.xlsx")
    for sheet in ("2024", "2", 2):
        matrix = read_matrix(tmp_path / "t.xlsx", sheet=sheet, skip_rows=4)
        np.testing.assert_array_equal(matrix.X, [[5, 6]])
        assert matrix.column_names == ("a", "b")
    with pytest.raises(MatrixError, match='the sheet "2024" is empty below row 9'):
        read_matrix(tmp_path / "t.xlsx", sheet=2, skip_rows=9)
    with pytest.raises(MatrixError, match='has no sheet "3"; its sheets are: Sheet, 2024'):
        read_matrix(tmp_path / "t.xlsx", sheet=3)


def test_the_line_of_column_names(tmp_path):
    path = write(tmp_path, "gene,2001,2002\ng1,5,6\ng2,7,9\n")
    matrix = read_matrix(path)
    assert matrix.column_names == ("2001", "2002")
    assert "If they are data, use --no-header." in " ".join(matrix.notes)
    assert read_matrix(path, header=False).shape == (3, 2)
    rising = write(tmp_path, "g1,1,2,3\ng2,4,5,6\n")
    assert read_matrix(rising).shape == (2, 3)
    assert read_matrix(rising, header=True).column_names == ("1", "2", "3")


def test_the_decimal_sign(tmp_path):
    path = write(tmp_path, "a;b\n1,234;2,345\n3,456;4,567\n")
    assert read_matrix(path).X[0, 0] == 1.234
    assert read_matrix(path, decimal=".").X[0, 0] == 1234
    with pytest.raises(MatrixError, match=r"decimal must be one of None, ., ,; got ;"):
        read_matrix(path, decimal=";")


@pytest.mark.parametrize(
    ("name", "option"),
    [("t.npy", {"columns": "a"}), ("t.parquet", {"skip_rows": 1}), ("t.xlsx", {"decimal": ","})],
)
def test_options_without_effect(tmp_path, name, option):
    write(tmp_path, "x", name)
    with pytest.raises(MatrixError, match=rf"{next(iter(option))} has no effect on this file"):
        read_matrix(tmp_path / name, **option)
