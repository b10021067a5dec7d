# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB's fillrandom: compression is what is worth something, the log is not."""

from harness.experiment import Change
from harness.rocksdb import RocksDb

WRITES = 150000


class Main(RocksDb):
    name = "rocksdb-fill"
    title = "RocksDB fillrandom, compressed by zlib"
    expected = ["libz", "deflate", "librocksdb", "bin:", "func:"]
    changes = [
        Change("compression", "no compression", "bin:libz.so*", cheaper=100, sign=1, at_least=10),
        Change("wal", "no write-ahead log", "syscall:write", cheaper=100, options=["--waits"]),
    ]
    more = {None: [], "compression": ["--compression_type=none"], "wal": ["--disable_wal=1"]}

    def prepare(self):
        self.points = [self.point("6DBImpl5WriteE")]

    def job(self, name, writes):
        return self.argv(["fillrandom", "--writes=%d" % writes, "--threads=2", "--compression_type=zlib"] + self.more[name],
                         self.machine.path("db"))

    def command(self, change):
        return self.job(None, 1000000000)

    def measure(self, change, changed, seconds):
        out = self.machine.run(self.job(change.name if changed else None, WRITES))
        return self.rate("fillrandom", out), None
