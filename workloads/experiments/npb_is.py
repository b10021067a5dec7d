# SPDX-License-Identifier: GPL-2.0-or-later
"""NPB IS over MPI: the line that puts keys into buckets, with 4096 and with 256 of them."""

from harness.experiment import Change
from harness.npb import Npb

SORT = r"^(/\*  Sort into appropriate bucket \*/\n    for.*\n    {\n.*\n.*\n    }\n)"


class Main(Npb):
    name = "npb-is"
    title = "NPB IS"
    benchmark = "is"
    iterations = 10
    expected = ["is.c:684"]
    # The loop's own line has most of its samples: which of the three an instruction counts for is the compiler's choice.
    changes = [Change("buckets", "256 buckets instead of 4096", ["is.c:684", "is.c:686", "is.c:687"],
                      options=["--together"], sign=1)]

    def prepare(self):
        def variant(name, log2, iterations, timed=False):
            edits = [("IS/is.c", r"^#define  NUM_BUCKETS_LOG_2   10$", "#define  NUM_BUCKETS_LOG_2   %d" % log2),
                     ("IS/is.c", r"^#define  MAX_ITERATIONS\s+10$", "#define  MAX_ITERATIONS %d" % iterations)]
            if timed:  # of the timers, one is left, around this loop
                edits += [("IS/is.c", r"TIMER_(START|STOP)\( T_RANK \);", ""),
                          ("IS/is.c", SORT, r"TIMER_START( T_RANK );\n\1TIMER_STOP( T_RANK );\n")]
            return self.compile(name, edits)
        self.long = variant("profiled", 12, 100000)
        self.binaries = {changed: [variant("timed%d%d" % (log2, t), log2, self.iterations, t) for t in (False, True)]
                         for changed, log2 in ((False, 12), (True, 8))}
        self.points = ["iteration=%s:rank" % self.long]

    def command(self, change):
        return self.job(self.long)

    def measure(self, change, changed, seconds):
        plain, timed = self.binaries[changed]
        return self.timed(plain, seconds), self.timer(timed, "rcomp")
