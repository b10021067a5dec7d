# SPDX-License-Identifier: GPL-2.0-or-later
"""Filebench's fileserver on an ext4 of its own: creating, writing, reading and deleting, with nothing that is waited for on purpose."""

from harness.experiment import Change
from harness.filebench import Filebench


class Main(Filebench):
    name = "fileserver"
    title = "Filebench fileserver"
    megabytes = 1024
    # Files are a quarter as large as there, for a disk of this size; with fewer of them it runs out of names.
    settings = {"nfiles": 10000, "filesize": "cvar(type=cvar-gamma,parameters=mean:32768;gamma:1.5)"}
    costs = ["wrtfile", "appendfilerand"]
    options = ["-k", "auto"]
    rounds, measure_seconds = 4, 3
    expected = ["kernel:", "syscall:", "bin:"]
    changes = [
        Change("memory", "in memory (tmpfs)", "syscall:write", sign=1),
        Change("data", "data is not written before its journal (mount -o data=writeback)", "syscall:write"),
        Change("commit", "the journal is written every minute instead of every 5 s (mount -o commit=60)", "syscall:write"),
    ]

    def changed_folder(self, name):
        return self.machine.tmpfs(name) if name == "memory" else self.machine.ext4(
            name, self.megabytes, {"data": "data=writeback", "commit": "commit=60"}[name])

    def where(self):
        return ["loop=syscall:unlink:filebench"]
