#!/usr/bin/env python3
"""Joint phone recognition from two views of speech-like data: all methods, and fractions of the labels.

    python3 tools/xrmb_tables.py --data xrmb --tocca build/release/tocca

Reads x273.npy, x112.npy, phone.npy and split.npy (0 train, 1 validation, 2 test; no speaker in two of them). Every method
is fitted on the training frames, a tenth of them held out for early stopping, and scored on the test frames with both
views: by LDA of the columns and projections of both views ("joint"), or by its own head ("own"). Needs NumPy.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

NETWORK = ("hidden_layers=2", "hidden_size=500", "batch_size=1000", "patience=0", "validation=0.1")
JOINT = ("prediction=joint",)
METHODS = {
    "raw, LDA": ("lda", "fusion=early"),
    "nn of both views": ("nn", "fusion=early"),
    "cca": ("cca", *JOINT),
    "rcca": ("rcca", *JOINT),
    "dcca": ("dcca", *JOINT),
    "softcca": ("softcca", *JOINT),
    "dcca-deeplda": ("dcca-deeplda", *JOINT),
    "ccal-ce": ("ccal-ce", *JOINT),
    "tocca-w, joint": ("tocca-w", *JOINT),
    "tocca-sd, joint": ("tocca-sd", *JOINT),
    "tocca-nd, joint": ("tocca-nd", *JOINT),
    "tocca-w, own": ("tocca-w",),
    "tocca-sd, own": ("tocca-sd",),
    "tocca-nd, own": ("tocca-nd",),
}
SEMI_SUPERVISED = ("nn of both views", "tocca-w, joint", "tocca-w, own")


def write_parts(data, folder):
    split = np.load(os.path.join(data, "split.npy"))
    for name in ("x273", "x112", "phone"):
        values = np.load(os.path.join(data, name + ".npy"))
        for part, code in (("train", 0), ("test", 2)):
            np.save(os.path.join(folder, f"{part}_{name}.npy"),
                    values[split == code].astype(np.int32 if name == "phone" else values.dtype))


def accuracy(args, folder, method, *settings):
    path = lambda part, name: os.path.join(folder, f"{part}_{name}.npy")
    views = lambda part: [word for name in ("x273", "x112") for word in ("--view", f"{name}={path(part, name)}")]
    options = [word for s in (*NETWORK, f"epochs={args.epochs}", *settings) for word in ("--set", s)]
    model = os.path.join(folder, "m.safetensors")
    subprocess.run([args.tocca, "fit", *views("train"), "--labels", path("train", "phone"), "--method", method,
                    "--components", "112", "--seed", str(args.seed), "--model", model, "--quiet", *options], check=True)
    told = subprocess.run([args.tocca, "evaluate", *views("test"), "--labels", path("test", "phone"), "--model", model,
                           "--json", "--quiet"], check=True, stdout=subprocess.PIPE)
    return next(row["mean"] for row in json.loads(told.stdout)["rows"]
                if row["test_view"] == "all" and row["metric"] == "accuracy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", default="; ".join(METHODS), help="with all labels, '; ' between them")
    parser.add_argument("--fractions", default="1,0.3,0.1,0.03,0.01", help="of the labels, for some of the methods")
    parser.add_argument("--tocca", default="build/release/tocca")
    args = parser.parse_args()
    fractions = [float(f) for f in args.fractions.split(",") if f]
    with tempfile.TemporaryDirectory() as folder:
        write_parts(args.data, folder)
        for name in filter(None, args.methods.split("; ")):
            print(f"{name:18s} {accuracy(args, folder, *METHODS[name]):.3f}", flush=True)
        for fraction in fractions:
            for name in SEMI_SUPERVISED:
                score = accuracy(args, folder, *METHODS[name], f"label_fraction={fraction}", "batches=stratified")
                print(f"{name:18s} {100 * fraction:g} % of the labels {score:.3f}", flush=True)


if __name__ == "__main__":
    main()
