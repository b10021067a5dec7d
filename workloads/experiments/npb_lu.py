# SPDX-License-Identifier: GPL-2.0-or-later
"""NPB LU over MPI: a wavefront, in which each rank waits for what its neighbour sends."""

from harness.experiment import Change
from harness.npb import Unoptimized


class Main(Unoptimized):
    name = "npb-lu"
    title = "NPB LU"
    benchmark = "lu"
    klass = "W"
    iterations = 40  # of 300, which take half a minute with -O0
    verifies = False
    expected = ["blts", "buts", "jacld", "jacu", "rhs", "bin:lu."]
    changes = [Change("O2", "-O2 instead of -O0", "func:ssor_@lu.W.x", sign=1, at_least=20)]

    @staticmethod
    def loops(iterations):
        return "sys/setparams.c", r"(problem_size = 33;.*itmax = )300;", r"\g<1>%d;" % iterations

    @staticmethod
    def where(binary):
        return ["plane=%s:blts_" % binary]  # of the lower sweep, some tens in an iteration
