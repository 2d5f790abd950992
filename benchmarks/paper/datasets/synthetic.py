"""Planted biclusters under noise, a new matrix for every seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sklearn.preprocessing import scale

from pyrocco.datasets import Dataset, make_noisy_biclusters


@dataclass(frozen=True)
class Biclusters:
    """`sklearn.datasets.make_biclusters` with five biclusters, as in the paper.

    With `zscored`, every column has mean 0 and variance 1.
    """

    noise: float
    shape: tuple[int, int] = (100, 100)
    kind: str = "synthetic"
    drawn: bool = True
    zscored: bool = False

    @property
    def name(self) -> str:
        scaling = ":zscore" if self.zscored else ""
        return f"{self.shape[0]}x{self.shape[1]}-noise{self.noise:g}{scaling}"

    def load(self, seed: int) -> Dataset:
        data = make_noisy_biclusters(self.shape, 5, noise=self.noise, random_state=seed)
        return replace(data, X=scale(data.X)) if self.zscored else data
