"""Chunks of rows to panels of columns and back, directly and in two steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyrocco.backends import ChunkedMatrix, ScratchStore
from pyrocco.backends.chunked.rechunk import Rechunk
from pyrocco.backends.numpy import slices


class Counting(ScratchStore):
    """Counts the submissions."""

    submitted = 0

    def submit(self, work, *arguments):
        self.submitted += 1
        return super().submit(work, *arguments)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=12),
    st.integers(1, 23),
    st.integers(1, 5),
    st.sampled_from([0, 10**6]),
)
def test_there_and_back_changes_nothing(heights, n_columns, width, direct):
    ends, store = np.cumsum([0, *heights]), ScratchStore()
    X = np.random.default_rng(0).normal(size=(ends[-1], n_columns))
    panels = slices(n_columns, width)
    rechunk = Rechunk(store, ends, panels, direct)
    pieces = rechunk.to_panels(ChunkedMatrix.split(X, ends, store))
    joined = [np.concatenate(store.fetch(each)) for each in pieces]
    for panel, columns in zip(joined, panels, strict=True):
        np.testing.assert_array_equal(panel, X[:, columns])
    rows = rechunk.to_chunks([store.put(panel) for panel in joined])
    chunks = [np.hstack(store.fetch(pieces)) for pieces in rows]
    np.testing.assert_array_equal(np.concatenate(chunks), X)
    assert [len(chunk) for chunk in chunks] == heights


@pytest.mark.parametrize(("direct", "most"), [(10**6, 100 * 100), (0, 2.5 * 100 * 10)])
def test_two_steps_need_fewer_pieces(direct, most):
    store = Counting()
    X = ChunkedMatrix.split(np.ones((100, 100)), np.arange(101), store)
    Rechunk(store, X.ends, slices(100, 1), direct).to_panels(X)
    assert 0.8 * most < store.submitted <= most
