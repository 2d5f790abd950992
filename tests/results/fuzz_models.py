"""Change a model file at random, and load and use what is left of it.

Run as a process of its own, so that a crash of the interpreter is seen:
``python -m tests.results.fuzz_models MODEL FIRST COUNT``. It prints the number of every change
before it tries it, and what was wrong.
"""

import io
import json
import random
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import pyrocco
from pyrocco.io import ModelFileError
from pyrocco.report import write_report
from tests.model_files import npy, put_together, take_apart, with_digest

VALUES = (
    None, True, -1, 0, 1, 7, 624, 10**6, 2**62, 10**30, 1.5, 1e308, "", "x", "exact", "inf", [],
    [[]], {}, {"$tuple": []}, {"$float": "nan"}, {"$float": "inf"}, {"$names": ["a"]},
    {"$dict": [[1, 2]]}, {"$record": ["Graph", {}]}, {"$array": "arrays/0.npy"},
)  # fmt: skip
ENTRIES = (-1, 0, 1, 59, 60, 10**6, 2**62, -(2**62), 0.5, np.nan, np.inf, 1e308)
TYPES = ("f8", "f4", "f2", "i8", "i4", "i1", "u8", "u4", "?", "c16", "U3", ">f8", "M8[s]")
SECONDS = 20
# Small products are slower in several threads.
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}


def places(value):
    """Every place in a JSON value, as the container and the key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(items):
        yield value, key
        if isinstance(part, (dict, list)):
            yield from places(part)


def change_text(text, arrays, rng):
    """Replace, remove, rename or swap a part of the text."""
    found = list(places(text["content"]))
    part, key = rng.choice(found)
    other, second = rng.choice(found)
    what = rng.random()
    if what < 0.6:
        part[key] = json.loads(json.dumps(rng.choice(VALUES)))
    elif what < 0.75:
        part[key] = json.loads(json.dumps(other[second]))
    elif what < 0.9 or isinstance(part, list):
        del part[key]
    else:
        part[rng.choice(["fit", "__class__", "predict", "_lock", "x"])] = part.pop(key)


def change_array(text, arrays, rng):
    """Change entries, the type or the shape of an array, or take another one."""
    name = rng.choice(sorted(arrays))
    array = np.load(io.BytesIO(arrays[name]))
    what = rng.random()
    with np.errstate(all="ignore"):
        if what < 0.5 and array.size:
            array.flat[rng.randrange(array.size)] = np.array(rng.choice(ENTRIES)).astype(
                array.dtype
            )
        elif what < 0.65:
            array = array.astype(rng.choice(TYPES))
        elif what < 0.9:
            shapes = [array[:-1], array[..., :-1], array.T, array.ravel(), array[None], array[:0]]
            array = np.ascontiguousarray(rng.choice(shapes)) if array.ndim else array
        else:
            array = np.load(io.BytesIO(arrays[rng.choice(sorted(arrays))]))
    arrays[name] = npy(array)


def use(model, X, report):
    """Ask a model everything; only a ValueError with a message may come back."""
    new, new_cells = X[:3] + 0.5, np.abs(X) > np.median(np.abs(X))
    asked = [
        lambda: model.predict(np.vstack([X, new])),
        lambda: model.place(np.where(new > new.mean(), np.nan, new)),
        lambda: model.predict_columns(X[:, :3]),
        lambda: model.place_columns(X[:, :3] + 0.5),
        lambda: model.transform(new),
        lambda: model.has_representation_ and model.impute(np.where(new_cells, np.nan, X)),
        lambda: model.at(2, 2).explain(),
        lambda: model.coarser().block_means_,
        lambda: model.finer().row_labels_,
        lambda: model.explain(top=2),
        lambda: (model.rows_, model.columns_, model.get_feature_names_out(), repr(model)),
    ]
    if report is not None:
        asked.append(lambda: write_report(report, model, X))
    for ask in asked if isinstance(model, pyrocco.ROCCO) else asked[10:]:
        try:
            ask()
        except (ValueError, AttributeError, TypeError) as error:
            # Models of other classes have no such method, and no report.
            if isinstance(model, pyrocco.ROCCO) and not isinstance(error, ValueError):
                raise


def main(path, first, count):
    """Try `count` changes, each with the number of the change as its seed."""
    warnings.simplefilter("ignore")
    X = np.load(f"{path}.npy")
    loaded = 0
    with tempfile.TemporaryDirectory() as folder:
        changed, report = Path(folder) / "a.pyrocco", Path(folder) / "a.html"
        for number in range(first, first + count):
            sys.stdout.write(f"change {number}\n")
            sys.stdout.flush()
            signal.alarm(SECONDS)  # ends the process if it hangs
            rng = random.Random(number)
            text, arrays = take_apart(path)
            for _ in range(rng.choice([1, 1, 1, 2])):
                rng.choice([change_text, change_array])(text, arrays, rng)
            put_together(changed, with_digest(text, arrays), arrays)
            try:
                model = pyrocco.load(changed)
            except ModelFileError as error:
                if "\n" in str(error):
                    raise
                continue
            loaded += 1
            use(model, X, report if loaded % 5 == 0 else None)  # a report takes long
    sys.stdout.write(f"loaded {loaded}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
