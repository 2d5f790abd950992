"""Models from files."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from pyrocco.estimators.auto import (
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
)
from pyrocco.estimators.cobra import COBRA
from pyrocco.estimators.cobrar import COBRAr
from pyrocco.estimators.rcc import RCC
from pyrocco.estimators.rocco import ROCCO
from pyrocco.estimators.saving import from_plain
from pyrocco.io.errors import ModelFileError
from pyrocco.io.model_file import read_model_file

_CLASSES = {
    kind.__name__: kind
    for kind in (
        COBRA,
        RCC,
        ROCCO,
        AutoKMeans,
        AutoSpectralBiclustering,
        AutoSpectralCoclustering,
        COBRAr,
    )
}


class Loaded(NamedTuple):
    """A model and what was kept beside it."""

    model: Any
    about: dict[str, Any]


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that its ``save`` method or ``pyrocco fit`` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is not a model, is damaged, or was written by a newer pyrocco.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyrocco
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> model = pyrocco.ROCCO().fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.pyrocco")
    ...     again = pyrocco.load(Path(folder) / "model.pyrocco")
    >>> bool((again.row_labels_ == model.row_labels_).all())
    True
    """
    return load_with_about(path).model


def load_with_about(path: str | os.PathLike[str]) -> Loaded:
    """Read a model together with what was kept beside it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Loaded
        The model, and the `about` that was given to ``save``. ``pyrocco fit`` keeps
        ``row_names``, ``column_names`` and ``preparation`` there.
    """
    content = read_model_file(path)
    try:
        kind = _CLASSES[content["class"]]
        model = kind(**from_plain(content["parameters"]))
        for name, value in from_plain(content["attributes"]).items():
            setattr(model, name, value)
    except (KeyError, TypeError) as error:
        raise ModelFileError(
            f"{path}: holds a {content.get('class', 'model')} of pyrocco "
            f"{content.get('pyrocco_version', '?')} that this version cannot make again: fit "
            "the model again, or use that version"
        ) from error
    return Loaded(model, from_plain(content["about"]))
