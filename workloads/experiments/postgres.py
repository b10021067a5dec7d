# SPDX-License-Identifier: GPL-2.0-or-later
"""postgres and pgbench: commits that wait for the disk, and pages that have to be read again and again."""

import glob
import os
import re
import shutil
import time

from harness.experiment import Change, Experiment
from harness.machine import ZRAM, Failed
from harness.named import Named
from harness.needs import File, Program

PROGRAMS = "/usr/lib/postgresql/*/bin"
PORT = "5432"  # of a socket in a directory of its own: nobody else's


class Main(Experiment):
    name = "postgres"
    title = "postgres: pgbench, two clients"
    needs = [Program("pgbench", "postgresql"), Program("setpriv", "util-linux"),
             File("/usr/share/postgresql-common", "postgresql")]
    unit = "transactions"
    seconds = 30
    expected = ["bin:postgres", "func:", "kernel:"]
    changes = [
        Change("fsync", "fsync off", "syscall:fdatasync", cheaper=100, options=["--waits"], replay="class:io", sign=1, at_least=10),
        Change("asynchronous", "synchronous_commit off", "syscall:fdatasync", cheaper=100, options=["--waits"], replay="class:io", sign=1),
        Change("disk", "a disk that is memory (zram), with the same file system", "class:io", cheaper=100, sign=1,
               needs=[File(ZRAM, "zram", how="modprobe")]),
        # Neither journal, nor block requests: more than a faster disk.
        Change("memory", "in memory (tmpfs)", "class:io", cheaper=100, sign=1),
        # Reading only. What is found is not looked for, checked and copied either.
        Change("buffers", "shared_buffers 64 MB instead of 128 kB", "syscall:pread64", cheaper=100),
    ]
    named = [Named(None, "@postgres", "bin:postgres", title="postgres")]

    def prepare(self):
        folders = sorted(glob.glob(PROGRAMS))
        if not folders or not os.path.exists(os.path.join(folders[-1], "initdb")):
            raise Failed("no initdb in %s: apt-get install postgresql" % PROGRAMS)
        self.bin = folders[-1]
        self.data = self.machine.path("data")
        os.mkdir(self.data)
        shutil.chown(self.data, "postgres")
        self.machine.run(self.as_user([self.bin + "/initdb", "-A", "trust", "-D", self.data]), cwd=self.data)
        self.servers = {"64MB": self.server(self.data, "64MB")}
        self.machine.run(self.bench(["-q", "-i", "-s", "5"]), cwd=self.data)
        copies = {}  # by server: the directory and the buffers
        if self.tries("buffers"):
            copies["128kB"] = self.machine.path("copy"), "128kB"
        if self.tries("disk"):
            copies["disk"] = os.path.join(self.machine.disk_in_memory("disk", 2000), "data"), "64MB"
        if self.tries("memory"):
            copies["memory"] = os.path.join(self.machine.tmpfs("memory"), "data"), "64MB"
        if copies:
            self.machine.run(self.as_user([self.bin + "/pg_ctl", "-D", self.data, "-m", "fast", "stop"]), cwd=self.data)
            for data, _ in copies.values():
                self.machine.run(["cp", "-a", self.data, data])
            self.servers = {name: self.server(*c) for name, c in {"64MB": (self.data, "64MB"), **copies}.items()}
        self.points = ["commit=%s/postgres:CommitTransactionCommand" % self.bin]
        self.latencies = {"query": "%s/postgres:pg_parse_query,%s/postgres:ReadyForQuery" % (self.bin, self.bin)}

    def server(self, data, buffers):
        """Its process, and where it listens: a socket in its directory."""
        return self.machine.serve(
            self.as_user([self.bin + "/postgres", "-D", data, "-p", PORT, "-k", data, "-c", "listen_addresses=",
                          "-c", "autovacuum=off", "-c", "shared_buffers=" + buffers]),
            lambda: self.answers(data), "postgres", self.machine.path("postgres.log")), data

    @staticmethod
    def as_user(argv):
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + argv

    def answers(self, data):
        where = ["-h", data, "-p", PORT]
        return "accepting" in self.machine.run([self.bin + "/pg_isready"] + where, check=False)

    def bench(self, more, server="64MB"):
        return self.as_user(["pgbench", "-h", self.servers[server][1], "-p", PORT] + more + ["postgres"])

    def job(self, change, changed, seconds):
        reads = change is not None and change.name == "buffers"
        server = "64MB"
        if change is not None and change.name in ("disk", "memory") and changed:
            server = change.name
        elif reads and not changed:
            server = "128kB"
        return self.bench(["-c", "2", "-j", "2", "-T", str(seconds)] + (["-S"] if reads else []), server)

    def command(self, change):
        return self.job(change, False, 100000)

    def options(self, change):
        return ["--pid", str(self.servers["128kB" if change and change.name == "buffers" else "64MB"][0].pid)]

    def measure(self, change, changed, seconds):
        name = {"fsync": "fsync", "asynchronous": "synchronous_commit"}.get(change.name)
        if name:
            self.set(name, "off" if changed else "on")
        try:
            out = self.machine.run(self.job(change, changed, seconds), cwd=self.data)
        finally:
            if name:
                self.set(name, "on")
        found = re.search(r"tps = ([\d.]+)", out)
        if not found:
            raise Failed("pgbench does not say how many transactions it made: " + out[-300:])
        return float(found[1]), None

    def set(self, name, value):
        self.machine.run(self.as_user(["psql", "-q", "-h", self.data, "-p", PORT, "-c",
                                       "alter system set %s = %s" % (name, value), "postgres"]), cwd=self.data)
        self.machine.run(self.as_user([self.bin + "/pg_ctl", "-D", self.data, "reload"]), cwd=self.data)
        time.sleep(0.3)
