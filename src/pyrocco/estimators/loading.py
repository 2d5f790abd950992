"""Models from files."""

from __future__ import annotations

import os
from typing import Any

from pyrocco.estimators.auto import (
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
)
from pyrocco.estimators.cobra import COBRA, COBRAr
from pyrocco.estimators.rcc import RCC
from pyrocco.estimators.rocco import ROCCO
from pyrocco.results.persistence import Loaded, load_model

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


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that was written by its ``save`` method or by ``pyrocco fit``.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        The fitted model, of the class that was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, was edited so that its parts do not fit each
        other, or was written by a newer version of pyrocco.
    FileNotFoundError
        If there is no such file.

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
    """Read a model together with the values that were stored with it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Loaded
        The model, and the `about` that was given to ``save``. ``pyrocco fit`` stores
        ``row_names`` and ``column_names`` there.
    """
    return load_model(path, _CLASSES)
