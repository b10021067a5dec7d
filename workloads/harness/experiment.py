# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment: a program, what scoz says of it, and what it does once it is really changed.

A file in workloads/experiments has one class derived from Experiment, named Main.
"""

import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import time

from . import named, needs
from .figure import draw
from .machine import Failed, tail

PATIENCE = 600  # seconds: scozd calibrates, and may find the machine very busy
T95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23]  # Student's, 1 to 10 degrees of freedom


class Change:
    """A real change, and the target it makes cheaper.

    cheaper: by how many percent; None: measure() says what a unit of work costs in the target.
    quick: the speedup that is tried where there is little time.
    needs: more than the experiment does; without, this change is left out.
    sign: 1 faster, 0 no difference of 5 points, -1 slower; None: it depends on the machine.
    at_most: it is less of the target at most, because the work only goes elsewhere: the prediction is an upper end.
    replay: what a replay is asked for instead of the target, which it does not know: class:io for a call that waits for disks.
    """

    def __init__(self, name, title, target, cheaper=None, options=(), sign=None, at_least=None, quick="100",
                 needs=(), replay=None, at_most=False):
        self.name, self.title = name, title
        self.target = [target] if isinstance(target, str) else target
        self.cheaper, self.options = cheaper, list(options)
        self.sign, self.at_least, self.quick, self.needs = sign, at_least, quick, list(needs)
        self.at_most = at_most
        self.replay = replay or (self.target[0] if len(self.target) == 1 else None)


class Experiment:
    name = None  # as on the command line
    title = ""
    needs = []
    changes = []
    points = []  # of scozd -p
    latencies = {}  # of scozd -l
    options = []  # of scozd, whatever the target; or a function of the change
    seconds = 20  # of profiling
    measure_seconds = 4
    rounds = 5
    quick_seconds = 12
    unit = "units"
    expected = []  # one of these is among the three that are sampled most: parts of names
    named = []  # what papers name, to be found with no target given

    def __init__(self, machine, opt):
        self.machine, self.opt, self.quick = machine, opt, opt.quick

    def source(self, name):
        for need in self.needs:
            if isinstance(need, needs.Source) and need.name == name:
                return need.folder(self.opt.third_party)
        raise Failed("%s does not say that it needs %s" % (self.name, name))

    def tried(self):
        """The changes that are."""
        if self.opt.default_targets:
            return []
        if self.opt.change:
            chosen = [c for c in self.changes if c.name == self.opt.change]
            if not chosen:
                raise Failed("%s has no change %s; it has %s" % (
                    self.name, self.opt.change, ", ".join(c.name for c in self.changes)))
            return chosen
        return self.changes[:1] if self.quick else [
            c for c in self.changes if not any(n.missing(self.opt.third_party) for n in c.needs)]

    def tries(self, name):
        return any(c.name == name for c in self.tried())

    def profiled_for(self):
        return self.opt.seconds or (self.quick_seconds if self.quick else self.seconds)

    def prepare(self):
        """Inputs, builds, servers."""

    def command(self, change):
        """What is profiled as it is, for this change (None: the default targets'): runs until it is ended.

        With --pid among the options: what runs beside.
        """
        raise NotImplementedError

    def measure(self, change, changed, seconds):
        """Units of work a second, and what one costs in the target (or None)."""
        raise NotImplementedError


def scoz(*argv, check=True):
    p = subprocess.run([os.path.join(needs.build(), "scoz")] + list(argv), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if check and p.returncode not in (0, 3):
        raise Failed("scoz %s: exit status %d: %s" % (" ".join(argv), p.returncode, p.stderr.strip()))
    return p.stdout


def ending(status):
    """What the status of wait() says."""
    if status is None:
        return "no status"
    code = os.waitstatus_to_exitcode(status)
    return "status %d" % code if code >= 0 else "signal %d" % -code


def profile(experiment, change, more, seconds, path):
    """Runs scozd, and leaves its profile in path."""
    machine, opt = experiment.machine, experiment.opt
    options = experiment.options(change) if callable(experiment.options) else list(experiment.options)
    argv = [os.path.join(needs.build(), "scozd"), "-q", "--duration", str(seconds), "-o", path,
            "--engine", opt.engine, "--seed", str(opt.seed)]
    for point in experiment.points:
        argv += ["-p", point]
    for latency, points in experiment.latencies.items():
        argv += ["-l", "%s=%s" % (latency, points)]
    argv += options + more
    log = path + ".log"
    command = experiment.command(change)
    beside = None
    if "--pid" in options:
        beside = machine.start(command, log=log)
        time.sleep(0.5)
    else:
        argv += ["--"] + command
    with open(os.path.join(os.path.dirname(path), "commands"), "a") as f:
        f.write(" ".join(argv) + "\n")
    p = machine.start(argv, log=log)
    try:
        p.wait(seconds + PATIENCE)
    except subprocess.TimeoutExpired as e:
        raise Failed("scozd has not ended %d s after it should have: %s" % (PATIENCE, tail(log))) from e
    finally:
        machine.end(p)
        if beside:
            if beside.poll() is not None:
                raise Failed("%s ended by itself with status %d: %s" % (
                    command[0], beside.returncode, tail(log)))
            machine.end(beside)
    if p.returncode not in (0, 3):
        raise Failed("scozd: exit status %d: %s" % (p.returncode, tail(log)))
    report = json.loads(scoz("report", "--json", path) or "{}")
    status = report.get("command_status")
    # Ranks may run on for a while without the one who has started them.
    killed = status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGTERM
    if not beside and (killed or report.get("duration_s", 0) < seconds - 1):
        raise Failed("%s ended by itself after %.1f s, with %s: %s" % (
            command[0], report.get("duration_s", 0), ending(status), tail(log)))
    return report


def at(entry, speedup):
    """Prediction and interval at this speedup, between the points around it."""
    points = [(p["speedup_pct"], p["program_speedup_pct"], p["ci95"]) for p in entry["points"]]
    points = [(0, 0.0, [0.0, 0.0])] + [p for p in points if p[0] > 0 and p[2] and None not in p[2]]
    for a, b in zip(points, points[1:]):
        if a[0] <= speedup <= b[0]:
            f = (speedup - a[0]) / (b[0] - a[0])

            def mix(x, y):
                return (1 - f) * x + f * y
            return mix(a[1], b[1]), mix(a[2][0], b[2][0]), mix(a[2][1], b[2][1])
    return None


def interval(values):
    """Mean and half width of its 95 % interval."""
    n = len(values)
    if n < 2:
        return values[0], math.inf
    t = T95[n - 2] if n - 2 < len(T95) else 2.0
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(n)


def truth(experiment, change, rounds, seconds):
    """What the change really brings: as it is and changed in turns, and in the other order next time."""
    gains, cheaper, rates = [], [], []
    for i in range(rounds):
        got = {}
        for changed in ((False, True), (True, False))[i % 2]:
            got[changed] = experiment.measure(change, changed, seconds)
            if not got[changed][0] > 0:
                raise Failed("%s did nothing in %s s" % (experiment.name, seconds))
        (rate, cost), (rate2, cost2) = got[False], got[True]
        gains.append(math.log(rate / rate2))
        rates.append([rate, rate2])
        if change.cheaper is None:
            if cost is None or cost2 is None:
                raise Failed("%s does not know what %s costs" % (experiment.name, change.target[0]))
            cheaper.append(100 * (1 - cost2 / cost))
    mean, half = interval(gains)
    gain = 100 * (1 - math.exp(mean))
    return {"gain_pct": gain,
            "ci95": [100 * (1 - math.exp(mean + half)), 100 * (1 - math.exp(mean - half))],
            "cheaper_pct": change.cheaper if change.cheaper is not None else statistics.mean(cheaper),
            "rates": rates}


def choices(report, number=named.FIRST):
    """What scozd chooses targets from, whether or not it was told one: most samples first."""
    return [c["target"] for c in report.get("choices") or []][:number]


def by_replay(report, target, progress, cheaper):
    """What the replay of the run's beginning expects of this, and its bounds. None: it does not know it."""
    for entry in (report.get("replay") or {}).get("targets") or []:
        if entry["target"] == target and entry["progress"] == progress:
            points = [dict(p, ci95=p["bounds"]) for p in entry["points"]]
            return at({"points": points}, min(max(cheaper, 0), 100))
    return None


def judge(change, entry, measured):
    """Predicted at what the change saves, and how that compares. None: nothing was predicted."""
    # What costs more than before is no less of the target.
    said = at(entry, min(measured["cheaper_pct"], 100)) if entry and measured["cheaper_pct"] > 0 else None
    result = {"verdict": entry["verdict"] if entry else "nothing", "predicted_pct": None}
    if said:
        low, high = measured["ci95"]
        result.update(
            predicted_pct=said[0], predicted_ci95=[said[1], said[2]], error_pct=said[0] - measured["gain_pct"],
            inside=said[1] <= measured["gain_pct"] <= said[2],
            overlap=said[1] <= high and low <= said[2])
    return result


def contradictions(experiment, row):
    """What is wrong in any weather: another target, or a verdict that the change refutes."""
    wrong = []
    if row["verdict"] == "optimize" and row["measured_ci95"][1] < 0:
        wrong.append("verdict optimize, and the change made it slower")
    if row["verdict"] == "contention" and row["measured_ci95"][0] > 0:
        wrong.append("verdict contention, and the change made it faster")
    if row["verdict"] == "no effect" and row["measured_ci95"][0] > 5:
        wrong.append("verdict no effect, and the change brought %.1f %%" % row["measured_pct"])
    if experiment.expected and not any(named.is_part(e, name) for e in experiment.expected for name in row["top"]):
        wrong.append("sampled most: %s, and not %s" % (", ".join(row["top"]), " or ".join(experiment.expected)))
    return wrong


def disappointments(change, row):
    """What is otherwise than it should be, as it may come out where others use the machine."""
    wrong = []
    if row["verdict"] == "nothing":
        wrong.append("nothing was predicted for %s" % change.target[0])
    if change.sign == 1 and row["measured_ci95"][1] <= 0 or change.sign == -1 and row["measured_ci95"][0] >= 0:
        wrong.append("the change brought %.1f %%" % row["measured_pct"])
    if change.at_least is not None and row["predicted_pct"] is not None and row["predicted_ci95"][1] < change.at_least:
        wrong.append("predicted %.1f %%, which should be %.0f or more" % (row["predicted_pct"], change.at_least))
    return wrong


def rounds_of(main, quick):
    """How often a change is measured, and for how many seconds each way."""
    return (min(main.rounds, 3), min(main.measure_seconds, 2)) if quick else (main.rounds, main.measure_seconds)


def planned(main, quick):
    """Seconds of profiling and measuring, without what is prepared before."""
    rounds, per = rounds_of(main, quick)
    profiles = {(tuple(c.target), tuple(c.options)) for c in main.changes[:1] if quick} or {
        (tuple(c.target), tuple(c.options)) for c in main.changes}
    runs = len(profiles) + (0 if quick else max(len(main.named), 1))
    return runs * (main.quick_seconds if quick else main.seconds) + (
        1 if quick else len(main.changes)) * 2 * rounds * per


def unnamed(experiment, out, say):
    """Targets chosen by scozd: rows that say where what papers name is among them."""
    seconds = experiment.profiled_for()
    rows = []
    for n in experiment.named or [named.Named(None, *experiment.expected)]:
        path = os.path.join(out, n.name + ".scoz")
        say("profiling for %d s, targets chosen by scozd%s" % (seconds, "".join(" " + o for o in n.options)))
        report = profile(experiment, None, n.options + ["--speedup", "50,100"], seconds, path)
        present(out, n.name, path)
        row = dict(named.found(n, choices(report, 10), report), experiment=experiment.name, load=os.getloadavg()[0])
        with open(os.path.join(out, n.name + ".json"), "w") as f:
            json.dump(row, f, indent=1)
        rows.append(row)
    return rows


def conduct(experiment, out, say):
    """The whole experiment: its rows for the table, and those without a target."""
    quick = experiment.quick
    rows, top, own = [], [], []
    seconds = experiment.profiled_for()
    if not quick:
        own = unnamed(experiment, out, say)
        top = own[0]["sampled"][:named.FIRST]
    profiled = {}
    for change in experiment.tried():
        begin = time.monotonic()
        path = os.path.join(out, change.name + ".scoz")
        more = change.options + ["--speedup", change.quick if quick else "25,50,75,100"]
        for target in change.target:
            more += ["--target", target]
        same = tuple(more + experiment.command(change))
        if same in profiled:
            before, report, points = profiled[same]
            shutil.copyfile(before, path)
        else:
            say("profiling for %d s, target %s" % (seconds, " ".join(change.target)))
            report = profile(experiment, change, more, seconds, path)
            points = []
            profiled[same] = path, report, points
        present(out, change.name, path)
        rounds, per = rounds_of(experiment, quick)
        say("really changed: %s: %d times, %d s each" % (change.title, rounds, per))
        measured = truth(experiment, change, rounds, per)
        entries = report.get("targets") or [None]  # one for each progress point, throughput first
        entry = next((e for e in entries if e and e["progress"] not in experiment.latencies), entries[0])
        row = judge(change, entry, measured)
        row.update(experiment=experiment.name, change=change.name, title=change.title, target=change.target,
                   cheaper_pct=measured["cheaper_pct"], measured_pct=measured["gain_pct"],
                   measured_ci95=measured["ci95"], top=top or choices(report),
                   warning=entry.get("warning") if entry else None, reasons=report.get("reasons"),
                   machine=report.get("machine"), load=os.getloadavg()[0], seconds=time.monotonic() - begin)
        row["replay"] = by_replay(report, change.replay, entry["progress"] if entry else None, measured["cheaper_pct"])
        row["replay_target"] = change.replay
        row["at_most"] = change.at_most
        row["latency"] = {e["progress"]: at(e, min(max(measured["cheaper_pct"], 0), 100))
                          for e in entries if e and e["progress"] in experiment.latencies}
        row["contradictions"] = contradictions(experiment, row)
        row["not_as_expected"] = row["contradictions"] + disappointments(change, row)
        with open(os.path.join(out, change.name + ".json"), "w") as f:
            json.dump(dict(row, rates=measured["rates"], unit=experiment.unit), f, indent=1)
        rows.append(row)
        points.append((change.title, measured))
        # Those of one curve are points of one figure.
        draw(os.path.join(out, change.name + ".svg"), "%s: %s" % (experiment.title, change.title),
             " ".join(change.target), entry, points)
    return rows, own


def present(out, name, path):
    """Table and curves, where there are any."""
    with open(os.path.join(out, name + ".txt"), "w") as f:
        f.write(scoz("report", path, check=False))
    scoz("plot", "-o", os.path.join(out, name + ".html"), path, check=False)
