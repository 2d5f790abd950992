"""Edits of JSON: wrong types, missing keys, deep nesting, numbers and texts nobody expects."""

import json
import random
from typing import Any

from tests.fuzz.mutations import damage, truncate

_VALUES = (
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400),
    *(0.5, -0.0, 1e308, float("nan"), float("inf"), float("-inf")),
    *("", "x", "\0", "\x1b[31mred\x1b[0m", "a\nb\r\n", "../../etc/passwd", "\ud800", "é" * 999),
    *("data.csv", "/dev/zero", "/", ".", "24", "NaN", "$array"),
    *([], {}, [[]], [None], [1, "a", {}], {"$array": "x"}, {"$tuple": 3}, {"": {}}),
    *({"$array": "arrays/0.npy"}, {"$csr": [1, 2, 3, [4, 5]]}, {"$record": ["ROCCO", {}]}),
    *({"$dict": [[[], 1]]}, {"$names": 7}, {"$float": "x"}, {"$unknown": 1}, {"$record": []}),
)
_DEPTH = 100_000


def edit_json(text: bytes, rng: random.Random) -> bytes:
    """Change a value somewhere in a JSON text, or the text."""
    choice = rng.random()
    if choice < 0.12:
        return rng.choice((damage, truncate))(text, rng)
    if choice < 0.2:
        return rng.choice(_TEXTS)
    content = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 3))):
        content = edit_value(content, rng)
    nested = json.dumps(content, indent=1)
    if rng.random() < 0.05:
        nested = nested.replace("null", "[" * _DEPTH + "]" * _DEPTH, 1)
    return nested.encode()


_TEXTS = (
    *(b"null", b"[]", b"{}", b"7", b'"x"', b"", b"[" * _DEPTH, b'{"a":' * _DEPTH),
    *(b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"NaN", b"{'a': 1}", b"1" * 5000, b"{}{}"),
)


def edit_value(value: Any, rng: random.Random) -> Any:
    """Return a copy of nested lists and dicts in which one place is different."""
    inner = isinstance(value, (list, dict)) and len(value) > 0
    if not inner or rng.random() < 0.05:
        return rng.choice(_VALUES)
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    key = rng.choice(keys)
    choice = rng.random()
    if choice < 0.75:
        changed = value.copy()
        changed[key] = edit_value(value[key], rng)
    elif isinstance(value, dict):
        changed = _edit_dict(value, key, rng)
    else:
        changed = rng.choice((value[:-1], value[1:], value + value[:1], value[::-1], value * 3))
    return changed


def _edit_dict(value: dict[str, Any], key: str, rng: random.Random) -> dict[str, Any]:
    """Remove, rename or add a key, or swap the values of two."""
    rest = {name: part for name, part in value.items() if name != key}
    other = rng.choice(sorted(value))
    return rng.choice(
        (
            rest,
            rest,
            {**rest, f"{key} ": value[key]},
            {**rest, "\x1b[31m": value[key]},
            {**value, "unknown": 1},
            {**value, "$array": "arrays/0.npy"},
            {**value, key: value[other], other: value[key]},
        )
    )
