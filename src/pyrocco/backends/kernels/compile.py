"""The decorator that compiles every kernel."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache

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


class CheckedCache(FunctionCache):
    """numba's cache on disk, but machine code for other types than its entry says is not used.

    numba does not lock its cache. Two processes that compile a function for different types at
    the same time may store both under the same name, and every later process would then fail.
    """

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the machine code for a signature; None if it must be compiled."""
        found = super().load_overload(signature, target_context)
        return found if found is None or tuple(found.signature.args) == signature else None


def _compiled(function: Callable[..., Any], cache: bool) -> Callable[..., Any]:
    compiled: Any = numba.njit(cache=cache, **_OPTIONS)(function)
    if cache:
        compiled._cache = CheckedCache(function)
    return compiled  # type: ignore[no-any-return]
