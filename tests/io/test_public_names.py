"""Names of pyrocco.io: former ones still work, and the errors load no other library."""

import subprocess
import sys

import pytest

import pyrocco.io


@pytest.mark.parametrize(
    ("former", "name"),
    [
        ("Shards", "PartitionedMatrix"),
        ("is_sharded", "is_partitioned"),
        ("open_shards", "open_partitioned"),
    ],
)
def test_former_names_work_and_warn(former, name):
    with pytest.warns(FutureWarning, match=f"{former} is deprecated .* Use pyrocco.io.{name}"):
        assert getattr(pyrocco.io, former) is getattr(pyrocco.io, name)


def test_unknown_names_are_errors():
    with pytest.raises(AttributeError, match="has no attribute 'read_everything'"):
        pyrocco.io.read_everything  # noqa: B018


def test_errors_are_imported_without_other_libraries():
    # The package itself still loads libraries, so a bare module stands in for it.
    code = (
        "import sys, types, importlib.util as u\n"
        "package = types.ModuleType('pyrocco')\n"
        "package.__path__ = [u.find_spec('pyrocco').submodule_search_locations[0]]\n"
        "sys.modules['pyrocco'] = package\n"
        "from pyrocco.io import MatrixError\n"
        "print({'numpy', 'pandas', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
