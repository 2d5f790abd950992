"""What a method of the benchmark is: a function from a matrix to labels, with its facts."""

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
    """Labels, and what else there is to tell.

    Parameters
    ----------
    rows, columns : ndarray of int
        Labels; None for a side that was not clustered.
    stages : mapping of str to float
        Seconds of the parts of the method.
    representation : ndarray or None
        The matrix the labels were read from.
    spared : float
        Seconds of a part whose result was at hand from another method; they count all the
        same.
    """

    rows: np.ndarray | None
    columns: np.ndarray | None = None
    stages: Mapping[str, float] = field(default_factory=dict)
    representation: np.ndarray | None = None
    spared: float = 0.0


@dataclass(frozen=True)
class Method:
    """A method and what the runner must know of it.

    Parameters
    ----------
    name : str
        What ``--methods`` calls it.
    paper_name : str or None
        The column of the paper's tables it stands for; None for a control.
    random_on : frozenset of str
        Kinds of data on which its row labels depend on the seed. On other kinds one seed
        tells all.
    cluster : callable
        See the subclasses.
    after : str or None
        A method no more costly: where that one runs out of time, this one is not tried.
    takes_missing : bool
        Whether NaN may stand in the data; others get means of columns in such places.
    """

    name: str
    paper_name: str | None
    random_on: frozenset[str]
    cluster: Callable[..., Any]
    after: str | None = None
    takes_missing: bool = False

    def run(self, X: Any, k: int, seed: int, columns: bool, options: Mapping[str, Any]) -> Found:
        """Label the rows of `X` and, if `columns` asks for it or they come for free, columns."""
        raise NotImplementedError


class TwoSided(Method):
    """Clusters rows and columns at once: ``cluster(X, k, seed, **options)`` gives a Found."""

    def run(self, X: Any, k: int, seed: int, columns: bool, options: Mapping[str, Any]) -> Found:
        return self.cluster(X, k, seed, **options)


class OneSided(Method):
    """Clusters rows: ``cluster(X, k, seed, **options)`` gives labels; columns as rows of X^T."""

    def run(self, X: Any, k: int, seed: int, columns: bool, options: Mapping[str, Any]) -> Found:
        rows = self.cluster(X, k, seed, **options)
        return Found(rows, self.cluster(transposed(X), k, seed, **options) if columns else None)


def transposed(X: Any) -> Any:
    return X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)
