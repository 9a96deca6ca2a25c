#!/usr/bin/env python3
"""Training steps of TOCCA-W, -SD and -ND: `tocca bench` and the same networks in PyTorch and Keras, in turns.

    python3 bench/peers/deep.py --tocca build/release/tocca --cases mnist,breast --methods tocca-w --rounds 3

Run it with the Python that has requirements.txt; README.md says what is measured. Every peer is first checked against
values from independent programs, and nothing is timed when one deviates.
"""
import argparse
import json
import statistics
import subprocess

from processes import add_common_arguments, load, note, show, started
from shapes import CASES, METHODS

VARIANTS = {"pytorch": ("eager", "eager-foreach", "compile", "compile-all"), "keras": ("graph", "xla")}

# A variant that is this many times slower than the peer's fastest in the trial is not timed again.
HOPELESS = 1.5


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_arguments(parser)
    parser.add_argument("--cases", default=",".join(CASES), help="of " + ", ".join(CASES))
    parser.add_argument("--methods", default=",".join(METHODS), help="of " + ", ".join(METHODS))
    parser.add_argument("--peers", default=",".join(VARIANTS), help="of " + ", ".join(VARIANTS))
    parser.add_argument("--variants", default="", help="only these, of " + ", ".join(sum(VARIANTS.values(), ())))
    parser.add_argument("--seconds", default=1, type=float, help="how long each figure is measured in a round")
    arguments = parser.parse_args()
    for name, known in (("cases", CASES), ("methods", METHODS), ("peers", VARIANTS)):
        chosen = getattr(arguments, name).split(",")
        if unknown := [x for x in chosen if x not in known]:
            parser.error(f"--{name}: {unknown[0]} is none of {', '.join(known)}")
        setattr(arguments, name, chosen)
    return arguments


def ours(arguments, case):
    """Milliseconds by method."""
    told = subprocess.run([arguments.tocca, "bench", "--case", case, "--seconds", str(arguments.seconds), "--threads",
                           str(arguments.threads), "--json", "--quiet"], check=True, stdout=subprocess.PIPE)
    return {row["method"]: row["ms_per_step"] for row in json.loads(told.stdout)["rows"]}


def prepare(peers, arguments, case):
    """All (peer, method, variant) that run."""
    chosen = arguments.variants.split(",") if arguments.variants else None
    contenders = []
    for peer in peers:
        for method in arguments.methods:
            for variant in (v for v in VARIANTS[peer.name] if not chosen or v in chosen):
                reply = peer.ask(do="prepare", case=case, method=method, variant=variant)
                note(f"{case} {method} {peer.name} {variant}, {peer.threads} threads, {peer.waiting}: "
                     f"{reply.get('error', 'ready')}")
                if "error" not in reply:
                    contenders.append((peer, method, variant))
    return contenders


def measure(contender, case, seconds):
    peer, method, variant = contender
    return peer.ask(do="time", case=case, method=method, variant=variant, seconds=seconds)["ms"]


def promising(contenders, case, seconds):
    """What is not much slower than the fastest of the same peer and method in a short trial."""
    trial = {c: measure(c, case, seconds) for c in contenders}
    best = {}
    for (peer, method, _), ms in trial.items():
        best[peer.name, method] = min(ms, best.get((peer.name, method), ms))
    return [c for c in contenders if trial[c] <= HOPELESS * best[c[0].name, c[1]]]


def row(case, method, contender, theirs, ours_ms, load_average):
    peer, _, variant = contender
    a, b = statistics.median(theirs), statistics.median(ours_ms)
    return {"case": case, "method": method, "peer": f"{peer.name} {variant}", "threads": peer.threads,
            "waiting": peer.waiting, "their ms/step": a, "our ms/step": b, "ratio": a / b, "load": load_average,
            "their rounds": theirs, "our rounds": ours_ms}


def compare(peers, arguments, case):
    """A row for the best of each peer at each method."""
    contenders = promising(prepare(peers, arguments, case), case, arguments.seconds)
    theirs, mine, loads = {c: [] for c in contenders}, [], []
    for _ in range(arguments.rounds):
        mine.append(ours(arguments, case))
        for c in contenders:
            theirs[c].append(measure(c, case, arguments.seconds))
        loads.append(load())
    rows = []
    for method in arguments.methods:
        for name in arguments.peers:
            if own := [c for c in contenders if (c[0].name, c[1]) == (name, method)]:
                best = min(own, key=lambda c: statistics.median(theirs[c]))
                rows.append(row(case, method, best, theirs[best], [m[method] for m in mine], max(loads)))
    return rows


def main():
    arguments = parse_arguments()
    peers = [peer for name in arguments.peers for peer in started(name, arguments.threads, arguments)]
    if not peers:
        raise SystemExit("no peer runs: pip install -r bench/peers/requirements.txt")
    rows, loads = [], [load()]
    for case in arguments.cases:
        rows += compare(peers, arguments, case)
        for peer in peers:
            peer.ask(do="forget")
        loads.append(load())
    for peer in peers:
        peer.close()
    show(rows, arguments.json, loads)


if __name__ == "__main__":
    main()
