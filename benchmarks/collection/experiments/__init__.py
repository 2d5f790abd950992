"""The experiments: the real sets and the planted matrices."""
