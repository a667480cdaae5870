#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times builds of seam in turn on one command, so that what else the machine does falls on all of them alike.

    bench/pairs.py ROUNDS "report -i FILE" OLD/seam NEW/seam...     # chrt -f 10 in front of it on a busy machine

Output and messages of the builds are thrown away; one that fails is an error. Least and median of real and CPU seconds.
"""
import os
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
import measure  # noqa: E402


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    rounds, arguments, builds = int(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]
    with tempfile.TemporaryDirectory() as directory:
        run = measure.Runner(directory)
        sides = {build: measure.Side(lambda build=build: run.run([os.path.abspath(build), *arguments], cwd=os.getcwd(),
                                                                 environment=os.environ)) for build in builds}
        measure.in_turn(sides, rounds, float("inf"), float("inf"))
    for build, side in sides.items():
        if side.failure:
            sys.exit(f"pairs.py: {build}: {side.failure}")
        real, cpu = [r.seconds for r in side.results], [r.cpu for r in side.results]
        print(f"{build}: real {min(real):.3f} {statistics.median(real):.3f}, CPU {min(cpu):.3f} {statistics.median(cpu):.3f}")


if __name__ == "__main__":
    main()
