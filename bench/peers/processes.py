"""Runs peers in processes of their own, one for each way to use the processors, and `tocca`."""
import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent


def ways(threads, waiting):
    """(threads, waiting) that a peer is tried with. Passive: OpenMP's threads sleep instead of spinning while they
    wait, which is slower on an idle machine and many times faster where others use the processors too."""
    return [(1, "active")] + [(threads, how) for how in waiting.split(",") if threads > 1]


def peer_environment(threads, waiting):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_WAIT_POLICY")}
    environment |= {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return environment | ({"OMP_WAIT_POLICY": "passive"} if waiting == "passive" else {})


class Peer:
    """A running peer_NAME.py; ask() sends one request and waits for the answer. See worker.py."""

    def __init__(self, name, threads, waiting):
        self.name, self.threads, self.waiting = name, threads, waiting
        self.process = subprocess.Popen([sys.executable, str(FOLDER / f"{name}_peer.py"), str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=peer_environment(threads, waiting), cwd=FOLDER, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        return json.loads(reply) if reply else {"error": "the process ended", "deviates": False}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def started(name, threads, arguments):
    """The peer in all its ways, checked in the first: they run the same program. None where it is not installed; ends
    the program where it deviates."""
    first, *others = ways(threads, arguments.waiting)
    peer = Peer(name, *first)
    reply = peer.ask(do="check", train_reference=str(arguments.train_reference), reference=str(arguments.reference))
    if reply.get("deviates"):
        sys.exit(f"{name} does not compute the same; nothing is timed: {reply['error']}")
    if "error" in reply:
        note(f"{name} is left out: {reply['error']} (python {FOLDER / name}_peer.py 1 says why)")
        return []
    note(f"{name}: agrees with the reference in {', '.join(reply['checked'])}")
    return [peer] + [Peer(name, *way) for way in others]


def note(text):
    print(text, file=sys.stderr, flush=True)


def add_common_arguments(parser):
    parser.add_argument("--tocca", default=REPOSITORY / "build/release/tocca", type=Path, help="the command to compare")
    parser.add_argument("--threads", default=os.cpu_count(), type=int, help="of tocca; peers: 1 and this many")
    parser.add_argument("--waiting", default="active,passive", help="of the threads of peers with more than one")
    parser.add_argument("--rounds", default=3, type=int, help="how often ours and theirs alternate")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of the table")
    parser.add_argument("--train-reference", default=REPOSITORY / "tests/data/train_reference.json", type=Path,
                        help="whole training runs that peers must repeat")
    parser.add_argument("--reference", default=REPOSITORY / "tests/data/reference.json", type=Path,
                        help="values of single losses that peers must give")


def load():
    return round(os.getloadavg()[0], 2)


def show(rows, as_json, loads):
    """Rows: dicts with the same keys. Numbers of milliseconds and ratios with two decimals."""
    if as_json:
        print(json.dumps({"load_average": loads, "processors": os.cpu_count(), "rows": rows}))
        return
    keys = [key for key in rows[0] if not isinstance(rows[0][key], (list, dict))]
    cells = [keys] + [[f"{row[k]:.2f}" if isinstance(row[k], float) else str(row[k]) for k in keys] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(keys))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    note(f"load average from {min(loads)} to {max(loads)}, {os.cpu_count()} processors")
