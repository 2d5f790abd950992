"""What it costs to read a file in a process of its own: `read_isolated` against the same reader.

python -m benchmarks.libraries.isolated

Prints a table in Markdown: seconds, the least of five runs in which both take turns. The reader's
libraries are imported before, as they are in the second file of a session.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import mmwrite

from benchmarks.speed.machine import describe
from pyrocco.io.hdf5 import load_h5ad
from pyrocco.io.isolated import Parts, read_isolated
from pyrocco.io.market import load_market
from pyrocco.io.workbook import load_sheet

REPEATS = 5

Case = tuple[str, Callable[..., Parts], tuple[Any, ...], Path]


def write_files(folder: Path) -> list[Case]:
    rng = np.random.default_rng(0)
    small, large = (rng.normal(size=shape) for shape in ((100, 50), (20_000, 1000)))
    counts = sparse.random_array((20_000, 2000), density=0.05, format="csr", rng=rng)
    pd.DataFrame(small).to_excel(folder / "small.xlsx")
    pd.DataFrame(large[:5000, :100]).to_excel(folder / "large.xlsx")
    anndata.AnnData(small).write_h5ad(folder / "small.h5ad")
    anndata.AnnData(large).write_h5ad(folder / "large.h5ad")
    anndata.AnnData(sparse.csr_matrix(counts)).write_h5ad(folder / "counts.h5ad")
    mmwrite(folder / "small.mtx", sparse.coo_array(small))
    mmwrite(folder / "counts.mtx", counts)
    return [
        ("Excel, 100 x 50", load_sheet, (None,), folder / "small.xlsx"),
        ("Excel, 5,000 x 100", load_sheet, (None,), folder / "large.xlsx"),
        ("AnnData, 100 x 50", load_h5ad, (None, False), folder / "small.h5ad"),
        ("AnnData, 20,000 x 1000", load_h5ad, (None, False), folder / "large.h5ad"),
        ("AnnData, 20,000 x 2000, 5 % filled", load_h5ad, (None, False), folder / "counts.h5ad"),
        ("Matrix Market, 100 x 50", load_market, (), folder / "small.mtx"),
        ("Matrix Market, 20,000 x 2000, 5 % filled", load_market, (), folder / "counts.mtx"),
    ]


def seconds(read: Callable[..., Parts], *arguments: Any) -> float:
    started = time.perf_counter()
    read(*arguments)
    return time.perf_counter() - started


def main() -> None:
    print(f"{describe()}\n")
    print("| file | MB | in this process, s | in a process of its own, s | more, s |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, reader, options, path in write_files(Path(folder)):
            pairs = [
                (seconds(reader, path, *options), seconds(read_isolated, reader, path, *options))
                for _ in range(REPEATS)
            ]
            here, isolated = (min(times) for times in zip(*pairs, strict=True))
            size = path.stat().st_size / 1e6
            cells = f"{size:.2f} | {here:.3f} | {isolated:.3f} | {isolated - here:.2f}"
            print(f"| {name} | {cells} |")


if __name__ == "__main__":
    main()
