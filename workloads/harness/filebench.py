# SPDX-License-Identifier: GPL-2.0-or-later
"""Filebench and its own workloads: a copy is built outside the checkout."""

import os
import re
import shutil

from .experiment import Experiment
from .machine import Failed
from .needs import Program, Source
from .source import edit

SUMMARY = r"IO Summary:.*\s([\d.]+) ops/s"
PER_OPERATION = r"^%s\S*\s+(\d+)ops\s.*?\s([\d.]+)ms/op"
LEAST_SECONDS = 3
# Its deletefile leaves a file that another thread has open, and says that all is well; createfile makes one all the
# same. So files become more, the faster the file system the sooner, and where all names are in use the run ends, without
# a summary: of varmail in memory within one to four seconds. With ten times the names as many exist at first.
NAMES = 10


class Filebench(Experiment):
    needs = [Source("filebench", "workloads/varmail.f"), Program("gcc", "gcc"), Program("make", "make"),
             Program("libtoolize", "libtool"), Program("automake", "automake"), Program("autoconf", "autoconf"),
             Program("flex", "flex"), Program("bison", "bison"), Program("setarch", "util-linux"),
             Program("unshare", "util-linux"), Program("mkfs.ext4", "e2fsprogs")]
    unit = "flowops"
    quick_seconds = 12
    megabytes = 512
    settings = {}  # of the workload
    costs = None  # flowops whose time is the target's

    def prepare(self):
        # Before the build: where there are no loop devices this is how we learn of it.
        self.folders = {None: self.machine.ext4("ext4", self.megabytes)}
        for change in self.tried():
            self.folders[change.name] = self.changed_folder(change.name)
        tree = self.machine.path("filebench")
        shutil.copytree(self.source("filebench"), tree)
        edit(os.path.join(tree, "ipc.c"), '"/tmp/filebench-shm-', '"%s-' % self.machine.path("shm"))
        log = self.machine.path("build.log")
        # Of its eight libraries of random variables, each compiled twice, the workloads need one.
        library = "lib_LTLIBRARIES=libcvar-gamma.la"
        for step in (["libtoolize"], ["aclocal"], ["autoheader"], ["automake", "--add-missing"], ["autoconf"],
                     ["./configure", "--disable-static", "--prefix=" + self.machine.path("installed")],
                     ["make", "parser_gram.h"], ["make", "-j2", "filebench"],
                     ["make", "-j2", "-C", "cvars", library], ["make", "-C", "cvars", library, "install-libLTLIBRARIES"]):
            self.machine.run(step, cwd=tree, log=log)
        self.program = os.path.join(tree, "filebench")
        self.points = self.where()

    def changed_folder(self, name):
        raise NotImplementedError

    def where(self):
        raise NotImplementedError

    def job(self, change, seconds):
        """Its shared memory is mapped at one address in all its processes, and its semaphores outlive it."""
        name = "%s-%s-%s.f" % (self.name, change, seconds)
        script = self.machine.path(name)
        if not os.path.exists(script):
            shutil.copy(os.path.join(self.source("filebench"), "workloads", self.name + ".f"), script)
            settings = dict(self.settings, dir=self.folders[change])
            for key, value in settings.items():
                edit(script, r"^set \$%s=.*" % key, "set $%s=%s" % (key, value))
            for key in ("nfiles", "meandirwidth"):  # as many directories
                edit(script, r"^set \$%s=(\d+)$" % key, lambda found: found[0].replace(
                    found[1], str(int(found[1]) * NAMES)))
            edit(script, r"\bprealloc=80\b", "prealloc=%d" % (80 // NAMES))
            edit(script, r"^run .*", "run %s" % seconds)
        return ["setarch", "-R", "unshare", "--ipc", self.program, "-f", script]

    def command(self, change):
        return self.job(None, 100000)

    def measure(self, change, changed, seconds):
        name = change.name if changed else None
        # What lies there otherwise would be removed first, and may be as large as all that is written.
        shutil.rmtree(os.path.join(self.folders[name], "bigfileset"), ignore_errors=True)
        seconds = max(seconds, LEAST_SECONDS)
        out = self.machine.run(self.job(name, seconds))
        took = re.search(r"Run took (\d+) seconds", out)
        if not took or int(took[1]) < seconds - 1:  # it counts whole ones, and may begin in the middle of one
            raise Failed("filebench has ended early: " + out[-600:])
        rate = re.search(SUMMARY, out)
        costs = [(int(n), float(ms)) for of in self.costs or [] for n, ms in re.findall(PER_OPERATION % of, out, re.M)]
        if not rate or bool(self.costs) != bool(costs):
            raise Failed("filebench does not say what it did: " + out[-600:])
        return float(rate[1]), sum(n * ms for n, ms in costs) / sum(n for n, _ in costs) if costs else None
