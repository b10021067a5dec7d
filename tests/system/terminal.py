#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py COMMAND: types at a shell with job control as its user would: COMMAND, which prints "begun",
Ctrl-Z, bg, fg, Ctrl-Z again, fg, Ctrl-C. After each the shell and both processes (the profiler, which is
COMMAND's first, and the `sh` that it has started) are what they should be, or the exit status is 1. What the
terminal showed is printed; after it the exit status that the shell saw."""
import os
import pty
import re
import select
import sys
import time

PROMPT = b'PROMPT> '
PATIENCE = 60


class Shell:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        self.shown = b''
        if not self.pid:
            os.execvp('bash', ['bash', '--norc', '--noprofile', '--noediting', '-i'])
        self.type(b"PS1='PRO''MPT> '")
        self.see(PROMPT)

    def type(self, line):
        os.write(self.fd, line + b'\n')

    def key(self, key):
        os.write(self.fd, bytes([ord(key) - ord('@')]))

    def see(self, pattern):
        """Until it is shown; the match. What was shown before is seen no more."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.shown)):
            if time.monotonic() > end:
                sys.exit('never shown: %s' % pattern.decode())
            if select.select([self.fd], [], [], 0.1)[0]:
                more = os.read(self.fd, 65536)
                sys.stdout.write(more.decode(errors='replace').replace('\r', ''))
                sys.stdout.flush()
                self.shown += more
        self.shown = self.shown[found.end():]
        return found


def stat(pid):
    with open('/proc/%s/stat' % pid) as f:
        return f.read().rsplit(')', 1)[1].split()


def children(pid):
    found = []
    for entry in os.listdir('/proc'):
        try:
            if entry.isdigit() and int(stat(entry)[1]) == pid:
                found.append(int(entry))
        except (OSError, IndexError):
            pass
    return found


def comm(pid):
    with open('/proc/%d/comm' % pid) as f:
        return f.read().strip()


def until(what, *arguments):
    end = time.monotonic() + PATIENCE
    while not what(*arguments):
        if time.monotonic() > end:
            sys.exit('never: %s %s: %s' % (what.__name__, arguments, [stat(p)[0] for p in arguments]))
        time.sleep(0.02)


def stopped(*pids):
    return all(stat(p)[0] == 'T' for p in pids)


def running(*pids):
    return all(stat(p)[0] in 'RSD' for p in pids)


def in_front(pid):
    """The terminal is that of its group."""
    return stat(pid)[5] == stat(pid)[2]


def main():
    shell = Shell()
    shell.type(sys.argv[1].encode())
    shell.see(rb'\nbegun')
    profiler = children(shell.pid)[0]
    command = next(p for p in children(profiler) if comm(p) == 'sh')
    until(in_front, command)

    def shell_answers():
        shell.type(b'echo "it" answers')
        shell.see(rb'it answers\r\n') # as it is typed it has quotes

    def stop():
        shell.key('Z')
        shell.see(rb'Stopped')
        shell.see(PROMPT)
        until(stopped, profiler, command)
        shell_answers()

    stop()
    shell.type(b'bg')
    until(running, profiler, command)
    shell_answers()
    shell.type(b'fg')
    until(in_front, command)
    stop()
    shell.type(b'fg')
    until(running, profiler, command)
    until(in_front, command)
    shell.key('C')
    shell.see(rb'\^C')
    shell.see(PROMPT)
    shell.type(b'echo "status" $?')
    status = int(shell.see(rb'\r\nstatus (\d+)\r\n').group(1))
    for pid in (profiler, command):
        if os.path.exists('/proc/%d' % pid):
            sys.exit('%d is left' % pid)
    shell.type(b'exit')
    print('\nended with', status)


main()
