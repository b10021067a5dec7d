#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three processes that write to one SQLite database, each row a transaction."""
import os
import sqlite3
import sys

path = sys.argv[1]
db = sqlite3.connect(path, isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")
db.close()
for _ in range(2):
    if not os.fork():
        break
db = sqlite3.connect(path, isolation_level=None, timeout=100)
db.execute("PRAGMA synchronous=OFF")
i = os.getpid() % 100 * 1000
while True:
    i += 1
    v = "".join(chr(97 + (i * j) % 26) for j in range(1500))
    db.execute("INSERT OR REPLACE INTO t VALUES (?, ?)", (i % 5000, v))
