"""The Geman-McClure penalty and its line process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def geman_mcclure(squared: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """rho(y) = mu y^2 / (mu + y^2), Eq. 3, from squared lengths y^2.

    An infinite `mu` gives the convex limit, y^2 itself.

    Examples
    --------
    >>> import numpy as np
    >>> geman_mcclure(np.array([0.0, 1.0, 1e9]), mu=1.0).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    return squared * _ratio(squared, mu)


def line_process(squared: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """L = (mu / (mu + y^2))^2, Eq. 7: the trust in each edge, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> line_process(np.array([0.0, 1.0]), mu=1.0).tolist()
    [1.0, 0.25]
    """
    return _ratio(squared, mu) ** 2


def _ratio(squared: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    if np.isinf(mu):
        return np.ones_like(squared)
    # Coincident rows keep full trust even when mu has run to zero.
    safe = np.where(squared > 0, squared, 1.0)
    return np.where(squared > 0, mu / (mu + safe), 1.0)
