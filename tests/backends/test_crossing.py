"""Blocks of rows to panels of columns and back, with strips and without."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyrocco.backends.crossing import Crossing
from pyrocco.backends.numpy import cut_columns
from pyrocco.backends.rowblocks import RowBlocks
from pyrocco.backends.scratch import ScratchStore


class Counting(ScratchStore):
    """Counts what is submitted."""

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
def test_there_and_back_changes_nothing(heights, n_columns, width, few):
    ends, store = np.cumsum([0, *heights]), ScratchStore()
    X = np.random.default_rng(0).normal(size=(ends[-1], n_columns))
    panels = cut_columns(n_columns, width)
    crossing = Crossing(store, ends, panels, few)
    pieces = crossing.cut(RowBlocks.cut(X, ends, store))
    joined = [np.concatenate(store.fetch(each)) for each in pieces]
    for panel, columns in zip(joined, panels, strict=True):
        np.testing.assert_array_equal(panel, X[:, columns])
    rows = crossing.back([store.put(panel) for panel in joined])
    blocks = [np.hstack(store.fetch(strips)) for strips in rows]
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert [len(block) for block in blocks] == heights


@pytest.mark.parametrize(("few", "most"), [(10**6, 100 * 100), (0, 2.5 * 100 * 10)])
def test_strips_save_pieces(few, most):
    store = Counting()
    X = RowBlocks.cut(np.ones((100, 100)), np.arange(101), store)
    Crossing(store, X.ends, cut_columns(100, 1), few).cut(X)
    assert 0.8 * most < store.submitted <= most
