# SPDX-License-Identifier: GPL-2.0-or-later
"""The directories of results. They are written to as root, so: nothing that is not ours is touched."""

import json
import os

from .machine import Failed

MARKER = ".scoz-experiments"  # only in directories that we have made or found empty
SUMMARY = ("results.txt", "results.json", "default-targets.txt", "default-targets.json")


class NotOurs(Failed):
    """What is there may be somebody else's."""


def names(main):
    """Everything that is left in the directory of an experiment."""
    found = {"environment.json", "commands"}
    for of in ["default"] + [n.name for n in main.named] + [c.name for c in main.changes]:
        found |= {of + ending for ending in (".scoz", ".scoz.log", ".txt", ".html", ".svg", ".json")}
    return found


class Results:
    def __init__(self, folder):
        self.folder = folder
        # Others' files may be in it, for instance with --out /tmp.
        if not self.marked(folder):
            there = [s for s in SUMMARY if os.path.lexists(os.path.join(folder, s))]
            if there:
                raise NotOurs("%s was not written by workloads/run: move it away, or name another directory by --out"
                              % os.path.join(folder, there[0]))

    @staticmethod
    def marked(folder):
        return os.path.isfile(os.path.join(folder, MARKER))

    @staticmethod
    def mark(folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, MARKER), "a"):
            pass

    def check(self, main):
        """Its directory, if it is ours or can be made so."""
        folder = os.path.join(self.folder, main.name)
        if os.path.lexists(folder) and not self.marked(folder) and (
                os.path.islink(folder) or not os.path.isdir(folder) or os.listdir(folder)):
            raise NotOurs("%s was not made by workloads/run: move it away, or name another directory by --out" % folder)
        return folder

    def of(self, main):
        """Its directory, without what a run before has left: a profile would be extended."""
        folder = self.check(main)
        self.mark(folder)
        for old in set(os.listdir(folder)) & names(main):
            os.unlink(os.path.join(folder, old))
        return folder

    def write(self, name, text, rows):
        self.mark(self.folder)
        with open(os.path.join(self.folder, name + ".txt"), "w") as f:
            f.write(text)
        with open(os.path.join(self.folder, name + ".json"), "w") as f:
            json.dump(rows, f, indent=1)
