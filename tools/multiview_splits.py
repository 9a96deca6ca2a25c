#!/usr/bin/env python3
"""Accuracy with several views: the best single one, early and late fusion, and methods with a shared space.

    python3 tools/multiview_splits.py --view fac=mfeat-fac.csv.gz --view fou=mfeat-fou.csv.gz ... \\
        --labels mfeat-labels.csv.gz:digit --splits mfeat.csv --tocca build/release/tocca

`--splits` is a table whose columns are splits, rows as in the views, words train, val, test (others are left out). With a
single column, `--repeats` runs differ by seed alone. Deep methods hold out `--val` of train and val for early stopping;
linear ones train on all of it. Every method is scored on the test rows, from each view alone and from all views, and the
table shows the best single view (chosen on the test rows: an upper bound) and all views. Standard library only.
"""
import argparse
import csv
import gzip
import json
import math
import os
import statistics
import subprocess
import tempfile

METHODS = {
    "svm, each view": ["--method", "svm"],
    "svm, early fusion": ["--method", "svm", "--set", "fusion=early"],
    "logistic, late fusion": ["--method", "logistic", "--set", "combination=probabilities"],
    "lda, late fusion": ["--method", "lda", "--set", "combination=probabilities"],
    "lda, early fusion": ["--method", "lda", "--set", "fusion=early"],
    "nn, late fusion": ["--method", "nn", "--set", "combination=probabilities"],
    "nn, early fusion": ["--method", "nn", "--set", "fusion=early"],
    "gcca": ["--method", "gcca"],
    "mvda": ["--method", "mvda"],
    "spls-da": ["--method", "spls-da"],
    "tocca-w": ["--method", "tocca-w"],
    "tocca-sd": ["--method", "tocca-sd"],
    "tocca-nd": ["--method", "tocca-nd"],
    "tocca-w, joint": ["--method", "tocca-w", "--set", "prediction=joint"],
}
SETTINGS = ("hidden_layers=1", "hidden_size=200", "batch_size=32", "learning_rate=1e-3", "weight_decay=1e-3",
            "epochs=100", "patience=0", "dropout=0.2")


def read(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        return list(csv.reader(file))


def part(table, words, wanted):
    return [table[0]] + [row for row, word in zip(table[1:], words) if word in wanted]


def run(args, method, words, seed, folder):
    views = []
    for name, table in args.tables.items():
        for suffix, wanted in (("", ("train", "val")), ("_test", ("test",))):
            with open(os.path.join(folder, name + suffix + ".csv"), "w", newline="") as file:
                csv.writer(file).writerows(part(table, words, wanted))
        if name != "labels":
            views.append(name)
    path = lambda name: os.path.join(folder, name + ".csv")
    options = [word for setting in (*SETTINGS, *args.set) for word in ("--set", setting)]
    subprocess.run([args.tocca, "fit", *[w for v in views for w in ("--view", f"{v}={path(v)}")], "--labels",
                    f"{path('labels')}:{args.column}", "--val", str(args.val), "--seed", str(seed), "--model",
                    path("m"), "--quiet", *options, *METHODS[method]], check=True)
    told = subprocess.run([args.tocca, "evaluate", "--model", path("m"), "--labels",
                           f"{path('labels_test')}:{args.column}", "--json", "--quiet",
                           *[w for v in views for w in ("--view", f"{v}={path(v + '_test')}")]],
                          check=True, stdout=subprocess.PIPE)
    return {row["test_view"]: row["mean"] for row in json.loads(told.stdout)["rows"] if row["metric"] == "accuracy"}


def shown(values):
    if not values:
        return "-"
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):.3f} ± {error:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--view", action="append", required=True, metavar="NAME=FILE")
    parser.add_argument("--labels", required=True, metavar="FILE:COLUMN")
    parser.add_argument("--splits", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--val", type=float, default=0.2)
    parser.add_argument("--methods", help="some of: " + "; ".join(METHODS))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--tocca", default="build/release/tocca")
    args = parser.parse_args()
    label_path, args.column = args.labels.rsplit(":", 1)
    args.tables = {name: read(path) for name, path in (view.split("=", 1) for view in args.view)}
    args.tables["labels"] = read(label_path)
    splits = read(args.splits)
    columns = list(range(len(splits[0])))
    runs = [(c, seed) for c in columns for seed in range(args.repeats if len(columns) == 1 else 1)]
    for method in args.methods.split("; ") if args.methods else METHODS:
        single, together = {}, []
        for number, (column, seed) in enumerate(runs):
            words = [row[column] for row in splits[1:]]
            with tempfile.TemporaryDirectory() as folder:
                scores = run(args, method, words, seed + number, folder)
            together.append(scores["all"])
            for view, score in scores.items():
                if view != "all":
                    single.setdefault(view, []).append(score)
        best = max(single, key=lambda view: statistics.mean(single[view])) if single else None
        print(f"{method:22s} all views {shown(together):15s} best single " +
              (f"{shown(single[best])} ({best})" if best else "-"), flush=True)


if __name__ == "__main__":
    main()
