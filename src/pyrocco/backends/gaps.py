"""Where cells are missing, whatever holds the matrix."""

from __future__ import annotations

from typing import Any


def gaps_of(X: Any) -> Any:
    """Which cells of a dense matrix are missing (NaN), as an array of its own kind.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.gaps import gaps_of
    >>> gaps_of(np.array([[1.0, np.nan]])).tolist()
    [[False, True]]
    """
    # Only NaN differs from itself, in NumPy and in PyTorch.
    return X != X  # noqa: PLR0124
