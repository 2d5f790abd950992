"""Compare dask.array's re-chunking and reductions with those of pyrocco on a local cluster.

    python -m benchmarks.libraries.dask_arrays [--rows 200000] [--columns 200] [--repeats 3]

Two worker processes hold a tall float64 matrix in chunks of rows. Each operation is timed on the
same chunks, with the bytes that workers send to each other and the peak memory of a worker. The
last part fits ROCCO with chunks of different sizes and compares the labels.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from pyrocco import ROCCO
from pyrocco.backends import ChunkedBackend
from pyrocco.backends.chunked import matrix as chunked_matrix
from pyrocco.backends.chunked.dask import DaskStore, from_dask
from pyrocco.backends.chunked.engine import _column_sums, gram
from pyrocco.datasets import make_noisy_biclusters

WIDTH = 20  # columns of Y in U^T Y
CHUNKS = (8, 40, 160)


def reset_peak():
    Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def measured(client, operation, repeats):
    """Best seconds, megabytes sent, peak megabytes of a worker, and the results."""
    best, results = np.inf, []
    for _ in range(repeats):
        client.run(reset_peak)
        before = sum(client.run(sent).values())
        start = time.perf_counter()
        results.append(operation())
        best = min(best, time.perf_counter() - start)
        moved = (sum(client.run(sent).values()) - before) / 2**20
        peak = max(client.run(peak_megabytes).values())
    return best, moved, peak, results


class Case:
    """The same chunks of rows as a Dask array and as a matrix of pyrocco."""

    def __init__(self, client, n_rows, n_columns, n_chunks):
        size = -(-n_rows // n_chunks)
        # Values do not depend on the chunks.
        rows = da.arange(n_rows, chunks=size, dtype=np.float64)[:, None]
        X = da.sin(rows * np.arange(1, n_columns + 1)) + 3 * (rows % 5 == np.arange(n_columns) % 5)
        self.X = X.persist()
        wait(self.X)
        self.backend = ChunkedBackend(DaskStore(client))
        self.U = from_dask(self.X, self.backend.store)
        self.rechunk = self.backend._rechunk(self.U)

    def ours_rechunk(self):
        """Chunks of rows to panels of columns, and back."""
        store = self.backend.store
        panels = [store.submit(np.concatenate, p) for p in self.rechunk.to_panels(self.U)]
        wait([store.submit(np.hstack, pieces) for pieces in self.rechunk.to_chunks(panels)])

    def dask_rechunk(self, method):
        widths = tuple(panel.stop - panel.start for panel in self.rechunk.panels)
        with dask.config.set({"array.rechunk.method": method}):
            there = self.X.rechunk((-1, widths))
            # A step between, as the solver takes one; else Dask would drop both re-chunks.
            back = (there + 0.0).rechunk(self.X.chunks)
            wait(back.persist())

    def reductions(self):
        """Name, ours, Dask's."""
        U, Y = self.U, self.X[:, :WIDTH].persist()
        V = from_dask(Y, self.backend.store)
        yield "column sums", lambda: U.total(_column_sums), self.X.sum(axis=0).compute
        yield "U^T Y", lambda: self.backend.project(U, V), (self.X.T @ Y).compute
        yield "U^T U", lambda: U.total(gram), (self.X.T @ self.X).compute


def same_bits(results):
    return all(np.array_equal(results[0], other) for other in results[1:])


def compare(client, n_rows, n_columns, repeats):
    rows, across = [], {}
    for n_chunks in CHUNKS:
        case = Case(client, n_rows, n_columns, n_chunks)
        for name, operation in {
            "ours": case.ours_rechunk,
            "Dask, tasks": lambda case=case: case.dask_rechunk("tasks"),
            "Dask, p2p": lambda case=case: case.dask_rechunk("p2p"),
        }.items():
            seconds, moved, peak, _ = measured(client, operation, repeats)
            rows.append((n_chunks, "re-chunk there and back", name, seconds, moved, peak, ""))
            print(rows[-1], flush=True)
        for operation, ours, theirs in case.reductions():
            for name, work in (("ours", ours), ("Dask", theirs)):
                seconds, moved, peak, results = measured(client, work, repeats)
                bits = "yes" if same_bits(results) else "no"
                rows.append((n_chunks, operation, name, seconds, moved, peak, bits))
                across.setdefault((operation, name), []).append(results[0])
                print(rows[-1], flush=True)
        del case
    return rows, across


def dask_total(parts, store):
    """The sum of chunks by Dask's tree reduction."""
    first = store.fetch(parts[:1])[0]
    arrays = [
        da.from_delayed(dask.delayed(p), np.shape(first), np.asarray(first).dtype) for p in parts
    ]
    return da.stack(arrays).sum(axis=0).compute()


def labels_across_chunks():
    """Whether ROCCO gives the same labels for every number of chunks, with each reduction."""
    X = make_noisy_biclusters((900, 60), 5, noise=20, random_state=0).X
    expected = ROCCO().fit(X)
    equal = {}
    for name, total in (("ours", chunked_matrix.total), ("Dask", dask_total)):
        chunked_matrix.total = total
        start = time.perf_counter()
        found = [ROCCO().fit(da.from_array(X, chunks=(900 // n, -1))) for n in (3, 10, 30)]
        seconds = time.perf_counter() - start
        same = all(
            np.array_equal(expected.row_labels_, np.asarray(model.row_labels_))
            and np.array_equal(expected.column_labels_, np.asarray(model.column_labels_))
            for model in found
        )
        equal[name] = same, seconds
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        rows, across = compare(client, options.rows, options.columns, options.repeats)
        labels = labels_across_chunks()
    print("| chunks | operation | by | seconds | MB sent | peak MB | same bits in every run |")
    print("|---|---|---|---|---|---|---|")
    for *names, seconds, moved, peak, bits in rows:
        cells = [*map(str, names), f"{seconds:.2f}", f"{moved:.0f}", f"{peak:.0f}", bits]
        print(f"| {' | '.join(cells)} |")
    print()
    for (operation, name), results in across.items():
        spread = max(np.abs(r - results[0]).max() for r in results) / np.abs(results[0]).max()
        print(f"{operation}, {name}: relative difference across numbers of chunks {spread:.1e}")
    for name, (same, seconds) in labels.items():
        print(f"labels with reductions by {name}: equal {same}, three fits {seconds:.1f} s")


if __name__ == "__main__":
    main()
