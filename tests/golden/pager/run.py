#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text on a terminal: fitted to its width, and through the pager that the environment names where it is longer.

    run.py SEAM DATA
"""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

SEAM, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RECORDING = os.path.join(DATA, "gcc_d", "perf.data")
NOWHERE = ["--symfs", "/nonexistent"]
KERNEL = 0xffffffff81000000  # where its text begins in the recording
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text)


def on_terminal(args, rows=24, columns=80, **environ):
    """Exit code and what a terminal of that size got, as lines."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {k: v for k, v in os.environ.items() if k not in ("PAGER", "SEAM_PAGER", "LESS")}
        env.update({"TERM": "xterm", "NO_COLOR": "1", **environ})
        os.execve(SEAM, ["seam", *args], env)
    out = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(fd)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    text = out.decode("utf-8", "replace").replace("\r\n", "\n")
    return code, re.sub(r"\r[^\r\n]*\x1b\[K", "", text).lstrip("\r")  # without the line of progress


def wide_sentences(text, columns):
    """Lines that are wider than the terminal, but for those that cannot be broken: rows of tables, commands, one word."""
    rows = tables(text)
    return [line for line in text.splitlines() if width(line) > columns and line not in rows and not line.lstrip().startswith("$ ") and
            max(map(width, line.split())) + len(line) - len(line.lstrip()) <= columns]


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def tables(text):
    """The rows of tables and trees: the lines that begin with a share. (Sentences are not cut, but broken.)"""
    return [line for line in text.splitlines() if re.match(r" *\d+\.\d\d% ", line)]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        got = os.path.join(scratch, "got")
        pager = os.path.join(scratch, "my-pager")
        with open(pager, "w") as f:
            f.write("#!/bin/sh\nprintf '%s\\n' \"$@\" >" + got + ".args\ncat >" + got + "\n")
        os.chmod(pager, 0o755)
        # Names wider than the terminal, whatever kernel runs here.
        kernel = os.path.join(scratch, "kallsyms")
        with open(kernel, "w") as f:
            for at in range(KERNEL, KERNEL + 0x2000000, 0x4000):
                f.write("%016x T %s\n" % (at, "_text" if at == KERNEL else "function_" * 9 + "%x" % at))
        report = ["report", "--stdio", *NOWHERE, "--kallsyms", kernel, RECORDING]

        code, text = on_terminal(report, PAGER=pager + " -x  two; echo $HOME")
        with open(got) as f:
            paged = f.read()
        with open(got + ".args") as f:
            words = f.read().split("\n")[:-1]
        if code or text.strip():
            fault("with a pager: exit %d, and on the terminal: %r" % (code, text[:200]))
        if words != ["-x", "two;", "echo", "$HOME"]:
            fault("the pager's words are %r" % words)
        rows = tables(paged)
        if len(rows) < 24 or max(map(width, rows)) > 80:
            fault("%d rows of up to %d columns" % (len(rows), max(map(width, rows))))

        code, whole = on_terminal(report[:1] + ["-w", "0"] + report[1:], PAGER="")
        if code or len(tables(whole)) != len(rows) or max(map(width, tables(whole))) <= 80:
            fault("-w 0: exit %d, %d rows of up to %d columns" % (code, len(tables(whole)), max(map(width, tables(whole)))))
        code, wide = on_terminal(report, columns=10000, PAGER="cat")
        if code or tables(wide) != tables(whole):
            fault("a wide terminal does not show what -w 0 does")

        # Where there is little room tables and trees fit as well, of wide names, too.
        made = os.path.join(scratch, "made.data")
        with open(made, "wb") as f:
            subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "made"), "screens"], stdout=f, check=True)
        for args in (report, ["report", "--stdio", *NOWHERE, made]):
            for columns in (40, 50, 60):
                for graph in ("caller", "callee"):
                    code, text = on_terminal([*args, "-g", graph], columns=columns, PAGER="cat")
                    shown = [line for line in text.splitlines() if re.match(" *(Children|Total) ", line)] + tables(text)
                    wide = [line for line in shown if width(line) > columns]
                    if code or len(shown) < 12 or wide:
                        fault("%d columns, %s: exit %d, %d of %d rows are wider: %s" % (columns, graph, code, len(wide), len(shown), wide[:2]))

        # Sentences are broken between words, whatever the width, and say what they say on a wide one.
        for args in (report, ["explain", *NOWHERE, RECORDING]):
            sentences = on_terminal(args, columns=10000, PAGER="cat")[1].split()
            for columns in (60, 80, 200):
                code, text = on_terminal(args, columns=columns, PAGER="cat")
                wide = wide_sentences(text, columns)
                if code or wide:
                    fault("%s: %d columns: exit %d, %d lines are wider: %s" % (args[0], columns, code, len(wide), wide[:2]))
            if args[0] == "explain" and text.split() != sentences:
                fault("explain says something else on 200 columns")

        # less would ask for a key on a terminal that cannot move its cursor; who names a pager gets it there, too.
        less = os.path.join(scratch, "less")
        shutil.copy(pager, less)
        path = scratch + ":" + os.environ["PATH"]
        for term, rest, paged in (("xterm", {}, True), ("dumb", {}, False), ("", {}, False), ("dumb", {"PAGER": pager}, True)):
            with open(got, "w"):
                pass
            code, text = on_terminal(report, TERM=term, PATH=path, **rest)
            if code or (os.path.getsize(got) > 0) != paged or bool(tables(text)) == paged:
                fault("TERM=%r, %s: exit %d, %d bytes for the pager, %d rows on the terminal" % (
                    term, rest, code, os.path.getsize(got), len(tables(text))))

        # What is short, and what nobody wants paged, is printed; so it is without a pager that starts.
        os.unlink(got)
        for what, args, rows_of, environ in (
                ("short", ["evlist", RECORDING], 24, {"PAGER": pager}),
                ("SEAM_PAGER before PAGER", report, 24, {"PAGER": pager, "SEAM_PAGER": "cat"}),
                ("no such pager", report, 24, {"PAGER": scratch + "/none"}),
                ("a tall terminal", report, 5000, {"PAGER": pager})):
            code, text = on_terminal(args, rows=rows_of, **environ)
            if code or not text.strip() or os.path.exists(got):
                fault("%s: exit %d, %d characters" % (what, code, len(text)))

        # A pager that leaves at once is no failure.
        code, text = on_terminal(report, PAGER="true")
        if code or text.strip():
            fault("a pager that leaves: exit %d, %r" % (code, text[:200]))
    print("%d faults" % faults)
    return 1 if faults else 0


sys.exit(main())
