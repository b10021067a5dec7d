# SPDX-License-Identifier: GPL-2.0-or-later
"""Filebench's varmail on an ext4 of its own: what a mail server's fsync waits for."""

from harness.experiment import Change
from harness.filebench import Filebench
from harness.named import Named


class Main(Filebench):
    name = "varmail"
    title = "Filebench varmail"
    costs = ["fsyncfile"]
    options = ["-k", "auto"]
    named = [Named("SCOZ", "do_unlinkat", "vfs_unlink", "unlink", title="unlink"),
             Named("SCOZ", "jbd2", title="jbd2_complete_transaction()", name="kernel", options=["-b", "vmlinux"])]
    rounds, measure_seconds = 4, 3
    expected = ["kernel:", "jbd2", "unlink", "bin:"]
    changes = [
        Change("memory", "in memory (tmpfs)", "syscall:fsync", options=["--waits"], replay="class:io", sign=1, at_least=20),
        Change("device", "a device in memory, the same file system and journal", "syscall:fsync", options=["--waits"], replay="class:io"),
        Change("barrier", "the disk's cache is not flushed (mount -o barrier=0)", "syscall:fsync", options=["--waits"], replay="class:io"),
        Change("nojournal", "no journal (mkfs -O ^has_journal)", "syscall:fsync", options=["--waits"], replay="class:io"),
    ]

    def changed_folder(self, name):
        if name == "memory":
            return self.machine.tmpfs(name)
        if name == "device":
            return self.machine.ext4(name, self.megabytes, folder=self.machine.tmpfs("device-memory"))
        if name == "barrier":
            return self.machine.ext4(name, self.megabytes, "barrier=0")
        return self.machine.ext4(name, self.megabytes, mkfs=["-O", "^has_journal"])

    def where(self):
        return ["loop=%s:flowoplib_deletefile" % self.program]
