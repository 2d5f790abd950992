"""Edits of NumPy arrays and of .npy files."""

import io
import random
import struct
from pathlib import Path

import numpy as np

from tests.fuzz.mutations import damage
from tests.fuzz.seeds import array_bytes

_SHAPES = (
    "(24, 15, 1)",
    "(360,)",
    "()",
    "(0, 15)",
    "(24, 0)",
    "(24, 14)",
    "(25, 15)",
    "(-1, 15)",
    "(24.0, 15)",
    "(24, 15L)",
    "('24', 15)",
    "(True, 15)",
    "[24, 15]",
    "None",
    "(1000000000, 1000000000)",
    "(4294967296, 4294967296)",
    "(9223372036854775807, 2)",
    "(200000, 30000)",
    "(" + "1, " * 70 + ")",
)
_TYPES = (
    *("'|O'", "'<f2'", "'<f4'", "'>f8'", "'<f99'", "'<c16'", "'|b1'", "'<U3'", "'|S8'", "'|V8'"),
    *("'<M8[s]'", "'<m8[D]'", "'<i8'", "'<u8'", "'<f16'", "''", "'x' * 9", "None", "8", "'<U0'"),
    *("[('a', '<f4'), ('b', '<f4')]", "[('a', '<f8', (2,))]", "('<f8', (3,))", "'\\x1b[31m'"),
)
_HEADERS = (
    "{}",
    "{'descr': '<f8', 'shape': (24, 15)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (24, 15), 'more': 1}",
    "{'descr': '<f8', 'fortran_order': 7, 'shape': (24, 15)}",
    "{'descr': '<f8', 'fortran_order': None, 'shape': (24, 15)",
    "__import__('os').abort()",
    "(" * 5000,
    "[" * 200,
    "24",
    "'\x1b[2J'",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (24, 15)}" + " " * 20_000,
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2" + "0" * 9000 + ", 15)}",
    "{b'descr': '<f8', 'fortran_order': False, 'shape': (24, 15)}",
    "\0\0\0",
)


def edit_npy(data: bytes, rng: random.Random) -> bytes:
    """Change the header or the values of a .npy file."""
    choice = rng.random()
    if choice < 0.25:
        return array_bytes(edit_array(np.load(io.BytesIO(data)), rng))
    header, values = _split(data)
    if choice < 0.45:
        header = _set(header, "shape", rng.choice(_SHAPES))
    elif choice < 0.65:
        header = _set(header, "descr", rng.choice(_TYPES))
    elif choice < 0.8:
        header = rng.choice(_HEADERS).encode()
    elif choice < 0.9:
        header = damage(header, rng)
    else:
        return _frame(header, values, rng)
    return (
        b"\x93NUMPY\1\0" + struct.pack("<H", min(len(header) + 1, 65535)) + header + b"\n" + values
    )


def edit_npy_file(path: Path, rng: random.Random) -> None:
    path.write_bytes(edit_npy(path.read_bytes(), rng))


def _split(data: bytes) -> tuple[bytes, bytes]:
    size = 10 + struct.unpack("<H", data[8:10])[0]
    return data[10:size].strip(), data[size:]


def _set(header: bytes, key: str, value: str) -> bytes:
    """Replace one entry of the dict in a header, by its text."""
    entries = eval(header.decode())
    texts = {name: repr(entry) for name, entry in entries.items()} | {key: value}
    return ("{" + ", ".join(f"'{name}': {text}" for name, text in texts.items()) + "}").encode()


def _frame(header: bytes, values: bytes, rng: random.Random) -> bytes:
    """A header of another version or with a wrong length."""
    version, size = rng.choice(((9, 9), (2, 0), (3, 0), (0, 0), (1, 0))), len(header) + 1
    size = rng.choice((0, 1, size - 3, size + 5, 65535, 2**31, 2**32 - 1))
    packed = struct.pack("<I", size) if version[0] in (2, 3) else struct.pack("<H", size % 65536)
    return b"\x93NUMPY" + bytes(version) + packed + header + b"\n" + values


def edit_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Change values, type or shape of an array."""
    edit = rng.choice((_change_values, _change_values, _change_type, _change_shape))
    with np.errstate(all="ignore"):
        return edit(array, rng)


def _change_values(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Put numbers where they do not belong: indices out of range, NaN, very large ones."""
    changed = np.array(array)
    if not changed.size or changed.dtype.kind not in "iufb":
        return changed
    whole = (-1, -(2**31), 2**31 - 1, 2**31, 2**62, 10**6, 0, 1, changed.size)
    real = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 0.0, 0.5, -1.0)
    if changed.dtype.kind in "iub":
        limits = np.iinfo(changed.dtype) if changed.dtype.kind != "b" else np.iinfo(np.int8)
        value = min(max(rng.choice(whole), int(limits.min)), int(limits.max))
    else:
        value = rng.choice(real)
    places = [rng.randrange(changed.size) for _ in range(rng.choice((1, 1, 3)))]
    changed.flat[slice(None) if rng.random() < 0.25 else places] = value
    return np.flip(changed) if rng.random() < 0.1 else changed


def _change_type(array: np.ndarray, rng: random.Random) -> np.ndarray:
    names = ("f2", "f4", "f8", "c16", "i1", "i4", "u8", "?", "U5", "S5", ">i4", "M8[s]", "V8")
    try:
        return array.astype(rng.choice(names))
    except (TypeError, ValueError):
        return array.astype("U5")


def _change_shape(array: np.ndarray, rng: random.Random) -> np.ndarray:
    array = np.atleast_1d(array)
    flat = array.reshape(-1)
    shapes = (
        array.T,
        flat,
        flat[:-1],
        flat[: flat.size // 2],
        np.concatenate([flat, flat[:1]]),
        np.concatenate([flat, flat]),
        flat[:, None],
        array[None],
        flat[:0],
        array[:0],
        flat[:1].reshape(()) if flat.size else flat,
        array[:-1],
        array[..., :-1],
    )
    return rng.choice(shapes)
