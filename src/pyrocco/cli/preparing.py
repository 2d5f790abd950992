"""Options about preparations, and what the commands say about them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pyrocco.inspection import Advice
from pyrocco.io import Matrix, MatrixError
from pyrocco.prepare import learn_preparations

__all__ = ["Preparing", "say_advice"]

_PANEL = "Preparing the values, in this order"


@dataclass(frozen=True)
class Preparing:
    """Which preparations to apply.

    Examples
    --------
    >>> Preparing(log1p=True, normalize=True).names
    ('normalize', 'log1p')
    """

    normalize: Annotated[
        bool,
        typer.Option("--normalize", help="Scale rows to the same total.", rich_help_panel=_PANEL),
    ] = False
    log1p: Annotated[
        bool,
        typer.Option("--log1p", help="Take log(1 + x) of values.", rich_help_panel=_PANEL),
    ] = False
    tfidf: Annotated[
        bool,
        typer.Option("--tfidf", help="Weigh words of documents (rows).", rich_help_panel=_PANEL),
    ] = False
    zscore: Annotated[
        bool,
        typer.Option(
            "--zscore",
            help="Scale columns to mean 0 and standard deviation 1.",
            rich_help_panel=_PANEL,
        ),
    ] = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the preparations, in their order."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name))

    def apply(self, matrix: Matrix, source: Path) -> Matrix:
        """Prepare a matrix and note what was done."""
        return self.learn(matrix, source)[0]

    def learn(self, matrix: Matrix, source: Path) -> tuple[Matrix, dict[str, Any]]:
        """Prepare a matrix, and keep what is needed to prepare other rows alike."""
        if not self.names:
            return matrix, {}
        try:
            X, learned = learn_preparations(matrix.X, self.names)
        except ValueError as error:
            raise MatrixError(f"{source}: {error}") from error
        note = f"Values were prepared: {', '.join(self.names)}."
        return replace(matrix, X=X).noting(note), learned


def say_advice(advice: Advice) -> str:
    """Put a recommendation into words, with the options that follow it.

    Parameters
    ----------
    advice : Advice
        What is recommended.

    Returns
    -------
    str

    Examples
    --------
    >>> say_advice(Advice("counts", ("log1p",), True, "Rows look like genes."))
    'Values: counts. Recommended (not applied): --transpose --log1p. Rows look like genes.'
    """
    steps = (*(["transpose"] if advice.transpose else []), *advice.steps)
    options = " ".join(f"--{step}" for step in steps)
    recommended = (
        f"Recommended (not applied): {options}."
        if options
        else "No preparation seems to be needed."
    )
    return f"Values: {advice.kind}. {recommended} {advice.reason}"
