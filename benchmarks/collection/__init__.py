"""Labelled matrices as they come, and planted ones: ``python -m benchmarks.collection --help``."""

from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
