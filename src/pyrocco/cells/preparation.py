"""Preparations: transformations of the values that are applied before a fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from pyrocco._typing import Dense, Floats, Matrix, is_sparse, stored_values
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import check_safe_squares, has_missing, to_dense
from pyrocco.validation import check_numbers, check_positive, shown

Moments = tuple[Floats, Floats]


def normalize(X: Matrix, total: float | None = None) -> Matrix:
    """Scale every row to the same total, the median of the row totals.

    This removes differences in depth between the rows, such as the number of reads per cell or
    the length of a document, and keeps how each row is distributed over the columns.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Values of at least 0. Rows are cells, samples or documents. NaN marks missing values,
        which are not counted and stay missing.
    total : float, optional
        Total to scale to instead of the median, such as that of other rows.

    Returns
    -------
    ndarray or sparse matrix
        A new matrix with the format and the precision of `X`. Rows of zeros stay zero.

    Raises
    ------
    ValueError
        A value is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import normalize
    >>> normalize(np.array([[1.0, 1.0], [30.0, 10.0], [2.0, 2.0]]))
    array([[2., 2.],
           [3., 1.],
           [2., 2.]])
    """
    X = check_matrix(X)
    _check_not_negative(X, "normalize", "rows with negative values cannot be scaled to a total")
    check_safe_squares(X, "normalize")
    if total is not None:
        total = check_positive("total", total, or_zero=True)
    totals = _row_totals(X)
    filled = totals > 0
    if not filled.any():
        return X.copy()
    factors = np.ones_like(totals)
    factors[filled] = (_median_total(X) if total is None else total) / totals[filled]
    factors = factors.astype(X.dtype)
    return sparse.diags_array(factors) @ X if is_sparse(X) else X * factors[:, None]


def log1p(X: Matrix) -> Matrix:
    """Replace every value x by log(1 + x).

    Large values are compressed: a gene that is ten times as frequent as another is then one
    step above it, not ten times as important. Zeros stay zeros.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Values of at least 0. NaN marks missing values, which stay missing.

    Returns
    -------
    ndarray or sparse matrix
        A new matrix with the format and the precision of `X`.

    Raises
    ------
    ValueError
        A value is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import log1p
    >>> log1p(np.array([[0.0, np.e - 1]]))
    array([[0., 1.]])
    """
    X = check_matrix(X)
    _check_not_negative(X, "log1p", "leave out the logarithm")
    if not is_sparse(X):
        return np.asarray(np.log1p(X))
    logged = X.copy()
    logged.data = np.log1p(X.data)
    return logged


def tfidf(X: Matrix, idf: Floats | None = None) -> Matrix:
    """Weight words by how few documents contain them, and scale documents to length 1.

    Computes term frequency times inverse document frequency with scikit-learn's
    ``TfidfTransformer``.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Word counts without missing values. Rows are documents, columns are words.
    idf : ndarray, optional
        Weights of the words to use instead, such as those of other documents.

    Returns
    -------
    ndarray or csr_array
        A new matrix, sparse if `X` is sparse, with the precision of `X`.

    Raises
    ------
    ValueError
        A value is negative or missing.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import tfidf
    >>> tfidf(np.array([[3.0, 0.0], [3.0, 4.0]])).round(2)
    array([[1.  , 0.  ],
           [0.47, 0.88]])
    """
    X = check_matrix(X)
    _check_not_negative(X, "tfidf", "it is for counts of words")
    check_safe_squares(X, "tfidf")
    if has_missing(X):
        raise ValueError("tfidf needs a matrix without missing values: fill them in.")
    transformer = TfidfTransformer()
    if idf is None:
        transformer.fit(sparse.csr_array(X))
    else:
        transformer.idf_ = check_numbers("idf", idf, X.shape[1], "column")
    weighted = transformer.transform(sparse.csr_array(X))
    return sparse.csr_array(weighted) if is_sparse(X) else weighted.toarray()


def zscore(X: Matrix, moments: Moments | None = None) -> Dense:
    """Shift and scale every column to mean 0 and standard deviation 1.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data. NaN marks missing values, which are not counted and stay missing.
    moments : pair of ndarray, optional
        Means and standard deviations to use instead, such as those of other rows.

    Returns
    -------
    ndarray
        A new dense matrix with the precision of `X`. Constant columns become zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import zscore
    >>> zscore(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = check_matrix(X)
    check_safe_squares(X, "zscore")
    scaler = StandardScaler()
    if moments is None:
        return np.asarray(scaler.fit_transform(to_dense(X)))
    if not isinstance(moments, (tuple, list)) or len(moments) != 2:
        raise ValueError(
            "moments must be a pair of arrays with one number for each column, means and "
            f"standard deviations; got {shown(moments)}."
        )
    means, deviations = moments
    scaler.mean_ = check_numbers("means", means, X.shape[1], "column")
    scaler.scale_ = check_numbers("standard deviations", deviations, X.shape[1], "column")
    return np.asarray(scaler.transform(to_dense(X)))


# In the order in which they are applied.
PREPARATIONS: dict[str, Callable[..., Matrix]] = {
    "normalize": normalize,
    "log1p": log1p,
    "tfidf": tfidf,
    "zscore": zscore,
}


def prepare(X: Matrix, names: Collection[str]) -> Matrix:
    """Apply preparations in a fixed order: normalize, log1p, tfidf, zscore.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; it is not changed.
    names : collection of str
        Which preparations to apply, in any order.

    Returns
    -------
    ndarray or sparse matrix

    Raises
    ------
    ValueError
        A name is unknown, one preparation undoes another, or the values do not suit one.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import prepare
    >>> prepare(np.array([[1.0, 3.0], [20.0, 20.0]]), ["log1p", "normalize"]).round(2)
    array([[1.87, 2.86],
           [2.48, 2.48]])
    """
    return learn_preparations(X, names)[0]


def learn_preparations(X: Matrix, names: Collection[str]) -> tuple[Matrix, dict[str, Any]]:
    """Prepare a matrix, and return what is needed to prepare other rows in the same way.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; it is not changed.
    names : collection of str
        Which preparations to apply, in any order.

    Returns
    -------
    X : ndarray or sparse matrix
        The prepared matrix, as `prepare` returns it.
    learned : dict
        For each preparation, in the order of application, what it learned from the data. Pass
        it to `prepare_alike`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import learn_preparations
    >>> X = np.array([[1.0, 3.0], [20.0, 20.0]])
    >>> learn_preparations(X, ["log1p", "normalize"])[1]
    {'normalize': 22.0, 'log1p': None}
    """
    X = check_matrix(X)
    _check_names(names)
    if {"normalize", "tfidf"} <= set(names) and "log1p" not in names:
        raise ValueError("tfidf scales the rows itself: leave out normalize.")
    learned: dict[str, Any] = {}
    for name, step in PREPARATIONS.items():
        if name in names:
            before, X = X, step(X)
            learned[name] = _LEARN[name](before) if name in _LEARN else None
    return X, learned


def prepare_alike(X: Matrix, learned: Mapping[str, Any]) -> Matrix:
    """Prepare rows in the same way as the rows of an earlier matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Rows with the same columns.
    learned : dict
        What `learn_preparations` returned for the earlier matrix.

    Returns
    -------
    ndarray or sparse matrix

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import learn_preparations, prepare_alike
    >>> first = np.array([[1.0, 3.0], [20.0, 20.0]])
    >>> prepared, learned = learn_preparations(first, ["normalize", "zscore"])
    >>> bool((prepare_alike(first[1:], learned) == prepared[1:]).all())
    True
    """
    X = check_matrix(X)
    if not isinstance(learned, Mapping):
        raise TypeError(f"learned must be what learn_preparations returned; got {shown(learned)}.")
    _check_names(list(learned))
    for name, value in learned.items():
        X = PREPARATIONS[name](X) if value is None else PREPARATIONS[name](X, value)
    return X


def _check_names(names: Collection[str]) -> None:
    known = ", ".join(PREPARATIONS)
    if isinstance(names, str) or not isinstance(names, Collection):
        raise ValueError(f"names must be a list of preparations ({known}); got {shown(names)}.")
    for name in names:
        if name not in tuple(PREPARATIONS):
            raise ValueError(f"preparations are {known}; got {shown(name)}.")


def _median_total(X: Matrix) -> float:
    """Return the median total of the rows that are not empty; 0 if all are."""
    totals = _row_totals(X)
    filled = totals[totals > 0]
    return float(np.median(filled)) if len(filled) else 0.0


def _inverse_document_frequencies(X: Matrix) -> Floats:
    """Return the weight of every word: the fewer documents contain it, the larger."""
    return np.asarray(TfidfTransformer().fit(sparse.csr_array(X)).idf_)


def _column_moments(X: Matrix) -> Moments:
    """Return means and standard deviations of the columns; a deviation of 0 becomes 1."""
    scaler = StandardScaler().fit(to_dense(X))
    return scaler.mean_, scaler.scale_


# What a preparation learns from the data; log1p learns nothing.
_LEARN: dict[str, Callable[[Matrix], float | Floats | Moments]] = {
    "normalize": _median_total,
    "tfidf": _inverse_document_frequencies,
    "zscore": _column_moments,
}


def _row_totals(X: Matrix) -> Floats:
    """Sum the values of every row that are not missing."""
    if not is_sparse(X):
        return np.asarray(np.nansum(X, axis=1, dtype=np.float64))
    filled = X.copy()
    filled.data = np.nan_to_num(filled.data.astype(np.float64))
    return np.asarray(filled.sum(axis=1)).ravel()


def _check_not_negative(X: Matrix, name: str, remedy: str) -> None:
    smallest = np.nanmin(stored_values(X), initial=0.0)
    if smallest < 0:
        raise ValueError(
            f"{name} needs values of at least 0, but the smallest is {smallest:g}: {remedy}."
        )
