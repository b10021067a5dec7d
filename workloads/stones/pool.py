#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A pool of two processes that count words, fed and asked by a third."""
import itertools
import multiprocessing


def work(n):
    words = {}
    for i in range(n):
        word = "w%d" % (i * i % 37)
        words[word] = words.get(word, 0) + 1
    return len(words)


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        for _ in pool.imap(work, itertools.cycle([300, 500, 900])):
            pass
