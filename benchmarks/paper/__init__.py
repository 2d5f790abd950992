"""The experiments of the ROCCO paper, run again: ``python -m benchmarks.paper --help``."""

from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
