# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run has found as tables for documents, and counted."""

import json
import os
import re

from .machine import Failed
from .named import FIRST, LINES

NEAR = 4  # points from what was measured


def read(folder, name):
    try:
        with open(os.path.join(folder, name)) as f:
            return json.load(f)
    except OSError as e:
        raise Failed("%s: %s; workloads/run leaves it there" % (e.filename, e.strerror)) from e


def said(value, bounds):
    return "" if value is None else "%.1f [%.1f, %.1f]" % (value, *bounds)


def told(row):
    """Was anything predicted? Of a change that saves nothing of the target nothing is."""
    return row["predicted_pct"] is not None and row["cheaper_pct"] > 0


def cells(row):
    """Without those that an older run does not have."""
    bold = "**" if told(row) and row["overlap"] is False else ""
    replay = row.get("replay")
    machine = row.get("machine") or {}
    return ["%s%s%s" % (bold, row["experiment"], bold), row["title"], ", ".join("`%s`" % t for t in row["target"]),
            "%s%.0f %%" % ("at most " if row.get("at_most") else "", row["cheaper_pct"]),
            "%s%s%s" % (bold, said(row["predicted_pct"], row["predicted_ci95"]) if told(row) else "nothing", bold),
            said(replay[0], replay[1:]) if replay else "",
            "%s%s%s" % (bold, said(row["measured_pct"], row["measured_ci95"]), bold),
            "%+.1f" % row["error_pct"] if told(row) else "", row["verdict"],
            "%.0f" % machine["others_pct"] if "others_pct" in machine else ""]


def table(heads, rows):
    return "\n".join("| %s |" % " | ".join(r) for r in [heads, ["---"] * len(heads), *rows])


def results(folder):
    rows = read(folder, "results.json")
    heads = ["Experiment", "Change", "Target", "Saved", "Predicted", "By replay", "Measured", "Error", "Verdict", "Others, %"]
    return table(heads, [cells(r) for r in rows]) + "\n\n" + counts(rows)


def short(target):
    """Without the directories of a copy that is made for each run."""
    return os.path.basename(target) if re.match(LINES, target) else target


def place(number):
    return "" if number is None else str(number)


def defaults(folder):
    rows = read(folder, "default-targets.json")
    first = [r["sampled_place"] is not None and r["sampled_place"] <= FIRST for r in rows]
    named = [f for f, r in zip(first, rows) if r["by"]]
    return table(["Experiment", "Run", "By", "Named", "Sampled", "Report", "Sampled most"], [
        [r["experiment"], r["run"], r["by"] or "", r["named"], place(r["sampled_place"]), place(r["report_place"]),
         ", ".join("`%s`" % short(t) for t in r["sampled"][:FIRST])] for r in rows]) + (
             "\n\n%d of %d that a paper names are among the first %d; %d of %d in all.\n" % (
                 sum(named), len(named), FIRST, sum(first), len(first)))


def inside(row):
    return row["predicted_ci95"][0] <= row["measured_pct"] <= row["predicted_ci95"][1]


def near(row):
    return inside(row) or abs(row["error_pct"]) <= NEAR


def counts(rows):
    known = [r for r in rows if told(r)]
    replay = [r for r in rows if r.get("replay")]
    verdicts = {}
    for r in rows:
        verdicts[r["verdict"]] = verdicts.get(r["verdict"], 0) + 1
    refuted = [r for r in rows if any(w.startswith("verdict") for w in r["contradictions"])]
    lines = ["%d points, of which something was predicted for %d." % (len(rows), len(known)),
             "The measured point inside the predicted interval: %d; inside or within %d points: %d; intervals overlap: %d." % (
                 sum(map(inside, known)), NEAR, sum(map(near, known)), sum(r["overlap"] for r in known)),
             "By replay: %d, the measured point within its bounds: %d, or within %d points: %d." % (
                 len(replay), sum(r["replay"][1] <= r["measured_pct"] <= r["replay"][2] for r in replay), NEAR,
                 sum(r["replay"][1] <= r["measured_pct"] <= r["replay"][2] or abs(r["replay"][0] - r["measured_pct"]) <= NEAR
                     for r in replay)),
             "Verdicts: %s; refuted by the change: %d." % (
                 ", ".join("%s %d" % v for v in sorted(verdicts.items())), len(refuted))]
    if known:
        errors = sorted(abs(r["error_pct"]) for r in known)
        lines.insert(2, "Error: %.1f points on average, median %.1f, largest %.1f (without that: %.1f on average); %d too low by more than %d, %d too high." % (
            sum(errors) / len(errors), errors[len(errors) // 2], errors[-1], sum(errors[:-1]) / max(len(errors) - 1, 1),
            sum(r["error_pct"] < -NEAR for r in known), NEAR, sum(r["error_pct"] > NEAR for r in known)))
    return "\n".join(lines) + "\n"
