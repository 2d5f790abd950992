import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from pyrocco.datasets import GENE_SETS, REAL_SETS, TEXT_SETS, data_folder, load
from pyrocco.datasets.real import _SCALINGS, CATALOGUE, _selected_columns

SHAPES = {
    "classic3": (3891, 2000, 3),
    "20news2": (1715, 2000, 2),
    "20news10": (9588, 2000, 10),
    "reuters": (9101, 2000, 50),
    "rcv1": (10000, 2000, 4),
    "allaml": (72, 7129, 2),
    "glioma": (50, 4434, 4),
    "carcinom": (174, 1571, 10),
    "lung": (203, 1543, 5),
}


def load_or_skip(name, **options):
    try:
        return load(name, **options)
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", REAL_SETS)
def test_shape_classes_and_names(name):
    data = load_or_skip(name)
    n_rows, n_columns, n_classes = SHAPES[name]
    assert data.X.shape == (n_rows, n_columns)
    assert data.X.dtype == np.float64
    assert data.row_labels.shape == (n_rows,)
    assert data.class_names.shape == (n_classes,)
    assert data.feature_names.shape == (n_columns,)
    np.testing.assert_array_equal(np.unique(data.row_labels), np.arange(n_classes))
    assert data.column_labels is None


@pytest.mark.parametrize("name", TEXT_SETS)
def test_text_is_csr_with_rows_of_length_one(name):
    X = load_or_skip(name).X
    assert issparse(X)
    assert X.format == "csr"
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    assert np.all(np.isclose(lengths, 1) | (lengths == 0))


@pytest.mark.parametrize("name", GENE_SETS)
def test_genes_are_centred_and_scaled(name):
    X = load_or_skip(name).X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-10)
    deviations = X.std(axis=0)
    assert np.all(np.isclose(deviations, 1) | (deviations == 0))


def test_classic3_keeps_the_most_frequent_terms():
    everything = load_or_skip("classic3", scaling="raw", all_columns=True)
    frequent = load("classic3", scaling="raw")
    assert everything.X.shape[1] == everything.feature_names.size == 4303
    totals = np.sort(np.asarray(everything.X.sum(axis=0)).ravel())[-2000:]
    np.testing.assert_array_equal(np.sort(np.asarray(frequent.X.sum(axis=0)).ravel()), totals)


def test_raw_text_is_counts():
    X = load_or_skip("20news2", scaling="raw").X
    assert np.all(X.data == np.round(X.data))


def test_absent_file_says_where_the_data_comes_from(tmp_path, monkeypatch):
    monkeypatch.setenv("PYROCCO_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"scikit-feature.*PYROCCO_DATA"):
        load("glioma")


def test_wrong_checksum_is_an_error(tmp_path):
    (tmp_path / "glioma.npz").write_bytes(b"not the data")
    with pytest.raises(ValueError, match="sha256"):
        load("glioma", folder=tmp_path)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="classic3"):
        load("iris")


@pytest.mark.parametrize(("name", "scaling"), [("glioma", "tfidf"), ("classic3", "zscore")])
def test_scaling_of_the_other_kind_is_an_error(name, scaling):
    with pytest.raises(ValueError, match="does not fit"):
        load(name, scaling=scaling)


def test_all_columns_without_effect_is_an_error():
    with pytest.raises(ValueError, match="no effect"):
        _selected_columns("reuters", {}, all_columns=True)


def test_folder_order(monkeypatch, tmp_path):
    monkeypatch.setenv("PYROCCO_DATA", str(tmp_path / "named"))
    assert data_folder() == tmp_path / "named"
    monkeypatch.delenv("PYROCCO_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "pyrocco"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "pyrocco"


def test_each_kind_has_its_scalings():
    counts = csr_matrix(np.array([[2.0, 0.0], [1.0, 1.0]]))
    lengths = np.linalg.norm(_SCALINGS["text"]["tfidf-unnormalized"](counts).toarray(), axis=1)
    assert np.all(lengths > 1)
    assert _SCALINGS["text"]["raw"](counts) is counts
    constant = _SCALINGS["genes"]["zscore"](np.array([[1.0, 2.0], [3.0, 2.0]]))
    np.testing.assert_array_equal(constant, [[-1, 0], [1, 0]])
    assert all(entry.kind in _SCALINGS for entry in CATALOGUE.values())
