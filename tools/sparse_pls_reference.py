"""Golden values for sparse PLS discriminant analysis of one and more views, in NumPy and scikit-learn.

Usage: python3 tools/sparse_pls_reference.py [--seed 3] [--out tests/data/sparse_pls_reference.json]
Needs numpy and scikit-learn. Written from Tenenhaus et al. 2014 and Singh et al. 2019 with whole, explicitly deflated
matrices, weights by a general inverse and regressions by a general solver; the library takes other ways. One view with
all columns is PLS regression, for which scikit-learn's is compared here.
"""
import argparse
import json

import numpy as np
from sklearn.cross_decomposition import PLSRegression

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=3)
parser.add_argument("--out", default="tests/data/sparse_pls_reference.json")
arguments = parser.parse_args()
rng = np.random.default_rng(arguments.seed)


def standardised(x):
    return (x - x.mean(0)) / x.std(0, ddof=1)


def views_of(y, widths, strength=1.0, hidden=3):
    """Columns that follow the class, columns that follow hidden variables common to all views, and noise."""
    common = rng.standard_normal((len(y), hidden))
    views = []
    for d in widths:
        means = rng.standard_normal((max(y) + 1, d)) * (rng.random(d) < 0.4)
        mixing = rng.standard_normal((hidden, d)) * (rng.random(d) < 0.5)
        views.append(standardised(strength * means[y] + common @ mixing + rng.standard_normal((len(y), d))))
    return views


def direction(g, keep):
    """The soft threshold that leaves `keep` entries is the magnitude of the next one."""
    order = np.argsort(-np.abs(g), kind="stable")
    threshold = abs(g[order[keep]]) if 0 < keep < len(g) else 0.0
    a = np.where(np.abs(g) > threshold, g - np.sign(g) * threshold, 0.0)
    return a / np.linalg.norm(a)


def pair_covariance(s, t):
    return np.cov(s, t)[0, 1]


slopes = dict(horst=lambda x: 1.0, centroid=lambda x: float(np.sign(x)), factorial=lambda x: 2 * x)
heights = dict(horst=lambda x: x, centroid=abs, factorial=lambda x: x * x)


def one_component(blocks, keep, links, scheme):
    """blocks: deflated views and, last, the classes. Loadings of all and the criterion."""
    stacked = np.hstack(blocks[:-1]).T @ blocks[-1]
    loadings = [None] * len(blocks)
    loadings[-1] = np.linalg.svd(stacked)[2][0]
    for v, x in enumerate(blocks[:-1]):
        loadings[v] = direction(x.T @ (blocks[-1] @ loadings[-1]), keep[v])
    for _ in range(20000):
        before = [a.copy() for a in loadings]
        for v, x in enumerate(blocks):
            variates = [b @ a for b, a in zip(blocks, loadings)]
            z = sum(links[v, w] * slopes[scheme](pair_covariance(variates[v], t)) * t
                    for w, t in enumerate(variates) if w != v)
            loadings[v] = direction(x.T @ z, keep[v])
        if max(np.abs(a - b).max() for a, b in zip(loadings, before)) < 1e-15:
            break
    else:
        raise RuntimeError("does not settle: choose another case")
    if loadings[0][np.abs(loadings[0]).argmax()] < 0:
        loadings = [-a for a in loadings]
    variates = [b @ a for b, a in zip(blocks, loadings)]
    criterion = sum(links[v, w] * heights[scheme](pair_covariance(variates[v], variates[w]))
                    for v in range(len(blocks)) for w in range(v))
    return loadings, criterion


def sparse_pls(views, y, components, keep, links, scheme):
    rows = [i for i, c in enumerate(y) if c >= 0]
    classes = sorted(set(y[i] for i in rows))
    indicators = np.array([[float(y[i] == c) for c in classes] for i in rows])
    count = len(views)
    all_links = np.ones((count + 1, count + 1))
    all_links[:count, :count] = links
    means = [x[rows].mean(0) for x in views]
    originals = [x[rows] - mean for x, mean in zip(views, means)]
    blocks = [x.copy() for x in originals] + [standardised(indicators)]
    loadings = [[] for _ in blocks]
    variates = [[] for _ in blocks]
    regressors = [[] for _ in originals]
    criteria = []
    for _ in range(components):
        found, criterion = one_component(blocks, list(keep) + [0], all_links, scheme)
        criteria.append(criterion)
        residuals = []
        for v, a in enumerate(found):
            t = blocks[v] @ a
            loadings[v].append(a)
            variates[v].append(t)
            if v == count:
                continue
            p = blocks[v].T @ t / (t @ t)
            regressors[v].append(p)
            blocks[v] = blocks[v] - np.outer(t, p)
            residuals.append(blocks[-1] - np.outer(t, t @ blocks[-1]) / (t @ t))
        blocks[-1] = np.mean(residuals, axis=0)
    columns = lambda vectors: np.array(vectors).T
    result = dict(classes=classes, objectives=criteria, outcome_loadings=columns(loadings[-1]),
                  outcome_variates=columns(variates[-1]), views=[])
    for v, x in enumerate(originals):
        a, p, t = columns(loadings[v]), columns(regressors[v]), columns(variates[v])
        weights = a @ np.linalg.inv(p.T @ a)
        on_variates = np.linalg.lstsq(t, indicators - indicators.mean(0), rcond=None)[0]
        predicted = (views[v] - means[v]) @ weights @ on_variates + indicators.mean(0)
        explained = [np.linalg.norm(np.outer(t[:, k], p[:, k])) ** 2 / np.linalg.norm(x) ** 2
                     for k in range(components)]
        agreement = [np.corrcoef(t[:, k], variates[-1][k])[0, 1] for k in range(components)]
        result["views"].append(dict(
            loadings=a, weights=weights, variates=t, coefficients=weights @ on_variates,
            intercept=indicators.mean(0) - means[v] @ weights @ on_variates, explained_variance=explained,
            outcome_correlations=agreement, predicted=predicted,
            predicted_class=[classes[c] for c in predicted.argmax(1)],
            selected=[np.flatnonzero(a[:, k]).tolist() for k in range(components)]))
    return result


def compare_with_scikit_learn(views, y, result):
    indicators = np.eye(max(y) + 1)[y]
    fitted = PLSRegression(len(result["objectives"]), scale=False, tol=1e-30, max_iter=20000)
    deviations = indicators.std(0, ddof=1)
    fitted.fit(views[0], indicators / deviations)
    signs = np.sign((fitted.x_weights_ * result["views"][0]["loadings"]).sum(0))
    for ours, theirs in ((result["views"][0]["loadings"], fitted.x_weights_ * signs),
                         (result["views"][0]["weights"], fitted.x_rotations_ * signs),
                         (result["views"][0]["coefficients"], fitted.coef_.T * deviations)):
        assert np.abs(ours - theirs).max() < 1e-8, "differs from scikit-learn"


def plain(value):
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


cases = {}


def add(name, y, widths, components, keep, design, scheme="horst", unlabelled=()):
    views = views_of(y, widths)
    y = [-1 if i in unlabelled else int(c) for i, c in enumerate(y)]
    links = np.full((len(widths), len(widths)), design) if np.isscalar(design) else np.array(design)
    result = sparse_pls(views, y, components, keep, links, scheme)
    if len(widths) == 1 and not any(keep):
        compare_with_scikit_learn(views, y, result)
    by_view = {str(v): plain(of_view) for v, of_view in enumerate(result.pop("views"))}
    cases[name] = dict(views={str(v): x.tolist() for v, x in enumerate(views)}, y=y, components=components, keep=keep,
                       links=links.tolist(), scheme=scheme, **plain(result), by_view=by_view)


three = rng.permutation(np.arange(24) % 3)
two = rng.permutation(np.arange(14) % 2)
four = rng.permutation(np.arange(30) % 4)
add("one_view", three, (7,), 3, (0,), 0.0)
add("one_view_wide", two, (40,), 2, (0,), 0.0)
add("one_view_sparse", three, (9,), 2, (4,), 0.0)
add("two_views", three, (6, 5), 2, (0, 0), 0.1)
add("two_views_sparse", three, (8, 12), 2, (3, 5), 0.1, unlabelled=(2, 11))
add("two_views_linked_wide", two, (30, 25), 2, (6, 4), 1.0)
add("three_views", four, (6, 9, 5), 3, (4, 3, 5), 0.1)
add("three_views_design_wide", two, (20, 16, 18), 3, (5, 0, 3), [[0, 0.9, 0.2], [0.9, 0, 0], [0.2, 0, 0]])
add("centroid", three, (6, 8), 2, (3, 4), 0.5, scheme="centroid")
add("factorial", three, (6, 8, 5), 2, (0, 4, 3), 0.5, scheme="factorial")

with open(arguments.out, "w", encoding="utf-8") as out:
    json.dump(dict(seed=arguments.seed, cases=cases), out)
