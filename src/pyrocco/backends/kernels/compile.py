"""The decorator that compiles every kernel."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

# Numba reads NUMBA_DISABLE_JIT=1 when it is imported. Kernels then run as plain Python.
JIT_IS_DISABLED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
# Kernels are called from Python and from kernels, never from C: that entry is not compiled.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
    "no_cfunc_wrapper": True,
}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call, without the GIL, and cache the machine code.

    The cache is on disk, for later processes. If no folder for it can be written, the function
    is compiled in every process. Without just-in-time compilation the function stays plain
    Python with the arithmetic of compiled code: integers wrap, and division by zero is infinite.
    """
    if JIT_IS_DISABLED:
        silent: Callable[..., Any] = np.errstate(all="ignore")(function)
        return silent
    try:
        return _compiled(function, cache=True)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        return _compiled(function, cache=False)


def _compiled(function: Callable[..., Any], cache: bool) -> Callable[..., Any]:
    compiled: Callable[..., Any] = numba.njit(cache=cache, **_OPTIONS)(function)
    return compiled
