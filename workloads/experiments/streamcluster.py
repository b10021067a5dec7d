# SPDX-License-Identifier: GPL-2.0-or-later
"""PARSEC's streamcluster: a barrier that spins, as COZ found, and pthread's in its place."""

import time

from harness.experiment import Change
from harness.named import Named
from harness.needs import Program, Source
from harness.parsec import Parsec


class Main(Parsec):
    name = "streamcluster"
    title = "PARSEC streamcluster, two threads"
    folder = "kernels/streamcluster"
    sources = ["streamcluster.cpp", "parsec_barrier.cpp"]
    flags = ["-DENABLE_THREADS"]
    needs = [Source("parsec", "pkgs/kernels/streamcluster/src/streamcluster.cpp"), Program("g++", "g++")]
    unit = "points"
    # Faster where threads are more than cores, as in the papers; where each has one, who spins is there sooner.
    changes = [Change("barrier", "pthread_barrier instead of PARSEC's", "func:parsec_barrier_wait@streamcluster", cheaper=100,
                      at_most=True, at_least=5)]
    named = [Named("COZ", "parsec_barrier")]
    expected = ["parsec_barrier.cpp:"]

    def where(self, binary):
        return ["gain=%s:pgain" % binary]

    def job(self, binary, points):
        # Room for more centers than a long run finds, up to 20 in each 2048 points.
        return [binary, "10", "20", "32", str(points), "2048", "20000", "none", "/dev/null", "2"]

    def measure(self, change, changed, seconds):
        points = 4096
        begin, done = time.monotonic(), 0
        while not done or time.monotonic() - begin < seconds:
            self.machine.run(self.job(self.binaries[changed], points))
            done += points
        return done / (time.monotonic() - begin), None
