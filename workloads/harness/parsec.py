# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of PARSEC: copies are built outside the checkout, and changed there."""

import os
import shutil

from .experiment import Experiment
from .source import edit

BARRIER = "#define ENABLE_AUTOMATIC_DROPIN"


class Parsec(Experiment):
    """One that waits at PARSEC's own barrier, which spins and then tries a lock; or at pthread's."""

    unit = "runs"
    quick_seconds = 15
    folder = None
    sources = []
    flags = []

    def prepare(self):
        self.binaries = {changed: self.compile(name, changed) for changed, name in
                         ((False, "base"), (True, "pthread"))}
        self.points = self.where(self.binaries[False])

    def compile(self, name, changed):
        tree = self.machine.path(name)
        shutil.copytree(os.path.join(self.source("parsec"), "pkgs", self.folder, "src"), tree)
        if changed:
            edit(os.path.join(tree, "parsec_barrier.hpp"), BARRIER, "")
        binary = os.path.join(tree, self.name)
        self.machine.run(["g++", "-O2", "-g", "-w", "-fpermissive", "-pthread"] + self.flags + ["-o", binary]
                         + [os.path.join(tree, s) for s in self.sources])
        return binary

    def command(self, change):
        return self.job(self.binaries[False], 100000000)
