"""Preparations: transformations of the values that are applied before a fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from pyrocco._typing import Dense, Floats, Labels, Matrix
from pyrocco.backends import ChunkedMatrix
from pyrocco.cells.input import check_matrix
from pyrocco.cells.methods import METHODS
from pyrocco.cells.side_sums import Table, extent_of
from pyrocco.cells.transforms import Affine, Pointwise, Rows, Transform
from pyrocco.cells.values import check_safe_largest
from pyrocco.validation import check_numbers, check_positive, shown

Moments = tuple[Floats, Floats]
AnyMatrix = TypeVar("AnyMatrix", Matrix, ChunkedMatrix)


@dataclass(frozen=True)
class Step:
    """One preparation as it was learned from a matrix.

    Parameters
    ----------
    name : str
        Its name, a key of `PREPARATIONS`.
    transforms : tuple of Affine or Pointwise
        What it does to the values, in this order.
    target : float or None
        What rows and columns have in common, such as the total to which rows are scaled.
    transposed : bool
        Whether rows and columns swap their roles.
    """

    name: str
    transforms: tuple[Transform, ...]
    target: float | None = None
    transposed: bool = False

    def apply(self, X: Matrix) -> Matrix:
        """Prepare a matrix."""
        for transform in self.transforms:
            X = transform.apply(X)
        return X

    def undo(self, Y: Matrix) -> Matrix:
        """Return the matrix that was prepared."""
        for transform in reversed(self.transforms):
            Y = transform.undo(Y)
        return Y

    def rows(self, rows: Rows) -> Step:
        """Return what is done to some rows."""
        return replace(self, transforms=tuple(part.rows(rows) for part in self.transforms))

    def flipped(self) -> Step:
        """Return the same step for the transpose."""
        transforms = tuple(part.transposed() for part in self.transforms)
        return replace(self, transforms=transforms, transposed=not self.transposed)

    def relearned(self, X: Matrix) -> Step:
        """Learn again what is done to single rows, from the rows of `X`."""
        known = [transform.without_rows() for transform in self.transforms]
        return _learn_step(self.name, X, self.transposed, _affine_part(known), self.target)


@dataclass(frozen=True)
class Preparation:
    """What was learned from a matrix in order to prepare it, and others like it.

    Parameters
    ----------
    steps : tuple of Step
        In the order of application.

    Examples
    --------
    >>> X = np.array([[1.0, 3.0], [20.0, 20.0]])
    >>> Y, preparation = learn_preparations(X, ["normalize", "log1p"])
    >>> Y.round(2)
    array([[1.87, 2.86],
           [2.48, 2.48]])
    >>> preparation.undo(Y)
    array([[ 1.,  3.],
           [20., 20.]])
    """

    steps: tuple[Step, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the steps, in the order of application."""
        return tuple(step.name for step in self.steps)

    def apply(self, X: AnyMatrix) -> AnyMatrix:
        """Prepare the matrix from which the preparation was learned; a new matrix, if changed."""
        if isinstance(X, ChunkedMatrix):
            return self._in_chunks(X, _apply)
        return _apply(X, self.steps)

    def undo(self, Y: AnyMatrix) -> AnyMatrix:
        """Return the matrix that was prepared."""
        if isinstance(Y, ChunkedMatrix):
            return self._in_chunks(Y, _undo)
        return _undo(Y, self.steps)

    @property
    def before_counting(self) -> Preparation:
        """The steps after which values count something: the exchange of yes and no, if any."""
        return Preparation(tuple(step for step in self.steps if step.name == "complement"))

    def for_new_rows(self, X: Matrix) -> Preparation:
        """Return the preparation of new rows: what belongs to columns is that of the fit.

        Examples
        --------
        >>> X = np.array([[1.0, 3.0], [20.0, 20.0]])
        >>> preparation = learn_preparations(X, ["normalize"])[1]
        >>> new = np.array([[1.0, 1.0]])
        >>> preparation.for_new_rows(new).apply(new)
        array([[11., 11.]])
        """
        steps: list[Step] = []
        for step in self.steps:
            steps.append(step.relearned(X))
            X = steps[-1].apply(X)
        return Preparation(tuple(steps))

    def transposed(self) -> Preparation:
        """Return the same preparation of the transpose."""
        return Preparation(tuple(step.flipped() for step in self.steps))

    def rows(self, rows: Rows) -> Preparation:
        """Return the preparation of some rows."""
        return Preparation(tuple(step.rows(rows) for step in self.steps))

    def spread_columns(self, columns: Labels, size: int) -> Preparation:
        """Return the preparation of a matrix with further columns, which have no values."""
        steps = []
        for step in self.steps:
            transforms = (part.spread_columns(columns, size) for part in step.transforms)
            steps.append(replace(step, transforms=tuple(transforms)))
        return Preparation(tuple(steps))

    def _in_chunks(self, X: ChunkedMatrix, work: Any) -> ChunkedMatrix:
        if not self.steps:
            return X
        parts = [self.rows(slice(a, b)).steps for a, b in pairwise(X.ends)]
        return X.with_chunks([X.submit(i, work, steps) for i, steps in enumerate(parts)])


def _apply(X: Matrix, steps: Sequence[Step]) -> Matrix:
    for step in steps:
        X = step.apply(X)
    return X


def _undo(Y: Matrix, steps: Sequence[Step]) -> Matrix:
    for step in reversed(steps):
        Y = step.undo(Y)
    return Y


def _learn_step(
    name: str,
    X: Matrix | ChunkedMatrix,
    transposed: bool,
    known: Affine | None = None,
    target: float | None = None,
) -> Step:
    """Check a matrix and learn one step from it; `known` and `target` are those of a fit."""
    method, extent = METHODS[name], extent_of(X)
    method.check(extent)
    if known is None and extent.n_missing and not method.takes_missing:
        raise ValueError(f"{name} needs a matrix without missing values: fill them in.")
    if method.function is None:  # logarithms of all values are in range
        check_safe_largest(extent.largest, np.float64, name)
    transforms: list[Transform] = []
    if method.function is not None:
        transforms.append(Pointwise(method.function))
        X = Preparation((Step(name, tuple(transforms)),)).apply(X)
    if method.learn is not None:
        known = known or Affine()
        oriented = known.transposed() if transposed else known
        affine, target = method.learn(Table(X, transposed), oriented, target)
        transforms.append(affine.transposed() if transposed else affine)
    return Step(name, tuple(transforms), target, transposed)


def _affine_part(transforms: Sequence[Transform]) -> Affine | None:
    return next((part for part in transforms if isinstance(part, Affine)), None)


def learn_steps(
    X: AnyMatrix, names: Collection[str], transposed: bool = False
) -> tuple[AnyMatrix, Preparation]:
    """Prepare a matrix in memory or in chunks, and return what was learned from it.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The data; it is not changed.
    names : collection of str
        Which preparations to apply.
    transposed : bool
        Whether rows and columns swap their roles, so that `normalize` scales columns.

    Returns
    -------
    X : ndarray, CSR matrix or chunked matrix
        The prepared matrix; `X` itself if there are no names.
    preparation : Preparation
        What was learned.

    Examples
    --------
    >>> X, preparation = learn_steps(np.array([[1.0, 3.0], [1.0, 1.0]]), ["normalize"], True)
    >>> X.sum(axis=0).tolist()
    [3.0, 3.0]
    """
    if {"normalize", "tfidf"} <= set(names) and "log1p" not in names:
        raise ValueError("tfidf scales the rows itself: leave out normalize.")
    steps: list[Step] = []
    for name in METHODS:
        if name in names:
            steps.append(_learn_step(name, X, transposed))
            X = Preparation((steps[-1],)).apply(X)
    return X, Preparation(tuple(steps))


def complement(X: Matrix) -> Dense:
    """Replace every value x by 1 - x, so that yes and no are exchanged.

    For yes/no values of which nearly all are yes: the few that are no can then be counted.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Values from 0 to 1. NaN marks missing values, which stay missing.

    Returns
    -------
    ndarray
        A new matrix with the precision of `X`.

    Raises
    ------
    ValueError
        A value is below 0 or above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import complement
    >>> complement(np.array([[1.0, 0.0, np.nan]]))
    array([[ 0.,  1., nan]])
    """
    return np.asarray(_prepared(check_matrix(X), "complement"))


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
    if total is not None:
        total = check_positive("total", total)
    return _prepared(X, "normalize", target=total)


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
    return _prepared(check_matrix(X), "log1p")


def log(X: Matrix) -> Dense:
    """Replace every value by its natural logarithm, minus the mean of all logarithms.

    For positive values that spread over orders of magnitude, such as intensities. Since the
    mean is subtracted, a change of the unit changes nothing.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Values above 0. NaN marks missing values, which stay missing.

    Returns
    -------
    ndarray
        A new matrix with the precision of `X`.

    Raises
    ------
    ValueError
        A value is zero or negative.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import log
    >>> log(np.array([[1.0, np.e**2]]))
    array([[-1.,  1.]])
    """
    return np.asarray(_prepared(check_matrix(X), "log"))


def tfidf(X: Matrix, idf: Floats | None = None) -> Matrix:
    """Weight words by how few documents contain them, and scale documents to length 1.

    Computes term frequency times inverse document frequency as scikit-learn's
    ``TfidfTransformer`` does.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Word counts without missing values. Rows are documents, columns are words.
    idf : ndarray, optional
        Weights of the words to use instead, such as those of other documents.

    Returns
    -------
    ndarray or sparse matrix
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
    if idf is None:
        return _prepared(X, "tfidf")
    weights = check_numbers("idf", idf, X.shape[1], "column")
    return _prepared(X, "tfidf", Affine(column_factors=weights))


def balance(X: Matrix) -> Matrix:
    """Divide every value by the square roots of the totals of its row and of its column.

    This takes the totals of rows and of columns out of counts, in the same way for both. All
    values are then multiplied by a constant, so that the mean of their squares is 1.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Values of at least 0. NaN marks missing values, which are not counted and stay missing.

    Returns
    -------
    ndarray or sparse matrix
        A new matrix with the format and the precision of `X`. Rows and columns of zeros stay
        zero.

    Raises
    ------
    ValueError
        A value is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import balance
    >>> balance(np.outer([1.0, 10.0], [2.0, 5.0, 3.0])).round(2)
    array([[0.33, 0.52, 0.4 ],
           [1.04, 1.65, 1.28]])
    """
    return _prepared(check_matrix(X), "balance")


def center_rows(X: Matrix) -> Dense:
    """Subtract from every row its mean, shrunken towards the mean of all values.

    For marks of generous and strict raters. The mean is that of the values of the row that are
    present and of one more value, the mean of all: a row with few values is known less well.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data. NaN marks missing values, which are not counted and stay missing.

    Returns
    -------
    ndarray
        A new dense matrix with the precision of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import center_rows
    >>> center_rows(np.array([[4.0, np.nan], [2.0, 3.0]]))
    array([[ 0.5       ,         nan],
           [-0.66666667,  0.33333333]])
    """
    return np.asarray(_prepared(check_matrix(X), "center_rows"))


def scale_rows(X: Matrix) -> Matrix:
    """Scale every row to the same root mean square, shrunken towards that of all values.

    After `center_rows`, for marks of raters some of whom use the whole scale and others a part of
    it. The mean square is that of the values of the row that are present and of ten more values
    of the average size: a row with few values is known less well.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data. NaN marks missing values, which are not counted and stay missing.

    Returns
    -------
    ndarray or sparse matrix
        A new matrix with the format and the precision of `X`. Rows of zeros stay zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import scale_rows
    >>> X = np.array([[1.0, -1.0] * 20, [3.0, -3.0] * 20])
    >>> scale_rows(X)[:, 0].round(2)
    array([1.67, 2.34])
    """
    return _prepared(check_matrix(X), "scale_rows")


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
    if moments is None:
        return np.asarray(_prepared(X, "zscore"))
    if not isinstance(moments, (tuple, list)) or len(moments) != 2:
        raise ValueError(
            "moments must be a pair of arrays with one number for each column, means and "
            f"standard deviations; got {shown(moments)}."
        )
    means, deviations = (
        check_numbers(name, numbers, X.shape[1], "column")
        for name, numbers in zip(("means", "standard deviations"), moments, strict=True)
    )
    known = Affine(column_shifts=means, column_factors=1 / deviations)
    return np.asarray(_prepared(X, "zscore", known))


def center(X: Matrix) -> Dense:
    """Subtract the mean of all values.

    For values that hardly differ in comparison with their mean, such as times in seconds since
    1970: what they have in common would hide the differences.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data. NaN marks missing values, which are not counted and stay missing.

    Returns
    -------
    ndarray
        A new dense matrix with the precision of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import center
    >>> center(np.array([[1e9, 1e9 + 2.0]]))
    array([[-1.,  1.]])
    """
    return np.asarray(_prepared(check_matrix(X), "center"))


def _prepared(
    X: Matrix, name: str, known: Affine | None = None, target: float | None = None
) -> Matrix:
    return _learn_step(name, X, False, known, target).apply(X)


# In the order in which they are applied.
PREPARATIONS: dict[str, Callable[..., Matrix]] = {
    "complement": complement,
    "normalize": normalize,
    "log1p": log1p,
    "log": log,
    "tfidf": tfidf,
    "balance": balance,
    "center_rows": center_rows,
    "scale_rows": scale_rows,
    "zscore": zscore,
    "center": center,
}


def prepare(X: Matrix, names: Collection[str]) -> Matrix:
    """Apply preparations in a fixed order.

    The order is complement, normalize, log1p, log, tfidf, balance, center_rows, scale_rows,
    zscore, center.

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


def learn_preparations(X: Matrix, names: Collection[str]) -> tuple[Matrix, Preparation]:
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
    preparation : Preparation
        What the preparations learned from the data. Pass it to `prepare_alike`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import learn_preparations
    >>> X = np.array([[1.0, 3.0], [20.0, 20.0]])
    >>> learn_preparations(X, ["log1p", "normalize"])[1].names
    ('normalize', 'log1p')
    """
    X = check_matrix(X)
    return learn_steps(X, check_names(names))


def prepare_alike(X: Matrix, learned: Preparation) -> Matrix:
    """Prepare rows in the same way as the rows of an earlier matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Rows with the same columns.
    learned : Preparation
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
    if not isinstance(learned, Preparation):
        raise TypeError(f"learned must be what learn_preparations returned; got {shown(learned)}.")
    return learned.for_new_rows(X).apply(X)


def check_names(names: Collection[str]) -> tuple[str, ...]:
    """Return the names of preparations in the order of application, or raise a ValueError.

    Examples
    --------
    >>> check_names(["log1p", "normalize"])
    ('normalize', 'log1p')
    """
    known = ", ".join(METHODS)
    if isinstance(names, str) or not isinstance(names, Collection):
        raise ValueError(f"names must be a list of preparations ({known}); got {shown(names)}.")
    for name in names:
        if name not in tuple(METHODS):
            raise ValueError(f"preparations are {known}; got {shown(name)}.")
    return tuple(name for name in METHODS if name in names)
