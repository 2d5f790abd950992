"""What ``pyrocco fit`` was asked for beside the options of reading, preparing and the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyrocco.cli.options import OutputFormat

__all__ = ["Job"]


@dataclass(frozen=True)
class Job:
    """From where to where, and how much to say.

    Attributes
    ----------
    source, output : Path
        The matrix, and the folder for the results.
    form : OutputFormat
        How to write labels and block means.
    report : bool
        Whether to write the page about the fit.
    quiet, as_json : bool
        Say less, or only the summary.

    Examples
    --------
    >>> Job(Path("counts.csv"), Path("results"), as_json=True).hide_bars
    True
    """

    source: Path
    output: Path
    form: OutputFormat = OutputFormat.csv
    report: bool = True
    quiet: bool = False
    as_json: bool = False

    @property
    def hide_bars(self) -> bool:
        """Whether the screen is not to show how far the fit has come."""
        return self.quiet or self.as_json
