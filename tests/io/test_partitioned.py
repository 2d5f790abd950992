"""A matrix in many files: it is opened without being read, and has the values of the files."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
import zarr
from scipy import sparse

from pyrocco.io import MatrixError, MissingExtraError, chunks, partitioned, read_matrix
from pyrocco.io.partitioned import is_partitioned, open_partitioned, split_rows

SIZES = (3, 4, 2)
COLUMNS = ("liver", "heart", "brain.2")


def frames(dtype=float, names=True):
    """Yield the chunks of a matrix of nine rows with their numbers, of which the last is 10."""
    rng = np.random.default_rng(0)
    start = 0
    for number, size in zip((1, 2, 10), SIZES, strict=True):
        values = rng.normal(size=(size, 3)).astype(dtype)
        index = [f"g{start + i}" for i in range(size)] if names else None
        yield number, pd.DataFrame(values, index=index, columns=COLUMNS)
        start += size


def save(folder, ending, **options):
    for number, frame in frames(**options):
        path = folder / f"part-{number}{ending}"
        if ending == ".parquet":
            frame.to_parquet(path)
        else:
            separator = "\t" if ".tsv" in ending else ","
            frame.to_csv(path, sep=separator, index="names" not in options, index_label="gene")
    return folder / f"*{ending}"


def whole(**options):
    return pd.concat([frame for _, frame in frames(**options)])


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".tsv", ".csv.gz"])
def test_files_are_sorted_by_the_numbers_in_their_names(tmp_path, ending):
    opened = open_partitioned(save(tmp_path, ending))
    assert opened.shape == (9, 3)
    assert opened.X.chunks == (SIZES, (3,))
    assert opened.row_names.chunks == (SIZES,)
    assert opened.column_names == COLUMNS
    assert opened.X.dtype == np.float64
    np.testing.assert_array_equal(opened.X.compute(), whole().to_numpy())
    assert opened.row_names.compute().tolist() == [f"g{i}" for i in range(9)]
    assert "9 rows and 3 columns, in 3 chunks" in opened.notes[0]


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_without_row_names(tmp_path, ending):
    opened = open_partitioned(save(tmp_path, ending, names=False))
    assert opened.row_names is None
    assert opened.shape == (9, 3)


def test_a_single_file_gives_the_same_as_read_matrix(tmp_path):
    save(tmp_path, ".csv")
    opened = open_partitioned(tmp_path / "part-1[0].csv")
    alone = read_matrix(tmp_path / "part-10.csv")
    np.testing.assert_array_equal(opened.X.compute(), alone.X)
    assert tuple(opened.row_names.compute()) == alone.row_names
    assert opened.column_names == alone.column_names


def test_chunks_are_read_when_they_are_computed(tmp_path, monkeypatch):
    pattern = save(tmp_path, ".csv")
    read = []
    load = chunks.load_rows
    monkeypatch.setattr(
        chunks, "load_rows", lambda path, layout: read.append(path.name) or load(path, layout)
    )
    opened = open_partitioned(pattern)
    assert read == []
    assert opened.X.blocks[1].compute().shape == (4, 3)
    assert read == ["part-2.csv"]


def test_float32_only_if_all_files_are(tmp_path):
    pattern = save(tmp_path, ".parquet", dtype=np.float32)
    opened = open_partitioned(pattern)
    assert opened.X.dtype == opened.X.compute().dtype == np.float32
    frame = pd.read_parquet(tmp_path / "part-2.parquet")
    frame["heart"] = 3
    frame.to_parquet(tmp_path / "part-2.parquet")
    opened = open_partitioned(pattern)
    assert opened.X.dtype == opened.X.compute().dtype == np.float64
    assert (opened.X.blocks[1].compute()[:, 1] == 3).all()


def test_a_column_of_text_names_rows_of_parquet(tmp_path):
    for part in (1, 2):
        frame = pd.DataFrame({"gene": [f"a{part}", f"b{part}"], "x": [1, None], "y": [3, 4.5]})
        frame.to_parquet(tmp_path / f"{part}.parquet")
    opened = open_partitioned(tmp_path / "*.parquet")
    assert opened.row_names.compute().tolist() == ["a1", "b1", "a2", "b2"]
    assert np.isnan(opened.X.compute()[:, 0]).tolist() == [False, True, False, True]


def test_a_column_without_values_is_missing(tmp_path):
    pd.DataFrame({"x": [1.0], "y": [2.0]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"x": [None], "y": [2.0]}).to_parquet(tmp_path / "2.parquet")
    X = open_partitioned(tmp_path / "*.parquet").X.compute()
    np.testing.assert_array_equal(X, [[1, 2], [np.nan, 2]])


def test_missing_values_blank_lines_and_decimal_commas(tmp_path):
    (tmp_path / "1.csv").write_text("gene;a;b\nx;1,5;NA\ny;2,5;3\n\n")
    (tmp_path / "2.csv").write_text('gene;a;b\n\n"NA";;4\n')
    opened = open_partitioned(tmp_path / "*.csv")
    np.testing.assert_array_equal(opened.X.compute(), [[1.5, np.nan], [2.5, 3], [np.nan, 4]])
    assert opened.row_names.compute().tolist() == ["x", "y", "NA"]


def test_text_without_headings(tmp_path):
    for part in (1, 2):
        (tmp_path / f"{part}.csv").write_text("1,2\n3,4\n")
    opened = open_partitioned(tmp_path / "*.csv")
    assert opened.column_names == ("column_0", "column_1")
    assert opened.shape == (4, 2)
    (tmp_path / "2.csv").write_text("1,2,3\n3,4,5\n")
    with pytest.raises(MatrixError, match=r"2\.csv: has 3 columns, but .*1\.csv has 2"):
        open_partitioned(tmp_path / "*.csv")


def test_the_same_files_have_the_same_name_until_they_change(tmp_path):
    pattern = save(tmp_path, ".csv")
    name = open_partitioned(pattern).X.name
    assert open_partitioned(pattern).X.name == name
    with (tmp_path / "part-1.csv").open("a") as file:
        file.write("g,1,2,3\n")
    assert open_partitioned(pattern).X.name != name


class TestBadFiles:
    def test_nothing_matches(self, tmp_path):
        with pytest.raises(MatrixError, match="no file matches this pattern"):
            open_partitioned(tmp_path / "*.csv")

    def test_different_kinds(self, tmp_path):
        save(tmp_path, ".csv")
        save(tmp_path, ".parquet")
        with pytest.raises(MatrixError, match=r"different kinds, .*part-1\.csv and .*\.parquet"):
            open_partitioned(tmp_path / "*")

    def test_files_that_cannot_be_chunks(self, tmp_path):
        np.save(tmp_path / "a.npy", np.eye(2))
        with pytest.raises(MatrixError, match=r"a\.npy: only \.parquet"):
            open_partitioned(tmp_path / "*.npy")

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    def test_other_columns(self, tmp_path, ending):
        pattern = save(tmp_path, ending)
        other = whole().rename(columns={"heart": "Heart"})
        path = tmp_path / f"part-2{ending}"
        other.to_parquet(path) if ending == ".parquet" else other.to_csv(path, index_label="gene")
        with pytest.raises(MatrixError, match=r'part-2.*"Heart", but "heart" in .*part-1\.'):
            open_partitioned(pattern)

    def test_a_column_too_few(self, tmp_path):
        pattern = save(tmp_path, ".csv")
        whole().drop(columns="brain.2").to_csv(tmp_path / "part-10.csv", index_label="gene")
        with pytest.raises(
            MatrixError, match=r'part-10\.csv: column 4 is absent, but "brain.2" in'
        ):
            open_partitioned(pattern)

    def test_text_among_numbers(self, tmp_path):
        pattern = save(tmp_path, ".csv")
        (tmp_path / "part-2.csv").write_text("gene,liver,heart,brain.2\na,1,2,3\nb,1,low,3\n")
        opened = open_partitioned(pattern)
        with pytest.raises(
            MatrixError, match=r'part-2\.csv: row 2 .*"heart"\) holds the text "lo'
        ):
            opened.X.compute()

    def test_text_among_numbers_of_parquet(self, tmp_path):
        pattern = save(tmp_path, ".parquet")
        whole().astype({"heart": str}).to_parquet(tmp_path / "part-2.parquet")
        with pytest.raises(
            MatrixError, match=r'part-2\.parquet: column 2 \("heart"\) holds .*str'
        ):
            open_partitioned(pattern)

    @pytest.mark.parametrize("text", ["", "gene,liver,heart,brain.2\n"])
    def test_an_empty_text_file(self, tmp_path, text):
        pattern = save(tmp_path, ".csv")
        (tmp_path / "part-2.csv").write_text(text)
        with pytest.raises(MatrixError, match=r"part-2\.csv: .*(no rows|empty)"):
            open_partitioned(pattern)

    def test_an_empty_parquet_file(self, tmp_path):
        pattern = save(tmp_path, ".parquet")
        whole().iloc[:0].to_parquet(tmp_path / "part-2.parquet")
        with pytest.raises(MatrixError, match=r"part-2\.parquet: has no rows"):
            open_partitioned(pattern)

    def test_not_parquet(self, tmp_path):
        (tmp_path / "a.parquet").write_text("no")
        with pytest.raises(MatrixError, match="is not a Parquet file"):
            open_partitioned(tmp_path / "*.parquet")

    def test_long_tables(self, tmp_path):
        table = pd.DataFrame({"row": ["a", "a"], "column": ["x", "y"], "value": [1.0, 2.0]})
        table.to_csv(tmp_path / "1.csv", index=False)
        table.to_parquet(tmp_path / "1.parquet")
        for ending in ("csv", "parquet"):
            with pytest.raises(MatrixError, match="is a long table"):
                open_partitioned(tmp_path / f"*.{ending}")

    def test_infinite_values(self, tmp_path):
        for part in (1, 2):
            frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, np.inf if part == 2 else 0]})
            frame.to_parquet(tmp_path / f"{part}.parquet")
            frame.to_csv(tmp_path / f"{part}.csv", index=False)
        for ending in ("csv", "parquet"):
            opened = open_partitioned(tmp_path / f"*.{ending}")
            with pytest.raises(MatrixError, match=rf"2\.{ending}: row 2.* infinite"):
                opened.X.compute()

    def test_a_line_break_within_a_cell(self, tmp_path):
        for part in (1, 2):
            (tmp_path / f"{part}.csv").write_text('gene,x,y\n"a\nb",1,2\nc,3,4\n')
        opened = open_partitioned(tmp_path / "*.csv")
        for array in (opened.X, opened.row_names):
            with pytest.raises(MatrixError, match=r"\d\.csv: has 3 lines but 2 rows"):
                array.compute()

    def test_a_damaged_gzip_file(self, tmp_path):
        path = tmp_path / "1.csv.gz"
        path.write_bytes(gzip.compress(b"x,y\n1,2\n3,4\n" * 100)[:-20])
        with pytest.raises(MatrixError, match=r"1\.csv\.gz: cannot be read"):
            open_partitioned(tmp_path / "*.gz")


class TestZarr:
    @pytest.fixture(name="X")
    def make_matrix(self):
        return np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32)

    def test_an_array(self, tmp_path, X):
        zarr.create_array(tmp_path / "a.zarr", data=X, chunks=(4, 2))
        opened = open_partitioned(str(tmp_path / "a.zarr"))
        assert opened.X.chunks == ((4, 4, 2), (4,))
        assert opened.X.dtype == opened.X.compute().dtype == np.float32
        np.testing.assert_array_equal(opened.X.compute(), X)
        assert opened.column_names == tuple(f"column_{j}" for j in range(4))
        assert opened.row_names is None

    def test_chunks_in_one_shard_are_read_together(self, tmp_path, X):
        zarr.create_array(tmp_path / "a.zarr", data=X, chunks=(2, 2), shards=(6, 4))
        opened = open_partitioned(tmp_path / "a.zarr")
        assert opened.X.chunks == ((6, 4), (4,))
        np.testing.assert_array_equal(opened.X.compute(), X)

    @pytest.mark.parametrize("zarr_format", [2, 3])
    def test_a_group_with_names(self, tmp_path, X, zarr_format):
        group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=zarr_format)
        group.create_array("X", data=X.astype(int), chunks=(5, 4))
        for name, count in (("row_names", 10), ("column_names", 4)):
            # Of fixed length, as bytes, in the older format; of any length in the newer one.
            dtype = "S5" if zarr_format == 2 else str
            array = group.create_array(name, shape=(count,), dtype=dtype, chunks=(3,))
            array[:] = np.array([f"{name[0]}{i}" for i in range(count)], dtype=dtype)
        opened = open_partitioned(tmp_path / "a.zarr")
        assert opened.column_names == ("c0", "c1", "c2", "c3")
        assert opened.row_names.compute().tolist() == [f"r{i}" for i in range(10)]
        assert opened.row_names.chunks == ((5, 5),)
        assert opened.X.dtype == opened.X.compute().dtype == np.float64

    def test_bad_stores(self, tmp_path, X):
        cases = {"line": X[0], "cube": X[None], "text": X.astype(complex), "none": X[:0]}
        for name, data in cases.items():
            array = zarr.create_array(
                tmp_path / f"{name}.zarr", shape=data.shape, dtype=data.dtype
            )
            array[...] = data
        words = {"line": "1 dimension", "cube": "3 dimension", "text": "real numbers"}
        for name, word in {**words, "none": "no rows", "absent": "no such Zarr store"}.items():
            with pytest.raises(MatrixError, match=rf"{name}\.zarr: .*{word}"):
                open_partitioned(tmp_path / f"{name}.zarr")

    def test_groups_that_do_not_fit(self, tmp_path, X):
        group = zarr.open_group(tmp_path / "a.zarr", mode="w")
        with pytest.raises(MatrixError, match='no array called "X"'):
            open_partitioned(tmp_path / "a.zarr")
        group.create_array("X", data=X)
        group.create_array("row_names", data=np.arange(4))
        with pytest.raises(MatrixError, match="row_names has the shape"):
            open_partitioned(tmp_path / "a.zarr")

    def test_not_a_store(self, tmp_path):
        (tmp_path / "a.zarr").mkdir()
        with pytest.raises(MatrixError, match="is not a Zarr store"):
            open_partitioned(tmp_path / "a.zarr")

    def test_infinite_values_say_where(self, tmp_path, X):
        X[7, 1] = np.inf
        zarr.create_array(tmp_path / "a.zarr", data=X, chunks=(5, 4))
        with pytest.raises(MatrixError, match="from row 6 to row 10: row 3, column 2 is infinite"):
            open_partitioned(tmp_path / "a.zarr").X.compute()


def test_brackets_in_the_name_of_an_existing_file_are_not_a_pattern(tmp_path):
    path = tmp_path / "counts[1].csv"
    assert is_partitioned(path)
    path.write_text("1,2\n")
    assert not is_partitioned(path)


def test_the_extra_is_named_if_dask_is_not_installed(tmp_path, monkeypatch):
    pattern = save(tmp_path, ".csv")
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r'pip install "pyrocco\[cluster\]"'):
        open_partitioned(pattern)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_matrix_in_memory_is_split_into_chunks(kind, monkeypatch):
    X = kind(np.diag(np.arange(1.0, 12.0)))
    split, names = split_rows(X, [f"r{i}" for i in range(11)], at_least=3)
    assert split.chunks == ((3, 4, 4), (11,))
    assert names.chunks == ((3, 4, 4),)
    pieces = [split.blocks[i].compute() for i in range(3)]
    assert all(type(piece) is type(X) for piece in pieces)
    stack = sparse.vstack(pieces).toarray() if sparse.issparse(X) else np.vstack(pieces)
    np.testing.assert_array_equal(stack, np.diag(np.arange(1.0, 12.0)))
    monkeypatch.setattr(partitioned, "_CHUNK_BYTES", 1)
    assert split_rows(X, [""] * 11)[0].numblocks == (11, 1)
