"""Models from files."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from pyrocco import estimators
from pyrocco.results.persistence import Loaded, load_model


def _make(name: str, /, **parameters: Any) -> Any:
    """Make an estimator; only its own module is imported."""
    return getattr(estimators, name)(**parameters)


_CLASSES = {name: partial(_make, name) for name in estimators.__all__ if name != "load"}


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
