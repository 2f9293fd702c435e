#!/usr/bin/env python3
"""pi.py [JOBS] [DARTS]: throws darts in many jobs at once, and tells pi.

    berth pool &
    PYTHONPATH=python examples/pi.py 20 1000000"""
import random
import sys

import berth


def inside(seed, darts):
    chance = random.Random(seed)
    return sum(chance.random() ** 2 + chance.random() ** 2 < 1 for _ in range(darts))


jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
darts = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
with berth.Pool(memory="64M", disk="64M") as pool:
    hits = sum(pool.map(inside, range(jobs), [darts] * jobs))
print("pi is about", 4 * hits / (jobs * darts))
