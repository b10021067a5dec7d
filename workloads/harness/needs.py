# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment needs, and how to get it."""

import os
import shutil

from .machine import Unfit

PUBLISHED = {
    "npb": "https://github.com/LLNL/NPB",
    "filebench": "https://github.com/filebench/filebench",
    "parsec": "https://github.com/cirosantilli/parsec-benchmark",
    "coz": "https://github.com/plasma-umass/coz",
}


def root():
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build():
    return os.environ.get("B") and os.path.abspath(os.environ["B"]) or os.path.join(root(), "build")


class Program:
    """A command, by the Debian package that has it."""

    def __init__(self, command, package):
        self.command, self.package = command, package

    def missing(self, _):
        if shutil.which(self.command, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            return None
        return "no %s: apt-get install %s" % (self.command, self.package)


class File:
    """A file, of a Debian package if nothing else is said."""

    def __init__(self, path, package, how="apt-get install"):
        self.path, self.get = path, how + " " + package

    def missing(self, _):
        if os.path.exists(self.path):
            return None
        return "no %s: %s" % (self.path, self.get)


class Source:
    """A folder of other people's programs, with a file that must be in it."""

    def __init__(self, name, file):
        self.name, self.file = name, file

    def folder(self, given):
        place = given or os.environ.get("SCOZ_THIRD_PARTY") or os.path.join(root(), "third-party")
        folder = os.path.realpath(os.path.join(place, self.name))
        return folder if os.path.isdir(folder) else None

    def missing(self, given):
        folder = self.folder(given)
        if not folder:
            return "no source of %s: get it from %s into DIR/%s, and say --third-party DIR" % (
                self.name, PUBLISHED[self.name], self.name)
        if not os.path.exists(os.path.join(folder, self.file)):
            return "%s is not the source of %s (no %s): get it from %s" % (
                folder, self.name, self.file, PUBLISHED[self.name])
        return None


def check(experiment, third_party):
    """Raises Unfit with everything that is missing."""
    if os.geteuid() != 0:
        raise Unfit("profiling the whole system needs root: run it with sudo")
    for tool in ("scozd", "scoz"):
        if not os.access(os.path.join(build(), tool), os.X_OK):
            raise Unfit("no %s: run make first" % os.path.join(build(), tool))
    missing = [m for m in (need.missing(third_party) for need in experiment.needs) if m]
    if missing:
        raise Unfit("; ".join(missing))
