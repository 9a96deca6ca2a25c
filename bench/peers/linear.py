#!/usr/bin/env python3
"""Linear CCA and the linear SVM with its search for a cost: `tocca fit`, scikit-learn and cca-zoo, in turns.

    python3 bench/peers/linear.py --tocca build/release/tocca --rounds 2
    python3 bench/peers/linear.py --tocca build/release/tocca --cases svm --svm-samples 50000 --rounds 1

    cca  `tocca fit --method cca`, 500 + 500 columns; cca_zoo.linear.CCA and sklearn.cross_decomposition.CCA
    svm  `tocca fit --method svm`, 50 columns and 10 classes; GridSearchCV of LinearSVC(dual=False) over the same 15
         costs in 5 folds, all processors

Ours is the time of the whole command: start, reading .npy files, standardising, fitting, writing the model. Theirs is
that of fit() alone, in a process that has imported everything and holds the data standardised in float64. The CCA peers
are timed with one thread and with all; the faster way counts. Before a ratio is formed the results must agree:
canonical correlations to 1e-6 (cca-zoo) and 1e-3 (scikit-learn, which iterates until weights change by less than 1e-6),
accuracy on 10,000 held-out samples to 0.002.

Needs numpy, scikit-learn and cca-zoo.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from processes import load, note, peer_environment, show

REPOSITORY = Path(__file__).resolve().parent.parent.parent
COLUMNS, COMPONENTS, LATENT = 500, 5, 8
CLASSES, SVM_COLUMNS, HELD_OUT = 10, 50, 10_000
COSTS = [2.0**k for k in range(-10, 5)]


def standardized(x):
    x = x.astype(np.float64)
    return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)


def write_cca(folder, samples):
    """Two views of a few common signals of falling strength, with noise."""
    rng = np.random.default_rng(1)
    common = rng.standard_normal((samples, LATENT)) * 0.8 ** np.arange(LATENT)
    for name in ("a", "b"):
        mixing = rng.standard_normal((LATENT, COLUMNS)) / 12
        x = common @ mixing + rng.standard_normal((samples, COLUMNS))
        np.save(folder / f"{name}.npy", (3 * x + 100).astype(np.float32))


def write_svm(folder, samples):
    """Overlapping clouds, one for each class, and as many more to test on."""
    rng = np.random.default_rng(2)
    centres = 0.45 * rng.standard_normal((CLASSES, SVM_COLUMNS))
    for name, count in (("x", samples), ("x_test", HELD_OUT)):
        y = rng.integers(0, CLASSES, count)
        np.save(folder / f"{name}.npy", (centres[y] + rng.standard_normal((count, SVM_COLUMNS))).astype(np.float32))
        np.save(folder / f"{name}_labels.npy", y)


def correlations(z1, z2):
    z1, z2 = standardized(z1), standardized(z2)
    return sorted((abs(float(a @ b)) / (len(z1) - 1) for a, b in zip(z1.T, z2.T)), reverse=True)


def timed(fit):
    start = time.perf_counter()
    fitted = fit()
    return fitted, time.perf_counter() - start


def peer_cca_zoo(folder, threads):
    from cca_zoo.linear import CCA
    views = [standardized(np.load(folder / f"{name}.npy")) for name in ("a", "b")]
    model, seconds = timed(lambda: CCA(n_components=COMPONENTS).fit(views))
    return {"seconds": seconds, "result": correlations(*model.transform(views))}


def peer_scikit_learn_cca(folder, threads):
    from sklearn.cross_decomposition import CCA
    views = [standardized(np.load(folder / f"{name}.npy")) for name in ("a", "b")]
    model, seconds = timed(lambda: CCA(n_components=COMPONENTS).fit(*views))
    return {"seconds": seconds, "result": correlations(*model.transform(*views))}


def peer_scikit_learn_svm(folder, threads):
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import LinearSVC
    x, test = np.load(folder / "x.npy").astype(np.float64), np.load(folder / "x_test.npy").astype(np.float64)
    mean, deviation = x.mean(axis=0), x.std(axis=0, ddof=1)
    search = GridSearchCV(LinearSVC(dual=False), {"C": COSTS}, cv=StratifiedKFold(5, shuffle=True, random_state=0),
                          n_jobs=threads)
    model, seconds = timed(lambda: search.fit((x - mean) / deviation, np.load(folder / "x_labels.npy")))
    right = model.score((test - mean) / deviation, np.load(folder / "x_test_labels.npy"))
    return {"seconds": seconds, "result": [right]}


def tensor(path, name):
    """One tensor of float64 of a safetensors file."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    begin, end = json.loads(content[8:8 + length])[name]["data_offsets"]
    return np.frombuffer(content[8 + length + begin:8 + length + end])


def tocca_fit(arguments, model, *words):
    command = [arguments.tocca, "fit", "--threads", str(arguments.threads), "--model", model, "--quiet", *words]
    return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[1]


def our_cca(arguments, folder):
    model = folder / "cca.safetensors"
    seconds = tocca_fit(arguments, model, "--method", "cca", "--components", str(COMPONENTS), "--view",
                        f"a={folder / 'a.npy'}", "--view", f"b={folder / 'b.npy'}")
    return {"seconds": seconds, "result": tensor(model, "canonical0.correlations").tolist()}


def our_svm(arguments, folder):
    model = folder / "svm.safetensors"
    seconds = tocca_fit(arguments, model, "--method", "svm", "--view", f"x={folder / 'x.npy'}", "--labels",
                        str(folder / "x_labels.npy"))
    scores = json.loads(subprocess.run(
        [arguments.tocca, "evaluate", "--model", model, "--view", f"x={folder / 'x_test.npy'}", "--labels",
         str(folder / "x_test_labels.npy"), "--json"], check=True, stdout=subprocess.PIPE).stdout)
    return {"seconds": seconds, "result": [row["mean"] for row in scores["rows"] if row["metric"] == "accuracy"][:1]}


CASES = {"cca": (write_cca, our_cca, [(peer_cca_zoo, 1e-6), (peer_scikit_learn_cca, 1e-3)]),
         "svm": (write_svm, our_svm, [(peer_scikit_learn_svm, 0.002)])}
PEERS = {peer.__name__: peer for _, _, peers in CASES.values() for peer, _ in peers}


def run_peer(peer, folder, threads):
    """In a process of its own. Parallel searches have one BLAS thread in each of their processes."""
    environment = peer_environment(1 if peer is peer_scikit_learn_svm else threads, "active")
    reply = subprocess.run([sys.executable, __file__, "--peer", peer.__name__, str(folder), str(threads)], check=True,
                           stdout=subprocess.PIPE, env=environment, cwd=Path(__file__).parent, text=True)
    return json.loads(reply.stdout)


def require_agreement(peer, ours, theirs, tolerance):
    difference = max(abs(a - b) for a, b in zip(ours["result"], theirs["result"], strict=True))
    if difference > tolerance:
        sys.exit(f"{peer.__name__} and tocca differ by {difference:.2g}, need at most {tolerance}; no ratio is formed: "
                 f"{theirs['result']} and {ours['result']}")
    return difference


def compare(case, samples, arguments, folder):
    write, ours, peers = CASES[case]
    write(folder, samples)
    rows = []
    for peer, tolerance in peers:
        if peer.__name__.removeprefix("peer_") not in arguments.peers.split(","):
            continue
        ways = [arguments.threads] if case == "svm" else sorted({1, arguments.threads})
        mine, theirs, difference = [], {threads: [] for threads in ways}, 0.0
        for _ in range(arguments.rounds):
            for threads in ways:
                mine.append(ours(arguments, folder))
                theirs[threads].append(run_peer(peer, folder, threads))
                difference = max(difference, require_agreement(peer, mine[-1], theirs[threads][-1], tolerance))
                note(f"{peer.__name__}: {theirs[threads][-1]['seconds']:.2f} s, tocca {mine[-1]['seconds']:.2f} s")
        own = statistics.median(run["seconds"] for run in mine)
        medians = {threads: statistics.median(run["seconds"] for run in runs) for threads, runs in theirs.items()}
        threads = min(medians, key=medians.get)
        rows.append({"case": case, "samples": samples, "peer": peer.__name__.removeprefix("peer_"), "threads": threads,
                     "their s": medians[threads], "our s": own, "ratio": medians[threads] / own,
                     "difference": f"{difference:.1g}", "load": load(),
                     "their rounds": [run["seconds"] for run in theirs[threads]],
                     "our rounds": [run["seconds"] for run in mine]})
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tocca", default=REPOSITORY / "build/release/tocca", type=Path, help="the command to compare")
    parser.add_argument("--cases", default="cca,svm", help="cca, svm or both")
    parser.add_argument("--peers", default=",".join(name.removeprefix("peer_") for name in PEERS), help="which of them")
    parser.add_argument("--cca-samples", default=20_000, type=int)
    parser.add_argument("--svm-samples", default=5_000, type=int, help="scikit-learn takes minutes from 50,000 on")
    parser.add_argument("--threads", default=os.cpu_count(), type=int)
    parser.add_argument("--rounds", default=2, type=int, help="how often ours and theirs alternate")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of the table")
    arguments = parser.parse_args()
    arguments.tocca = arguments.tocca.resolve()
    unknown = set(arguments.cases.split(",")) - set(CASES)
    if unknown:
        parser.error(f"--cases: got {', '.join(sorted(unknown))}, need some of {', '.join(CASES)}")
    unknown = {f"peer_{name}" for name in arguments.peers.split(",")} - set(PEERS)
    if unknown:
        parser.error(f"--peers: got {arguments.peers}, need some of {parser.get_default('peers')}")
    return arguments


def main():
    arguments = parse_arguments()
    rows, loads = [], [load()]
    for case in arguments.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            rows += compare(case, getattr(arguments, f"{case}_samples"), arguments, Path(folder))
        loads.append(load())
    if not rows:
        sys.exit("none of --peers takes part in any of --cases")
    show(rows, arguments.json, loads)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        print(json.dumps(PEERS[sys.argv[2]](Path(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
