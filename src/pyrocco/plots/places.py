"""Where rows and columns are drawn: in order, with gaps between their clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Floats, Labels, Mask, Matrix
from pyrocco.fitting.result import block_means

__all__ = ["Places", "pixel_means"]


@dataclass(frozen=True)
class Places:
    """Coordinates of rows or columns along an axis, of one unit each, and of the gaps between.

    `order` has their positions in the data, as they are drawn; `sizes` are those of the
    clusters, in the order drawn; `gap` is the width of a gap, in the same unit.
    """

    order: Labels
    sizes: Labels
    gap: float = 0.0

    @classmethod
    def spaced(cls, order: Labels, sizes: Labels, gap: float, inches: float) -> Places:
        """Place clusters with gaps of so many inches along an axis of the given length."""
        n_gaps = len(sizes) - 1
        gap = min(gap, 0.15 * inches / max(n_gaps, 1))  # gaps never take more than 15 %
        return cls(order, sizes, gap * len(order) / (inches - n_gaps * gap))

    @property
    def length(self) -> float:
        """Length of the axis."""
        return float(self.sizes.sum() + self.gap * (len(self.sizes) - 1))

    @property
    def starts(self) -> Floats:
        """Where each cluster starts."""
        before = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.asarray(before + self.gap * np.arange(len(self.sizes)))

    @property
    def ends(self) -> Floats:
        """Where each cluster ends."""
        return np.asarray(self.starts + self.sizes)

    @property
    def centres(self) -> Floats:
        """Coordinate of the centre of each row, in the order of the data."""
        cluster = np.repeat(np.arange(len(self.sizes)), self.sizes)
        centres = np.empty(len(self.order))
        centres[self.order] = np.arange(len(self.order)) + 0.5 + self.gap * cluster
        return centres

    def pixels(self, n_pixels: int) -> tuple[Labels, Labels]:
        """Divide the axis into pixels.

        Returns the bin of every row, in the order of the data, and the bin of every pixel, or
        -1 in a gap. A bin has one row, or as many neighbours as share a pixel; no bin has rows
        of two clusters.
        """
        first = np.round(self.starts / self.length * n_pixels).astype(np.intp)
        last = np.round(self.ends / self.length * n_pixels).astype(np.intp)
        last = np.maximum(last, first + 1)
        bin_of_pixel = np.full(max(n_pixels, int(last.max())), -1, dtype=np.intp)
        bin_in_order, begin = [], 0
        for start, stop, size in zip(first, last, self.sizes, strict=True):
            n_bins = min(int(size), int(stop - start))
            bin_in_order.append(begin + np.arange(size) * n_bins // size)
            bin_of_pixel[start:stop] = begin + np.arange(stop - start) * n_bins // (stop - start)
            begin += n_bins
        # A cluster that is narrower than a pixel may share it: later bins would be lost.
        bin_of_row = np.empty(len(self.order), dtype=np.intp)
        bin_of_row[self.order] = np.concatenate(bin_in_order)
        return bin_of_row, bin_of_pixel


def pixel_means(
    X: Matrix, rows: Places, columns: Places, n_pixels: tuple[int, int]
) -> tuple[Floats, Mask]:
    """Return the mean of the cells in every pixel, and which pixels are in a gap.

    A sparse matrix is never made dense at its full size.
    """
    (row_bin, row_pixel), (column_bin, column_pixel) = (
        places.pixels(n) for places, n in zip((rows, columns), n_pixels, strict=True)
    )
    means = block_means(X, row_bin, column_bin)
    gaps = (row_pixel < 0)[:, None] | (column_pixel < 0)
    return np.asarray(means[np.ix_(row_pixel, column_pixel)]), gaps
