"""Twenty training steps of TOCCA-W, TOCCA-SD and TOCCA-ND in float64 NumPy, written to tests/data/train_reference.json.

An independent second implementation (forward and hand-derived backward pass) that the C++ training loop is compared
with, step by step. `--check` compares its own gradients with central differences instead of writing.

What is in the file, beyond what the names say: matrices are lists of rows (a bias is 1 x out); `presence` is 1 where
a sample has the view (the row of X is zero where not); labels are -1 where missing; the loss terms are unweighted and
summed over views, `total` is the weighted sum with weight decay; `first_gradient` is that of `total`; `projections` of
a sample without the view are zero; statistics are bias-corrected, and `whitening.covariance` is without epsilon (with
covariance = "batch" the whitening statistics are those of the last batch).
"""

import argparse
import json
from pathlib import Path

import numpy as np

BATCH_NORM_EPSILON = 1e-3
BETA1, BETA2, NADAM_EPSILON, SCHEDULE_DECAY = 0.9, 0.999, 1e-7, 0.004
SAMPLES, CLASSES, COMPONENTS, STEPS = 24, 3, 3, 20
KINK_MARGIN = 1e-6


def blend(state, name, batch_value, momentum):
    """Adds a batch to an exponential mean, kept as (sum, normaliser); returns the mean and the batch's share in it."""
    total, norm = state.get(name, (0.0, 0.0))
    total, norm = momentum * total + (1 - momentum) * batch_value, momentum * norm + (1 - momentum)
    state[name] = (total, norm)
    return total / norm, (1 - momentum) / norm


def current(state, name):
    total, norm = state[name]
    return total / norm


def batch_norm(y, state, name, momentum):
    mean, var = y.mean(0), y.var(0)
    blend(state, name + ".mean", mean, momentum)
    blend(state, name + ".variance", y.var(0, ddof=1), momentum)
    inv_std = 1 / np.sqrt(var + BATCH_NORM_EPSILON)
    xhat = (y - mean) * inv_std
    return xhat, (xhat, inv_std)


def batch_norm_backward(cache, g):
    xhat, inv_std = cache
    return inv_std * (g - g.mean(0) - xhat * (g * xhat).mean(0))


def inverse_sqrt(covariance, epsilon):
    values, vectors = np.linalg.eigh(covariance + epsilon * np.eye(len(covariance)))
    return (vectors / np.sqrt(values)) @ vectors.T, values, vectors


def whiten(a, state, name, case):
    """B = (A - mu) U; with covariance = "batch" the statistics are this batch's alone, that is momentum 0."""
    momentum = case["momentum"] if case["covariance"] == "running" else 0.0
    mean, share = blend(state, name + ".mean", a.mean(0), momentum)
    centred = a - mean
    covariance, _ = blend(state, name + ".covariance", centred.T @ centred / (len(a) - 1), momentum)
    u, values, vectors = inverse_sqrt(covariance, case["whitening_epsilon"])
    return centred @ u, (centred, u, values, vectors, share)


def whiten_backward(cache, g):
    centred, u, values, vectors, share = cache
    root = np.sqrt(values)
    kernel = -1 / (np.outer(root, root) * (root[:, None] + root[None, :]))
    du = centred.T @ g
    dcov = vectors @ (kernel * (vectors.T @ ((du + du.T) / 2) @ vectors)) @ vectors.T
    dcentred = g @ u + share * 2 / (len(g) - 1) * centred @ dcov  # through U: the current batch's share only
    return dcentred - share * dcentred.mean(0)


def decorrelation(a, state, name, momentum, margins):
    """Soft decorrelation; returns the loss and its gradient."""
    total, norm = state.get(name, (0.0, 0.0))
    total, norm = momentum * total + a.T @ a / (len(a) - 1), momentum * norm + 1
    state[name] = (total, norm)
    off = total / norm
    margins.append(np.abs(off[~np.eye(len(off), dtype=bool)]).min())
    off = off - np.diag(np.diag(off))
    return np.abs(off).sum(), 2 * a @ np.sign(off) / ((len(a) - 1) * norm)


def cross_entropy(logits, labels):
    """Mean over the labelled rows; returns the loss and its gradient."""
    known = labels >= 0
    grad = np.zeros_like(logits)
    if not known.any():
        return 0.0, grad
    shifted = logits[known] - logits[known].max(1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    target = np.eye(logits.shape[1])[labels[known]]
    grad[known] = (np.exp(log_p) - target) / known.sum()
    return -(log_p * target).sum() / known.sum(), grad


def agreement(z, rows):
    """Mean squared distance over all (pair of views, sample with both); z[v] has the samples rows[v] of the batch."""
    grads, loss, count = {v: np.zeros_like(z[v]) for v in z}, 0.0, 0
    for u in z:
        for v in (w for w in z if w > u):
            both, at_u, at_v = np.intersect1d(rows[u], rows[v], return_indices=True)
            diff = z[u][at_u] - z[v][at_v]
            loss, count = loss + (diff**2).sum(), count + len(both)
            grads[u][at_u] += 2 * diff
            grads[v][at_v] -= 2 * diff
    scale = 1 / count if count else 0.0
    return loss * scale, {v: g * scale for v, g in grads.items()}


def encode(x, params, state, view, case, margins):
    h, caches = x, []
    for layer in range(case["hidden_layers"]):
        name = f"view{view}.hidden{layer}"
        y = h @ params[name + ".weight"] + params[name + ".bias"]
        margins.append(np.abs(y).min())
        xhat, norm = batch_norm(np.maximum(y, 0), state, name, case["momentum"])
        caches.append((h, y > 0, norm))
        h = xhat * params[name + ".scale"] + params[name + ".shift"]
    name = f"view{view}.output"
    a, norm = batch_norm(h @ params[name + ".weight"], state, name, case["momentum"])
    return a, (caches, h, norm)


def encode_backward(cache, g, params, grads, view):
    caches, h, norm = cache
    name = f"view{view}.output"
    g = batch_norm_backward(norm, g)
    grads[name + ".weight"] += h.T @ g
    g = g @ params[name + ".weight"].T
    for layer in reversed(range(len(caches))):
        name = f"view{view}.hidden{layer}"
        x, active, norm = caches[layer]
        grads[name + ".scale"] += (g * norm[0]).sum(0, keepdims=True)
        grads[name + ".shift"] += g.sum(0, keepdims=True)
        g = batch_norm_backward(norm, g * params[name + ".scale"]) * active
        grads[name + ".weight"] += x.T @ g
        grads[name + ".bias"] += g.sum(0, keepdims=True)
        g = g @ params[name + ".weight"].T


def batch_norm_inference(y, state, name):
    return (y - current(state, name + ".mean")) / np.sqrt(current(state, name + ".variance") + BATCH_NORM_EPSILON)


def project(view, params, state, case):
    """Inference with running statistics; zero rows where the view is missing."""
    present = case["presence"][view]
    h = case["X"][view][present]
    for layer in range(case["hidden_layers"]):
        name = f"view{view}.hidden{layer}"
        y = np.maximum(h @ params[name + ".weight"] + params[name + ".bias"], 0)
        h = batch_norm_inference(y, state, name) * params[name + ".scale"] + params[name + ".shift"]
    name = f"view{view}.output"
    z = batch_norm_inference(h @ params[name + ".weight"], state, name)
    if case["decorrelation"] == "whiten":
        covariance = current(state, f"view{view}.whitening.covariance")
        u, _, _ = inverse_sqrt(covariance, case["whitening_epsilon"])
        z = (z - current(state, f"view{view}.whitening.mean")) @ u
    out = np.zeros((len(present), z.shape[1]))
    out[present] = z
    return out


def loss_and_gradient(params, state, batch, case, margins):
    """Loss terms, gradient of the total, and the statistics after the step (`state` itself is left alone)."""
    state = dict(state)
    grads = {name: np.zeros_like(p) for name, p in params.items()}
    terms = dict(task=0.0, agreement=0.0, decorrelation=0.0)
    batch = np.asarray(batch)
    rows, a, z, encoders, whiteners = {}, {}, {}, {}, {}
    for v, (x, present) in enumerate(zip(case["X"], case["presence"])):
        samples = batch[present[batch]]
        if len(samples) < 2:  # no variance from fewer: the view sits this step out
            continue
        rows[v] = samples
        a[v], encoders[v] = encode(x[samples], params, state, v, case, margins)
        z[v] = a[v]
        if case["decorrelation"] == "whiten":
            z[v], whiteners[v] = whiten(a[v], state, f"view{v}.whitening", case)

    terms["agreement"], dz = agreement(z, rows)
    for v in z:
        task, dlogits = cross_entropy(z[v] @ params["head.weight"] + params["head.bias"], case["labels"][rows[v]])
        terms["task"] += task
        grads["head.weight"] += z[v].T @ dlogits
        grads["head.bias"] += dlogits.sum(0, keepdims=True)
        g = case["agreement_weight"] * dz[v] + dlogits @ params["head.weight"].T
        if case["decorrelation"] == "whiten":
            g = whiten_backward(whiteners[v], g)
        if case["decorrelation"] == "soft":
            loss, da = decorrelation(a[v], state, f"view{v}.decorrelation", case["momentum"], margins)
            terms["decorrelation"] += loss
            g = g + case["decorrelation_weight"] * da
        encode_backward(encoders[v], g, params, grads, v)

    decay = add_weight_decay(params, grads, case["weight_decay"])
    terms["total"] = (terms["task"] + case["agreement_weight"] * terms["agreement"]
                      + case["decorrelation_weight"] * terms["decorrelation"] + decay)
    return terms, grads, state


def add_weight_decay(params, grads, weight):
    loss = 0.0
    for name in (n for n in params if n.endswith(".weight")):
        loss += weight * (params[name] ** 2).sum()
        grads[name] += 2 * weight * params[name]
    return loss


class Nadam:
    def __init__(self, params, learning_rate):
        self.learning_rate, self.step, self.product = learning_rate, 0, 1.0
        self.m = {name: np.zeros_like(p) for name, p in params.items()}
        self.v = {name: np.zeros_like(p) for name, p in params.items()}

    def update(self, params, grads):
        self.step += 1
        now, after = (BETA1 * (1 - 0.5 * 0.96 ** (SCHEDULE_DECAY * t)) for t in (self.step, self.step + 1))
        self.product *= now
        ahead = self.product * after
        for name, g in grads.items():
            self.m[name] = BETA1 * self.m[name] + (1 - BETA1) * g
            self.v[name] = BETA2 * self.v[name] + (1 - BETA2) * g * g
            scale = np.sqrt(self.v[name] / (1 - BETA2**self.step)) + NADAM_EPSILON
            direction = (1 - now) / (1 - self.product) * g + after / (1 - ahead) * self.m[name]
            params[name] = params[name] - self.learning_rate * direction / scale


def train(case, params, visit=None):
    """All steps; returns parameters, statistics, the loss terms of every step and the first gradient."""
    params, state, steps, first, margins = dict(params), {}, [], None, []
    optimiser = Nadam(params, case["learning_rate"])
    for batch in case["batches"]:
        if visit:
            visit(params, state, batch)
        terms, grads, state = loss_and_gradient(params, state, batch, case, margins)
        first = first or grads
        steps.append(terms)
        optimiser.update(params, grads)
    if margins:
        assert min(margins) > KINK_MARGIN, f"{case['name']}: a kink at distance {min(margins):.1e}; take another seed"
    return params, state, steps, first


def initial_parameters(rng, case):
    """Glorot-uniform weights; the rest is moved off its usual 0 or 1 so that a forgotten term shows."""
    params = {}

    def dense(name, rows, columns):
        bound = np.sqrt(6 / (rows + columns))
        params[name + ".weight"] = rng.uniform(-bound, bound, (rows, columns))

    for v, x in enumerate(case["X"]):
        width = x.shape[1]
        for layer in range(case["hidden_layers"]):
            name = f"view{v}.hidden{layer}"
            dense(name, width, case["hidden_size"])
            width = case["hidden_size"]
            params[name + ".bias"] = 0.1 * rng.standard_normal((1, width))
            params[name + ".scale"] = 1 + 0.1 * rng.standard_normal((1, width))
            params[name + ".shift"] = 0.1 * rng.standard_normal((1, width))
        dense(f"view{v}.output", width, case["n_components"])
    dense("head", case["n_components"], case["classes"])
    params["head.bias"] = 0.1 * rng.standard_normal((1, case["classes"]))
    return params


def shuffled_batches(rng, size):
    order = np.concatenate([rng.permutation(SAMPLES) for _ in range(-(-STEPS * size // SAMPLES))])
    return [order[i * size:(i + 1) * size] for i in range(STEPS)]


def drop_views_and_labels(rng, labels, views):
    """About 25 % of views and 30 % of labels. Samples 0-2 have only view 0, and 3-6 have no label."""
    presence = [rng.random(SAMPLES) > 0.2 for _ in range(views)]
    for v, present in enumerate(presence):
        present[:3] = v == 0
        present[3:8] = True
    presence[0][~np.any(presence, axis=0)] = True
    labels = np.where(rng.random(SAMPLES) < 0.2, -1, labels)
    labels[3:7] = -1
    return presence, labels


def awkward_batches(batches):
    """Batches where something is absent: all labels, all but one view, all but one sample of views 1 and 2."""
    batches[5] = np.array([3, 4, 5, 6])
    batches[9] = np.array([2, 0, 1])
    batches[13] = np.array([1, 7, 0, 2])
    return batches


def make_case(rng, name, decorrelation="whiten", covariance="running", dims=(5, 4), missing=False, hidden_layers=2,
              batch_size=8):
    labels = rng.integers(CLASSES, size=SAMPLES)
    shared = np.eye(CLASSES)[labels] + 0.7 * rng.standard_normal((SAMPLES, CLASSES))
    X = [shared @ rng.standard_normal((CLASSES, d)) + 0.5 * rng.standard_normal((SAMPLES, d)) for d in dims]
    presence, batches = [np.ones(SAMPLES, bool) for _ in dims], shuffled_batches(rng, batch_size)
    if missing:
        presence, labels = drop_views_and_labels(rng, labels, len(dims))
        X = [np.where(p[:, None], x, 0.0) for x, p in zip(X, presence)]
        batches = awkward_batches(batches)
    return dict(name=name, decorrelation=decorrelation, covariance=covariance, momentum=0.9, whitening_epsilon=1e-3,
                agreement_weight=0.5, decorrelation_weight=0.1, weight_decay=1e-3, learning_rate=0.01,
                dims=list(dims), hidden_layers=hidden_layers, hidden_size=6, n_components=COMPONENTS, classes=CLASSES,
                batch_size=batch_size, X=X, presence=presence, labels=labels, batches=batches)


def make_cases(rng):
    three = dict(dims=(5, 4, 3), missing=True)
    return [make_case(rng, "whiten"),
            make_case(rng, "whiten_batch_covariance", covariance="batch"),
            make_case(rng, "soft", "soft"),
            make_case(rng, "none", "none"),
            make_case(rng, "whiten_missing", **three),
            make_case(rng, "soft_missing", "soft", **three),
            make_case(rng, "none_missing", "none", **three),
            make_case(rng, "whiten_linear", hidden_layers=0),
            make_case(rng, "whiten_batch_of_two", batch_size=2)]


def plain(value):
    """NumPy to JSON: booleans become 0 and 1."""
    if isinstance(value, np.ndarray):
        return (value.astype(int) if value.dtype == bool else value).tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def solved(case, params):
    final, state, steps, first = train(case, params)
    used = [name for name in state if "decorrelation" not in name]  # by inference
    return plain(dict(case, initial_parameters=params, steps=steps, first_gradient=first, final_parameters=final,
                      statistics={name: np.atleast_2d(current(state, name)) for name in used},
                      projections=[project(v, final, state, case) for v in range(len(case["X"]))]))


def check_gradients(case, params, rng):
    """The largest error of a random entry of each gradient at every step, against central differences."""
    worst = 0.0

    def visit(params, state, batch):
        nonlocal worst
        _, grads, _ = loss_and_gradient(params, state, batch, case, [])
        for name in params:
            at = tuple(rng.integers(s) for s in params[name].shape)
            totals = []
            for step in (1e-6, -1e-6):
                moved = dict(params, **{name: params[name].copy()})
                moved[name][at] += step
                totals.append(loss_and_gradient(moved, state, batch, case, [])[0]["total"])
            numeric = (totals[0] - totals[1]) / 2e-6
            worst = max(worst, abs(numeric - grads[name][at]) / (1 + abs(numeric)))

    train(case, params, visit)
    return worst


def check_stability(case, params, rng):
    """How far the end moves when the start moves by 1e-12: the tolerance that comparing two programs can have."""
    moved = {name: p + 1e-12 * rng.standard_normal(p.shape) for name, p in params.items()}
    a, b = train(case, params)[0], train(case, moved)[0]
    return max(np.abs(a[name] - b[name]).max() for name in a)


def main():
    default = Path(__file__).resolve().parent.parent / "tests" / "data" / "train_reference.json"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=default)
    parser.add_argument("--check", action="store_true", help="check the gradients instead of writing the file")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    problems = [(case, initial_parameters(rng, case)) for case in make_cases(rng)]
    if args.check:
        for case, params in problems:
            error, drift = check_gradients(case, params, rng), check_stability(case, params, rng)
            print(f"{case['name']:26s} gradient error {error:.1e}   end moves by {drift:.1e} for 1e-12 at the start")
            assert error < 1e-6 and drift < 1e-8, case["name"]
        return
    constants = dict(batch_norm_epsilon=BATCH_NORM_EPSILON, beta1=BETA1, beta2=BETA2, nadam_epsilon=NADAM_EPSILON,
                     schedule_decay=SCHEDULE_DECAY)
    document = dict(seed=args.seed, constants=constants, cases=[solved(*problem) for problem in problems])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(document) + "\n")
    print(f"{args.out}: {len(problems)} cases, {args.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
