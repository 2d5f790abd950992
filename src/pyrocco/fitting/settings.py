"""The parameters of a fit, checked and resolved before any data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyrocco.backends import Backend, resolve_backend
from pyrocco.cells.kinds import KINDS, Cells
from pyrocco.cells.methods import METHODS
from pyrocco.cells.preparation import check_names
from pyrocco.fitting.memory_plan import parse_bytes
from pyrocco.fitting.variants import VARIANTS, Variant, resolve_variant
from pyrocco.graph import METRICS
from pyrocco.solvers import Solver, resolve_solver
from pyrocco.validation import (
    check_choice,
    check_count,
    check_n_clusters,
    check_n_jobs,
    check_random_state,
    check_verbose,
    shown,
)


@dataclass(frozen=True)
class Settings:
    """Checked parameters of `ROCCO`, with names resolved to objects.

    Parameters
    ----------
    parameters : mapping
        The parameters as they were given.
    n_neighbors : int
        Number of neighbours in the graphs.
    prepare : tuple of str, Cells or None
        Names of the preparations, or what the cells are; None if their values decide.
    metric : str
        Distance between rows and between columns.
    max_iter : int
        Largest number of iterations.
    variant : Variant
        The variant.
    solver : Solver
        The solver of the linear systems.
    backend : Backend
        Where a fit in memory computes.
    memory_limit : int or None
        Bytes that the program may use.
    """

    parameters: Mapping[str, Any]
    n_neighbors: int
    prepare: tuple[str, ...] | Cells | None
    metric: str
    max_iter: int
    variant: Variant
    solver: Solver
    backend: Backend
    memory_limit: int | None

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Settings:
        """Check the parameters of an estimator.

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> Settings.of(ROCCO(metric="bogus").get_params())
        Traceback (most recent call last):
        ...
        ValueError: metric must be one of 'auto', 'euclidean', 'manhattan', 'cosine'; got 'bogus'.
        """
        check_choice("metric", parameters["metric"], ("auto", *METRICS))
        check_choice("variant", parameters["variant"], VARIANTS)
        check_n_clusters(parameters["n_clusters"])
        n_neighbors = check_count("n_neighbors", parameters["n_neighbors"])
        check_verbose(parameters["verbose"])
        check_n_jobs(parameters["n_jobs"])
        solver = resolve_solver(parameters["solver"])
        limit = parameters["memory_limit"]
        if limit is not None:
            limit = parse_bytes(limit)
            if parameters["device"] != "cpu":
                raise ValueError(
                    "memory_limit applies to main memory, not to a GPU: use it with device='cpu'."
                )
        variant = resolve_variant(
            parameters["variant"],
            random_state=check_random_state(parameters["random_state"]),
            n_neighbors=n_neighbors,
            solver=solver,
        )
        return cls(
            parameters=parameters,
            n_neighbors=n_neighbors,
            prepare=check_prepare(parameters["prepare"]),
            metric=parameters["metric"],
            max_iter=check_count("max_iter", parameters["max_iter"]),
            variant=variant,
            solver=solver,
            backend=resolve_backend(parameters["device"], parameters["n_jobs"]),
            memory_limit=limit,
        )


def check_prepare(prepare: object) -> tuple[str, ...] | Cells | None:
    """Return the names of the preparations in the order of application; None for "auto".

    `Cells` are returned as they are.

    Examples
    --------
    >>> check_prepare("auto"), check_prepare(None), check_prepare(["log1p", "normalize"])
    (None, (), ('normalize', 'log1p'))
    """
    if prepare is None or (isinstance(prepare, str) and prepare == "auto"):
        return () if prepare is None else None
    if isinstance(prepare, Cells):
        check_choice("kind of the cells", prepare.kind, KINDS)
        check_prepare(prepare.steps)
        check_prepare(prepare.column_steps or ())
        return prepare
    names = [prepare] if isinstance(prepare, str) else prepare
    if isinstance(names, (list, tuple)) and all(name in tuple(METHODS) for name in names):
        return check_names(names)
    raise ValueError(
        f"prepare must be 'auto', None, Cells, or one or several of {', '.join(METHODS)}; got "
        f"{shown(prepare)}."
    )
