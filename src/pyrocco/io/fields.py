"""Tables that declare what a file must hold, checked before anything uses its values.

A table names the fields of an object and says of each its type, shape and range. Sizes have
names: the first field that has a size sets it, and all later ones must agree. The order of a
table therefore matters where a range depends on a size.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from pyrocco._typing import Dense
from pyrocco.io.model_file import Record

__all__ = [
    "Anything",
    "ArrayOf",
    "Cells",
    "DictOf",
    "Either",
    "Field",
    "FieldError",
    "Fields",
    "Floats",
    "Indices",
    "Integer",
    "Labels",
    "ListOf",
    "Names",
    "Nothing",
    "Number",
    "Part",
    "Plain",
    "Size",
    "Sizes",
    "Text",
    "Texts",
    "Truth",
    "TupleOf",
    "Within",
    "agree",
    "optional",
]

# Sizes by name.
Sizes = dict[str, int]

# Integers of 64 bits.
_LARGEST = 2**63 - 1
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class FieldError(ValueError):
    """A value is not what its table declares; the message names the field."""


class Field(Protocol):
    """Declares one value."""

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Raise a `FieldError` that begins with `place` unless the value is as declared."""


class Fields:
    """The fields of an object, by name.

    Parameters
    ----------
    table : mapping of str to Field, optional
        Further fields, such as those of another table.
    optional : collection of str
        Names of fields that may be absent.
    all_optional : bool
        Whether all of them may be absent.
    **fields : Field
        The fields.

    Examples
    --------
    >>> point = Fields(name=Text(), at=Floats("axes"), other=Floats("axes"))
    >>> point.check({"name": "a", "at": np.zeros(2), "other": np.zeros(3)}, {}, "point")
    Traceback (most recent call last):
    ...
    pyrocco.io.fields.FieldError: point.other has the shape (3,) instead of (2,)
    """

    def __init__(
        self,
        table: Mapping[str, Field] | None = None,
        /,
        *,
        optional: Collection[str] = (),
        all_optional: bool = False,
        **fields: Field,
    ):
        self.table: dict[str, Field] = {**(table or {}), **fields}
        self.optional = frozenset(self.table if all_optional else optional)

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check a dict that must have these keys and no others."""
        _require(isinstance(value, dict), place, "is not a dict")
        inside = f"{place}." if place else ""
        for name in value:
            _require(name in self.table, inside + _shown(name), "is not known")
        for name, declared in self.table.items():
            if name in value:
                declared.check(value[name], sizes, inside + name)
            else:
                _require(name in self.optional, f"{inside}{name}", "is missing")


@dataclass(frozen=True)
class Within:
    """A dict whose table has other names for sizes than what contains it.

    Parameters
    ----------
    fields : Fields
        The table.
    sizes : mapping of str to str
        Sizes that both have: the name of the table, and that of what contains it.
    """

    fields: Fields
    sizes: Mapping[str, str]

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the dict, and take over the sizes that it sets."""
        inside = {own: sizes[outer] for own, outer in self.sizes.items() if outer in sizes}
        self.fields.check(value, inside, place)
        sizes |= {outer: inside[own] for own, outer in self.sizes.items() if own in inside}


@dataclass(frozen=True)
class Part:
    """An object of one of several classes, as a record.

    Parameters
    ----------
    kinds : mapping of str to Fields
        The table of each class that is allowed.
    sizes : mapping of str to str
        Sizes that the object shares with what contains it, as for `Within`.
    """

    kinds: Mapping[str, Fields]
    sizes: Mapping[str, str] = field(default_factory=dict)

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the class of a record and its fields."""
        known = isinstance(value, Record) and value.name in self.kinds
        _require(known, place, f"is not a {' or a '.join(self.kinds)}")
        Within(self.kinds[value.name], self.sizes).check(value.parts, sizes, place)


class Anything:
    """A value that is checked later, or not used."""

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Accept every value."""


@dataclass(frozen=True)
class Nothing:
    """None."""

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check that there is no value."""
        _require(value is None, place, "is not None")


@dataclass(frozen=True)
class Truth:
    """True or False."""

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the type."""
        _require(isinstance(value, bool), place, "is not true or false")


@dataclass(frozen=True)
class Integer:
    """An integer within limits."""

    least: int = -_LARGEST
    most: int = _LARGEST

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type and limits."""
        _require(
            isinstance(value, int) and not isinstance(value, bool), place, "is not an integer"
        )
        _require(self.least <= value <= self.most, place, "is out of range")


@dataclass(frozen=True)
class Size:
    """An integer that is a size, of at most another size if `most` names one."""

    name: str
    least: int = 1
    most: str | None = None

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type, limits, and agreement with other fields."""
        Integer(self.least).check(value, sizes, place)
        agree(sizes, self.name, value, place)
        if self.most is not None:
            _require(value <= sizes[self.most], place, f"is larger than {sizes[self.most]}")


@dataclass(frozen=True)
class Number:
    """A number; any if there are no limits, otherwise not NaN."""

    least: float = -math.inf
    most: float = math.inf
    positive: bool = False  # above zero, and finite

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type and limits."""
        _require(_is_number(value), place, "is not a number")
        limited = (self.least, self.most) != (-math.inf, math.inf)
        _require(not limited or self.least <= value <= self.most, place, "is out of range")
        _require(not self.positive or 0 < value < math.inf, place, "is not positive")


@dataclass(frozen=True)
class Text:
    """A text, one of some choices if there are any."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type and choices."""
        _require(isinstance(value, str) and _can_be_written(value), place, "is not a text")
        if self.choices:
            _require(value in self.choices, place, f"is none of {', '.join(self.choices)}")


@dataclass(frozen=True)
class Texts:
    """A list or tuple of texts, of any length if the size has no name."""

    size: str | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the texts and their number."""
        ListOf(Text(self.choices)).check(value, sizes, place)
        if self.size is not None:
            agree(sizes, self.size, len(value), place)


@dataclass(frozen=True)
class Names:
    """An array of texts."""

    size: str

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the texts and their number."""
        names = _is_array(value) and value.dtype.kind == "O" and value.ndim == 1
        _require(
            names and all(isinstance(name, str) for name in value),
            place,
            "is not an array of texts",
        )
        agree(sizes, self.size, len(value), place)


@dataclass(frozen=True)
class ListOf:
    """A list or tuple of equal fields, of any length."""

    entry: Field

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check every entry."""
        _require(isinstance(value, (list, tuple)), place, "is not a list")
        for i, entry in enumerate(value):
            self.entry.check(entry, sizes, f"{place}[{i}]")


class TupleOf:
    """A list or tuple of given fields."""

    def __init__(self, *entries: Field):
        self.entries = entries

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the number of entries and every entry."""
        fits = isinstance(value, (list, tuple)) and len(value) == len(self.entries)
        _require(fits, place, f"is not a list of {len(self.entries)} values")
        for i, (entry, declared) in enumerate(zip(value, self.entries, strict=True)):
            declared.check(entry, sizes, f"{place}[{i}]")


@dataclass(frozen=True)
class DictOf:
    """A dict with any keys of one kind, and values of one kind."""

    keys: Field
    values: Field

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check every key and every value."""
        _require(isinstance(value, dict), place, "is not a dict")
        for key, entry in value.items():
            self.keys.check(key, sizes, f"a key of {place}")
            self.values.check(entry, sizes, f"{place}[{_shown(key)}]")


class Plain:
    """None, a truth value, a number, a text, or lists and dicts of such values."""

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check all parts."""
        if isinstance(value, (list, tuple)):
            ListOf(self).check(value, sizes, place)
        elif isinstance(value, dict):
            DictOf(Text(), self).check(value, sizes, place)
        else:
            plain = value is None or isinstance(value, (bool, int, float, str))
            _require(plain, place, "is not a plain value")


class Either:
    """One of several fields."""

    def __init__(self, *options: Field):
        self.options = options

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check that one of the fields fits; the message is that of the last one."""
        for option in self.options[:-1]:
            tried = dict(sizes)
            try:
                option.check(value, tried, place)
            except FieldError:
                continue
            sizes.update(tried)
            return
        self.options[-1].check(value, sizes, place)


def optional(declared: Field) -> Either:
    """Return a field that may be None."""
    return Either(Nothing(), declared)


class Floats:
    """An array of float32 or float64.

    Parameters
    ----------
    *shape : str or int
        The sizes of its dimensions, or their names.
    finite : bool
        Whether NaN and infinite values are refused.
    least, most : float
        Limits of the values; with a limit, NaN is refused too.
    """

    def __init__(
        self,
        *shape: str | int,
        finite: bool = False,
        least: float = -math.inf,
        most: float = math.inf,
    ):
        self.shape, self.finite = shape, finite
        self.least, self.most = least, most

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type, shape and values."""
        _require(_is_array(value) and value.dtype in _FLOATS, place, "is not an array of floats")
        _check_shape(value, self.shape, sizes, place)
        _require(not self.finite or bool(np.isfinite(value).all()), place, "is not finite")
        if (self.least, self.most) != (-math.inf, math.inf):
            within = bool(((value >= self.least) & (value <= self.most)).all())
            _require(within, place, "is out of range")


class ArrayOf:
    """An array of exactly one type, with at least one entry unless `may_be_empty`."""

    def __init__(self, dtype: DTypeLike, *shape: str | int, may_be_empty: bool = False):
        self.dtype, self.shape, self.may_be_empty = np.dtype(dtype), shape, may_be_empty

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type and shape."""
        fits = _is_array(value) and value.dtype == self.dtype
        _require(fits, place, f"is not an array of {self.dtype}")
        _check_shape(value, self.shape, sizes, place)
        _require(self.may_be_empty or value.size > 0, place, "is empty")


class Indices:
    """An array of signed integers from `least` to less than the size that `below` names.

    If nothing has set that size yet, the largest index does.
    """

    def __init__(self, *shape: str | int, below: str, least: int = 0):
        self.shape, self.below, self.least = shape, below, least

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type, shape and range."""
        _require(
            _is_array(value) and value.dtype.kind == "i", place, "is not an array of integers"
        )
        _check_shape(value, self.shape, sizes, place)
        limit = sizes.setdefault(self.below, int(value.max(initial=-1)) + 1)
        within = not value.size or (self.least <= value.min() and value.max() < limit)
        _require(bool(within), place, f"is not from {self.least} to {limit - 1}")


@dataclass(frozen=True)
class Labels:
    """The cluster of every row or column. There are at most as many clusters as rows.

    Parameters
    ----------
    size, clusters : str
        Names of the number of rows and of the number of clusters.
    all_used : bool
        Whether no cluster is empty.
    least : int
        Smallest label: -1 if it marks rows without a cluster.
    """

    size: str
    clusters: str
    all_used: bool = True
    least: int = 0

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type, shape and range."""
        Indices(self.size, below=self.clusters, least=self.least).check(value, sizes, place)
        n_clusters = sizes[self.clusters]
        _require(n_clusters <= len(value), place, f"has fewer than {n_clusters} entries")
        if self.all_used:
            used = bool(np.bincount(value, minlength=n_clusters).all())
            _require(used, place, "leaves a cluster empty")


@dataclass(frozen=True)
class Cells:
    """A value for every cell of a matrix: an array, or a CSR matrix."""

    rows: str
    columns: str

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check type and shape; the reader has checked the indices of a CSR matrix."""
        if not sparse.issparse(value):
            Floats(self.rows, self.columns).check(value, sizes, place)
            return
        _require(value.dtype in _FLOATS, place, "is not a matrix of floats")
        _check_shape(value, (self.rows, self.columns), sizes, place)


def agree(sizes: Sizes, name: str, found: int, place: str) -> None:
    """Set a size, or raise a `FieldError` if it was set to another value."""
    expected = sizes.setdefault(name, found)
    _require(found == expected, place, f"has the size {found} instead of {expected}")


def _check_shape(value: Dense, shape: tuple[str | int, ...], sizes: Sizes, place: str) -> None:
    found = value.shape
    _require(len(found) == len(shape), place, f"has {len(found)} dimensions")
    pairs = list(zip(shape, found, strict=True))
    expected = tuple(
        name if isinstance(name, int) else sizes.setdefault(name, n) for name, n in pairs
    )
    _require(found == expected, place, f"has the shape {found} instead of {expected}")


def _is_number(value: object) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= _LARGEST  # a larger one may not fit a float
    return isinstance(value, float)


def _shown(name: object) -> str:
    """Return a name of a file for a message: in one line, and not too long."""
    return (
        f"{name!a:.40}" if isinstance(name, str) and not name.isidentifier() else f"{name!s:.40}"
    )


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _can_be_written(text: str) -> bool:
    """Whether a text has no half of a character, which no file can hold."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _require(condition: bool, place: str, problem: str) -> None:
    if not condition:
        raise FieldError(f"{place or 'it'} {problem}")
