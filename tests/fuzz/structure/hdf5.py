"""Edits of .h5ad files, through h5py and in their bytes."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from tests.fuzz.mutations import INTEGERS

from .arrays import edit_array

_MATRICES = ("X", "layers/scaled", "raw/X")
_ENCODINGS = (
    *("array", "csr_matrix", "csc_matrix", "dataframe", "dict", "string-array", "categorical"),
    *(
        "null",
        "awkward-array",
        "nullable-integer",
        "rec-array",
        "string",
        "",
        "unknown",
        "anndata",
    ),
    *("\x1b[31m", "numeric-scalar", "raw"),
)
_SHAPES = (
    *([24, 15], [15, 24], [24, 16], [-1, 15], [0, 0], [24], [24, 15, 1], [2**40, 2**40]),
    *([2**62, 2], [24.5, 15.0], ["24", "15"], 24, "x", [10**9, 15], [24, 2**31]),
)
_SIGNATURES = (b"\x89HDF", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"OHDR", b"FRHP", b"BTHD")


def edit_h5ad(path: Path, rng: random.Random) -> None:
    """Change attributes, datasets, groups, links or bytes of the structure."""
    if rng.random() < 0.2:
        path.write_bytes(_edit_bytes(path.read_bytes(), rng))
        return
    with h5py.File(path, "r+") as file:
        rng.choice(_EDITS)(file, rng)


def _edit_bytes(data: bytes, rng: random.Random) -> bytes:
    """Change bytes of the superblock, of B-trees and of heaps."""
    changed = bytearray(data)
    starts = [i for s in _SIGNATURES for i in _places(data, s)]
    for _ in range(rng.choice((1, 2, 4))):
        place = min(rng.choice(starts) + rng.randrange(40), len(data) - 8)
        if rng.random() < 0.5:
            changed[place] ^= 1 << rng.randrange(8)
        else:
            size = rng.choice((1, 2, 4, 8))
            changed[place : place + size] = (rng.choice(INTEGERS) % 256**size).to_bytes(
                size, "little"
            )
    return bytes(changed)


def _places(data: bytes, signature: bytes) -> list[int]:
    return [i for i in range(len(data)) if data.startswith(signature, i)]


def _objects(file: h5py.File) -> list[str]:
    names: list[str] = []
    file.visit(names.append)
    return sorted(names)


def _matrix(file: h5py.File, rng: random.Random) -> str:
    return rng.choice([name for name in _MATRICES if name in file])


def _replace(file: h5py.File, name: str, data: object) -> None:
    """Replace a dataset or a group by a dataset with the same attributes."""
    attributes = dict(file[name].attrs)
    del file[name]
    made = file.create_dataset(name, data=data)
    for key, value in attributes.items():
        made.attrs[key] = value


def _delete(file: h5py.File, rng: random.Random) -> None:
    del file[rng.choice(_objects(file))]


def _delete_attribute(file: h5py.File, rng: random.Random) -> None:
    owner = file[rng.choice([name for name in _objects(file) if len(file[name].attrs)])]
    del owner.attrs[rng.choice(sorted(owner.attrs))]


def _wrong_attribute(file: h5py.File, rng: random.Random) -> None:
    owner = file[rng.choice([name for name in _objects(file) if len(file[name].attrs)])]
    values = (7, -1, 0.5, "", "x", "\x1b[31m", b"\xff", [1, 2], np.zeros((2, 2)), ["a", "b"])
    values += (h5py.Empty("f"), np.array([], dtype="f8"), file.ref, True, 2**63, "../X", "/obs")
    owner.attrs[rng.choice(sorted(owner.attrs))] = rng.choice(values)


def _encoding(file: h5py.File, rng: random.Random) -> None:
    owner = file[rng.choice([*_MATRICES, "obs", "var", *_objects(file)])]
    owner.attrs["encoding-type"] = rng.choice(_ENCODINGS)
    if rng.random() < 0.3:
        owner.attrs["encoding-version"] = rng.choice(("0.0.0", "9.9.9", "", "x", 7))


def _shape_attribute(file: h5py.File, rng: random.Random) -> None:
    name = _matrix(file, rng)
    value = rng.choice(_SHAPES)
    file[name].attrs["shape"] = value


def _sparse_part(file: h5py.File, rng: random.Random) -> None:
    """Change the indices, pointers or values of a sparse matrix, or a dense one."""
    name = _matrix(file, rng)
    if isinstance(file[name], h5py.Group):
        name = f"{name}/{rng.choice(('data', 'indices', 'indptr', 'indices', 'indptr'))}"
    edited = edit_array(file[name][()], rng)
    if edited.dtype.kind in "UMmV":  # which HDF5 does not have
        edited = np.full(edited.shape, b"x")
    _replace(file, name, edited)


def _any_dataset(file: h5py.File, rng: random.Random) -> None:
    names = [name for name in _objects(file) if isinstance(file[name], h5py.Dataset)]
    name = rng.choice(names)
    values = (
        7,
        "x",
        b"\xff\xfe",
        [1, 2, 3],
        np.zeros((24, 15, 2)),
        np.zeros((0, 0)),
        [b"a", b"b"],
    )
    values += (np.zeros((24, 15), complex), np.zeros(3, [("a", "f4"), ("b", "i8")]), True)
    values += (["\x1b[31m"] * 24, ["x"] * 15, ["x"] * 24, [b"\xff"] * 24, h5py.Empty("f8"))
    _replace(file, name, rng.choice(values))


def _dataset_to_group(file: h5py.File, rng: random.Random) -> None:
    name = rng.choice(_objects(file))
    if isinstance(file[name], h5py.Group):
        _replace(file, name, rng.choice((7, "x", [1.0, 2.0], np.zeros((24, 15)))))
        return
    attributes = dict(file[name].attrs)
    del file[name]
    for key, value in attributes.items():
        file.require_group(name).attrs[key] = value
    file.require_group(name)


def _loop(file: h5py.File, rng: random.Random) -> None:
    """Links that lead to themselves or to a folder above."""
    name = rng.choice([*_MATRICES, "obs", "var", *_objects(file)])
    del file[name]
    choice = rng.random()
    if choice < 0.4:
        file[name] = h5py.SoftLink(f"/{name}")
    elif choice < 0.7:
        file["there"], file[name] = h5py.SoftLink(f"/{name}"), h5py.SoftLink("/there")
    elif choice < 0.85:
        file[name] = file["/"]
    else:
        file[name] = h5py.SoftLink("/nowhere")


def _external(file: h5py.File, rng: random.Random) -> None:
    """Links to other files, which may not be there or may not be files."""
    name = rng.choice([*_MATRICES, "obs", "var", "obs/_index"])
    del file[name]
    targets = ("other.h5ad", "mine.txt", "/dev/zero", "/etc/passwd", "data.h5ad", ".", "pipe")
    target = rng.choice(targets)
    if target == "pipe":
        os.mkfifo(Path(file.filename).with_name("pipe"))
    if target == "other.h5ad":
        with h5py.File(Path(file.filename).with_name(target), "w") as other:
            other["X"] = np.ones((24, 15))
    file[name] = h5py.ExternalLink(target, rng.choice(("/X", f"/{name}", "/")))


def _huge(file: h5py.File, rng: random.Random) -> None:
    """A dataset that claims to be very large, of which nothing is stored."""
    name = _matrix(file, rng)
    is_sparse = isinstance(file[name], h5py.Group)
    name = f"{name}/{rng.choice(('data', 'indices', 'indptr'))}" if is_sparse else name
    shapes = ((2**40,), (2**31,)) if is_sparse else ((10**6, 10**6), (2**31, 15), (24, 2**33))
    dtype = file[name].dtype
    attributes = dict(file[name].attrs)
    del file[name]
    shape = rng.choice(shapes)
    chunks = (1024,) if is_sparse else (16, 15)
    made = file.create_dataset(name, shape, dtype=dtype, chunks=chunks, compression="gzip")
    for key, value in attributes.items():
        made.attrs[key] = value


def _virtual(file: h5py.File, rng: random.Random) -> None:
    """A dataset whose values are in a file that is not there."""
    layout = h5py.VirtualLayout((24, 15), "f8")
    layout[:] = h5py.VirtualSource("not-there.h5", "X", (24, 15))
    name = _matrix(file, rng)
    del file[name]
    file.create_virtual_dataset(name, layout)
    file[name].attrs["encoding-type"], file[name].attrs["encoding-version"] = "array", "0.2.0"


def _index(file: h5py.File, rng: random.Random) -> None:
    """The names of observations or variables: another column, or another number of them."""
    table = file[rng.choice(("obs", "var", "raw/var"))]
    if rng.random() < 0.5:
        values = ("batch", "missing", "", "/", "..", "/X", 7, b"\xff", "batch/codes")
        table.attrs["_index"] = rng.choice(values)
        return
    names = table["_index"][()]
    text = h5py.string_dtype()
    changed = (names[:-1], [*names, b"x"], [b"\x1b[31m"] * len(names), [b"\xff"] * len(names))
    changed += (range(len(names)), [b""] * len(names))
    chosen = rng.choice(changed)
    attributes = dict(table["_index"].attrs)
    del table["_index"]
    dtype = None if isinstance(chosen, range) else text
    made = table.create_dataset("_index", data=list(chosen), dtype=dtype)
    for key, value in attributes.items():
        made.attrs[key] = value


_EDITS: tuple[Callable[[h5py.File, random.Random], None], ...] = (
    _delete,
    _delete_attribute,
    _wrong_attribute,
    _encoding,
    _shape_attribute,
    _sparse_part,
    _sparse_part,
    _any_dataset,
    _dataset_to_group,
    _loop,
    _external,
    _huge,
    _virtual,
    _index,
)
