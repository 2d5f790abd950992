"""The nine real sets, whole or, for a quick run, a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pyrocco.datasets import REAL_SETS, TEXT_SETS, Dataset, load

QUICK_ROWS = 1000


@dataclass(frozen=True)
class Real:
    """One of the nine sets, ``"name"`` or ``"name:scaling"`` as in `pyrocco.datasets.load`."""

    name: str
    max_rows: int | None = None
    drawn: bool = False

    @property
    def kind(self) -> str:
        return "text" if self.name.partition(":")[0] in TEXT_SETS else "genes"

    def load(self, seed: int) -> Dataset:
        name, _, scaling = self.name.partition(":")
        data = load(name, scaling=scaling or "default")
        if self.max_rows is None or data.X.shape[0] <= self.max_rows:
            return data
        # The same sample for every seed: seeds are the methods', not the data's.
        kept = np.random.default_rng(0).permutation(data.X.shape[0])[: self.max_rows]
        return replace(data, X=data.X[kept], row_labels=data.row_labels[kept])


def real_sets(names: Sequence[str] | None, quick: bool) -> list[Real]:
    return [Real(name, QUICK_ROWS if quick else None) for name in names or REAL_SETS]
