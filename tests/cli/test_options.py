"""Options of the commands, and how their texts are parsed."""

import inspect
from dataclasses import dataclass

import pytest
import typer

from pyrocco.cli.dask_cluster import parse_cluster
from pyrocco.cli.options import PrepareOptions, expand_groups, parse_n_clusters


@dataclass(frozen=True)
class Size:
    width: int = 3
    height: int = 4


def test_a_dataclass_of_options_becomes_one_parameter_per_field():
    areas = []

    def area(size: Size, unit: str = "m") -> None:
        areas.append((size.width * size.height, unit))

    command = expand_groups(area)
    assert list(inspect.signature(command).parameters) == ["width", "height", "unit"]
    command(width=5, unit="cm")
    assert areas == [(20, "cm")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("auto", None), ("4", 4), ("4,3", (4, 3)), ("4, auto", (4, None)), ("auto,3", (None, 3))],
)
def test_numbers_of_clusters(text, expected):
    assert parse_n_clusters(text) == expected


def test_clusters_of_processes():
    assert parse_cluster("local:4") == 4
    assert parse_cluster("local") >= 1
    assert parse_cluster("tcp://10.0.0.7:8786") == "tcp://10.0.0.7:8786"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "auto"),
        ({"prepare": "none"}, None),
        ({"prepare": "log1p, normalize"}, ["log1p", "normalize"]),
        ({"log1p": True, "normalize": True}, ["normalize", "log1p"]),
    ],
)
def test_preparations(options, expected):
    assert PrepareOptions(**options).chosen == expected


def test_a_flag_and_names_exclude_each_other():
    with pytest.raises(typer.BadParameter, match="write --prepare zscore"):
        _ = PrepareOptions(prepare="none", zscore=True).chosen
