"""Conjugate gradients for a Newton system, on the arrays of any back end."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyrocco._typing import DeviceArray
from pyrocco.backends import ArrayBackend


def conjugate_gradients(
    multiply: Callable[[DeviceArray], DeviceArray],
    target: DeviceArray,
    diagonal: DeviceArray,
    backend: ArrayBackend,
    *,
    tol: float,
    max_iter: int,
) -> DeviceArray:
    """Solve A x = target from x = 0, with Jacobi preconditioner.

    `multiply` returns A x, and `diagonal` approximates the diagonal of A. It stops when the norm
    of the residual is at most `tol` times that of the target, or after `max_iter` iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends import NumpyBackend
    >>> diagonal = np.array([[1.0, 2.0]])
    >>> conjugate_gradients(
    ...     lambda x: diagonal * x, diagonal, diagonal, NumpyBackend(), tol=0.1, max_iter=9
    ... )
    array([[1., 1.]])
    """
    solution: DeviceArray = backend.zeros_like(target)
    residual: DeviceArray = backend.copy(target)
    direction: DeviceArray = residual / diagonal
    weighted = backend.dot(residual, direction)
    enough = tol * math.sqrt(backend.dot(target, target))
    for _ in range(max_iter):
        if math.sqrt(backend.dot(residual, residual)) <= enough:
            break
        image = multiply(direction)
        step = weighted / backend.dot(direction, image)
        solution += step * direction
        residual -= step * image
        scaled = residual / diagonal
        before, weighted = weighted, backend.dot(residual, scaled)
        direction = scaled + (weighted / before) * direction
    return solution
