"""Files written by the library of each format are read as the same matrix."""

import datetime
import gzip
import sys

import anndata
import h5py
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from scipy.io import mmwrite

from pyrocco.io import MatrixError, MissingExtraError, read_matrix

X = np.array([[1.5, 0.0, 3.0], [0.0, np.nan, 0.25], [7.0, 1e-3, 0.0]])
ROWS, COLUMNS = ("g1", "NA", "g3"), ("liver", "heart", "brain")
COUNTS = np.array([[0, 5, 1], [7, 0, 0]])
BARCODES, IDS, SYMBOLS = ["AAC-1", "AAG-1", "AAT-1"], ["ENSG1", "ENSG2"], ["TP53", "MYC"]


def frame():
    return pd.DataFrame(X, index=pd.Index(ROWS, name="gene"), columns=COLUMNS)


def check(matrix):
    np.testing.assert_array_equal(matrix.X, X)
    assert (matrix.row_names, matrix.column_names) == (ROWS, COLUMNS)
    assert matrix.n_missing == 1
    assert matrix.notes[-1] == "1 of its 9 cells is missing (11 %)."


def test_parquet_as_pandas_writes_it(tmp_path):
    frame().to_parquet(tmp_path / "t.parquet")
    matrix = read_matrix(tmp_path / "t.parquet")
    check(matrix)
    assert any('("gene") holds the row names' in note for note in matrix.notes)


def test_parquet_as_pyarrow_writes_it(tmp_path):
    columns = {"gene": list(ROWS), "about": ["a", "b", "a"], "lists": [[1], [2], []]}
    columns |= {name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(COLUMNS)}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    matrix = read_matrix(tmp_path / "t.parquet")
    check(matrix)
    assert 'Ignored, because they hold no numbers: "about", "lists".' in matrix.notes


@pytest.mark.parametrize("kind", ["int32", "float32", "bool"])
def test_parquet_keeps_other_numbers(tmp_path, kind):
    values = COUNTS.astype(kind)
    pd.DataFrame(values, columns=list("abc")).to_parquet(tmp_path / "t.parquet")
    matrix = read_matrix(tmp_path / "t.parquet")
    np.testing.assert_array_equal(matrix.X, values)
    assert matrix.row_names == ("row_0", "row_1")


def test_excel(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as writer:
        frame().to_excel(writer, sheet_name="data")
        pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(writer, sheet_name="other", index=False)
    matrix = read_matrix(tmp_path / "t.xlsx")
    check(matrix)
    assert (
        matrix.notes[0]
        == 'The sheet "data" of an Excel file. To read another, use --sheet: "other".'
    )
    with pd.ExcelWriter(tmp_path / "readme.xlsx") as writer:
        pd.DataFrame({"about": ["text"]}).to_excel(writer, sheet_name="read me", index=False)
        frame().to_excel(writer, sheet_name="data")
    with pytest.raises(
        MatrixError, match=r'no columns of numbers: .* name it with --sheet: "data"'
    ):
        read_matrix(tmp_path / "readme.xlsx")
    other = read_matrix(tmp_path / "t.xlsx", sheet="other")
    np.testing.assert_array_equal(other.X, [[1, 3], [2, 4]])
    with pytest.raises(MatrixError, match='no sheet "third"; its sheets are: data, other'):
        read_matrix(tmp_path / "t.xlsx", sheet="third")


def test_excel_with_empty_lines_and_columns_of_text(tmp_path):
    book = openpyxl.Workbook()
    for row in (["gene", "about", "a", "b", None], [], ["x", "kinase", 1, "NA"], ["y", "-", 3, 4]):
        book.active.append(row)
    book.active.cell(row=9, column=9).number_format = "0.0"  # touched, but empty
    book.save(tmp_path / "t.xlsx")
    matrix = read_matrix(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(matrix.X, [[1, np.nan], [3, 4]])
    assert matrix.row_names == ("x", "y")
    book.active["C3"] = "low"
    book.active.append(["z", "", 5, 6])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(MatrixError, match=r'row 1 \("x"\), column 1 \("a"\) holds the text "low"'):
        read_matrix(tmp_path / "t.xlsx")


def test_excel_cells_that_are_not_plain_numbers_or_text(tmp_path):
    book = openpyxl.Workbook()
    rows = (["ID", "a", "when", 2020], [7, 0, datetime.date(2020, 1, 2), 0], [8, 1.5, "", "#N/A"])
    for i, row in enumerate(rows, start=4):
        for j, value in enumerate(row, start=3):  # rows and columns before the table are empty
            book.active.cell(i, j, value)
    book.active.cell(7, 3, 9)
    book.active.cell(7, 4, "#DIV/0!")
    book.save(tmp_path / "t.xlsx")
    matrix = read_matrix(tmp_path / "t.xlsx")
    assert (matrix.row_names, matrix.column_names) == (("7", "8", "9"), ("a", "2020"))
    np.testing.assert_array_equal(matrix.X, [[0, 0], [1.5, np.nan], [np.nan, np.nan]])
    book.active.cell(7, 4, True)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(MatrixError, match=r'row 3 \("9"\), column 1 \("a"\) .*"True"'):
        read_matrix(tmp_path / "t.xlsx")


def test_excel_sheet_called_like_a_default(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as writer:
        frame().to_excel(writer, sheet_name="first")
        (2 * frame()).to_excel(writer, sheet_name="auto")
    np.testing.assert_array_equal(read_matrix(tmp_path / "t.xlsx", sheet="auto").X, 2 * X)


def test_an_empty_sheet(tmp_path):
    openpyxl.Workbook().save(tmp_path / "t.xlsx")
    with pytest.raises(MatrixError, match='the sheet "Sheet" is empty'):
        read_matrix(tmp_path / "t.xlsx")


def write_anndata(path, form):
    data = anndata.AnnData(
        form(X),
        obs=pd.DataFrame(index=list(ROWS)),
        var=pd.DataFrame({"about": ["a", "b", "a"]}, index=list(COLUMNS)),
        layers={"counts": form(2 * X)},
    )
    data.raw = anndata.AnnData(
        form(np.ones((3, 4))), obs=data.obs, var=pd.DataFrame(index=list("abcd"))
    )
    data.write_h5ad(path)


def test_scaled_values_of_anndata_are_said(tmp_path):
    values = np.random.default_rng(0).poisson(2.0, (40, 5)).astype(float)
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    data = anndata.AnnData(scaled, layers={"counts": values})
    data.write_h5ad(tmp_path / "t.h5ad")
    assert read_matrix(tmp_path / "t.h5ad").notes[-1] == (
        "The values were scaled to standard deviation 1 gene by gene, which hides the largest "
        "differences. If the file has counts or their logarithms, choose them by --raw or --layer "
        "NAME."
    )
    assert "scaled" not in " ".join(read_matrix(tmp_path / "t.h5ad", layer="counts").notes)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_anndata(tmp_path, form):
    path = tmp_path / "t.h5ad"
    write_anndata(path, form)
    matrix = read_matrix(path)
    is_sparse = form is not np.asarray
    assert sparse.issparse(matrix.X) == is_sparse
    np.testing.assert_array_equal(matrix.X.toarray() if is_sparse else matrix.X, X)
    assert (matrix.row_names, matrix.column_names) == (ROWS, COLUMNS)
    assert matrix.notes[1] == 'Used: X; the file also has layer "counts", raw.'
    layer = read_matrix(path, layer="counts")
    np.testing.assert_array_equal(layer.X.toarray() if is_sparse else layer.X, 2 * X)
    raw = read_matrix(path, raw=True)
    assert (raw.shape, raw.column_names) == ((3, 4), tuple("abcd"))


def test_anndata_without_the_requested_matrix(tmp_path):
    path = tmp_path / "t.h5ad"
    write_anndata(path, np.asarray)
    with pytest.raises(MatrixError, match='no layer "logs"; it has X, layer "counts", raw'):
        read_matrix(path, layer="logs")
    with pytest.raises(MatrixError, match="not for both"):
        read_matrix(path, layer="counts", raw=True)
    empty = anndata.AnnData(obs=pd.DataFrame(index=list(ROWS)), layers={"counts": X})
    empty.write_h5ad(path)
    with pytest.raises(MatrixError, match='no X; it has layer "counts"'):
        read_matrix(path)


def test_other_hdf5_files(tmp_path):
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["matrix"] = X
    with pytest.raises(MatrixError, match="not in the current format of anndata"):
        read_matrix(tmp_path / "t.h5ad")


def write_tenx(folder, *, new, compressed, prefix="", counts=COUNTS):
    """Write a folder as Cell Ranger does, before version 3 or since."""
    ending = ".gz" if compressed else ""
    opener = gzip.open if compressed else open
    lines = zip(IDS, SYMBOLS, ["\tGene Expression" if new else ""] * 2, strict=True)
    texts = {
        "barcodes.tsv": "\n".join(BARCODES) + "\n",
        "features.tsv" if new else "genes.tsv": "".join(f"{a}\t{b}{c}\n" for a, b, c in lines),
    }
    for name, text in texts.items():
        with opener(folder / (prefix + name + ending), "wt") as handle:
            handle.write(text)
    with opener(folder / f"{prefix}matrix.mtx{ending}", "wb") as handle:
        mmwrite(handle, sparse.coo_array(counts))
    return folder / f"{prefix}matrix.mtx{ending}"


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("prefix", ["", "GSM123_"])
def test_tenx(tmp_path, new, compressed, prefix):
    path = write_tenx(tmp_path, new=new, compressed=compressed, prefix=prefix)
    for source in [path, *([] if prefix else [tmp_path])]:
        matrix = read_matrix(source)
        assert isinstance(matrix.X, sparse.csr_array)
        np.testing.assert_array_equal(matrix.X.toarray(), COUNTS.T)
        assert matrix.row_names == tuple(BARCODES)
        assert matrix.column_names == tuple(SYMBOLS)
        assert any("made columns" in note for note in matrix.notes)


def test_tenx_with_cells_as_rows(tmp_path):
    matrix = read_matrix(write_tenx(tmp_path, new=True, compressed=False, counts=COUNTS.T))
    np.testing.assert_array_equal(matrix.X.toarray(), COUNTS.T)
    assert matrix.column_names == tuple(SYMBOLS)


def test_tenx_genes_that_share_a_symbol(tmp_path):
    path = write_tenx(tmp_path, new=False, compressed=False)
    (tmp_path / "genes.tsv").write_text("ENSG1\tTBCE\nENSG2\tTBCE\n")
    assert read_matrix(path).column_names == ("TBCE (ENSG1)", "TBCE (ENSG2)")


def test_tenx_folders_without_some_files(tmp_path):
    with pytest.raises(MatrixError, match=r"folder without matrix\.mtx"):
        read_matrix(tmp_path)
    path = write_tenx(tmp_path, new=True, compressed=False)
    (tmp_path / "features.tsv").write_text("ENSG1\tTP53\n")
    with pytest.raises(MatrixError, match=r"2 x 3, but .* 1 features and 3 barcodes"):
        read_matrix(path)
    (tmp_path / "features.tsv").unlink()
    with pytest.raises(MatrixError, match=r"not both barcodes\.tsv and features\.tsv or genes"):
        read_matrix(tmp_path)
    assert read_matrix(path).row_names == ("row_0", "row_1")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("t.csv", {"layer": "counts"}, "layer has no effect .* only on .h5ad"),
        ("t.csv", {"sheet": "data"}, "sheet has no effect .* only on .xlsx"),
        ("t.npy", {"layout": "long"}, "layout has no effect .* only on .csv"),
        ("t.h5ad", {"absent": "zero"}, "absent has no effect"),
        ("t.csv", {"absent": "zero"}, "not a long table"),
        ("t.csv", {"layout": "tall"}, "layout must be one of auto, wide, long; got tall"),
    ],
)
def test_options_without_effect_are_errors(tmp_path, name, options, words):
    (tmp_path / name).write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(MatrixError, match=words):
        read_matrix(tmp_path / name, **options)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("t.parquet", "pyarrow", "arrow"),
        ("t.h5ad", "anndata", "anndata"),
        ("t.xlsx", "python_calamine", "excel"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch, name, package, extra):
    (tmp_path / name).write_text("x")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as error:
        read_matrix(tmp_path / name)
    assert f'pip install "pyrocco[{extra}]"' in str(error.value)
