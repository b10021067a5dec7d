# SPDX-License-Identifier: GPL-2.0-or-later
"""The NAS parallel benchmarks over MPI: copies are built outside the checkout, and changed there."""

import os
import re
import shutil
import time

from .experiment import Experiment
from .machine import Failed
from .needs import Program, Source
from .source import edit

MPI = os.environ.get("SCOZ_MPI", "openmpi")  # or mpich: both may be installed side by side
TOOK = r"Time in seconds\s*=\s*([\d.]+)"
RANKS = int(os.environ.get("SCOZ_RANKS", "2"))


def needed(mpi):
    return [Source("npb", "NPB3.4/NPB3.4-MPI/Makefile"), Program("gfortran", "gfortran"), Program("make", "make"),
            Program("mpicc." + mpi, "libopenmpi-dev" if mpi == "openmpi" else "libmpich-dev"),
            Program("mpirun." + mpi, "openmpi-bin" if mpi == "openmpi" else "mpich")]


def variant(main, mpi=MPI, ranks=RANKS):
    """The same experiment with another MPI, or another number of ranks; the first change."""
    suffix = "-%s" % mpi if mpi != MPI else "-%d" % ranks
    title = "%s, %s, %d ranks" % (main.title, {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi], ranks)
    return type("Main", (main,), {"name": main.name + suffix, "title": title, "mpi": mpi, "ranks": ranks, "needs": needed(mpi),
                                 "changes": main.changes[:1]})


class Npb(Experiment):
    needs = needed(MPI)
    mpi, ranks = MPI, RANKS
    rounds = 4
    seconds = 30
    quick_seconds = 25  # of some tens of iterations a second
    unit = "iterations"
    benchmark = None  # is, ft
    klass = "A"
    iterations = None  # of a run; with another number it does not verify its result
    verifies = True

    def compile(self, name, edits, optimize="-O2"):
        """A copy by this name, with lines changed: (file, pattern, by)."""
        tree = self.machine.path(name)
        shutil.copytree(os.path.join(self.source("npb"), "NPB3.4", "NPB3.4-MPI"), tree)
        with open(os.path.join(tree, "config", "make.def"), "w") as f:
            f.write("MPIFC = mpif90.%s\nFLINK = $(MPIFC)\nFFLAGS = %s -g -fallow-argument-mismatch "
                    "-fallow-invalid-boz\nFLINKFLAGS = $(FFLAGS)\nMPICC = mpicc.%s\nCLINK = $(MPICC)\n"
                    "CFLAGS = -O2 -g\nCLINKFLAGS = $(CFLAGS)\nCC = cc -g\nBINDIR = ../bin\nRAND = randi8\n"
                    % (self.mpi, optimize, self.mpi))
        os.makedirs(os.path.join(tree, "bin"), exist_ok=True)
        for file, pattern, by in edits:
            edit(os.path.join(tree, file), pattern, by)
        self.machine.run(["make", "-C", tree, self.benchmark, "CLASS=" + self.klass], log=self.machine.path("build.log"))
        return os.path.join(tree, "bin", "%s.%s.x" % (self.benchmark, self.klass))

    def job(self, binary):  # with more ranks than cores, Open MPI yields the core when it polls
        if self.mpi == "openmpi":
            return ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun.openmpi",
                    "--oversubscribe", "-n", str(self.ranks), binary]
        return ["mpirun.mpich", "-n", str(self.ranks), binary]

    def timers(self, binary, name, seconds):
        """Iterations a second, and seconds of one of its timers an iteration, on average over the ranks.

        By the benchmark's own clock, which leaves its preparation out.
        """
        folder = os.path.dirname(binary)
        flag = os.path.join(folder, "timer.flag")
        begin, runs, took, costs = time.monotonic(), 0, 0, 0
        with open(flag, "w"):
            pass
        try:
            while not runs or time.monotonic() - begin < seconds:
                out = self.verified(binary)
                found = re.search(r"timer\s+\d+\s*\(\s*%s\s*\)\s*:\s*[\d.]+\s+[\d.]+\s+([\d.]+)" % name, out)
                if not found:
                    raise Failed("%s: no timer %s in what it says: %s" % (binary, name, out[-600:]))
                took += float(re.search(TOOK, out)[1])
                costs += float(found[1])
                runs += 1
        finally:
            os.unlink(flag)
        return runs * self.iterations / took, costs / (runs * self.iterations)

    def verified(self, binary):
        out = self.machine.run(self.job(binary), cwd=os.path.dirname(binary))
        if self.verifies and not re.search(r"Verification\s*=\s*SUCCESSFUL", out):
            raise Failed("%s has not verified its result: %s" % (binary, out[-400:]))
        return out


class Unoptimized(Npb):
    """The paper has no figure of its own: compiled without and with optimization.

    cheaper: by how much the program's own work is, by its timers, which leave its calls of MPI out.
    """

    def variant(self, name, optimize, iterations=None):
        edits = [] if iterations is None else [self.loops(iterations)]
        return self.compile(name, edits, optimize)

    def prepare(self):
        own = None if self.verifies else self.iterations
        self.binaries = {False: self.variant("base", "-O0", own), True: self.variant("optimized", "-O2", own)}
        self.long = self.variant("profiled", "-O0", 100000)
        self.points = self.where(self.long)

    def command(self, change):
        return self.job(self.long)

    def measure(self, change, changed, seconds):
        return self.timers(self.binaries[changed], "totcomp", seconds)
