"""Fits of matrices in blocks of rows: on a Dask cluster, or in files of this machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from pyrocco.backends import ChunkedBackend, ChunkedMatrix, ScratchStore, cpu_backend, even_ends
from pyrocco.backends.chunked.dask import (
    DaskStore,
    active_client,
    checked_array,
    chunked_like,
    from_dask,
    to_dask,
)
from pyrocco.backends.chunked.files import as_mapped
from pyrocco.checkpoint import journal_of
from pyrocco.estimators.blockwise import (
    BlockFacts,
    check_no_limit,
    check_options,
    check_shape,
    means_of_blocks,
    put_back,
    turned,
    unitless,
    warn_of_wild_cells,
)
from pyrocco.estimators.budget import parse_bytes, plan_in_files
from pyrocco.estimators.checks import check_n_clusters
from pyrocco.estimators.deferred import Deferred, Source, refuse_dask
from pyrocco.estimators.recognition import order_where_repeated
from pyrocco.estimators.stages import Fitted, Work
from pyrocco.estimators.weights import Copies

# Bytes for work on blocks in files where no limit is set.
_MEMORY = 2 * 10**9


class BlockedMixin:
    """Fits by the same steps where a matrix does not fit into memory."""

    def _fit_dask(self: Any, X: Any, sample_weight: Any) -> None:
        """Fit a Dask array: on the workers of the active client, or in files of this machine."""
        check_options(self, sample_weight)
        X = checked_array(X)
        store = self._store_of(active_client(), X)
        wide = X.shape[1] > X.shape[0]
        blocks = from_dask(X.T if wide else X, store)
        self.n_features_in_ = X.shape[1]
        fitted, scale = self._fit_blocks(X, blocks, wide)
        self._keep_blocks(fitted)
        rows = np.r_[0, np.cumsum(X.chunks[0])]
        U = to_dask(_in_units(fitted.learned.U, scale))
        self.representation_ = U.T if wide else U.rechunk({0: X.chunks[0]})
        self.row_labels_ = self.labels_ = chunked_like(self.row_labels_, rows)
        self.row_membership_ = chunked_like(self.row_membership_, rows)
        self._nested = self._placers = Deferred(make=refuse_dask)

    def _fit_in_files(self: Any, X: Any, memory: int, sample_weight: Any) -> None:
        """Fit a matrix that is here, its representation and all panels in files."""
        check_options(self, sample_weight)
        backend = cpu_backend(self.n_jobs)
        store = ScratchStore(memory, backend.n_threads)
        wide = X.shape[1] > X.shape[0]
        source_rows = X.T if wide else X
        row_bytes = source_rows.shape[1] * X.dtype.itemsize
        blocks = ChunkedMatrix.split(source_rows, even_ends(max(X.shape), row_bytes, store), store)
        with threadpool_limits(self.n_jobs):
            fitted, scale = self._fit_blocks(X, blocks, wide)
        self._keep_blocks(fitted)
        U = as_mapped(_in_units(fitted.learned.U, scale))
        self.representation_ = U.T if wide else U
        source, copies = Source(X), Copies.weigh(X, None, sort=False)
        self._promise(source, fitted, scale, True)
        self._place_later(source, copies, None, scale, backend)

    def _store_of(self: Any, client: Any, X: Any) -> DaskStore | ScratchStore:
        if client is not None:
            check_no_limit(self)
            return DaskStore(client)
        memory = _MEMORY
        if self.memory_limit is not None:
            limit = parse_bytes(self.memory_limit)
            memory = plan_in_files(X.shape, X.dtype, self.n_neighbors, limit).work
        return ScratchStore(memory, cpu_backend(self.n_jobs).n_threads)

    def _fit_blocks(self: Any, X: Any, blocks: ChunkedMatrix, wide: bool) -> tuple[Fitted, float]:
        """The fit itself; the longer side of the matrix is that of the blocks."""
        check_shape(X.shape)
        facts = BlockFacts.of(blocks)
        order = None if wide else order_where_repeated(blocks, facts.largest)
        ordered = blocks if order is None else blocks.reordered(order)
        variant, solver = self._resolve(X)
        backend = ChunkedBackend(blocks.store)
        rows, columns = check_n_clusters(self.n_clusters, X.shape)
        numbers = (columns, rows) if wide else (rows, columns)
        with self._watched_fit(X) as progress:
            journal = journal_of(self, ordered, backend)
            without = unitless(ordered, facts.scale).persist()
            # Nobody needs the blocks with units any more: they may go.
            blocks.assign(without)
            work = Work(without, variant, solver, backend, progress, journal, numbers)
            fitted = self._fit_once(work)
        warn_of_wild_cells(work, fitted)
        means = means_of_blocks(without, fitted.found.row_labels, fitted.found.column_labels)
        self.block_means_ = facts.scale * (means.T if wide else means)
        if order is not None:
            fitted = put_back(fitted, order)
        return turned(fitted) if wide else fitted, facts.scale

    def _keep_blocks(self: Any, fitted: Fitted) -> None:
        self._keep_labels(fitted)
        # The model must not hold the store: it can be neither saved nor copied, and has files.
        self.assigner_.backend = cpu_backend(self.n_jobs)


def _in_units(U: ChunkedMatrix, scale: float) -> ChunkedMatrix:
    return unitless(U, 1 / scale)
