"""Algorithm 1 straight from the paper, slow on purpose: dense matrices, Kronecker solve.

Errata applied (docs/how-it-works.md): B uses beta, the right-hand side is 2 vec(X), and the
Kronecker factors stand in the order that fits a column-stacked vec.
"""

import numpy as np


def laplacian(n, edges, weights):
    matrix = np.zeros((n, n))
    for (i, j), w in zip(edges, weights, strict=True):
        e = np.zeros(n)
        e[i], e[j] = 1, -1
        matrix += w * np.outer(e, e)
    return matrix


def solve_kronecker(A, B, X):
    """AU + UB = 2X (Eq. 11) as C vec(U) = 2 vec(X) (Eq. 12)."""
    n, p = X.shape
    C = np.kron(np.eye(p), A) + np.kron(B, np.eye(n))
    return np.linalg.solve(C, 2 * X.ravel(order="F")).reshape((n, p), order="F")


def line_process(U, edges, mu):
    lengths = np.array([np.sum((U[i] - U[j]) ** 2) for i, j in edges])
    return (mu / (mu + lengths)) ** 2, lengths


def representation(X, row_edges, row_weights, column_edges, column_weights, mu, n_iter):
    """Lines 2 to 8; returns U and the objective (Eq. 4) before every solve."""
    n, p = X.shape
    mu_p, mu_f = mu
    U, norm = X.copy(), np.linalg.norm(X, 2)
    alpha = norm / np.linalg.norm(laplacian(n, row_edges, row_weights), 2)
    beta = norm / np.linalg.norm(laplacian(p, column_edges, column_weights), 2)
    objectives = []
    for iteration in range(1, n_iter + 1):
        L_p, d_p = line_process(U, row_edges, mu_p)
        L_f, d_f = line_process(U.T, column_edges, mu_f)
        P = laplacian(n, row_edges, row_weights * L_p)
        Q = laplacian(p, column_edges, column_weights * L_f)
        objectives.append(
            np.sum((X - U) ** 2)
            + alpha / 2 * np.sum(row_weights * mu_p * d_p / (mu_p + d_p))
            + beta / 2 * np.sum(column_weights * mu_f * d_f / (mu_f + d_f))
        )
        U = solve_kronecker(np.eye(n) + alpha * P, np.eye(p) + beta * Q, X)
        if iteration % 4 == 0:
            mu_p, mu_f = mu_p / 2, mu_f / 2
            alpha, beta = norm / np.linalg.norm(P, 2), norm / np.linalg.norm(Q, 2)
    return U, objectives
