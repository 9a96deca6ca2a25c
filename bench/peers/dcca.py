#!/usr/bin/env python3
"""A whole fit of deep CCA: `tocca fit --method dcca` and cca-zoo's DCCA with its trainer, in turns.

    python3 bench/peers/dcca.py --tocca build/release/tocca --rounds 3

The same arrays, sizes, batch size and number of epochs. Ours is the time of the whole command: start, reading,
training, final CCA and writing the model; theirs that of training and final CCA, with everything imported before.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from processes import add_common_arguments, load, show, started
from shapes import DCCA_EPOCHS, DCCA_RIDGE, DCCA_SAMPLES, DCCA_SHAPE, Settings


def write_views(folder):
    """Two views of a common part, with noise."""
    rng = np.random.default_rng(1)
    common = rng.standard_normal((DCCA_SAMPLES, DCCA_SHAPE.components))
    for name, width in zip(("a", "b"), DCCA_SHAPE.inputs):
        x = common @ rng.standard_normal((DCCA_SHAPE.components, width)) + rng.standard_normal((DCCA_SAMPLES, width))
        np.save(folder / f"{name}.npy", x.astype(np.float32))


def ours(arguments, folder):
    """Seconds of the command."""
    settings = {"hidden_layers": DCCA_SHAPE.hidden_layers, "hidden_size": DCCA_SHAPE.hidden_size, "epochs": DCCA_EPOCHS,
                "batch_size": DCCA_SHAPE.batch, "learning_rate": Settings().learning_rate, "patience": 0,
                "learning_rate_schedule": "constant", "whitening_epsilon": DCCA_RIDGE}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    start = time.perf_counter()
    subprocess.run([arguments.tocca, "fit", "--view", f"a={folder / 'a.npy'}", "--view", f"b={folder / 'b.npy'}",
                    "--method", "dcca", "--components", str(DCCA_SHAPE.components), "--val", "0", "--threads",
                    str(arguments.threads), "--model", folder / "model.safetensors", "--quiet", *words], check=True,
                   stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(peers, arguments, folder):
    """A row for each way to run the peer, the fastest first."""
    write_views(folder)
    mine, theirs, loads = [], {peer: [] for peer in peers}, []
    for _ in range(arguments.rounds):
        mine.append(ours(arguments, folder))
        for peer in peers:
            theirs[peer].append(peer.ask(do="once", case=str(folder), method="dcca", variant="")["ms"] / 1e3)
        loads.append(load())
    b = statistics.median(mine)
    return sorted(({"case": f"{DCCA_SAMPLES} samples, {DCCA_EPOCHS} epochs", "method": "dcca", "peer": "cca-zoo",
                    "threads": peer.threads, "waiting": peer.waiting, "their s": statistics.median(seconds), "our s": b,
                    "ratio": statistics.median(seconds) / b, "load": max(loads), "their rounds": seconds,
                    "our rounds": mine} for peer, seconds in theirs.items()), key=lambda row: row["their s"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_arguments(parser)
    arguments = parser.parse_args()
    peers = started("cca_zoo", arguments.threads, arguments)
    if not peers:
        raise SystemExit("cca-zoo does not run: pip install -r bench/peers/requirements.txt")
    loads = [load()]
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(peers, arguments, Path(folder))
    for peer in peers:
        peer.close()
    show(rows, arguments.json, loads + [load()])


if __name__ == "__main__":
    main()
