# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes in copies of other people's sources."""

import re

from .machine import Failed


def edit(path, pattern, by):
    """Changes what the pattern finds, which must be there: another version has other lines."""
    with open(path) as f:
        text = f.read()
    text, count = re.subn(pattern, by, text, flags=re.M)
    if not count:
        raise Failed("%s: no %s in it: another version than the one that docs/experiments.md names" % (path, pattern))
    with open(path, "w") as f:
        f.write(text)


def line_of(path, text):
    """Number of the first line with this text."""
    with open(path, errors="replace") as f:
        for number, row in enumerate(f, 1):
            if text in row:
                return number
    raise Failed("%s: no %s in it: another version than the one that docs/experiments.md names" % (path, text))


def lines_with(path, pattern):
    """Numbers of all lines in which it is found."""
    with open(path, errors="replace") as f:
        return [number for number, row in enumerate(f, 1) if re.search(pattern, row)]


def function_lines(path, name):
    """First and last line of this function of C, whose body ends at the first brace that begins a line."""
    with open(path, errors="replace") as f:
        text = f.read()
    found = re.search(r"^[A-Za-z_][^;{}#]*\b%s\([^;{}]*\)\s*\{" % name, text, re.M)
    end = found and text.find("\n}", found.end())
    if not found or end < 0:
        raise Failed("%s: no %s() in it: another version than the one that docs/experiments.md names" % (path, name))
    return text.count("\n", 0, found.start()) + 1, text.count("\n", 0, end) + 2
