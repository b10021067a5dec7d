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
