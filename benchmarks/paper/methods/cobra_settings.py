"""COBRA as the paper sets it: gamma by validation from 1e-3 to 1e3, ten neighbours."""

SETTINGS = {"n_neighbors": 10}
