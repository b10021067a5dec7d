# SPDX-License-Identifier: GPL-2.0-or-later
"""SQLite, compiled into its user: functions that are called through tables of pointers, as COZ found."""

import os
import re
import shutil
import subprocess

from harness.experiment import Change, Experiment
from harness.machine import Failed, Unfit
from harness.named import Named, lines
from harness.needs import Program
from harness.source import edit, function_lines, lines_with

THREADS = 2
# As COZ's benchmark does it: each thread inserts into a database of its own, a transaction a row.
BENCHMARK = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "sqlite3.h"

#define ROWS 10000
static volatile sig_atomic_t over;
static void end(int s) { over = s; }
__attribute__((noinline)) void rows_done(void) { __asm__ volatile(""); }
static void *work(void *arg)
{
	long *rows = arg;
	sqlite3_stmt *insert;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db))
		exit(1);
	sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
	while (!over) {
		sqlite3_exec(db, "DROP TABLE IF EXISTS t; CREATE TABLE t(id INTEGER PRIMARY KEY, x INTEGER, y INTEGER, z TEXT)",
			     NULL, NULL, NULL);
		if (sqlite3_prepare_v2(db, "INSERT INTO t VALUES(?1, ?2, ?3, ?4)", -1, &insert, NULL))
			exit(2);
		for (int i = 0; i < ROWS && !over; i++) {
			sqlite3_exec(db, "BEGIN TRANSACTION", NULL, NULL, NULL);
			sqlite3_bind_int(insert, 1, i);
			sqlite3_bind_int(insert, 2, 2 * i);
			sqlite3_bind_int(insert, 3, 3 * i);
			sqlite3_bind_text(insert, 4, "asdf", 4, SQLITE_STATIC);
			if (sqlite3_step(insert) != SQLITE_DONE)
				exit(3);
			sqlite3_exec(db, "COMMIT TRANSACTION", NULL, NULL, NULL);
			sqlite3_reset(insert);
			if (++*rows % 1000 == 0) /* a probe costs as much as some rows */
				rows_done();
		}
		sqlite3_finalize(insert);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long rows[16][64] = { 0 }, all = 0; /* each on cache lines of its own */
	int threads = argc > 2 ? atoi(argv[2]) : 2;
	pthread_t t[16];

	if (threads > 16)
		return 1;
	signal(SIGALRM, end);
	alarm(atoi(argv[1]));
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, rows[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < threads; i++)
		all += rows[i][0];
	printf("%ld\n", all);
	return 0;
}
"""
DECLARED = ("static void pthreadMutexEnter(sqlite3_mutex *);\nstatic void pthreadMutexLeave(sqlite3_mutex *);\n"
            "static sqlite3_pcache_page *pcache1Fetch(sqlite3_pcache *, unsigned int, int);\n"
            "static void pcache1Unpin(sqlite3_pcache *, sqlite3_pcache_page *, int);\n")
NAMED = ["sqlite3MemSize", "pthreadMutexLeave", "pcache1Fetch"]
DIRECT = {"mutex.xMutexEnter": "pthreadMutexEnter", "mutex.xMutexLeave": "pthreadMutexLeave", "m.xSize": "sqlite3MemSize",
          "pcache2.xFetch": "pcache1Fetch", "pcache2.xUnpin": "pcache1Unpin"}
COMPILED = ["func:%s@sqlite" % name for name in NAMED]


class Main(Experiment):
    name = "sqlite"
    title = "SQLite, two threads that insert"
    needs = [Program("gcc", "gcc"), Program("make", "make"), Program("tclsh", "tcl"), Program("tar", "tar"),
             Program("xz", "xz-utils")]
    unit = "rows"
    quick_seconds = 15
    expected = ["sqlite3", "func:", "bin:sqlite"]
    named = [Named("COZ", *NAMED, title="three functions, by pointers")]
    # What a direct call saves of them is the call itself: 100 % is an upper end.
    changes = [Change("direct", "called directly", COMPILED, cheaper=100, options=["--together"])]

    def prepare(self):
        source = self.amalgamation()
        self.binaries = {changed: self.compile(name, source, changed) for changed, name in ((False, "base"), (True, "direct"))}
        self.points = ["rows=%s:rows_done" % self.binaries[False]]
        # Where scozd chooses lines: theirs, and those that call them, by which they are known where they end in a jump.
        library = self.machine.path("base", "sqlite3.c")
        of = [line for name in NAMED for line in lines("sqlite3.c", *function_lines(library, name))]
        of += ["sqlite3.c:%d" % n for n in lines_with(library, r"sqlite3GlobalConfig\.(%s)\(" % "|".join(
            re.escape(pointer) for pointer, name in DIRECT.items() if name in NAMED))]
        self.named = [Named(n.by, *n.names, *of, title=n.title) for n in self.named]

    def amalgamation(self):
        """sqlite3.c and sqlite3.h, of Debian's source package."""
        where = self.machine.path("debian")
        os.makedirs(os.path.join(where, "lists", "partial"))
        os.makedirs(os.path.join(where, "cache", "archives", "partial"))
        with open(os.path.join(where, "sources.list"), "w") as f:
            f.write("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n" % (
                os.environ.get("SCOZ_DEBIAN") or self.mirror(), self.release()))
        apt = ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=%s/sources.list" % where, "-o", "Dir::Etc::sourceparts=/nonexistent",
               "-o", "Dir::State::lists=%s/lists" % where, "-o", "Dir::Cache=%s/cache" % where, "-o", "APT::Sandbox::User=root"]
        try:  # lists of its own: those of the machine may be without sources, and are not ours to change
            self.machine.run(apt + ["update"], timeout=120)
            self.machine.run(apt + ["source", "--download-only", "sqlite3"], cwd=where, timeout=120)
        except Failed as e:
            raise Unfit("no source of SQLite: apt-get source sqlite3 does not work here (%s)" % str(e)[-200:]) from e
        archive = [f for f in sorted(os.listdir(where)) if f.endswith(".orig.tar.xz")]
        if not archive:
            raise Failed("Debian's source package of SQLite has no .orig.tar.xz")
        self.machine.run(["tar", "-C", where, "-xf", os.path.join(where, archive[0])])
        tree = next(os.path.join(where, f) for f in sorted(os.listdir(where)) if f.startswith("sqlite3-") and
                    os.path.isdir(os.path.join(where, f)))
        built = self.machine.path("built")
        os.mkdir(built)
        self.machine.run([os.path.join(tree, "configure"), "--disable-tcl"], cwd=built)
        self.machine.run(["make", "sqlite3.c"], cwd=built)
        return built

    @staticmethod
    def mirror():
        """Where this machine has its packages from."""
        told = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout.split()
        mirrors = [uri for uri in told if "security" not in uri]
        if not mirrors:
            raise Unfit("no source of SQLite: apt-get knows no mirror (SCOZ_DEBIAN=URI names one)")
        return mirrors[0]

    @staticmethod
    def release():
        with open("/etc/os-release") as f:
            for row in f:
                if row.startswith("VERSION_CODENAME="):
                    return row.split("=")[1].strip()
        raise Unfit("no source of SQLite: this is no Debian")

    def compile(self, name, source, changed):
        tree = self.machine.path(name)
        os.mkdir(tree)
        for file in ("sqlite3.c", "sqlite3.h"):
            shutil.copy(os.path.join(source, file), tree)
        with open(os.path.join(tree, "benchmark.c"), "w") as f:
            f.write(BENCHMARK)
        library = os.path.join(tree, "sqlite3.c")
        if changed:
            edit(library, r"^/\*+ Begin file mutex\.c ", lambda found: DECLARED + found[0])
            for pointer, function in DIRECT.items():
                edit(library, r"sqlite3GlobalConfig\.%s\(" % pointer.replace(".", r"\."), function + "(")
        binary = os.path.join(tree, "sqlite")
        self.machine.run(["gcc", "-O2", "-g", "-w", "-DSQLITE_THREADSAFE=2", "-o", binary, library,
                          os.path.join(tree, "benchmark.c"), "-lpthread", "-ldl", "-lm"])
        return binary

    def command(self, change):
        return [self.binaries[False], "100000", str(THREADS)]

    def measure(self, change, changed, seconds):
        return int(self.machine.run([self.binaries[changed], str(seconds), str(THREADS)])) / seconds, None
