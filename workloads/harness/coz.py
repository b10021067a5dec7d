# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs are built with for COZ, and what its profiles say.

Experiments of all runs are pooled as COZ's viewer does it, by period = sum(duration) / sum(delta), without its smoothing
over neighbouring speedups. The intervals are not COZ's: they come from a bootstrap over experiments.
"""

import os
import shutil

RESAMPLES = 1000
FEWEST = 3  # experiments, for an interval
# Its reader of DWARF is older than this compiler.
FLAGS = ["-gdwarf-4", "-gno-variable-location-views"]
HEADER = "/usr/include/coz.h"


def missing():
    if shutil.which("coz") and os.path.exists(HEADER):
        return None
    return "COZ is not installed: apt-get install coz-profiler"


def parse_profile(path):
    """[(speedup in percent, duration in ns, progress)] in the order of the file."""
    done, current = [], None
    with open(path, encoding="utf-8", errors="replace") as f:
        for text in f:
            kind, *fields = text.rstrip("\n").split("\t")
            value = dict(x.split("=", 1) for x in fields if "=" in x)
            if kind == "experiment":
                current = (round(100 * float(value["speedup"])), int(value["duration"]))
            elif kind == "throughput-point" and current:
                done.append((*current, int(value["delta"])))
                current = None
    return done


def period(experiments):
    delta = sum(e[2] for e in experiments)
    return sum(e[1] for e in experiments) / delta if delta else None


def predict(base, fast):
    p0, ps = period(base), period(fast)
    return 100 * (p0 - ps) / p0 if p0 and ps else None


def interval(base, fast, rng):
    if len(base) < FEWEST or len(fast) < FEWEST:
        return None
    values = []
    for _ in range(RESAMPLES):
        v = predict(rng.choices(base, k=len(base)), rng.choices(fast, k=len(fast)))
        if v is not None:
            values.append(v)
    values.sort()
    n = len(values)
    return (values[int(0.025 * n)], values[min(int(0.975 * n), n - 1)]) if n else None
