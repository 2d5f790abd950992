"""A slow reference of convex biclustering: accelerated projected gradient on the dual."""

import numpy as np


def incidence(graph):
    E = np.zeros((graph.n_edges, graph.n_nodes))
    E[np.arange(graph.n_edges), graph.heads] = 1
    E[np.arange(graph.n_edges), graph.tails] = -1
    return E


def project(L, radii):
    lengths = np.linalg.norm(L, axis=1)
    return L * np.minimum(1, radii / np.maximum(lengths, 1e-300))[:, None]


def literal_solve(X, rows, columns, gamma, steps=20_000):
    """U = X - E_r' L_r - L_c' E_c at the best multipliers, ||l_e|| <= gamma w_e."""
    R, C = incidence(rows), incidence(columns)
    step = 1 / (np.linalg.norm(R, 2) ** 2 + np.linalg.norm(C, 2) ** 2)
    row_old = row = np.zeros((rows.n_edges, X.shape[1]))
    column_old = column = np.zeros((columns.n_edges, X.shape[0]))
    for k in range(steps):
        momentum = k / (k + 3)
        row_ahead = row + momentum * (row - row_old)
        column_ahead = column + momentum * (column - column_old)
        U = X - R.T @ row_ahead - (C.T @ column_ahead).T
        row_old, column_old = row, column
        row = project(row_ahead + step * R @ U, gamma * rows.weights)
        column = project(column_ahead + step * C @ U.T, gamma * columns.weights)
    return X - R.T @ row - (C.T @ column).T


def literal_solve_with_missing(X, rows, columns, gamma, rounds=150):
    """Fill missing values with U, solve, repeat."""
    missing = np.isnan(X)
    U = np.where(missing, np.nanmean(X), X)
    for _ in range(rounds):
        U = literal_solve(np.where(missing, U, X), rows, columns, gamma, steps=300)
    return U
