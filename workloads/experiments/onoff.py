# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocked samples, Figure 1: a thread that reads a disk and one that computes, at a barrier."""

import json
import os

from harness import needs
from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.named import Named


class Main(Experiment):
    name = "onoff"
    title = "Blocked samples' Figure 1"
    unit = "iterations"
    quick_seconds = 12
    expected = ["compute_heavy", "compute_light", "barrier_io.c:", "bin:barrier_io"]
    named = [Named("BCOZ", "compute_heavy", "barrier_io.c", title="compute_heavy() (case 1)")]
    changes = [
        Change("reads", "case 2: without the reads", "syscall:pread64", cheaper=100, options=["--waits"], replay="class:io", sign=1, at_least=10),
        Change("heavy", "case 1: half of the computing", "func:compute_heavy", cheaper=50, sign=1, at_least=10, quick="50"),
        Change("idle", "case 2: half of the computing, which is not waited for", "func:compute_heavy", cheaper=50, sign=0),
    ]

    def prepare(self):
        self.program = os.path.join(needs.build(), "workloads", "waiting", "barrier_io")
        if not os.access(self.program, os.X_OK):
            raise Failed("no %s: run make first" % self.program)
        self.points = ["iteration=%s:iteration_done" % self.program]
        # How long the computing takes is fixed once: by itself it would follow the disk.
        self.heavy = {case: self.run(["--case", case, "--seconds", "2"])["heavy_us"] for case in "12"}

    def run(self, options):
        return json.loads(self.machine.run([self.program] + options, cwd=self.machine.tmp).strip().splitlines()[-1])

    def options_of(self, change, changed):
        case = "1" if change is None or change.name == "heavy" else "2"
        half = changed and change.name != "reads"
        options = ["--case", case, "--heavy-us", "%.1f" % (self.heavy[case] / (2 if half else 1))]
        return options + (["--reads", "0"] if changed and change.name == "reads" else [])

    def command(self, change):
        return [self.program, "--seconds", "100000"] + self.options_of(change, False)

    def measure(self, change, changed, seconds):
        return self.run(["--seconds", str(seconds)] + self.options_of(change, changed))["rate"], None
