# SPDX-License-Identifier: GPL-2.0-or-later
"""What scozd finds when nobody tells it a target, beside what a paper names."""

import re

FIRST = 3  # of these what is named should be one
LINES = r"(.+):(\d+)(?:-(\d+))?$"  # a target that is a line, or several


def is_part(name, target):
    """Is what is named, as part of a target's name, this target? A line may be one of several."""
    one, several = re.match(LINES, name), re.match(LINES, target)
    if one and several:
        first, last = int(several[2]), int(several[3] or several[2])
        return ("/" + several[1]).endswith("/" + one[1]) and first <= int(one[3] or one[2]) and int(one[2]) <= last
    return name in target


class Named:
    """What is named, as parts of targets' names; by: the paper (None: nobody's, it is what is known to be there).

    options: the paper's scope.
    """

    def __init__(self, by, *names, name="default", options=(), title=None):
        self.by, self.names, self.name, self.options = by, names, name, list(options)
        self.title = title or names[0]

    def place(self, targets):
        """The first of these targets that is named, from 1; None: none of them."""
        for place, target in enumerate(targets, 1):
            if any(is_part(n, target) for n in self.names):
                return place
        return None


def lines(file, first, last):
    return ["%s:%d" % (file, n) for n in range(first, last + 1)]


def found(named, sampled, report):
    """A row: where what is named stands among what was sampled, and in the report."""
    ranked = [t["target"] for t in report.get("targets") or []]
    return {"run": named.name, "by": named.by, "named": named.title, "names": list(named.names),
            "sampled_place": named.place(sampled), "report_place": named.place(ranked),
            "sampled": sampled, "report": [
                {k: t.get(k) for k in ("target", "verdict", "best_pct", "ci95", "best_ci95")}
                for t in report.get("targets") or []]}


def heading():
    return "%-14s %-9s %-8s %-32s %-7s %-6s %s" % (
        "EXPERIMENT", "RUN", "BY", "NAMED", "SAMPLED", "REPORT", "SAMPLED MOST")


def line(row):
    def place(n):
        return "-" if n is None else str(n)
    return "%-14s %-9s %-8s %-32s %-7s %-6s %s" % (
        row["experiment"], row["run"], row["by"] or "-", row["named"][:32], place(row["sampled_place"]),
        place(row["report_place"]), ", ".join(row["sampled"][:FIRST]))
