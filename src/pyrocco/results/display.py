"""What a notebook shows of clusters: their numbers, sentences, and a small picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pyrocco._typing import Floats, Labels
from pyrocco.texts import counted

__all__ = ["clusters_html"]

# Every tenth colour of viridis, and of RdBu_r around 0, as the plots use them.
_VIRIDIS = (
    "440154", "482475", "414487", "355f8d", "2a788e", "21918c",
    "22a884", "44bf70", "7ad151", "bddf26", "fde725",
)  # fmt: skip
_AROUND_ZERO = (
    "053061", "2065ab", "4393c3", "90c4dd", "d1e5f0", "f7f6f6",
    "fddbc7", "f3a481", "d6604d", "b1182b", "67001f",
)  # fmt: skip
_SIDE = 120  # pixels
_MOST = 40  # clusters of a side that are drawn
_STRUCTURES = {
    "blocks": "The matrix consists of blocks and noise.",
    "gradient": "The matrix looks like a single gradient, which has no clusters.",
    "features": "Rows with similar profiles form a cluster, and so do columns.",
}


def clusters_html(
    title: str,
    means: Floats,
    labels: tuple[Labels, Labels],
    structure: str = "",
    sentences: Sequence[str] = (),
) -> str:
    """Describe row clusters and column clusters as HTML.

    Parameters
    ----------
    title : str
        What has these clusters.
    means : ndarray of shape (n_row_clusters, n_column_clusters)
        Means of the blocks.
    labels : pair of ndarray
        Cluster of every row and of every column.
    structure : str
        The structure of the matrix, if it is known.
    sentences : sequence of str
        Further sentences.

    Returns
    -------
    str

    Examples
    --------
    >>> page = clusters_html("Model", np.eye(2), (np.array([0, 1]), np.array([0, 0, 1])))
    >>> "2 row clusters" in page, page.count("<rect")
    (True, 4)
    """
    sizes = np.bincount(labels[0]), np.bincount(labels[1])
    lines = [
        f"<b>{counted(len(sizes[0]), 'row cluster')}</b> of {_sizes(sizes[0], 'row')}",
        f"<b>{counted(len(sizes[1]), 'column cluster')}</b> of {_sizes(sizes[1], 'column')}",
        _STRUCTURES.get(structure, ""),
        *map(escape, sentences),
    ]
    items = "".join(f"<div>{line}</div>" for line in lines if line)
    return (
        '<div style="display:flex;gap:1em;align-items:flex-start;margin:.5em 0;'
        'font-family:sans-serif;font-size:13px;line-height:1.5">'
        f'{_picture(means, sizes)}<div style="max-width:44em"><div>{escape(title)}</div>'
        f"{items}</div></div>"
    )


def _sizes(sizes: Labels, noun: str) -> str:
    first = ", ".join(map(str, sizes[:8].tolist()))
    return f"{first}{', ...' if len(sizes) > 8 else ''} {noun}s"


def _picture(means: Floats, sizes: tuple[Labels, Labels]) -> str:
    """Draw the blocks in proportion to their sizes; each column cluster where it is highest."""
    means = means[:_MOST, :_MOST]
    rows, columns = (side[:_MOST] for side in sizes)
    order = _along_diagonal(means)
    tops, lefts = _ends(rows), _ends(columns[order])
    colours = _colours(means)
    rectangles = [
        f'<rect x="{lefts[j]:.1f}" y="{tops[i]:.1f}" width="{lefts[j + 1] - lefts[j]:.1f}" '
        f'height="{tops[i + 1] - tops[i]:.1f}" fill="{colours[i][k]}"><title>row cluster {i}, '
        f"column cluster {k}: mean {means[i, k]:.3g}</title></rect>"
        for i in range(len(rows))
        for j, k in enumerate(order)
    ]
    return (
        f'<svg width="{_SIDE}" height="{_SIDE}" role="img" aria-label="Means of the blocks" '
        f'style="flex:none">{"".join(rectangles)}</svg>'
    )


def _along_diagonal(means: Floats) -> list[int]:
    known = np.nan_to_num(means, nan=0.0)
    known = known / (np.abs(known).max() or 1.0)
    highest = (known - known.mean(axis=1, keepdims=True)).argmax(axis=0)
    return [int(k) for k in np.argsort(highest, kind="stable")]


def _ends(sizes: Labels) -> Floats:
    return np.asarray(_SIDE * np.r_[0, np.cumsum(sizes)] / sizes.sum())


def _colours(means: Floats) -> list[list[str]]:
    """Return a colour for every block; grey for blocks whose values are all missing."""
    known = means[np.isfinite(means)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    table = _AROUND_ZERO if low < 0 else _VIRIDIS
    if low < 0:
        high = max(-low, high)
        low = -high
    # Halves first: the range of very large values would be infinite.
    span = (high / 2 - low / 2) or 1.0
    places = np.rint((len(table) - 1) * ((means / 2 - low / 2) / span))
    return [
        [f"#{table[int(place)]}" if np.isfinite(place) else "#bbbbbb" for place in row]
        for row in places
    ]
