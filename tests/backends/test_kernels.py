"""Kernels against plain NumPy and SciPy, at sizes that fill SIMD vectors and at others."""

import numpy as np
import pytest
from scipy import sparse

from pyrocco.backends.kernels import linear_systems
from pyrocco.backends.kernels.compile import kernel
from pyrocco.backends.kernels.simd import LANES, load, spread, store, total, transpose, widen

DTYPES = [np.float32, np.float64]
SHAPES = [(1, 1), (5, 3), (16, 16), (17, 40), (40, 17), (64, 32), (33, 100)]


def operator(n, dtype, seed=0):
    """A random weighted graph on n nodes: CSR without diagonal, degrees, and the Laplacian."""
    rng = np.random.default_rng(seed)
    upper = sparse.triu(sparse.random(n, n, min(1, 6 / n), random_state=rng), 1)
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.sort_indices()
    degrees = adjacency.sum(axis=1)
    arrays = (
        adjacency.indptr.astype(np.int64),
        adjacency.indices.astype(np.int32),
        adjacency.data.astype(dtype),
        degrees.astype(dtype),
    )
    return arrays, np.diag(degrees) - adjacency.toarray()


def close(dtype):
    return {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}


@kernel
def _through_vectors(A, out, shift):
    a = load(A, 1, 2)
    transpose(A, 1, 2, out, 0, 0)
    store(out, LANES, 0, shift * a + a / spread(shift) - a * a)
    return total(a), total(widen(a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors(dtype):
    A = np.random.default_rng(0).random((LANES + 3, LANES + 5)).astype(dtype)
    out = np.zeros((LANES + 1, LANES), dtype)
    narrow, wide = _through_vectors(A, out, dtype(4))
    part = A[1 : 1 + LANES, 2 : 2 + LANES]
    np.testing.assert_array_equal(out[:LANES], part.T)
    np.testing.assert_allclose(out[LANES], 4 * part[0] + part[0] / 4 - part[0] ** 2, rtol=1e-5)
    assert narrow == pytest.approx(part[0].sum(), rel=1e-5)
    assert wide == pytest.approx(part[0].astype(np.float64).sum(), rel=1e-15)


def test_vectors_need_row_major_matrices():
    A = np.zeros((40, 40))
    with pytest.raises(TypeError, match="row-major"):
        _through_vectors(A.T, A, 1.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("both", [True, False])
def test_apply(shape, dtype, both):
    n, p = shape
    rows, P = operator(n, dtype)
    columns, Q = operator(p, dtype, seed=1)
    if not both:
        columns = (np.zeros(p + 1, np.int64), columns[1][:0], columns[2][:0], np.zeros(p, dtype))
        Q = np.zeros((p, p))
    U = np.random.default_rng(2).normal(size=shape).astype(dtype)
    out = np.full(shape, np.nan, dtype)
    dot = linear_systems.apply(U, out, dtype(2), *rows, *columns, 0, n)
    expected = 2 * U + P @ U + U @ Q
    np.testing.assert_allclose(out, expected, **close(dtype))
    assert dot == pytest.approx((U * expected).sum(), rel=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [3, LANES])
def test_panel(width, dtype):
    n = 50
    graph, P = operator(n, dtype)
    rng = np.random.default_rng(1)
    Y, R, D, image = (rng.normal(size=(n, width)).astype(dtype) for _ in range(4))
    shifts, steps = (rng.random(width).astype(dtype) + 1 for _ in range(2))
    out = np.empty_like(Y)
    dots = linear_systems.shifted_apply(Y, out, shifts, *graph)
    expected = P @ Y + Y * shifts
    np.testing.assert_allclose(out, expected, **close(dtype))
    np.testing.assert_allclose(dots, (Y * expected).sum(axis=0), **close(dtype))
    new_Y, new_R = Y + steps * D, R - steps * image
    weighted, plain = linear_systems.panel_advance(Y, R, D, image, steps, shifts, graph[3])
    np.testing.assert_allclose(Y, new_Y, **close(dtype))
    np.testing.assert_allclose(R, new_R, **close(dtype))
    np.testing.assert_allclose(plain, (new_R**2).sum(axis=0), rtol=1e-5)
    diagonal = graph[3][:, None] + shifts
    np.testing.assert_allclose(weighted, (new_R**2 / diagonal).sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_begin(shape, dtype):
    n, p = shape
    (rows, P), (columns, Q) = operator(n, dtype), operator(p, dtype, seed=1)
    U, X = (np.random.default_rng(s).normal(size=shape).astype(dtype) for s in (2, 3))
    R, D = np.full(shape, np.nan, dtype), np.full(shape, np.nan, dtype)
    weighted, plain = linear_systems.begin(U, X, R, D, dtype(2), *rows, *columns, 0, n)
    residual = 2 * X - (2 * U + P @ U + U @ Q)
    scaled = residual / (2 + rows[3][:, None] + columns[3])
    np.testing.assert_allclose(R, residual, **close(dtype))
    np.testing.assert_allclose(D, scaled, **close(dtype))
    assert weighted == pytest.approx((residual * scaled).sum(), rel=1e-4)
    assert plain == pytest.approx((residual**2).sum(), rel=1e-4)
