# SPDX-License-Identifier: GPL-2.0-or-later
"""NPB FT over MPI: the local transpose, in blocks of 32 and of 128."""

import os

from harness.experiment import Change
from harness.npb import Npb, RANKS


class Main(Npb):
    name = "npb-ft"
    title = "NPB FT"
    benchmark = "ft"
    iterations = 6
    expected = ["transpose2_local", "fftz2", "cffts", "ft.f:", "bin:ft."]
    changes = [Change("blocks", "blocks of 128 instead of 32", "func:transpose2_local_@ft.A.x")]

    def prepare(self):
        wide = [("FT/ft_data.f", r"transblock=32, transblockpad=34", "transblock=128, transblockpad=130")]
        self.binaries = {False: self.compile("base", []), True: self.compile("wide", wide)}
        self.long = self.compile("profiled", [])
        with open(os.path.join(os.path.dirname(self.long), "inputft.data"), "w") as f:
            f.write("100000\n1\n1 %d\n" % RANKS)
        self.points = ["plane=%s:cffts1_" % self.long]

    def command(self, change):
        # It reads how many iterations to make from where it runs.
        return ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", os.path.dirname(self.long)] + self.job(self.long)

    def measure(self, change, changed, seconds):
        binary = self.binaries[changed]
        return self.timed(binary, seconds), self.timer(binary, "transpose1_loc")
