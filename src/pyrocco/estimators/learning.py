"""From data to graphs and representation."""

from __future__ import annotations

from typing import Any

from pyrocco.backends import is_missing
from pyrocco.estimators.checks import metric_for
from pyrocco.estimators.graphs import GraphMaker
from pyrocco.estimators.missing import first_filling, has_gaps
from pyrocco.estimators.stages import Work
from pyrocco.graph import Graph
from pyrocco.representation import Representation, learn_representation


class LearningMixin:
    """Learns graphs and representation for an estimator with its parameters."""

    n_neighbors: int
    metric: str
    max_iter: int

    def _represent(self, work: Work) -> tuple[tuple[Graph, Graph], Representation]:
        """Graphs and representation; missing cells are filled from neighbours for features."""
        metric = metric_for(self.metric, work.mostly_zero)
        make = GraphMaker(
            self.n_neighbors, metric, work.variant.bridges, work.backend, work.progress
        )
        dense = work.backend.asarray(work.X)
        if not has_gaps(work.X):
            graphs = work.journal.drawn(
                lambda: self._draw(work, make, make.from_data(work.X), dense)
            )
            return graphs, self._learn(work, dense, graphs)
        graphs = make.from_data(work.X)
        gaps = is_missing(dense)
        dense = work.backend.asarray(first_filling(work.X))
        dense[gaps] = self._learn(work, dense, graphs, gaps).U[gaps]
        graphs = self._draw(work, make, graphs, dense)
        return graphs, self._learn(work, dense, graphs, gaps)

    def _draw(
        self, work: Work, make: GraphMaker, graphs: tuple[Graph, Graph], dense: Any
    ) -> tuple[Graph, Graph]:
        """Add neighbours among features, where the variant has them."""
        return make.with_features(graphs, dense) if work.variant.feature_graphs else graphs

    def _learn(
        self, work: Work, dense: Any, graphs: tuple[Graph, Graph], gaps: Any = None
    ) -> Representation:
        with work.progress.stage("representation", steps=self.max_iter):
            return learn_representation(
                dense,
                work.variant.sides(dense, graphs, work.backend),
                shift=2.0,
                schedule=work.variant.schedule(dense, gaps is not None),
                solver=work.solver,
                backend=work.backend,
                max_iter=self.max_iter,
                report=work.progress.iteration,
                gaps=gaps,
                bookmark=work.journal.bookmark(),
            )
