# SPDX-License-Identifier: GPL-2.0-or-later
"""Filebench's varmail on an ext4 of its own: what a mail server's fsync waits for."""

from harness.experiment import Change
from harness.filebench import Filebench


class Main(Filebench):
    name = "varmail"
    title = "Filebench varmail"
    costs = ["fsyncfile"]
    options = ["-k", "auto"]
    expected = ["kernel:", "jbd2", "unlink", "bin:"]
    changes = [
        Change("memory", "in memory (tmpfs)", "syscall:fsync", options=["--waits"], sign=1, at_least=20),
        Change("barrier", "the disk's cache is not flushed (mount -o barrier=0)", "syscall:fsync", options=["--waits"]),
        Change("nojournal", "no journal (mkfs -O ^has_journal)", "syscall:fsync", options=["--waits"]),
    ]

    def changed_folder(self, name):
        if name == "memory":
            return self.machine.tmpfs(name)
        if name == "barrier":
            return self.machine.ext4(name, self.megabytes, "barrier=0")
        return self.machine.ext4(name, self.megabytes, mkfs=["-O", "^has_journal"])

    def where(self):
        return ["loop=%s:flowoplib_deletefile" % self.program]
