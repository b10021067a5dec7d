# SPDX-License-Identifier: GPL-2.0-or-later
"""COZ's toy: two threads of which one has twice as much to do, and who is joined last decides."""

from harness.cozbench import CozBenchmark
from harness.experiment import Change
from harness.named import Named


class Main(CozBenchmark):
    name = "coz-toy"
    title = "COZ's toy, two threads"
    file = "toy/toy.cpp"
    needs = CozBenchmark.needed(file)
    # Turns of a few milliseconds instead of most of a second; a run has a hundred of them.
    edits = [(r"its = 400000000ULL", "its = 4000000ULL")]
    expected = ["toy.cpp:18"]
    named = [Named("COZ", "toy.cpp:18", title="toy.cpp:18, the loop of a()")]
    changes = [Change("half", "half as much in a()", "toy.cpp:18", cheaper=50, sign=1, at_least=30, quick="50")]

    def changed(self):
        return [(r"x<its;", "x<its/2;")]

    @staticmethod
    def where(binary):
        return ["turn=%s:toy.cpp:50" % binary]

    def job(self, binary):
        return [binary]
