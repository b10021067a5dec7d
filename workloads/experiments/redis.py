# SPDX-License-Identifier: GPL-2.0-or-later
"""redis-server beside redis-benchmark: large hashes kept as lists, and fsync after each write."""

import os
import shutil
import time

from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.named import Named
from harness.needs import Program

FIELDS = 20000
BASE = ["--hash-max-listpack-entries", "1000000"]  # a hash of any size is a list, searched from its beginning


class Main(Experiment):
    name = "redis"
    title = "redis: reading fields of a large hash"
    needs = [Program("redis-check-rdb", "redis-tools"), Program("redis-benchmark", "redis-tools"),
             Program("redis-cli", "redis-tools")]
    unit = "commands"
    quick_seconds = 10
    expected = ["lpFind", "bin:redis-"]
    changes = [
        Change("hash", "hash-max-listpack-entries 128 instead of 1000000", "func:lpFind@redis-server",
               cheaper=100, sign=1, at_least=30),
        Change("append", "appendfsync everysec instead of always", "syscall:fdatasync", cheaper=100, options=["--waits"], replay="class:io", sign=1),
    ]
    named = [Named(None, "lpFind", title="lpFind()")]

    def prepare(self):
        # The server by the name under which it checks files: its own package would start one for good.
        self.program = self.machine.path("redis-server")
        os.symlink(shutil.which("redis-check-rdb"), self.program)
        self.servers = {None: self.server("base", BASE), "hash": self.server("hash", [])}
        if self.tries("append"):
            for name, how in (("always", "always"), ("append", "everysec")):
                self.servers[name] = self.server(name, ["--appendonly", "yes", "--appendfsync", how,
                                                        "--appenddirname", name])
        self.points = ["req=%s:call" % self.program]
        self.latencies = {"answer": "%s:readQueryFromClient,%s:writeToClient" % (self.program, self.program)}

    def server(self, name, config):
        port = self.machine.port()
        process = self.machine.serve(
            [self.program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", self.machine.tmp] + config,
            lambda: "PONG" in self.cli(port, "ping", check=False), "redis-server on port %d" % port,
            self.machine.path(name + ".log"), port=port)
        self.cli(port, "eval", "for i = 1, %d do redis.call('hset', 'h', 'field' .. i, 'value' .. i) end return 1"
                 % FIELDS, "0")
        if self.cli(port, "hlen", "h").strip() != str(FIELDS):
            raise Failed("redis-server on port %d does not hold the hash it was given" % port)
        return process, port

    def cli(self, port, *command, check=True):
        return self.machine.run(["redis-cli", "-p", str(port)] + list(command), check=check)

    @staticmethod
    def base(change):
        return "always" if change and change.name == "append" else None

    def client(self, server):
        asked = ["set", "key", "value"] if server in ("always", "append") else [
            "hmget", "h"] + ["field%d" % (FIELDS * n // 10) for n in range(4, 10)]
        return ["redis-benchmark", "-p", str(self.servers[server][1]), "-n", "1000000000", "-c", "4", "-q"] + asked

    def command(self, change):
        return self.client(self.base(change))

    def options(self, change):
        return ["--pid", str(self.servers[self.base(change)][0].pid)]

    def measure(self, change, changed, seconds):
        name = change.name if changed else self.base(change)
        port = self.servers[name][1]

        def done():
            for row in self.cli(port, "info", "stats").splitlines():
                if row.startswith("total_commands_processed:"):
                    return int(row.split(":")[1])
            raise Failed("redis-server does not say how many commands it has processed")
        client = self.machine.start(self.client(name))
        try:
            time.sleep(0.3)
            begin, first = time.monotonic(), done()
            time.sleep(seconds)
            return (done() - first) / (time.monotonic() - begin), None
        finally:
            self.machine.end(client)
