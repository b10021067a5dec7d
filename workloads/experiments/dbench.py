# SPDX-License-Identifier: GPL-2.0-or-later
"""dbench, unmodified: system calls in memory, and what it waits for on an ext4 of its own."""

import re

from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.named import Named
from harness.needs import File, Program

LOAD = "/usr/share/dbench/client.txt"


class Main(Experiment):
    name = "dbench"
    title = "dbench"
    needs = [Program("dbench", "dbench"), File(LOAD, "dbench"),
             Program("eatmydata", "eatmydata"), Program("mkfs.ext4", "e2fsprogs")]
    unit = "writes"
    points = ["op=syscall:pwrite64:dbench"]
    changes = [
        Change("read", "in memory: without reading (a load file of its own)", "syscall:pread64", cheaper=100, sign=1, at_least=5),
        Change("fsync", "without fsync (eatmydata)", "syscall:fsync", cheaper=100, options=["--waits"], replay="class:io", sign=1),
    ]
    options = ["-k", "auto"]  # what is slow here is the kernel
    # Where it has its lines the paper's scope is fs/*; functions have no files.
    named = [Named("SCOZ", "path_openat", "do_unlinkat", "do_filp_open", "vfs_unlink", "syscall:openat", "syscall:unlink",
                   title="path_openat, do_unlinkat"),
             Named("SCOZ", "jbd2", "ext4_journal", title="jbd2, ext4_journal_start_sb", name="kernel", options=["-b", "vmlinux"])]
    expected = ["kernel:", "syscall:", "func:0x", "bin:dbench"]  # its functions have no names

    def prepare(self):
        self.memory = self.machine.tmpfs("memory")
        # Of its own, so that its journal is nobody else's.
        alone = [c.name for c in self.tried()] == ["read"]
        self.disk = None if self.quick and alone else self.machine.ext4("disk", 1024)
        self.noread = self.machine.path("noread.txt")
        with open(LOAD) as f, open(self.noread, "w") as out:
            out.writelines(row for row in f if not row.startswith("ReadX "))

    def job(self, change, changed, seconds):
        in_memory = change is not None and change.name == "read"
        argv = ["eatmydata"] if changed and not in_memory else []
        return argv + ["dbench", "-t", str(seconds), "-D", self.memory if in_memory else self.disk,
                       "-c", self.noread if changed and in_memory else LOAD, "2"]

    def command(self, change):
        return self.job(change, False, 100000)

    def measure(self, change, changed, seconds):
        out = self.machine.run(self.job(change, changed, seconds))
        # Operations, not bytes: a load without reads has fewer bytes.
        found = re.search(r"^ WriteX\s+(\d+)", out, re.M)
        if not found:
            raise Failed("dbench does not say how often it wrote: " + out[-300:])
        return int(found[1]) / seconds, None
