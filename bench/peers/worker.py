"""The process of one peer at one number of threads: prepares, checks and times steps as lines of JSON ask for it."""
import json
import os
import statistics
import sys
import time

WARM_UP_STEPS = 5
FEWEST_STEPS = 3


class Deviates(Exception):
    """A peer does not compute what the reference values say."""


def compare(what, got, expected, tolerance):
    """Raises Deviates unless all |got - expected| <= tolerance * (1 + |expected|); flat sequences of numbers."""
    for a, b in zip(got, expected, strict=True):
        if not abs(a - b) <= tolerance * (1 + abs(b)):
            raise Deviates(f"{what}: got {a!r}, the reference has {b!r}")


def flat(rows):
    return [x for row in rows for x in flat(row)] if isinstance(rows, list) else [rows]


def median_ms(step, seconds):
    """Median time of a step. Like `tocca bench`, which leaves out the first two."""
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 2 + FEWEST_STEPS or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[2:])


def prepared(make_step, request):
    step = make_step(request["case"], request["method"], request["variant"])
    for _ in range(WARM_UP_STEPS):  # what is compiled is compiled here
        step()
    return step


def answer(peer, steps, request):
    if request["do"] == "check":
        return {"checked": peer.check(request["train_reference"], request["reference"])}
    key = request["case"], request["method"], request["variant"]
    if request["do"] == "prepare":
        steps[key] = prepared(peer.make_step, request)
        return {}
    if request["do"] == "once":
        run = peer.make_step(*key)
        start = time.perf_counter()
        run()
        return {"ms": 1e3 * (time.perf_counter() - start)}
    if request["do"] == "forget":
        steps.clear()
        return {}
    return {"ms": median_ms(steps[key], request["seconds"])}


def serve(peer):
    """Answers requests on stdin until it ends. Whatever libraries print to stdout goes to stderr."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    steps = {}
    for line in sys.stdin:
        try:
            reply = answer(peer, steps, json.loads(line))
        except Exception as error:  # goes to the asking process, which decides
            reply = {"error": f"{type(error).__name__}: {error}"[:600], "deviates": isinstance(error, Deviates)}
        replies.write(json.dumps(reply) + "\n")
