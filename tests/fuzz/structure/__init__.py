"""Mutations that know a format: the file stays readable in part, but its content is wrong."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .archives import edit_npz, edit_sparse_npz
from .arrays import edit_npy_file
from .containers import edit_model, edit_summary
from .excel import edit_excel
from .hdf5 import edit_h5ad
from .parts import edit_part
from .stores import edit_parquet, edit_zarr
from .text import edit_market, edit_names, edit_table, edit_text_file

_table = partial(edit_text_file, edit=edit_table)
_market = partial(edit_text_file, edit=edit_market)


def _edit_10x(path: Path, rng: random.Random) -> None:
    edit_text_file(path, rng, edit_market if path.suffix == ".mtx" else edit_names)


EDITS: dict[str, Callable[[Path, random.Random], None]] = {
    "csv": _table,
    "tsv": _table,
    "txt": _table,
    "csv.gz": _table,
    "npy": edit_npy_file,
    "npz": edit_npz,
    "sparse.npz": edit_sparse_npz,
    "mtx": _market,
    "mtx.gz": _market,
    "10x": _edit_10x,
    "parquet": edit_parquet,
    "h5ad": edit_h5ad,
    "xlsx": edit_excel,
    "zarr": edit_zarr,
    "parts.csv": edit_part,
    "parts.parquet": edit_part,
    "model": edit_model,
    "summary": edit_summary,
    "checkpoint": edit_model,
}
