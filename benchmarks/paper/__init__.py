"""The experiments of the ROCCO paper, run again: ``python -m benchmarks.paper --help``."""
