"""Edits of Zarr stores and Parquet files."""

import json
import os
import random
import shutil
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from tests.fuzz.mutations import INTEGERS, damage, truncate

from .json_text import edit_json

_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zattrs")
_SPECIAL = {
    "shape": (
        [24],
        [-1, 15],
        [0, 0],
        [2**40, 2**40],
        [10**6, 15],
        "x",
        [24, 15, 1],
        [24.5, 15],
        [],
    ),
    "chunks": ([0, 0], [9], [-9, 15], [2**40, 15], "x", [1, 1], None),
    "dtype": ("<f99", "|O", "<U5", "<c16", "|V8", 7, None, "|b1", "<M8[s]", "<i8", "<f4", ">f8"),
    "data_type": ("float99", "string", "complex128", 7, None, "bool", "int64", "float32", "r64"),
    "fill_value": ("NaN", None, "x", 1e400, [], {}, "Infinity", True),
    "order": ("F", "X", None, 7),
    "compressor": ({"id": "unknown"}, {"id": "zlib"}, {}, 7, None, {"id": "blosc", "cname": "x"}),
    "filters": ([{"id": "unknown"}], "x", [{}], [{"id": "delta", "dtype": "<f8"}]),
    "zarr_format": (1, 2, 3, 99, "3", None),
    "node_type": ("group", "array", "x", None),
    "codecs": (
        *([], [{"name": "unknown"}], [{"name": "bytes"}, {"name": "gzip"}], "x", None, [7]),
        *([{"name": "zstd"}], [{"name": "transpose", "configuration": {"order": [1, 0]}}]),
    ),
    "chunk_grid": (
        *({}, {"name": "x"}, {"name": "regular", "configuration": {"chunk_shape": [0, 0]}}),
        *({"name": "regular", "configuration": {"chunk_shape": [2**40, 15]}}, None, 7),
    ),
    "chunk_key_encoding": ({"name": "v2"}, {"name": "x"}, None),
    "dimension_separator": ("/", "x", 7, None),
    "attributes": (7, None, "x", []),
}


def edit_zarr(path: Path, rng: random.Random) -> None:
    """Change metadata or chunks of a store."""
    root = next(parent for parent in path.parents if parent.suffix == ".zarr")
    files = sorted(file for file in root.rglob("*") if file.is_file())
    metadata = [file for file in files if file.name in _METADATA]
    chunks = [file for file in files if file.name not in _METADATA]
    if rng.random() < 0.6:
        _edit_metadata(rng.choice(metadata), rng)
    else:
        _edit_chunk(rng.choice(chunks), rng)


def _edit_metadata(path: Path, rng: random.Random) -> None:
    content = json.loads(path.read_bytes())
    known = sorted(_SPECIAL.keys() & content.keys())
    choice = rng.random()
    if known and choice < 0.55:
        key = rng.choice(known)
        path.write_text(json.dumps({**content, key: rng.choice(_SPECIAL[key])}))
    elif choice < 0.9:
        path.write_bytes(edit_json(path.read_bytes(), rng))
    else:
        path.unlink()


def _edit_chunk(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    choice = rng.randrange(6)
    if choice < 2:
        path.write_bytes((damage, truncate)[choice](data, rng))
        return
    path.unlink()
    if choice == 2:
        path.mkdir()
    elif choice == 3:
        path.symlink_to(path.name)
    elif choice == 4:
        path.write_bytes(b"")
    elif rng.random() < 0.3:
        shutil.rmtree(path.parent)
    elif rng.random() < 0.3:
        os.mkfifo(path)


def edit_parquet(path: Path, rng: random.Random) -> None:
    """Change the footer, the pages, the schema or the metadata of a Parquet file."""
    data, choice = path.read_bytes(), rng.random()
    (size,) = struct.unpack("<I", data[-8:-4])
    start = len(data) - 8 - size
    if choice < 0.1:
        wrong = rng.choice((0, 1, size - 1, size + 1, len(data), *INTEGERS)) % 2**32
        path.write_bytes(data[:-8] + struct.pack("<I", wrong) + data[-4:])
    elif choice < 0.35:
        footer = data[start:-8]
        edited = damage(footer, rng)
        path.write_bytes(data[:start] + edited + struct.pack("<I", len(edited)) + b"PAR1")
    elif choice < 0.55:
        path.write_bytes(b"PAR1" + damage(data[4:start], rng)[: start - 4] + data[start:])
    elif choice < 0.7:
        _edit_pandas(path, rng)
    else:
        table = pa.parquet.read_table(path)
        pa.parquet.write_table(rng.choice(_TABLE_EDITS)(table, rng), path)


def _edit_pandas(path: Path, rng: random.Random) -> None:
    """Change what pandas wrote about the index and the columns."""
    table = pa.parquet.read_table(path)
    about = edit_json(table.schema.metadata[b"pandas"], rng)
    pa.parquet.write_table(table.replace_schema_metadata({b"pandas": about}), path)


def _set_column(table: pa.Table, rng: random.Random) -> pa.Table:
    """Replace a column by one of another type."""
    n = table.num_rows
    columns = (
        pa.array([[1.0]] * n),
        pa.array([{"a": 1}] * n),
        pa.nulls(n),
        pa.array(["x"] * n),
        pa.array(["\x1b[31m"] * n),
        pa.array([b"\xff"] * n),
        pa.array([True] * n),
        pa.array([2**63 - 1] * n),
        pa.array([float("nan")] * n),
        pa.array([float("inf")] * n),
        pa.array([1e308, -1e308] * n)[:n],
        pa.array([7] * n).cast(pa.timestamp("s")),
        pa.array([7] * n).cast(pa.date32()) if n == 0 else pa.array([7] * n, pa.int32()),
        pa.array(["7"] * n).cast(pa.decimal128(5, 2)),
        pa.array(["a"] * n).dictionary_encode(),
        pa.array([1.0] * n).cast(pa.float16()),
        pa.array([None, 1.0] * n)[:n],
    )
    place = rng.randrange(table.num_columns)
    return table.set_column(place, table.column_names[place], rng.choice(columns))


def _rename(table: pa.Table, rng: random.Random) -> pa.Table:
    names = table.column_names
    new = ("", "\x1b[31m", names[0], "a\nb", "é" * 999, "\0", "a.b", "0", "__index_level_0__")
    chosen = rng.choice(new)
    place = rng.randrange(len(names))
    every = rng.random() < 0.3
    return table.rename_columns(
        [chosen if every or i == place else n for i, n in enumerate(names)]
    )


def _reshape(table: pa.Table, rng: random.Random) -> pa.Table:
    """Fewer or more rows or columns."""
    wide = pa.table({f"c{i}": np.zeros(3) for i in range(3000)})
    return rng.choice(
        (
            table.slice(0, 0),
            table.slice(0, 1),
            table.select([]),
            table.select([0]),
            table.select(table.column_names[:2]),
            pa.concat_tables([table] * 50),
            table.replace_schema_metadata(None),
            wide,
        )
    )


_TABLE_EDITS = (_set_column, _set_column, _rename, _reshape)
