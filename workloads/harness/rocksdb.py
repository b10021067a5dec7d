# SPDX-License-Identifier: GPL-2.0-or-later
"""RocksDB by its own load generator, both as Debian packages."""

import re
import shutil

from .experiment import Experiment
from .machine import Failed
from .needs import Program

KEYS = 400000


class RocksDb(Experiment):
    needs = [Program("db_bench", "rocksdb-tools"), Program("nm", "binutils"), Program("ldd", "libc-bin")]
    unit = "operations"

    def argv(self, job, folder):
        return ["db_bench", "--benchmarks=" + job[0], "--db=" + folder, "--num=%d" % KEYS, "--value_size=400",
                "--bloom_bits=10", "--seed=%d" % self.opt.seed] + job[1:]

    def bench(self, job, folder):
        return self.machine.run(self.argv(job, folder))

    def point(self, function):
        """By a symbol that the library exports; the first one with this in its name."""
        library = re.search(r"librocksdb\S* => (\S+)", self.machine.run(["ldd", shutil.which("db_bench")]))
        if not library:
            raise Failed("db_bench has no librocksdb: another build than Debian's")
        names = re.findall(r" T (_ZN7rocksdb%s\S*)" % function, self.machine.run(["nm", "-D", library[1]]))
        if not names:
            raise Failed("%s has no %s: another version of RocksDB than 7.8" % (library[1], function))
        return "op=%s:%s" % (library[1], min(names, key=len))

    @staticmethod
    def rate(job, out):
        found = re.search(r"^%s\s*:.*?(\d+) ops/sec" % job, out, re.M)
        if not found:
            raise Failed("db_bench does not say how much it did: " + out[-400:])
        return float(found[1])
