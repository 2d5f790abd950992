"""Options about the algorithm, and the estimator they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from pyrocco import ROCCO
from pyrocco.cli.options import Metric, NClusters, Seed, Variant, parse_n_clusters

__all__ = ["Modelling"]


@dataclass(frozen=True)
class Modelling:
    """How to find the groups.

    Examples
    --------
    >>> Modelling(n_clusters="4,3").estimator(quiet=True)
    ROCCO(n_clusters=(4, 3))
    """

    n_neighbors: Annotated[
        int, typer.Option(min=1, help="Neighbours of each row and column in the graphs.")
    ] = 10
    metric: Annotated[
        Metric,
        typer.Option(
            help="Distance between rows and between columns; auto: cosine for mostly zeros."
        ),
    ] = Metric.auto
    variant: Annotated[
        Variant, typer.Option(help="Refined, or the paper's algorithm to the letter.")
    ] = Variant.refined
    n_clusters: NClusters = "auto"
    seed: Seed = 0

    def estimator(self, quiet: bool) -> ROCCO:
        """Make the estimator, not fitted yet."""
        return ROCCO(
            parse_n_clusters(self.n_clusters),
            n_neighbors=self.n_neighbors,
            metric=self.metric.value,
            variant=self.variant.value,
            random_state=self.seed,
            verbose=0 if quiet else 1,
        )
