# SPDX-License-Identifier: GPL-2.0-or-later
"""COZ's kmeans (of Phoenix): threads that look for the nearest of many means."""

from harness.cozbench import CozBenchmark
from harness.experiment import Change
from harness.named import Named

BEGIN = r"unsigned int min_dist, cur_dist;"
END = r"return \(void \*\)0; *\n}\n\n/\*\* calc_means"


class Main(CozBenchmark):
    name = "coz-kmeans"
    title = "COZ's kmeans, two threads"
    file = "kmeans/kmeans-pthread.c"
    needs = CozBenchmark.needed(file)
    edits = [(BEGIN, BEGIN + " SPENT_BEGIN"), (END, "SPENT_END return (void *)0;\n}\n\n/** calc_means")]
    expected = ["kmeans-pthread.c:"]
    named = [Named(None, "kmeans-pthread.c", title="lines of find_clusters()")]
    changes = [Change("O2", "the search for the nearest mean compiled with -O2 instead of -O0", "func:find_clusters@kmeans",
                      sign=1, at_least=10)]

    def base(self):
        slow = '__attribute__((optimize("O0"))) '
        return [(r"^static inline unsigned int get_sq_dist", slow + "static unsigned int get_sq_dist"),
                (r"^void \*find_clusters\(void \*arg\) *\n{", slow + "void *find_clusters(void *arg)\n{")]

    @staticmethod
    def where(binary):
        return ["clusters=%s:find_clusters" % binary]

    def job(self, binary):
        return [binary, "-d", "3", "-c", "100", "-p", "10000", "-s", "100"]
