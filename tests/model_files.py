"""Take model files apart and put them together again, changed, with a digest that fits."""

import hashlib
import io
import json
import zipfile
from contextlib import suppress

import numpy as np

# A fixed date, so that the same content gives the same bytes.
_DATE = (2020, 1, 1, 0, 0, 0)


def take_apart(path):
    """The JSON text of a model file, and the bytes of its arrays by name."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(parts.pop("model.json")), parts


def put_together(path, text, arrays, method=zipfile.ZIP_DEFLATED):
    """Write a model file from what `take_apart` returned."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in arrays.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data)
        archive.writestr(zipfile.ZipInfo("model.json", _DATE), json.dumps(text), method)


def with_digest(text, arrays):
    """The text with the digest of what it holds, as somebody who edits a file could compute it."""
    used = sorted({name for name in names_in(text["content"]) if name in arrays})
    hashes = [(name, hashlib.sha256(arrays[name]).hexdigest()) for name in used]
    data = json.dumps([text["content"], hashes]).encode()
    return {**text, "sha256": hashlib.sha256(data).hexdigest()}


def names_in(value):
    """Names of the arrays that a packed value refers to."""
    if isinstance(value, list):
        return [name for part in value for name in names_in(part)]
    if not isinstance(value, dict):
        return []
    own = [value["$array"]] if isinstance(value.get("$array"), str) else []
    return own + names_in(list(value.values()))


def rewrite(path, change):
    """Change the text of a model file."""
    text, arrays = take_apart(path)
    change(text)
    put_together(path, with_digest(text, arrays), arrays)


def repair_digest(path):
    """Compute the digest of an edited file anew, if its text can still be read."""
    with suppress(AttributeError, KeyError, TypeError, ValueError, RecursionError):
        rewrite(path, lambda text: None)


def place_of(text, *keys):
    """A part of the content, and the key in it: records and dicts are entered by name."""
    part = text["content"]
    for key in keys[:-1]:
        part = part[key]
        while isinstance(part, dict) and set(part) & {"$record", "$tuple"}:
            part = part["$record"][1] if "$record" in part else part["$tuple"]
    return part, keys[-1]


def set_value(path, keys, value):
    """Set a value in the content of a model file."""

    def change(text):
        part, key = place_of(text, *keys)
        part[key] = value

    rewrite(path, change)


def change_array(path, keys, change):
    """Replace an array of a model file by a function of it."""
    text, arrays = take_apart(path)
    part, key = place_of(text, *keys)
    name = part[key]["$array"]
    arrays[name] = npy(change(np.load(io.BytesIO(arrays[name]))))
    put_together(path, with_digest(text, arrays), arrays)


def npy(array):
    """The bytes of an npy file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
