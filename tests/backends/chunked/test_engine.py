"""A matrix in chunks of rows gives the results of the whole matrix, wherever it is split."""

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pyrocco import mutual_knn_graph
from pyrocco.backends import (
    Chunked,
    ChunkedBackend,
    ChunkedMatrix,
    ChunkedTranspose,
    NumpyBackend,
    Rotation,
    ScratchStore,
    even_ends,
    map_rows,
    over_rows,
)
from pyrocco.backends.chunked import files as files_module
from pyrocco.backends.chunked.files import as_mapped
from pyrocco.backends.chunked.matrix import dense
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import ConjugateGradientSolver, DecoupledSolver

N_ROWS, N_COLUMNS = 15, 7
CUTS = {
    "one chunk": [0, N_ROWS],
    "uneven chunks": [0, 1, 4, 11, N_ROWS],
    "chunks of one row": list(range(N_ROWS + 1)),
}
KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X,
    "CSR": sparse.csr_array,
    "CSR matrix, float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}
LOCAL = NumpyBackend()


def matrix(seed=0, shape=(N_ROWS, N_COLUMNS)):
    """Normal values, a third of them zero, and a row and a column of zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.67)
    X[3], X[:, 2] = 0, 0
    return X


class Case:
    """The same matrix as a whole and in chunks."""

    def __init__(self, kind, ends, seed=0):
        X = KINDS[kind](matrix(seed))
        self.backend = ChunkedBackend(ScratchStore())
        self.chunked = ChunkedMatrix.split(X, ends, self.backend.store)
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


def test_conversions(case):
    assert case.chunked.shape == (N_ROWS, N_COLUMNS)
    assert len(case.chunked) == N_ROWS
    here = case.backend.asarray(case.chunked)
    assert case.backend.dtype(here) == case.whole.dtype
    assert all(isinstance(chunk, np.ndarray) for chunk in here.results(lambda chunk: chunk))
    np.testing.assert_array_equal(case.backend.to_numpy(here), case.whole)
    np.testing.assert_array_equal(case.backend.to_numpy(case.chunked), case.whole)
    assert case.backend.narrow(here) is here
    assert isinstance(here, Chunked)
    assert isinstance(here.T, Chunked)


def test_arrays_in_memory_stay_there(case):
    np.testing.assert_array_equal(case.backend.asarray(case.whole), case.whole)
    np.testing.assert_array_equal(case.backend.to_numpy(case.whole), case.whole)
    np.testing.assert_array_equal(case.backend.transpose(case.whole), case.whole.T)
    transposed = case.chunked.T
    assert case.backend.asarray(transposed) is transposed
    assert not isinstance(case.whole, Chunked)


def test_transpose(case):
    transposed = case.backend.transpose(case.chunked)
    assert isinstance(transposed, ChunkedTranspose)
    assert (transposed.shape, transposed.dtype) == ((N_COLUMNS, N_ROWS), case.whole.dtype)
    assert case.backend.transpose(transposed) is case.chunked


def test_norms(case):
    assert case.backend.squared_norm(case.chunked) == pytest.approx(
        np.square(case.whole).sum(), rel=1e-5
    )
    assert case.backend.matrix_norm(case.chunked) == pytest.approx(
        LOCAL.matrix_norm(case.whole), rel=1e-5
    )
    other = case.backend.centred(case.chunked)
    case.check(
        case.backend.squared_distance(case.chunked, other),
        LOCAL.squared_distance(case.whole, LOCAL.centred(case.whole)),
    )


def test_centred(case):
    here = case.backend.asarray(case.chunked)
    centred = case.backend.centred(here)
    assert case.backend.to_numpy(centred).dtype == case.whole.dtype
    case.check(centred, LOCAL.centred(case.whole))
    case.check(case.backend.centred(here.T).matrix, LOCAL.centred(case.whole.T).T)


def test_project(case):
    rng = np.random.default_rng(1)
    backend, U = case.backend, case.chunked
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
    out = backend.empty_like(case.chunked) if into else None
    rotated = backend.rotate(case.chunked, V, transposed=transposed, out=out)
    expected = LOCAL.rotate(case.whole, V, transposed)
    assert not into or rotated is out
    assert rotated.dtype == case.whole.dtype
    case.check(rotated, expected)
    np.testing.assert_array_equal(backend.to_numpy(case.chunked), case.whole)
    some = rotated.columns(slice(2, 5))
    assert some.shape == (N_ROWS, 3)
    case.check(some, expected[:, 2:5])


def test_rotate_to_fewer_columns_and_of_the_transpose(case):
    rng = np.random.default_rng(1)
    flat, tall = rng.normal(size=(N_COLUMNS, 2)), rng.normal(size=(N_ROWS, 2))
    rotated = case.backend.rotate(case.chunked, flat)
    assert rotated.shape == (N_ROWS, 2)
    case.check(rotated, LOCAL.rotate(case.whole, flat))
    transposed = case.backend.rotate(case.chunked.T, tall)
    assert transposed.dtype == case.whole.dtype
    case.check(transposed, LOCAL.rotate(case.whole.T, tall))
    case.check(
        case.backend.rotate(case.chunked.T, tall.T, transposed=True),
        LOCAL.rotate(case.whole.T, tall),
    )


def test_nearest_centres(case):
    centres = np.random.default_rng(1).normal(size=(4, N_COLUMNS))
    for rows in (case.chunked, case.whole):
        labels, sums = case.backend.nearest_centres(rows, centres)
        expected = LOCAL.nearest_centres(case.whole, centres)
        np.testing.assert_array_equal(labels, expected[0])
        case.check(sums, expected[1])


@pytest.mark.parametrize("axis", [0, 1])
def test_content_keys(case, axis):
    found = case.backend.content_keys(case.chunked, axis)
    np.testing.assert_array_equal(found, LOCAL.content_keys(case.whole, axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("memory", [2**30, 1])
def test_edge_lengths(case, axis, memory):
    """Also if only a single column fits into memory."""
    case.backend.store.memory = memory
    size = case.whole.shape[axis]
    ends = np.random.default_rng(1).integers(0, size, size=(2, 40))
    found = case.backend.edge_lengths(case.chunked, *ends, axis)
    case.check(found, LOCAL.edge_lengths(case.whole, *ends, axis))


def test_copies_do_not_follow_changes(case):
    backend, U = case.backend, case.backend.asarray(case.chunked)
    snapshot, copied, empty = backend.snapshot(U), backend.copy(U), backend.empty_like(U)
    assert snapshot.steps == ()
    assert (empty.shape, empty.dtype) == (U.shape, U.dtype)
    backend.overwrite(U, U.then(np.negative))
    assert U.steps == ()
    np.testing.assert_array_equal(backend.to_numpy(U), -case.whole)
    for one in (snapshot, copied):
        np.testing.assert_array_equal(backend.to_numpy(one), case.whole)


def systems(X, chunked, backend):
    """The same system as a whole and in chunks."""
    sides = [Side(mutual_knn_graph(M, 4), axis, 40.0) for axis, M in enumerate((X, X.T))]
    rows, columns = (side.operator(LOCAL, X.dtype) for side in sides)
    return (
        SylvesterSystem(X, 2.0, rows, columns, LOCAL),
        SylvesterSystem(backend.asarray(chunked), 2.0, rows, columns, backend),
    )


@pytest.mark.parametrize(
    "solver", [ConjugateGradientSolver(1e-6), DecoupledSolver(1e-6)], ids=lambda s: s.name
)
def test_solvers(case, solver):
    whole, there = systems(case.whole, case.chunked, case.backend)
    expected = solver.solve(whole, case.whole.copy())
    found = solver.solve(there, case.backend.copy(there.X))
    assert found.U.dtype == case.whole.dtype
    assert found.converged
    if case.whole.dtype == np.float64:
        assert found.iterations == expected.iterations
    scale = np.linalg.norm(expected.U)
    bound = 1e-5 if case.whole.dtype == np.float32 else 1e-9
    assert np.linalg.norm(case.backend.to_numpy(found.U) - expected.U) <= bound * scale
    np.testing.assert_array_equal(case.backend.to_numpy(case.chunked), case.whole)


@pytest.mark.parametrize(
    "solver", [ConjugateGradientSolver(1e-9), DecoupledSolver(1e-9)], ids=lambda s: s.name
)
def test_solvers_with_memory_for_one_column(solver):
    """Each column is a panel, which the decoupled solver leaves as soon as it has converged."""
    case = Case("float64", CUTS["uneven chunks"])
    case.backend.store.memory = 1
    whole, there = systems(case.whole, case.chunked, case.backend)
    found = solver.solve(there, case.backend.copy(there.X))
    expected = solver.solve(whole, case.whole.copy())
    np.testing.assert_allclose(case.backend.to_numpy(found.U), expected.U, atol=1e-7)


def test_steps_of_conjugate_gradients(case):
    backend = case.backend
    whole, there = systems(case.whole, case.chunked, backend)
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


def test_rows_and_columns_of_chunks(case):
    chunked, whole = case.chunked, case.whole
    for wanted in (
        np.array([5, 0, N_ROWS - 1, 5]), slice(3, 12), slice(None, None, 4), slice(None, None, -3),
        np.arange(N_ROWS) % 3 == 0, [-1, 2],
    ):  # fmt: skip
        np.testing.assert_array_equal(chunked[wanted], whole[wanted])
    for column in (0, 4, N_COLUMNS - 1):
        np.testing.assert_array_equal(chunked[:, column], whole[:, column])
    some = chunked.columns(slice(1, 4))
    assert some.shape == (N_ROWS, 3)
    np.testing.assert_array_equal(case.backend.to_numpy(some), whole[:, 1:4])


def test_reordered(case):
    order = np.random.default_rng(1).permutation(N_ROWS)
    moved = case.chunked.then(lambda chunk: chunk * 2).reordered(order)
    np.testing.assert_array_equal(moved.ends, case.chunked.ends)
    np.testing.assert_array_equal(case.backend.to_numpy(moved), 2 * case.whole[order])
    back = moved.reordered(np.argsort(order))
    np.testing.assert_array_equal(case.backend.to_numpy(back), 2 * case.whole)


def test_totals_and_results_by_row(case):
    weights = np.arange(N_ROWS, dtype=np.float64)
    total = case.chunked.total(lambda chunk, part: part @ dense(chunk), weights)
    case.check(total, weights @ case.whole)
    parts = case.chunked.results(lambda chunk, part: (chunk.shape[0], len(part)), weights)
    assert parts == [(b - a, b - a) for a, b in pairwise(case.chunked.ends)]
    assert over_rows(np.shape, case.whole) == [case.whole.shape]
    assert sum(over_rows(lambda chunk: chunk.shape[0], case.chunked)) == N_ROWS
    case.check(map_rows(np.negative, case.chunked), map_rows(np.negative, case.whole))


def test_only_the_wanted_columns_of_a_rotation_are_computed():
    chunked = ChunkedMatrix.split(matrix(), [0, 9, N_ROWS], ScratchStore())
    V = np.random.default_rng(1).normal(size=(N_COLUMNS, N_COLUMNS))
    last = chunked.then(Rotation(V), N_COLUMNS).columns(slice(2, 4)).steps[-1]
    assert isinstance(last, Rotation)
    np.testing.assert_array_equal(last.matrix, V[:, 2:4])


def test_the_matrix_of_a_rotation_is_stored_once():
    given, stored = [], []

    class Recording(ScratchStore):
        def submit(self, work, *arguments):
            given.append(arguments)
            return super().submit(work, *arguments)

        def put(self, value):
            stored.append(value)
            return super().put(value)

    chunked = ChunkedMatrix.split(matrix(), list(range(N_ROWS + 1)), Recording())
    stored.clear()
    V = np.random.default_rng(1).normal(size=(N_COLUMNS, N_COLUMNS))
    rotated = chunked.then(Rotation(V), N_COLUMNS)
    np.testing.assert_allclose(np.vstack(rotated.results(dense)), matrix() @ V)
    np.testing.assert_allclose(rotated.persist()[:], matrix() @ V)
    (one,) = stored
    np.testing.assert_array_equal(one.matrix, V)
    for arguments in given:
        steps = arguments[1] if isinstance(arguments[1], tuple) else ()
        assert not any(isinstance(step, Rotation) for step in steps)


def test_persist_takes_the_steps_once():
    taken = []

    def step(chunk):
        taken.append(len(chunk))
        return chunk + 1

    chunked = ChunkedMatrix.split(matrix(), [0, 9, N_ROWS], ScratchStore())
    assert chunked.persist() is chunked
    lazy = chunked.then(step)
    assert not taken
    persisted = lazy.persist()
    for _ in range(2):
        np.testing.assert_array_equal(persisted[:], matrix() + 1)
    assert sorted(taken) == [N_ROWS - 9, 9]


def test_assign_takes_over_another_matrix():
    store = ScratchStore()
    one, other = (ChunkedMatrix.split(matrix(seed), [0, 9, N_ROWS], store) for seed in (0, 1))
    doubled = other.then(lambda chunk: chunk * 2).columns(slice(0, 3))
    one.assign(doubled)
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
    case.backend.store = case.chunked.store = ScratchStore(n_workers=n_workers)
    V = np.random.default_rng(seed).normal(size=(N_COLUMNS, N_COLUMNS))
    ends = np.random.default_rng(seed).integers(0, N_COLUMNS, size=(2, 20))
    rotated = LOCAL.rotate(LOCAL.centred(case.whole), V)
    there = case.backend.rotate(case.backend.centred(case.chunked), V)
    case.check(there, rotated)
    case.check(case.backend.squared_norm(there), LOCAL.squared_norm(rotated))
    for axis in (0, 1):
        lengths = case.backend.edge_lengths(there, *ends, axis)
        case.check(lengths, LOCAL.edge_lengths(rotated, *ends, axis))
        keys = case.backend.content_keys(case.chunked, axis)
        np.testing.assert_array_equal(keys, LOCAL.content_keys(case.whole, axis))


@given(
    n_rows=st.integers(1, 500), row_bytes=st.integers(0, 10**6), memory=st.integers(1, 10**9),
    n_workers=st.integers(1, 4),
)  # fmt: skip
def test_even_ends_cover_all_rows_in_chunks_that_fit(n_rows, row_bytes, memory, n_workers):
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
    return list(store.folder.glob("*.npy"))


def test_large_arrays_are_in_files_that_are_removed_with_their_chunks(store):
    chunk, small = store.submit(np.ones, LARGE), store.submit(np.ones, 3)
    content, _ = store.fetch([chunk, small])
    assert isinstance(content, np.memmap)
    assert [file.suffix for file in files(store)] == [".npy"]
    later = store.submit(np.sum, chunk)
    del chunk
    np.testing.assert_array_equal(content, np.ones(LARGE))
    assert store.fetch([later]) == [np.prod(LARGE)]
    # A thread releases its arguments when it starts other work.
    store.fetch([store.submit(np.ones, 3) for _ in range(4 * store.n_workers)])
    gc.collect()
    assert not files(store)
    np.testing.assert_array_equal(content, np.ones(LARGE))


def test_tuples_are_written_part_by_part(store):
    both = store.submit(lambda: (np.ones(LARGE), "a word"))
    assert len(files_when_done(store, both)) == 1
    assert store.fetch([store.submit(lambda pair: (pair[0].sum(), pair[1]), both)]) == [
        (np.prod(LARGE), "a word")
    ]


def files_when_done(store, chunk):
    store.fetch([chunk])
    return files(store)


def test_files_are_never_changed(store):
    chunk = store.submit(np.zeros, LARGE)
    store.fetch([chunk])[0][:] = 7
    assert not store.fetch([chunk])[0].any()


def test_the_folder_is_removed_with_the_store():
    store = ScratchStore()
    folder, chunk = store.folder, store.submit(np.ones, LARGE)
    assert store.fetch([chunk])[0].shape == LARGE
    del store
    gc.collect()
    assert folder.exists()  # the chunk needs it
    del chunk
    gc.collect()
    assert not folder.exists()


def fail(*arguments):
    raise ArithmeticError("no such thing")


def test_an_error_in_work_is_raised_by_fetch(store):
    chunk = store.submit(fail)
    after = store.submit(np.add, chunk, 1.0)
    for one in (chunk, after):
        with pytest.raises(ArithmeticError, match="no such thing"):
            store.fetch([one])
    assert store.fetch([store.submit(np.add, 1, 1)]) == [2]


def test_chunks_in_lists_are_opened(store):
    parts = [store.submit(np.full, 2, i) for i in range(3)]
    joined = store.fetch([store.submit(np.concatenate, [*parts, [9.0]])])[0]
    assert joined.tolist() == [0, 0, 1, 1, 2, 2, 9]


@pytest.mark.parametrize("kind", KINDS)
def test_as_mapped(kind):
    case = Case(kind, CUTS["uneven chunks"])
    store = case.chunked.store
    mapped = as_mapped(case.chunked.then(lambda chunk: chunk * 2))
    assert isinstance(mapped, np.memmap)
    assert mapped.dtype == case.whole.dtype
    np.testing.assert_array_equal(mapped, 2 * case.whole)
    assert not files(store)
    del case, store
    gc.collect()
    assert mapped.sum() == pytest.approx(np.asarray(mapped).sum())


def test_fits_of_small_files_give_the_same(monkeypatch):
    """Every chunk is written to a file, however small."""
    monkeypatch.setattr(files_module, "_LEAST_BYTES", 1)
    case = Case("float64", CUTS["uneven chunks"])
    whole, there = systems(case.whole, case.chunked, case.backend)
    solver = DecoupledSolver(1e-8)
    found = solver.solve(there, case.backend.copy(there.X))
    case.check(found.U, solver.solve(whole, case.whole.copy()).U)
    assert files(case.backend.store)
