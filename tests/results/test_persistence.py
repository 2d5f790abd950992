"""A model that was saved and loaded is the same model; other files are refused in plain words."""

import json
import pickle
import zipfile
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pyrocco
from pyrocco import COBRA, RCC, ROCCO, AutoKMeans, AutoSpectralCoclustering, Graph
from pyrocco.backends import NumpyBackend, TorchBackend
from pyrocco.estimators.loading import Loaded, load_with_about
from pyrocco.io import ModelFileError
from pyrocco.io.model_file import FORMAT_VERSION, read_model_file, write_model_file
from pyrocco.results.answers import Answers
from pyrocco.solvers import MultigridSolver, SpectralSolver
from tests.model_files import rewrite


def parts_of(value):
    """What a value is made of, by name or place; None where it is an end."""
    if isinstance(value, np.random.RandomState):
        return {"state": value.get_state()}
    if sparse.issparse(value):
        return {"dense": value.toarray()}
    if isinstance(value, Answers):
        value = value.__reduce__()[1]  # without the data of the fit
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return value
    if is_dataclass(value):
        return {part.name: getattr(value, part.name) for part in fields(value)}
    return getattr(value, "__dict__", None)


def assert_same(a, b, where="model"):
    """Both of the same kind and made of the same."""
    assert type(a) is type(b), where
    parts, others = parts_of(a), parts_of(b)
    if parts is None:
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None), where
        np.testing.assert_array_equal(a, b, where)
        return
    assert list(parts) == list(others), where
    for name in parts:
        assert_same(parts[name], others[name], f"{where}.{name}")


def sparse_counts():
    rng = np.random.default_rng(0)
    counts = np.kron(np.eye(3), np.ones((12, 9))) * rng.poisson(1.0, (36, 27))
    return sparse.csr_array(counts.astype(np.float32))


def with_outliers(X):
    """A few cells a thousand times too large, so that the fit finds outlier cells."""
    X = X.copy()
    X[::9, ::7] *= 1000
    return X


CASES = {
    "default": (ROCCO(), lambda X: X),
    "float32": (ROCCO((3, 2)), lambda X: X.astype(np.float32)),
    "csr": (ROCCO(), lambda _: sparse_counts()),
    "with_outliers": (ROCCO(), with_outliers),
    "paper": (ROCCO(3, variant="paper"), lambda X: X),
    "data frame": (ROCCO(), lambda X: pd.DataFrame(X).add_prefix("gene")),
    "seeded": (ROCCO(random_state=np.random.RandomState(3)), lambda X: X),
    "multigrid": (ROCCO(solver=MultigridSolver(smoothing_steps=2)), lambda X: X),
    "rcc": (RCC(), lambda X: X),
    "cobra": (COBRA(gamma=3.0), lambda X: X),
    "k-means": (AutoKMeans(max_clusters=4), lambda X: X),
    "spectral": (AutoSpectralCoclustering(max_clusters=4), np.abs),
}


@pytest.mark.parametrize("case", CASES)
def test_everything_comes_back(case, planted, tmp_path):
    estimator, change = CASES[case]
    model = clone(estimator).fit(change(planted[0]))
    model.save(tmp_path / "model.pyrocco")
    assert [path.name for path in tmp_path.iterdir()] == ["model.pyrocco"]
    assert_same(model, pyrocco.load(tmp_path / "model.pyrocco"))


REPRESENTED = (
    "representation_", "row_graph_", "column_graph_", "history_", "n_iter_", "converged_"
)  # fmt: skip


def save_and_load(model, folder):
    model.save(folder / "model.pyrocco")
    return pyrocco.load(folder / "model.pyrocco")


def pickle_and_unpickle(model, folder):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("copied", [save_and_load, pickle_and_unpickle])
def test_a_representation_that_was_not_asked_for_is_not_stored(copied, planted, tmp_path):
    model = ROCCO().fit(planted[0])
    again = copied(model, tmp_path)
    assert not model.has_representation_
    assert not again.has_representation_
    for name in REPRESENTED:
        with pytest.raises(AttributeError, match="not computed before the model was saved"):
            getattr(again, name)
    np.testing.assert_array_equal(again.predict(planted[0]), model.row_labels_)
    U = model.representation_
    again = copied(model, tmp_path)
    assert model.has_representation_
    assert again.has_representation_
    np.testing.assert_array_equal(again.representation_, U)
    for name in REPRESENTED[1:]:
        assert_same(getattr(again, name), getattr(model, name), name)


def test_a_loaded_model_can_be_fitted_again(planted, tmp_path):
    model = ROCCO(variant="paper").fit(planted[0])
    model.save(tmp_path / "a")
    again = pyrocco.load(tmp_path / "a").fit(planted[0])
    np.testing.assert_array_equal(again.row_labels_, model.row_labels_)
    assert isinstance(again.row_graph_, Graph)


def test_back_ends_are_saved_by_name(planted, tmp_path):
    for backend in (NumpyBackend(), TorchBackend("cpu")):
        model = ROCCO(device=backend).fit(planted[0])
        assert model.representation_.shape == planted[0].shape
        model.save(tmp_path / "a")
        again = pyrocco.load(tmp_path / "a")
        assert again.device == "cpu"
        assert again.assigner_.backend.name == "numpy"
        np.testing.assert_array_equal(again.representation_, model.representation_)


def test_what_is_beside_the_model_comes_back(planted, tmp_path):
    about = {
        "names": ["é", "\N{SNOWMAN}"],
        "values": np.arange(3),
        "nothing": None,
        "odd": {1: np.inf},
    }
    ROCCO().fit(planted[0]).save(tmp_path / "a", about)
    assert_same(load_with_about(tmp_path / "a").about, about)


def test_the_same_model_gives_the_same_bytes(planted, tmp_path):
    model = ROCCO().fit(planted[0])
    model.save(tmp_path / "a")
    pyrocco.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_nothing_in_the_file_is_pickled(planted, tmp_path):
    ROCCO().fit(pd.DataFrame(planted[0]).add_prefix("gene")).save(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        text = json.loads(archive.read("model.json"))
        for name in set(archive.namelist()) - {"model.json"}:
            with archive.open(name) as file:
                np.load(file, allow_pickle=False)
    assert text["format_version"] == FORMAT_VERSION
    assert text["content"]["pyrocco_version"] == pyrocco.__version__


class OwnSolver(SpectralSolver):
    pass


class OwnROCCO(ROCCO):
    pass


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (ROCCO(solver=OwnSolver()), "parameters holds a .*OwnSolver"),
        (OwnROCCO(), "OwnROCCO is not"),
    ],
)
def test_what_cannot_be_saved_is_named_and_leaves_no_file(model, what, planted, tmp_path):
    with pytest.raises(ModelFileError, match=what):
        model.fit(planted[0]).save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_only_a_fitted_model_can_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ROCCO().save(tmp_path / "a")


def test_a_failed_save_leaves_the_file_that_was_there(planted, tmp_path, monkeypatch):
    model, path = ROCCO().fit(planted[0]), tmp_path / "a"
    model.save(path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space"):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.fixture(name="saved")
def make_saved(planted, tmp_path):
    path = tmp_path / "model.pyrocco"
    ROCCO().fit(planted[0]).save(path)
    return path


@pytest.mark.parametrize("share", [0.001, 0.3, 0.999])
def test_a_file_that_is_cut_off(saved, share):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ModelFileError, match="damaged or cut off"):
        pyrocco.load(saved)


def test_a_file_with_a_wrong_byte(saved):
    data = bytearray(saved.read_bytes())
    data[len(data) // 2] ^= 0xFF
    saved.write_bytes(data)
    with pytest.raises(ModelFileError, match="damaged"):
        pyrocco.load(saved)


def test_other_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    np.savez(tmp_path / "a.npz", x=np.arange(3))
    (tmp_path / "empty").touch()
    for name in ("a.csv", "a.npz", "empty"):
        with pytest.raises(ModelFileError, match="is not a model file of pyrocco"):
            pyrocco.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        pyrocco.load(tmp_path / "nowhere")


def test_a_newer_file_says_how_to_read_it(saved):
    rewrite(saved, lambda text: text.update(format_version=FORMAT_VERSION + 1))
    with pytest.raises(ModelFileError, match=r"newer pyrocco .*pip install --upgrade pyrocco"):
        pyrocco.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text["content"].update({"class": "Unknown"}),
        lambda text: text["content"]["parameters"].update(unheard_of=1),
        lambda text: text["content"]["attributes"]["_answers"]["$record"].__setitem__(0, "Popen"),
    ],
)
def test_what_this_version_does_not_know(saved, change):
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match="cannot read"):
        pyrocco.load(saved)


def test_objects_of_unknown_kinds_are_refused(tmp_path):
    for value in (object(), np.array([1, None]), {1, 2}, Loaded(None, {})):
        with pytest.raises(ModelFileError, match="thing"):
            write_model_file(tmp_path / "a", {"thing": value})
    write_model_file(tmp_path / "a", {"thing": {"$odd": (1, 2.5, np.float32(0.5))}})
    assert read_model_file(tmp_path / "a") == {"thing": {"$odd": (1, 2.5, 0.5)}}


def sparse_texts():
    rng = np.random.default_rng(0)
    topics = 0.35 * rng.random((3, 400)) ** 6
    return sparse.csr_array(rng.poisson(topics[rng.integers(0, 3, 800)]).astype(float))


def dense_blocks():
    rng = np.random.default_rng(0)
    means = 4 * rng.normal(size=(4, 3))
    return means[rng.integers(0, 4, 1000)][:, rng.integers(0, 3, 100)] + rng.normal(
        size=(1000, 100)
    )


@pytest.mark.parametrize(("make", "times"), [(sparse_texts, 2), (dense_blocks, 1)])
def test_a_file_is_not_much_larger_than_its_matrix(make, times, tmp_path):
    X = make()
    size = sum(a.nbytes for a in (X.data, X.indices, X.indptr)) if sparse.issparse(X) else X.nbytes
    path = tmp_path / "model.pyrocco"
    ROCCO().fit(X).save(path)
    assert path.stat().st_size < times * size
