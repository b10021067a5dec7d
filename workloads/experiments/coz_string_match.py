# SPDX-License-Identifier: GPL-2.0-or-later
"""COZ's string_match (of Phoenix): two buffers of a kilobyte are cleared for each word of a few letters."""

import random

from harness.cozbench import CozBenchmark
from harness.experiment import Change
from harness.named import Named

WORDS, LETTERS = 300000, 9  # all of one length: what is not cleared ends where it should; of fewer the start is a large part
CLEAR = "string_match-pthread.c:251-255"  # what comes behind the two calls waits for them, and adds two numbers


class Main(CozBenchmark):
    name = "coz-string-match"
    title = "COZ's string_match, two threads"
    file = "string_match/string_match-pthread.c"
    needs = CozBenchmark.needed(file)
    expected = [CLEAR]
    named = [Named(None, CLEAR)]
    changes = [Change("clear", "buffers are not cleared", CLEAR, cheaper=100, sign=1, at_least=10)]

    def changed(self):
        return [(r"bzero\(cur_word,MAX_REC_LEN\);", ""), (r"\tbzero\(cur_word_final, MAX_REC_LEN\);\n\t\ttotal", "\n\t\ttotal")]

    def prepare(self):
        chance = random.Random(self.opt.seed)
        self.words = self.machine.path("words")
        with open(self.words, "w") as f:
            f.writelines("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=LETTERS)) + "\n" for _ in range(WORDS))
        super().prepare()

    @staticmethod
    def where(binary):
        return ["part=%s:string_match_map" % binary]

    def job(self, binary):
        return [binary, self.words]
