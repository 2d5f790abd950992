"""How one column of a table becomes columns of numbers: four kinds, each with variance 1.

An object knows what was learned from the rows of a fit, and encodes other rows in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pyrocco._typing import Dense, Floats
from pyrocco.cells.answers import YES_NO
from pyrocco.cells.values import check_safe_squares
from pyrocco.texts import one_line
from pyrocco.validation import shown

_ANSWERS = {word: 1.0 for yes, _ in YES_NO for word in yes} | {
    word: 0.0 for _, no in YES_NO for word in no
}
# A logarithm is taken of positive numbers whose upper tail is this many times the lower one.
_LONG_TAIL = 3.0
_LEAST_DISTINCT = 10
# Numbers this many times the interquartile range outside of the quartiles are moved to there.
_FENCE = 3.0


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: logarithm if it has a long tail, limits, mean 0 and variance 1.

    Attributes
    ----------
    name : str
        The column of the table.
    offset : float or None
        Added before the logarithm; None if there is no logarithm.
    low, high : float
        Limits, after the logarithm; numbers outside count as the limit.
    center, scale : float
        Mean and standard deviation, after the logarithm and within the limits.

    Examples
    --------
    >>> column = NumberColumn.learn("age", np.array([20.0, 40.0, np.nan]))
    >>> column.encode(pd.Series([20, 40, None])).ravel()
    array([-1.,  1., nan])
    """

    kind: ClassVar[str] = "numbers"
    name: str
    offset: float | None
    low: float
    high: float
    center: float
    scale: float

    @classmethod
    def learn(cls, name: str, values: Floats) -> NumberColumn:
        """Learn logarithm, limits and scale from values, which are not constant."""
        offset = _log_offset(values[~np.isnan(values)])
        values = _logarithm(values, offset)
        low, high = _fences(values)
        within = np.clip(values, low, high)
        center, scale = float(np.nanmean(within)), float(np.nanstd(within))
        return cls(name, offset, low, high, center, scale)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return (self.name,)

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Encode the values of other rows."""
        values = _logarithm(numbers_of(column, self.name), self.offset)
        scaled = (np.clip(values, self.low, self.high) - self.center) / self.scale
        return np.asarray(scaled[:, None])


@dataclass(frozen=True)
class YesNoColumn:
    """A column of yes and no: 0 for no, one number for yes, with variance 1.

    Examples
    --------
    >>> column = YesNoColumn.learn("smoker", pd.Series(["yes", "no"]))
    >>> column.encode(pd.Series(["No", "TRUE", "perhaps", None])).ravel()
    array([ 0.,  2., nan, nan])
    """

    kind: ClassVar[str] = "yes/no"
    name: str
    scale: float

    @classmethod
    def learn(cls, name: str, column: pd.Series[Any]) -> YesNoColumn:
        """Learn the scale from the answers."""
        return cls(name, float(np.nanstd(_places(column, _ANSWERS))))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return (self.name,)

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Encode the answers of other rows; other words count as missing."""
        return np.asarray(_places(column, _ANSWERS)[:, None] / self.scale)


@dataclass(frozen=True)
class OrderedColumn:
    """A column of ordered categories, such as answers from never to always.

    Attributes
    ----------
    name : str
        The column of the table.
    levels : sequence of sequences of str
        The words of each level, from low to high; upper and lower case are the same.
    center, scale : float
        Mean and standard deviation of the levels, which are numbered from 0.

    Examples
    --------
    >>> sizes = pd.Series(["small", "large"])
    >>> column = OrderedColumn.learn("size", sizes, [["small"], ["medium"], ["large", "big"]])
    >>> column.encode(pd.Series(["medium", "Small", "huge"])).ravel()
    array([ 0., -1., nan])
    """

    kind: ClassVar[str] = "ordered categories"
    name: str
    levels: Sequence[Sequence[str]]
    center: float
    scale: float

    @classmethod
    def learn(
        cls, name: str, column: pd.Series[Any], levels: Sequence[Sequence[str]]
    ) -> OrderedColumn:
        """Learn mean and standard deviation of the levels."""
        found = _places(column, _lookup(levels))
        return cls(name, tuple(levels), float(np.nanmean(found)), float(np.nanstd(found)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return (self.name,)

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Encode the categories of other rows; unknown ones count as missing."""
        levels = _places(column, _lookup(self.levels))
        return np.asarray((levels[:, None] - self.center) / self.scale)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of unordered categories: one column each, together with variance 1.

    Examples
    --------
    >>> column = CategoryColumn.learn("colour", pd.Series(["red", "blue"]))
    >>> column.names
    ('colour = blue', 'colour = red')
    >>> column.encode(pd.Series(["red", "green"])).round(2)
    array([[0.  , 1.41],
           [ nan,  nan]])
    """

    kind: ClassVar[str] = "categories"
    name: str
    categories: Sequence[str]
    scale: float

    @classmethod
    def learn(cls, name: str, column: pd.Series[Any]) -> CategoryColumn:
        """Learn the categories and their total variance."""
        texts = texts_of(column)
        shares = texts.value_counts(normalize=True).sort_index()
        variance = float((shares * (1 - shares)).sum())
        return cls(name, tuple(map(str, shares.index)), float(np.sqrt(variance)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return tuple(f"{self.name} = {category}" for category in self.categories)

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Encode the categories of other rows; unknown ones count as missing."""
        codes, texts = pd.factorize(texts_of(column))
        position = {category: j for j, category in enumerate(self.categories)}
        which = np.array([*(position.get(text, -1) for text in texts), -1], dtype=np.intp)[codes]
        indicators = np.zeros((len(which), len(self.categories)))
        indicators[np.arange(len(which)), which] = 1 / self.scale
        indicators[which < 0] = np.nan
        return indicators


EncodedColumn = NumberColumn | YesNoColumn | OrderedColumn | CategoryColumn


def texts_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the cells of a column as texts, None where they are missing or blank.

    Blanks within a text count as one, and a whole number has no decimal point.

    Examples
    --------
    >>> texts_of(pd.Series([" light  blue", 7.0, True, None, ""])).tolist()
    ['light blue', '7', 'True', None, None]
    """
    codes, values = pd.factorize(column)
    # The code of missing values is -1, that of the last text.
    texts = np.array([*(_text(value) or None for value in values), None], dtype=object)
    return pd.Series(texts[codes], column.index, dtype=object)


def _text(value: object) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return one_line(value)


def numbers_of(column: pd.Series[Any], name: str) -> Floats:
    """Return the numbers of a column, NaN where they are missing; a text is an error.

    Examples
    --------
    >>> numbers_of(pd.Series(["1.5", None, "2"]), "dose")
    array([1.5, nan, 2. ])
    """
    if is_numeric(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        texts = texts_of(column)
        parsed = pd.to_numeric(texts, errors="coerce")
        wrong = texts[parsed.isna() & texts.notna()]
        if len(wrong):
            raise ValueError(
                f"column {shown(name)} holds {shown(wrong.iloc[0])}, not a number: correct or "
                "remove it."
            )
        values = parsed.to_numpy(dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"column {shown(name)} holds an infinite value: replace it by a number or by NaN."
        )
    return values


def is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column has a type of real numbers or truth values."""
    dtype = column.dtype
    is_real = pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)
    return (
        is_real
        and not pd.api.types.is_complex_dtype(dtype)
        and not isinstance(dtype, pd.CategoricalDtype)
    )


def _places(column: pd.Series[Any], lookup: dict[str, float]) -> Floats:
    """Return the place of every cell in an order, NaN for missing and unknown ones."""
    codes, texts = pd.factorize(texts_of(column))
    return np.array([*(lookup.get(text.casefold(), np.nan) for text in texts), np.nan])[codes]


def _lookup(levels: Sequence[Sequence[str]]) -> dict[str, float]:
    return {word.casefold(): float(place) for place, words in enumerate(levels) for word in words}


def _log_offset(values: Floats) -> float | None:
    """Return what to add before a logarithm; None if the numbers have no long upper tail.

    Where some numbers are zero, as incomes are, the median of the others is added, so that zero
    does not become an outlier.
    """
    if values.min() < 0 or len(np.unique(values)) < _LEAST_DISTINCT:
        return None
    positive = values[values > 0]
    lower, middle, upper = np.quantile(positive, [0.05, 0.5, 0.95])
    if upper - middle <= _LONG_TAIL * (middle - lower):
        return None
    return float(middle) if len(positive) < len(values) else 0.0


def _logarithm(values: Dense, offset: float | None) -> Floats:
    if offset is None:
        return values
    # Numbers that have no logarithm are below the lower limit.
    return np.asarray(np.log(np.maximum(values + offset, np.finfo(np.float64).tiny)))


def _fences(values: Floats) -> tuple[float, float]:
    """Return limits far outside of the quartiles, which only outliers exceed."""
    check_safe_squares(values, "encode")
    lower, upper = np.nanquantile(values, [0.25, 0.75])
    spread = (upper - lower) or (np.nanmax(values) - np.nanmin(values))
    return float(lower - _FENCE * spread), float(upper + _FENCE * spread)
