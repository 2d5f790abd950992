"""Compute missing cells and append each to the CSV file of its experiment."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue
from typing import Any

from benchmarks.paper.cell import Cell
from benchmarks.paper.store import FINISHED, KEY, Store
from benchmarks.paper.versions import versions, where_and_when
from benchmarks.paper.worker import Worker


@dataclass(frozen=True)
class Limits:
    """Time and memory limits of a cell, and the number of cells computed at the same time."""

    seconds: float = 600.0
    memory: float = 16.0
    threads: int = 1
    jobs: int = 1


def run(
    cells: Iterable[Cell],
    store: Store,
    limits: Limits,
    *,
    retry: bool = False,
    again: bool = False,
) -> int:
    """Compute missing cells and return their number.

    `retry` also computes failed cells again, `again` all cells.
    """
    cells = list(cells)
    store.drop({cell.key for cell in cells} if again else ())
    done = ("ok",) if retry else FINISHED
    statuses = store.statuses()
    missing = [cell for cell in cells if statuses.get(cell.key) not in done or _lost(cell)]
    _say(f"{store.path.stem}: {len(cells)} cells, {len(missing)} to compute")
    _compute_all(missing, store, limits)
    return len(missing)


def _compute_all(cells: list[Cell], store: Store, limits: Limits) -> None:
    workers = [Worker(limits.seconds, limits.memory) for _ in range(min(limits.jobs, len(cells)))]
    free: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        free.put(worker)
    number = count(1)

    def one(cell: Cell) -> None:
        worker = free.get()
        try:
            row = _hopeless(cell, store) or worker.run(cell)
        finally:
            free.put(worker)
        store.append(_line(cell, row, limits))
        _say(f"[{next(number)}/{len(cells)}] {cell}: {_summary(row)}")

    try:
        for _ in _mapped(one, cells, len(workers)):
            pass
    finally:
        for worker in workers:
            worker.close()


def _mapped(function: Any, cells: list[Cell], n_workers: int) -> Iterator[None]:
    if n_workers <= 1:
        yield from map(function, cells)
        return
    with ThreadPoolExecutor(n_workers) as pool:
        try:
            yield from pool.map(function, cells)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _lost(cell: Cell) -> bool:
    return cell.keep is not None and not cell.keep.exists()


def _hopeless(cell: Cell, store: Store) -> dict[str, Any] | None:
    """Return a time-out without running the cell if a cheaper cell ran out of time."""
    if cell.after is None or store.statuses().get(cell.after) != "timeout":
        return None
    name, method, seed, options = cell.after
    tried = f"{name} {method} seed {seed} {options}".rstrip()
    return {"status": "timeout", "reason": f"not tried: out of time on {tried}"}


def _line(cell: Cell, row: dict[str, Any], limits: Limits) -> dict[str, Any]:
    known = dict(zip(KEY, cell.key, strict=True))
    ran = {"threads": limits.threads, "time_limit": f"{limits.seconds:g}"}
    return known | ran | versions() | where_and_when() | row


def _summary(row: dict[str, Any]) -> str:
    if row["status"] != "ok":
        return f"{row['status']}, {row['reason']}"
    side = "row" if "row_ami" in row else "column"
    return f"AMI {row[f'{side}_ami']:.3f}, ARI {row[f'{side}_ari']:.3f}, {row['seconds']:.2f} s"


def _say(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()
