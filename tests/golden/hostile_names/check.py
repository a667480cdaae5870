# SPDX-License-Identifier: MIT
"""check.py COMMAND...: what the command says of a hostile recording has no byte that a terminal would obey, no character that misleads
who reads, and as many lines as it says of the harmless twin: no name made a line of its own. Both outputs are looked at."""
import subprocess
import sys
import unicodedata

ALLOWED = {"\n", "\t"} if sys.argv[1] == "--tabs" else {"\n"}
command = sys.argv[2:] if sys.argv[1] == "--tabs" else sys.argv[1:]


def said(which):
    args = [which if a == "FILE" else a for a in command]
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return done.stdout, done.stderr.replace(which.encode(), b"FILE"), done.returncode


def faults(out):
    try:
        text = out.decode("utf-8")
    except UnicodeDecodeError as e:
        return "bytes that are no UTF-8: %r" % out[max(e.start - 20, 0):e.start + 20]
    for i, c in enumerate(text):
        if c not in ALLOWED and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"):
            return "U+%04X in %r" % (ord(c), text[max(i - 20, 0):i + 20])
    return None


bad, good = said("hostile.data"), said("harmless.data")
what = " ".join(command).encode("unicode_escape").decode()
for name, of, twin in (("stdout", bad[0], good[0]), ("stderr", bad[1], good[1])):
    fault = faults(of)
    if fault:
        print("FAILED: %s: %s: %s" % (what, name, fault))
    elif of.count(b"\n") != twin.count(b"\n"):
        print("FAILED: %s: %s: %d lines, %d of the harmless twin" % (what, name, of.count(b"\n"), twin.count(b"\n")))
if bad[2] != good[2]:
    print("FAILED: %s: status %d, %d of the harmless twin" % (what, bad[2], good[2]))
print("looked at %s: %s" % (what, "something" if bad[0] else "nothing"))
