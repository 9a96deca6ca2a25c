#!/usr/bin/env python3
"""Accuracy from one view at test time, with a second view in training, over given splits.

    python3 tools/breast_splits.py --data breast_tcga583 --splits breast_tcga583.csv --tocca build/release/tocca

Reads `mirna_modules`, `rna_modules` and `labels` (.csv.gz, first column `sample`) and a table with a column a split whose
words are train, val, test. Deep methods train on the rows of train and val and hold out a third of them, as many as val
has, for early stopping; `svm` needs no validation and trains on train alone. All are scored on the micro-RNA modules of
test. Prints mean and standard error for each method and label.

With --tune KEY=A,B,... (repeatable) each split chooses among all combinations of these values: fitted on train without
early stopping, scored on the micro-RNA modules of val; the best (the first among equals) is fitted on train and val, without
early stopping, and scored on test. svm too is then fitted on train and val. Standard library only.
"""
import argparse
import csv
import gzip
import itertools
import json
import math
import os
import statistics
import subprocess
import tempfile

METHODS = ("svm", "nn", "tocca-w", "tocca-sd", "tocca-nd")
SETTINGS = ("hidden_layers=1", "hidden_size=200", "n_components=50", "batch_size=100", "learning_rate=1e-3",
            "weight_decay=1e-3", "epochs=200", "patience=0", "dropout=0.2")


def read(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        return list(csv.reader(file))


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header] + rows)


def part(table, words, wanted):
    return [row for row, word in zip(table[1:], words) if word in wanted]


def accuracy(args, tables, words, label, method, seed, folder, trained_on, tested_on, settings):
    path = lambda name: os.path.join(folder, name + ".csv")
    for name, table in tables.items():
        write(path(name), table[0], part(table, words, trained_on))
        write(path(name + "_test"), table[0], part(table, words, tested_on))
    views = ["--view", "mirna=" + path("mirna_modules")]
    if method.startswith("tocca"):
        views += ["--view", "rna=" + path("rna_modules")]
    options = [word for setting in (*SETTINGS, *settings) for word in ("--set", setting)]
    model = os.path.join(folder, "m.safetensors")
    subprocess.run([args.tocca, "fit", *views, "--labels", path("labels") + ":" + label, "--method", method,
                    "--seed", str(seed), "--model", model, "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = subprocess.run([args.tocca, "evaluate", "--model", model, "--view", "mirna=" + path("mirna_modules_test"),
                           "--labels", path("labels_test") + ":" + label, "--json", "--quiet"],
                          check=True, stdout=subprocess.PIPE)
    return next(row["mean"] for row in json.loads(told.stdout)["rows"]
                if row["test_view"] == "mirna" and row["metric"] == "accuracy")


def split_accuracy(args, tables, words, label, method, seed, chosen):
    with tempfile.TemporaryDirectory() as folder:
        score = lambda *how: accuracy(args, tables, words, label, method, seed, folder, *how)
        if not args.tune:
            trained_on = ("train",) if method == "svm" else ("train", "val")
            return score(trained_on, ("test",), ("validation=0.333",))
        grid = [()] if method == "svm" else list(itertools.product(
            *([f"{key}={value}" for value in values.split(",")] for key, values in
              (tune.split("=", 1) for tune in args.tune))))
        best = max(grid, key=lambda settings: score(("train",), ("val",), (*settings, "validation=0"))
                   if len(grid) > 1 else 0)
        chosen.append(" ".join(best))
        return score(("train", "val"), ("test",), (*best, "validation=0"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with the three tables")
    parser.add_argument("--splits", required=True, help="table of splits, rows as in the tables")
    parser.add_argument("--tocca", default="build/release/tocca")
    parser.add_argument("--labels", default="er,subtype")
    parser.add_argument("--tune", action="append", default=[], metavar="KEY=A,B")
    args = parser.parse_args()
    tables = {name: read(os.path.join(args.data, name + ".csv.gz")) for name in
              ("mirna_modules", "rna_modules", "labels")}
    splits = read(args.splits)
    for label in args.labels.split(","):
        for method in METHODS:
            values, chosen = [], []
            for run in range(len(splits[0])):
                words = [row[run] for row in splits[1:]]
                values.append(split_accuracy(args, tables, words, label, method, run, chosen))
            error = statistics.stdev(values) / math.sqrt(len(values))
            print(f"{label:8s} {method:9s} {statistics.mean(values):.3f} ± {error:.3f}", flush=True)
            if args.tune and method != "svm":
                print(f"    chosen: {'; '.join(chosen)}", flush=True)


if __name__ == "__main__":
    main()
