"""Pack arrays and texts for the page: compressed, and safe inside HTML."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from pyrocco._typing import Dense

__all__ = ["Packed", "pack_floats", "pack_integers", "pack_json"]

Packed = dict[str, Any]


def pack_integers(numbers: Dense) -> Packed:
    """Pack non-negative integers of at most 32 bits."""
    return _pack(np.ascontiguousarray(numbers, dtype="<u4"), "uint32", 4)


def pack_floats(numbers: Dense, *, exact: bool = True) -> Packed:
    """Pack numbers in single precision, or in half as many bits with two to three digits."""
    bits = np.ascontiguousarray(numbers, dtype="<f4").view("<u4")
    if exact:
        return _pack(bits, "float32", 4)
    # Round to nearest; a carry correctly increases the exponent.
    return _pack(bits + np.uint32(0x7FFF) + ((bits >> 16) & 1), "float32", 2)


def pack_json(value: dict[str, Any]) -> str:
    """Pack what JSON can hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _compress(text.encode("utf-8", "replace"))


def _pack(bits: Dense, kind: str, n_bytes: int) -> Packed:
    # First the lowest bytes of all numbers, then the next: this compresses better.
    planes = bits.reshape(-1).view("u1").reshape(-1, 4)[:, 4 - n_bytes :].T
    data = _compress(np.ascontiguousarray(planes).tobytes())
    return {"kind": kind, "length": int(bits.size), "bytes": n_bytes, "data": data}


def _compress(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw, 6)).decode("ascii")
