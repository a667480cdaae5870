#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times builds of seam in turn on one command, so that what else the machine does falls on all of them alike.

    bench/pairs.py ROUNDS "report -i FILE" OLD/seam NEW/seam...     # chrt -f 10 in front of it on a busy machine

Output and messages of the builds are thrown away; one that fails is an error. Least and median of real and CPU seconds.
"""
import resource
import statistics
import subprocess
import sys
import time


def once(command):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    real, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return real, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    rounds, arguments, builds = int(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]
    times = {build: [] for build in builds}
    for _ in range(rounds):
        for build in builds:
            times[build].append(once([build, *arguments]))
    for build, those in times.items():
        real, cpu = zip(*those)
        print(f"{build}: real {min(real):.3f} {statistics.median(real):.3f}, CPU {min(cpu):.3f} {statistics.median(cpu):.3f}")


if __name__ == "__main__":
    main()
