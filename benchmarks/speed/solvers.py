"""Seconds per solve of every solver, for literal and default systems, starting at U = X.

python -m benchmarks.speed.solvers [--cases glioma,10k] [--limit 60]
"""

from __future__ import annotations

import argparse
import signal
import time
from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.speed.machine import best_of, markdown, write
from pyrocco import mutual_knn_graph
from pyrocco.backends import cpu_backend
from pyrocco.datasets import load, make_noisy_biclusters
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import (
    AutoSolver,
    BartelsStewartSolver,
    ConjugateGradientSolver,
    DecoupledSolver,
    MultigridSolver,
    SpectralSolver,
)
from pyrocco.solvers.multigrid.solver import kronecker_sum
from pyrocco.solvers.solution import SylvesterProblem

TOL = 1e-3
CASES = ("1k", "glioma", "10k", "classic3", "20news10", "50k", "100k")


def matrix(case):
    if case.endswith("k"):
        return make_noisy_biclusters(
            (1000 * int(case[:-1]), 100), 5, noise=10, random_state=0
        ).X.astype(np.float32)
    return load(case).X.astype(np.float32)


def graphs(X):
    metric = "cosine" if sparse.issparse(X) else "euclidean"
    columns = X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)
    return mutual_knn_graph(X, metric=metric), mutual_knn_graph(columns, metric=metric)


def make_system(X, pair, norm, backend):
    sides = [Side(graph, axis, norm) for axis, graph in enumerate(pair)]
    operators = [side.operator(backend, X.dtype) for side in sides]
    return SylvesterSystem(X, 2.0, *operators, backend)


def solvers(shape):
    """Yield the solvers that finish in reasonable time and memory at this shape."""
    cells, longest, shortest = shape[0] * shape[1], max(shape), min(shape)
    yield ConjugateGradientSolver(TOL)
    if shortest <= 2000:
        yield DecoupledSolver(TOL)
    if longest <= 1500:
        yield SpectralSolver()
        yield BartelsStewartSolver()
    if shortest <= 500:
        yield MultigridSolver(tol=TOL, on="decoupled")
    if cells <= 1_100_000:
        yield MultigridSolver(tol=TOL, on="kronecker")


def smoothed_aggregation(system):
    """Time pyamg's smoothed aggregation on the Kronecker system, set-up included."""
    try:
        import pyamg  # noqa: PLC0415 - only this comparison needs it
    except ImportError:
        return None
    problem = SylvesterProblem.of(system)
    started = time.perf_counter()
    hierarchy = pyamg.smoothed_aggregation_solver(kronecker_sum(problem.A, problem.B))
    hierarchy.solve(problem.C.ravel(), x0=system.X.ravel(), tol=TOL, accel="cg")
    return time.perf_counter() - started


def name(solver):
    return f"{solver.name} ({solver.on})" if isinstance(solver, MultigridSolver) else solver.name


def solve_cold(solver, system):
    return solver.solve(system, system.X.copy())


def within(limit, work):
    """Return the result of `work`, or None if it does not finish within `limit` seconds."""

    def stop(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return work()
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timed(solver, system, limit):
    """Return the least seconds, iterations and residual, or None if over the limit."""
    work = partial(solve_cold, solver, system)
    slow = isinstance(solver, MultigridSolver) or system.X.size > 6_000_000
    found = within(limit, partial(best_of, work, 1 if slow else 3))
    return found and (found[0], found[1].iterations, found[1].residual)


def measure(case, backend, limit):
    X = matrix(case)
    pair = graphs(X)
    dense = backend.asarray(X)
    for kind, norm in (("literal", backend.matrix_norm(dense)), ("default", 10.0)):
        system = make_system(dense, pair, norm, backend)
        seconds = {}
        for solver in solvers(dense.shape):
            seconds[name(solver)] = timed(solver, system, limit)
        if kind == "literal" and dense.size <= 1_100_000:
            spent = smoothed_aggregation(system)
            if spent is not None:
                seconds["pyamg smoothed aggregation (kronecker)"] = (spent, "", "")
        picked = name(AutoSolver(TOL).choose(system))
        best = min(line[0] for line in seconds.values() if line)
        for key, line in seconds.items():
            mark = "**auto**" if key == picked else ""
            stopped = (f"over {limit:g}, stopped", "", "", f"over {limit / best:.3g}")
            shown = (*line, line[0] / best) if line else stopped
            yield case, kind, f"{norm:.0f}", key, *shown, mark


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per solver")
    arguments = parser.parse_args()
    backend = cpu_backend(None)
    rows = []
    for case in arguments.cases.split(","):
        for row in measure(case, backend, arguments.limit):
            rows.append(row)
            print(row, flush=True)
    header = ["case", "system", "norm", "solver", "seconds", "iterations", "residual",
              "times the best", "picked"]  # fmt: skip
    write(
        "solvers",
        "One solve of the linear system",
        "python -m benchmarks.speed.solvers "
        f"--cases {arguments.cases} --limit {arguments.limit:g}",
        f"float32, relative residual {TOL:g}, cold start at U = X, least of three runs (one for "
        "multigrid and large matrices) after a warm-up; a solver whose runs take more than "
        f"{arguments.limit:g} s together is stopped. "
        "Spectral and Bartels-Stewart are cubic in the longer side and run on the smallest only; "
        "the Kronecker system needs much memory and runs up to a million cells only. "
        "`norm` is the spectral norm of strength x Laplacian: that of X in the literal "
        "algorithm, 10 in the default.",
        markdown(header, rows),
    )


if __name__ == "__main__":
    main()
