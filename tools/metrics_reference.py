"""Golden values for the figures of merit, k-means and assignment, from programs other than this one.

Usage: python3 tools/metrics_reference.py [--seed 11] [--out tests/data/metrics_reference.json]
Needs numpy, scipy, scikit-learn, lifelines and scikit-survival. Matrices are lists of rows; rows are samples (n x d).
Risks, times and scores are rounded so that there are ties. -1 is a missing event, flag or class; what is missing is
taken out before the other programs see it.
"""
import argparse
import json

import lifelines.utils
import numpy as np
import scipy.optimize
import scipy.stats
import sklearn.metrics as metrics
import sksurv.metrics
from sklearn.cluster import KMeans

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=11)
parser.add_argument("--out", default="tests/data/metrics_reference.json")
arguments = parser.parse_args()
rng = np.random.default_rng(arguments.seed)
cases = {}


def with_missing(values, share):
    return np.where(rng.random(len(values)) < share, -1, values)


# Numbers: good predictions, and worse ones than the mean.
truth = rng.standard_normal(20) * 3 + 5
fits = []
for predicted in (truth + rng.standard_normal(20), rng.standard_normal(20)):
    fits.append(dict(predicted=predicted.tolist(), r_squared=metrics.r2_score(truth, predicted),
                     root_mean_squared_error=metrics.root_mean_squared_error(truth, predicted)))
cases["regression"] = dict(truth=truth.tolist(), fits=fits)

# Survival times: without ties, and with many in times and risks.
for name, time_digits, risk_digits in (("distinct", 12, 12), ("tied", 0, 1)):
    risk = np.round(rng.standard_normal(40), risk_digits)
    times = np.round(4 * np.exp(-0.7 * risk + 0.6 * rng.standard_normal(40)), time_digits)
    events = with_missing(rng.integers(0, 2, 40), 0.1)
    known = events >= 0
    harrell = lifelines.utils.concordance_index(times[known], -risk[known], events[known])
    other = sksurv.metrics.concordance_index_censored(events[known] == 1, times[known], risk[known], tied_tol=0)[0]
    assert abs(harrell - other) < 1e-12
    cases[f"survival_{name}"] = dict(risk=risk.tolist(), times=times.tolist(), events=events.tolist(),
                                     concordance_index=harrell)

# Properties, one by one: scores without and with ties.
for name, digits in (("distinct", 12), ("tied", 0)):
    flags = with_missing(rng.integers(0, 2, 40), 0.1)
    scores = np.round(flags + 1.5 * rng.standard_normal(40), digits)
    known = flags >= 0
    cases[f"ranking_{name}"] = dict(scores=scores.tolist(), flags=flags.tolist(),
                                    area_under_roc=metrics.roc_auc_score(flags[known], scores[known]),
                                    average_precision=metrics.average_precision_score(flags[known], scores[known]))
targets = rng.integers(0, 2, (25, 3))
scores = np.round(targets + rng.standard_normal((25, 3)), 1)
cases["ranking_multilabel"] = dict(scores=scores.tolist(), targets=targets.tolist(),
                                   area_under_roc=metrics.roc_auc_score(targets, scores, average="macro"),
                                   average_precision=metrics.average_precision_score(targets, scores, average="macro"))

# Clusters: fewer, as many, and more than there are classes.
truth = with_missing(rng.integers(0, 4, 60), 0.1)
partitions = []
for count in (1, 3, 4, 7):
    clusters = np.where(rng.random(60) < 0.6, np.abs(truth) * 3 % count, rng.integers(0, count, 60))
    a, b = truth[truth >= 0], clusters[truth >= 0]
    table = metrics.cluster.contingency_matrix(b, a)
    best = scipy.optimize.linear_sum_assignment(table, maximize=True)
    partitions.append(dict(clusters=clusters.tolist(),
                           normalized_mutual_information=metrics.normalized_mutual_info_score(a, b),
                           adjusted_rand_index=metrics.adjusted_rand_score(a, b),
                           clustering_accuracy=int(table[best].sum()) / len(a)))
cases["clustering"] = dict(truth=truth.tolist(), partitions=partitions)

# Retrieval.
queries = rng.standard_normal((30, 4))
answers = queries * rng.uniform(0.5, 2, (30, 1)) + 0.9 * rng.standard_normal((30, 4))
cosines = metrics.pairwise.cosine_similarity(queries, answers)
ranks = np.diag(scipy.stats.rankdata(-cosines, axis=1))
recalls = {f"recall{k}": metrics.top_k_accuracy_score(np.arange(30), cosines, k=k) for k in (1, 5, 10)}
cases["retrieval"] = dict(queries=queries.tolist(), answers=answers.tolist(), ranks=ranks.tolist(), **recalls,
                          median_rank=np.median(ranks), mean_reciprocal_rank=np.mean(1 / ranks))

# Assignment: square, wide and tall.
for name, shape in (("square", (6, 6)), ("wide", (4, 9)), ("tall", (8, 5))):
    cost = rng.standard_normal(shape)
    rows, columns = scipy.optimize.linear_sum_assignment(cost)
    column_of = np.full(shape[0], -1)
    column_of[rows] = columns
    cases[f"assignment_{name}"] = dict(cost=cost.tolist(), column_of=column_of.tolist())

# k-means from given centres, to the end.
x = rng.standard_normal((40, 3)) + 2 * rng.standard_normal((4, 3))[rng.integers(0, 4, 40)]
fitted = KMeans(4, init=x[:4], n_init=1, tol=0, max_iter=1000, algorithm="lloyd").fit(x)
cases["kmeans"] = dict(x=x.tolist(), labels=fitted.labels_.tolist(), centres=fitted.cluster_centers_.tolist(),
                       inertia=fitted.inertia_)

with open(arguments.out, "w", encoding="utf-8") as out:
    json.dump(dict(seed=arguments.seed, cases=cases), out)
