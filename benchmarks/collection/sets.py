"""The real sets: nine of the paper, and a collection of labelled matrices that nobody prepared.

All are used as they come: counts are counts, intensities are intensities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse

from pyrocco.datasets import GENE_SETS, REAL_SETS, TEXT_SETS, Dataset, data_folder, load

# Files of the collection, in the folder `more` of the data folder, by kind.
COLLECTION: dict[str, tuple[str, ...]] = {
    "cells": ("sc_dropseq", "sc_celseq2_5cl_p1", "sc_celseq2_5cl_p2", "rnamix_celseq2"),
    "genes": (
        "armstrong_2002_v2", "bredel_2005", "chen_2002", "dyrskjot_2003", "golub_1999_v2",
        "laiho_2007", "lapointe_2004_v2", "liang_2005", "nutt_2003_v1", "nutt_2003_v3",
        "pomeroy_2002_v2", "risinger_2003", "west_2001",
    ),
    "text": ("tr11", "tr31", "tr41", "re0", "fbis", "hitech"),
}  # fmt: skip
MORE = tuple(name for names in COLLECTION.values() for name in names)
ALL = (*REAL_SETS, *MORE)
# Sets over which the page averages.
GROUPS: dict[str, tuple[str, ...]] = {
    **COLLECTION,
    "nine text": TEXT_SETS,
    "nine genes": GENE_SETS,
    "nine": REAL_SETS,
    "collection": MORE,
    "all": ALL,
}
KINDS = {name: kind for kind, names in COLLECTION.items() for name in names}
KINDS |= dict.fromkeys(TEXT_SETS, "text") | dict.fromkeys(GENE_SETS, "genes")
# Sets of at most this many rows are not sampled by ROCCO, which is then deterministic.
SMALL = 1000


@dataclass(frozen=True)
class RealSet:
    """One labelled matrix, as it comes.

    Parameters
    ----------
    name : str
        Its name in ``--sets``.
    rows : int or None
        Text is cut to this many random rows, always the same; None keeps all.
    """

    name: str
    rows: int | None = None
    drawn: bool = False

    @property
    def kind(self) -> str:
        return KINDS[self.name]

    def load(self, seed: int) -> Dataset:
        data = load_more(self.name) if self.name in MORE else load(self.name, scaling="raw")
        if self.rows is None or self.kind != "text" or data.X.shape[0] <= self.rows:
            return data
        rows = np.sort(np.random.default_rng(0).permutation(data.X.shape[0])[: self.rows])
        return replace(data, X=data.X[rows], row_labels=data.row_labels[rows])

    def is_large(self) -> bool:
        return self.load(0).X.shape[0] > SMALL


def load_more(name: str) -> Dataset:
    """Load a matrix of the collection."""
    path = data_folder() / "more" / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist. The collection is not distributed with pyrocco; set the "
            "environment variable PYROCCO_DATA to a folder that contains it, or choose other "
            "sets with --sets."
        )
    X = _matrix(path)
    with np.load(path, allow_pickle=False) as stored:
        labels = stored["y"].astype(np.int64)
    return Dataset(
        name=name,
        X=X,
        row_labels=labels,
        column_labels=None,
        class_names=np.array([f"class {k}" for k in range(labels.max() + 1)]),
        feature_names=np.array([f"column {j}" for j in range(X.shape[1])]),
        description="as distributed",
    )


def _matrix(path: Path) -> np.ndarray | sparse.csr_matrix:
    with np.load(path, allow_pickle=False) as stored:
        if "X" in stored:
            return stored["X"].astype(np.float64)
    return sparse.csr_matrix(sparse.load_npz(path), dtype=np.float64)


def real_sets(names: Sequence[str] | None, rows: int | None) -> list[RealSet]:
    """Return the sets with these names, or all."""
    return [RealSet(name, rows) for name in ALL if names is None or name in names]
