# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx and wrk over loopback: pages that are compressed for each request."""

import os
import random
import re
import socket

from harness.experiment import Change, Experiment
from harness.machine import Failed
from harness.needs import Program

CONFIG = """daemon off; master_process off; worker_processes 1; pid %(dir)s/pid; error_log stderr;
events { worker_connections 64; }
http {
  access_log off; keepalive_requests 1000000000; types { text/plain txt; }
  client_body_temp_path %(dir)s/body; proxy_temp_path %(dir)s/proxy; fastcgi_temp_path %(dir)s/fcgi;
  uwsgi_temp_path %(dir)s/uwsgi; scgi_temp_path %(dir)s/scgi;
  gzip %(gzip)s; gzip_types text/plain; gzip_comp_level 6; gzip_min_length 1;
  server { listen 127.0.0.1:%(port)d; root %(dir)s; }
}
"""


class Main(Experiment):
    name = "nginx"
    title = "nginx: compressed pages"
    needs = [Program("nginx", "nginx-light"), Program("wrk", "wrk")]
    unit = "requests"
    quick_seconds = 12
    expected = ["libz", "deflate", "bin:nginx", "func:0x"]
    changes = [Change("plain", "gzip off", "bin:libz.so*", cheaper=100, sign=1, at_least=20)]

    def prepare(self):
        self.servers = {gzip: self.server(gzip) for gzip in ("on", "off")}

    def server(self, gzip):
        chance = random.Random(self.opt.seed)
        where = self.machine.path("gzip-" + gzip)
        os.mkdir(where)
        with open(os.path.join(where, "page.txt"), "w") as f:
            words = ["%x" % chance.randrange(1 << 20) for _ in range(500)]
            f.write(" ".join(chance.choice(words) for _ in range(3000)))
        port = self.machine.port()
        config = os.path.join(where, "nginx.conf")
        with open(config, "w") as f:
            f.write(CONFIG % {"dir": where, "gzip": gzip, "port": port})
        process = self.machine.serve(["nginx", "-p", where, "-c", config], lambda: answers(port),
                                     "nginx on port %d" % port, os.path.join(where, "log"), port=port)
        return process, port

    def client(self, gzip, seconds):
        return ["wrk", "-t", "1", "-c", "4", "-d", "%ds" % seconds, "-H", "Accept-Encoding: gzip",
                "http://127.0.0.1:%d/page.txt" % self.servers[gzip][1]]

    def options(self, change):
        return ["--pid", str(self.servers["on"][0].pid), "-p", "request=syscall:recvfrom:nginx"]

    def command(self, change):
        return self.client("on", 100000)

    def measure(self, change, changed, seconds):
        out = self.machine.run(self.client("off" if changed else "on", seconds))
        found = re.search(r"^Requests/sec:\s*([\d.]+)", out, re.M)
        if not found or "Non-2xx" in out:
            raise Failed("wrk does not say how many pages it got: " + out[-300:])
        return float(found[1]), None


def answers(port):
    with socket.socket() as s:
        return not s.connect_ex(("127.0.0.1", port))
