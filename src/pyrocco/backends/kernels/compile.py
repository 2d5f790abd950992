"""How every kernel is compiled: cached on disk, without division checks, off the GIL."""

from collections.abc import Callable
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call and keep the result for later processes."""
    compiled: Callable[..., Any] = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"}
    )(function)
    return compiled
