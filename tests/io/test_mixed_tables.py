"""Tables with texts and numbers: types of columns, row names, headings, and which they are."""

import numpy as np
import pandas as pd
import pytest

from pyrocco.io import MatrixError
from pyrocco.io.mixed_tables import is_mixed_table, look_at_table, read_mixed_table


def write(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def read(path, known=()):
    return read_mixed_table(look_at_table(path, known=known), known=known)


def test_columns_are_numbers_or_texts_with_missing_values(tmp_path):
    path = write(
        tmp_path,
        "name,age,code,allergy,answer,nothing\n"
        "Ann,30,1a,none,yes,\nBob,NA,2,nuts,TRUE,NA\nCem,1e2,,milk,?,-\nDee, 7 ,4,n/a,no,\n",
    )
    table = read(path)
    assert table.row_names == ("Ann", "Bob", "Cem", "Dee")
    assert list(table.frame) == ["age", "code", "allergy", "answer", "nothing"]
    np.testing.assert_array_equal(table.frame["age"], [30, np.nan, 100, 7])
    assert table.frame["code"].tolist() == ["1a", "2", None, "4"]
    assert table.frame["allergy"].tolist() == ["none", "nuts", "milk", None]
    assert table.frame["answer"].tolist() == ["yes", "TRUE", None, "no"]
    assert table.frame["nothing"].isna().all()
    assert 'The first column ("name") holds the row names.' in table.notes


def test_numbers_with_a_decimal_comma(tmp_path):
    path = write(tmp_path, "sport;size\nyes;1,5\nno;2,25\nyes;-3\n")
    table = read(path)
    assert table.frame["size"].tolist() == [1.5, 2.25, -3.0]
    assert table.row_names is None
    assert "Cells are separated by semicolons, and numbers have a decimal comma." in table.notes


def test_texts_that_repeat_are_no_row_names(tmp_path):
    path = write(tmp_path, "sex,age,place\nf,30,a\nm,31,b\nf,32,c\n")
    table = read(path)
    assert list(table.frame) == ["sex", "age"]
    assert table.row_names == ("a", "b", "c")
    assert read(path, known=["sex", "age", "place"]).row_names is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pet,sport\ncat,yes\ndog,no\ncat,no\n", ["pet", "sport"]),
        ("cat,yes\ndog,no\ncat,no\ndog,yes\n", ["column_0", "column_1"]),
    ],
)
def test_headings_of_texts_alone(tmp_path, text, names):
    frame = read(write(tmp_path, text)).frame
    assert list(frame) == names
    assert len(frame) == text.count("\n") - (names[0] == "pet")


def test_known_headings_above_a_single_row(tmp_path):
    path = write(tmp_path, "pet,sport\ncat,yes\n")
    table = read(path, known=["sport", "pet"])
    assert table.frame.to_dict("records") == [{"pet": "cat", "sport": "yes"}]


def test_types_of_parquet_files_are_kept(tmp_path):
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["S", "L", "S"], ["S", "L"], ordered=True),
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05"]),
            "member": [True, False, True],
        },
        index=["x", "y", "z"],
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet")
    assert table.row_names == ("x", "y", "z")
    assert table.frame["size"].cat.ordered
    assert [str(dtype)[:4] for dtype in table.frame.dtypes] == ["cate", "date", "bool"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b,c,d\nyes,x,no,1\nno,x,no,2\nyes,z,yes,4\n", True),
        ("gene,chr,s1,s2,s3,s4\ng1,x,1,2,3,1\ng2,y,2,2,1,1\ng3,x,4,5,6,1\n", False),
        ("a,b,c\n1,0,1\n0,0,1\n1,1,0\n", False),
        ("row,column,value\nr1,c1,1\nr1,c2,2\nr2,c1,4\n", False),
        ("a,a,c,d\nyes,x,no,1\nno,x,no,2\nyes,z,yes,4\n", True),
        ("a,b,c,d\nyes,x,no,inf\nno,x,no,2\nyes,z,yes,4\n", False),
    ],
)
def test_which_tables_are_mixed(tmp_path, text, expected):
    assert is_mixed_table(look_at_table(write(tmp_path, text))) == expected


def test_columns_of_the_same_name_are_numbered(tmp_path):
    table = read(write(tmp_path, "a,a,b\nyes,x,1\nno,x,2\nyes,z,4\n"))
    assert list(table.frame) == ["a", "a (2)", "b"]
    assert 'The later ones are numbered, as in "a (2)".' in table.notes[-1]


def test_other_formats_are_no_tables(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    assert look_at_table(tmp_path / "x.npy") is None
    with pytest.raises(MatrixError, match="there is no such file"):
        look_at_table(tmp_path / "absent.csv")


def test_damaged_tables_are_refused_with_the_line(tmp_path):
    head = look_at_table(write(tmp_path, "a,b,c\nyes,x,1\nno,x\nyes,z,4\n"))
    with pytest.raises(MatrixError, match="line 3 of the file has 2 cells"):
        read_mixed_table(head)
    write(tmp_path, "PAR1 no table", "t.parquet")
    with pytest.raises(MatrixError, match="is not a Parquet file, or is damaged"):
        look_at_table(tmp_path / "t.parquet")
