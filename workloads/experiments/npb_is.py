# SPDX-License-Identifier: GPL-2.0-or-later
"""NPB IS over MPI: the line that puts keys into buckets, with 4096 and with fewer of them."""

from harness.experiment import Change
from harness.named import Named, lines
from harness.npb import Npb, variant

LOOP = ["is.c:684", "is.c:686", "is.c:687"]
SORT = r"^(/\*  Sort into appropriate bucket \*/\n    for.*\n    {\n.*\n.*\n    }\n)"


class Main(Npb):
    name = "npb-is"
    title = "NPB IS"
    benchmark = "is"
    iterations = 10
    named = [Named("SCOZ", *lines("is.c", 684, 687), title="is.c:684 to 687")]  # 618 in the paper's version
    expected = ["is.c:684"]
    # The loop's own line has most of its samples: which of the three an instruction counts for is the compiler's choice.
    # The paper's points; the whole gains less than the loop, as buckets get longer.
    changes = [Change("buckets", "256 buckets instead of 4096", LOOP, options=["--together"], sign=1),
               Change("buckets-512", "512 buckets", LOOP, options=["--together"]),
               Change("buckets-1024", "1024 buckets", LOOP, options=["--together"]),
               Change("buckets-2048", "2048 buckets", LOOP, options=["--together"])]
    log2 = {"buckets": 8, "buckets-512": 9, "buckets-1024": 10, "buckets-2048": 11}

    def prepare(self):
        self.long = self.with_buckets("profiled", 12, 100000)
        self.binaries = {None: self.with_buckets("base", 12, self.iterations)}
        for change in self.tried():
            self.binaries[change.name] = self.with_buckets(change.name, self.log2[change.name], self.iterations)
        self.points = ["iteration=%s:rank" % self.long]

    def with_buckets(self, name, log2, iterations):
        """Of its timers one is left, around this loop."""
        return self.compile(name, [
            ("IS/is.c", r"^#define  NUM_BUCKETS_LOG_2   10$", "#define  NUM_BUCKETS_LOG_2   %d" % log2),
            ("IS/is.c", r"^#define  MAX_ITERATIONS\s+10$", "#define  MAX_ITERATIONS %d" % iterations),
            ("IS/is.c", r"TIMER_(START|STOP)\( T_RANK \);", ""),
            ("IS/is.c", SORT, r"TIMER_START( T_RANK ); \1TIMER_STOP( T_RANK ); ")])

    def command(self, change):
        return self.job(self.long)

    def measure(self, change, changed, seconds):
        return self.timers(self.binaries[change.name if changed else None], "rcomp", seconds)


OTHERS = [variant(Main, mpi="mpich"), variant(Main, ranks=4)]
