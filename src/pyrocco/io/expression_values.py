"""What the values of a matrix of gene expression are: counts, logarithms, or scaled values."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pyrocco._typing import Matrix, stored_values
from pyrocco.cells.kinds import Cells
from pyrocco.cells.values import are_whole, to_dense

__all__ = ["LOGARITHMS", "Values", "scaling_of", "values_of"]

Values = Literal["counts", "logarithms", "non-negative values", "scaled values", "real values"]

# How logarithms of counts are prepared, with cells as rows and genes as columns.
LOGARITHMS = Cells(
    "real values",
    ("balance",),
    "The fit divides every value by the square roots of the totals of its cell and its gene, "
    "because they are logarithms of counts. Genes are compared after they were scaled to mean 0 "
    "and standard deviation 1.",
    column_steps=("zscore",),
)

# log(1 + x) of any count that a sequencer can return is below this.
_LARGEST_LOGARITHM = 20
# Range of the median standard deviation of genes that were scaled; some cells may have been
# removed since.
_UNIT = (0.8, 1.25)
# So many cells share the largest value only if values were clipped.
_CLIPPED = 10


def values_of(X: Matrix) -> Values:
    """Return what the values of a matrix of expression are.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_cells, n_genes)
        The matrix.

    Returns
    -------
    {"counts", "logarithms", "non-negative values", "scaled values", "real values"}
        Logarithms are values from 0 to 20 that are not all whole. Scaled values are negative and
        positive, and a typical gene has standard deviation 1.

    Examples
    --------
    >>> counts = np.array([[0.0, 3.0], [5.0, 1.0], [2.0, 2.0]])
    >>> values_of(counts), values_of(np.log1p(counts))
    ('counts', 'logarithms')
    >>> values_of((counts - counts.mean(axis=0)) / counts.std(axis=0))
    'scaled values'
    """
    stored = stored_values(X)
    if not stored.size:
        return "counts"
    least, largest = float(np.nanmin(stored)), float(np.nanmax(stored))
    if least >= 0 and are_whole(X):
        return "counts"
    if least >= 0:
        return "logarithms" if largest <= _LARGEST_LOGARITHM else "non-negative values"
    return "scaled values" if _UNIT[0] < _median_deviation(X) < _UNIT[1] else "real values"


def _median_deviation(X: Matrix) -> float:
    """Return the median of the standard deviations of the columns that vary."""
    deviations = np.nanstd(to_dense(X), axis=0, dtype=np.float64)
    varying = deviations[deviations > 0]
    return float(np.median(varying)) if len(varying) else 0.0


def scaling_of(X: Matrix, values: Values) -> str:
    """Say how values were scaled or clipped; return an empty text if they were not.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The matrix.
    values : str
        What its values are, from `values_of`.

    Examples
    --------
    >>> scaling_of(np.array([[1.0, 0.0], [3.0, 4.0]]), "counts")
    ''
    >>> scaling_of(np.minimum(np.arange(60.0).reshape(20, 3) - 9, 10), "real values")
    'clipped at 10'
    """
    said = ["scaled to standard deviation 1 gene by gene"] if values == "scaled values" else []
    stored = stored_values(X)
    if values in ("scaled values", "real values", "logarithms") and stored.size:
        largest = float(np.nanmax(stored))
        shared = np.count_nonzero(stored == stored.dtype.type(largest))
        # Logarithms of small counts may be equal, but are not whole.
        if shared >= _CLIPPED and (values != "logarithms" or largest.is_integer()):
            said.append(f"clipped at {largest:g}")
    return " and ".join(said)
