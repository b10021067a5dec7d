# SPDX-License-Identifier: GPL-2.0-or-later
"""memcached: a hash table that is too small for what it holds."""

import os
import socket
import sys
import time

from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.needs import Program

ITEMS = 300000
# Asks for fifty keys at a time, for ever.
CLIENT = """
import random, socket, sys
chance = random.Random(%(seed)d)
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
asks = [b"get " + b" ".join(b"key%%d" %% chance.randrange(%(items)d) for _ in range(50)) + b"\\r\\n" for _ in range(200)]
while True:
    for ask in asks:
        s.sendall(ask)
        got = b""
        while not got.endswith(b"END\\r\\n"):
            got = got[-8:] + s.recv(65536)
"""


class Main(Experiment):
    name = "memcached"
    title = "memcached: a small hash table"
    needs = [Program("memcached", "memcached")]
    unit = "keys"
    quick_seconds = 12
    expected = ["bin:memcached", "func:0x", "memcached"]
    changes = [Change("hash", "a hash table that grows with what it holds, instead of 4096 buckets", "bin:memcached",
                      sign=1, at_least=15)]

    def prepare(self):
        self.servers = {False: self.server(["hashpower=12,no_hashexpand"]), True: self.server(["hashpower=20"])}

    def server(self, options):
        port = self.machine.port()
        process = self.machine.serve(
            ["memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-m", "256",
             "-o", ",".join(options)], lambda: answers(port), "memcached on port %d" % port,
            self.machine.path("memcached.log"), port=port)
        with socket.create_connection(("127.0.0.1", port)) as s:
            for i in range(0, ITEMS, 1000):
                s.sendall(b"".join(b"set key%d 0 0 5 noreply\r\nvalue\r\n" % k for k in range(i, i + 1000)))
            s.sendall(b"version\r\n")
            s.recv(100)
        if self.said(port, "curr_items") != ITEMS:
            raise Failed("memcached on port %d does not hold what it was given" % port)
        return process, port

    @staticmethod
    def said(port, name):
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"stats\r\n")
            text = b""
            while not text.endswith(b"END\r\n"):
                text += s.recv(65536)
        for row in text.decode().splitlines():
            if row.startswith("STAT %s " % name):
                return int(row.split()[2])
        raise Failed("memcached on port %d does not say its %s" % (port, name))

    def client(self, changed):
        return [sys.executable, "-c", CLIENT % {"seed": self.opt.seed, "items": ITEMS}, str(self.servers[changed][1])]

    def command(self, change):
        return self.client(False)

    def options(self, change):
        return ["--pid", str(self.servers[False][0].pid), "-p", "answer=syscall:sendmsg:memcached"]

    def measure(self, change, changed, seconds):
        process, port = self.servers[changed]
        client = self.machine.start(self.client(changed))
        try:
            time.sleep(0.3)
            begin, first, cpu = time.monotonic(), self.said(port, "cmd_get"), cpu_s(process.pid)
            time.sleep(seconds)
            done, took = self.said(port, "cmd_get") - first, time.monotonic() - begin
            return done / took, (cpu_s(process.pid) - cpu) / max(done, 1)
        finally:
            self.machine.end(client)


def answers(port):
    with socket.socket() as s:
        return not s.connect_ex(("127.0.0.1", port))


def cpu_s(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
