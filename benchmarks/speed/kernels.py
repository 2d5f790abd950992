"""Time of the kernels compared with the memory floor: bytes moved over the bandwidth.

python -m benchmarks.speed.kernels
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.speed.machine import best_of, markdown, write
from pyrocco.backends.kernels import linear_systems

WIDTH = 16
DEGREE = 6
REPEATS = 8
HEADER = ["kernel", "ns per item", "bytes per item", "GB/s", "floor, ns", "times the floor"]


class Triad:
    """a = b + s c on arrays larger than the cache, to measure the bandwidth of one thread."""

    def __init__(self):
        self.b, self.c = (np.ones(2**24, dtype=np.float32) for _ in range(2))
        self.a = np.empty_like(self.b)

    def __call__(self):
        np.multiply(self.c, np.float32(3), out=self.a)
        np.add(self.a, self.b, out=self.a)

    def bandwidth(self, seconds):
        return 5 * self.a.nbytes / seconds


def ring(n):
    """Return a graph with neighbours close in memory, as CSR arrays without diagonal."""
    offsets = [k for k in range(-DEGREE // 2, DEGREE // 2 + 1) if k]
    graph = sparse.csr_array(sparse.diags_array([1.0] * DEGREE, offsets=offsets, shape=(n, n)))
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    values = np.ones(graph.nnz, dtype=np.float32)
    return indptr, indices, values, np.full(n, DEGREE, dtype=np.float32)


def scattered(n):
    """Return a graph with as many neighbours at random positions, as in a real graph."""
    rng = np.random.default_rng(0)
    ends = rng.permutation(np.repeat(np.arange(n), DEGREE)).reshape(2, -1)
    graph = sparse.coo_array((np.ones(ends.shape[1]), ends), shape=(n, n))
    graph = sparse.csr_array(graph + graph.T)
    values = graph.data.astype(np.float32)
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    return indptr, indices, values, np.asarray(graph.sum(axis=1), dtype=np.float32)


def panel_kernels(n):
    """Yield the three passes of one iteration on a panel, with their bytes."""
    operator = ring(n)
    Y, R, D, image = (np.ones((n, WIDTH), dtype=np.float32) for _ in range(4))
    shifts, steps = np.full(WIDTH, 2, np.float32), np.full(WIDTH, 1e-6, np.float32)
    row = 4 * WIDTH
    graph = 8 * DEGREE + 12
    yield (
        "decoupled: apply",
        n,
        2 * row + graph,
        lambda: linear_systems.shifted_apply(Y, image, shifts, *operator),
    )
    yield (
        "decoupled: advance",
        n,
        6 * row,
        lambda: linear_systems.panel_advance(Y, R, D, image, steps, shifts, operator[3]),
    )
    yield (
        "decoupled: direction",
        n,
        3 * row,
        lambda: linear_systems.panel_direction(R, D, steps, shifts, operator[3]),
    )


def by_scipy(U, image, rows, columns):
    """Compute the same left-hand side with SciPy's sparse products, for comparison."""
    P, Q = (
        sparse.csr_array((-values, indices, indptr)) + sparse.diags_array(degrees)
        for indptr, indices, values, degrees in (rows, columns)
    )
    P, Q = P.astype(np.float32), Q.astype(np.float32)

    def work():
        np.add(U, P @ U, out=image)
        np.add(image, (Q @ U.T).T, out=image)

    return work


def system_kernels(n, p):
    """Yield the passes of one iteration on the whole system, with their bytes."""
    rows, columns = ring(n), ring(p)
    U, R, D, image = (np.ones((n, p), dtype=np.float32) for _ in range(4))
    one = np.float32(1)
    for name, graphs in (("sorted", (rows, columns)), ("scattered", (scattered(n), scattered(p)))):
        both = [*graphs[0], *graphs[1]]
        yield (
            f"whole system: apply, p = {p}, {name} neighbours",
            n * p,
            8,
            partial(linear_systems.apply, U, image, one, *both, 0, n),
        )
        yield (
            f"whole system: begin, p = {p}, {name} neighbours",
            n * p,
            16,
            partial(linear_systems.begin, U, D, R, image, one, *both, 0, n),
        )
        yield f"SciPy: apply, p = {p}, {name} neighbours", n * p, 8, by_scipy(U, image, *graphs)
    yield (
        f"whole system: advance, p = {p}",
        n * p,
        24,
        lambda: linear_systems.advance(
            U, R, D, image, np.float32(1e-6), one, rows[3], columns[3], 0, n
        ),
    )
    yield (
        f"whole system: direction, p = {p}",
        n * p,
        12,
        lambda: linear_systems.direction(R, D, one, one, rows[3], columns[3], 0, n),
    )


def in_turns(*works):
    """Return the least seconds of each, run alternately under the same conditions."""
    return [min(times) for times in zip(*(_turn(works) for _ in range(REPEATS)), strict=True)]


def _turn(works):
    return [best_of(work, 1)[0] for work in works]


def main():
    triad, rows = Triad(), []
    for kernels in (panel_kernels(1_000_000), system_kernels(10_000, 2000)):
        for name, items, size, work in kernels:
            spent, streamed = in_turns(work, triad)
            speed = triad.bandwidth(streamed)
            rows.append([name, 1e9 * spent / items, size, speed / 1e9, 1e9 * size / speed,
                         spent * speed / (items * size)])  # fmt: skip
            print(rows[-1], flush=True)
    write(
        "kernels",
        "Distance of the kernels to the memory floor",
        "python -m benchmarks.speed.kernels",
        f"One thread, float32, arrays larger than the cache, {DEGREE} neighbours per node. The "
        "bandwidth is that of a triad, run alternately with the kernel. An item is a row of "
        f"{WIDTH} columns for the decoupled kernels and one cell for the whole system. Sorted "
        "neighbours are adjacent in memory, scattered ones are not; the floor does not include "
        f"that rows are then read more than once. Least of {REPEATS} runs.",
        markdown(HEADER, rows),
    )


if __name__ == "__main__":
    main()
