"""A matrix in blocks of rows gives what the whole matrix gives, wherever it is cut."""

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pyrocco import mutual_knn_graph
from pyrocco.backends import (
    BlockBackend,
    NumpyBackend,
    RowBlocks,
    ScratchStore,
    even_ends,
    is_blocks,
    map_rows,
    over_rows,
)
from pyrocco.backends import scratch as scratch_module
from pyrocco.backends.rowblocks import Rotation, Turned, dense
from pyrocco.backends.scratch import as_mapped
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import ConjugateGradientSolver, DecoupledSolver

N_ROWS, N_COLUMNS = 15, 7
CUTS = {
    "one block": [0, N_ROWS],
    "uneven blocks": [0, 1, 4, 11, N_ROWS],
    "blocks of one row": list(range(N_ROWS + 1)),
}
KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X,
    "CSR": sparse.csr_array,
    "CSR matrix, float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}
LOCAL = NumpyBackend()


def matrix(seed=0, shape=(N_ROWS, N_COLUMNS)):
    """Normal cells, a third of them zero, and a row and a column of zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.67)
    X[3], X[:, 2] = 0, 0
    return X


class Case:
    """The same matrix as a whole and in blocks."""

    def __init__(self, kind, ends, seed=0):
        X = KINDS[kind](matrix(seed))
        self.backend = BlockBackend(ScratchStore())
        self.blocks = RowBlocks.cut(X, ends, self.backend.store)
        self.whole = LOCAL.asarray(X)
        self.close = 1e-4 if X.dtype == np.float32 else 1e-11

    def check(self, found, expected):
        found = found if np.isscalar(found) else self.backend.to_numpy(found)
        np.testing.assert_allclose(found, expected, rtol=self.close, atol=self.close)


@pytest.fixture(params=CUTS)
def ends(request):
    return CUTS[request.param]


@pytest.fixture(params=KINDS)
def case(request, ends):
    return Case(request.param, ends)


def test_there_and_back(case):
    assert case.blocks.shape == (N_ROWS, N_COLUMNS)
    assert len(case.blocks) == N_ROWS
    here = case.backend.asarray(case.blocks)
    assert case.backend.dtype(here) == case.whole.dtype
    assert all(isinstance(block, np.ndarray) for block in here.results(lambda block: block))
    np.testing.assert_array_equal(case.backend.to_numpy(here), case.whole)
    np.testing.assert_array_equal(case.backend.to_numpy(case.blocks), case.whole)
    assert case.backend.narrow(here) is here
    assert is_blocks(here)
    assert is_blocks(here.T)


def test_what_is_here_stays_here(case):
    np.testing.assert_array_equal(case.backend.asarray(case.whole), case.whole)
    np.testing.assert_array_equal(case.backend.to_numpy(case.whole), case.whole)
    np.testing.assert_array_equal(case.backend.transpose(case.whole), case.whole.T)
    turned = case.blocks.T
    assert case.backend.asarray(turned) is turned
    assert not is_blocks(case.whole)


def test_transpose(case):
    turned = case.backend.transpose(case.blocks)
    assert isinstance(turned, Turned)
    assert (turned.shape, turned.dtype) == ((N_COLUMNS, N_ROWS), case.whole.dtype)
    assert case.backend.transpose(turned) is case.blocks


def test_norms(case):
    assert case.backend.squared_norm(case.blocks) == pytest.approx(
        np.square(case.whole).sum(), rel=1e-5
    )
    assert case.backend.matrix_norm(case.blocks) == pytest.approx(
        LOCAL.matrix_norm(case.whole), rel=1e-5
    )
    other = case.backend.centred(case.blocks)
    case.check(
        case.backend.squared_distance(case.blocks, other),
        LOCAL.squared_distance(case.whole, LOCAL.centred(case.whole)),
    )


def test_centred(case):
    here = case.backend.asarray(case.blocks)
    centred = case.backend.centred(here)
    assert case.backend.to_numpy(centred).dtype == case.whole.dtype
    case.check(centred, LOCAL.centred(case.whole))
    case.check(case.backend.centred(here.T).blocks, LOCAL.centred(case.whole.T).T)


def test_project(case):
    rng = np.random.default_rng(1)
    backend, U = case.backend, case.blocks
    tall, flat = rng.normal(size=(N_ROWS, 3)), rng.normal(size=(N_COLUMNS, 3))
    tall, flat = (M.astype(case.whole.dtype) for M in (tall, flat))
    other = backend.centred(U)
    products = [
        (backend.project(U, tall), case.whole.T @ tall),
        (backend.project(U, U), case.whole.T @ case.whole),
        (backend.project(U, other), case.whole.T @ LOCAL.centred(case.whole)),
        (backend.project(U.T, flat), case.whole @ flat),
        (backend.project(U.T, U.T), case.whole @ case.whole.T),
    ]
    for found, expected in products:
        assert found.dtype == np.float64
        case.check(found, expected)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("into", [False, True])
def test_rotate(case, transposed, into):
    backend = case.backend
    V = np.random.default_rng(1).normal(size=(N_COLUMNS, N_COLUMNS))
    out = backend.empty_like(case.blocks) if into else None
    rotated = backend.rotate(case.blocks, V, transposed=transposed, out=out)
    expected = LOCAL.rotate(case.whole, V, transposed)
    assert not into or rotated is out
    assert rotated.dtype == case.whole.dtype
    case.check(rotated, expected)
    np.testing.assert_array_equal(backend.to_numpy(case.blocks), case.whole)
    some = rotated.columns(slice(2, 5))
    assert some.shape == (N_ROWS, 3)
    case.check(some, expected[:, 2:5])


def test_rotate_to_fewer_columns_and_of_the_transpose(case):
    rng = np.random.default_rng(1)
    flat, tall = rng.normal(size=(N_COLUMNS, 2)), rng.normal(size=(N_ROWS, 2))
    rotated = case.backend.rotate(case.blocks, flat)
    assert rotated.shape == (N_ROWS, 2)
    case.check(rotated, LOCAL.rotate(case.whole, flat))
    turned = case.backend.rotate(case.blocks.T, tall)
    assert turned.dtype == case.whole.dtype
    case.check(turned, LOCAL.rotate(case.whole.T, tall))
    case.check(
        case.backend.rotate(case.blocks.T, tall.T, transposed=True),
        LOCAL.rotate(case.whole.T, tall),
    )


def test_nearest_centres(case):
    centres = np.random.default_rng(1).normal(size=(4, N_COLUMNS))
    for rows in (case.blocks, case.whole):
        labels, sums = case.backend.nearest_centres(rows, centres)
        expected = LOCAL.nearest_centres(case.whole, centres)
        np.testing.assert_array_equal(labels, expected[0])
        case.check(sums, expected[1])


@pytest.mark.parametrize("axis", [0, 1])
def test_content_keys(case, axis):
    found = case.backend.content_keys(case.blocks, axis)
    np.testing.assert_array_equal(found, LOCAL.content_keys(case.whole, axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("memory", [2**30, 1])
def test_edge_lengths(case, axis, memory):
    """Also where a single column is all that fits into memory."""
    case.backend.store.memory = memory
    size = case.whole.shape[axis]
    ends = np.random.default_rng(1).integers(0, size, size=(2, 40))
    found = case.backend.edge_lengths(case.blocks, *ends, axis)
    case.check(found, LOCAL.edge_lengths(case.whole, *ends, axis))


def test_copies_outlive_what_happens(case):
    backend, U = case.backend, case.backend.asarray(case.blocks)
    kept, copied, empty = backend.kept(U), backend.copy(U), backend.empty_like(U)
    assert kept.steps == ()
    assert (empty.shape, empty.dtype) == (U.shape, U.dtype)
    backend.overwrite(U, U.then(np.negative))
    assert U.steps == ()
    np.testing.assert_array_equal(backend.to_numpy(U), -case.whole)
    for one in (kept, copied):
        np.testing.assert_array_equal(backend.to_numpy(one), case.whole)


def systems(X, blocks, backend):
    """The same system as a whole and in blocks."""
    sides = [Side(mutual_knn_graph(M, 4), axis, 40.0) for axis, M in enumerate((X, X.T))]
    rows, columns = (side.operator(LOCAL, X.dtype) for side in sides)
    return (
        SylvesterSystem(X, 2.0, rows, columns, LOCAL),
        SylvesterSystem(backend.asarray(blocks), 2.0, rows, columns, backend),
    )


@pytest.mark.parametrize(
    "solver", [ConjugateGradientSolver(1e-6), DecoupledSolver(1e-6)], ids=lambda s: s.name
)
def test_solvers(case, solver):
    whole, there = systems(case.whole, case.blocks, case.backend)
    expected = solver.solve(whole, case.whole.copy())
    found = solver.solve(there, case.backend.copy(there.X))
    assert found.U.dtype == case.whole.dtype
    assert found.converged
    if case.whole.dtype == np.float64:
        assert found.iterations == expected.iterations
    scale = np.linalg.norm(expected.U)
    bound = 1e-5 if case.whole.dtype == np.float32 else 1e-9
    assert np.linalg.norm(case.backend.to_numpy(found.U) - expected.U) <= bound * scale
    np.testing.assert_array_equal(case.backend.to_numpy(case.blocks), case.whole)


@pytest.mark.parametrize(
    "solver", [ConjugateGradientSolver(1e-9), DecoupledSolver(1e-9)], ids=lambda s: s.name
)
def test_solvers_with_memory_for_one_column(solver):
    """Each column is a panel, which the decoupled solver leaves when it is good enough."""
    case = Case("float64", CUTS["uneven blocks"])
    case.backend.store.memory = 1
    whole, there = systems(case.whole, case.blocks, case.backend)
    found = solver.solve(there, case.backend.copy(there.X))
    expected = solver.solve(whole, case.whole.copy())
    np.testing.assert_allclose(case.backend.to_numpy(found.U), expected.U, atol=1e-7)


def test_steps_of_conjugate_gradients(case):
    backend = case.backend
    whole, there = systems(case.whole, case.blocks, backend)
    U, there_U = case.whole.copy(), backend.copy(there.X)
    R, D, image = (np.empty_like(U) for _ in range(3))
    there_R, there_D, there_image = (backend.empty_like(there_U) for _ in range(3))
    case.check(backend.begin(there, there_U, there_R, there_D), LOCAL.begin(whole, U, R, D))
    energy = LOCAL.apply(whole, D, image)
    case.check(backend.apply(there, there_D, there_image), energy)
    step = 0.5 / energy
    case.check(
        backend.advance(there, there_U, there_R, there_D, there_image, step),
        LOCAL.advance(whole, U, R, D, image, step),
    )
    case.check(backend.direction(there, there_R, there_D, 0.3), LOCAL.direction(whole, R, D, 0.3))
    for found, expected in ((there_U, U), (there_R, R), (there_D, D), (there_image, image)):
        case.check(found, expected)


def test_rows_and_columns_of_blocks(case):
    blocks, whole = case.blocks, case.whole
    for wanted in (
        np.array([5, 0, N_ROWS - 1, 5]), slice(3, 12), slice(None, None, 4), slice(None, None, -3),
        np.arange(N_ROWS) % 3 == 0, [-1, 2],
    ):  # fmt: skip
        np.testing.assert_array_equal(blocks[wanted], whole[wanted])
    for column in (0, 4, N_COLUMNS - 1):
        np.testing.assert_array_equal(blocks[:, column], whole[:, column])
    some = blocks.columns(slice(1, 4))
    assert some.shape == (N_ROWS, 3)
    np.testing.assert_array_equal(case.backend.to_numpy(some), whole[:, 1:4])


def test_reordered(case):
    order = np.random.default_rng(1).permutation(N_ROWS)
    moved = case.blocks.then(lambda block: block * 2).reordered(order)
    np.testing.assert_array_equal(moved.ends, case.blocks.ends)
    np.testing.assert_array_equal(case.backend.to_numpy(moved), 2 * case.whole[order])
    back = moved.reordered(np.argsort(order))
    np.testing.assert_array_equal(case.backend.to_numpy(back), 2 * case.whole)


def test_totals_and_results_by_row(case):
    weights = np.arange(N_ROWS, dtype=np.float64)
    total = case.blocks.total(lambda block, part: part @ dense(block), weights)
    case.check(total, weights @ case.whole)
    parts = case.blocks.results(lambda block, part: (block.shape[0], len(part)), weights)
    assert parts == [(b - a, b - a) for a, b in pairwise(case.blocks.ends)]
    assert over_rows(np.shape, case.whole) == [case.whole.shape]
    assert sum(over_rows(lambda block: block.shape[0], case.blocks)) == N_ROWS
    case.check(map_rows(np.negative, case.blocks), map_rows(np.negative, case.whole))


def test_only_the_wanted_columns_of_a_rotation_are_computed():
    blocks = RowBlocks.cut(matrix(), [0, 9, N_ROWS], ScratchStore())
    V = np.random.default_rng(1).normal(size=(N_COLUMNS, N_COLUMNS))
    last = blocks.then(Rotation(V), N_COLUMNS).columns(slice(2, 4)).steps[-1]
    assert isinstance(last, Rotation)
    np.testing.assert_array_equal(last.matrix, V[:, 2:4])


def test_the_matrix_of_a_rotation_is_laid_down_once():
    given, laid = [], []

    class Listening(ScratchStore):
        def submit(self, work, *arguments):
            given.append(arguments)
            return super().submit(work, *arguments)

        def put(self, value):
            laid.append(value)
            return super().put(value)

    blocks = RowBlocks.cut(matrix(), list(range(N_ROWS + 1)), Listening())
    laid.clear()
    V = np.random.default_rng(1).normal(size=(N_COLUMNS, N_COLUMNS))
    rotated = blocks.then(Rotation(V), N_COLUMNS)
    np.testing.assert_allclose(np.vstack(rotated.results(dense)), matrix() @ V)
    np.testing.assert_allclose(rotated.settled()[:], matrix() @ V)
    (one,) = laid
    np.testing.assert_array_equal(one.matrix, V)
    for arguments in given:
        steps = arguments[1] if isinstance(arguments[1], tuple) else ()
        assert not any(isinstance(step, Rotation) for step in steps)


def test_settled_takes_the_steps_once():
    taken = []

    def step(block):
        taken.append(len(block))
        return block + 1

    blocks = RowBlocks.cut(matrix(), [0, 9, N_ROWS], ScratchStore())
    assert blocks.settled() is blocks
    lazy = blocks.then(step)
    assert not taken
    settled = lazy.settled()
    for _ in range(2):
        np.testing.assert_array_equal(settled[:], matrix() + 1)
    assert sorted(taken) == [N_ROWS - 9, 9]


def test_become_takes_the_place_of_another():
    store = ScratchStore()
    one, other = (RowBlocks.cut(matrix(seed), [0, 9, N_ROWS], store) for seed in (0, 1))
    doubled = other.then(lambda block: block * 2).columns(slice(0, 3))
    one.become(doubled)
    assert one.shape == (N_ROWS, 3)
    np.testing.assert_array_equal(one[:], 2 * matrix(1)[:, :3])
    np.testing.assert_array_equal(other[:], matrix(1))


@given(
    cuts=st.sets(st.integers(1, N_ROWS - 1)),
    kind=st.sampled_from(list(KINDS)),
    seed=st.integers(0, 99),
    n_workers=st.integers(1, 3),
)
def test_any_cut_gives_the_same(cuts, kind, seed, n_workers):
    case = Case(kind, [0, *sorted(cuts), N_ROWS], seed)
    case.backend.store = case.blocks.store = ScratchStore(n_workers=n_workers)
    V = np.random.default_rng(seed).normal(size=(N_COLUMNS, N_COLUMNS))
    ends = np.random.default_rng(seed).integers(0, N_COLUMNS, size=(2, 20))
    rotated = LOCAL.rotate(LOCAL.centred(case.whole), V)
    there = case.backend.rotate(case.backend.centred(case.blocks), V)
    case.check(there, rotated)
    case.check(case.backend.squared_norm(there), LOCAL.squared_norm(rotated))
    for axis in (0, 1):
        lengths = case.backend.edge_lengths(there, *ends, axis)
        case.check(lengths, LOCAL.edge_lengths(rotated, *ends, axis))
        keys = case.backend.content_keys(case.blocks, axis)
        np.testing.assert_array_equal(keys, LOCAL.content_keys(case.whole, axis))


@given(
    n_rows=st.integers(1, 500), row_bytes=st.integers(0, 10**6), memory=st.integers(1, 10**9),
    n_workers=st.integers(1, 4),
)  # fmt: skip
def test_even_ends_cover_all_rows_in_blocks_that_fit(n_rows, row_bytes, memory, n_workers):
    store = ScratchStore(max(memory, n_workers), n_workers)
    ends = even_ends(n_rows, row_bytes, store)
    sizes = np.diff(ends)
    assert (ends[0], ends[-1]) == (0, n_rows)
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1
    assert sizes.max() == 1 or sizes.max() * row_bytes <= store.memory


LARGE = (300, 500)  # over a megabyte


@pytest.fixture(params=[1, 2])
def store(request):
    return ScratchStore(n_workers=request.param)


def files(store):
    return list(store.folder.iterdir())


def test_large_arrays_are_in_files_that_go_with_their_blocks(store):
    block, small = store.submit(np.ones, LARGE), store.submit(np.ones, 3)
    content, _ = store.fetch([block, small])
    assert isinstance(content, np.memmap)
    assert [file.suffix for file in files(store)] == [".npy"]
    later = store.submit(np.sum, block)
    del block
    np.testing.assert_array_equal(content, np.ones(LARGE))
    assert store.fetch([later]) == [np.prod(LARGE)]
    # The thread lets go of its arguments when it takes up something else.
    store.fetch([store.submit(np.ones, 3) for _ in range(4 * store.n_workers)])
    gc.collect()
    assert not files(store)
    np.testing.assert_array_equal(content, np.ones(LARGE))


def test_tuples_are_laid_down_part_by_part(store):
    both = store.submit(lambda: (np.ones(LARGE), "a word"))
    assert len(files_when_done(store, both)) == 1
    assert store.fetch([store.submit(lambda pair: (pair[0].sum(), pair[1]), both)]) == [
        (np.prod(LARGE), "a word")
    ]


def files_when_done(store, block):
    store.fetch([block])
    return files(store)


def test_nobody_writes_into_a_file(store):
    block = store.submit(np.zeros, LARGE)
    store.fetch([block])[0][:] = 7
    assert not store.fetch([block])[0].any()


def test_the_folder_goes_with_the_store():
    store = ScratchStore()
    folder, block = store.folder, store.submit(np.ones, LARGE)
    assert store.fetch([block])[0].shape == LARGE
    del store
    gc.collect()
    assert folder.exists()  # the block needs it
    del block
    gc.collect()
    assert not folder.exists()


def fail(*arguments):
    raise ArithmeticError("no such thing")


def test_an_error_in_work_reaches_who_fetches(store):
    block = store.submit(fail)
    after = store.submit(np.add, block, 1.0)
    for one in (block, after):
        with pytest.raises(ArithmeticError, match="no such thing"):
            store.fetch([one])
    assert store.fetch([store.submit(np.add, 1, 1)]) == [2]


def test_blocks_in_lists_are_opened(store):
    parts = [store.submit(np.full, 2, i) for i in range(3)]
    joined = store.fetch([store.submit(np.concatenate, [*parts, [9.0]])])[0]
    assert joined.tolist() == [0, 0, 1, 1, 2, 2, 9]


@pytest.mark.parametrize("kind", KINDS)
def test_as_mapped(kind):
    case = Case(kind, CUTS["uneven blocks"])
    store = case.blocks.store
    mapped = as_mapped(case.blocks.then(lambda block: block * 2))
    assert isinstance(mapped, np.memmap)
    assert mapped.dtype == case.whole.dtype
    np.testing.assert_array_equal(mapped, 2 * case.whole)
    assert not files(store)
    del case, store
    gc.collect()
    assert mapped.sum() == pytest.approx(np.asarray(mapped).sum())


def test_fits_of_small_files_give_the_same(monkeypatch):
    """Every block goes through a file, however small."""
    monkeypatch.setattr(scratch_module, "_LEAST_BYTES", 1)
    case = Case("float64", CUTS["uneven blocks"])
    whole, there = systems(case.whole, case.blocks, case.backend)
    solver = DecoupledSolver(1e-8)
    found = solver.solve(there, case.backend.copy(there.X))
    case.check(found.U, solver.solve(whole, case.whole.copy()).U)
    assert files(case.backend.store)
