# SPDX-License-Identifier: GPL-2.0-or-later
"""PARSEC's ferret: a pipeline whose ranking stage is what is short, as COZ and SCOZ found."""

import os
import random
import re
import shutil
import time

from harness import coz
from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.named import Named
from harness.needs import File, Program, Source
from harness.source import edit

IMAGES, QUERIES, SHAPES = 5000, 40000, 16
WIDTH, HEIGHT = 60, 45
RANKING = "ferret-pthreads.c:368"  # cass_table_query() in t_rank()
STAGES = ["main", "load", "seg", "extract", "vec", "rank"]  # threads in the order of their making


class Main(Experiment):
    name = "ferret"
    title = "PARSEC ferret, a thread a stage"
    needs = [Source("parsec", "pkgs/apps/ferret/src/benchmark/ferret-pthreads.c"), Program("g++", "g++"),
             Program("make", "make"), Program("cjpeg", "libjpeg-turbo-progs"),
             File("/usr/include/jpeglib.h", "libjpeg-dev"), File("/usr/include/gsl/gsl_rng.h", "libgsl-dev")]
    unit = "queries"
    quick_seconds = 15
    options = ["-s", "*ferret-pthreads.c"]  # as in the papers
    expected = [RANKING]
    named = [Named("COZ, SCOZ", RANKING)]
    changes = [
        Change("O2", "the ranking's distances compiled with -O2", RANKING, sign=1, at_least=10),
        # A second thread is no faster one: it is where a core has nothing else to do.
        Change("threads", "two threads for ranking", RANKING, cheaper=50, at_most=True, sign=1, at_least=10),
    ]

    def prepare(self):
        self.inputs()
        self.binaries = {None: self.compile("base"), "O2": self.compile("O2")}
        if self.tries("threads"):
            self.binaries["threads"] = self.compile("threads")
        self.database()
        self.points = ["query=%s:ferret-pthreads.c:412" % self.binaries[None]]

    def inputs(self):
        """Features of images for the database, and images to look for, most of them many times."""
        chance = random.Random(self.opt.seed)
        with open(self.machine.path("corel.txt"), "w") as f:
            for i in range(IMAGES):
                regions = chance.randint(4, 11)
                f.write("image%06d.jpg %d\n" % (i, regions))
                for _ in range(regions):
                    f.write("%.4f %s\n" % (1 / regions, " ".join("%.4f" % chance.uniform(-3, 3) for _ in range(14))))
        self.queries = self.machine.path("queries")
        os.mkdir(self.queries)
        for i in range(SHAPES):
            picture = self.machine.path("picture%d.ppm" % i)
            with open(picture, "wb") as f:
                f.write(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + self.picture(chance))
            self.machine.run(["cjpeg", "-quality", "90", "-outfile", os.path.join(self.queries, "%05d.jpg" % i), picture])
        for i in range(SHAPES, QUERIES):
            os.link(os.path.join(self.queries, "%05d.jpg" % (i % SHAPES)), os.path.join(self.queries, "%05d.jpg" % i))

    @staticmethod
    def picture(chance):
        """Rectangles of a colour each, with noise."""
        pixels = bytearray(3 * WIDTH * HEIGHT)
        for n in range(9):
            colour = [chance.randrange(256) for _ in range(3)]
            x, y = (0, 0) if n == 0 else (chance.randrange(WIDTH - 10), chance.randrange(HEIGHT - 10))
            right, bottom = (WIDTH, HEIGHT) if n == 0 else (x + chance.randint(8, 30), y + chance.randint(8, 30))
            for row in range(y, min(bottom, HEIGHT)):
                for column in range(x, min(right, WIDTH)):
                    at = 3 * (row * WIDTH + column)
                    pixels[at:at + 3] = bytes(min(255, max(0, c + chance.randint(-6, 6))) for c in colour)
        return bytes(pixels)

    def compile(self, name):
        tree = self.machine.path(name)
        shutil.copytree(os.path.join(self.source("parsec"), "pkgs", "apps", "ferret", "src"), tree)
        # The published sources are without what writes a database.
        edit(os.path.join(tree, "include", "cass_file.h"), r"assert\(0\);\s*return -1;",
             "return fwrite(buf, sizeof *buf, nmemb, out);")
        stages = os.path.join(tree, "benchmark", "ferret-pthreads.c")
        edit(stages, r"^\t\tcnt_dequeue\+\+;", "\t\tcnt_dequeue++; UNIT_DONE;")
        if name == "threads":
            edit(stages, r"NTHREAD_RANK = atoi\(argv\[6\]\);", "NTHREAD_RANK = 2;")
        unit = ["-DUNIT_DONE="] if coz.missing() else ["-include", "coz.h", "-DUNIT_DONE=COZ_PROGRESS"]
        flags = " ".join(["-g", "-w"] + coz.FLAGS + unit)
        log = self.machine.path("build.log")

        def make(*what, optimize=""):
            self.machine.run(["make", "-j2", "-C", tree, *what, "CC=gcc -fcommon %s %s" % (optimize, flags),
                              "CXX=g++ " + flags, "LIBS=-ldl"], log=log)
        make("dirs")
        if name == "O2":
            make(os.path.join(tree, "parsec", "obj", "emd.o"), optimize="-O2")
        make("lib", "tools", "benchmark")
        make("benchmark", "version=pthreads")
        return os.path.join(tree, "parsec", "bin", "ferret-pthreads")

    def database(self):
        """As benchmark/mkdb makes it."""
        tools = os.path.dirname(self.binaries[None])
        where = self.machine.path("corel")
        os.mkdir(where)

        def tool(name, *more):
            out = self.machine.run([os.path.join(tools, name), where, *more])
            if "ERROR" in out:
                raise Failed("ferret's %s: %s" % (name, out.strip()))
        tool("cass_init")
        for kind in ("trivial", "hamming", "L1_float", "L2_float", "cosine"):
            tool("cass_add_vec_dist", kind, kind, "")
        for kind in ("trivial", "single", "myemd", "emd"):
            tool("cass_add_vecset_dist", kind, kind, "")
        tool("cass_add_cfg", "cfg_corel", "2", "float", "14")
        tool("cass_add_map", "map_corel", "indirect")
        tool("cass_add_table", "corel", "cfg_corel", "map_corel")
        tool("cass_import", "corel", self.machine.path("corel.txt"))
        tool("cass_add_index", "corel", "lsh", "-L 12 -M 17 -w 4.0708 -H 19697 -recall", "lsh")

    def job(self, binary):
        return [binary, self.machine.path("corel"), "lsh", self.queries, "10", "20", "1", os.devnull]

    def command(self, change):
        return self.job(self.binaries[None])

    def measure(self, change, changed, seconds):
        binary = self.binaries[change.name if changed else None]
        log = self.machine.path("measured.log")
        with open(log, "w"):
            pass
        process = self.machine.start(self.job(binary), log=log)
        try:
            end = time.monotonic() + 30
            while not self.answered(log):
                if process.poll() is not None or time.monotonic() > end:
                    raise Failed("ferret answers no query")
                time.sleep(0.1)
            begin, first, cpu = time.monotonic(), self.answered(log), self.ranking(process.pid)
            time.sleep(seconds)
            done, took = self.answered(log) - first, time.monotonic() - begin
            return done / took, (self.ranking(process.pid) - cpu) / max(done, 1)
        finally:
            self.machine.end(process)

    @staticmethod
    def answered(log):
        with open(log, "rb") as f:
            f.seek(max(0, os.path.getsize(log) - 200))
            found = re.findall(rb"^\(\d+,(\d+)\)\n", f.read(), re.M)
        return int(found[-1]) if found else 0

    @staticmethod
    def ranking(pid):
        """The time of its first ranking thread on a processor."""
        task = sorted(map(int, os.listdir("/proc/%d/task" % pid)))[STAGES.index("rank")]
        with open("/proc/%d/task/%d/schedstat" % (pid, task)) as f:
            return int(f.read().split()[0])
