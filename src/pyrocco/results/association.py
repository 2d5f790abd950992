"""Annotations of rows or columns, such as a treatment or an age, beside their clusters."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from pyrocco.texts import natural_order, plain_text

__all__ = ["annotation_kind", "association", "categories_of", "cross_table", "days_of"]

# Whole numbers with at most this many different values are categories, such as marks or grades.
MOST_CATEGORIES = 12
# Dates as texts: 2024-05-31, perhaps with a time, and 31.05.2024.
_DATE_TEXTS = {
    r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?": "ISO8601",
    r"\d{1,2}\.\d{1,2}\.\d{4}": "%d.%m.%Y",
}
# Random tables by which an association is judged if expected counts are small, and the number of
# counts in all of them together, above which fewer tables are drawn.
_PERMUTATIONS = 9999
_LEAST_PERMUTATIONS = 999
_MOST_COUNTS = 100_000_000
_BATCH_COUNTS = 5_000_000

Kind = Literal["number", "date", "category"]
Counts = NDArray[np.int64]


def annotation_kind(annotation: pd.Series[Any]) -> Kind:
    """Return whether an annotation is a number, a date or a category.

    Texts and yes/no values are categories, and so are whole numbers with at most twelve different
    values, unless they are larger than twelve and most of them occur once, such as the ages of
    ten people. Other numbers are numbers. The same holds for dates: a few that repeat, such as
    those of batches, are categories. Texts such as 2024-05-31 and 31.05.2024 are dates.

    Parameters
    ----------
    annotation : Series
        One value per row or column; missing values do not count.

    Returns
    -------
    {"number", "date", "category"}

    Examples
    --------
    >>> import pandas as pd
    >>> annotation_kind(pd.Series([31.5, 40.0, 28.0]))
    'number'
    >>> annotation_kind(pd.Series([1, 2, 2, 3])), annotation_kind(pd.Series(["drug", "none"]))
    ('category', 'category')
    >>> annotation_kind(pd.Series([31, 40, 28, 31]))
    'number'
    >>> annotation_kind(pd.Series(["2024-05-31", "2024-06-02", "2024-06-05"]))
    'date'
    """
    values = _known(annotation)
    days = days_of(values)
    if days is not None:
        n_different = len(np.unique(days))
        return "category" if n_different <= _few_of(len(days)) else "date"
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return "category"
    numbers = values.to_numpy(dtype=float)
    is_whole = bool(np.all(numbers == np.floor(numbers)))
    n_different = len(np.unique(numbers))
    are_small = np.abs(numbers).max(initial=0) <= MOST_CATEGORIES
    few = n_different <= (MOST_CATEGORIES if are_small else _few_of(len(numbers)))
    return "category" if is_whole and few else "number"


def days_of(annotation: pd.Series[Any]) -> NDArray[np.float64] | None:
    """Return dates as days since the first of January 1970; None if they are no dates.

    Parameters
    ----------
    annotation : Series
        Times of pandas, or texts that are all written as year-month-day or day.month.year. A
        missing value becomes NaN.

    Returns
    -------
    ndarray or None

    Examples
    --------
    >>> days_of(pd.Series(["1970-01-02", None, "1970-01-03 12:00"]))
    array([1. , nan, 2.5])
    >>> days_of(pd.Series(["2.1.1970"])), days_of(pd.Series(["May"]))
    (array([1.]), None)
    """
    times = annotation if pd.api.types.is_datetime64_any_dtype(annotation) else _parsed(annotation)
    if times is None:
        return None
    times = pd.to_datetime(times, utc=True)
    since = times - pd.Timestamp(0, tz="UTC")
    return np.asarray((since / pd.Timedelta(days=1)).to_numpy(dtype=float))


def _parsed(annotation: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return texts as times, if all of them are dates that exist."""
    known = annotation.dropna()
    if known.empty or isinstance(known.dtype, pd.CategoricalDtype):
        return None
    if not all(isinstance(value, (str, datetime.date)) for value in known):
        return None
    texts = known.map(str)
    for pattern, form in _DATE_TEXTS.items():
        if texts.str.fullmatch(pattern).all():
            times = pd.to_datetime(texts, format=form, errors="coerce")
            return None if times.isna().any() else times.reindex(annotation.index)
    return None


def _few_of(n_values: int) -> int:
    """Return how many different large numbers among `n_values` are still categories."""
    return min(MOST_CATEGORIES, max(2, n_values // 2))


def association(labels: ArrayLike, annotations: pd.DataFrame | pd.Series[Any]) -> pd.DataFrame:
    """Test whether clusters and annotations are associated.

    Categories are tested with the chi-squared test of the table of counts. If expected counts
    are small (below 1, or below 5 in more than a fifth of the table), the p-value is that of
    Fisher's exact test for a table of 2 x 2, and otherwise of a permutation test: the share of
    random tables with the same totals whose statistic is at least as large. Numbers and dates
    are tested with the Kruskal-Wallis test. Rows without a value do not count.

    A small p-value says that the clusters differ in the annotation, not that one causes the
    other. The test is fair for annotations that the fit did not use.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each row, such as ``model.row_labels_``.
    annotations : DataFrame or Series
        Annotations of the same rows, in the same order. See `annotation_kind` for what counts
        as a number or a date.

    Returns
    -------
    DataFrame
        One row per annotation, in the given order: ``annotation``, ``kind``, ``test``,
        ``statistic``, ``p_value``, ``p_adjusted`` (Benjamini-Hochberg, over all annotations),
        ``effect`` (Cramer's V of categories, eta squared of numbers and dates; 0 is no
        association, 1 a perfect one) and ``n``, the number of rows that have a value. Where no
        test is possible, because there is a single cluster or a single value, the numbers are
        NaN and the test is ``"none"``.

    See Also
    --------
    cross_table : The counts or means behind one of the tests.

    Examples
    --------
    >>> import pandas as pd
    >>> labels = [0] * 10 + [1] * 10
    >>> annotations = pd.DataFrame({"treatment": ["drug"] * 9 + ["none"] * 11})
    >>> table = association(labels, annotations)
    >>> table[["annotation", "kind", "test", "n"]].to_dict("records")
    [{'annotation': 'treatment', 'kind': 'category', 'test': "Fisher's exact", 'n': 20}]
    >>> round(float(table["p_value"][0]), 6), round(float(table["effect"][0]), 3)
    (0.000119, 0.905)
    """
    if isinstance(annotations, pd.Series):
        annotations = annotations.to_frame()
    clusters = _checked_labels(labels, len(annotations))
    rows = []
    for position, name in enumerate(annotations.columns):
        column = annotations.iloc[:, position]
        kind = annotation_kind(column)
        known = column.notna().to_numpy()
        found = _test(clusters[known], column[known], kind)
        rows.append((str(name), kind, *found, int(known.sum())))
    names = ["annotation", "kind", "test", "statistic", "p_value", "effect", "n"]
    table = pd.DataFrame(rows, columns=names)
    adjusted = _adjusted(table["p_value"].to_numpy(dtype=float))
    table.insert(names.index("effect"), "p_adjusted", adjusted)
    return table


def cross_table(labels: ArrayLike, annotation: pd.Series[Any]) -> pd.DataFrame:
    """Return the table of clusters and the values of an annotation.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each row, such as ``model.row_labels_``.
    annotation : Series
        Annotation of the same rows, in the same order. Missing values do not count.

    Returns
    -------
    DataFrame
        One row per cluster. For categories, the number of rows in each, one column per
        category; for numbers, ``n``, ``mean``, ``sd``, ``median``, ``min`` and ``max``; for
        dates, ``n``, ``median``, ``min`` and ``max``.

    See Also
    --------
    association : Tests whether clusters and annotations are associated.

    Examples
    --------
    >>> import pandas as pd
    >>> cross_table([0, 0, 1], pd.Series(["drug", "drug", "none"]))
             drug  none
    cluster
    0           2     0
    1           0     1
    >>> cross_table([0, 0, 1], pd.Series([20.5, 40.0, 31.0]))[["n", "mean", "max"]]
             n   mean   max
    cluster
    0        2  30.25  40.0
    1        1  31.00  31.0
    """
    clusters = _checked_labels(labels, len(annotation))
    index = pd.Index(np.unique(clusters), name="cluster")
    known = annotation.notna().to_numpy()
    values = _known(annotation)
    kind = annotation_kind(annotation)
    if kind == "number":
        return _described(values.to_numpy(dtype=float), clusters[known], index)
    days = days_of(values) if kind == "date" else None
    if days is not None:
        table = _described(days, clusters[known], index).drop(columns=["mean", "sd"])
        times = {name: _times(table[name]) for name in ("median", "min", "max")}
        return table.assign(**times)
    codes, categories = categories_of(values)
    counts = _counts(np.searchsorted(index.to_numpy(), clusters[known]), codes, len(index))
    return pd.DataFrame(counts[:, : len(categories)], index=index, columns=categories)


def _described(
    numbers: NDArray[np.float64], clusters: NDArray[Any], index: pd.Index[Any]
) -> pd.DataFrame:
    """Return number, mean and so on of the numbers of each cluster."""
    grouped = pd.Series(numbers).groupby(clusters)
    table = grouped.agg(["count", "mean", "std", "median", "min", "max"])
    table.columns = pd.Index(["n", "mean", "sd", "median", "min", "max"])
    table = table.reindex(index)
    return table.assign(n=table["n"].fillna(0).astype(int))


def _times(days: pd.Series[Any]) -> pd.Series[Any]:
    """Return times, to the second, from days since the first of January 1970."""
    return pd.to_datetime(days, unit="D").dt.round("s")


def _known(annotation: pd.Series[Any]) -> pd.Series[Any]:
    """Return the values that are not missing, with the type that they have without the others."""
    return annotation.dropna().infer_objects()


def _checked_labels(labels: ArrayLike, count: int) -> NDArray[Any]:
    clusters = np.asarray(labels)
    if clusters.shape != (count,):
        raise ValueError(
            f"labels and annotations must have the same length: labels have shape "
            f"{clusters.shape}, and there are annotations of {count} rows"
        )
    return clusters


def categories_of(values: pd.Series[Any]) -> tuple[NDArray[np.intp], list[str]]:
    """Return the position of each value among the categories that occur, and their names.

    The position of a missing value is -1.

    Examples
    --------
    >>> categories_of(pd.Series(["day 10", "day 2", None]))
    (array([ 1,  0, -1]), ['day 2', 'day 10'])
    """
    if not isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object).infer_objects()
        if pd.api.types.is_string_dtype(values.dtype):  # texts, or anything mixed with them
            values = values.map(str, na_action="ignore")
            in_order = sorted(values.dropna().unique(), key=natural_order)
            values = values.astype(pd.CategoricalDtype(in_order))
    used = values.astype("category").cat.remove_unused_categories()
    names = [plain_text(value) for value in used.cat.categories]
    return used.cat.codes.to_numpy().astype(np.intp), names


def _counts(rows: NDArray[np.intp], columns: NDArray[np.intp], n_rows: int) -> Counts:
    n_columns = int(columns.max(initial=0)) + 1
    counts: Counts = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return counts.reshape(n_rows, n_columns)


@dataclass(frozen=True)
class _Table:
    """Counts of clusters and categories, without empty ones, as for a chi-squared test."""

    counts: Counts

    @property
    def expected(self) -> NDArray[np.float64]:
        """Counts that are expected without an association."""
        rows, columns = self.counts.sum(axis=1), self.counts.sum(axis=0)
        return np.asarray(np.outer(rows, columns) / self.counts.sum())

    @property
    def statistic(self) -> float:
        """The chi-squared statistic."""
        return float(((self.counts - self.expected) ** 2 / self.expected).sum())

    @property
    def cramers_v(self) -> float:
        """Cramer's V, the size of the association between 0 and 1."""
        least = min(self.counts.shape) - 1
        return float(np.sqrt(self.statistic / (self.counts.sum() * least)))

    def p_value(self) -> tuple[str, float]:
        """Return the name of the test that suits the counts, and its p-value."""
        expected = self.expected
        if expected.min() >= 1 and np.mean(expected < 5) <= 0.2:
            freedom = (self.counts.shape[0] - 1) * (self.counts.shape[1] - 1)
            return "chi-squared", float(stats.chi2.sf(self.statistic, freedom))
        if self.counts.shape == (2, 2):
            return "Fisher's exact", float(stats.fisher_exact(self.counts).pvalue)
        return self._permuted()

    def _permuted(self) -> tuple[str, float]:
        """Compare the statistic with those of random tables that have the same totals."""
        size = self.counts.size
        n_tables = min(_PERMUTATIONS, max(_LEAST_PERMUTATIONS, _MOST_COUNTS // size))
        random = stats.random_table(self.counts.sum(axis=1), self.counts.sum(axis=0))
        rng, expected = np.random.default_rng(0), self.expected
        least = self.statistic * (1 - 1e-9)  # equal ones count, whatever their last digits
        n_larger = 0
        batch = max(1, _BATCH_COUNTS // size)
        for start in range(0, n_tables, batch):
            tables = random.rvs(min(batch, n_tables - start), random_state=rng)
            n_larger += int(
                (((tables - expected) ** 2 / expected).sum(axis=(1, 2)) >= least).sum()
            )
        return f"chi-squared, {n_tables} permutations", (n_larger + 1) / (n_tables + 1)


_NO_TEST = ("none", np.nan, np.nan, np.nan)


def _test(
    clusters: NDArray[Any], values: pd.Series[Any], kind: Kind
) -> tuple[str, float, float, float]:
    """Return the name of a test, its statistic, p-value and the size of the effect."""
    names, codes = np.unique(clusters, return_inverse=True)
    if len(names) < 2 or values.nunique() < 2:
        return _NO_TEST
    if kind == "number":
        return _kruskal(codes, _known(values).to_numpy(dtype=float), len(names))
    if kind == "date":
        return _kruskal(codes, np.asarray(days_of(values)), len(names))
    table = _Table(_counts(codes, categories_of(_known(values))[0], len(names)))
    test, p_value = table.p_value()
    return test, table.statistic, p_value, table.cramers_v


def _kruskal(
    codes: NDArray[np.intp], numbers: NDArray[np.float64], n_clusters: int
) -> tuple[str, float, float, float]:
    found = stats.kruskal(*(numbers[codes == cluster] for cluster in range(n_clusters)))
    rest = len(numbers) - n_clusters
    effect = (found.statistic - n_clusters + 1) / rest if rest else np.nan
    return "Kruskal-Wallis", float(found.statistic), float(found.pvalue), max(effect, 0.0)


def _adjusted(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values for their number (Benjamini-Hochberg); NaN stays NaN."""
    adjusted = np.full(len(p_values), np.nan)
    known = ~np.isnan(p_values)
    if known.any():
        adjusted[known] = stats.false_discovery_control(p_values[known])
    return adjusted
