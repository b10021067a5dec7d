# SPDX-License-Identifier: GPL-2.0-or-later
"""COZ's own benchmarks: copies are built outside the checkout, and changed there."""

import os
import re
import shutil
import time

from .experiment import Experiment
from .machine import Failed
from .needs import Program, Source
from .source import edit

# How much CPU time is spent between two places, by all threads together.
SPENT = r"""
#include <time.h>
#include <stdio.h>
static long long spent_ns;
static inline long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
#define SPENT_BEGIN long long spent_began = cpu_ns();
#define SPENT_END __sync_fetch_and_add(&spent_ns, cpu_ns() - spent_began);
__attribute__((destructor)) static void spent_print(void)
{
	printf("\nspent %lld\n", spent_ns);
}
"""


class CozBenchmark(Experiment):
    file = None  # in its benchmarks
    unit = "runs"
    quick_seconds = 12
    rounds = 4
    edits = []  # in both

    @staticmethod
    def needed(file):
        return [Source("coz", "benchmarks/" + file), Program("gcc", "gcc"), Program("g++", "g++")]

    def base(self):
        """Of the one that is profiled: (pattern, by)."""
        return []

    def changed(self):
        """Of the changed copy."""
        return []

    def prepare(self):
        self.binaries = {changed: self.compile(name, changed) for changed, name in ((False, "base"), (True, "changed"))}
        self.points = self.where(self.binaries[False])

    def compile(self, name, changed):
        tree = self.machine.path(name)
        source = self.source("coz")
        shutil.copytree(os.path.dirname(os.path.join(source, "benchmarks", self.file)), tree)
        path = os.path.join(tree, os.path.basename(self.file))
        for pattern, by in self.edits + (self.changed() if changed else self.base()):
            edit(path, pattern, by)
        spent = os.path.join(tree, "spent.h")
        with open(spent, "w") as f:
            f.write(SPENT)
        binary = os.path.join(tree, self.name.replace("coz-", ""))
        self.machine.run(["g++" if path.endswith(".cpp") else "gcc", "-O2", "-g", "-w", "-D_GNU_SOURCE", "-include", spent,
                          "-I", os.path.join(source, "include"), "-o", binary, path, "-lpthread", "-ldl"])
        return binary

    def job(self, binary):
        raise NotImplementedError

    def command(self, change):
        return ["sh", "-c", 'while "$@" >/dev/null; do :; done', "sh"] + self.job(self.binaries[False])

    def measure(self, change, changed, seconds):
        begin, runs, spent = time.monotonic(), 0, 0
        while not runs or time.monotonic() - begin < seconds:
            out = self.machine.run(self.job(self.binaries[changed]))
            found = re.search(r"^spent (\d+)$", out, re.M)
            if not found:
                raise Failed("%s does not say what it has spent: %s" % (self.name, out[-300:]))
            spent += int(found[1])
            runs += 1
        return runs / (time.monotonic() - begin), spent / runs
