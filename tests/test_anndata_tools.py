"""``pyrocco.tl`` and ``pyrocco.pl`` on real AnnData objects."""

import subprocess
import sys

import anndata
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import sparse

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
    return {text.get_text() for ax in result.axes.values() for text in ax.texts}


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


def test_heat_maps_have_tracks_of_obs_and_var(adata):
    pyrocco.tl.rocco(adata)
    adata.obs["batch"] = pd.Categorical(["one", "two", "one"] * 15)
    adata.uns["batch_colors"] = ["#ff0000", "#00ff00"]
    adata.var["length"] = np.linspace(0.5, 9, 30)
    result = pyrocco.pl.heatmap(adata, obs=["batch"], var=["length"], title="Cells")
    assert {"one", "two", "batch", "length", "0.5", "9.0", "Cells"} <= texts(result)
    image = result.axes["row_annotations"].images[0].get_array()[:, 0]
    assert {tuple(colour[:3]) for colour in image if colour[3]} == {(1, 0, 0), (0, 1, 0)}
    with pytest.raises(ValueError, match="no annotation 'age'; there are: rocco"):
        pyrocco.pl.heatmap(adata, obs=["age"])


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
        "pyrocco.pl.heatmap; assert 'matplotlib' in sys.modules; pyrocco.tl.rocco; "
        "assert 'anndata' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'pp'"):
        _ = pyrocco.pp
