"""How far a fit has come, and the same as a file can hold it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pyrocco.graph import Graph
from pyrocco.representation import LoopState

__all__ = ["Place", "from_content", "to_content"]


@dataclass(frozen=True)
class Place:
    """How far a fit has come.

    A fit learns a representation several times where it distrusts cells.

    Parameters
    ----------
    representation : int
        Number of representations before this one.
    loop : int
        Number of loops before this one, within the representation.
    state : LoopState, optional
        Where the loop stands.
    graphs : tuple of Graph, optional
        The graphs of the representation, once it is complete.
    drawn : tuple of Graph, optional
        The graphs of the representation, as soon as they are there.
    trusted : tuple, optional
        Once it is known which cells to trust: the number of representations that took, the
        data, and the weights of its cells.

    Examples
    --------
    >>> Place(representation=1).is_before(Place(representation=2))
    True
    """

    representation: int = 0
    loop: int = 0
    state: LoopState | None = None
    graphs: tuple[Graph, Graph] | None = None
    drawn: tuple[Graph, Graph] | None = None
    trusted: tuple[int, Any, Any] | None = None

    def is_before(self, other: Place) -> bool:
        """Whether it lies in an earlier loop."""
        return (self.representation, self.loop) < (other.representation, other.loop)


def to_content(place: Place) -> dict[str, Any]:
    """Turn a place into dicts, numbers and arrays.

    Examples
    --------
    >>> to_content(Place(loop=1))["loop"]
    1
    """
    state = place.state and vars(place.state)
    pairs = {
        name: pair and [asdict(graph) for graph in pair]
        for name, pair in (("graphs", place.graphs), ("drawn", place.drawn))
    }
    return {**vars(place), **pairs, "state": state}


def from_content(content: dict[str, Any]) -> Place:
    """Make the place again that `to_content` took apart.

    Examples
    --------
    >>> from_content(to_content(Place(loop=1))).loop
    1
    """
    state = content["state"] and LoopState(**content["state"])
    pairs = {
        name: content[name] and tuple(Graph(**graph) for graph in content[name])
        for name in ("graphs", "drawn")
    }
    return Place(**{**content, **pairs, "state": state})
