"""The experiments: every module of this folder that defines EXPERIMENT."""

from importlib import import_module
from pkgutil import iter_modules

from benchmarks.paper.experiments.base import Experiment, Request

__all__ = ["EXPERIMENTS", "Experiment", "Request"]

_found = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
EXPERIMENTS: dict[str, Experiment] = {
    m.EXPERIMENT.name: m.EXPERIMENT for m in _found if hasattr(m, "EXPERIMENT")
}
