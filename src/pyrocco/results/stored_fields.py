"""What a model file must hold: one table of fields for each class that it may contain.

`pyrocco.load` checks a file against these tables before it creates any object, because kernels
do not check the indices that they are given. To make a new class storable, add its table to
`OBJECTS` here and the class to `STORABLE`; to give an estimator another attribute, add it to
its table in `MODELS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pyrocco._typing import Dense
from pyrocco.cells.kinds import KINDS
from pyrocco.cells.methods import METHODS
from pyrocco.cells.transforms import FUNCTIONS
from pyrocco.cells.values import SMALLEST
from pyrocco.graph import METRICS
from pyrocco.graph.edges import GRAPH_FIELDS
from pyrocco.io.fields import (
    ArrayOf,
    Cells,
    DictOf,
    Either,
    Field,
    FieldError,
    Fields,
    Floats,
    Indices,
    Integer,
    Labels,
    ListOf,
    Names,
    Nothing,
    Number,
    Part,
    Size,
    Sizes,
    Text,
    Texts,
    Truth,
    TupleOf,
    agree,
    optional,
)
from pyrocco.io.model_file import Record
from pyrocco.representation import HISTORY_FIELD

__all__ = ["MODELS", "OBJECTS", "StoredModel", "check_content"]

# Numbers whose sums and products are finite.
_LARGEST = 1e300
# More threads than any machine has.
_MOST_THREADS = 1 << 16
# Powers of two of the values of float64 lie within this.
_MOST_EXPONENT = 2000
# Three departures from the mean row, and the share of outlier cells.
_KINDS_OF_DEPARTURES = 4


@dataclass(frozen=True)
class Merges:
    """The merges of nested clusters: pairs that join all finest clusters, one after the other.

    `finest` names the number of finest clusters. That no cluster is merged with itself follows
    from the number of merges: it is one less than that of the clusters that they connect.
    """

    finest: str

    def check(self, value: Any, sizes: Sizes, place: str) -> None:
        """Check the pairs, and set the number of merges and of finest clusters."""
        inside: Sizes = {}
        Indices("merges", 2, below="largest").check(value, inside, place)
        n = len(value) + 1
        agree(sizes, "merges", n - 1, place)
        agree(sizes, self.finest, n, place)
        if inside["largest"] > n or _n_components(value, n) != 1:
            raise FieldError(f"{place} does not join all clusters")


def _n_components(pairs: Dense, n: int) -> int:
    links = sparse.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    return int(connected_components(links, directed=False)[0])


def _same(*names: str) -> dict[str, str]:
    """Sizes that have the same name inside and outside of a part."""
    return {name: name for name in names}


# The nested clusters of a model, and statistics over the finest of them.
_NESTED_SIDE = Fields(
    merges=Merges("finest"),
    heights=Floats("merges"),
    finest=Labels("members", "finest"),
    n_fitted=Size("clusters", most="finest"),
)
_NESTED_CLUSTERS = Fields(
    rows=Part(
        {"NestedSide": _NESTED_SIDE},
        {"members": "rows", "clusters": "row_clusters", "finest": "row_finest"},
    ),
    columns=Part(
        {"NestedSide": _NESTED_SIDE},
        {"members": "columns", "clusters": "column_clusters", "finest": "column_finest"},
    ),
)
_MOMENTS = Fields(
    counts=Floats("clusters", "members"),
    means=Floats("clusters", "members"),
    scatter=Floats("clusters", "members"),
)
_TREE_STATISTICS = Fields(
    by_column=Part({"Moments": _MOMENTS}, {"clusters": "row_finest", "members": "columns"}),
    by_row=Part({"Moments": _MOMENTS}, {"clusters": "column_finest", "members": "rows"}),
    scale=Number(),
)

# A predictor of rows or of columns: `members` are the values of what it predicts, in `others`
# clusters; it assigns to `clusters`.
_SIDES = _same("members", "clusters", "others")
_BLOCK_PROFILES = Fields(
    means=Floats("clusters", "others"),
    others=Labels("members", "others"),
    variance=Number(),
    shares=Floats("clusters"),
)
_COUNT_PROFILES = Fields(
    rates=Floats("clusters", "others"),
    levels=Floats("others"),
    others=Labels("members", "others"),
    shares=Floats("clusters"),
)
_ROUND_CLUSTERS = Fields(
    centres=Floats("clusters", "features"),
    width=Number(),
    sizes=Indices("clusters", below="largest size"),
)
_FEATURE_PROFILES = Fields(
    centre=Floats("members"),
    axes=Floats("members", "features"),
    longest=Number(),
    clusters=Part({"RoundClusters": _ROUND_CLUSTERS}, _same("clusters", "features")),
    by_length=Truth(),
)
_MEAN_ROWS = Fields(
    means=Floats("clusters", "members"),
    centre=Floats("members"),
    others=Labels("members", "others"),
)
_LIMITS = Fields(middle=Floats(_KINDS_OF_DEPARTURES), upper=Floats(_KINDS_OF_DEPARTURES))
_EXPECTED_CLEANER = Fields(profiles=Floats("clusters", "members"), noise=Number())
_NONZERO_CLEANER = Fields(usual=Number(), noise=Number())
_KNOWN_ROWS = Fields(
    hashes=ArrayOf(np.uint64, "known"),
    rows=Indices("known", below="known"),
    exponent=Integer(-_MOST_EXPONENT, _MOST_EXPONENT),
)
_PREDICTOR = Fields(
    profiles=Part(
        {
            "BlockProfiles": _BLOCK_PROFILES,
            "CountProfiles": _COUNT_PROFILES,
            "FeatureProfiles": _FEATURE_PROFILES,
        },
        _SIDES,
    ),
    mean_rows=Part({"MeanRows": _MEAN_ROWS}, _SIDES),
    limits=Part({"Limits": _LIMITS}),
    unit=Number(positive=True),
    cleaner=optional(
        Part({"ExpectedCleaner": _EXPECTED_CLEANER, "NonzeroCleaner": _NONZERO_CLEANER}, _SIDES)
    ),
    known=Part({"KnownRows": _KNOWN_ROWS}, _same("known")),
    fitted=TupleOf(Indices("known", below="clusters"), Floats("known")),
)
_AFFINE = Fields(
    shift=Number(-_LARGEST, _LARGEST),
    row_shifts=optional(Floats("rows", finite=True)),
    column_shifts=optional(Floats("columns", finite=True)),
    row_factors=optional(Floats("rows", finite=True, least=SMALLEST)),
    column_factors=optional(Floats("columns", finite=True, least=SMALLEST)),
)
_POINTWISE = Fields(function=Text(tuple(FUNCTIONS)))
_STEP = Fields(
    name=Text(tuple(METHODS)),
    transforms=ListOf(
        Part({"Affine": _AFFINE, "Pointwise": _POINTWISE}, _same("rows", "columns"))
    ),
    target=optional(Number(-_LARGEST, _LARGEST)),
    transposed=Truth(),
)
_PREPARATION = Fields(steps=ListOf(Part({"Step": _STEP}, _same("rows", "columns"))))
_REPRESENTED = Fields(
    U=Floats("rows", "columns"),
    graphs=TupleOf(
        Part({"Graph": GRAPH_FIELDS}, {"nodes": "rows"}),
        Part({"Graph": GRAPH_FIELDS}, {"nodes": "columns"}),
    ),
    history=HISTORY_FIELD,
    converged=Truth(),
)
_CELLS = Fields(
    kind=Text(KINDS),
    steps=Texts(choices=tuple(METHODS)),
    sentence=Text(),
    each_side=Truth(),
    column_steps=optional(Texts(choices=tuple(METHODS))),
    optional=("column_steps",),
)
_TREE_SIZES = _same(
    "rows", "row_clusters", "row_finest", "columns", "column_clusters", "column_finest"
)
_ANSWERS = Fields(
    tree=Part({"NestedClusters": _NESTED_CLUSTERS}, _TREE_SIZES),
    statistics=Part({"TreeStatistics": _TREE_STATISTICS}, _TREE_SIZES),
    row_predictor=Part(
        {"Predictor": _PREDICTOR},
        {"members": "columns", "clusters": "row_clusters", "others": "column_clusters"},
    ),
    column_predictor=Part(
        {"Predictor": _PREDICTOR},
        {"members": "rows", "clusters": "column_clusters", "others": "row_clusters"},
    ),
    preparation=Part({"Preparation": _PREPARATION}, _same("rows", "columns")),
    column_preparation=Part({"Preparation": _PREPARATION}, _same("rows", "columns")),
    represented=optional(Part({"Represented": _REPRESENTED}, _same("rows", "columns"))),
)

# Parameters, and the objects that may be among them.
_COUNT, _THREADS = Integer(1), Integer(1, _MOST_THREADS)
_RANDOM_STATE = Fields(
    # The position in the key is not checked by NumPy, and leads outside of it if it is wrong.
    state=TupleOf(
        Text(("MT19937",)),
        ArrayOf(np.uint32, 624),
        Integer(0, 624),
        Integer(0, 1),
        Number(),
    )
)
_ITERATIVE = Fields(tol=Number(), max_iter=_COUNT)
_SOLVERS = {
    "AutoSolver": Fields(tol=Number()),
    "BartelsStewartSolver": Fields(),
    "ConjugateGradientSolver": _ITERATIVE,
    "DecoupledSolver": _ITERATIVE,
    "MultigridSolver": Fields(
        tol=Number(),
        max_iter=_COUNT,
        smoothing_steps=_COUNT,
        on=Text(("kronecker", "decoupled")),
    ),
    "SpectralSolver": Fields(),
}
_GENERATOR = Part({"RandomState": _RANDOM_STATE})
_SEED = Either(Nothing(), Integer(), _GENERATOR)
_SOLVER = Either(Text(), Part(_SOLVERS))
_NUMPY_BACKEND = Fields(n_threads=_THREADS)
_BACKEND = Part({"NumpyBackend": _NUMPY_BACKEND})
_ASSIGNERS = {
    "ContinuousAssigner": Fields(
        n_neighbors=_COUNT, solver=_SOLVER, random_state=_SEED, backend=_BACKEND
    ),
    "SilhouetteKMeans": Fields(
        random_state=_SEED,
        max_clusters=_COUNT,
        sample_size=_COUNT,
        metric=Text(METRICS),
        backend=_BACKEND,
    ),
}
_JOINT_ASSIGNERS = {
    "CoClusterer": Fields(
        blocks=Truth(),
        sample_size=_COUNT,
        random_state=_GENERATOR,
        backend=_BACKEND,
        by_length=Truth(),
    ),
    "EachSide": Fields(assigner=Part(_ASSIGNERS), backend=_BACKEND),
}

# How the columns of a table were encoded; stored beside a model.
_FINITE, _SCALE = Number(-1e300, 1e300), Number(1e-300, 1e300)
_COLUMNS = {
    "CategoryColumn": Fields(name=Text(), categories=Texts(), scale=_SCALE),
    "NumberColumn": Fields(
        name=Text(),
        offset=optional(Number(0, 1e300)),
        low=_FINITE,
        high=_FINITE,
        center=_FINITE,
        scale=_SCALE,
    ),
    "OrderedColumn": Fields(
        name=Text(),
        levels=ListOf(Texts()),
        center=_FINITE,
        scale=_SCALE,
    ),
    "YesNoColumn": Fields(name=Text(), scale=_SCALE),
}

# Every class whose objects a model may contain; the names are those of constructor parameters.
OBJECTS: dict[str, Fields] = {
    "Affine": _AFFINE,
    "Answers": _ANSWERS,
    "BlockProfiles": _BLOCK_PROFILES,
    "CountProfiles": _COUNT_PROFILES,
    "Cells": _CELLS,
    "ExpectedCleaner": _EXPECTED_CLEANER,
    "FeatureProfiles": _FEATURE_PROFILES,
    "Graph": GRAPH_FIELDS,
    "KnownRows": _KNOWN_ROWS,
    "Limits": _LIMITS,
    "MeanRows": _MEAN_ROWS,
    "Moments": _MOMENTS,
    "NestedClusters": _NESTED_CLUSTERS,
    "NestedSide": _NESTED_SIDE,
    "NonzeroCleaner": _NONZERO_CLEANER,
    "NumpyBackend": _NUMPY_BACKEND,
    "Pointwise": _POINTWISE,
    "Predictor": _PREDICTOR,
    "Preparation": _PREPARATION,
    "RandomState": _RANDOM_STATE,
    "Represented": _REPRESENTED,
    "RoundClusters": _ROUND_CLUSTERS,
    "Step": _STEP,
    "TreeStatistics": _TREE_STATISTICS,
    **_SOLVERS,
    **_COLUMNS,
    **_ASSIGNERS,
    **_JOINT_ASSIGNERS,
}


@dataclass(frozen=True)
class StoredModel:
    """What a file must hold for an estimator: its parameters and its fitted attributes."""

    parameters: Fields
    attributes: Fields


def _fitted(table: dict[str, Field], *may_be_absent: str) -> Fields:
    """Return the fitted attributes of an estimator, with those that scikit-learn sets."""
    common: dict[str, Field] = {
        "n_features_in_": Size("columns"),
        "feature_names_in_": Names("columns"),
        "_sklearn_output_config": DictOf(Text(), Text()),
    }
    absent = ("feature_names_in_", "_sklearn_output_config", *may_be_absent)
    return Fields(common | table, optional=absent)


_METRIC, _VARIANT = Text(("auto", *METRICS)), Text(("refined", "paper"))
_VERBOSE = Either(Truth(), Integer())
_N_JOBS = optional(Integer(-_MOST_THREADS, _MOST_THREADS))
_LOOP: dict[str, Field] = {
    "history_": HISTORY_FIELD,
    "n_iter_": Integer(0),
    "converged_": Truth(),
}


def _graph(side: str) -> Part:
    return Part({"Graph": GRAPH_FIELDS}, {"nodes": side})


_ROCCO = StoredModel(
    Fields(
        n_clusters=Either(Nothing(), _COUNT, TupleOf(optional(_COUNT), optional(_COUNT))),
        prepare=Either(
            Nothing(),
            Text(("auto", *METHODS)),
            Texts(choices=tuple(METHODS)),
            Part({"Cells": _CELLS}),
        ),
        n_neighbors=_COUNT,
        metric=_METRIC,
        variant=_VARIANT,
        solver=_SOLVER,
        max_iter=_COUNT,
        device=Text(),
        random_state=_SEED,
        n_jobs=_N_JOBS,
        memory_limit=Either(Nothing(), Text(), Number()),
        verbose=_VERBOSE,
    ),
    _fitted(
        {
            "n_row_clusters_": Size("row_clusters"),
            "n_column_clusters_": Size("column_clusters"),
            "row_labels_": Labels("rows", "row_clusters"),
            "labels_": Labels("rows", "row_clusters"),
            "column_labels_": Labels("columns", "column_clusters"),
            "row_membership_": Floats("rows"),
            "column_membership_": Floats("columns"),
            "row_stability_": Floats("row_clusters"),
            "column_stability_": Floats("column_clusters"),
            "block_means_": Floats("row_clusters", "column_clusters"),
            "cell_weights_": optional(Cells("rows", "columns")),
            "found_cells_": Part({"Cells": _CELLS}),
            "row_names_in_": Names("rows"),
            "_of_polars": Truth(),
            "cells_": Text(KINDS),
            "preparation_": Text(),
            "structure_": Text(("blocks", "gradient", "features")),
            "assigner_": Part(_JOINT_ASSIGNERS),
            "_answers": Part({"Answers": _ANSWERS}, _TREE_SIZES),
        },
        "row_names_in_",
    ),
)
_RCC = StoredModel(
    Fields(
        n_neighbors=_COUNT,
        metric=_METRIC,
        variant=_VARIANT,
        solver=_SOLVER,
        max_iter=_COUNT,
        n_jobs=_N_JOBS,
        verbose=_VERBOSE,
    ),
    _fitted(
        {
            "n_clusters_": Size("clusters"),
            "labels_": Labels("rows", "clusters"),
            "representation_": Floats("rows", "columns"),
            "graph_": _graph("rows"),
            **_LOOP,
        }
    ),
)
_COBRA = StoredModel(
    Fields(
        gamma=optional(Number()),
        gammas=Either(
            Nothing(),
            ListOf(Number()),
            Floats("given gammas"),
            ArrayOf(np.int64, "given gammas"),
        ),
        n_neighbors=_COUNT,
        phi=Number(),
        metric=_METRIC,
        standardize=_VERBOSE,
        held_out=Number(),
        tol=Number(),
        max_iter=_COUNT,
        device=Text(),
        random_state=_SEED,
        verbose=_VERBOSE,
        # Models saved before it was a parameter were fitted on the CPU, its default.
        optional=("device",),
    ),
    _fitted(
        {
            "n_row_clusters_": Size("row_clusters"),
            "n_column_clusters_": Size("column_clusters"),
            "row_labels_": Labels("rows", "row_clusters", all_used=False),
            "labels_": Labels("rows", "row_clusters", all_used=False),
            "column_labels_": Labels("columns", "column_clusters", all_used=False),
            "representation_": Floats("rows", "columns"),
            "block_means_": Floats("row_clusters", "column_clusters"),
            "gamma_": Number(),
            "gammas_": Floats("gammas"),
            "validation_errors_": Floats("gammas"),
            "objective_": Number(),
            "duality_gap_": Number(),
            "n_iter_": Integer(0),
            "converged_": Truth(),
            "row_graph_": _graph("rows"),
            "column_graph_": _graph("columns"),
        },
        "gammas_",
        "validation_errors_",
    ),
)
_BY_SILHOUETTE = Fields(max_clusters=_COUNT, sample_size=_COUNT, random_state=_SEED)
_TRIED: dict[str, Field] = {
    "silhouettes_": DictOf(_COUNT, Number()),
    "failures_": DictOf(_COUNT, Text()),
}
_AUTO_SPECTRAL = StoredModel(
    _BY_SILHOUETTE,
    _fitted(
        {
            "n_clusters_": Size("clusters"),
            # Rows and columns that are all zero are labelled -1.
            "row_labels_": Labels("rows", "clusters", all_used=False, least=-1),
            "column_labels_": Indices("columns", below="clusters", least=-1),
            **_TRIED,
        }
    ),
)
_AUTO_K_MEANS = StoredModel(
    _BY_SILHOUETTE,
    _fitted(
        {
            "n_clusters_": Size("clusters"),
            "labels_": Labels("rows", "clusters", all_used=False),
            **_TRIED,
        }
    ),
)

# Every estimator, by the name of its class.
MODELS: dict[str, StoredModel] = {
    "AutoKMeans": _AUTO_K_MEANS,
    "AutoSpectralBiclustering": _AUTO_SPECTRAL,
    "AutoSpectralCoclustering": _AUTO_SPECTRAL,
    "COBRA": _COBRA,
    "COBRAr": _COBRA,
    "RCC": _RCC,
    "ROCCO": _ROCCO,
}


def check_content(content: dict[str, Any]) -> None:
    """Check what a model file holds.

    Raises
    ------
    FieldError
        If a value is not as its table declares; the message names the value.
    """
    name, keys = content.get("class"), ("parameters", "attributes", "about", "pyrocco_version")
    if not isinstance(name, str) or name not in MODELS:
        raise FieldError("the class is not known")
    for key in keys:
        if key not in content:
            raise FieldError(f"{key} is missing")
    Text().check(content["pyrocco_version"], {}, "pyrocco_version")
    stored = MODELS[name]
    stored.parameters.check(content["parameters"], {}, "")
    stored.attributes.check(content["attributes"], {}, "")
    _check_objects(content["about"], "about")


def _check_objects(value: object, place: str) -> None:
    """Check all objects among values that may be anything else."""
    if isinstance(value, Record):
        Part(OBJECTS).check(value, {}, place)
        value = value.parts
    if isinstance(value, dict):
        for part in value.values():
            _check_objects(part, place)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _check_objects(part, place)
