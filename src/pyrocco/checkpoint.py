"""Checkpoints: the state of a fit in a file, from which an interrupted fit can continue."""

from __future__ import annotations

import hashlib
import textwrap
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pyrocco._typing import Dense, Matrix, is_sparse
from pyrocco.backends import Backend, ChunkedMatrix
from pyrocco.cells.values import to_dense
from pyrocco.graph import Graph
from pyrocco.graph.edges import GRAPH_FIELDS
from pyrocco.io.errors import CheckpointError, ModelFileError, OutputError
from pyrocco.io.fields import (
    Anything,
    DictOf,
    FieldError,
    Fields,
    Floats,
    Integer,
    Number,
    Plain,
    Text,
    Truth,
    TupleOf,
    Within,
    optional,
)
from pyrocco.io.model_file import read_model_file, write_model_file
from pyrocco.io.unfinished import remove_unfinished, write_errors
from pyrocco.representation import HISTORY_FIELD, LoopState, Representation

__all__ = ["Checkpoint", "CheckpointError", "Stages", "checkpoint_to", "open_stages"]

Graphs = tuple[Graph, Graph]
Cells = Matrix | ChunkedMatrix

# Writing that took one second is repeated after this many seconds at the earliest.
_PATIENCE = 10
# Phrases of messages.
_DAMAGED, _ADVICE = "is damaged", "delete it to start from the beginning"
# Parameters that change what is printed or how many threads work, but not the result.
_IRRELEVANT = ("verbose", "n_jobs")

_COUNTER = Integer(-1, 1_000_000)
# Weights of zero would have no largest eigenvalue; those of degrees are never so small.
_WEIGHTS = Floats("edges", finite=True, least=1e-12, most=1e15)
_GRAPH = Fields({**GRAPH_FIELDS.table, "weights": _WEIGHTS})


_STATE = Fields(
    U=Floats("rows", "columns", finite=True),
    history=HISTORY_FIELD,
    objective=Number(),
    mu=TupleOf(Number(0), Number(0)),
    strength=TupleOf(Number(0, 1e300), Number(0, 1e300)),
    settled=Truth(),
)
_POSITION = Fields(
    representation=_COUNTER,
    loop=_COUNTER,
    state=optional(_STATE),
    graphs=optional(
        TupleOf(Within(_GRAPH, {"nodes": "rows"}), Within(_GRAPH, {"nodes": "columns"}))
    ),
    complete=Truth(),
    outliers=optional(
        TupleOf(Integer(0, 1_000_000), Floats("rows", "columns"), Floats("rows", "columns"))
    ),
)
# The position is checked when the matrix is known.
_STORED = Fields(
    checkpoint=Fields(identity=DictOf(Text(), Plain()), position=DictOf(Text(), Anything()))
)


@dataclass(frozen=True)
class Position:
    """How far a fit has come.

    A fit learns a representation several times if it finds outlier cells.

    Parameters
    ----------
    representation : int
        Number of representations learned before the current one.
    loop : int
        Number of loops run before the current one, within the representation.
    state : LoopState, optional
        State of the current loop.
    graphs : tuple of Graph, optional
        The graphs of the representation, as soon as they are built.
    complete : bool
        Whether the representation is complete, so that `state` is its last state.
    outliers : tuple, optional
        Once outlier cells have been found: the number of representations that it took, the
        data without them, and the weights of the cells.
    """

    representation: int = 0
    loop: int = 0
    state: LoopState | None = None
    graphs: Graphs | None = None
    complete: bool = False
    outliers: tuple[int, Any, Any] | None = None

    def is_before(self, other: Position) -> bool:
        """Whether this position lies in an earlier loop than `other`."""
        return (self.representation, self.loop) < (other.representation, other.loop)

    def to_content(self) -> dict[str, Any]:
        """Return the position as dicts, numbers and arrays, for a file."""
        graphs = self.graphs and [asdict(graph) for graph in self.graphs]
        state = self.state and vars(self.state)
        return {**vars(self), "graphs": graphs, "state": state}

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Position:
        """Return the position that `to_content` described."""
        graphs = content["graphs"] and tuple(Graph(**graph) for graph in content["graphs"])
        state = content["state"] and LoopState(**content["state"])
        return cls(**{**content, "graphs": graphs, "state": state})


class Stages:
    """The stages of a fit that is not saved: none has a stored result, and none is stored.

    The pipeline asks for the stored result of each stage, and computes the stage only if there
    is none.

    Examples
    --------
    >>> Stages().graphs() is None
    True
    """

    def outliers(self) -> tuple[Any, Any] | None:
        """Return the data without outlier cells and the weights of its cells, if stored."""
        return None

    def keep_outliers(self, X: Cells, weights: Matrix) -> None:
        """Store the data without outlier cells and the weights of its cells."""

    def begin_representation(self) -> tuple[Graphs, Representation] | None:
        """Begin the next representation; return it with its graphs if it is stored."""
        return None

    def graphs(self) -> Graphs | None:
        """Return the graphs of this representation, if stored."""
        return None

    def keep_graphs(self, graphs: Graphs) -> None:
        """Store the graphs of this representation."""

    def begin_loop(self) -> LoopStage | None:
        """Begin the next loop of this representation; return where to store its state."""
        return None

    def keep_representation(self, graphs: Graphs) -> None:
        """Note that the representation is complete; its loop has stored the last state."""


@dataclass
class LoopStage:
    """The loop of a representation: its state at the start, and where to keep later states."""

    stages: SavedStages
    start: LoopState | None

    def keep(self, state: LoopState) -> None:
        """Store the state after an iteration."""
        self.stages.note(state=state, complete=False)


class SavedStages(Stages):
    """The stages of a fit whose position is saved, and which may continue an earlier fit.

    A fit with the same data and parameters runs through the same stages. It is therefore
    enough to count representations and loops, and to continue from the stored state once the
    counters reach its position.

    Parameters
    ----------
    checkpoint : Checkpoint
        Is given every new position.
    start : Position or None
        Where the earlier fit was interrupted.
    backend : Backend
        The back end of the fit.
    """

    def __init__(self, checkpoint: Checkpoint, start: Position | None, backend: Backend):
        self.checkpoint, self.backend = checkpoint, backend
        self.start = self.position = start or Position(representation=-1)
        self.representation, self.loop = -1, -1
        if self.start.outliers is not None:
            self.representation = self.start.outliers[0] - 1

    def outliers(self) -> tuple[Any, Any] | None:
        """Return the data without outlier cells and the weights of its cells, if stored."""
        return None if self.start.outliers is None else self.start.outliers[1:]

    def keep_outliers(self, X: Cells, weights: Matrix) -> None:
        """Store the data without outlier cells and the weights of its cells."""
        self.note(outliers=(self.representation + 1, X, weights))

    def begin_representation(self) -> tuple[Graphs, Representation] | None:
        """Begin the next representation; return it with its graphs if it is stored."""
        self.representation, self.loop = self.representation + 1, -1
        start = self.start
        if not (self._is_at_start and start.complete and start.graphs and start.state):
            return None
        U = self.backend.copy(self.backend.asarray(start.state.U))
        return start.graphs, Representation(U, start.state.history, start.state.settled)

    def graphs(self) -> Graphs | None:
        """Return the graphs of this representation, if stored."""
        return self.start.graphs if self._is_at_start else None

    def keep_graphs(self, graphs: Graphs) -> None:
        """Store the graphs of this representation."""
        self.note(graphs=graphs, complete=False)

    def begin_loop(self) -> LoopStage:
        """Begin the next loop of this representation; it starts from its stored state, if any."""
        self.loop += 1
        stored = self._is_at_start and self.loop == self.start.loop and not self.start.complete
        return LoopStage(self, self.start.state if stored else None)

    def keep_representation(self, graphs: Graphs) -> None:
        """Note that the representation is complete; its loop has stored the last state."""
        self.note(graphs=graphs, complete=True)

    def note(self, **changes: Any) -> None:
        """Save the position, unless the earlier fit had come further."""
        here = {"representation": self.representation, "loop": self.loop}
        if self.representation != self.position.representation:
            changes = {"graphs": None, **changes}
        position = replace(self.position, **{**here, **changes})
        if not position.is_before(self.start):
            self.position = position
            self.checkpoint.take(position)

    @property
    def _is_at_start(self) -> bool:
        return self.representation == self.start.representation


class Checkpoint:
    """A file with the state of one fit; `checkpoint_to` creates it.

    Parameters
    ----------
    path : Path
        The file.
    resume : bool
        Whether to continue from the file if it exists.
    interval : float
        Seconds between two writings, at least.
    replace : bool
        Whether to replace the file if it belongs to another fit, and is not continued.
    """

    def __init__(self, path: Path, resume: bool, interval: float, replace: bool = True):
        self.path, self.interval = path, interval
        self._in_the_way = path.exists() and not (resume or replace)
        self._stored = _read(path) if resume and path.exists() else None
        self._identity: dict[str, Any] | None = None
        self._unwritten: Position | None = None
        self._was_written = False
        self._due = time.monotonic() + interval

    @property
    def is_used(self) -> bool:
        """Whether a fit has been given this checkpoint."""
        return self._identity is not None

    def open(self, parameters: Mapping[str, Any], X: Cells, backend: Backend) -> Stages:
        """Begin a fit, or continue the one in the file.

        Parameters
        ----------
        parameters : mapping
            Parameters of the estimator.
        X : ndarray, CSR matrix or chunked matrix
            The data.
        backend : Backend
            The back end of the fit.

        Returns
        -------
        Stages

        Raises
        ------
        CheckpointError
            If the file is of another fit, or the checkpoint was used before.
        """
        if self.is_used:
            raise CheckpointError(
                f"{self.path}: a checkpoint is for one fit; use another file for the next"
            )
        self._identity = _identity(parameters, X)
        if self._in_the_way:
            _check_same_fit(self.path, self._identity)
        if self._stored is None:
            return SavedStages(self, None, backend)
        _check_same(self.path, self._stored["identity"], self._identity)
        return SavedStages(self, self._position(X), backend)

    def _position(self, X: Cells) -> Position:
        """Return the stored position, after checking that it fits the matrix."""
        content = self._stored["position"] if self._stored is not None else {}
        try:
            _check_position(content, X)
        except FieldError as error:
            raise CheckpointError(f"{self.path}: {_DAMAGED} ({error}): {_ADVICE}") from error
        return Position.from_content(content)

    def take(self, position: Position) -> None:
        """Take a new position, and write it if enough time has passed."""
        self._unwritten = position
        if time.monotonic() < self._due:
            return
        try:
            self.write()
        except OutputError as error:
            if not self._was_written:
                raise  # little is lost yet
            # Later a disk may be full, but the fit itself can still succeed.
            self._due = time.monotonic() + self.interval
            warnings.warn(
                f"The state of the fit cannot be saved ({error}). The fit goes on, but could not "
                "be continued if it were stopped.",
                UserWarning,
                stacklevel=2,
            )

    def write(self) -> None:
        """Write the last position, unless the file holds it already."""
        if self._unwritten is None:
            return
        started = time.monotonic()
        with write_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        stored = {"identity": self._identity, "position": self._unwritten.to_content()}
        write_model_file(self.path, {"checkpoint": stored}, compress=False)
        self._unwritten, self._was_written = None, True
        seconds = time.monotonic() - started
        self._due = time.monotonic() + max(self.interval, _PATIENCE * seconds)

    def remove(self) -> None:
        """Remove the file."""
        with write_errors(self.path):
            self.path.unlink(missing_ok=True)
        remove_unfinished(self.path)


def open_stages(
    checkpoint: Checkpoint | None, parameters: Mapping[str, Any], X: Cells, backend: Backend
) -> Stages:
    """Return the stages of a fit, which are saved if there is a checkpoint."""
    return Stages() if checkpoint is None else checkpoint.open(parameters, X, backend)


@contextmanager
def checkpoint_to(
    path: str | Path, *, resume: bool = False, interval: float = 5.0, replace: bool = True
) -> Iterator[Checkpoint]:
    """Save the state of a fit to a file, and continue from what the file holds.

    Pass the checkpoint to the fit: ``model.fit(X, checkpoint=checkpoint)``. The fit may run in
    another thread.

    Parameters
    ----------
    path : str or Path
        The file. It is removed when the block ends normally. It stays when the block is
        interrupted (Ctrl-C) or runs out of memory. A fit that needs no representation, such as
        that of a matrix in chunks, has nothing to store, and starts from the beginning.
    resume : bool, default=False
        Whether to continue from the file if it exists. False starts from the beginning.
    interval : float, default=5.0
        Seconds between two writings, at least. An interruption is always written.
    replace : bool, default=True
        Whether to replace the file if it belongs to another fit. False raises an error then,
        unless `resume` is true.

    Yields
    ------
    Checkpoint

    Raises
    ------
    CheckpointError
        If the file belongs to another matrix or other parameters, or is damaged.

    Warns
    -----
    UserWarning
        If no fit was given the checkpoint.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5).X
    >>> path = Path(tempfile.mkdtemp()) / "night.pyrocco"
    >>> with checkpoint_to(path, resume=True) as checkpoint:
    ...     model = ROCCO().fit(X, checkpoint=checkpoint)
    >>> model.n_row_clusters_, path.exists()
    (3, False)
    """
    checkpoint = Checkpoint(Path(path), resume, interval, replace)
    try:
        yield checkpoint
    except (KeyboardInterrupt, SystemExit, MemoryError):
        checkpoint.write()
        raise
    except OSError:
        with suppress(OutputError):  # the disk may be full
            checkpoint.write()
        raise
    if checkpoint.is_used:
        checkpoint.remove()
        return
    warnings.warn(
        "No fit used this checkpoint: pass it to fit, as in "
        "`with checkpoint_to(path) as checkpoint: model.fit(X, checkpoint=checkpoint)`.",
        UserWarning,
        stacklevel=3,
    )


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"{path}: is not a regular file: use another name")
    try:
        content = read_model_file(path)
        _STORED.check(content, {}, "")
    except (ModelFileError, FieldError) as error:
        raise CheckpointError(
            f"{path}: is not a checkpoint of this version, or is damaged: {_ADVICE}"
        ) from error
    return dict(content["checkpoint"])


def _check_position(content: dict[str, Any], X: Cells) -> None:
    """Check that a stored position fits the matrix."""
    if isinstance(X, ChunkedMatrix):
        raise FieldError("a fit in chunks stores nothing")
    sizes = {"rows": int(X.shape[0]), "columns": int(X.shape[1])}
    _POSITION.check(content, sizes, "")
    if content["state"] and content["state"]["U"].dtype != X.dtype:
        raise FieldError(f"state.U holds {content['state']['U'].dtype} instead of {X.dtype}")
    if content["outliers"] is None:
        return
    cleaned = content["outliers"][1]
    if np.isinf(cleaned).any() or (np.isnan(cleaned) != np.isnan(to_dense(X))).any():
        raise FieldError("outliers has other missing values than the matrix")


def _identity(parameters: Mapping[str, Any], X: Cells) -> dict[str, Any]:
    """Describe a fit by its program version, data and parameters, in values for JSON."""
    if not isinstance(parameters["random_state"], (int, np.integer)):
        raise CheckpointError(
            "a fit can only be continued if random_state is an integer; got "
            f"{parameters['random_state']!r}"
        )
    described = {
        name: _description(value) for name, value in parameters.items() if name not in _IRRELEVANT
    }
    return {"version of pyrocco": version("pyrocco"), "matrix": _digest(X), **described}


def _check_same(path: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to continue another fit; the message names the first difference."""
    differing = [name for name in now if then.get(name) != now[name]]
    if not differing:
        return
    first = differing[0]
    before = textwrap.shorten(str(then.get(first)), 60)
    change = "" if first == "matrix" else f" ({before} then, {now[first]} now)"
    raise CheckpointError(
        f"{path}: belongs to a fit with another {first}{change}: use the same data and "
        "parameters, or delete the file to start from the beginning"
    )


def _check_same_fit(path: Path, identity: dict[str, Any]) -> None:
    """Refuse to replace a file that is not a checkpoint of the same fit."""
    try:
        _check_same(path, _read(path)["identity"], identity)
    except CheckpointError as error:
        raise CheckpointError(
            f"{path}: is in the way, and is not a checkpoint of this fit: move it, choose another "
            "folder, or replace it with --force (replace=True in Python)"
        ) from error


def _digest(X: Cells) -> str:
    if isinstance(X, ChunkedMatrix):
        return "in chunks"  # of which nothing is stored: no need to read them
    arrays: tuple[Dense, ...] = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    digest = hashlib.sha256(str(X.shape).encode())
    for array in arrays:
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _description(value: object) -> Any:
    """Describe a parameter in a way that is the same in every run."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_description(part) for part in value]
    # A solver or a back end: the name of its class and its plain attributes.
    plain = {
        name: part
        for name, part in getattr(value, "__dict__", {}).items()
        if isinstance(part, (bool, int, float, str))
    }
    return f"{type(value).__name__}{plain}"
