# SPDX-License-Identifier: GPL-2.0-or-later
"""NPB CG over MPI: conjugate gradients, a sparse matrix times a vector."""

from harness.experiment import Change
from harness.npb import Unoptimized


class Main(Unoptimized):
    name = "npb-cg"
    title = "NPB CG"
    benchmark = "cg"
    klass = "W"
    iterations = 15
    expected = ["cg.f:", "conj_grad", "bin:cg."]
    # Waiting in its calls of MPI is in it, too, and does not count: polling is no hit.
    changes = [Change("O2", "-O2 instead of -O0", "func:conj_grad_@cg.W.x", sign=1, at_least=20)]

    @staticmethod
    def loops(iterations):
        return "sys/setparams.c", r"(na=7000;\s*nonzer=8;\s*niter=)15;", r"\g<1>%d;" % iterations

    @staticmethod
    def where(binary):
        return ["iteration=%s:conj_grad_" % binary]
