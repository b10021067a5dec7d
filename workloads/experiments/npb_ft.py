# SPDX-License-Identifier: GPL-2.0-or-later
"""NPB FT over MPI: the local transpose, in blocks of 32 and of 128."""

from harness.experiment import Change
from harness.named import Named, lines
from harness.npb import Npb, variant


class Main(Npb):
    name = "npb-ft"
    title = "NPB FT"
    benchmark = "ft"
    iterations = 6
    # The loop of transpose2_local(), 1336 in the paper's version.
    named = [Named("SCOZ", "transpose2_local", *lines("ft.f", 1307, 1327), title="ft.f:1307 to 1327")]
    expected = ["transpose2_local", "fftz2", "cffts", "ft.f:", "bin:ft."]
    changes = [Change("blocks", "blocks of 128 instead of 32", "func:transpose2_local_@ft.A.x")]

    def prepare(self):
        wide = [("FT/ft_data.f", r"transblock=32, transblockpad=34", "transblock=128, transblockpad=130")]
        self.binaries = {False: self.compile("base", []), True: self.compile("wide", wide)}
        # It keeps what it finds in each iteration in an array of as many.
        self.long = self.compile("profiled", [("sys/setparams.c", r"(nx = 256;.*nz = 128;.*niter = ?)6;", r"\g<1>100000;")])
        self.points = ["fft=%s:ft.f:916" % self.long]  # as in the paper: the loop in cffts1()

    def command(self, change):
        return self.job(self.long)

    def measure(self, change, changed, seconds):
        return self.timers(self.binaries[changed], "transpose1_loc", seconds)


OTHERS = [variant(Main, mpi="mpich"), variant(Main, ranks=4)]
