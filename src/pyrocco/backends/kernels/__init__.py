"""Loops over plain arrays, compiled by numba, or plain Python if NUMBA_DISABLE_JIT=1 is set.

The modules are imported when one of their kernels is first used, as `kernels.graphs.nearer`. Many
fits use none, and numba takes longer to import and to set up than such a fit takes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyrocco.backends.kernels import clusters, graphs, hashing, linear_systems, multigrid

__all__ = ["clusters", "graphs", "hashing", "linear_systems", "multigrid"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
