"""From the blocks of a sample to those of the whole matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.blockmodel.data import BlockData, Pair
from pyrocco.assign.blockmodel.evidence import n_chosen
from pyrocco.assign.blockmodel.fit import BlockFit, means_of, moved

# Rounds over the whole matrix: the sample has done most of the work.
_ROUNDS = 2


def extend(data: BlockData, fit: BlockFit, index: Pair) -> Pair:
    """Give every row and every column its clusters' probabilities.

    Parameters
    ----------
    data : BlockData
        The whole matrix.
    fit : BlockFit
        Blocks of the rows and columns in `index`.
    index : pair of ndarray of int
        Rows and columns of the sample.

    Returns
    -------
    pair of ndarray
        Memberships of all rows and all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.assign.blockmodel import indicator
    >>> from pyrocco.assign.blockmodel.fit import soften
    >>> X = np.kron(np.eye(2), np.full((6, 6), 9.0)) + np.random.default_rng(0).random((12, 12))
    >>> index, half = np.arange(0, 12, 2), indicator(np.repeat([0, 1], 3))
    >>> fit = soften(BlockData(X[::2, ::2]), (half, half))
    >>> extend(BlockData(X), fit, (index, index))[0].argmax(axis=1).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    """
    places = tuple(
        _spread(members, kept, size)
        for members, kept, size in zip(fit.members, index, data.shape, strict=True)
    )
    if len(index[0]) == data.shape[0] and len(index[1]) == data.shape[1]:
        return places[0], places[1]
    rows, columns = (fit.probabilities(data, places[1 - axis], axis) for axis in (0, 1))
    members = rows, columns
    for _ in range(_ROUNDS):
        members = moved(data, means_of(data, members))
    return _nobody_lost(members, (rows, columns))


def _spread(
    members: NDArray[np.float64], index: NDArray[np.intp], size: int
) -> NDArray[np.float64]:
    """Memberships at their places among all rows, zero elsewhere."""
    everywhere = np.zeros((size, members.shape[1]))
    everywhere[index] = members
    return everywhere


def _nobody_lost(after: Pair, before: Pair) -> Pair:
    """Keep the memberships from before where a cluster would lose its last row."""
    lost = any(n_chosen(new) < n_chosen(old) for new, old in zip(after, before, strict=True))
    return before if lost else after
