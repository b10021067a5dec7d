# SPDX-License-Identifier: GPL-2.0-or-later
"""make -j2 of a generated C program: the compiler is what takes the time, the assembler is not."""

import os
import random
import shutil
import time

from harness.experiment import Change, Experiment
from harness.named import Named
from harness.needs import Program

FILES = 8


class Main(Experiment):
    name = "compile"
    title = "make -j2 of a C program"
    needs = [Program("gcc", "gcc"), Program("make", "make")]
    unit = "files"
    quick_seconds = 15
    expected = ["bin:cc1", "@cc1"]
    points = ["file=tracepoint:sched:sched_process_exit:cc1"]
    named = [Named(None, "bin:cc1", "@cc1", title="cc1")]
    # What is saved is all that these processes do: cc1 spends a fifth of its time in loading itself and in the kernel, as most.
    changes = [
        Change("O0", "-O0 instead of -O2", "comm:cc1", sign=1, at_least=15, quick="75"),
        Change("S", "stop before the assembler", "comm:as", cheaper=100),
        Change("ccache", "ccache, which has seen all files", "comm:cc1", cheaper=100, sign=1, needs=[Program("ccache", "ccache")]),
        # On a disk that only has to take what is written some time later.
        Change("memory", "in memory (tmpfs)", "class:io", cheaper=100),
    ]

    def prepare(self):
        chance = random.Random(self.opt.seed)
        self.tree = self.machine.path("tree")
        os.mkdir(self.tree)
        for i in range(FILES):
            with open(os.path.join(self.tree, "f%d.c" % i), "w") as f:
                f.write(self.text(chance, i))
        with open(os.path.join(self.tree, "Makefile"), "w") as f:
            f.write("O := -O2\nS := -c\nCC := gcc\nall: %s\n%%.o: %%.c\n\t$(CC) $(O) $(S) -o $@ $<\n.PHONY: all\n"
                    % " ".join("f%d.o" % i for i in range(FILES)))
        if self.tries("memory"):
            self.memory = self.machine.tmpfs("memory")
            shutil.copytree(self.tree, os.path.join(self.memory, "tree"))

    @staticmethod
    def text(chance, number):
        out = ["#include <stdlib.h>", "#include <string.h>"]
        for i in range(3):
            a, b, c = (chance.randint(2, 9) for _ in range(3))
            out.append(
                "int f%d_%d(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) for (int k = 0; k < %d; k++) "
                "{ s += a[(i * %d + k) %% n] ^ (s >> %d); if (s & %d) a[k %% n] = s; } return s; }"
                % (number, i, a, b, c, a * b))
        return "\n".join(out) + "\n"

    def loop(self, more=""):
        return ["sh", "-c", "while :; do make -s -B -j2 -C %s %s || exit 1; done" % (self.tree, more)]

    def command(self, change):
        return self.loop()

    def measure(self, change, changed, seconds):
        flags = {"O0": "O=-O0", "S": "S=-S", "ccache": "CC=ccache gcc"}.get(change.name, "O=-O2") if changed else "O=-O2"
        tree, env = self.tree, {"CCACHE_DIR": self.machine.path("ccache")}
        if changed and change.name == "memory":
            tree, env["TMPDIR"] = os.path.join(self.memory, "tree"), self.memory
        if changed and change.name == "ccache":
            self.machine.run(["make", "-s", "-B", "-j2", "-C", tree, flags], env=env)
        begin, files = time.monotonic(), 0
        while time.monotonic() - begin < seconds:
            self.machine.run(["make", "-s", "-B", "-j2", "-C", tree, flags], env=env)
            files += FILES
        rate = files / (time.monotonic() - begin)
        if change.cheaper is not None:
            return rate, None
        # What the compiler alone takes for all files: gcc itself takes next to nothing.
        before = os.times()
        for i in range(FILES):
            self.machine.run(["gcc", "-O0" if flags == "O=-O0" else "-O2", "-S", "-o", os.devnull,
                              os.path.join(self.tree, "f%d.c" % i)])
        after = os.times()
        return rate, (after.children_user + after.children_system - before.children_user
                      - before.children_system) / FILES
