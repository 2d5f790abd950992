"""How far the kernels are from the memory floor: bytes they must move over the bandwidth.

python -m benchmarks.speed.kernels
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.speed.machine import best_of, markdown, write
from pyrocco.backends.kernels import panel, system

WIDTH = 16
DEGREE = 6
REPEATS = 7


def bandwidth():
    """Bytes a second of one thread: the triad a = b + s c, on arrays beyond the cache."""
    b, c = (np.ones(2**25, dtype=np.float32) for _ in range(2))
    a = np.empty_like(b)

    def triad():
        np.multiply(c, np.float32(3), out=a)
        np.add(a, b, out=a)

    seconds, _ = best_of(triad, 5)
    return 5 * a.nbytes / seconds


def ring(n):
    """Neighbours within reach, as in a graph whose rows were sorted: CSR without diagonal."""
    offsets = [k for k in range(-DEGREE // 2, DEGREE // 2 + 1) if k]
    graph = sparse.csr_array(sparse.diags_array([1.0] * DEGREE, offsets=offsets, shape=(n, n)))
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    values = np.ones(graph.nnz, dtype=np.float32)
    return indptr, indices, values, np.full(n, DEGREE, dtype=np.float32)


def scattered(n):
    """As many neighbours a node, anywhere: what a real graph does to the cache."""
    rng = np.random.default_rng(0)
    ends = rng.permutation(np.repeat(np.arange(n), DEGREE)).reshape(2, -1)
    graph = sparse.coo_array((np.ones(ends.shape[1]), ends), shape=(n, n))
    graph = sparse.csr_array(graph + graph.T)
    values = graph.data.astype(np.float32)
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    return indptr, indices, values, np.asarray(graph.sum(axis=1), dtype=np.float32)


def panel_kernels(n):
    """Seconds and bytes of the three passes of one iteration on a panel."""
    operator = ring(n)
    Y, R, D, image = (np.ones((n, WIDTH), dtype=np.float32) for _ in range(4))
    shifts, steps = np.full(WIDTH, 2, np.float32), np.full(WIDTH, 1e-6, np.float32)
    row = 4 * WIDTH
    graph = 8 * DEGREE + 12
    yield (
        "decoupled: apply",
        n,
        2 * row + graph,
        lambda: panel.shifted_apply(Y, image, shifts, *operator),
    )
    yield (
        "decoupled: advance",
        n,
        6 * row,
        lambda: panel.panel_advance(Y, R, D, image, steps, shifts, operator[3]),
    )
    yield (
        "decoupled: direction",
        n,
        3 * row,
        lambda: panel.panel_direction(R, D, steps, shifts, operator[3]),
    )


def by_scipy(U, image, rows, columns):
    """The same left-hand side by SciPy's products with dense matrices, for comparison."""
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
    """Seconds and bytes of the passes of one iteration on the whole system."""
    rows, columns = ring(n), ring(p)
    U, R, D, image = (np.ones((n, p), dtype=np.float32) for _ in range(4))
    one = np.float32(1)
    for name, graphs in (("sorted", (rows, columns)), ("scattered", (scattered(n), scattered(p)))):
        both = [*graphs[0], *graphs[1]]
        yield (
            f"whole system: apply, p = {p}, {name} neighbours",
            n * p,
            8,
            partial(system.apply, U, image, one, *both, 0, n),
        )
        yield (
            f"whole system: begin, p = {p}, {name} neighbours",
            n * p,
            16,
            partial(system.begin, U, D, R, image, one, *both, 0, n),
        )
        yield f"SciPy: apply, p = {p}, {name} neighbours", n * p, 8, by_scipy(U, image, *graphs)
    yield (
        f"whole system: advance, p = {p}",
        n * p,
        24,
        lambda: system.advance(U, R, D, image, np.float32(1e-6), one, rows[3], columns[3], 0, n),
    )
    yield (
        f"whole system: direction, p = {p}",
        n * p,
        12,
        lambda: system.direction(R, D, one, one, rows[3], columns[3], 0, n),
    )


def main():
    speed = max(bandwidth() for _ in range(3))
    rows = []
    for kernels in (panel_kernels(1_000_000), system_kernels(10_000, 2000)):
        for name, items, size, work in kernels:
            seconds, _ = best_of(work, REPEATS)
            rows.append([name, 1e9 * seconds / items, size, 1e9 * size / speed,
                         seconds * speed / (items * size)])  # fmt: skip
            print(rows[-1], flush=True)
    write(
        "kernels",
        "Distance of the kernels to the memory floor",
        "python -m benchmarks.speed.kernels",
        f"One thread, float32, arrays beyond the cache, {DEGREE} neighbours a node. Bandwidth of "
        f"a triad: {speed / 1e9:.1f} GB/s. An item is a row of {WIDTH} columns for the decoupled "
        "kernels and one cell for the whole system. Sorted neighbours lie beside each other; "
        "scattered ones anywhere, and the floor does not count that rows then come from memory "
        f"more than once. Least of {REPEATS} runs, best of three bandwidths.",
        markdown(["kernel", "ns an item", "bytes an item", "floor, ns", "times the floor"], rows),
    )


if __name__ == "__main__":
    main()
