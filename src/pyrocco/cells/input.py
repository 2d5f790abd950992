"""The check of every matrix that a user passes, before anything is computed from it.

scikit-learn's checks do the work. What they leave open is settled here first: damaged sparse
matrices, masks, dates, texts, and objects that are no matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from pyrocco._typing import Dense, Matrix, MatrixLike
from pyrocco.backends import is_dask_array
from pyrocco.cells.sparse_check import check_sparse_indices
from pyrocco.validation import shown

_NUMBERS, _TEXTS = "fiub", "OSUT"
# How the types of columns with points or spans of time begin, in pandas and in polars.
_TIMES = ("date", "time", "period", "duration")
# How the types of columns with texts begin in polars.
_TEXT_TYPES = ("str", "utf8", "categorical", "enum")
_LARGEST_INDEX = np.iinfo(np.int32).max
# By one of these an object offers its values as an array or as a table.
_OFFERS = ("__array__", "__array_interface__", "__dataframe__", "__cuda_array_interface__")


def check_matrix(
    X: MatrixLike,
    *,
    estimator: object = None,
    reset: bool = True,
    allow_nan: bool = True,
    **options: Any,
) -> Matrix:
    """Return the matrix as a dense array or in CSR format, with float32 or float64 values.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
        What the user passed; it is not changed. Masked values become NaN.
    estimator : estimator, optional
        Where to store the number and the names of the columns (`reset`), or to compare with.
    reset : bool
        Whether the matrix is that of a fit.
    allow_nan : bool
        Whether missing values are allowed. Infinite values never are.
    **options : dict
        Further options of scikit-learn's ``check_array``.

    Returns
    -------
    ndarray or CSR matrix
        A sparse matrix has sorted indices without repetitions.

    Raises
    ------
    ValueError, TypeError
        `X` is no matrix of numbers, or a damaged sparse matrix.

    Examples
    --------
    >>> check_matrix([[1, None], [3, 4]])
    array([[ 1., nan],
           [ 3.,  4.]])
    >>> check_matrix(np.array([["2024-05-01"]], dtype="datetime64[D]"))
    Traceback (most recent call last):
    ...
    ValueError: X holds dates or times (datetime64[D]), not numbers: convert them to numbers in ...
    """
    options = {
        "accept_sparse": "csr",
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": "allow-nan" if allow_nan else True,
        **options,
    }
    X = _readable(X)
    # What is too large for float64 is refused as infinite; sums need not be finite.
    with np.errstate(over="ignore", invalid="ignore"):
        if estimator is None:
            checked: Matrix = check_array(X, input_name="X", **options)
        else:
            checked = validate_data(estimator, X, reset=reset, **options)
    return checked


def checked_chunks(X: Any) -> Any:
    """Return a Dask array whose chunks are checked before anything else is done with them."""
    return X.map_blocks(check_chunk, dtype=X.dtype, meta=X._meta)


def check_chunk(chunk: Any, block_info: Any = None) -> Any:
    """Check one chunk of a Dask array: its shape, its type, its mask and its sparse indices.

    Parameters
    ----------
    chunk : ndarray or sparse matrix
        The chunk.
    block_info : dict, optional
        What Dask says about the chunk; see ``dask.array.map_blocks``.

    Returns
    -------
    ndarray or CSR matrix

    Examples
    --------
    >>> check_chunk(np.ma.array([[1.0, 2.0]], mask=[[True, False]]))
    array([[nan,  2.]])
    """
    if block_info:
        stated = tuple(stop - start for start, stop in block_info[0]["array-location"])
        if np.shape(chunk) != stated and not np.isnan(stated).any():
            raise ValueError(
                f"A chunk of the Dask array has the shape {np.shape(chunk)} instead of {stated}: "
                "give map_blocks the right chunks=, or call X.compute_chunk_sizes()."
            )
    if isinstance(chunk, np.ma.MaskedArray):
        chunk = _without_mask(chunk)
    if sparse.issparse(chunk):
        return _canonical(chunk)
    _check_kind(np.asarray(chunk).dtype, "A chunk of the Dask array")
    return chunk


def _readable(X: Any) -> Any:
    """Return what scikit-learn can check, or say why this cannot be a matrix of numbers."""
    if is_dask_array(X):
        X = checked_chunks(X).compute()
    if sparse.issparse(X):
        return _canonical(X)
    if isinstance(X, pd.DataFrame):
        return _readable_frame(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        _check_no_times(zip(X.columns, X.dtypes, strict=True))
        _check_no_texts(X)
        return X
    X = _as_array(X)
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    return X if kind in _NUMBERS else _numbers(np.asarray(X), "X", _cell)


def _as_array(X: Any) -> Any:
    """Return an array, or an object that offers one."""
    if isinstance(X, np.ma.MaskedArray):
        return _without_mask(X)
    if isinstance(X, (str, bytes, Path)):
        _refuse(X, " To read a file, use pyrocco.io.read_matrix.")
    if isinstance(X, Sequence):
        return _from_sequence(X)
    if not any(hasattr(X, offer) for offer in _OFFERS):
        _refuse(X)
    return X


def _canonical(X: Any) -> Any:
    """Return a sparse matrix as CSR with sorted indices and without repeated or spare entries.

    The arrays are shared with `X` if nothing has to be changed.
    """
    check_sparse_indices(X)
    _check_kind(X.dtype, "X")
    csr = X.tocsr()
    n_stored = csr.indptr[-1]
    # Indices of 32 bits where they suffice: some methods of scikit-learn take no others.
    index = np.int32 if max(n_stored, *csr.shape) <= _LARGEST_INDEX else np.int64
    pointers = csr.indptr.astype(index, copy=False)
    indices = csr.indices[:n_stored].astype(index, copy=False)
    # A new object, because the flags of the given one may date from before a change.
    fresh = type(csr)((csr.data[:n_stored], indices, pointers), shape=csr.shape)
    if not fresh.has_canonical_format:
        fresh = fresh.copy()
        fresh.sum_duplicates()
    return fresh


def _without_mask(X: Any) -> Any:
    if X.dtype.kind not in _NUMBERS or not np.ma.is_masked(X):
        return X.data
    floats = X if X.dtype.kind == "f" else X.astype(np.float64)
    return floats.filled(np.nan)


def _from_sequence(X: Sequence[Any]) -> Dense:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "X is a list whose rows have different lengths: give every row a value for every "
            "column, NaN or None where it is missing."
        ) from error


def _readable_frame(X: pd.DataFrame) -> pd.DataFrame | Dense:
    dtypes = list(X.dtypes)
    if not dtypes:
        return np.empty(X.shape)  # refused like other matrices without columns
    repeated = X.columns[X.columns.duplicated()]
    if len(repeated):
        raise ValueError(
            f"X has several columns named {shown(repeated[0])}: rename them, or pass X.to_numpy()."
        )
    _check_no_times(zip(X.columns, dtypes, strict=True))
    if all(_is_plain(dtype) for dtype in dtypes):
        return X
    if all(isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in dtypes):
        return X  # stays sparse
    columns = [_column(X.iloc[:, j], name) for j, name in enumerate(X.columns)]
    return pd.DataFrame(np.column_stack(columns), X.index, X.columns)


def _is_plain(dtype: object) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in _NUMBERS


def _column(column: pd.Series, name: object) -> Dense:
    """Return the numbers of a column; missing values of every kind become NaN."""
    place = f"column {shown(name)} of X"
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.astype(column.dtype.subtype)
    if pd.api.types.is_numeric_dtype(column.dtype) and not isinstance(column.dtype, np.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return _numbers(np.asarray(column), place, lambda where: f"row {where[0]} of {place}")


def _check_no_times(columns: Any) -> None:
    for name, dtype in columns:
        if str(dtype).lower().startswith(_TIMES):
            _refuse_times(f"column {shown(name)} of X", str(dtype))


def _check_no_texts(X: Any) -> None:
    """Refuse a column of texts in a table of polars or another library, if it has no numbers."""
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if str(dtype).lower().startswith(_TEXT_TYPES):
            _column(pd.Series(X[name].to_list(), dtype=object), name)


def _numbers(values: Dense, name: str, cell: Callable[[tuple[int, ...]], str]) -> Dense:
    """Convert texts and objects to float64, if each of them is a number or missing."""
    if values.dtype.kind in _NUMBERS:
        return values
    if values.dtype.kind == "O":
        values = _without_missing(values, name)
    elif values.dtype.kind not in _TEXTS:
        _check_kind(values.dtype, name)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        _explain(values, cell, error)


def _check_kind(dtype: np.dtype[Any], name: str) -> None:
    """Raise a ValueError unless a type is one of numbers, and say what to do."""
    if dtype.kind in _NUMBERS:
        return
    if dtype.kind in "mM":
        _refuse_times(name, str(dtype))
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} holds complex numbers; pass their real parts or "
            "their absolute values."
        )
    raise ValueError(
        f"{name} has the type {dtype}, not numbers: pass an array with one number in each cell, "
        "or a DataFrame."
    )


def _without_missing(values: Dense, name: str) -> Dense:
    """Return objects with NaN in place of every kind of missing value."""
    for kind in set(map(type, values.ravel())):
        if issubclass(kind, (np.datetime64, np.timedelta64)):
            _refuse_times(name, kind.__name__)
    return np.where(pd.isna(values), np.nan, values)


def _explain(values: Dense, cell: Callable[[tuple[int, ...]], str], error: Exception) -> NoReturn:
    """Say which cell is not a number."""
    kind = ValueError if isinstance(error, OverflowError) else type(error)
    for where, value in np.ndenumerate(values):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError) as reason:
            plain = value.item() if isinstance(value, np.generic) else value
            message = f"{cell(where)} holds {shown(plain)}, not a number ({reason})"
            raise kind(
                f"{message}: remove what is not a number, or encode texts with "
                "pyrocco.prepare.encode."
            ) from error
    raise kind(str(error)) from error


def _cell(where: tuple[int, ...]) -> str:
    return f"X[{', '.join(map(str, where))}]"


def _refuse_times(name: str, kind: str) -> NoReturn:
    raise ValueError(
        f"{name} holds dates or times ({kind}), not numbers: convert them to numbers in a unit "
        "that you choose, such as days since a date, or leave them out."
    )


def _refuse(X: object, remedy: str = "") -> NoReturn:
    raise TypeError(
        "X must be an array, a DataFrame or a sparse matrix with rows and columns; got "
        f"{type(X).__name__}.{remedy}"
    )
