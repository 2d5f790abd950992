"""Annotations from the file of a matrix, and from tables of their own."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pyrocco.io import Matrix, MatrixError, read_matrix
from pyrocco.io.annotations import (
    StoredAnnotations,
    annotate_from,
    as_annotations,
    set_aside,
    stored_annotations,
    unstored_annotations,
)
from pyrocco.io.fields import FieldError

MATRIX = Matrix(np.arange(12.0).reshape(4, 3), ("a", "b", "c", "d"), ("x", "y", "z"))


def read_with(path, *names):
    return set_aside(read_matrix(path), path, names)


@pytest.fixture
def mixed(tmp_path):
    """A table of numbers with a column of texts and a number that is no measurement."""
    path = tmp_path / "mixed.csv"
    lines = ["id,dose,age,g1,drug,g2", "s1,0.5,31,1,yes,4", "s2,NA,40,2,,5", "s3,1.5,28,3,no,6"]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_columns_of_numbers_and_texts_are_set_aside(mixed):
    matrix = read_with(mixed, "drug,age")
    assert matrix.column_names == ("dose", "g1", "g2")
    np.testing.assert_array_equal(matrix.X, [[0.5, 1, 4], [np.nan, 2, 5], [1.5, 3, 6]])
    found = matrix.row_annotations
    assert found.index.tolist() == ["s1", "s2", "s3"]
    assert found["age"].tolist() == [31, 40, 28]
    assert found["drug"].tolist() == ["yes", None, "no"]
    notes = " ".join(matrix.notes)
    assert 'Set aside: "drug", "age" annotate the rows and are not part of the matrix.' in notes
    assert "The matrix has 3 rows and 3 columns." in notes
    assert "Ignored" not in notes


def test_texts_that_are_not_annotations_are_still_ignored(mixed):
    notes = " ".join(read_with(mixed, "age").notes)
    assert 'Ignored, because it holds no numbers: "drug".' in notes
    assert 'Set aside: "age" annotates the rows and is not part of the matrix.' in notes


def test_names_with_commas_and_unknown_names(mixed, tmp_path):
    path = tmp_path / "comma.csv"
    text = mixed.read_text(encoding="utf-8").replace("age", '"age, years"')
    path.write_text(text, encoding="utf-8")
    found = read_with(path, "age, years", "drug").row_annotations
    assert list(found) == ["age, years", "drug"]
    with pytest.raises(MatrixError, match=r'has no column "drog" .* did you mean "drug"\?'):
        read_with(mixed, "drog")
    with pytest.raises(MatrixError, match="leave no columns of numbers"):
        read_with(mixed, "dose,age,g1,g2")


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_excel_and_parquet(mixed, tmp_path, ending):
    frame = pd.read_csv(mixed)
    path = tmp_path / f"mixed.{ending}"
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    matrix = read_with(path, "drug", "age")
    assert matrix.row_annotations["drug"].tolist() == ["yes", None, "no"]
    assert matrix.row_annotations["age"].tolist() == [31, 40, 28]
    assert matrix.column_names == ("dose", "g1", "g2")


def test_files_without_columns_of_annotations(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(MatrixError, match="name a table of annotations with --annotate-from"):
        read_with(tmp_path / "a.npy", "age")
    lines = ["row,column,value", *(f"r{i},c{j},{i + j}" for i in range(3) for j in range(3))]
    (tmp_path / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(MatrixError, match="no effect on a long table"):
        read_with(tmp_path / "long.csv", "value")


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """An AnnData file with every type of annotation."""
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    obs = pd.DataFrame(
        {
            "donor": pd.Categorical(["d1", None, "d2"]),
            "n_counts": np.array([3, 4, 5], dtype=np.int32),
            "is_large": [True, False, True],
            "note": ["p", "q", "p"],
            "score": pd.array([1, None, 3], dtype="Int64"),
        },
        index=["c1", "c2", "c3"],
    )
    var = pd.DataFrame({"chromosome": ["1", "X"], "score": [0.5, 1.5]}, index=["g1", "g2"])
    X = sparse.csr_matrix(np.arange(6.0).reshape(3, 2))
    anndata.AnnData(X, obs=obs, var=var).write_h5ad(path)
    return path


def test_obs_and_var_of_an_anndata_file(cells):
    matrix = read_with(cells, "donor,n_counts,is_large,note", "chromosome,score")
    assert matrix.axis_names == ("cell", "gene")
    rows, columns = matrix.row_annotations, matrix.column_annotations
    assert list(rows) == ["donor", "n_counts", "is_large", "note", "score"]
    assert rows["donor"].tolist() == ["d1", None, "d2"]
    assert rows["n_counts"].tolist() == [3, 4, 5]
    assert rows["is_large"].tolist() == ["True", "False", "True"]
    np.testing.assert_array_equal(rows["score"], [1, np.nan, 3])
    assert columns.index.tolist() == ["g1", "g2"]
    assert columns["chromosome"].tolist() == ["1", "X"]
    assert columns["score"].tolist() == [0.5, 1.5]
    assert matrix.transpose().axis_names == ("gene", "cell")
    with pytest.raises(MatrixError, match=r'no column "donors" .* did you mean "donor"'):
        read_with(cells, "donors")


def table_of(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_of_annotations_is_matched_by_names(tmp_path):
    path = table_of(tmp_path / "meta.csv", "who,age,drug\nd,4,no\nq,9,no\na,1,yes\nb,2,\n")
    matrix = annotate_from(MATRIX, path)
    found = matrix.row_annotations
    assert matrix.column_annotations is None
    assert found.index.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(found["age"], [1, 2, np.nan, 4])
    assert [None if pd.isna(text) else text for text in found["drug"]] == ["yes", None, None, "no"]
    assert matrix.notes[-1] == (
        'meta.csv: "age", "drug" annotate 3 of the 4 rows; 1 line with names that are not in the '
        "matrix was left out."
    )


def test_a_table_of_annotations_may_be_of_the_columns(tmp_path):
    path = table_of(tmp_path / "genes.tsv", "kind\tname\nlong\tz\nshort\tx\nlong\ty\n")
    matrix = annotate_from(MATRIX, path)
    assert matrix.row_annotations is None
    assert matrix.column_annotations["kind"].tolist() == ["short", "long", "long"]
    assert matrix.notes[-1] == 'genes.tsv: "kind" annotates 3 of the 3 columns.'


def test_names_that_are_numbers(tmp_path):
    matrix = Matrix(np.eye(3), ("672", "7157", "7422"), ("x", "y", "z"))
    path = table_of(tmp_path / "meta.csv", "entrez,role\n7157,guard\n672,repair\n7422,growth\n")
    found = annotate_from(matrix, path).row_annotations
    assert found["role"].tolist() == ["repair", "guard", "growth"]


def test_a_column_that_counts_the_lines_is_no_annotation(tmp_path):
    path = table_of(tmp_path / "meta.csv", ",n,drug\n0,a,yes\n1,b,no\n")
    assert list(annotate_from(MATRIX, path).row_annotations) == ["drug"]


def test_the_index_of_a_parquet_file_has_the_names(tmp_path):
    pd.DataFrame({"drug": ["yes", "no"]}, index=["b", "d"]).to_parquet(tmp_path / "meta.parquet")
    found = annotate_from(MATRIX, tmp_path / "meta.parquet").row_annotations
    assert found["drug"].dropna().to_dict() == {"b": "yes", "d": "no"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n,v\nq,1\nr,2\n", r'none of its names .* begins with "q", the rows with "a", the col'),
        ("n,v\na,1\na,2\nb,3\n", 'several lines for "a"'),
        ("n\na\nb\n", "no columns besides the names"),
    ],
)
def test_tables_that_cannot_be_matched(tmp_path, text, message):
    with pytest.raises(MatrixError, match=message):
        annotate_from(MATRIX, table_of(tmp_path / "meta.csv", text))


def test_two_tables_add_up_unless_their_names_clash(tmp_path):
    first = table_of(tmp_path / "a.csv", "n,age\na,1\nb,2\n")
    second = table_of(tmp_path / "b.csv", "n,drug\nc,yes\nd,no\n")
    matrix = annotate_from(annotate_from(MATRIX, first), second)
    assert list(matrix.row_annotations) == ["age", "drug"]
    with pytest.raises(MatrixError, match='two annotations called "age"'):
        annotate_from(matrix, first)


def test_stored_annotations_come_back():
    table = as_annotations(
        pd.DataFrame(
            {"n": [1, None, 3], "c": ["b", None, "a"], "e": [None] * 3}, index=list("xyz")
        )
    )
    stored = stored_annotations(table)
    StoredAnnotations("rows").check(stored, {"rows": 3}, "row_annotations")
    again = unstored_annotations(stored, list("xyz"))
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert unstored_annotations(stored_annotations(None), []) is None


@pytest.mark.parametrize(
    "stored",
    [
        {"a": np.zeros(2)},
        {"a": {"codes": np.array([0, 1, 5]), "names": ("x", "y")}},
        {"a": {"codes": np.array([0, -2, 1]), "names": ("x", "y")}},
        {"a": {"codes": np.array([0, 0, 0]), "names": (1,)}},
        {"a": "text"},
        {3: np.zeros(3)},
        [],
    ],
)
def test_damaged_annotations_are_refused(stored):
    with pytest.raises(FieldError):
        StoredAnnotations("rows").check(stored, {"rows": 3}, "row_annotations")
