"""Facts about the values of a matrix, the preparation they seem to need, the cost of a fit."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense, Floats, Matrix, is_sparse, stored_values
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import SMALLEST, SPARSE_DENSITY, in_safe_range
from pyrocco.validation import check_count

# Relative difference up to which lengths and totals of rows count as equal.
_SAME_TOTAL = 1e-3
# Difference up to which a mean counts as 0 and a standard deviation as 1.
_SCALED = 0.05
_SAMPLE_ROWS = 200

# Marks and answers on a scale are whole numbers like counts, but need no logarithm.
_LARGEST_MARK = 10
_SKEWED = 10
_DIFFERENT_UNITS = 10

_SAMPLE_NAMES = 2000
_ENSEMBL = re.compile(r"ENS[A-Z]{0,4}G\d{6,}(\.\d+)?( .*)?$")
# Genes of humans and mice that nearly every experiment detects.
_SYMBOL = re.compile(r"(RP[LS]P?\d+[AXYL]?|MT-[A-Z0-9]+|ACTB|GAPDH|B2M|MALAT1|EEF1A1|TP53|MYC)$")
_WORD = re.compile(r"[a-z]{2,20}$")

# Measured with ROCCO() on two cores of a 2.8 GHz Xeon, 1,000 x 1,000 to 20,000 x 1,000. They
# agree with benchmarks/speed/results/growth_refined.md to within a factor of two.
_SECONDS, _WORK, _EXPONENT = 5.0, 7e10, 0.65
_BASE_BYTES, _COPIES = 350e6, 7


@dataclass(frozen=True)
class Facts:
    """Numbers that describe the values of a matrix.

    Attributes
    ----------
    n_rows, n_columns, n_missing : int
        Numbers of rows, columns and missing values.
    density : float
        Fraction of the cells that hold a number other than zero.
    minimum, maximum, mean : float
        Over the values that are not missing.
    is_whole : bool
        Whether all of them are whole numbers.
    has_unit_rows : bool
        Whether all rows have length 1, as after tf-idf.
    has_equal_totals : bool
        Whether all rows have the same total once a logarithm is undone.
    has_unit_columns : bool
        Whether columns have mean 0 and standard deviation 1.
    skew : float
        Largest value of a column divided by its mean, the median over the columns; 1 if there
        are negative values.
    spread : float
        Ratio of the 95 % to the 5 % quantile of the columns' standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import gather_facts
    >>> facts = gather_facts(np.array([[1.0, 0.0], [np.nan, 3.0]]))
    >>> facts.n_missing, facts.density, facts.maximum, facts.is_whole
    (1, 0.5, 3.0, True)
    """

    n_rows: int
    n_columns: int
    n_missing: int
    density: float
    minimum: float
    maximum: float
    mean: float
    is_whole: bool
    has_unit_rows: bool
    has_equal_totals: bool
    has_unit_columns: bool
    skew: float
    spread: float


def gather_facts(X: Matrix) -> Facts:
    """Compute facts about the values of a matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; NaN marks missing values.

    Returns
    -------
    Facts

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import gather_facts
    >>> gather_facts(np.eye(4)).has_unit_rows
    True
    """
    X = check_matrix(X)
    values = stored_values(X)
    n_missing = int(np.isnan(values).sum())
    n_cells = X.shape[0] * X.shape[1]
    has_zeros = is_sparse(X) and values.size < n_cells
    bounds: dict[str, Any] = {"initial": 0.0} if has_zeros else {}
    # Sums of squares of extreme values would be out of range.
    safe, exponent = in_safe_range(X)
    statistics = (np.ldexp(part, exponent) for part in _column_statistics(safe))
    means, deviations, maxima = statistics
    total = float(np.nansum(stored_values(safe), dtype=np.float64))
    minimum = float(np.fmin.reduce(values, axis=None, **bounds))
    return Facts(
        n_rows=int(X.shape[0]),
        n_columns=int(X.shape[1]),
        n_missing=n_missing,
        density=(int(np.count_nonzero(values)) - n_missing) / n_cells,
        minimum=minimum,
        maximum=float(np.fmax.reduce(values, axis=None, **bounds)),
        mean=math.ldexp(total / max(n_cells - n_missing, 1), exponent),
        is_whole=bool(np.all((values == np.floor(values)) | np.isnan(values))),
        has_unit_rows=_are_equal(_row_sums(X, np.square), 1.0),
        has_equal_totals=_are_equal(_row_sums(X, _undo_log)),
        has_unit_columns=_are_scaled(means, deviations),
        skew=_skew(means, maxima) if minimum >= 0 else 1.0,
        spread=_spread(deviations),
    )


def _column_statistics(X: Matrix) -> tuple[Floats, Floats, Dense]:
    """Return means, standard deviations and maxima of the columns without missing values."""
    if is_sparse(X):
        filled = sparse.csr_array(X, copy=True)
        missing = np.isnan(filled.data)
        counts = X.shape[0] - np.bincount(filled.indices[missing], minlength=X.shape[1])
        filled.data[missing] = 0
        sums, squares = filled.sum(axis=0), filled.power(2).sum(axis=0)
        maxima = filled.max(axis=0).toarray().ravel()
    else:
        counts = (~np.isnan(X)).sum(axis=0)
        filled = np.nan_to_num(X)
        sums, squares = filled.sum(axis=0), np.einsum("ij,ij->j", filled, filled)
        maxima = np.fmax.reduce(X, axis=0)
    counts = np.maximum(counts, 1)
    means = np.asarray(sums, dtype=np.float64) / counts
    variances = np.asarray(squares, dtype=np.float64) / counts - means**2
    return means, np.sqrt(np.maximum(variances, 0)), maxima


def _row_sums(X: Matrix, function: Callable[[Dense], Dense]) -> Dense:
    """Sum a function of the values over the first rows; NaN if a value is missing."""
    rows = X[:_SAMPLE_ROWS]
    with np.errstate(over="ignore", under="ignore"):
        if not is_sparse(rows):
            return np.asarray(function(rows).sum(axis=1))
        mapped = sparse.csr_array(rows, copy=True)
        mapped.data = function(mapped.data)
        return np.asarray(mapped.sum(axis=1)).ravel()


def _undo_log(values: Dense) -> Dense:
    """Return the counts whose logarithm the values may be; NaN if they would be too large."""
    return np.expm1(np.where(values < 50, values, np.nan))


def _are_equal(sums: Dense, value: float | None = None) -> bool:
    """Whether the sums of nonzero rows are equal to each other, or to `value`."""
    sums = sums[sums != 0]
    if len(sums) < 2:
        return False
    target = np.median(sums) if value is None else value
    return bool(np.all(np.abs(sums - target) < _SAME_TOTAL * abs(target)))


def _are_scaled(means: Floats, deviations: Floats) -> bool:
    varying = deviations > 0
    if not varying.any():
        return False
    centred = np.abs(means[varying]) < _SCALED
    return bool(np.mean(centred & (np.abs(deviations[varying] - 1) < _SCALED)) > 0.9)


def _skew(means: Floats, maxima: Dense) -> float:
    positive = means > 0
    return float(np.median(maxima[positive] / means[positive])) if positive.any() else 1.0


def _spread(deviations: Floats) -> float:
    varying = deviations[deviations > 0]
    if len(varying) < 2:
        return 1.0
    low, high = np.quantile(varying / varying.max(), [0.05, 0.95])
    return float(high / max(low, SMALLEST))


@dataclass(frozen=True)
class Advice:
    """What the values seem to be, and which preparation they need.

    Attributes
    ----------
    kind : str
        What the values seem to be, in a few words.
    steps : tuple of str
        Names of preparations (`pyrocco.prepare`) in the order of application; empty if none is
        needed.
    transpose : bool
        Whether to swap rows and columns first.
    reason : str
        An explanation in plain sentences.

    Examples
    --------
    >>> from pyrocco.inspection import Advice
    >>> Advice("marks", (), False, "Whole numbers on a short scale.").steps
    ()
    """

    kind: str
    steps: tuple[str, ...]
    transpose: bool
    reason: str


def advise(
    facts: Facts, row_names: Sequence[str] = (), column_names: Sequence[str] = ()
) -> Advice:
    """Recommend preparations. Nothing is applied.

    Parameters
    ----------
    facts : Facts
        Facts about the values.
    row_names, column_names : sequence of str
        Names, from which genes and words can be recognised.

    Returns
    -------
    Advice

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import advise, gather_facts
    >>> X = np.random.default_rng(0).poisson([0.1, 100.0], (50, 2))
    >>> advise(gather_facts(X.astype(float))).steps
    ('normalize', 'log1p')
    """
    genes_are_rows = look_like_genes(row_names) and not look_like_genes(column_names)
    kind, steps, reason = _judge(facts, row_names if genes_are_rows else column_names)
    transpose = genes_are_rows and bool(steps)
    if transpose:
        reason = f"Rows look like genes, but preparations expect cells as rows. {reason}"
    return Advice(kind, steps, transpose, reason)


# Kind, steps and reason of an advice.
_Judgement = tuple[str, tuple[str, ...], str]

_GENE_COUNTS: _Judgement = (
    "counts of genes",
    ("normalize", "log1p"),
    "Sequencing depth differs between cells, and a few genes dominate the others.",
)
_WORD_COUNTS: _Judgement = (
    "counts of words",
    ("tfidf",),
    "Documents differ in length, and words that occur everywhere carry little information.",
)
_COUNTS: _Judgement = (
    "counts",
    ("normalize", "log1p"),
    "Whole numbers from 0 upwards look like counts. If the columns are words and the rows "
    "documents, use tfidf instead.",
)
_YES_NO: _Judgement = ("yes or no", (), "All values are 0 or 1.")
_MARKS: _Judgement = ("marks", (), "Whole numbers on a short scale.")
_TFIDF: _Judgement = ("tf-idf", (), "All rows have length 1, as after tf-idf.")
_LOGARITHMS: _Judgement = (
    "logarithms",
    (),
    "The values look like logarithms of rows that were scaled to the same total.",
)
_UNIT_COLUMNS: _Judgement = (
    "scaled",
    (),
    "Columns already have mean 0 and standard deviation 1.",
)
_LONG_TAILED: _Judgement = (
    "long-tailed",
    ("log1p",),
    "The largest values of a column are many times its mean and would dominate all others.",
)
_UNITS: _Judgement = (
    "different units",
    ("zscore",),
    "Columns vary on very different scales, and the widest would dominate all others.",
)
_ONE_SCALE: _Judgement = ("one scale", (), "All columns vary on a similar scale.")


def _judge(facts: Facts, column_names: Sequence[str]) -> _Judgement:
    if facts.minimum < 0:
        return _UNIT_COLUMNS if facts.has_unit_columns else _judge_scale(facts)
    if facts.is_whole:
        return _judge_whole(facts, column_names)
    if facts.has_unit_rows and facts.density < SPARSE_DENSITY:
        return _TFIDF
    if facts.has_equal_totals:
        return _LOGARITHMS
    return _LONG_TAILED if facts.skew > _SKEWED else _judge_scale(facts)


def _judge_whole(facts: Facts, column_names: Sequence[str]) -> _Judgement:
    if facts.maximum <= 1:
        return _YES_NO
    if look_like_genes(column_names):
        return _GENE_COUNTS
    if look_like_words(column_names) and facts.density < SPARSE_DENSITY:
        return _WORD_COUNTS
    is_short = facts.maximum <= _LARGEST_MARK and facts.density >= SPARSE_DENSITY
    return _MARKS if is_short else _COUNTS


def _judge_scale(facts: Facts) -> _Judgement:
    return _UNITS if facts.spread > _DIFFERENT_UNITS else _ONE_SCALE


def look_like_genes(names: Sequence[str]) -> bool:
    """Whether names look like genes: Ensembl identifiers, or common gene symbols.

    Parameters
    ----------
    names : sequence of str
        Names of rows or of columns.

    Returns
    -------
    bool

    Examples
    --------
    >>> from pyrocco.inspection import look_like_genes
    >>> look_like_genes(["ENSG00000141510", "ENSG00000136997"])
    True
    >>> look_like_genes(["liver", "heart"])
    False
    """
    if _matching_fraction(_ENSEMBL, names) > 0.5:
        return True
    return sum(bool(_SYMBOL.match(name.upper())) for name in names) >= 3


def look_like_words(names: Sequence[str]) -> bool:
    """Whether names look like the words of texts: many names in lower-case letters.

    Parameters
    ----------
    names : sequence of str
        Names of columns.

    Returns
    -------
    bool

    Examples
    --------
    >>> from pyrocco.inspection import look_like_words
    >>> look_like_words(["column_0", "column_1"])
    False
    """
    return len(names) >= 50 and _matching_fraction(_WORD, names) > 0.8


def _matching_fraction(pattern: re.Pattern[str], names: Sequence[str]) -> float:
    sample = names[:_SAMPLE_NAMES]
    return sum(bool(pattern.match(name)) for name in sample) / max(len(sample), 1)


@dataclass(frozen=True)
class Cost:
    """Time and memory of a fit.

    Attributes
    ----------
    seconds : float
        Time on two cores.
    memory : float
        Peak memory in bytes.

    Examples
    --------
    >>> from pyrocco.inspection import Cost
    >>> print(Cost(12.3, 2.5e9))
    about 12 s on two cores and 2.5 GB of memory
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        time = _format_time(self.seconds)
        return f"about {time} on two cores and {self.memory / 1e9:.1f} GB of memory"


def estimate_cost(n_rows: int, n_columns: int, itemsize: int = 8) -> Cost:
    """Estimate time and memory of ``ROCCO().fit`` to within a factor of three.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrix. A sparse matrix costs as much as a dense one, because the
        representation is dense.
    itemsize : int
        Bytes per number: 8 for float64, 4 for float32.

    Returns
    -------
    Cost

    Examples
    --------
    >>> from pyrocco.inspection import estimate_cost
    >>> print(estimate_cost(5000, 2000))
    about 5 s on two cores and 0.9 GB of memory
    """
    n_rows, n_columns = check_count("n_rows", n_rows), check_count("n_columns", n_columns)
    check_count("itemsize", itemsize)
    work = n_rows**2 * n_columns + n_columns**2 * n_rows
    memory = _BASE_BYTES + _COPIES * itemsize * n_rows * n_columns
    return Cost(_SECONDS * (work / _WORK) ** _EXPONENT, memory)


def machine_memory() -> float | None:
    """Return the memory of this machine in bytes, or None if the system does not report it.

    Returns
    -------
    float or None

    Examples
    --------
    >>> from pyrocco.inspection import machine_memory
    >>> machine_memory() is None or machine_memory() > 0
    True
    """
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None


def _format_time(seconds: float) -> str:
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"
