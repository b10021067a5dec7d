# SPDX-License-Identifier: GPL-2.0-or-later
"""PARSEC's fluidanimate: a barrier that spins, as COZ and SCOZ found, and pthread's in its place."""

import random
import struct
import time

from harness.experiment import Change
from harness.named import Named
from harness.needs import Program, Source
from harness.parsec import Parsec

PARTICLES = 8000


class Main(Parsec):
    name = "fluidanimate"
    title = "PARSEC fluidanimate, two threads"
    folder = "apps/fluidanimate"
    sources = ["pthreads.cpp", "cellpool.cpp", "parsec_barrier.cpp"]
    needs = [Source("parsec", "pkgs/apps/fluidanimate/src/pthreads.cpp"), Program("g++", "g++")]
    unit = "frames"
    # Nothing is removed, waiting takes another form: how much of the target is saved is not known.
    changes = [Change("barrier", "pthread_barrier instead of PARSEC's", "func:parsec_barrier_wait@fluidanimate", cheaper=100, at_most=True)]
    named = [Named("COZ, SCOZ", "parsec_barrier")]
    expected = ["pthreads.cpp:", "parsec_barrier", "func:", "bin:fluid"]

    def prepare(self):
        chance = random.Random(self.opt.seed)
        self.input = self.machine.path("in.fluid")
        with open(self.input, "wb") as f:
            f.write(struct.pack("<fi", 204, PARTICLES))
            for _ in range(PARTICLES):
                f.write(struct.pack("<9f", chance.uniform(-.064, .064), chance.uniform(-.079, .05),
                                    chance.uniform(-.064, .064), *[0] * 6))
        super().prepare()

    def where(self, binary):
        return ["step=%s:pthreads.cpp:1149" % binary]

    def job(self, binary, frames):
        return [binary, "2", str(frames), self.input]

    def measure(self, change, changed, seconds):
        frames = 30
        begin, done = time.monotonic(), 0
        while not done or time.monotonic() - begin < seconds:
            self.machine.run(self.job(self.binaries[changed], frames))
            done += frames
        return done / (time.monotonic() - begin), None
