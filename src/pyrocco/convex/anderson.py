"""Anderson acceleration of a fixed-point iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# Ridge on the least squares, relative: steps become nearly parallel close to the solution.
_RIDGE = 1e-10
# An extrapolation may worsen the residual by this much before it is taken back.
_PATIENCE = 2.0


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
        self._residuals = np.empty((memory, size))
        self._images = np.empty((memory, size))
        # Kept between calls: asking the system for its pages costs more than the arithmetic.
        self._differences = np.empty((memory, size))
        self.reset()

    def reset(self) -> None:
        """Forget all steps, as after a change of the iteration."""
        self._steps = 0
        self._plain: Vector | None = None
        self._limit = np.inf

    def step(self, z: Vector, residual: Vector) -> Vector:
        """Return the next point after `z`, where the iteration moves by `residual`."""
        image = z + residual
        if not self.memory:
            return image
        norm = float(np.linalg.norm(residual))
        if self._plain is not None and norm > self._limit:
            plain = self._plain
            self.reset()
            return plain
        self._plain = None
        mixed = self._mixed(image, residual) if self._is_due() else None
        self._remember(image, residual)
        if mixed is None:
            return image
        self._plain, self._limit = image, _PATIENCE * norm
        return mixed

    def _is_due(self) -> bool:
        return self._steps > 0 and (self._steps + 1) % self.interval == 0

    def _remember(self, image: Vector, residual: Vector) -> None:
        place = self._steps % self.memory
        self._images[place] = image
        self._residuals[place] = residual
        self._steps += 1

    def _mixed(self, image: Vector, residual: Vector) -> Vector:
        known = min(self._steps, self.memory)
        differences = self._differences[:known]
        np.subtract(self._residuals[:known], residual, out=differences)
        gram = differences @ differences.T
        gram[np.diag_indices(known)] += _RIDGE * np.trace(gram) + np.finfo(float).tiny
        shares = -np.linalg.solve(gram, differences @ residual)
        mixed = shares @ self._images[:known]
        mixed += (1.0 - shares.sum()) * image
        return np.asarray(mixed)
