"""Benchmarks of pyrocco: the paper's experiments, speed, and quality."""
