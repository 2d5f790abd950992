"""Passes damaged sparse matrices to everything that takes a matrix; run as a program.

Prints a line before each call and its outcome after it, so that a crash of the interpreter shows
where it happened.
"""

import sys
import warnings

import dask
import dask.array as da
import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from pyrocco import (
    COBRA,
    RCC,
    ROCCO,
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
    COBRAr,
    mutual_knn_graph,
    plots,
    tl,
)
from pyrocco.inspection import gather_facts
from pyrocco.prepare import log1p, normalize, prepare, prepare_alike, tfidf, zscore

SHAPE = (12, 8)
FAR = 10**8
X = np.random.default_rng(0).poisson(1.0, SHAPE).astype(float)
LABELS = np.arange(12) % 2, np.arange(8) % 2


def damaged(form, name, position, value):
    """Return a matrix with one number of one of its arrays replaced."""
    matrix = sparse.csr_array(X).asformat(form)
    array = getattr(matrix, name).copy()
    array[position] = value
    setattr(matrix, name, array)
    return matrix


def cut(form, name, length):
    """Return a matrix with one of its arrays cut."""
    matrix = sparse.csr_array(X).asformat(form)
    setattr(matrix, name, getattr(matrix, name)[:length].copy())
    return matrix


def lil():
    """Return a matrix of lists with an index out of range."""
    matrix = sparse.lil_array(X)
    matrix.rows[3][0] = FAR
    return matrix


def dok():
    """Return a matrix of keys with an index out of range."""
    matrix = sparse.dok_array(SHAPE)
    matrix._dict[FAR, 0] = 1.0
    return matrix


DAMAGES = {
    "csr column": lambda: damaged("csr", "indices", 5, FAR),
    "csr negative": lambda: damaged("csr", "indices", 5, -FAR),
    "csr pointer": lambda: damaged("csr", "indptr", 3, FAR),
    "csr end": lambda: damaged("csr", "indptr", -1, FAR),
    "csr short pointers": lambda: cut("csr", "indptr", 4),
    "csr short values": lambda: cut("csr", "data", 2),
    "csr short indices": lambda: cut("csr", "indices", 2),
    "csc row": lambda: damaged("csc", "indices", 5, FAR),
    "csc short pointers": lambda: cut("csc", "indptr", 2),
    "coo row": lambda: damaged("coo", "row", 5, FAR),
    "coo column": lambda: damaged("coo", "col", 5, -FAR),
    "coo short": lambda: cut("coo", "data", 2),
    "bsr column": lambda: damaged("bsr", "indices", 0, FAR),
    "bsr pointer": lambda: damaged("bsr", "indptr", 1, FAR),
    "dia offsets": lambda: cut("dia", "offsets", 2),
    "lil": lil,
    "dok": dok,
}


def _axes():
    return Figure().add_subplot()


def _tool(matrix):
    """Call the tool for AnnData with an object whose matrix is damaged."""
    import anndata  # noqa: PLC0415

    table = anndata.AnnData(sparse.csr_matrix(X))
    table.X.indices[5] = FAR
    return tl.rocco(table)


def _chunks(matrix):
    """Return a Dask array whose second chunk is damaged."""
    good = dask.delayed(sparse.csr_array)(X)
    chunks = [da.from_delayed(part, SHAPE, dtype=float) for part in (good, dask.delayed(matrix))]
    return da.concatenate(chunks)


MODEL = ROCCO().fit(X)
CALLS = {
    **{
        f"{kind.__name__}.fit": kind().fit
        for kind in (
            ROCCO,
            RCC,
            COBRA,
            COBRAr,
            AutoKMeans,
            AutoSpectralBiclustering,
            AutoSpectralCoclustering,
        )
    },
    "ROCCO(paper).fit": ROCCO(variant="paper").fit,
    "ROCCO(memory_limit).fit": ROCCO(memory_limit="400MB").fit,
    "fit of Dask": lambda matrix: ROCCO().fit(_chunks(matrix)),
    "RCC of Dask": lambda matrix: RCC().fit(_chunks(matrix)),
    "predict of Dask": lambda matrix: MODEL.predict(_chunks(matrix)),
    "predict": MODEL.predict,
    "predict_columns": MODEL.predict_columns,
    "place": MODEL.place,
    "place_columns": MODEL.place_columns,
    "transform": MODEL.transform,
    "impute": MODEL.impute,
    "fit_predict": ROCCO().fit_predict,
    "fit_transform": ROCCO().fit_transform,
    "COBRA.path": COBRA().path,
    "normalize": normalize,
    "log1p": log1p,
    "tfidf": tfidf,
    "zscore": zscore,
    "prepare": lambda matrix: prepare(matrix, ["zscore"]),
    "prepare_alike": lambda matrix: prepare_alike(matrix, {"log1p": None}),
    "gather_facts": gather_facts,
    "mutual_knn_graph": mutual_knn_graph,
    "plot_matrix": lambda matrix: plots.plot_matrix(matrix, _axes()),
    "plot_biclusters": lambda matrix: plots.plot_biclusters(matrix, *LABELS, _axes()),
    "cell_weights": lambda matrix: plots.before_and_after(X, *LABELS, cell_weights=matrix),
    "plot_block_noise": lambda matrix: plots.plot_block_noise(matrix, *LABELS, _axes()),
    "before_and_after": lambda matrix: plots.before_and_after(matrix, *LABELS),
    "tl.rocco": _tool,
}


def outcome(call, damage):
    """Say in one line what came of a call."""
    try:
        CALLS[call](DAMAGES[damage]())
    except ValueError as error:
        return str(error).splitlines()[0]
    except Exception as error:
        return f"raised {error!r}"
    return "accepted"


def main():
    """Call everything with everything."""
    warnings.simplefilter("error")
    for call in CALLS:
        for damage in DAMAGES:
            sys.stdout.write(f"{call}, {damage}: ")
            sys.stdout.flush()
            sys.stdout.write(outcome(call, damage) + "\n")


if __name__ == "__main__":
    main()
