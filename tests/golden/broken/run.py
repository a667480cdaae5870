#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every broken recording of make.py through `seam stat --check`, from a file, from a pipe and with
--strict: exit code, what stderr says, how many records survive. run.py SEAM [--update]"""
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import make  # noqa: E402

EXPECTED = os.path.join(HERE, "expected.txt")
MEMORY = 2 << 30  # address space, of which the limits of docs/format.md leave plenty unused
SECONDS = 20


def limits():
    if os.environ.get("SEAM_SANITIZED") != "1":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(seam, arguments, stdin=None):
    p = subprocess.run([seam, "stat", "--check"] + arguments, input=stdin, capture_output=True,
                       timeout=SECONDS, preexec_fn=limits, check=False)
    total = [line.split()[-1] for line in p.stdout.decode().splitlines() if " TOTAL events:" in line]
    return p.returncode, total[0] if total else "none", p.stderr.decode(errors="replace")


def recover(seam, path, directory):
    """What recover makes of it must itself be sound."""
    out = os.path.join(directory, "recovered")
    p = subprocess.run([seam, "recover", path, "-o", out], capture_output=True, timeout=SECONDS,
                       preexec_fn=limits, check=False)
    if p.returncode == 1:
        return ["  recover: exit 1"]
    code, total, said = run(seam, [out])
    os.unlink(out)
    lines = ["  recover: exit %d; reads back: exit %d, records %s" % (p.returncode, code, total)]
    if code or said:
        lines.append("  NOT SOUND: " + said.replace(out, "OUT"))
    return lines


def describe(seam, name, content, directory):
    path = os.path.join(directory, "f")
    with open(path, "wb") as f:
        f.write(content)
    code, total, said = run(seam, [path])
    lines = ["== %s: exit %d, records %s" % (name, code, total)]
    lines += ["  " + line for line in said.replace(path, "FILE").splitlines()]
    code, total, _ = run(seam, ["-"], content)
    lines.append("  through a pipe: exit %d, records %s" % (code, total))
    code, total, said = run(seam, ["--strict", path])
    said = said.replace(path, "FILE").splitlines()
    lines.append("  --strict: exit %d%s" % (code, ": " + said[-1] if said else ""))
    lines += recover(seam, path, directory)
    return "\n".join(lines) + "\n"


def main():
    seam, update = sys.argv[1], "--update" in sys.argv
    with tempfile.TemporaryDirectory() as directory:
        got = [describe(seam, name, content, directory) for name, content in make.cases()]
    if update:
        with open(EXPECTED, "w") as f:
            f.write("".join(got))
        return 0
    with open(EXPECTED) as f:
        expected = ["== " + part for part in f.read().split("== ")[1:]]
    faults = 0
    if len(expected) != len(got):
        print("%d cases, %d expected" % (len(got), len(expected)))
        faults += 1
    for want, have in zip(expected, got):
        if want != have:
            print("expected:\n" + want + "got:\n" + have)
            faults += 1
    print("%d broken recordings, %d not as expected" % (len(got), faults))
    return 1 if faults else 0


sys.exit(main())
