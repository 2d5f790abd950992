"""Planted biclusters under noise, a new matrix for every seed."""

from __future__ import annotations

from dataclasses import dataclass

from pyrocco.datasets import Dataset, make_noisy_biclusters


@dataclass(frozen=True)
class Biclusters:
    """`sklearn.datasets.make_biclusters` with five biclusters, as in the paper."""

    noise: float
    shape: tuple[int, int] = (100, 100)
    kind: str = "synthetic"
    drawn: bool = True

    @property
    def name(self) -> str:
        return f"{self.shape[0]}x{self.shape[1]}-noise{self.noise:g}"

    def load(self, seed: int) -> Dataset:
        return make_noisy_biclusters(self.shape, 5, noise=self.noise, random_state=seed)
