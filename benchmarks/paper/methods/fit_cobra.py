"""Fit COBRA as the paper sets it: gamma by validation from 1e-3 to 1e3, ten neighbours."""

from pyrocco.estimators.cobra import COBRA


def fit_cobra(X, seed, gamma=None):
    return COBRA(gamma, n_neighbors=10, random_state=seed).fit(X)
