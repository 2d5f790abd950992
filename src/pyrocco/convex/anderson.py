"""Anderson acceleration of a fixed-point iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# Ridge on the least squares, relative: steps become nearly parallel close to the solution.
_RIDGE = 1e-10
# An extrapolation may worsen the residual by this much before it is taken back.
_PATIENCE = 2.0
# Numbers of every remembered step that are worked on at a time.
_PART = 2**13


class AndersonMixer:
    """Extrapolates z <- z + r(z) from its last few steps, and takes back what harms.

    Every `interval` steps the affine combination of the remembered steps with the smallest
    residual replaces the last one (Anderson 1965, type II). If the residual at that point
    turns out much larger, the plain step is used after all.

    Parameters
    ----------
    size : int
        Length of z.
    memory : int, default=5
        Steps to remember; 0 gives the plain iteration.
    interval : int, default=5
        Steps between extrapolations.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.anderson import AndersonMixer
    >>> slopes = np.array([0.9, 0.99])
    >>> z, mixer = np.ones(2), AndersonMixer(2, memory=3, interval=3)
    >>> for _ in range(9):
    ...     z = mixer.step(z, slopes * z - z)
    >>> bool(np.abs(z).max() < 1e-9)
    True
    """

    def __init__(self, size: int, memory: int = 5, interval: int = 5):
        self.memory = memory
        self.interval = interval
        # One place more than is remembered: for the present step.
        self._residuals = np.empty((memory + 1, size if memory else 0))
        self._images = np.empty_like(self._residuals)
        self.reset()

    def reset(self) -> None:
        """Forget all steps, as after a change of the iteration."""
        self._steps = 0
        self._plain: Vector | None = None
        self._limit = np.inf

    def step(self, z: Vector, residual: Vector) -> Vector:
        """Return the next point after `z`, where the iteration moves by `residual`.

        It may be overwritten `memory` steps later.
        """
        if not self.memory:
            return z + residual
        norm = float(np.linalg.norm(residual))
        if self._plain is not None and norm > self._limit:
            plain = self._plain
            self.reset()
            return plain
        self._plain = None
        place = self._steps % len(self._images)
        image: Vector = np.add(z, residual, out=self._images[place])
        self._residuals[place] = residual
        mixed = self._mixed(place) if self._is_due() else None
        self._steps += 1
        if mixed is None:
            return image
        self._plain, self._limit = image, _PATIENCE * norm
        return mixed

    def _is_due(self) -> bool:
        return self._steps > 0 and (self._steps + 1) % self.interval == 0

    def _mixed(self, place: int) -> Vector:
        known = np.arange(max(0, self._steps - self.memory), self._steps) % len(self._images)
        gram, right = np.zeros((len(known), len(known))), np.zeros(len(known))
        for part in self._parts():
            residual = self._residuals[place, part]
            differences = self._residuals[known, part] - residual
            gram += differences @ differences.T
            right += differences @ residual
        gram[np.diag_indices(len(known))] += _RIDGE * np.trace(gram) + np.finfo(float).tiny
        shares = -np.linalg.solve(gram, right)
        mixed = np.empty(self._images.shape[1])
        for part in self._parts():
            mixed[part] = shares @ self._images[known, part]
            mixed[part] += (1.0 - shares.sum()) * self._images[place, part]
        return mixed

    def _parts(self) -> list[slice]:
        """Stretches that stay in the cache: the arrays are much larger."""
        return [slice(a, a + _PART) for a in range(0, self._images.shape[1], _PART)]
