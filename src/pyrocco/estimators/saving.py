"""Models to files and back: parameters and everything that a fit left, without pickle."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pyrocco.assign import CoClusterer, ContinuousAssigner, EachSide, SilhouetteKMeans
from pyrocco.assign.labels import RoundClusters
from pyrocco.assign.nested import NestedClusters, NestedSide
from pyrocco.assign.profiles import BlockProfiles, FeatureProfiles
from pyrocco.backends import NumpyBackend, TorchBackend
from pyrocco.estimators.cleaning import DenseCleaner, FilledCleaner
from pyrocco.estimators.deferred import Deferred
from pyrocco.estimators.departures import Limits, MeanRows
from pyrocco.estimators.placing import Placer
from pyrocco.estimators.recognition import SeenRows
from pyrocco.estimators.statistics import Moments, TreeStatistics
from pyrocco.graph import Graph
from pyrocco.io.errors import ModelFileError
from pyrocco.io.model_file import Record, write_model_file
from pyrocco.solvers import (
    AutoSolver,
    BartelsStewartSolver,
    ConjugateGradientSolver,
    DecoupledSolver,
    MultigridSolver,
    SpectralSolver,
)

# Classes whose objects a model may hold, each with what makes it. Their parts are the
# parameters of that, each an attribute of the same name: so it is with dataclasses, named
# tuples, solvers and assigners. A new one is entered here, and nothing else is to be done.
KEPT: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        AutoSolver,
        BartelsStewartSolver,
        BlockProfiles,
        CoClusterer,
        ConjugateGradientSolver,
        ContinuousAssigner,
        DecoupledSolver,
        Deferred,
        DenseCleaner,
        EachSide,
        FeatureProfiles,
        FilledCleaner,
        Graph,
        Moments,
        Limits,
        MeanRows,
        MultigridSolver,
        NestedClusters,
        NestedSide,
        NumpyBackend,
        Placer,
        RoundClusters,
        SeenRows,
        SilhouetteKMeans,
        SpectralSolver,
        TreeStatistics,
    )
}


class SavingMixin:
    """A model that can be written to a file."""

    def save(self, path: str | os.PathLike[str], about: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a file, to be read by `pyrocco.load`.

        The file is a zip archive of a JSON text and NumPy arrays. Nothing in it is code, so
        a file from somebody else can do no harm.

        Parameters
        ----------
        path : str or path
            The file; ``.pyrocco`` is the usual ending. What was there is replaced when the
            new file is complete.
        about : dict, optional
            What else to keep beside the model: texts, numbers, lists, arrays (see
            `pyrocco.estimators.loading.load_with_about`).

        Raises
        ------
        ModelFileError
            A parameter is an object that a file cannot hold, such as a solver of your own.
        NotFittedError
            The model is not fitted.
        """
        check_is_fitted(self)
        if not type(self).__module__.startswith("pyrocco."):
            raise ModelFileError(
                f"{type(self).__name__} is not a class of pyrocco, and a model file holds no "
                "code: pickle the model instead"
            )
        names = self.get_params(deep=False)  # type: ignore[attr-defined]
        # Whoever watched the fit (scikit-learn's callbacks) is no part of the model.
        left = {
            name: value
            for name, value in vars(self).items()
            if name not in names and name != "_skl_callbacks"
        }
        content = {
            "class": type(self).__name__,
            "pyrocco_version": version("pyrocco"),
            "parameters": {name: to_plain(_device_name(value)) for name, value in names.items()},
            "attributes": {name: to_plain(value) for name, value in left.items()},
            "about": to_plain(about or {}),
        }
        write_model_file(path, content)


def to_plain(value: Any) -> Any:
    """Turn the objects that `KEPT` knows into records, however deep they lie.

    Examples
    --------
    >>> to_plain([MultigridSolver(tol=0.1)])[0].parts["tol"]
    0.1
    """
    if isinstance(value, dict):
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, TorchBackend):
        # What was computed on a GPU is in main memory now.
        return to_plain(NumpyBackend())
    if isinstance(value, np.random.RandomState):
        return Record("RandomState", {"state": value.get_state()})
    kind: Any = type(value)
    if kind in KEPT.values():
        names = inspect.signature(kind).parameters
        return Record(kind.__name__, {name: to_plain(getattr(value, name)) for name in names})
    if kind in (list, tuple):
        return kind(to_plain(part) for part in value)
    return value


def from_plain(value: Any) -> Any:
    """Make the objects again that `to_plain` turned into records.

    Examples
    --------
    >>> from_plain(to_plain(MultigridSolver(tol=0.1))).tol
    0.1
    """
    if isinstance(value, dict):
        return {key: from_plain(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(from_plain(part) for part in value)
    if not isinstance(value, Record):
        return value
    if value.name == "RandomState":
        random = np.random.RandomState()
        random.set_state(value.parts["state"])
        return random
    return KEPT[value.name](**{name: from_plain(part) for name, part in value.parts.items()})


def _device_name(value: Any) -> Any:
    """The name of a back end that was given as an object."""
    if isinstance(value, TorchBackend):
        return value.device.type
    return "cpu" if isinstance(value, NumpyBackend) else value
