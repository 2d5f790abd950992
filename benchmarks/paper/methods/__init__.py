"""The methods: every module of this folder that defines METHOD."""

from importlib import import_module
from pkgutil import iter_modules

from benchmarks.paper.methods.base import Found, Method, OneSided, TwoSided

__all__ = ["METHODS", "Found", "Method", "OneSided", "TwoSided"]

_found = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
METHODS: dict[str, Method] = {m.METHOD.name: m.METHOD for m in _found if hasattr(m, "METHOD")}
