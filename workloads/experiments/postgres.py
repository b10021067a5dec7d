# SPDX-License-Identifier: GPL-2.0-or-later
"""postgres and pgbench: commits that wait for the disk."""

import glob
import os
import re
import shutil
import time

from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.needs import File, Program

PROGRAMS = "/usr/lib/postgresql/*/bin"


class Main(Experiment):
    name = "postgres"
    title = "postgres: pgbench, two clients"
    needs = [Program("pgbench", "postgresql"), Program("setpriv", "util-linux"),
             File("/usr/share/postgresql-common", "postgresql")]
    unit = "transactions"
    seconds = 30
    expected = ["bin:postgres", "func:", "kernel:"]
    changes = [Change("fsync", "fsync off", "syscall:fdatasync", cheaper=100, options=["--waits"], sign=1, at_least=10)]

    def prepare(self):
        folders = sorted(glob.glob(PROGRAMS))
        if not folders or not os.path.exists(os.path.join(folders[-1], "initdb")):
            raise Failed("no initdb in %s: apt-get install postgresql" % PROGRAMS)
        self.bin = folders[-1]
        self.data = self.machine.path("data")
        self.port = str(self.machine.port())
        os.mkdir(self.data)
        shutil.chown(self.data, "postgres")
        self.machine.run(self.as_user([self.bin + "/initdb", "-A", "trust", "-D", self.data]), cwd=self.data)
        self.server = self.machine.serve(
            self.as_user([self.bin + "/postgres", "-D", self.data, "-p", self.port, "-k", self.data,
                          "-c", "listen_addresses=", "-c", "autovacuum=off", "-c", "shared_buffers=64MB"]),
            self.answers, "postgres", self.machine.path("postgres.log"))
        self.machine.run(self.bench(["-q", "-i", "-s", "5"]), cwd=self.data)
        self.points = ["commit=%s/postgres:CommitTransactionCommand" % self.bin]

    @staticmethod
    def as_user(argv):
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + argv

    def answers(self):
        where = ["-h", self.data, "-p", self.port]
        return "accepting" in self.machine.run([self.bin + "/pg_isready"] + where, check=False)

    def bench(self, more):
        return self.as_user(["pgbench", "-h", self.data, "-p", self.port] + more + ["postgres"])

    def command(self, change):
        return self.bench(["-c", "2", "-j", "2", "-T", "100000"])

    def options(self):
        return ["--pid", str(self.server.pid)]

    def measure(self, change, changed, seconds):
        self.fsync("off" if changed else "on")
        try:
            out = self.machine.run(self.bench(["-c", "2", "-j", "2", "-T", str(seconds)]), cwd=self.data)
        finally:
            self.fsync("on")
        found = re.search(r"tps = ([\d.]+)", out)
        if not found:
            raise Failed("pgbench does not say how many transactions it made: " + out[-300:])
        return float(found[1]), None

    def fsync(self, value):
        self.machine.run(self.as_user(["psql", "-q", "-h", self.data, "-p", self.port, "-c",
                                       "alter system set fsync = " + value, "postgres"]), cwd=self.data)
        self.machine.run(self.as_user([self.bin + "/pg_ctl", "-D", self.data, "reload"]), cwd=self.data)
        time.sleep(0.3)
