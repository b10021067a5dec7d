#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a memcached for one key after the other."""
import socket
import sys

s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
value = b"x" * 1000
for i in range(100):
    s.sendall(b"set key%d 0 0 %d\r\n%s\r\n" % (i, len(value), value))
    s.recv(100)
i = 0
while True:
    i = (i + 7) % 100
    s.sendall(b"get key%d\r\n" % i)
    answer = b""
    while not answer.endswith(b"END\r\n"):
        answer += s.recv(4096)
