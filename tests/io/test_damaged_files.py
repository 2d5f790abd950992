"""Damaged files of every format end with an error that names the file, not with a crash."""

import gzip
import os
import shutil
import zipfile

import anndata
import h5py
import numpy as np
import openpyxl
import pandas as pd
import pytest
import zarr
from scipy import sparse
from scipy.io import mmwrite

from pyrocco.io import MatrixError, isolated, open_partitioned, read_matrix
from pyrocco.io.anndata import read_h5ad_annotations
from tests.conftest import REFERENCE

X = np.random.default_rng(0).poisson(1.0, (40, 30)).astype(float)


def refused(path, match=None):
    with pytest.raises(MatrixError, match=match) as caught:
        read_matrix(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def arrays_of(kind="csr"):
    matrix = sparse.csr_array(X).asformat(kind)
    return {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}


def changed(array, position, value):
    copy = array.copy()
    copy[position] = value
    return copy


BAD_INDICES = {
    "column beyond the last": lambda a: {"indices": changed(a["indices"], 3, 10**8)},
    "negative column": lambda a: {"indices": changed(a["indices"], 3, -5)},
    "pointers that descend": lambda a: {"indptr": changed(a["indptr"], 5, 10**6)},
    "pointers beyond the end": lambda a: {"indptr": changed(a["indptr"], -1, 10**6)},
    "too few pointers": lambda a: {"indptr": a["indptr"][:-3]},
    "too few values": lambda a: {"data": a["data"][:-3]},
    "fractions as indices": lambda a: {"indices": a["indices"] + 0.5},
}


@pytest.mark.parametrize("case", BAD_INDICES)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_indices_in_sparse_archives(tmp_path, case, kind):
    arrays = arrays_of(kind)
    shape = [40, 30]
    arrays |= BAD_INDICES[case](arrays)
    np.savez(tmp_path / "b.npz", format=kind.encode(), shape=shape, **arrays)
    refused(tmp_path / "b.npz", "damaged")


@pytest.mark.parametrize("case", BAD_INDICES)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_indices_in_anndata_files(tmp_path, case, kind):
    path = tmp_path / "b.h5ad"
    matrix = sparse.csr_matrix(X).asformat(kind)
    anndata.AnnData(matrix).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        arrays = arrays_of(kind)
        for name, array in BAD_INDICES[case](arrays).items():
            del file["X"][name]
            file["X"][name] = array
    refused(path, "damaged")


def test_a_sparse_matrix_of_absurd_size(tmp_path):
    np.savez(
        tmp_path / "b.npz", format=b"coo", shape=[10**9, 30], row=[0, 5], col=[1, 2], data=[1.0, 2]
    )
    refused(tmp_path / "b.npz", "1000000000 x 30 with only 2 stored values")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4E", 'line 6 holds .*"4E"'),
        ("%%MatrixMarket matrix array real general\n3 2\n1\n2\n", "ends after 2 of 6 values"),
        ("%%MatrixMarket matrix coordinate real general\n3 2 1\n4 1 1.5\n", 'row "4", .* 3 rows'),
        ("%%MatrixMarket matrix coordinate real general\n3 2 1\n1 0 1.5\n", 'column "0"'),
        ("%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1\n", "2 cells instead of 3"),
        ("%%MatrixMarket matrix coordinate real general\n3 2\n1 1 1\n", "line 2 must hold"),
        ("%%MatrixMarket matrix\n3 2\n1 1 1\n", "line 1 must be like"),
        (f"%%MatrixMarket matrix array real general\n{'9' * 5000} 2\n1\n", "line 2 must hold"),
        ("%%MatrixMarket matrix coordinate real general\n", "must hold the 3 sizes"),
    ],
)
def test_matrix_market(tmp_path, text, match):
    (tmp_path / "m.mtx").write_text(text)
    refused(tmp_path / "m.mtx", match)
    with gzip.open(tmp_path / "m.mtx.gz", "wt") as file:
        file.write(text)
    refused(tmp_path / "m.mtx.gz", match)


def test_names_of_a_matrix_market_file_in_a_broken_archive(tmp_path):
    mmwrite(tmp_path / "matrix.mtx", sparse.coo_array(X))
    (tmp_path / "barcodes.tsv.gz").write_bytes(b"\x1f\x8b\x08 not gzip at all")
    (tmp_path / "features.tsv").write_text("a\n")
    with pytest.raises(MatrixError, match=r"barcodes\.tsv\.gz: cannot be read"):
        read_matrix(tmp_path / "matrix.mtx")


@pytest.fixture(name="h5ad")
def write_h5ad(tmp_path):
    path = tmp_path / "a.h5ad"
    anndata.AnnData(X).write_h5ad(path)
    return path


def test_an_anndata_file_that_is_read_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(isolated, "SECONDS", 3.0)
    path = tmp_path / "endless.h5ad"
    path.write_bytes(gzip.decompress((REFERENCE / "endless.h5ad.gz").read_bytes()))
    refused(path, "is damaged")


def test_an_anndata_file_that_was_cut(h5ad):
    whole = h5ad.read_bytes()
    for size in (1, 8, 100, 1000, len(whole) // 2, len(whole) - 1):
        h5ad.write_bytes(whole[:size])
        refused(h5ad, "is not an AnnData file, or is damaged")


def test_an_anndata_file_does_not_read_other_files(h5ad, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_bytes(np.arange(1200.0).tobytes())
    with h5py.File(h5ad, "r+") as file:
        attributes = dict(file["X"].attrs)
        del file["X"]
        stored = file.create_dataset(
            "X", (40, 30), "f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)]
        )
        stored.attrs.update(attributes)
    refused(h5ad, "values in another file")
    anndata.AnnData(X).write_h5ad(tmp_path / "other.h5ad")
    with h5py.File(h5ad, "r+") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink("other.h5ad", "X")
    refused(h5ad, "values in another file")


def test_annotations_of_an_anndata_file_do_not_come_from_other_files(tmp_path):
    path, other = tmp_path / "a.h5ad", tmp_path / "other.h5ad"
    groups = pd.DataFrame(
        {"group": pd.Categorical(["secret", "b"] * 20)}, [f"c{i}" for i in range(40)]
    )
    for name in (path, other):
        anndata.AnnData(X, obs=groups).write_h5ad(name)
    assert read_h5ad_annotations(path, ["group"])[0]["group"].tolist() == ["secret", "b"] * 20
    with h5py.File(path, "r+") as file:
        del file["obs/group/categories"]
        file["obs/group/categories"] = h5py.ExternalLink("other.h5ad", "obs/group/categories")
    with pytest.raises(MatrixError, match="values in another file"):
        read_h5ad_annotations(path, ["group"])


def test_an_anndata_file_that_claims_too_much(h5ad):
    with h5py.File(h5ad, "r+") as file:
        del file["X"]
        stored = file.create_dataset("X", (10**6, 10**5), "f8", chunks=(100, 100))
        stored.attrs["encoding-type"] = "array"
    refused(h5ad, "claims to hold 800 GB")


def test_an_anndata_file_with_fewer_names_than_rows(h5ad):
    with h5py.File(h5ad, "r+") as file:
        index = file["obs"].attrs["_index"]
        del file["obs"][index]
        anndata.io.write_elem(file["obs"], index, np.array(["a"] * 10, dtype=object))
    refused(h5ad, "10 names for 40 rows")


@pytest.fixture(name="xlsx")
def write_xlsx(tmp_path):
    path = tmp_path / "a.xlsx"
    pd.DataFrame(X).to_excel(path)
    return path


def rewrite(path, member, change):
    """Change the bytes of one member of a zip archive; None removes it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            if data is not None:
                archive.writestr(name, data)


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("member", "change"),
    [
        (SHEET, lambda data: data[: len(data) // 2]),
        (SHEET, lambda data: data.replace(b'r="B2"', b'r="ZZZZZZ99999999"')),
        (SHEET, lambda data: None),
        ("xl/workbook.xml", lambda data: b"<workbook/>"),
        ("xl/workbook.xml", lambda data: None),
    ],
)
def test_excel(xlsx, member, change):
    rewrite(xlsx, member, change)
    refused(xlsx)


def test_an_excel_sheet_with_a_cell_far_away(xlsx):
    """The cells between would fill any memory."""
    book = openpyxl.load_workbook(xlsx)
    book.active["XFD1048576"] = 1
    book.save(xlsx)
    refused(xlsx, "damaged")


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_chunks(tmp_path, version):
    path = tmp_path / "x.zarr"
    stored = zarr.create_array(
        path, shape=X.shape, chunks=(10, 30), dtype="f8", zarr_format=version
    )
    stored[:] = X + 1
    np.testing.assert_array_equal(open_partitioned(path).X.compute(), X + 1)
    chunks = [
        file for file in path.rglob("*") if file.is_file() and file.name.strip(".").isdigit()
    ] or [file for file in path.rglob("*") if file.name in ("0.0", "1.0", "2.0", "3.0")]
    whole = chunks[0].read_bytes()
    chunks[0].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MatrixError, match="the chunk is damaged"):
        open_partitioned(path).X.compute()
    chunks[0].unlink()
    with pytest.raises(MatrixError, match="1 of its 4 chunks cannot be found"):
        open_partitioned(path)


def test_a_pipe_among_zarr_chunks(tmp_path):
    path = tmp_path / "x.zarr"
    zarr.create_array(path, shape=X.shape, chunks=(10, 30), dtype="f8")[:] = X + 1
    (path / "c" / "2" / "0").unlink()
    os.mkfifo(path / "c" / "2" / "0")
    with pytest.raises(MatrixError, match="is not a regular file"):
        open_partitioned(path)


def test_zarr_metadata(tmp_path):
    path = tmp_path / "x.zarr"
    zarr.create_array(path, shape=X.shape, chunks=(10, 30), dtype="f8")[:] = X + 1
    for text in ("", "{}", "[1]", '{"zarr_format": 3, "node_type": "array", "shape": "much"}'):
        (path / "zarr.json").write_text(text)
        with pytest.raises(MatrixError, match="Zarr store"):
            open_partitioned(path)


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (40, 30000000000)}",
        pytest.param(
            b"{'descr': '<f8', 'fortran_order': False, 'shape': (-4, 30)}",
            marks=pytest.mark.skipif(
                np.lib.NumpyVersion(np.__version__) < "2.0.0",
                reason="NumPy 1 takes a negative length for one that it must find out",
            ),
        ),
        b"{'descr': '<f8', 'fortran_order': 3, 'shape': 'x'}",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (40, 30)}",
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (40, 30)}",
        b"[" * 100,
    ],
)
def test_headers_of_numpy_files(tmp_path, header):
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + X.tobytes()
    (tmp_path / "x.npy").write_bytes(data)
    try:
        refused(tmp_path / "x.npy")
    except MemoryError:
        assert b"30000000000" in header
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X.npy", data)
    try:
        refused(tmp_path / "x.npz")
    except MemoryError:
        assert b"30000000000" in header


def test_an_archive_larger_than_memory(tmp_path, monkeypatch):
    np.savez(tmp_path / "x.npz", X)
    monkeypatch.setattr("pyrocco.io.arrays.machine_memory", lambda: 1000.0)
    refused(tmp_path / "x.npz", "but this machine has only")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".npz", ".mtx", ".parquet", ".h5ad"])
def test_a_pipe_is_not_a_file(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    os.mkfifo(path)
    refused(path, "is not a regular file")


def test_devices_links_and_long_names(tmp_path):
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    refused(tmp_path / "zero.csv", "is not a regular file")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    refused(tmp_path / "loop.csv", "no such file")
    refused(tmp_path / ("x" * 300 + ".csv"), "File name too long")


def test_parquet(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame(X, columns=[f"c{j}" for j in range(30)]).to_parquet(path)
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little")
    for data in (
        whole[:100],
        whole[:-8] + (10**9).to_bytes(4, "little") + whole[-4:],
        whole[: -footer - 8] + os.urandom(footer) + whole[-8:],
    ):
        path.write_bytes(data)
        refused(path, "is not a Parquet file, or is damaged")
    shutil.copy(REFERENCE / "rcc.npz", path)
    refused(path, "is not a Parquet file, or is damaged")


def test_very_wide_text(tmp_path):
    """Both took minutes."""
    names, numbers = ";" * 50_000, "1;" * 50_000
    (tmp_path / "names.csv").write_text(names)
    refused(tmp_path / "names.csv", "no rows, only column names")
    (tmp_path / "numbers.csv").write_text(f"\n\n{names}\n{numbers}\n")
    assert read_matrix(tmp_path / "numbers.csv").shape == (1, 49_999)


def test_damaged_text_files_of_a_matrix(tmp_path):
    (tmp_path / "1.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-16")
    (tmp_path / "2.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    with pytest.raises(MatrixError, match=r"2\.csv: cannot be read: it has another encoding"):
        open_partitioned(tmp_path / "*.csv")
    (tmp_path / "1.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    (tmp_path / "2.csv").write_text('a,"b,c\n' + "1,2,3\n" * 50_000)
    with pytest.raises(MatrixError, match=r"2\.csv: is not a text table, or a quotation mark"):
        open_partitioned(tmp_path / "*.csv")


def test_a_compressed_table_with_a_wrong_checksum(tmp_path):
    data = bytearray(gzip.compress(b"a,b\n1,2\n3,4\n"))
    data[-6] ^= 1
    (tmp_path / "x.csv.gz").write_bytes(data)
    refused(tmp_path / "x.csv.gz", "the compressed file is damaged")
