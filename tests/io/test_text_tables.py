"""Reading CSV and TSV: what is detected, and the messages for bad files."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest

from pyrocco.io import Matrix, MatrixError, read_matrix, write_matrix

X = np.array([[1.5, -2.0, 3.0], [0.0, 5e-3, 6.0]])


def read(tmp_path, text, name="table.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return read_matrix(path)


def table(separator=",", header=None, index=None, decimal="."):
    """Write X the way another program would, with or without names."""
    rows = [[f"{value:.3f}".replace(".", decimal) for value in row] for row in X]
    if index:
        rows = [[name, *row] for name, row in zip(index, rows, strict=True)]
    if header:
        rows = [header, *rows]
    return "\n".join(separator.join(row) for row in rows) + "\n"


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("header", [None, ["a", "b", "c"]])
@pytest.mark.parametrize("index", [None, ["g1", "g2"]])
def test_finds_delimiter_header_and_index(tmp_path, separator, header, index):
    line = [*(["gene"] if index else []), *header] if header else None
    matrix = read(tmp_path, table(separator, line, index))
    np.testing.assert_array_equal(matrix.X, X)
    assert matrix.column_names == tuple(header or ("column_0", "column_1", "column_2"))
    assert matrix.row_names == tuple(index or ("row_0", "row_1"))


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        pytest.param(
            ",0,1,2\n0,1.5,-2,3\n1,0,.005,6\n", ("0", "1"), ("0", "1", "2"), id="empty corner"
        ),
        pytest.param(
            "a\tb\tc\nx\t1.5\t-2\t3\ny\t0\t.005\t6\n",
            ("x", "y"),
            ("a", "b", "c"),
            id="as R writes",
        ),
        pytest.param(
            "ID,a,b,c\n7,1.5,-2,3\n9,0,.005,6\n", ("7", "9"), ("a", "b", "c"), id="numbers as ids"
        ),
        pytest.param(
            "hours,0,6,24\nx,1.5,-2,3\ny,0,.005,6\nz,9,8,7\n",
            ("x", "y", "z"),
            ("0", "6", "24"),
            id="time points",
        ),
        pytest.param(
            "NA,1.5,-2,3\nx,0,.005,6\nx,4,5,4\n",
            ("NA", "x", "x (2)"),
            ("column_0", "column_1", "column_2"),
            id="a row called NA, a name twice",
        ),
        pytest.param(
            '"a, b","b;c","c"\r\n"1.5","-2","3"\r\n\r\n0,.005,6\r\n',
            ("row_0", "row_1"),
            ("a, b", "b;c", "c"),
            id="quotes and blank lines",
        ),
    ],
)
def test_tables_as_programs_write_them(tmp_path, text, rows, columns):
    matrix = read(tmp_path, text)
    np.testing.assert_array_equal(matrix.X[:2], X)
    assert matrix.row_names == rows
    assert matrix.column_names == columns


def test_a_rising_first_row_is_data_if_every_row_rises(tmp_path):
    matrix = read(tmp_path, "x,1,2,3\ny,4,5,6\nz,7,8,9\n")
    np.testing.assert_array_equal(matrix.X, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])


def test_reads_what_pandas_writes_to_the_last_digit(tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 7)) * 10.0 ** np.arange(-3, 4)
    frame = pd.DataFrame(values, columns=list("abcdefg"), index=[f"r{i}" for i in range(40)])
    frame.to_csv(tmp_path / "t.csv")
    frame.to_csv(tmp_path / "t.tsv", sep="\t")
    for name in ("t.csv", "t.tsv"):
        matrix = read_matrix(tmp_path / name)
        np.testing.assert_allclose(matrix.X, values, rtol=1e-15)
        assert matrix.row_names == tuple(frame.index)
        assert matrix.column_names == tuple("abcdefg")


def test_decimal_commas(tmp_path):
    matrix = read(tmp_path, table(";", ["gene", "a", "b", "c"], ["g1", "g2"], decimal=","))
    np.testing.assert_array_equal(matrix.X, X)
    assert "decimal comma" in matrix.notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_names_in_other_encodings(tmp_path, encoding):
    matrix = read(tmp_path, "name,é,b,c\nü,1.5,-2,3\nß,0,.005,6\n", encoding=encoding)
    np.testing.assert_array_equal(matrix.X, X)
    assert matrix.row_names == ("ü", "ß")
    assert matrix.column_names[0] == "é"


def test_compressed(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(table(header=["a", "b", "c"]).encode()))
    np.testing.assert_array_equal(read_matrix(path).X, X)


def test_lines_longer_than_one_cell_may_be(tmp_path):
    values = np.random.default_rng(0).normal(size=(2, 9_000))
    pd.DataFrame(values, index=list("ab")).to_csv(tmp_path / "wide.csv")
    np.testing.assert_allclose(read_matrix(tmp_path / "wide.csv").X, values, rtol=1e-15)


def test_single_row_and_single_column(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, "1,2,3\n").X, [[1, 2, 3]])
    np.testing.assert_array_equal(read(tmp_path, "v\n1\n2\n").X, [[1], [2]])


COMMENTS = {
    "featureCounts": "# Program: featureCounts, v2\nGeneid,a,b,c\n",
    "two": "# one, two\n# three\nid,a,b,c\n",
    "heading with the sign": "# by us\n#gene,a,b,c\n",
    "only a heading": "#gene,a,b,c\n",
    "GCT": "#1.2\n2,3\nName,a,b,c\n",
}


@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
@pytest.mark.parametrize("case", COMMENTS)
def test_comment_lines_before_the_table(tmp_path, monkeypatch, engine, case):
    monkeypatch.setattr("pyrocco.io.text_tables.LARGE", 0 if engine == "pyarrow" else 1 << 40)
    text = COMMENTS[case] + "g1,1.5,-2,3\ng2,0,.005,6\n"
    matrix = read(tmp_path, text)
    np.testing.assert_array_equal(matrix.X, X)
    assert (matrix.row_names, matrix.column_names) == (("g1", "g2"), ("a", "b", "c"))
    assert ("not part of the table" in matrix.notes[0]) == (case != "only a heading")
    line = text.count("\n") + 1
    with pytest.raises(MatrixError, match=rf"row 3 .*line {line} of the file.*high"):
        read(tmp_path, text + "g3,1,high,3\n")


def test_truncated_compressed_files(tmp_path):
    rng = np.random.default_rng(0)
    text = "\n".join(",".join(map(str, row)) for row in rng.random((200, 30)))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode())[:-2000])
    with pytest.raises(MatrixError, match="the compressed file is damaged"):
        read_matrix(tmp_path / "t.csv.gz")


def test_notes_say_what_was_detected(tmp_path):
    assert read(tmp_path, table("\t"), "t.tsv").notes == (
        "Cells are separated by tabs.",
        "There is no line of column names; every line is a row of the matrix. "
        "If the first line holds them, use --header.",
        "There is no column of row names. If one holds them, use --row-names COLUMN.",
        "The matrix has 2 rows and 3 columns.",
    )


def test_written_matrix_is_read_back(tmp_path):
    matrix = Matrix(X, ("x", "y"), ("1", "2", "3"))
    write_matrix(tmp_path / "t.csv", matrix)
    again = read_matrix(tmp_path / "t.csv")
    np.testing.assert_array_equal(again.X, X)
    assert (again.row_names, again.column_names) == (matrix.row_names, matrix.column_names)


@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
@pytest.mark.parametrize("missing", ["", "NA", "nan", "N/A", "null", " ", "-", "?"])
def test_missing_values_are_nan_and_counted(tmp_path, monkeypatch, engine, missing):
    monkeypatch.setattr("pyrocco.io.text_tables.LARGE", 0 if engine == "pyarrow" else 1 << 40)
    matrix = read(tmp_path, f"gene,a,b\nNA,1,{missing}\ny,{missing},4\nz,5,6\n")
    np.testing.assert_array_equal(matrix.X, [[1, np.nan], [np.nan, 4], [5, 6]])
    assert matrix.row_names == ("NA", "y", "z")
    assert matrix.n_missing == 2
    assert matrix.notes[-1] == "2 of its 6 cells are missing (33 %)."
    assert matrix.density == 4 / 6


def test_columns_of_text_are_ignored_with_a_note(tmp_path):
    matrix = read(tmp_path, "gene,what,a,b,where\nx,kinase,1,2,\ny,receptor,3,4,nucleus\n")
    np.testing.assert_array_equal(matrix.X, [[1, 2], [3, 4]])
    assert (matrix.row_names, matrix.column_names) == (("x", "y"), ("a", "b"))
    assert 'Ignored, because they hold no numbers: "what", "where".' in matrix.notes


def test_row_names_that_are_not_in_the_first_column(tmp_path):
    matrix = read(tmp_path, "length,gene,type,a\n10,x,kinase,1\n20,y,kinase,3\n")
    assert (matrix.row_names, matrix.column_names) == (("x", "y"), ("length", "a"))
    rivals = "If another column does, use --row-names COLUMN."
    assert f'Column 2 ("gene") holds the row names. {rivals}' in matrix.notes


def test_a_superfluous_separator_is_ignored_and_an_empty_column_is_missing(tmp_path):
    matrix = read(tmp_path, "a,b,empty,\n1,2,,\n3,4,,\n")
    np.testing.assert_array_equal(matrix.X, [[1, 2, np.nan], [3, 4, np.nan]])
    assert matrix.column_names == ("a", "b", "empty")
    assert "Ignored, because it is empty and has no name: column 4." in matrix.notes


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("decimal", [".", ","])
def test_pyarrow_reads_what_pandas_reads(tmp_path, monkeypatch, compressed, decimal):
    values = np.random.default_rng(0).normal(size=(300, 20))
    values[5, 3] = np.nan
    frame = pd.DataFrame(values, index=[f"gene {i}" for i in range(300)])
    frame.insert(2, "about", "text")
    path = tmp_path / ("t.csv.gz" if compressed else "t.csv")
    frame.to_csv(path, sep=";", decimal=decimal)
    slow = read_matrix(path)
    seen = []
    monkeypatch.setattr("pyrocco.io.text_tables.LARGE", 0)
    monkeypatch.setattr("pyrocco.io.text_tables._load_with_pandas", None)
    fast = read_matrix(path, watch=lambda done, size: seen.append((done, size)))
    np.testing.assert_array_equal(fast.X, values)
    np.testing.assert_array_equal(slow.X, values)
    assert (fast.row_names, fast.column_names) == (slow.row_names, slow.column_names)
    assert fast.notes == slow.notes
    assert seen[-1] == (path.stat().st_size,) * 2


def test_progress_of_reading_is_reported(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(table())
    seen = []
    read_matrix(path, watch=lambda done, size: seen.append((done, size)))
    assert seen[-1] == (path.stat().st_size,) * 2


def test_large_files_recommend_the_faster_reader(tmp_path, monkeypatch):
    for name in ("LARGE", "VERY_LARGE"):
        monkeypatch.setattr(f"pyrocco.io.text_tables.{name}", 0)
    assert not any("pip install" in note for note in read(tmp_path, table()).notes)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert any('pip install "pyrocco[arrow]"' in note for note in read(tmp_path, table()).notes)


GOOD_ROWS = "".join(f"g{i},{i},{i + 1},{i * 2}\n" for i in range(3000))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        (" \n\n", ["empty"]),
        ("a,b,c\n", ["no rows", "column names"]),
        ("gene\nx\ny\n", ["no columns"]),
        ("1 2 3\n4 5 6\n", ["no columns", "commas, tabs or semicolons"]),
        ("gene,a,b\nx,1,2\ny,3,high\n", ["row 2", '"y"', "line 3", "column 2", '"b"', '"high"']),
        ("1,2,3\n4,5\n7,8,9\n", ["line 2", "2 cells", "3"]),
        ("1,2,3\n4,5,6,7\n7,8,9\n", ["line 2", "4 cells", "3"]),
        ("1,2,3,4\n5,6,7\n7,8,9\n", ["line 1", "4 cells", "3"]),
        ("a,b,c\n1,2,3,4\n5,6,7\n7,8,9\n", ["line 2", "4 cells", "3"]),
        ("a,b,c,d\n1,2,3\n4,5,6\n", ["4 column names", "3 cells"]),
        ("gene,a,b\nx,1,2\ny,3,4\nz,5\n", ["line 4", "2 cells", "3"]),
        ("a,b\n1,2\n3,-inf\n", ["row 2", "column 2", "infinite"]),
        ("a,b\n1,2\n3,1e999\n", ["row 2", "column 2", "infinite"]),
        ('a,b\n1,2\n3,"12,34"\n', ["row 2", "column 2", "12,34", "not a number"]),
        ("gene,a,b,c\n" + GOOD_ROWS + 'x,1,"1,234",3\n', ["row 3001", "1,234", "thousands"]),
        ('"a\nb",c\n1,2\n3,x\n', ["row 2", "line 4", '"x"']),
        ("a,b\n1,2\n" + "3,4\n" * 60 + '5,"6\n' + "7,8\n" * 50_000, ["quotation mark"]),
        ("x" * 200_000, ["not a text table"]),
        ("gene,a,b,c\n" + GOOD_ROWS + "bad,1,2\n", ["line 3002", "3 cells", "4"]),
        ("gene,a,b,c\n" + GOOD_ROWS + "bad,1,2,3,4\n", ["line 3002", "5 cells", "4"]),
        ("gene,a,b,c\n" + GOOD_ROWS + "bad,1,inf,3\n", ["row 3001", '"bad"', "infinite"]),
        ("gene,a,b,c\n" + GOOD_ROWS + 'bad,1,"oh\nno",3\n', ["row 3001", "oh no"]),
    ],
)
@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_bad_tables_are_explained_in_one_line(tmp_path, monkeypatch, engine, text, words):
    monkeypatch.setattr("pyrocco.io.text_tables.LARGE", 0 if engine == "pyarrow" else 1 << 40)
    with pytest.raises(MatrixError) as error:
        read(tmp_path, text)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(tmp_path / "table.csv"))
    for word in words:
        assert word in message


def test_a_spreadsheet_with_the_ending_of_a_text_file(tmp_path):
    (tmp_path / "table.csv").write_bytes(b"PK\x03\x04\x00\x00")
    with pytest.raises(MatrixError, match="not a text table"):
        read_matrix(tmp_path / "table.csv")
