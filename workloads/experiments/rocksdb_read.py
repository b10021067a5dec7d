# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB's readrandom with a cache that is much too small: what it reads is on the disk."""

import os
import shutil

from harness.experiment import Change
from harness.named import Named
from harness.rocksdb import RocksDb


class Main(RocksDb):
    name = "rocksdb-read"
    title = "RocksDB readrandom, a small cache"
    named = [Named("BCOZ", "class:io", title="class:io (the paper's I/O subclass)")]
    expected = ["class:io", "syscall:pread64", "kernel:", "librocksdb", "bin:"]
    changes = [
        Change("memory", "the database in memory (tmpfs)", "syscall:pread64", cheaper=100, options=["--waits"], replay="class:io", sign=1, at_least=15),
        # Blocks that are found in the cache are not checked and unpacked again either.
        Change("cache", "a cache of 1 GB instead of 1 MB", "syscall:pread64", cheaper=100, options=["--waits"], replay="class:io", sign=1),
    ]

    def prepare(self):
        self.folder = self.machine.path("db")
        self.bench(["fillrandom"], self.folder)
        self.copy = os.path.join(self.machine.tmpfs("memory"), "db")
        shutil.copytree(self.folder, self.copy)
        self.points = [self.point("6DBImpl7GetImplE")]

    def job(self, changed, seconds):
        memory = changed == "memory"
        return self.argv(["readrandom", "--use_existing_db=1", "--threads=2", "--use_direct_reads=%d" % (not memory),
                          "--duration=%d" % seconds, "--cache_index_and_filter_blocks=1",
                          "--cache_size=%d" % (1 << (30 if changed == "cache" else 20))],
                         self.copy if memory else self.folder)

    def command(self, change):
        return self.job(None, 100000)

    def measure(self, change, changed, seconds):
        return self.rate("readrandom", self.machine.run(self.job(change.name if changed else None, seconds))), None
