"""Numbers and text as the page carries them: deflated, then base64."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

__all__ = ["pack_floats", "pack_json", "pack_whole"]

Array = np.ndarray[Any, Any]
Packed = dict[str, Any]


def pack_json(value: Any) -> str:
    """Pack anything that JSON can hold.

    Parameters
    ----------
    value : object
        Lists, dicts, strings, numbers and None.

    Returns
    -------
    str

    Examples
    --------
    >>> zlib.decompress(base64.b64decode(pack_json(["a"])))
    b'["a"]'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _deflate(text.encode("utf-8", "replace"))


def pack_whole(numbers: Array) -> Packed:
    """Pack whole numbers that are not negative.

    Parameters
    ----------
    numbers : ndarray of int
        At most 32 bits each.

    Returns
    -------
    dict
        ``"kind"``, ``"length"``, ``"kept"`` (bytes of each number) and ``"data"``.

    Examples
    --------
    >>> pack_whole(np.arange(3))["length"]
    3
    """
    return _pack(np.ascontiguousarray(numbers, dtype="<u4"), "uint32", 4)


def pack_floats(numbers: Array, *, exact: bool = True) -> Packed:
    """Pack numbers in single precision; NaN stays NaN.

    Parameters
    ----------
    numbers : ndarray of float
        Any numbers within the range of single precision.
    exact : bool, default=True
        Otherwise only the leading half of the bits is kept: two to three digits, which
        deflate to a third of the bytes.

    Returns
    -------
    dict
        ``"kind"``, ``"length"``, ``"kept"`` (bytes of each number) and ``"data"``.

    Examples
    --------
    >>> pack_floats(np.zeros(5), exact=False)["kept"]
    2
    """
    bits = np.ascontiguousarray(numbers, dtype="<f4").view("<u4")
    if exact:
        return _pack(bits, "float32", 4)
    # Round to nearest; the carry goes into the exponent, as it should.
    return _pack(bits + np.uint32(0x7FFF) + ((bits >> 16) & 1), "float32", 2)


def _pack(bits: Array, kind: str, kept: int) -> Packed:
    # Bytes of like meaning side by side deflate better; the leading ones come last.
    planes = bits.reshape(-1).view("u1").reshape(-1, 4)[:, 4 - kept :].T
    data = _deflate(np.ascontiguousarray(planes).tobytes())
    return {"kind": kind, "length": int(bits.size), "kept": kept, "data": data}


def _deflate(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw, 6)).decode("ascii")
