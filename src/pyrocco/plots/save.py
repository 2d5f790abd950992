"""Writing a figure to a file without a display."""

from __future__ import annotations

import warnings
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["save_figure"]


def save_figure(figure: Figure, path: Path, dpi: int = 150) -> None:
    """Write a figure as a picture.

    Parameters
    ----------
    figure : Figure
        What to write.
    path : Path
        The file; its ending tells the format.
    dpi : int
        Pixels per inch.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(), Path(folder) / "empty.png")
    ...     (Path(folder) / "empty.png").stat().st_size > 0
    True
    """
    with warnings.catch_warnings():
        # A name in a script the font lacks is drawn as boxes; the tables have it in full.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(path, dpi=dpi)
