# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment takes of the machine, and gives back: processes, mounts, ports, a directory."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
ZRAM = "/sys/class/zram-control"


class Unfit(Exception):
    """The experiment cannot be run here: why, and what to do about it."""


class Failed(Exception):
    """Something that should have worked did not."""


def tail(path, size=600):
    with contextlib.suppress(OSError):
        with open(path, errors="replace") as f:
            return f.read()[-size:].strip()
    return ""


def listens(pid, port):
    """Does this process listen at 127.0.0.1:port, or at all addresses?"""
    ours = set()
    with contextlib.suppress(OSError):
        for fd in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                ours.add(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
    with open("/proc/net/tcp") as f:
        rows = [row.split() for row in f.readlines()[1:]]
    return any(r[3] == "0A" and int(r[1].split(":")[1], 16) == port and "socket:[%s]" % r[9] in ours for r in rows)


class Machine:
    """Everything that is taken is given back by close(), however the experiment ended.

    Whatever lost its parent becomes a child of ours, so all that was started is among our descendants,
    also what has overwritten its environment or left its session.
    """

    def __init__(self):
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "cannot become the parent of what loses its own")
        self.env = dict(os.environ)
        self.undo = []
        self.tmp = tempfile.mkdtemp(prefix="scoz-experiment-", dir=self.scratch())
        os.chmod(self.tmp, 0o755)  # servers that do not run as root live below it
        self.env["TMPDIR"] = self.path("tmp")  # who is ended leaves files there: compilers do
        os.mkdir(self.env["TMPDIR"])
        os.chmod(self.env["TMPDIR"], 0o1777)

    @staticmethod
    def scratch():
        return os.environ.get("TMPDIR") or "/var/tmp"

    def path(self, *names):
        return os.path.join(self.tmp, *names)

    def run(self, argv, check=True, timeout=600, log=None, **kw):
        """Its standard output. Both outputs go to the message if it fails."""
        env = dict(self.env, **kw.pop("env", {}))
        try:
            p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", timeout=timeout, **kw)
        except FileNotFoundError as e:
            raise Failed("cannot run %s: %s" % (argv[0], e.strerror)) from e
        except subprocess.TimeoutExpired as e:
            raise Failed("%s: not done after %d s" % (" ".join(argv), timeout)) from e
        if log:
            with open(log, "a") as f:
                f.write(p.stdout + p.stderr)
        if check and p.returncode:
            raise Failed("%s: exit status %d: %s" % (
                " ".join(argv), p.returncode, (p.stderr.strip() or p.stdout.strip())[-600:]))
        return p.stdout

    def start(self, argv, log=os.devnull, **kw):
        env = dict(self.env, **kw.pop("env", {}))
        with open(log, "a") as f:
            try:
                return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                                        cwd=self.tmp, start_new_session=True, **kw)
            except FileNotFoundError as e:
                raise Failed("cannot run %s: %s" % (argv[0], e.strerror)) from e

    def end(self, process, grace=10):
        """Ends it and what it started in its session."""
        for sig in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sig)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace)
                return

    def serve(self, argv, ready, what, log, timeout=60, port=None, **kw):
        """A server, when ready() is true. A message with the end of its log if that does not happen.

        port: where it must listen itself: somebody else may have taken it meanwhile, and answer.
        """
        process = self.start(argv, log=log, **kw)
        end = time.monotonic() + timeout
        while not (port is None or listens(process.pid, port)) or not ready():
            if process.poll() is not None:
                raise Failed("%s ended at once with status %d: %s" % (what, process.returncode, tail(log)))
            if time.monotonic() > end:
                self.end(process)
                raise Failed("%s does not answer after %d s: %s" % (what, timeout, tail(log)))
            time.sleep(0.05)
        return process

    def tmpfs(self, name):
        """A directory in memory."""
        where = self.path(name)
        os.mkdir(where)
        self._mount(["-t", "tmpfs", "tmpfs", where], where)
        return where

    def ext4(self, name, megabytes, options="defaults", mkfs=(), folder=None):
        """A file system of its own, in a file (of this folder), by a loop device that goes with the mount."""
        image, where = os.path.join(folder or self.tmp, name + ".img"), self.path(name)
        if shutil.disk_usage(folder or self.tmp).free < (1 if folder else 2) * megabytes << 20:
            raise Unfit("less than %d MB are free in %s: set TMPDIR to a directory with more" % (
                2 * megabytes, folder or self.scratch()))
        with open(image, "wb") as f:
            os.posix_fallocate(f.fileno(), 0, megabytes << 20)
        return self._ext4_on(image, where, ["-o", "loop," + options], mkfs)

    def disk_in_memory(self, name, megabytes):
        """An ext4 of its own on a block device that makes nobody wait (zram)."""
        try:
            with open(os.path.join(ZRAM, "hot_add")) as f:
                number = f.read().strip()
        except OSError as e:
            raise Unfit("no block device in memory (%s): modprobe zram" % e) from e

        def remove():
            try:
                with open(os.path.join(ZRAM, "hot_remove"), "w") as f:
                    f.write(number)
            except OSError as e:
                raise Failed("/dev/zram%s cannot be removed: %s" % (number, e.strerror)) from e
        self.undo.append(remove)
        with open("/sys/block/zram%s/disksize" % number, "w") as f:
            f.write("%dM" % megabytes)
        return self._ext4_on("/dev/zram" + number, self.path(name))

    def _ext4_on(self, device, where, mount=(), mkfs=()):
        self.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", *mkfs, device])
        os.mkdir(where)
        self._mount([*mount, device, where], where)
        return where

    def _mount(self, options, where):
        def undo():
            if os.path.ismount(where):
                self.run(["umount", where])
        self.undo.append(undo)  # first: we may be ended while it is being mounted
        try:
            self.run(["mount"] + options)
        except Failed as e:
            raise Unfit("cannot mount a file system here (%s): run it where loop devices and mounts are "
                        "allowed, for instance outside a container" % e) from e

    def mounts(self):
        """What is mounted below our directory."""
        top = os.path.realpath(self.tmp) + "/"
        with open("/proc/self/mountinfo", "rb") as f:
            points = [row.split()[4].decode("unicode_escape").encode("latin-1") for row in f]
        return [os.fsdecode(p) for p in points if p.startswith(os.fsencode(top))]

    def port(self):
        """A TCP port nobody listens on now."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    @staticmethod
    def descendants():
        """What we have started and what that has started, but not what has ended."""
        children = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open("/proc/%s/stat" % pid) as f:
                    state, parent = f.read().rsplit(")", 1)[1].split()[:2]
                if state != "Z":
                    children.setdefault(int(parent), []).append(int(pid))
        found, left = [], [os.getpid()]
        while left:
            found += left
            left = [c for p in left for c in children.get(p, [])]
        return found[1:]

    def close(self):
        for sig in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, sig)
                    os.kill(pid, signal.SIGCONT)
            end = time.monotonic() + 10
            while self.descendants() and time.monotonic() < end:
                time.sleep(0.05)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        left = []
        for undo in reversed(self.undo):
            try:
                undo()
            except Failed as e:
                left.append(str(e))
        self.undo = []
        left += ["%s is still mounted" % m for m in self.mounts()]
        if not left:
            shutil.rmtree(self.tmp, ignore_errors=True)
        else:
            raise Failed("left behind, below %s: %s" % (self.tmp, "; ".join(left)))
