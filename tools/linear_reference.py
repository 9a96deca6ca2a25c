"""Golden values for the linear methods of several views and for the classifiers, in NumPy, SciPy and scikit-learn.

Usage: python3 tools/linear_reference.py [--seed 5] [--out tests/data/linear_reference.json]
Needs numpy, scipy and scikit-learn. Matrices are lists of rows; rows are samples (n x d). The methods of several views
are solved here as their papers state them, with whole d x d matrices and a general solver; the library takes other ways.
"""
import argparse
import json

import numpy as np
import scipy.linalg
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=5)
parser.add_argument("--out", default="tests/data/linear_reference.json")
arguments = parser.parse_args()
rng = np.random.default_rng(arguments.seed)
cases = {}


def correlated(n, widths):
    hidden = rng.standard_normal((n, 3))
    return [hidden @ rng.standard_normal((3, d)) + rng.standard_normal((n, d)) for d in widths]


def centred(x):
    return x - x.mean(0)


def offsets(views):
    return np.cumsum([0] + [x.shape[1] for x in views])


def block_diagonal_covariance(views, ridges):
    n = len(views[0])
    return scipy.linalg.block_diag(
        *[centred(x).T @ centred(x) / (n - 1) + r * np.eye(x.shape[1]) for x, r in zip(views, ridges)])


def per_view(w, views):
    """Columns of w cut into views, the largest entry of each column of the first view's positive."""
    at = offsets(views)
    top = w[np.abs(w[:at[1]]).argmax(0), np.arange(w.shape[1])]
    w = w * np.sign(top)
    return {str(v): w[a:b].tolist() for v, (a, b) in enumerate(zip(at, at[1:]))}


def descending(a, b, k):
    values, vectors = scipy.linalg.eigh(a, b)
    return values[::-1][:k], vectors[:, ::-1][:, :k]  # vectors' b vectors = 1


def mcca(views, ridges, k):
    x = centred(np.hstack(views))
    d = block_diagonal_covariance(views, ridges)
    c = x.T @ x / (len(x) - 1)
    for a, b, r in zip(offsets(views), offsets(views)[1:], ridges):
        c[a:b, a:b] += r * np.eye(b - a)
    values, w = descending(c, d, k)
    return values, w * np.sqrt(len(views))


def gcca(views, ridges, k):
    n = len(views[0])
    solves = [np.linalg.solve(centred(x).T @ centred(x) + (n - 1) * r * np.eye(x.shape[1]), centred(x).T)
              for x, r in zip(views, ridges)]
    values, g = descending(sum(centred(x) @ s for x, s in zip(views, solves)), np.eye(n), k)
    return values, np.vstack([s @ g * np.sqrt(n - 1) for s in solves])


def mvda(views, y, ridges, k):
    """Sums over classes i, views j and samples k, with a sample of view j lying in the coordinates of view j only."""
    at, n = offsets(views), len(y)
    rows, classes = [], []
    for a, b, x in zip(at, at[1:], views):
        for row, label in zip(centred(x), y):
            rows.append(np.zeros(at[-1]))
            rows[-1][a:b] = row
            classes.append(label)
    rows, classes = np.array(rows), np.array(classes)
    within, between = np.zeros((at[-1], at[-1])), np.zeros((at[-1], at[-1]))
    for c in set(y):
        members = rows[classes == c]
        mean = members.mean(0)
        within += (members - mean).T @ (members - mean)
        between += len(members) * np.outer(mean - rows.mean(0), mean - rows.mean(0))
    within /= n - 1
    between /= n - 1
    within += np.diag(np.repeat(ridges, [x.shape[1] for x in views]))
    values, w = descending(between, within, k)
    total = np.einsum("ij,ik,kj->j", w, block_diagonal_covariance(views, ridges), w)
    return values, w * np.sqrt(len(views) / total)


def one_hot(y):
    return np.eye(max(y) + 1)[y]


def log_probabilities(model, x):
    return model.predict_log_proba(x).tolist()


# Several views: more samples than columns, and fewer (where the ridge makes d x d matrices regular).
y = rng.integers(0, 3, 40)
for name, n, widths, ridges in (("tall", 40, (5, 4, 6), (0, 0, 0)), ("wide", 9, (12, 7, 15), (0.5, 0.2, 1.0))):
    views, k = correlated(n, widths), 3
    case = dict(views={str(v): x.tolist() for v, x in enumerate(views)}, ridges=ridges, y=y[:n].tolist(), methods={})
    for method, (values, w) in dict(mcca=mcca(views, ridges, k), gcca=gcca(views, ridges, k),
                                    mvda=mvda(views, y[:n], ridges, 2)).items():
        case["methods"][method] = dict(eigenvalues=values.tolist(), weights=per_view(w, views))
    labelled = views + [one_hot(y[:n])[:, :2]]  # the third column follows from the others
    values, w = mcca(labelled, ridges + (0,), 2)
    case["methods"]["smvcca"] = dict(eigenvalues=values.tolist(), weights=per_view(w, labelled))
    cases[f"views_{name}"] = case

# Shrinkage.
for name, shape in (("tall", (30, 6)), ("wide", (8, 20))):
    x = rng.standard_normal(shape) * np.linspace(0.5, 3, shape[1]) + 4
    cases[f"ledoit_wolf_{name}"] = dict(x=x.tolist(), intensity=ledoit_wolf_shrinkage(x),
                                        mean_variance=np.mean(x.var(0)))

# Classifiers: log posteriors of LDA, decision values of logistic regression.
for name, n, d in (("tall", 60, 5), ("wide", 20, 30)):
    y = rng.integers(0, 3, n)
    x = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * 0.5 + one_hot(y) @ rng.standard_normal((3, d)) + 2
    within = np.vstack([centred(x[y == c]) for c in range(3)])
    analytic = ledoit_wolf_shrinkage(within, assume_centered=True)
    fits = []
    for shrinkage in (0.0, 0.3, 1.0) if n > d else (0.3, 1.0):
        fitted = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(x, y)
        fits.append(dict(shrinkage=shrinkage, log_posterior=log_probabilities(fitted, x)))
    fitted = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=analytic).fit(x, y)
    fits.append(dict(shrinkage=-1, log_posterior=log_probabilities(fitted, x)))
    cases[f"lda_{name}"] = dict(x=x.tolist(), y=y.tolist(), fits=fits)

y = rng.integers(0, 3, 50)
x = rng.standard_normal((50, 4)) + one_hot(y) @ rng.standard_normal((3, 4))
fits = []
for cost in (0.1, 2.0):
    binary = LogisticRegression(C=cost, solver="liblinear", tol=1e-10, max_iter=10000)
    fits.append(dict(cost=cost, scores=OneVsRestClassifier(binary).fit(x, y).decision_function(x).tolist()))
cases["logistic"] = dict(x=x.tolist(), y=y.tolist(), fits=fits)

with open(arguments.out, "w", encoding="utf-8") as out:
    json.dump(dict(seed=arguments.seed, cases=cases), out)
