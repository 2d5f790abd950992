"""Model files: the parameters and the fitted attributes of an estimator, without pickle."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pyrocco.assign import CoClusterer, ContinuousAssigner, EachSide, SilhouetteKMeans
from pyrocco.assign.labels import RoundClusters
from pyrocco.assign.nested import NestedClusters, NestedSide
from pyrocco.assign.profiles import BlockProfiles, CountProfiles, FeatureProfiles
from pyrocco.backends import NumpyBackend, TorchBackend
from pyrocco.cells.encoded_columns import (
    CategoryColumn,
    NumberColumn,
    OrderedColumn,
    YesNoColumn,
)
from pyrocco.cells.kinds import Cells
from pyrocco.cells.preparation import Preparation, Step
from pyrocco.cells.transforms import Affine, Pointwise
from pyrocco.fitting.repeated_rows import KnownRows
from pyrocco.fitting.result import Represented
from pyrocco.graph import Graph
from pyrocco.io.errors import ModelFileError
from pyrocco.io.fields import FieldError
from pyrocco.io.model_file import Record, read_model_file, write_model_file
from pyrocco.results.answers import Answers
from pyrocco.results.predict import (
    ExpectedCleaner,
    Limits,
    MeanRows,
    NonzeroCleaner,
    Predictor,
)
from pyrocco.results.statistics import Moments, TreeStatistics
from pyrocco.results.stored_fields import MODELS, check_content
from pyrocco.solvers import (
    AutoSolver,
    BartelsStewartSolver,
    ConjugateGradientSolver,
    DecoupledSolver,
    MultigridSolver,
    SpectralSolver,
)

# Classes whose objects a model may contain. An object is stored as the values of its
# constructor parameters, each of which is an attribute of the same name. To make a new class
# storable, add it here, and what its parameters must be to `stored_fields.OBJECTS`.
STORABLE: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        Affine,
        Answers,
        AutoSolver,
        BartelsStewartSolver,
        BlockProfiles,
        CategoryColumn,
        Cells,
        CoClusterer,
        ConjugateGradientSolver,
        ContinuousAssigner,
        CountProfiles,
        DecoupledSolver,
        EachSide,
        ExpectedCleaner,
        FeatureProfiles,
        Graph,
        KnownRows,
        Limits,
        MeanRows,
        Moments,
        MultigridSolver,
        NestedClusters,
        NestedSide,
        NonzeroCleaner,
        NumberColumn,
        NumpyBackend,
        OrderedColumn,
        Pointwise,
        Predictor,
        Preparation,
        Represented,
        RoundClusters,
        SilhouetteKMeans,
        SpectralSolver,
        Step,
        TreeStatistics,
        YesNoColumn,
    )
}


def save(self: Any, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
    """Write the fitted model to a file, which `pyrocco.load` reads.

    The file is a zip archive of a JSON text and NumPy arrays. It contains no code, so that a
    file from somebody else can do no harm.

    Parameters
    ----------
    path : str or path
        The file; ``.pyrocco`` is the usual ending. An existing file is replaced once the new
        one is complete.
    about : mapping, optional
        Further values to store with the model: texts, numbers, lists, arrays. The command line
        stores annotations and what it needs to read new rows.

    Raises
    ------
    ModelFileError
        If a parameter is an object that cannot be stored, such as a solver of your own, or the
        model has an attribute that is none of its class.
    NotFittedError
        If the model is not fitted.
    OutputError
        If the file cannot be written.
    """
    # All estimators have this function as their method.
    check_is_fitted(self)
    name = type(self).__name__
    if not type(self).__module__.startswith("pyrocco.") or name not in MODELS:
        raise ModelFileError(
            f"{name} is not a class of pyrocco, and a model file contains no "
            "code: pickle the model instead"
        )
    parameters = self.get_params(deep=False)
    # The callbacks of scikit-learn are not part of the model.
    attributes = {
        name: value
        for name, value in vars(self).items()
        if name not in parameters and name != "_skl_callbacks"
    }
    for attribute in attributes:
        if attribute not in MODELS[name].attributes.table:
            raise ModelFileError(
                f"{attribute} is not an attribute of {name}: delete it, or store it beside the "
                f"model as save(path, about={{{attribute!r}: ...}})"
            )
    content = {
        "class": name,
        "pyrocco_version": version("pyrocco"),
        "parameters": {name: to_plain(_device(value)) for name, value in parameters.items()},
        "attributes": {name: to_plain(value) for name, value in attributes.items()},
        "about": to_plain(dict(about or {})),
    }
    write_model_file(path, content)


class Loaded(NamedTuple):
    """A model, and the values that were stored with it."""

    model: Any
    about: dict[str, Any]


def load_model(path: str | os.PathLike[str], classes: Mapping[str, Callable[..., Any]]) -> Loaded:
    """Read a model, which must be of one of the classes.

    Parameters
    ----------
    path : str or path
        The file.
    classes : mapping of str to class
        The estimators by name.

    Returns
    -------
    Loaded
    """
    content = read_model_file(path)
    try:
        check_content(content)
        model = classes[content["class"]](**from_plain(content["parameters"]))
        for name, value in from_plain(content["attributes"]).items():
            setattr(model, name, value)
    except (FieldError, KeyError, TypeError) as error:
        name, written = (content.get(key) for key in ("class", "pyrocco_version"))
        reason = f" ({error})" if isinstance(error, FieldError) else ""
        raise ModelFileError(
            f"{path}: contains a {_word(name, 'model')} of pyrocco {_word(written, '?')}, which "
            f"this version cannot read{reason}: fit the model again, or use that version"
        ) from error
    return Loaded(model, from_plain(content["about"]))


def _word(value: object, default: str) -> str:
    """Return a text of a file for a message: in one line, and not too long."""
    return value if isinstance(value, str) and re.fullmatch(r"[\w.+-]{1,40}", value) else default


def to_plain(value: object) -> Any:
    """Replace objects of `STORABLE` classes by records, at any depth.

    Examples
    --------
    >>> to_plain([MultigridSolver(tol=0.1)])[0].parts["tol"]
    0.1
    """
    if isinstance(value, dict):
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, TorchBackend):
        # The arrays of a fitted model are in main memory.
        return to_plain(NumpyBackend())
    if isinstance(value, np.random.RandomState):
        return Record("RandomState", {"state": value.get_state()})
    kind: Any = type(value)
    if kind in STORABLE.values():
        names = inspect.signature(kind).parameters
        return Record(kind.__name__, {name: to_plain(getattr(value, name)) for name in names})
    if isinstance(value, (list, tuple)) and kind in (list, tuple):
        return kind(to_plain(part) for part in value)
    return value


def from_plain(value: object) -> Any:
    """Restore the objects that `to_plain` replaced.

    Examples
    --------
    >>> from_plain(to_plain(MultigridSolver(tol=0.1))).tol
    0.1
    """
    if isinstance(value, dict):
        return {key: from_plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(from_plain(part) for part in value)
    if not isinstance(value, Record):
        return value
    if value.name == "RandomState":
        random = np.random.RandomState()
        random.set_state(value.parts["state"])
        return random
    return STORABLE[value.name](**{name: from_plain(part) for name, part in value.parts.items()})


def _device(value: object) -> object:
    """Return the name of a back end that was given as an object."""
    if isinstance(value, TorchBackend):
        return value.device.type
    return "cpu" if isinstance(value, NumpyBackend) else value
