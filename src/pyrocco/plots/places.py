"""Where rows and columns are drawn: in order, with gaps between their clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Floats, Labels, Mask, Matrix
from pyrocco.fitting.result import block_means

__all__ = ["Places", "pixel_means", "standing_out"]


@dataclass(frozen=True)
class Places:
    """Coordinates of rows or columns along an axis, of one unit each, and of the gaps between.

    `order` has their positions in the data, as they are drawn; `sizes` are those of the
    clusters, in the order drawn; `gap` is the width of a gap, in the same unit. `alone` marks
    rows that do not share a pixel with others, as far as there are enough pixels.
    """

    order: Labels
    sizes: Labels
    gap: float = 0.0
    alone: Mask | None = None

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
        marked = np.zeros(len(self.order), bool) if self.alone is None else self.alone[self.order]
        bin_in_order, begin = [], 0
        bounds = np.concatenate([[0], np.cumsum(self.sizes)])
        for k, (start, stop) in enumerate(zip(first, last, strict=True)):
            bins = _bins(marked[bounds[k] : bounds[k + 1]], int(stop - start))
            n_bins = int(bins[-1]) + 1
            bin_in_order.append(begin + bins)
            bin_of_pixel[start:stop] = begin + np.arange(stop - start) * n_bins // (stop - start)
            begin += n_bins
        bin_of_row = np.empty(len(self.order), dtype=np.intp)
        bin_of_row[self.order] = np.concatenate(bin_in_order)
        return bin_of_row, bin_of_pixel


def _bins(alone: Mask, most: int) -> Labels:
    """Divide neighbours into at most `most` bins; those that are marked get one each."""
    n, n_alone = len(alone), int(alone.sum())
    if n <= most:
        return np.arange(n)
    shared = most - 2 * n_alone  # each that stands alone divides a bin
    if not n_alone or shared < most / 2:
        return np.arange(n) * most // n
    rank = np.cumsum(~alone) - 1
    bins = np.maximum(rank, 0) * shared // (n - n_alone)
    new = np.zeros(n, dtype=bool)
    new[1:] = (np.diff(bins) > 0) | alone[1:] | alone[:-1]
    return np.cumsum(new)


def standing_out(
    X: Matrix, places: tuple[Places, Places], side: int, n_pixels: int, least: float
) -> Mask | None:
    """Mark rows (or columns) that differ from their cluster, if pixels show means of several.

    A row is marked if, over some cluster of columns, its mean is at least `least` and six
    standard deviations (by the median) away from the median of its cluster. The mean over a
    pixel would hide it.
    """
    own, other = places[side], places[1 - side]
    if len(own.order) <= n_pixels:
        return None
    single, groups = np.arange(len(own.order)), _clusters(other)
    means = block_means(X, *((single, groups) if side == 0 else (groups, single)))
    means = means if side == 0 else means.T
    marked = np.zeros(len(means), dtype=bool)
    for rows in np.split(own.order, np.cumsum(own.sizes)[:-1]):
        apart = np.abs(means[rows] - np.nan_to_num(_medians(means[rows])))
        spread = 1.4826 * np.nan_to_num(_medians(apart))
        marked[rows] = (apart > np.maximum(least, 6 * spread)).any(axis=1)
    return marked


def _medians(values: Floats) -> Floats:
    known = np.where(np.isnan(values).all(axis=0), 0.0, values)
    return np.asarray(np.nanmedian(known, axis=0))


def _clusters(places: Places) -> Labels:
    """Return the cluster of every row, by the order in which clusters are drawn."""
    clusters = np.empty(len(places.order), dtype=np.intp)
    clusters[places.order] = np.repeat(np.arange(len(places.sizes)), places.sizes)
    return clusters


def pixel_means(
    X: Matrix, rows: Places, columns: Places, n_pixels: tuple[int, int]
) -> tuple[Floats, Mask]:
    """Return the mean of the cells in every pixel, and which pixels are in a gap.

    A sparse matrix is never made dense at its full size.
    """
    row_bin, row_pixel = rows.pixels(n_pixels[0])
    column_bin, column_pixel = columns.pixels(n_pixels[1])
    means = block_means(X, row_bin, column_bin)
    gaps = (row_pixel < 0)[:, None] | (column_pixel < 0)
    return np.asarray(means[np.ix_(row_pixel, column_pixel)]), gaps
