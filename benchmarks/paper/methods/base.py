"""A method of the benchmark: a function from a matrix to labels, and its properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

NOWHERE: frozenset[str] = frozenset()
TEXT = frozenset({"text"})
EVERYWHERE = frozenset({"text", "genes", "synthetic"})


@dataclass(frozen=True)
class Found:
    """The result of a method: labels and further information.

    Parameters
    ----------
    rows, columns : ndarray of int
        Labels; None for a side that was not clustered.
    stages : mapping of str to float
        Seconds of the parts of the method.
    representation : ndarray or None
        The matrix from which the labels were computed.
    spared : float
        Seconds of a part whose result was reused from another method; they are added to the
        time of the method.
    """

    rows: np.ndarray | None
    columns: np.ndarray | None = None
    stages: Mapping[str, float] = field(default_factory=dict)
    representation: np.ndarray | None = None
    spared: float = 0.0


@dataclass(frozen=True)
class Method:
    """A method and its properties.

    Parameters
    ----------
    name : str
        Its name in ``--methods``.
    paper_name : str or None
        Its name in the paper's tables; None for a control.
    random_on : frozenset of str
        Kinds of data on which its row labels depend on the seed. On other kinds one seed
        is enough.
    cluster : callable
        See the subclasses.
    after : str or None
        A cheaper method; if it runs out of time, this method is not tried.
    takes_missing : bool
        Whether it accepts NaN; other methods get the mean of the column instead.
    takes_device : bool
        Whether its function has the option `device`, where to compute.
    """

    name: str
    paper_name: str | None
    random_on: frozenset[str]
    cluster: Callable[..., Any]
    after: str | None = None
    takes_missing: bool = False
    takes_device: bool = False

    def run(self, X: Any, k: int, seed: int, columns: bool, options: Mapping[str, Any]) -> Found:
        """Label the rows of `X` and, if requested or without extra cost, the columns."""
        raise NotImplementedError


class TwoSided(Method):
    """Clusters rows and columns at once; ``cluster(X, k, seed, **options)`` returns a Found."""

    def run(self, X: Any, k: int, seed: int, columns: bool, options: Mapping[str, Any]) -> Found:
        return self.cluster(X, k, seed, **options)


class OneSided(Method):
    """Clusters rows (columns as rows of X^T); ``cluster(X, k, seed, **options)`` gives labels."""

    def run(self, X: Any, k: int, seed: int, columns: bool, options: Mapping[str, Any]) -> Found:
        rows = self.cluster(X, k, seed, **options)
        return Found(rows, self.cluster(transposed(X), k, seed, **options) if columns else None)


def transposed(X: Any) -> Any:
    return X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)
