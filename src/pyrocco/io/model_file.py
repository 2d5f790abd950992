"""Model files: a zip archive of one JSON text and NumPy arrays, without pickle.

Arrays are compressed where that makes them much smaller, such as labels and counts.

A reader must expect any bytes. Whatever a file holds, reading it gives the values that were
written or a `ModelFileError`; it takes no more memory than the size of the file suggests.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense
from pyrocco.io.errors import ModelFileError, OutputError
from pyrocco.io.unfinished import replacing, write_errors

__all__ = ["FORMAT_VERSION", "Record", "array_from_bytes", "read_model_file", "write_model_file"]

# Increased when earlier versions of pyrocco could not read the files of this one.
FORMAT_VERSION = 2
_FORMAT = "pyrocco model"
_TEXT = "model.json"
# A fixed date, so that the same model gives the same bytes.
_DATE = (2020, 1, 1, 0, 0, 0)
# The text may be this many times as long as when it is compressed, or have this many bytes.
_MOST_COMPRESSED, _ALWAYS_ALLOWED = 20, 1 << 20
# Compressed arrays may together be this many times as large as the file, or have this many bytes.
_MOST_EXPANDED, _ALWAYS_EXPANDED = 40, 16 << 20
# An array is compressed if samples of its bytes shrink to less than this share.
_WORTHWHILE, _SAMPLES, _SAMPLE_BYTES = 0.8, 8, 1 << 16
# Values may be nested this deeply, and the JSON text that describes them.
_DEEPEST_VALUE, _DEEPEST_TEXT = 40, 150
# The hash of a larger integer may equal that of others; a dict of such keys would be slow.
_LARGEST_KEY = 2**60
_NOT_FINITE = ("nan", "inf", "-inf")
# The start of an npy file of version 1.0, and its header as NumPy writes it. NumPy's own reader
# evaluates it as an expression of Python, which may be any.
_MAGIC = b"\x93NUMPY\1\0"
_HEADER = re.compile(
    rb"\{'descr': '(?P<type>[<>|=][biufcmMSU]\d{1,9}(\[\w{1,9}\])?)', "
    rb"'fortran_order': (?P<by_column>True|False), "
    rb"'shape': \((?P<shape>(\d{1,18}(, \d{1,18}){0,31},?)?)\), \} *\n"
)
# What zipfile, zlib, json and NumPy raise if the bytes are wrong.
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Record:
    """An object, as the name of its class and its fields."""

    name: str
    parts: dict[str, Any]


def write_model_file(
    path: str | os.PathLike[str], content: dict[str, Any], compress: bool = True
) -> None:
    """Write nested dicts, lists, numbers, texts, arrays and records.

    An existing file is replaced when the new one is complete. With `compress`, arrays are
    compressed where that pays, which takes longer.

    Raises
    ------
    ModelFileError
        If a value cannot be stored.
    OutputError
        If the file cannot be written.
    """
    packed = _Packer()
    content = {key: packed.pack(value, key) for key, value in content.items()}
    path = Path(path)
    if path.is_dir():
        raise OutputError(f"{path}: is a folder: give the name of a file")
    with write_errors(path), replacing(path) as unfinished:
        expanded = _write(unfinished, content, packed.arrays, compress)
        if expanded > _most_expanded(unfinished.stat().st_size):
            # A reader would doubt it.
            _write(unfinished, content, packed.arrays, compress=False)


def _write(
    path: Path, content: dict[str, Any], arrays: Mapping[str, Dense], compress: bool
) -> int:
    """Write packed content, and return the size of the arrays that were compressed."""
    hashes, expanded = {}, 0
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            data = _array_bytes(array)
            hashes[name] = _hash(data)
            shrinks = compress and _shrinks(data)
            _add(archive, name, data, zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED)
            expanded += len(data) if shrinks else 0
        text = {
            "format": _FORMAT,
            "format_version": FORMAT_VERSION,
            "sha256": _digest(content, hashes),
            "content": content,
        }
        data = json.dumps(text, indent=1).encode()
        _add(archive, _TEXT, data, _text_method(data))
    return expanded


def _shrinks(data: bytes) -> bool:
    """Whether it pays to compress some bytes, judged by samples of them."""
    starts = np.linspace(0, max(len(data) - _SAMPLE_BYTES, 0), _SAMPLES).astype(int)
    samples = [data[start : start + _SAMPLE_BYTES] for start in np.unique(starts)]
    small = sum(len(zlib.compress(sample, 1)) for sample in samples)
    return small < _WORTHWHILE * sum(map(len, samples))


def _most_expanded(size: int) -> int:
    """How large the compressed arrays of a file of this size may be."""
    return max(_ALWAYS_EXPANDED, _MOST_EXPANDED * size)


def read_model_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_model_file` wrote.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or was written by a newer version.
    OSError
        If there is no such file or it cannot be read.
    """
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):
        raise ModelFileError(f"{path}: is not a regular file")
    with path.open("rb") as file, _damage_reported(path), _opened(file, path) as archive:
        members = _Members(archive, os.fstat(file.fileno()).st_size)
        text = _checked_text(members, path)
        content = {key: _unpack(part, members) for key, part in text["content"].items()}
        # Files of version 0.1.0 have no digest: their content is refused later, by version.
        if "sha256" in text and text["sha256"] != _digest(text["content"], members.hashes):
            raise ValueError("the checksum does not match")
        return content


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Convert all errors that wrong bytes may lead to in this block to a `ModelFileError`."""
    try:
        yield
    except ModelFileError:
        raise
    except OSError as error:
        # A position before the start of the file is an invalid argument.
        if error.errno not in (None, errno.EINVAL):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise ModelFileError(_damaged(path)) from error
    except _DAMAGE as error:
        raise ModelFileError(_damaged(path)) from error


@contextmanager
def _opened(file: BinaryIO, path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGE as error:
        file.seek(0)
        if file.read(2) == b"PK":
            message = f"{path}: is damaged or cut off: save or copy the model again"
            raise ModelFileError(message) from error
        raise ModelFileError(_no_model(path)) from error
    with archive:
        yield archive


def _checked_text(members: _Members, path: Path) -> dict[str, Any]:
    if _TEXT not in members.archive.namelist():
        raise ModelFileError(_no_model(path))
    text = json.loads(members.text())
    if not isinstance(text, dict) or text.get("format") != _FORMAT:
        raise ModelFileError(_no_model(path))
    version = text["format_version"]
    if type(version) is not int or not 1 <= version < 1_000_000:
        raise ValueError("no version")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: was written by a newer pyrocco (format {version}; this one "
            f"reads up to {FORMAT_VERSION}): pip install --upgrade pyrocco"
        )
    return text


def _no_model(path: Path) -> str:
    return (
        f"{path}: is not a model file of pyrocco; pyrocco fit writes one as model.pyrocco, "
        "and so does the save method of a model"
    )


def _damaged(path: Path) -> str:
    return f"{path}: is damaged: save or copy the model again"


@dataclass
class _Members:
    """The members of an archive, which are read only if their sizes are plausible."""

    archive: zipfile.ZipFile
    size: int  # of the file
    hashes: dict[str, str] = field(default_factory=dict)  # of the arrays read so far
    expanded: int = 0  # size of the compressed arrays read so far

    def __post_init__(self) -> None:
        if sum(info.compress_size for info in self.archive.infolist()) > self.size:
            raise ValueError("members overlap")

    def text(self) -> bytes:
        """Return the JSON text."""
        info = self.archive.getinfo(_TEXT)
        limit = max(_ALWAYS_ALLOWED, self.size, _MOST_COMPRESSED * info.compress_size)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("the text is compressed by another method")
        if info.file_size > limit:
            raise ValueError("the text is too long")
        return self._read(info)

    def array(self, name: object) -> Dense:
        """Return an array, which may be asked for once, since every one is written once."""
        if not isinstance(name, str) or name in self.hashes:
            raise ValueError("no name of an array")
        info = self.archive.getinfo(name)
        self._check_array(info)
        data = self._read(info)
        self.hashes[name] = _hash(data)
        return array_from_bytes(data)

    def _check_array(self, info: zipfile.ZipInfo) -> None:
        if info.compress_type == zipfile.ZIP_DEFLATED:
            self.expanded += info.file_size
            if self.expanded > _most_expanded(self.size):
                raise ValueError("the arrays are too large")
        elif info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError("arrays are compressed by another method")

    def _read(self, info: zipfile.ZipInfo) -> bytes:
        with self.archive.open(info) as file:
            # Without a number of bytes, all that was compressed would be expanded first.
            return file.read(info.file_size)


def array_from_bytes(data: bytes) -> Dense:
    """Return the array of an npy file, or raise a ValueError or a TypeError.

    The sizes in its header must agree with the number of bytes, so that no header can ask for
    more memory than the file has.
    """
    start = len(_MAGIC) + 2
    start += int.from_bytes(data[len(_MAGIC) : start], "little")
    header = _HEADER.fullmatch(data[len(_MAGIC) + 2 : start])
    if not data.startswith(_MAGIC) or header is None:
        raise ValueError("no header of npy")
    dtype = np.dtype(header["type"].decode())
    shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
    if not dtype.itemsize or math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError("the header does not fit the data")
    values = np.frombuffer(data, dtype, offset=start)
    # A copy that can be written to, in the byte order of this machine.
    order: Literal["F", "C"] = "F" if header["by_column"] == b"True" else "C"
    return values.astype(dtype.newbyteorder("=")).reshape(shape, order=order)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest(content: object, hashes: Mapping[str, str]) -> str:
    """Return the digest of the packed content and its arrays."""
    return _hash(json.dumps([content, sorted(hashes.items())]).encode())


def _text_method(data: bytes) -> int:
    """Compress the text, unless it would become so short that a reader must doubt it."""
    is_usual = len(data) <= _MOST_COMPRESSED * len(zlib.compress(data))
    return zipfile.ZIP_DEFLATED if is_usual else zipfile.ZIP_STORED


def _add(archive: zipfile.ZipFile, name: str, data: bytes, method: int) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = method
    archive.writestr(info, data)


def _array_bytes(array: Dense) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


@dataclass
class _Packer:
    """Converts values to JSON and collects the arrays among them."""

    arrays: dict[str, Dense] = field(default_factory=dict)

    def pack(self, value: object, place: str, depth: int = 0) -> Any:
        """Convert a value; what JSON cannot hold becomes a dict with one key, such as $tuple."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, place)
        if sparse.issparse(value):
            return self._sparse(value, place)
        if depth > _DEEPEST_VALUE:
            raise ModelFileError(f"{place} is nested too deeply for a model file")
        return self._nested(value, place, depth + 1)

    def _nested(self, value: object, place: str, depth: int) -> Any:
        if isinstance(value, Record):
            return {"$record": [value.name, self.pack(value.parts, place, depth)]}
        if isinstance(value, dict):
            return self._dict(value, place, depth)
        if type(value) is tuple:  # a named tuple would lose its names
            return {"$tuple": [self.pack(part, place, depth) for part in value]}
        if isinstance(value, list):
            return [self.pack(part, place, depth) for part in value]
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise ModelFileError(
            f"{place} holds a {kind}, which a model file cannot hold: pickle the model instead"
        )

    def _dict(self, value: dict[Any, Any], place: str, depth: int) -> Any:
        if all(isinstance(key, str) and key[:1] != "$" for key in value):
            return {key: self.pack(part, place, depth) for key, part in value.items()}
        items = [[self.pack(part, place, depth) for part in item] for item in value.items()]
        return {"$dict": items}

    def _array(self, array: Dense, place: str) -> Any:
        if array.dtype.kind == "O":
            if all(isinstance(entry, str) for entry in array.flat) and array.ndim == 1:
                return {"$names": array.tolist()}
            raise ModelFileError(f"{place} is an array of objects other than texts")
        name = f"arrays/{len(self.arrays)}.npy"
        self.arrays[name] = array
        return {"$array": name}

    def _sparse(self, matrix: sparse.sparray, place: str) -> Any:
        X = sparse.csr_array(matrix)
        parts = [self._array(part, place) for part in (X.data, X.indices, X.indptr)]
        return {"$csr": [*parts, list(X.shape)]}


def _unpack(value: object, members: _Members, depth: int = 0) -> Any:
    if depth > _DEEPEST_TEXT:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_unpack(part, members, depth + 1) for part in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: _unpack(part, members, depth + 1) for key, part in value.items()}
    ((kind, packed),) = value.items()
    if kind == "$array":
        return members.array(packed)
    return _ASSEMBLE[kind](_unpack(packed, members, depth + 1))


def _float(part: object) -> float:
    if part not in _NOT_FINITE:
        raise ValueError("neither NaN nor infinite")
    return float(str(part))


def _names(parts: object) -> Dense:
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError("no names")
    return np.array(parts, dtype=object)


def _tuple(parts: object) -> tuple[Any, ...]:
    if not isinstance(parts, list):
        raise ValueError("no tuple")
    return tuple(parts)


def _pairs(parts: list[tuple[Any, Any]]) -> dict[Any, Any]:
    for key, _ in parts:
        if isinstance(key, int) and abs(key) > _LARGEST_KEY:
            raise ValueError("a key is too large")
    return dict(parts)


def _record(parts: list[Any]) -> Record:
    name, fields = parts
    if not isinstance(name, str) or not isinstance(fields, dict):
        raise ValueError("no record")
    if not all(isinstance(key, str) for key in fields):
        raise ValueError("no names of fields")
    return Record(name, fields)


def _csr(parts: list[Any]) -> sparse.csr_array:
    data, indices, indptr, shape = parts
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts[:3]):
        raise ValueError("no arrays")
    if data.dtype.kind not in "biuf" or not indices.dtype.kind == indptr.dtype.kind == "i":
        raise ValueError("no numbers")
    rows, columns = shape
    if type(rows) is not int or type(columns) is not int or len(indptr) != rows + 1:
        raise ValueError("no shape")
    # SciPy's own check leaves out the order of `indptr` if its last entry is zero.
    if indptr[0] != 0 or (np.diff(indptr) < 0).any() or indptr[-1] != len(indices):
        raise ValueError("no rows")
    matrix = sparse.csr_array((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix


# What the kinds of packed values are assembled by.
_ASSEMBLE: dict[str, Callable[[Any], Any]] = {
    "$csr": _csr,
    "$dict": _pairs,
    "$float": _float,
    "$names": _names,
    "$record": _record,
    "$tuple": _tuple,
}
