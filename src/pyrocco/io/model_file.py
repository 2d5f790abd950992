"""Model files: a zip archive of one JSON text and NumPy arrays, without pickle."""

from __future__ import annotations

import io
import json
import math
import os
import uuid
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense
from pyrocco.io.errors import ModelFileError

__all__ = ["FORMAT_VERSION", "Record", "read_model_file", "write_model_file"]

# Increased when earlier versions of pyrocco could not read the files of this one.
FORMAT_VERSION = 1
_FORMAT = "pyrocco model"
_TEXT = "model.json"
# A fixed date, so that the same model gives the same bytes.
_DATE = (2020, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Record:
    """An object, as the name of its class and its fields."""

    name: str
    parts: dict[str, Any]


def write_model_file(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write nested dicts, lists, numbers, texts, arrays and records.

    An existing file is replaced when the new one is complete.
    """
    packed = _Packer()
    content = {key: packed.pack(value, key) for key, value in content.items()}
    text = {"format": _FORMAT, "format_version": FORMAT_VERSION, "content": content}
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with zipfile.ZipFile(unfinished, "w") as archive:
            _add(archive, _TEXT, json.dumps(text, indent=1).encode(), zipfile.ZIP_DEFLATED)
            for name, array in packed.arrays.items():
                _add(archive, name, _array_bytes(array), zipfile.ZIP_STORED)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_model_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_model_file` wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            text = _checked_text(archive, path)
            return {key: _unpack(part, archive) for key, part in text["content"].items()}
    except zipfile.BadZipFile as error:
        raise ModelFileError(_why_no_archive(Path(path))) from error
    except (KeyError, ValueError, EOFError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path}: is damaged: save or copy the model again") from error


def _checked_text(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    if _TEXT not in archive.namelist():
        raise ModelFileError(_no_model(path))
    text = json.loads(archive.read(_TEXT))
    if not isinstance(text, dict) or text.get("format") != _FORMAT:
        raise ModelFileError(_no_model(path))
    if text["format_version"] > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: was written by a newer pyrocco (format {text['format_version']}; this one "
            f"reads up to {FORMAT_VERSION}): pip install --upgrade pyrocco"
        )
    return text


def _why_no_archive(path: Path) -> str:
    with path.open("rb") as file:
        begins_well = file.read(2) == b"PK"
    if begins_well:
        return f"{path}: is damaged or cut off: save or copy the model again"
    return _no_model(path)


def _no_model(path: str | os.PathLike[str]) -> str:
    return (
        f"{path}: is not a model file of pyrocco; pyrocco fit writes one as model.pyrocco, "
        "and so does the save method of a model"
    )


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

    def pack(self, value: object, place: str) -> Any:
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
        return self._nested(value, place)

    def _nested(self, value: object, place: str) -> Any:
        if isinstance(value, Record):
            return {"$record": [value.name, self.pack(value.parts, place)]}
        if isinstance(value, dict):
            return self._dict(value, place)
        if type(value) is tuple:  # a named tuple would lose its names
            return {"$tuple": [self.pack(part, place) for part in value]}
        if isinstance(value, list):
            return [self.pack(part, place) for part in value]
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise ModelFileError(
            f"{place} holds a {kind}, which a model file cannot hold: pickle the model instead"
        )

    def _dict(self, value: dict[Any, Any], place: str) -> Any:
        if all(isinstance(key, str) and key[:1] != "$" for key in value):
            return {key: self.pack(part, place) for key, part in value.items()}
        return {"$dict": [[self.pack(part, place) for part in item] for item in value.items()]}

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


def _unpack(value: object, archive: zipfile.ZipFile) -> Any:
    if isinstance(value, list):
        return [_unpack(part, archive) for part in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: _unpack(part, archive) for key, part in value.items()}
    ((kind, packed),) = value.items()
    if kind == "$array":
        return np.load(io.BytesIO(archive.read(packed)), allow_pickle=False)
    return _assemble(kind, _unpack(packed, archive))


def _assemble(kind: str, parts: Any) -> Any:
    if kind == "$float":
        return float(parts)
    if kind == "$names":
        return np.array(parts, dtype=object)
    if kind == "$tuple":
        return tuple(parts)
    if kind == "$dict":
        return dict(parts)
    if kind == "$record":
        return Record(*parts)
    if kind == "$csr":
        *arrays, shape = parts
        return sparse.csr_array(tuple(arrays), shape=shape)
    raise ValueError(f"unknown kind {kind}")
