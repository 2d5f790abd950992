"""Reading NumPy, SciPy and Matrix Market files, and files of other or unknown kinds."""

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from pyrocco.io import MatrixError, read_matrix

X = np.array([[1.5, 0.0, 3.0], [0.0, 5e-3, 0.0]])


def save_npy(path, X):
    np.save(path, X)


def save_npz(path, X):
    np.savez_compressed(path, X=X)


def save_sparse(path, X):
    sparse.save_npz(path, sparse.csc_array(X))


def save_old_sparse(path, X):
    sparse.save_npz(path, sparse.csr_matrix(X))


def save_market(path, X):
    mmwrite(path, X)


def save_sparse_market(path, X):
    mmwrite(path, sparse.coo_array(X))


DENSE = [(save_npy, "x.npy"), (save_npz, "x.npz"), (save_market, "x.mtx")]
SPARSE = [(save_sparse, "x.npz"), (save_old_sparse, "x.npz"), (save_sparse_market, "x.mtx")]


@pytest.mark.parametrize(("save", "name"), DENSE + SPARSE)
def test_reads_what_the_libraries_write(tmp_path, save, name):
    save(tmp_path / name, X)
    matrix = read_matrix(tmp_path / name)
    is_sparse = (save, name) in SPARSE
    assert isinstance(matrix.X, sparse.csr_array if is_sparse else np.ndarray)
    np.testing.assert_array_equal(matrix.X.toarray() if is_sparse else matrix.X, X)
    assert matrix.row_names == ("row_0", "row_1")
    assert matrix.column_names == ("column_0", "column_1", "column_2")
    assert matrix.notes[-1] == "The matrix has 2 rows and 3 columns."
    assert matrix.density == 0.5


@pytest.mark.parametrize(
    ("given", "expected"),
    [("float32", "float32"), ("float64", "float64"), ("uint16", "float64"), ("bool", "float64")],
)
@pytest.mark.parametrize(("save", "name"), [(save_npy, "x.npy"), (save_sparse, "x.npz")])
def test_precision_is_preserved_and_counts_become_float(tmp_path, save, name, given, expected):
    values = np.array([[1, 0], [0, 1]], dtype=given)
    save(tmp_path / name, values)
    matrix = read_matrix(tmp_path / name)
    assert matrix.X.dtype == expected
    np.testing.assert_array_equal(sparse.csr_array(matrix.X).toarray(), values)


def test_the_only_matrix_of_an_archive(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(2))
    matrix = read_matrix(tmp_path / "x.npz")
    np.testing.assert_array_equal(matrix.X, X)
    assert matrix.notes[0] == 'The array "X" of float64 was used, without names. Ignored: y.'


@pytest.mark.parametrize(("save", "name"), DENSE + SPARSE)
def test_infinite_values_are_named(tmp_path, save, name):
    bad = X.copy()
    bad[1, 0] = bad[1, 2] = np.inf
    save(tmp_path / name, bad)
    with pytest.raises(MatrixError, match="row 2, column 1 is infinite"):
        read_matrix(tmp_path / name)


@pytest.mark.parametrize(("save", "name"), DENSE + SPARSE)
def test_missing_values_are_nan_and_counted(tmp_path, save, name):
    with_missing = X.copy()
    with_missing[1, 0] = with_missing[1, 2] = np.nan
    save(tmp_path / name, with_missing)
    matrix = read_matrix(tmp_path / name)
    is_sparse = (save, name) in SPARSE
    np.testing.assert_array_equal(matrix.X.toarray() if is_sparse else matrix.X, with_missing)
    assert matrix.n_missing == 2
    assert matrix.density == 0.5
    assert matrix.notes[-1] == "2 of its 6 cells are missing (33 %)."


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((3, 0)), "no columns"),
        (np.zeros(3), "1 dimension"),
        (np.zeros((2, 2, 2)), "3 dimension"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.ones((2, 2), dtype=complex), "real numbers"),
    ],
)
def test_arrays_that_are_not_a_matrix(tmp_path, array, words):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(MatrixError, match=words):
        read_matrix(tmp_path / "x.npy")


def test_archives_with_none_or_several_matrices(tmp_path):
    np.savez(tmp_path / "two.npz", a=X, b=X)
    np.savez(tmp_path / "none.npz", a=np.arange(3))
    with pytest.raises(MatrixError, match=r"exactly one .* 2 were found .*a \(2, 3\), b"):
        read_matrix(tmp_path / "two.npz")
    with pytest.raises(MatrixError, match="0 were found"):
        read_matrix(tmp_path / "none.npz")


OPTIONAL = ["x.parquet", "x.h5ad", "x.xlsx"]


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mtx", "x.csv.gz", "x.mtx.gz", *OPTIONAL])
def test_damaged_files(tmp_path, name):
    (tmp_path / name).write_bytes(b"nothing of the kind")
    with pytest.raises(MatrixError) as error:
        read_matrix(tmp_path / name)
    assert "\n" not in str(error.value)


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(MatrixError, match="not a NumPy array of numbers"):
        read_matrix(tmp_path / "x.npy")


def test_files_that_do_not_exist_or_are_not_supported(tmp_path):
    with pytest.raises(MatrixError, match="no such file"):
        read_matrix(tmp_path / "x.csv")
    with pytest.raises(MatrixError, match="folder"):
        read_matrix(tmp_path)
    (tmp_path / "x.docx").write_text("x")
    with pytest.raises(MatrixError, match=r"\.docx file; .*\.csv"):
        read_matrix(tmp_path / "x.docx")
    for name, words in (("x.xls", "save it as .xlsx"), ("x.RDS", "write.csv"), ("x", "an ending")):
        (tmp_path / name).write_text("x")
        with pytest.raises(MatrixError, match=words):
            read_matrix(tmp_path / name)
    (tmp_path / "x.npy").touch()
    with pytest.raises(MatrixError, match="empty"):
        read_matrix(tmp_path / "x.npy")
