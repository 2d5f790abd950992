"""Damaged sparse matrices are refused in every format, and legal ones are not."""

import re

import numpy as np
import pytest
from scipy import sparse

from pyrocco.cells.sparse_check import check_sparse_indices

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
DENSE = np.arange(24.0).reshape(4, 6) % 5


@pytest.mark.parametrize("matrix", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("X", [DENSE, np.zeros((4, 6)), np.ones((1, 1)), np.empty((0, 0))])
def test_legal_matrices_pass(X, form, matrix):
    check_sparse_indices(matrix(X).asformat(form))


def test_unsorted_repeated_and_spare_entries_pass():
    data, indices = np.array([1.0, 2, 3, 9, 9]), np.array([4, 1, 1, 77, -7])
    X = sparse.csr_array((3, 6))
    X.data, X.indices, X.indptr = data, indices, np.array([0, 2, 3, 3])
    check_sparse_indices(X)


def damaged(form, **arrays):
    X = sparse.csr_array(DENSE).asformat(form)
    for name, value in arrays.items():
        setattr(X, name, value)
    return X


def changed(form, name, position, value):
    X = sparse.csr_array(DENSE).asformat(form)
    array = getattr(X, name).copy()
    array[position] = value
    return damaged(form, **{name: array})


def dok(key):
    X = sparse.dok_array((4, 6))
    X._dict[key] = 1.0
    return X


def lil(row, values):
    X = sparse.lil_array((4, 6))
    X.rows[2], X.data[2] = row, values
    return X


CASES = {
    "csr column": (changed("csr", "indices", 3, 10**8), "column index 100000000 in row 0"),
    "csr negative": (changed("csr", "indices", -1, -2), "column index -2 in row 3"),
    "csr descending": (changed("csr", "indptr", 1, 15), "do not start at 0 or are not ascending"),
    "csr start": (changed("csr", "indptr", 0, 1), "do not start at 0"),
    "csr end": (changed("csr", "indptr", -1, 999), "end at 999 of 19 indices"),
    "csr pointers": (damaged("csr", indptr=np.array([0, 1])), "2 pointers (indptr) for 4 rows"),
    "csr empty": (damaged("csr", indptr=np.array([], int)), "0 pointers (indptr) for 4 rows"),
    "csr data": (damaged("csr", data=np.ones(3)), "19 column indices, but 3 values"),
    "csr float": (damaged("csr", indices=np.ones(19)), "are not integers but float64"),
    "csr none": (damaged("csr", indices=None), "are not an array with one axis"),
    "csc row": (changed("csc", "indices", 0, 4), "row index 4 in column 0, but it has 4 rows"),
    "csc pointers": (damaged("csc", indptr=np.zeros(9, int)), "9 pointers (indptr) for 6 columns"),
    "bsr column": (changed("bsr", "indices", 0, 60), "block column index 60 in block row 0"),
    "bsr data": (damaged("bsr", data=np.ones(3)), "1 axes instead of 3"),
    "bsr blocks": (damaged("bsr", data=np.ones((1, 3, 4))), "do not divide its shape (4, 6)"),
    "coo row": (damaged("coo", row=np.full(19, 4)), "row index 4, but it has 4 rows"),
    "coo column": (damaged("coo", col=np.full(19, -1)), "column index -1, but it has 6 columns"),
    "coo lengths": (damaged("coo", row=np.zeros(2, int)), "2 row indices, but 19 values"),
    "dia offsets": (damaged("dia", offsets=np.arange(20)), "20 offsets, but"),
    "dia data": (damaged("dia", data=np.ones(9)), "1 axes instead of 2"),
    "lil column": (lil([0, 6], [1.0, 1.0]), "column index 6 in row 2, but it has 6 columns"),
    "lil lengths": (lil([0, 1], [1.0]), "row 2 has 2 column indices, but 1 values"),
    "lil text": (lil(["a"], [1.0]), "are not integers"),
    "dok row": (dok((4, 0)), "row index 4, but it has 4 rows"),
    "dok column": (dok((0, -1)), "column index -1, but it has 6 columns"),
}


@pytest.mark.parametrize("name", CASES)
def test_damaged_matrices_are_refused(name):
    X, message = CASES[name]
    with pytest.raises(ValueError, match="the sparse matrix is damaged: .*" + re.escape(message)):
        check_sparse_indices(X)


def test_arrays_with_one_axis_are_refused():
    with pytest.raises(ValueError, match=r"has rows and columns; this has 1 axis\."):
        check_sparse_indices(sparse.coo_array(np.ones(3)))
