"""What a matrix is made of: blocks, one gradient, or groups of rows with like features.

The number of clusters is another question for each. Blocks of like cells under noise have
as many as the evidence supports, one among them. Rows along a single gradient have no
clusters, however well a cut through them would score. In all other matrices (cells of a
group differ by more than noise) clusters are where rows crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.blockmodel import (
    BlockData,
    BlockFit,
    best_block_fit,
    fit_gradient,
    is_contaminated,
    is_white,
    residuals,
    settle,
)
from pyrocco.assign.blockmodel.data import Pair

# Fewer rows or columns than this carry no blocks that evidence could tell from chance.
LEAST_SIDE = 6


@dataclass(frozen=True)
class Reading:
    """What a matrix was taken for.

    Parameters
    ----------
    kind : {"blocks", "gradient", "features"}
        What it is made of.
    fit : BlockFit or None
        The blocks, where it is made of blocks.
    contaminated : bool
        Whether some cells are off by far more than the rest.
    """

    kind: str
    fit: BlockFit | None = None
    contaminated: bool = False


def read_matrix(
    X: NDArray[Any], starts: Sequence[Pair], numbers: tuple[int | None, int | None]
) -> Reading:
    """Find out what `X` is made of.

    Parameters
    ----------
    X : ndarray
        A matrix of at most a few hundred thousand cells; NaN marks missing ones.
    starts : sequence of pairs of labels
        Partitions of rows and columns, the finest first.
    numbers : pair of int or None
        Numbers of clusters where they are given.

    Returns
    -------
    Reading

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((40, 30))
    >>> fine = np.arange(40) // 4, np.arange(30) // 3
    >>> reading = read_matrix(X, [fine], (None, None))
    >>> reading.kind, [len(set(side)) for side in reading.fit.labels]
    ('blocks', [1, 1])
    """
    data = BlockData(X)
    size = float(np.sqrt(data.squares))
    if size == 0:
        return Reading("features")
    finest = settle(data, starts[0])
    gradient = fit_gradient(X)
    rest = residuals(X, finest)
    # Structure that the finest blocks leave, coarser ones leave too.
    if not is_white(rest, size):
        steep = is_white(gradient.noise, size) and gradient.is_smooth
        return Reading("gradient" if steep else "features")
    fits = [best_block_fit(data, start, numbers) for start in (finest, *starts[1:])]
    fit = max((fit for fit in fits if fit is not None), key=lambda fit: fit.evidence, default=None)
    if fit is None:
        return Reading("features", contaminated=is_contaminated(rest, size))
    noise = residuals(X, fit.labels)
    # Blocks too few, because so many were asked for, can hide that cells are wild.
    contaminated = is_contaminated(noise, size) or is_contaminated(rest, size)
    if gradient.evidence > fit.evidence and max(map(len, map(np.unique, fit.labels))) > 1:
        kind = "gradient" if gradient.is_smooth else "features"
        return Reading(kind, contaminated=contaminated)
    return Reading("blocks" if is_white(noise, size) else "features", fit, contaminated)
