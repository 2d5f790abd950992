"""What a fit tells of its way, and where it is led when it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pyrocco.backends import Backend
from pyrocco.checkpoint.place import Place
from pyrocco.graph import Graph
from pyrocco.representation import LoopCheckpoint, LoopState, Representation

__all__ = ["Journal", "WrittenJournal"]

Graphs = tuple[Graph, Graph]
Represented = tuple[Graphs, Representation]


class Journal:
    """Where a fit tells how far it has come; this one forgets it.

    Examples
    --------
    >>> Journal().remembered(lambda: "graphs and representation")
    'graphs and representation'
    """

    trusted: tuple[Any, Any] | None = None

    def remembered(self, represent: Callable[[], Represented]) -> Represented:
        """Graphs and representation: known already, or made now."""
        return represent()

    def drawn(self, draw: Callable[[], Graphs]) -> Graphs:
        """Graphs: known already, or made now."""
        return draw()

    def bookmark(self) -> LoopCheckpoint | None:
        """Keeper of the place in the loop that begins now."""
        return None

    def keep_trusted(self, X: Any, weights: Any) -> None:
        """Take the data and the weights of its cells."""


class WrittenJournal(Journal):
    """Passes every place on, and leads a fit to where an earlier one was stopped.

    A fit with the same data and parameters takes the same way. So it is enough to count
    representations and loops, and to go on from the state that was left at this one.

    Parameters
    ----------
    left : Place or None
        Where the earlier fit was stopped.
    take : callable
        Is given every place that lies beyond.
    backend : Backend
        Where the fit has its arrays.

    Examples
    --------
    >>> from pyrocco.backends import NumpyBackend
    >>> journal = WrittenJournal(Place(trusted=(6, "X", "weights")), print, NumpyBackend())
    >>> journal.trusted
    ('X', 'weights')
    """

    def __init__(self, left: Place | None, take: Callable[[Place], None], backend: Backend):
        self.left = self.place = left or Place(representation=-1)
        self.take, self.backend = take, backend
        self.representation, self.loop = -1, -1
        if self.left.trusted is not None:
            before, X, weights = self.left.trusted
            self.representation, self.trusted = before - 1, (X, weights)

    def remembered(self, represent: Callable[[], Represented]) -> Represented:
        """Graphs and representation: those that were left here, or made now."""
        self.representation, self.loop = self.representation + 1, -1
        left = self.left
        if self.representation == left.representation and left.graphs and left.state:
            U = self.backend.copy(self.backend.asarray(left.state.U))
            return left.graphs, Representation(U, left.state.history, left.state.settled)
        graphs, learned = represent()
        self.note(graphs=graphs, drawn=None)
        return graphs, learned

    def drawn(self, draw: Callable[[], Graphs]) -> Graphs:
        """Graphs: those that were left here, or made now."""
        left = self.left
        if self.representation == left.representation and left.drawn and left.graphs is None:
            return left.drawn
        graphs = draw()
        self.note(drawn=graphs)
        return graphs

    def bookmark(self) -> LoopCheckpoint:
        """Keeper of the place in the loop that begins now; it begins where that was left."""
        self.loop += 1
        left = self.left
        here = (self.representation, self.loop) == (left.representation, left.loop)
        return _Bookmark(self, left.state if here and left.graphs is None else None)

    def keep_trusted(self, X: Any, weights: Any) -> None:
        """Take the data and the weights of its cells."""
        self.note(trusted=(self.representation + 1, X, weights))

    def note(self, **changes: Any) -> None:
        """Pass the place on, unless an earlier fit had come further."""
        here = {"representation": self.representation, "loop": self.loop}
        place = replace(self.place, **{**here, **changes})
        if not place.is_before(self.left):
            self.place = place
            self.take(place)


@dataclass
class _Bookmark:
    journal: WrittenJournal
    start: LoopState | None

    def keep(self, state: LoopState) -> None:
        self.journal.note(state=state, graphs=None)
