"""Readers of text tables and Excel files: pyrocco's against pandas, pyarrow, polars and calamine.

python -m benchmarks.libraries.tables

Prints tables in Markdown. The first ones give the time until the values are a NumPy or SciPy
matrix and the CPU time of all threads, the least of five runs in which the readers take turns, and
the peak memory beyond that of the imported libraries, in a process of its own. The last one says
what each reader makes of difficult files. The other readers are told the delimiter, the decimal
sign, the comment lines, the encoding and the words for missing values, which pyrocco detects;
polars is also told the types. Libraries that are not installed are reported as such.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.speed.machine import describe
from pyrocco.io import MatrixError, read_matrix, text_tables
from pyrocco.io.cell_texts import MISSING
from pyrocco.io.sniff import detect_layout

REPEATS = 5


class Table(NamedTuple):
    """What a reader returns."""

    X: Any
    rows: tuple[str, ...]
    columns: tuple[str, ...]


# ---- readers: wide text tables with row names in the first column ----


def pyrocco_reader(path: Path) -> Table:
    matrix = read_matrix(path)
    return Table(matrix.X, matrix.row_names, matrix.column_names)


def pyrocco_with_arrow(path: Path) -> Table:
    with patch.object(text_tables, "LARGE", 0):  # for small files too
        return pyrocco_reader(path)


def pyrocco_without_arrow(path: Path) -> Table:
    with patch.object(text_tables, "LARGE", 1 << 60):
        return pyrocco_reader(path)


def pandas_reader(path: Path) -> Table:
    layout = detect_layout(path)
    frame = pd.read_csv(
        path,
        sep=layout.delimiter,
        decimal=layout.decimal,
        skiprows=layout.skip,
        encoding=layout.encoding,
        header=None if layout.columns.header is None else 0,
        index_col=0,
        na_values=list(MISSING),
        float_precision="round_trip",
    )
    return from_frame(frame)


def from_frame(frame: pd.DataFrame) -> Table:
    X = frame.to_numpy(dtype=float)
    return Table(X, tuple(map(str, frame.index)), tuple(map(str, frame.columns)))


def arrow_reader(path: Path) -> Table:
    from pyarrow import csv  # noqa: PLC0415

    layout = detect_layout(path)
    table = csv.read_csv(
        path,
        csv.ReadOptions(
            skip_rows=layout.skip,
            encoding=layout.encoding.removesuffix("-sig"),
            autogenerate_column_names=layout.columns.header is None,
        ),
        csv.ParseOptions(delimiter=layout.delimiter),
        csv.ConvertOptions(decimal_point=layout.decimal, null_values=list(MISSING)),
    )
    X = np.column_stack([column.cast("float64").to_numpy() for column in table.columns[1:]])
    rows = table.column(0).cast("string").to_pylist()
    return Table(X, tuple(map(str, rows)), tuple(table.column_names[1:]))


def polars_reader(path: Path) -> Table:
    import polars as pl  # noqa: PLC0415

    layout = detect_layout(path)
    frame = pl.read_csv(
        path,
        separator=layout.delimiter,
        decimal_comma=layout.decimal == ",",
        skip_lines=layout.skip,
        encoding=layout.encoding.removesuffix("-sig").replace("utf-8", "utf8"),
        has_header=layout.columns.header is not None,
        null_values=list(MISSING),
        schema_overrides=[pl.String, *[pl.Float64] * (layout.columns.width - 1)],
    )
    X = frame[:, 1:].cast(pl.Float64).to_numpy()
    return Table(X, tuple(map(str, frame[:, 0].to_list())), tuple(frame.columns[1:]))


# ---- readers: long text tables (row, column, value), as a sparse matrix ----


def to_sparse(i: Any, j: Any, values: Any) -> Any:
    return sparse.csr_array(sparse.coo_array((values, (i, j))))


def pandas_long(path: Path) -> Any:
    types = {"doc": "category", "word": "category", "count": float}
    frame = pd.read_csv(path, dtype=types)
    return to_sparse(frame["doc"].cat.codes, frame["word"].cat.codes, frame["count"].to_numpy())


def arrow_long(path: Path) -> Any:
    from pyarrow import csv  # noqa: PLC0415

    table = csv.read_csv(path)
    i, j = (
        table.column(name).combine_chunks().dictionary_encode().indices.to_numpy()
        for name in ("doc", "word")
    )
    return to_sparse(i, j, table.column("count").to_numpy().astype(float))


def polars_long(path: Path) -> Any:
    import polars as pl  # noqa: PLC0415

    frame = pl.read_csv(path)
    i, j = (frame[name].cast(pl.Categorical).to_physical().to_numpy() for name in ("doc", "word"))
    return to_sparse(i, j, frame["count"].to_numpy().astype(float))


# ---- readers: Excel ----


def openpyxl_reader(path: Path) -> Table:
    return from_frame(pd.read_excel(path, index_col=0, engine="openpyxl"))


def calamine_reader(path: Path) -> Table:
    return from_frame(pd.read_excel(path, index_col=0, engine="calamine"))


def polars_excel(path: Path) -> Table:
    import polars as pl  # noqa: PLC0415

    frame = pl.read_excel(path)
    X = frame[:, 1:].cast(pl.Float64).to_numpy()
    return Table(X, tuple(map(str, frame[:, 0].to_list())), tuple(frame.columns[1:]))


class Reader(NamedTuple):
    """A reader, and the packages that it needs."""

    read: Callable[[Path], Any]
    packages: tuple[str, ...] = ()


WIDE = {
    "pyrocco with pyarrow": Reader(pyrocco_with_arrow, ("pyarrow",)),
    "pyrocco without pyarrow": Reader(pyrocco_without_arrow),
    "pandas": Reader(pandas_reader),
    "pyarrow": Reader(arrow_reader, ("pyarrow",)),
    "polars": Reader(polars_reader, ("polars",)),
}
LONG = {
    "pyrocco with pyarrow": Reader(pyrocco_with_arrow, ("pyarrow",)),
    "pyrocco without pyarrow": Reader(pyrocco_without_arrow),
    "pandas": Reader(pandas_long),
    "pyarrow": Reader(arrow_long, ("pyarrow",)),
    "polars": Reader(polars_long, ("polars",)),
}
EXCEL = {
    "pyrocco (python-calamine)": Reader(pyrocco_reader, ("python_calamine",)),
    "pandas, openpyxl": Reader(openpyxl_reader, ("openpyxl",)),
    "pandas, calamine": Reader(calamine_reader, ("python_calamine",)),
    "polars, fastexcel": Reader(polars_excel, ("polars", "fastexcel")),
}
# File, how it is called, its readers.
JOBS = {
    "wide.csv": ("CSV, 2,000 x 2,000", WIDE),
    "long.csv": ("long CSV, 1,000,000 lines", LONG),
    "table.xlsx": ("Excel, 5,000 x 100", EXCEL),
}


def missing_packages(reader: Reader) -> list[str]:
    return [name for name in reader.packages if find_spec(name) is None]


# ---- time and memory ----


def write_files(folder: Path) -> None:
    rng = np.random.default_rng(0)
    save_frame(rng.normal(size=(2000, 2000))).to_csv(folder / "wide.csv")
    n = 1_000_000
    pd.DataFrame(
        {
            "doc": [f"d{i}" for i in rng.integers(0, 20_000, n)],
            "word": [f"w{i}" for i in rng.integers(0, 5_000, n)],
            "count": rng.integers(1, 9, n),
        }
    ).to_csv(folder / "long.csv", index=False)
    if find_spec("openpyxl"):
        save_frame(rng.normal(size=(5000, 100))).to_excel(folder / "table.xlsx")


def save_frame(X: Any) -> pd.DataFrame:
    rows, columns = (
        [f"{kind}{i}" for i in range(n)] for kind, n in zip("gs", X.shape, strict=True)
    )
    return pd.DataFrame(X, index=pd.Index(rows, name="gene"), columns=columns)


def memory(field: str) -> float:
    """Megabytes of this process: VmRSS, now, or VmHWM, at most."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def peak_memory(path: Path, name: str) -> float:
    """Megabytes that reading a file takes; a small one is read first, to have all imported."""
    reader = JOBS[path.name][1][name]
    reader.read(path.with_name(f"small-{path.name}"))
    before = memory("VmRSS")
    reader.read(path)
    return memory("VmHWM") - before


def peak_memory_elsewhere(path: Path, name: str) -> float:
    command = [sys.executable, "-m", "benchmarks.libraries.tables", str(path), name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def least_seconds(path: Path, readers: dict[str, Reader]) -> dict[str, tuple[float, float]]:
    """Least wall-clock and CPU time of every reader; they take turns on the same load."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in readers}
    for _ in range(REPEATS):
        for name, reader in readers.items():
            started = time.perf_counter(), time.process_time()
            reader.read(path)
            times[name].append(
                (time.perf_counter() - started[0], time.process_time() - started[1])
            )
    return {
        name: (min(wall for wall, _ in pairs), min(cpu for _, cpu in pairs))
        for name, pairs in times.items()
    }


def write_small(folder: Path) -> None:
    rng = np.random.default_rng(0)
    save_frame(rng.normal(size=(4, 3))).to_csv(folder / "small-wide.csv")
    text = "doc,word,count\nd1,w1,2\nd1,w2,1\nd2,w1,3\n"
    (folder / "small-long.csv").write_text(text, encoding="utf-8")
    if find_spec("openpyxl"):
        save_frame(rng.normal(size=(4, 3))).to_excel(folder / "small-table.xlsx")


def measure(path: Path) -> list[list[str]]:
    """Return the rows of a table: reader, time, memory."""
    readers = JOBS[path.name][1]
    if not path.exists():
        return [
            [name, "openpyxl, which writes the file, is not installed", ""] for name in readers
        ]
    absent = {name: missing_packages(reader) for name, reader in readers.items()}
    seconds = least_seconds(path, {name: readers[name] for name in readers if not absent[name]})
    return [
        [name, f"{' and '.join(absent[name])} not installed", "", ""]
        if absent[name]
        else [
            name,
            *(f"{value:.2f} s" for value in seconds[name]),
            f"{peak_memory_elsewhere(path, name):.0f} MB",
        ]
        for name in readers
    ]


# ---- difficult files ----

X = np.array([[1.5, -2.0], [0.0, 5e-3]])
GENES, NAMES = ("g1", "g2"), ("a", "b")
DIGITS = np.random.default_rng(0).normal(size=(200, 5)) * 10.0 ** np.arange(-3, 2)


class Case(NamedTuple):
    """A file, and either the table in it or words that the error must have."""

    text: str
    table: Table | None = None
    words: tuple[str, ...] = ()
    encoding: str = "utf-8"


CASES = {
    "decimal commas": Case("gene;a;b\ng1;1,5;-2\ng2;0;0,005\n", Table(X, GENES, NAMES)),
    "quoted names": Case(
        'gene,"a, 1","b ""x"""\n"g;1",1.5,-2\ng2,0,.005\n',
        Table(X, ("g;1", "g2"), ("a, 1", 'b "x"')),
    ),
    "comment lines": Case(
        "# by a program\n# v2, 3\ngene,a,b\ng1,1.5,-2\ng2,0,.005\n", Table(X, GENES, NAMES)
    ),
    "blanks around cells": Case(
        "gene, a, b\ng1, 1.5 , -2\ng2, 0, .005 \n", Table(X, GENES, NAMES)
    ),
    "duplicate names": Case(
        "gene,a,a\ng1,1.5,-2\ng1,0,.005\n", Table(X, ("g1", "g1"), ("a", "a"))
    ),
    "ids such as 007": Case("ID,a,b\n007,1.5,-2\n010,0,.005\n", Table(X, ("007", "010"), NAMES)),
    "a gene called NA": Case("gene,a,b\nNA,1.5,-2\ng2,0,.005\n", Table(X, ("NA", "g2"), NAMES)),
    "missing as ?, -, n/a": Case(
        "gene,a,b\ng1,?,-\ng2,n/a,1\n",
        Table(np.array([[np.nan, np.nan], [np.nan, 1]]), GENES, NAMES),
    ),
    "header of R": Case("a\tb\ng1\t1.5\t-2\ng2\t0\t.005\n", Table(X, GENES, NAMES)),
    "no header": Case("g1,1.5,-2\ng2,0,.005\n", Table(X, GENES, ("column_0", "column_1"))),
    "Windows encoding": Case(
        "gene,ä,b\ng1,1.5,-2\ng2,0,.005\n", Table(X, GENES, ("ä", "b")), encoding="cp1252"
    ),
    "UTF-16": Case("gene,a,b\ng1,1.5,-2\ng2,0,.005\n", Table(X, GENES, NAMES), encoding="utf-16"),
    "every digit": Case(
        save_frame(DIGITS).to_csv(),
        Table(DIGITS, tuple(f"g{i}" for i in range(200)), tuple(f"s{j}" for j in range(5))),
    ),
    "text among numbers": Case(
        "gene,a,b\n" + "g,1,2\n" * 100 + "bad,3,high\n", words=("line 102", '"b"', '"high"')
    ),
    "a line too short": Case("gene,a,b\n" + "g,1,2\n" * 100 + "bad,3\n", words=("line 102",)),
    "a line too long": Case("gene,a,b\n" + "g,1,2\n" * 100 + "bad,3,4,5\n", words=("line 102",)),
    "infinity": Case("gene,a,b\ng1,1,2\ng2,inf,4\n", words=("line 3", '"a"')),
}


def same(table: Table, other: Table) -> bool:
    return bool(
        table.X.shape == other.X.shape
        and np.array_equal(table.X, other.X, equal_nan=True)
        and table.rows == other.rows
        and (table.columns == other.columns or other.columns[0].startswith("column_"))
    )


def verdict(reader: Reader, case: Case, path: Path) -> str:
    path.write_bytes(case.text.encode(case.encoding))
    try:
        table = reader.read(path)
    except Exception as error:
        if case.table is not None:
            return "error" if not isinstance(error, MatrixError) else f"error: {error}"
        text = str(error)
        return "names the cell" if all(word in text for word in case.words) else "vague error"
    if case.table is None:
        return "accepted"
    if same(table, case.table):
        return "right"
    same_values = table.X.shape == case.table.X.shape and np.allclose(
        table.X, case.table.X, equal_nan=True
    )
    if same_values and table.rows == case.table.rows and table.columns == case.table.columns:
        return "last digits differ"
    return "other names" if same_values else "other values"


# ---- tables ----


def print_table(header: list[str], rows: list[list[str]]) -> None:
    for cells in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(cells) + " |")
    print(flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        write_small(folder)
        for file, (title, _) in JOBS.items():
            print_table([title, "time", "CPU time", "peak memory"], measure(folder / file))
        installed = {name: reader for name, reader in WIDE.items() if not missing_packages(reader)}
        rows = [
            [title, *(verdict(reader, case, folder / "case.csv") for reader in installed.values())]
            for title, case in CASES.items()
        ]
        print_table(["file", *installed], rows)
    print(describe())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(peak_memory(Path(sys.argv[1]), sys.argv[2]))
    else:
        main()
