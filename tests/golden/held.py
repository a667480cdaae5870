# SPDX-License-Identifier: MIT
"""What tests of stores share: seam is run, and what it says is held against what is wanted. `faults` counts what was not."""
import os
import subprocess
import sys
import tempfile

SEAM = os.path.abspath(sys.argv[1])
# In the user's home perf's cache may get names in the midst of a test.
HOME = tempfile.TemporaryDirectory()
ENV = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", SEAM_CONFIG="", TZ="UTC", HOME=HOME.name)
NOWHERE = ["--symfs", "/nonexistent"]
EVER = ["--from", "1970-01-01", "--to", "2100-01-01"]
faults = 0


def seam(*args, status=0):
    done = subprocess.run([SEAM, *args], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if status is not None and done.returncode not in (status, 3 if status == 0 else status):
        fault("seam %s: exit %d: %s" % (" ".join(args), done.returncode, err))
    return out, err, done.returncode


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text[:2000])


def check(what, wanted, got):
    if wanted != got:
        w, g = str(wanted).split("\n"), str(got).split("\n")
        line = next((i for i, (a, b) in enumerate(zip(w, g)) if a != b), min(len(w), len(g)))
        fault("%s: line %d: wanted %r, got %r" % (what, line + 1, w[line:line + 2], g[line:line + 2]))
