"""``pyrocco.tl`` and ``pyrocco.pl`` on real AnnData objects."""

import subprocess
import sys
import warnings

import anndata
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.metrics import adjusted_mutual_info_score

import pyrocco
from pyrocco import ROCCO


@pytest.fixture(name="X", scope="module")
def make_matrix():
    """Counts of 45 cells and 30 genes in three clusters each, of different sizes."""
    rng = np.random.default_rng(0)
    means = np.array([[19.0, 6.0, 6.0], [6.0, 19.0, 6.0], [6.0, 6.0, 19.0]])
    rows, columns = np.repeat([0, 1, 2], [20, 15, 10]), np.repeat([0, 1, 2], [12, 10, 8])
    return rng.poisson(5 * means[rows][:, columns]).astype(float)


@pytest.fixture(name="model", scope="module")
def fit_model(X):
    return ROCCO().fit(X)


@pytest.fixture(name="adata")
def make_adata(X):
    adata = anndata.AnnData(X.copy(), layers={"double": 2 * X})
    adata.obs_names = [f"cell{i}" for i in range(45)]
    adata.var_names = [f"gene{j}" for j in range(30)]
    return adata


@pytest.fixture(autouse=True)
def draw_nowhere():
    with mpl.rc_context({"backend": "agg"}):
        yield
    plt.close("all")


def drawn(adata, *arguments, **options):
    return pyrocco.pl.heatmap(adata, *arguments, **options).reordered.to_numpy()


def texts(result):
    return {text.get_text() for text in result.figure.findobj(mpl.text.Text)}


def check_labels(adata, model, key="rocco"):
    assert adata.obs[key].tolist() == [str(label) for label in model.row_labels_]
    assert adata.var[key].tolist() == [str(label) for label in model.column_labels_]


STORED = {
    "dense": np.asarray,
    "float16": lambda X: X.astype(np.float16),
    "counts": lambda X: X.astype(np.int64),
    "CSR": sparse.csr_matrix,
    "CSC": sparse.csc_matrix,
    "CSC array": sparse.csc_array,
    "counts in CSC": lambda X: sparse.csc_matrix(X.astype(np.int32)),
}


@pytest.mark.parametrize("name", STORED)
def test_every_storage_of_the_matrix(name, X, model):
    adata = anndata.AnnData(STORED[name](X))
    assert pyrocco.tl.rocco(adata) is None
    check_labels(adata, model)
    means = np.stack([X[:, model.column_labels_ == k].mean(axis=1) for k in range(3)], axis=1)
    np.testing.assert_allclose(adata.obsm["X_rocco"], means, rtol=1e-6)
    values = drawn(adata)
    assert sorted(values.ravel()) == sorted(X.ravel())


def test_all_results_can_be_written_and_read(adata, model, tmp_path):
    pyrocco.tl.rocco(adata, n_clusters=(3, None))
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    check_labels(again, model)
    assert again.obs["rocco"].cat.categories.tolist() == ["0", "1", "2"]
    for side in ("obs", "var"):
        pd.testing.assert_frame_equal(getattr(again, side), getattr(adata, side))
    np.testing.assert_allclose(again.obs["rocco_membership"], model.row_membership_)
    np.testing.assert_allclose(again.var["rocco_membership"], model.column_membership_)
    np.testing.assert_array_equal(again.obsm["X_rocco"], adata.obsm["X_rocco"])
    about = again.uns["rocco"]
    np.testing.assert_array_equal(about["block_means"], model.block_means_)
    assert (about["n_row_clusters"], about["n_column_clusters"]) == (3, 3)
    assert (about["structure"], bool(about["converged"])) == (model.structure_, True)
    assert about["params"]["n_clusters"] == "(3, None)"
    assert about["params"]["n_neighbors"] == 10
    assert "layer" not in about["params"]
    assert drawn(again).shape == (45, 30)


def test_a_solver_object_is_written_by_its_name(adata, tmp_path):
    pyrocco.tl.rocco(adata, solver=pyrocco.solvers.SpectralSolver())
    adata.write_h5ad(tmp_path / "a.h5ad")
    assert (
        "SpectralSolver" in anndata.read_h5ad(tmp_path / "a.h5ad").uns["rocco"]["params"]["solver"]
    )


def test_keys_and_parameters(adata):
    pyrocco.tl.rocco(adata, key_added="coarse", n_clusters=2)
    pyrocco.tl.rocco(adata)
    assert adata.obs["coarse"].nunique() == 2
    assert adata.obs["rocco"].nunique() == 3
    assert {"X_coarse", "X_rocco"} <= set(adata.obsm)
    assert texts(pyrocco.pl.heatmap(adata, "coarse")) & set("012") == {"0", "1"}
    with pytest.raises(TypeError, match="resolution"):
        pyrocco.tl.rocco(adata, resolution=1.0)


def test_a_layer(adata, model, X):
    adata.X = np.ones_like(X)
    pyrocco.tl.rocco(adata, layer="double")
    check_labels(adata, model)
    np.testing.assert_allclose(adata.uns["rocco"]["block_means"], 2 * model.block_means_)
    assert drawn(adata).max() == 2 * X.max()
    assert drawn(adata, use_raw=False).max() == 1


def test_raw_keeps_the_labels_of_its_genes_in_uns(adata, model, X, tmp_path):
    adata.raw = adata
    adata = adata[:, :7].copy()
    adata.X = np.ones((45, 7))
    pyrocco.tl.rocco(adata, use_raw=True)
    assert "rocco" not in adata.var
    adata.write_h5ad(tmp_path / "a.h5ad")
    adata = anndata.read_h5ad(tmp_path / "a.h5ad")
    table = adata.uns["rocco"]["raw_var"]
    assert table.index.tolist() == [f"gene{j}" for j in range(30)]
    assert table["cluster"].astype(int).tolist() == model.column_labels_.tolist()
    np.testing.assert_allclose(table["membership"], model.column_membership_)
    assert adata.obsm["X_rocco"].shape == (45, 3)
    assert drawn(adata).max() == X.max()
    # Some of the genes are in X too, and known by name there.
    assert drawn(adata, use_raw=False).shape == (45, 7)


@pytest.fixture(name="cells", scope="module")
def make_cells():
    """Counts of 120 cells in three types and 90 genes of very different levels.

    Genes 0-19 mark the first type, 20-39 the second and 40-59 the third; the others mark none.
    """
    rng = np.random.default_rng(1)
    types = np.repeat([0, 1, 2], 40)
    marked = np.repeat([0, 1, 2, 3], [20, 20, 20, 30])
    rates = np.where(types[:, None] == marked, 6.0, 1.0) * rng.lognormal(1, 1.3, 90)
    counts = rng.poisson(rates * rng.gamma(8, 1 / 8, (120, 1))).astype(float)
    adata = anndata.AnnData(counts)
    adata.obs["type"] = pd.Categorical(types.astype(str))
    adata.var["marks"] = marked
    return adata


def logged(counts):
    return np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))


def scaled(X):
    return np.minimum((X - X.mean(axis=0)) / X.std(axis=0), 1.5)


def agreement(adata, key="rocco"):
    """Agreement of the clusters of cells with their types, and of genes with what they mark."""
    genes = adata.var[key].notna() & (adata.var["marks"] < 3)
    return (
        adjusted_mutual_info_score(adata.obs["type"], adata.obs[key]),
        adjusted_mutual_info_score(adata.var["marks"][genes], adata.var[key][genes].astype(str)),
    )


def test_genes_of_logarithms_cluster_by_their_profiles_not_by_their_levels(cells):
    adata = anndata.AnnData(logged(cells.X), obs=cells.obs, var=cells.var)
    pyrocco.tl.rocco(adata)
    assert min(agreement(adata)) > 0.9
    assert adata.uns["rocco"]["matrix"] == (
        "Clusters are found in X, which holds logarithms of counts."
    )
    assert "Genes are compared after they were scaled" in adata.uns["rocco"]["preparation"]
    as_they_are = ROCCO(prepare=None).fit(adata.X)
    adata.var["plain"] = [str(label) for label in as_they_are.column_labels_]
    adata.obs["plain"] = [str(label) for label in as_they_are.row_labels_]
    assert agreement(adata, "plain")[1] < agreement(adata)[1] - 0.1


PLACES = {
    "a layer of counts": lambda c: {"layers": {"counts": c, "other": logged(c)}},
    "the only layer that holds counts": lambda c: {"layers": {"x": c, "logs": logged(c)}},
    "raw": lambda c: {"raw": {"X": logged(c)}},
    "sparse raw": lambda c: {"raw": {"X": sparse.csr_matrix(logged(c))}},
}
CHOSEN = ['layer "counts", which holds counts', 'layer "x", which holds counts'] + 2 * [
    "raw, which holds logarithms of counts"
]


@pytest.mark.parametrize(("place", "words"), list(zip(PLACES, CHOSEN, strict=True)))
def test_counts_and_logarithms_are_found(place, words, cells, capsys, tmp_path):
    given = PLACES[place](cells.X)
    if "raw" in given:
        given["raw"]["var"] = cells.var
    X = scaled(logged(cells.X))
    adata = anndata.AnnData(X, obs=cells.obs.copy(), var=cells.var.copy(), **given)
    pyrocco.tl.rocco(adata)
    assert min(agreement(adata)) > 0.9
    assert adata.uns["rocco"]["matrix"] == f"Clusters are found in {words}."
    said = capsys.readouterr().err
    assert f"Clusters are found in {words}. To use X instead, pass use_raw=False." in said
    drawn = pyrocco.pl.heatmap(adata).reordered.to_numpy()
    assert drawn.min() == 0
    adata.write_h5ad(tmp_path / "a.h5ad")
    assert anndata.read_h5ad(tmp_path / "a.h5ad").uns["rocco"]["matrix"].endswith(f"{words}.")


def test_columns_of_var_are_tracks_beside_raw(cells):
    """Raw has other genes in another order, and its own table."""
    raw = anndata.AnnData(logged(cells.X), var=cells.var[["marks"]])[:, ::-1].copy()
    raw.var["length"] = 1.0
    adata = anndata.AnnData(scaled(logged(cells.X)), obs=cells.obs.copy(), var=cells.var.copy())
    adata.raw = raw
    adata.var["mean"] = np.arange(adata.n_vars)
    pyrocco.tl.rocco(adata)
    given = adata[:, 3:].copy()
    axes = pyrocco.pl.heatmap(given, var=["mean", "marks", "length"]).axes
    assert len(axes["column_annotations"].images) == 3
    with pytest.raises(ValueError, match=r"adata.var has no column 'middle': it has .*mean"):
        pyrocco.pl.heatmap(adata, var=["middle"])
    with pytest.raises(ValueError, match=r"adata.obs has no column 'typ': did you mean 'type'\?"):
        pyrocco.pl.heatmap(given, obs="typ")
    assert len(pyrocco.pl.heatmap(given, obs="type").axes["row_annotations"].images) == 1

    def label(**options):
        result = pyrocco.pl.heatmap(given, **options)
        written = {text.get_text() for text in result.axes["canvas"].texts}
        return written & {"log count", "scaled value", "z-score by gene", "TPM", "value"}

    assert label() == {"log count"}
    assert label(use_raw=False) == {"scaled value"}
    assert label(label="TPM") == {"TPM"}
    assert label(z_score="columns") == {"z-score by gene"}


def test_x_is_used_if_it_holds_counts_or_several_layers_do(cells, capsys):
    layers = {"spliced": cells.X, "unspliced": np.floor(cells.X / 2)}
    for X in (cells.X, logged(cells.X)):
        adata = anndata.AnnData(X, cells.obs.copy(), cells.var.copy(), layers=dict(layers))
        pyrocco.tl.rocco(adata)
        assert "found in X," in adata.uns["rocco"]["matrix"]
    assert capsys.readouterr().err == ""


def test_scaled_values_are_said(cells):
    X = scaled(logged(cells.X))
    adata = anndata.AnnData(X, obs=cells.obs.copy(), var=cells.var.copy())
    with pytest.warns(
        UserWarning, match=r"values of X were scaled .* and clipped at 1.5, .*layers"
    ):
        pyrocco.tl.rocco(adata)
    assert "found in X, which holds scaled values" in adata.uns["rocco"]["matrix"]
    adata.raw = anndata.AnnData(logged(cells.X), var=cells.var)
    with pytest.warns(UserWarning, match="values of X were scaled"):
        pyrocco.tl.rocco(adata, use_raw=False)
    # Values below 0 of another kind are what they are.
    shifted = anndata.AnnData(5 * (logged(cells.X) - 3))
    pyrocco.tl.rocco(shifted)
    assert "holds values below and above 0" in shifted.uns["rocco"]["matrix"]


def test_highly_variable_genes_are_used_by_default(cells, tmp_path):
    adata = cells.copy()
    used = adata.var["marks"].to_numpy() < 3
    adata.var["highly_variable"] = used
    pyrocco.tl.rocco(adata)
    alone = ROCCO().fit(cells.X[:, used])
    assert adata.var["rocco"][used].astype(int).tolist() == alone.column_labels_.tolist()
    assert adata.var["rocco"][~used].isna().all()
    assert adata.var["rocco_membership"].notna().tolist() == used.tolist()
    assert adata.uns["rocco"]["matrix"].endswith("for 60 highly variable genes of 90.")
    assert pyrocco.pl.heatmap(adata).reordered.to_numpy().shape == (120, 60)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_series_equal(again.var["rocco"], adata.var["rocco"])
    pyrocco.tl.rocco(adata, "all", mask_var=None)
    assert adata.var["all"].notna().all()
    adata.var["mine"] = ~used
    pyrocco.tl.rocco(adata, "other", mask_var="mine")
    assert adata.var["other"].notna().tolist() == (~used).tolist()
    pyrocco.tl.rocco(adata, "again", mask_var=used)
    assert adata.var["again"].equals(adata.var["rocco"])
    with pytest.raises(ValueError, match=r'no column "absent".*marks'):
        pyrocco.tl.rocco(adata, mask_var="absent")
    with pytest.raises(ValueError, match="True or False for each of the 90 genes"):
        pyrocco.tl.rocco(adata, mask_var="marks")
    with pytest.raises(ValueError, match="chooses no gene"):
        pyrocco.tl.rocco(adata, mask_var=np.zeros(90, dtype=bool))


def test_cells_of_a_representation(cells):
    adata = cells.copy()
    centred = logged(cells.X) - logged(cells.X).mean(axis=0)
    adata.obsm["X_pca"] = centred @ np.linalg.svd(centred)[2][:10].T
    pyrocco.tl.rocco(adata, use_rep="X_pca")
    assert min(agreement(adata)) > 0.9
    genes = ROCCO().fit(cells.X)
    assert adata.var["rocco"].astype(int).tolist() == genes.column_labels_.tolist()
    about = adata.uns["rocco"]
    rows, columns = adata.obs["rocco"].astype(int), adata.var["rocco"].astype(int)
    block = cells.X[np.ix_(rows == 1, columns == 0)].mean()
    np.testing.assert_allclose(about["block_means"][1, 0], block)
    assert about["params"]["use_rep"] == "X_pca"
    pyrocco.tl.rocco(adata, "given", use_rep="X_pca", n_clusters=(5, 2))
    assert (adata.obs["given"].nunique(), adata.var["given"].nunique()) == (5, 2)
    with pytest.raises(ValueError, match='no representation "X_umap"; obsm has X_pca'):
        pyrocco.tl.rocco(adata, use_rep="X_umap")


def test_clusters_of_blood_cells_agree_with_types_and_markers(capsys):
    scanpy = pytest.importorskip("scanpy", reason="the cells come with scanpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scanpy and what it imports
        adata = scanpy.datasets.pbmc68k_reduced()
        reference = scanpy.AnnData(adata.raw.X, obs=adata.obs, var=adata.raw.var)
        scanpy.tl.rank_genes_groups(reference, "bulk_labels", method="t-test")
        ranked = reference.uns["rank_genes_groups"]
    types = ranked["names"].dtype.names
    best = pd.Series(-np.inf, adata.var_names)
    marked = pd.Series("", adata.var_names)
    for name in types:
        scores = pd.Series(ranked["scores"][name], ranked["names"][name]).loc[adata.var_names]
        marked[scores > best] = name
        best = np.maximum(best, scores)
    strongest = best > best.sort_values().iloc[-200]
    pyrocco.tl.rocco(adata, mask_var=None)
    assert adjusted_mutual_info_score(adata.obs["bulk_labels"], adata.obs["rocco"]) > 0.64
    assert adata.var["rocco"].nunique() > 2
    clusters = adata.var["rocco"][strongest].astype(str)
    assert adjusted_mutual_info_score(marked[strongest], clusters) > 0.4
    assert "found in raw, which holds logarithms" in capsys.readouterr().err


def test_a_copy_leaves_the_original(adata, model):
    before = adata.copy()
    other = pyrocco.tl.rocco(adata, copy=True)
    check_labels(other, model)
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    pd.testing.assert_frame_equal(adata.var, before.var)
    assert not adata.uns
    assert not adata.obsm
    other.X[:] = 0
    np.testing.assert_array_equal(adata.X, before.X)


def test_views(adata, X):
    some = pyrocco.tl.rocco(adata[10:, :20], copy=True)
    check_labels(some, ROCCO().fit(X[10:, :20]))
    view = adata[10:, :20]
    with pytest.warns(anndata.ImplicitModificationWarning, match="view"):
        pyrocco.tl.rocco(view)
    assert not view.is_view
    check_labels(view, ROCCO().fit(X[10:, :20]))
    assert "rocco" not in adata.obs


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("use_raw", [False, True])
def test_backed_by_a_file(store, use_raw, X, model, tmp_path):
    adata = anndata.AnnData(store(X))
    adata.raw = adata
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    other = pyrocco.tl.rocco(backed, use_raw=use_raw, copy=True)
    assert not other.isbacked
    assert "rocco" not in backed.obs
    pyrocco.tl.rocco(backed, use_raw=use_raw)
    for found in (other, backed):
        assert found.obs["rocco"].astype(int).tolist() == model.row_labels_.tolist()
    assert drawn(backed).shape == X.shape
    backed.file.close()


def test_clusters_may_be_renamed_and_removed(adata):
    pyrocco.tl.rocco(adata)
    adata.obs["rocco"] = adata.obs["rocco"].cat.rename_categories(["T cells", "B cells", "others"])
    subset = adata[adata.obs["rocco"] != "B cells", adata.var["rocco"] != "0"]
    shown = texts(pyrocco.pl.heatmap(subset))
    assert {"T cells", "others", "1", "2"} <= shown
    assert not {"B cells", "0"} & shown
    subset = subset.copy()
    subset.obs.loc[subset.obs_names[:4], "rocco"] = np.nan
    with pytest.raises(ValueError, match='4 entries of "rocco" have no cluster'):
        pyrocco.pl.heatmap(subset)


def test_errors_say_what_to_do(adata, X):
    with pytest.raises(TypeError, match=r"AnnData object is needed, not ndarray.*ROCCO\(\)\.fit"):
        pyrocco.tl.rocco(X)
    with pytest.raises(ValueError, match='no layer "counts"; it has X, layer "double"'):
        pyrocco.tl.rocco(adata, layer="counts")
    with pytest.raises(ValueError, match='no raw; it has X, layer "double"'):
        pyrocco.tl.rocco(adata, use_raw=True)
    with pytest.raises(ValueError, match="not for both"):
        pyrocco.tl.rocco(adata, layer="double", use_raw=True)
    with pytest.raises(ValueError, match=r"pyrocco\.tl\.rocco\(adata\) finds them"):
        pyrocco.pl.heatmap(adata)
    with pytest.raises(ValueError, match="no X; it has none"):
        pyrocco.tl.rocco(anndata.AnnData(obs=pd.DataFrame(index=["a"])))
    assert list(adata.obs) == []


def test_modules_are_imported_on_first_use():
    code = (
        "import sys, pyrocco; assert 'matplotlib' not in sys.modules; "
        "pyrocco.pl.heatmap; assert 'matplotlib.figure' in sys.modules; pyrocco.tl.rocco; "
        "assert 'anndata' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'pp'"):
        _ = pyrocco.pp
