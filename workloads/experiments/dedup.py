# SPDX-License-Identifier: GPL-2.0-or-later
"""PARSEC's dedup: a hash function that leaves most buckets empty, as COZ found, and the one that came after it."""

import os
import random
import shutil
import time

from harness import coz
from harness.experiment import Change, Experiment
from harness.named import Named
from harness.needs import File, Program, Source
from harness.source import edit, line_of

MEGABYTES = 400
SEARCH = "func:hashtable_search@dedup"  # follows the list of a bucket, and compares keys whose sums are equal


class Main(Experiment):
    name = "dedup"
    title = "PARSEC dedup, a thread a stage"
    needs = [Source("parsec", "pkgs/kernels/dedup/src/hashtable.c"), Program("gcc", "gcc"),
             File("/usr/include/openssl/sha.h", "libssl-dev"), File("/usr/include/zlib.h", "zlib1g-dev")]
    unit = "runs"
    quick_seconds = 15
    rounds = 4
    expected = ["hashtable.c:", "hashtable_search", "encoder.c:76"]  # 76: keys_equal_fn()
    named = [Named("COZ", "hashtable.c", "encoder.c:76", title="hashtable_search()")]
    # In the other table a list has one entry or none.
    changes = [Change("hash", "a hash of the key's first 32 bits instead of the sum of its bytes", SEARCH, cheaper=100,
                      sign=1, at_least=5)]

    def prepare(self):
        self.input = self.machine.path("input")
        chance = random.Random(self.opt.seed)
        with open(self.input, "wb") as f:
            for _ in range(MEGABYTES // 20):
                f.write(chance.randbytes(20 << 20))
        self.binaries = {changed: self.compile(name, changed) for changed, name in ((False, "base"), (True, "changed"))}
        lines = line_of(self.machine.path("base", "encoder.c"), "rabininit(rf_win, rabintab, rabinwintab);")
        self.points = ["block=%s:encoder.c:%d" % (self.binaries[False], lines)]

    def compile(self, name, changed):
        tree = self.machine.path(name)
        shutil.copytree(os.path.join(self.source("parsec"), "pkgs", "kernels", "dedup", "src"), tree)
        encoder = os.path.join(tree, "encoder.c")
        if not changed:  # as in the PARSEC that COZ profiled; PARSEC 3.0 has what is faster
            edit(encoder, r"return \(\(unsigned int \*\)k\)\[0\];",
                 "unsigned int h = 0; for (int i = 0; i < SHA1_LEN; i++) h += ((unsigned char *)k)[i]; return h;")
        edit(encoder, r"^    rabininit\(rf_win, rabintab, rabinwintab\);\n\n    int split;\n    sequence_number_t",
             "    rabininit(rf_win, rabintab, rabinwintab); UNIT_DONE;\n\n    int split;\n    sequence_number_t")
        binary = os.path.join(tree, "dedup")
        unit = ["-DUNIT_DONE="] if coz.missing() else ["-include", "coz.h", "-DUNIT_DONE=COZ_PROGRESS"]
        self.machine.run(["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", tree, "gcc", "-O2", "-g", "-w", "-pthread",
                          "-DENABLE_PTHREADS", "-DENABLE_GZIP_COMPRESSION", *coz.FLAGS, *unit, "-I.", "-o", binary]
                         + sorted(f for f in os.listdir(tree) if f.endswith(".c")) + ["-lz", "-lm", "-lcrypto", "-ldl"])
        return binary

    def job(self, binary):
        return [binary, "-c", "-p", "-t", "1", "-w", "none", "-i", self.input, "-o", "/dev/null"]

    def command(self, change):
        return ["sh", "-c", 'while "$@"; do :; done', "sh"] + self.job(self.binaries[False])

    def measure(self, change, changed, seconds):
        begin, runs = time.monotonic(), 0
        while not runs or time.monotonic() - begin < seconds:
            self.machine.run(self.job(self.binaries[changed]))
            runs += 1
        return runs / (time.monotonic() - begin), None
