"""Reproduction of the experiments of the ROCCO paper: ``python -m benchmarks.paper --help``."""

from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
