"""Whatever the bytes of a model file are, loading gives the model or says what is wrong."""

import inspect
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_biclusters

import pyrocco
from pyrocco import RCC, ROCCO
from pyrocco.estimators.loading import _CLASSES
from pyrocco.io import ModelFileError, OutputError
from pyrocco.io.model_file import read_model_file, write_model_file
from pyrocco.results.persistence import STORABLE
from pyrocco.results.stored_fields import MODELS, OBJECTS
from tests.model_files import (
    change_array,
    npy,
    place_of,
    put_together,
    rewrite,
    set_value,
    take_apart,
    with_digest,
)
from tests.results.fuzz_models import ONE_THREAD

X, _, _ = make_biclusters((60, 40), 3, noise=5, random_state=0)

# Places in the content of a model file.
ATTRIBUTES = ("attributes",)
ANSWERS = (*ATTRIBUTES, "_answers")
ROW_PREDICTOR = (*ANSWERS, "row_predictor")
REPRESENTED = (*ANSWERS, "represented")
ROW_GRAPH = (*REPRESENTED, "graphs", 0)
STATE = (*ATTRIBUTES, "assigner_", "random_state", "state")


@pytest.fixture(scope="module", name="original")
def save_original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "model.pyrocco"
    model = ROCCO().fit(X)
    assert model.representation_.shape == X.shape  # it is stored once it was asked for
    model.save(path)
    return path


@pytest.fixture(name="saved")
def copy_original(original, tmp_path):
    path = tmp_path / "model.pyrocco"
    path.write_bytes(original.read_bytes())
    return path


def refused(path):
    """The message, in one line, that begins with the path."""
    with pytest.raises(ModelFileError) as caught:
        pyrocco.load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


# The archive.


def with_header(path, name, **changes):
    """Change fields of the local header and of the directory entry of a member."""
    data = bytearray(path.read_bytes())
    places = {"flags": (6, 8, "<H"), "method": (8, 10, "<H"), "size": (22, 24, "<I")}
    for start, key in ((b"PK\3\4", 0), (b"PK\1\2", 1)):
        at = 0
        while (at := data.find(start, at)) >= 0:
            length = 30 if key == 0 else 46
            if data[at + length : at + length + len(name)] == name.encode():
                for field, value in changes.items():
                    struct.pack_into(places[field][2], data, at + places[field][key], value)
            at += 4
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("model.json", {"method": 99}),
        ("model.json", {"flags": 1}),  # encrypted
        ("arrays/0.npy", {"method": 99}),
        ("arrays/0.npy", {"flags": 1}),
        ("arrays/0.npy", {"size": 2**31}),
        ("model.json", {"size": 2**31}),
        ("model.json", {"size": 10}),
    ],
)
def test_members_that_zipfile_does_not_read(saved, name, changes):
    with_header(saved, name, **changes)
    assert "is damaged: save or copy the model again" in refused(saved)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_methods_that_pyrocco_does_not_use(saved, method):
    put_together(saved, *take_apart(saved), method)
    assert "is damaged" in refused(saved)


def test_every_byte_matters_or_changes_nothing(original, tmp_path):
    whole, model = original.read_bytes(), pyrocco.load(original)
    path = tmp_path / "model.pyrocco"
    rng = np.random.default_rng(0)
    places = [*rng.integers(0, len(whole), 150), *range(len(whole) - 700, len(whole), 5)]
    n_refused = 0
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        try:
            again = pyrocco.load(path)
        except ModelFileError:
            n_refused += 1
            continue
        np.testing.assert_array_equal(again.representation_, model.representation_)
        np.testing.assert_array_equal(again.row_labels_, model.row_labels_)
    assert n_refused > 0.8 * len(places)


def test_damage_that_the_archive_does_not_notice(saved):
    text, arrays = take_apart(saved)
    part, key = place_of(text, *REPRESENTED, "converged")
    part[key] = not part[key]
    put_together(saved, text, arrays)
    assert "is damaged: save or copy the model again" in refused(saved)
    rewrite(saved, lambda text: None)  # the digest is computed again
    text, arrays = take_apart(saved)
    part, key = place_of(text, *REPRESENTED, "U")
    name = part[key]["$array"]
    arrays[name] = arrays[name][:-8] + struct.pack("<d", 7.0)
    put_together(saved, text, arrays)
    assert "is damaged" in refused(saved)


def test_files_without_a_digest_are_judged_by_their_content(saved):
    text, arrays = take_apart(saved)
    assert len(text.pop("sha256")) == 64
    put_together(saved, text, arrays)
    assert pyrocco.load(saved).row_labels_.shape == (60,)


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_only_regular_files_are_opened(tmp_path, kind):
    path = tmp_path / "a"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = "/dev/zero"
    assert "is not a regular file" in refused(path)


def test_errors_of_the_system_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        pyrocco.load(tmp_path / "nowhere")
    if os.geteuid():
        (tmp_path / "a").write_bytes(b"PK")
        (tmp_path / "a").chmod(0)
        with pytest.raises(PermissionError, match="a"):
            pyrocco.load(tmp_path / "a")


# Sizes.


def memory_of(work):
    """Peak memory that Python allocates for some work, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def header(shape, descr="<f8"):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text = text.ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    "data",
    [
        header("(1000000000000,)") + bytes(80),
        header("(10000000000, 10000000000)") + bytes(80),
        header("(-2, -5)") + bytes(80),
        header("(1000000000000,)", "|V0"),
        header("(10,)", "|O") + bytes(80),
        header("(10,)", "<f9") + bytes(80),
        header("(" * 1000) + bytes(80),
        header("(3,)") + bytes(80),
        npy(np.arange(3))[:40],
        b"",
        b"\x93NUMPY\7\0" + bytes(80),
    ],
)
def test_headers_of_arrays_must_agree_with_their_bytes(saved, data):
    text, arrays = take_apart(saved)
    arrays["arrays/3.npy"] = data
    put_together(saved, with_digest(text, arrays), arrays)
    assert memory_of(lambda: refused(saved)) < 20e6


def test_a_text_that_is_longer_than_its_file(saved):
    bomb = b'{"format": "pyrocco model", "content": {"x": "' + bytes(200_000_000) + b'"}}'
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("model.json", bomb, zipfile.ZIP_DEFLATED)
    del bomb
    assert saved.stat().st_size < 1_000_000
    assert memory_of(lambda: refused(saved)) < 20e6
    # A header that hides the length does not help.
    with_header(saved, "model.json", size=500_000)
    assert memory_of(lambda: refused(saved)) < 20e6


def test_arrays_compressed_by_another_method_are_refused(saved):
    text, arrays = take_apart(saved)
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        with zipfile.ZipFile(saved, "w") as archive:
            for name, data in arrays.items():
                archive.writestr(name, data, method)
            archive.writestr("model.json", json.dumps(text))
        if method == zipfile.ZIP_DEFLATED:
            assert read_model_file(saved)["class"] == "ROCCO"
    assert "is damaged" in refused(saved)


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    path, zeros = tmp_path / "model.pyrocco", np.zeros(1 << 20)
    write_model_file(path, {"a": zeros, "b": zeros})  # 16 MiB and a little: not compressed
    assert path.stat().st_size > 2 * zeros.nbytes
    np.testing.assert_array_equal(read_model_file(path)["b"], zeros)
    write_model_file(path, {"a": zeros})
    assert path.stat().st_size < zeros.nbytes / 100
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = json.loads(members["model.json"])
    text["content"]["b"] = {"$array": "arrays/1.npy"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("arrays/0.npy", "arrays/1.npy"):
            archive.writestr(name, members["arrays/0.npy"])
        archive.writestr("model.json", json.dumps(text))
    assert "is damaged" in refused(path)


def test_an_array_is_read_once(saved):
    set_value(saved, ["about", "x"], [{"$array": "arrays/0.npy"}] * 2)
    assert "is damaged" in refused(saved)


def test_texts_that_compress_well_can_be_read(saved):
    names = ["a"] * 200_000
    write_model_file(saved, {"names": names})
    assert read_model_file(saved) == {"names": names}
    assert len(zlib.compress(json.dumps(names).encode())) < saved.stat().st_size / 20


# The text.


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "[" * 100_000,
        '{"format": "pyrocco model"}',
        '{"format": "pyrocco model", "format_version": "1", "content": {}}',
        '{"format": "pyrocco model", "format_version": 0, "content": {}}',
        '{"format": "pyrocco model", "format_version": 1e999, "content": {}}',
        '{"format": "pyrocco model", "format_version": 1}',
        '{"format": "pyrocco model", "format_version": 1, "content": 3}',
        '{"format": "pyrocco model", "format_version": 1, "content": {}}',
        '{"format": "pyrocco model", "format_version": 1, "content": {"class": []}}',
        '{"format": "pyrocco model", "format_version": 1, "content": {"class": "ROCCO"}}',
        '{"format": "pyrocco model", "format_version": 1, "sha256": [], "content": {}}',
        b"\xff\xfe\x00",
    ],
)
def test_texts_that_are_no_model(saved, text):
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("model.json", text)
    refused(saved)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        nested(400),
        {"$array": 3},
        {"$array": ["arrays/0.npy"]},
        {"$array": "model.json"},
        {"$array": "nowhere"},
        {"$array": "arrays/0.npy", "more": 1},
        {"$float": "1e3"},
        {"$float": []},
        {"$names": "abc"},
        {"$names": [1, 2]},
        {"$tuple": 3},
        {"$dict": [[[], 1]]},
        {"$dict": [[1]]},
        {"$dict": 7},
        {"$dict": [[k * (2**61 - 1), 0] for k in range(1, 3)]},
        {"$record": "Graph"},
        {"$record": ["Graph"]},
        {"$record": ["Graph", []]},
        {"$record": [["Graph"], {}]},
        {"$record": ["os.system", {"command": "true"}]},
        {"$record": ["Graph", {"n_nodes": 3}]},
        {"$csr": [1, 2, 3, [1, 1]]},
        {"$unknown": 1},
    ],
)
def test_packed_values_of_a_wrong_kind(saved, value):
    set_value(saved, ["about", "x"], value)
    refused(saved)


@pytest.mark.parametrize(
    ("data", "indices", "indptr", "shape"),
    [
        ([1.0, 1.0], [0, 9], [0, 1, 2], [2, 3]),
        ([1.0, 1.0], [0, -1], [0, 1, 2], [2, 3]),
        ([1.0, 1.0], [0, 1], [0, 5, 2], [2, 3]),
        ([1.0, 1.0], [0, 1], [0, 5, 0], [2, 3]),
        ([1.0, 1.0], [0, 1], [1, 1, 2], [2, 3]),
        ([1.0], [0, 1], [0, 1, 2], [2, 3]),
        ([1.0, 1.0], [0, 1], [0, 2], [2, 3]),
        ([1.0, 1.0], [0.5, 1.5], [0, 1, 2], [2, 3]),
        ([1.0, 1.0], [0, 1], [0, 1, 2], [2, "3"]),
        ([1.0, 1.0], [0, 1], [0, 1, 2], [2]),
        ([[1.0, 1.0]], [0, 1], [0, 1, 2], [2, 3]),
        (["a", "b"], [0, 1], [0, 1, 2], [2, 3]),
    ],
)
def test_sparse_matrices_with_wrong_indices(tmp_path, data, indices, indptr, shape):
    path = tmp_path / "a"
    write_model_file(path, {"x": sparse.csr_array(np.eye(2, 3))})
    text, arrays = take_apart(path)
    names = [part["$array"] for part in text["content"]["x"]["$csr"][:3]]
    arrays |= {
        name: npy(np.array(part))
        for name, part in zip(names, (data, indices, indptr), strict=True)
    }
    text["content"]["x"]["$csr"][3] = shape
    put_together(path, with_digest(text, arrays), arrays)
    with pytest.raises(ModelFileError, match="is damaged"):
        read_model_file(path)


# The content.


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("class",), "Popen"),
        (("class",), 3),
        (("pyrocco_version",), 1.2),
        (("attributes",), []),
        (("attributes", "fit"), 1),
        (("attributes", "__class__"), "ROCCO"),
        (("attributes", "predict"), None),
        (("attributes", "n_row_clusters_"), 2),
        (("attributes", "n_row_clusters_"), 10**18),
        (("attributes", "n_row_clusters_"), True),
        (("attributes", "n_features_in_"), 41),
        (("attributes", "row_labels_"), None),
        (("attributes", "structure_"), "chaos"),
        ((*REPRESENTED, "history"), [{}]),
        ((*REPRESENTED, "history"), 3),
        ((*REPRESENTED, "converged"), "yes"),
        ((*REPRESENTED, "graphs"), {"$tuple": []}),
        ((*REPRESENTED, "U"), {"$names": ["a"]}),
        (REPRESENTED, 3),
        (("attributes", "cell_weights_"), 1.5),
        (("attributes", "feature_names_in_"), {"$names": ["a"]}),
        (("attributes", "representation_"), None),
        (("attributes", "_answers"), None),
        (("parameters", "n_clusters"), "three"),
        (("parameters", "metric"), "euklid"),
        (("parameters", "solver"), {"$record": ["Graph", {}]}),
        (("parameters", "random_state"), 1.5),
        (("parameters", "unknown"), 1.5),
        ((*ANSWERS, "tree"), None),
        ((*ANSWERS, "tree", "rows", "n_fitted"), 999),
        ((*ANSWERS, "tree", "rows", "n_fitted"), 0),
        ((*ROW_PREDICTOR, "unit"), 0),
        ((*ROW_PREDICTOR, "unit"), {"$float": "nan"}),
        ((*ROW_PREDICTOR, "unit"), 10**400),
        ((*ROW_PREDICTOR, "known", "exponent"), 2**40),
        ((*ROW_PREDICTOR, "cleaner"), "none"),
        ((*ROW_PREDICTOR, "profiles", "variance"), "1"),
        ((*ROW_GRAPH, "n_nodes"), 61),
        ((*REPRESENTED, "graphs", 1, "n_nodes"), 41),
        (("attributes", "assigner_", "backend", "n_threads"), 10**9),
        ((*STATE, 2), 625),
        ((*STATE, 2), -1),
        ((*STATE, 0), "PCG64"),
    ],
)
def test_values_that_no_model_has(saved, keys, value):
    set_value(saved, keys, value)
    assert "cannot read" in refused(saved)


def with_entry(value, place=0):
    def change(array):
        array = array.copy()
        array.flat[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("keys", "change"),
    [
        ((*ATTRIBUTES, "row_labels_"), with_entry(3)),
        ((*ATTRIBUTES, "row_labels_"), with_entry(-1)),
        ((*ATTRIBUTES, "row_labels_"), with_entry(2**40)),
        ((*ATTRIBUTES, "row_labels_"), np.zeros_like),
        ((*ATTRIBUTES, "row_labels_"), lambda a: a[:-1]),
        ((*ATTRIBUTES, "row_labels_"), lambda a: a.astype(float)),
        ((*ATTRIBUTES, "row_labels_"), lambda a: a[:, None]),
        ((*ATTRIBUTES, "column_labels_"), lambda a: a[:-1]),
        ((*ATTRIBUTES, "row_membership_"), lambda a: a[:-1]),
        ((*ATTRIBUTES, "block_means_"), lambda a: a[:-1]),
        ((*REPRESENTED, "U"), lambda a: a.T),
        ((*REPRESENTED, "U"), lambda a: a.astype(np.float16)),
        ((*ROW_GRAPH, "heads"), with_entry(60)),
        ((*ROW_GRAPH, "tails"), with_entry(-7)),
        ((*ROW_GRAPH, "weights"), lambda a: a[:-1]),
        ((*ROW_GRAPH, "weights"), with_entry(np.nan)),
        ((*ANSWERS, "tree", "rows", "finest"), with_entry(2**40)),
        ((*ANSWERS, "tree", "rows", "finest"), np.zeros_like),
        ((*ANSWERS, "tree", "rows", "merges"), with_entry(99)),
        ((*ANSWERS, "tree", "rows", "merges"), np.zeros_like),
        ((*ANSWERS, "tree", "rows", "merges"), lambda a: a[:1]),
        ((*ANSWERS, "tree", "rows", "heights"), lambda a: a[:-1]),
        ((*ANSWERS, "statistics", "by_column", "counts"), lambda a: a[:-1]),
        ((*ANSWERS, "statistics", "by_row", "means"), lambda a: a[:, :-1]),
        ((*ROW_PREDICTOR, "profiles", "others"), with_entry(5)),
        ((*ROW_PREDICTOR, "profiles", "means"), lambda a: a[:, :-1]),
        ((*ROW_PREDICTOR, "profiles", "shares"), lambda a: a[:-1]),
        ((*ROW_PREDICTOR, "mean_rows", "means"), lambda a: a[:-1]),
        ((*ROW_PREDICTOR, "limits", "upper"), lambda a: a[:-1]),
        ((*ROW_PREDICTOR, "known", "rows"), with_entry(60)),
        ((*ROW_PREDICTOR, "known", "hashes"), lambda a: a[:0]),
        ((*ROW_PREDICTOR, "fitted", 0), with_entry(3)),
        ((*ROW_PREDICTOR, "fitted", 1), lambda a: a[:-1]),
        ((*STATE, 1), lambda a: a[:-1]),
    ],
)
def test_arrays_that_do_not_fit_each_other(saved, keys, change):
    change_array(saved, keys, change)
    assert "cannot read" in refused(saved)


def test_byte_order_does_not_matter(saved):
    before = pyrocco.load(saved)
    for keys in ((*REPRESENTED, "U"), (*ATTRIBUTES, "row_labels_")):
        change_array(saved, keys, lambda a: a.astype(a.dtype.newbyteorder(">")))
    after = pyrocco.load(saved)
    np.testing.assert_array_equal(after.representation_, before.representation_)
    assert after.representation_.dtype.isnative
    np.testing.assert_array_equal(after.impute(X), before.impute(X))


def test_the_tables_are_those_of_the_classes():
    assert set(OBJECTS) == {*STORABLE, "RandomState"}
    for name, kind in STORABLE.items():
        assert set(OBJECTS[name].table) == set(inspect.signature(kind).parameters), name
    assert set(MODELS) == set(_CLASSES)
    for name, kind in _CLASSES.items():
        assert set(MODELS[name].parameters.table) == set(kind().get_params()), name


MISSING = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
EMPTY = MISSING.copy()
EMPTY[4], EMPTY[:, 7] = np.nan, np.nan
SPARSE = sparse.csr_array(np.where(X > 20, X, 0))
COUNTS = np.random.default_rng(0).poisson(np.clip(X, 1, None) / 20).astype(float)


@pytest.mark.parametrize(
    ("parameters", "data", "weights"),
    [
        ({}, MISSING, None),
        ({}, EMPTY, None),
        ({}, X, np.arange(60) % 3),
        ({"n_clusters": 1}, X, None),
        ({"n_clusters": (1, 5)}, X, None),
        ({}, X[:, :1], None),
        ({}, np.outer(np.arange(40.0), np.ones(12)), None),
        ({}, COUNTS, None),
        ({}, np.where(COUNTS > 6, np.nan, COUNTS), None),
        ({}, (COUNTS > 4).astype(float), None),
        ({}, np.ones((9, 7)), None),
        ({}, np.zeros((9, 7)), None),
        ({}, 1e-300 * X, None),
        ({"verbose": False, "n_neighbors": np.int32(5)}, SPARSE, None),
        ({"memory_limit": "3GB"}, X.astype(np.float32), None),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_unusual_models_are_not_refused(parameters, data, weights, tmp_path):
    model = ROCCO(**parameters).fit(data, sample_weight=weights)
    model.set_output(transform="pandas")
    model.save(tmp_path / "a")
    again = pyrocco.load(tmp_path / "a")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert again.at(1, 1).explain().shape == model.at(1, 1).explain().shape


OUTLIERS = X.copy()
OUTLIERS[::9, ::7] *= 1000
FITS = {
    "blocks": (ROCCO(), OUTLIERS),
    "counts": (ROCCO(), COUNTS),
    "features": (ROCCO((3, 2)), X),
    "rcc": (RCC(), X),
}


@pytest.mark.parametrize("kind", FITS)
def test_changed_at_random(kind, tmp_path):
    """A crash of the interpreter, a hang or an unexpected error ends the process."""
    path = tmp_path / "model.pyrocco"
    estimator, data = FITS[kind]
    model = clone(estimator).fit(data)
    assert model.representation_.shape == X.shape  # it is stored once it was asked for
    model.save(path, {"names": ["a", "b"], "values": np.arange(3.0)})
    np.save(f"{path}.npy", data)
    command = [sys.executable, "-m", "tests.results.fuzz_models", str(path), "0", "100"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD
    )
    assert done.returncode == 0, f"{done.stdout[-200:]}\n{done.stderr}"
    assert int(done.stdout.split()[-1]) > 2  # some changes are harmless


# Writing.


def test_own_attributes_belong_beside_the_model(tmp_path):
    model = RCC().fit(X)
    model.note = "mine"
    with pytest.raises(ModelFileError, match=r"note is not an attribute of RCC.*about="):
        model.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_values_that_contain_themselves_cannot_be_saved(tmp_path):
    value = []
    value.append(value)
    with pytest.raises(ModelFileError, match="thing is nested too deeply"):
        write_model_file(tmp_path / "a", {"thing": value})
    write_model_file(tmp_path / "a", {"thing": nested(30)})
    assert read_model_file(tmp_path / "a") == {"thing": nested(30)}


def test_a_folder_or_a_missing_folder_is_named(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OutputError, match="a: is a folder"):
        write_model_file(tmp_path / "a", {})
    with pytest.raises(OutputError, match="b: cannot be written: No such file"):
        write_model_file(tmp_path / "nowhere" / "b", {})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_full_disk_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_model_file(path, {"old": 1})

    def full(*_, **__):
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(b"x")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OutputError, match="a: cannot be written: No space left on device"):
        write_model_file(path, {"new": np.arange(3)})
    assert read_model_file(path) == {"old": 1}
    assert os.listdir(tmp_path) == ["a"]


KILLED = """
import os, signal, sys
import numpy as np
from pyrocco.io.model_file import write_model_file
np.save = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
write_model_file(sys.argv[1], {"new": np.arange(3)})
"""


def test_what_a_killed_process_left_is_replaced(tmp_path):
    path = tmp_path / "a"
    write_model_file(path, {"old": 1})
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(os.listdir(tmp_path)) == 2
    assert read_model_file(path) == {"old": 1}
    write_model_file(path, {"new": 2})
    assert os.listdir(tmp_path) == ["a"]
