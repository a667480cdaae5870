#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Stacks of real programs, walked by BPF in the kernel, beside libdw's from the same registers and stack bytes. The
programs are those of unwind_truth.py, from their exec on. docs/unwind-truth.md explains figures and differences.

    bpf_libdw.py TOOL [SOURCE]     a second each of what is installed: a test; 77 where BPF may not be used
    bpf_libdw.py TOOL --table      longer, and Debian packages unpacked in the cache; prints the table
    bpf_libdw.py TOOL --only NAME  one program, with the first differences

TOOL is the built system_bpf_libdw.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import unwind_truth as truth  # noqa: E402

EQUAL, COMPLETE = 0.999, 0.995


# sh WHILE TICKS COMMAND...: a program that never ends, until it had so many hundredths of a second
# of CPU time.
WHILE = """ticks=$1
shift
"$@" &
pid=$!
while read -r stat <"/proc/$pid/stat"; do
	stat=${stat##*) }
	had=$(set -- $stat; echo $((${12} + ${13})))
	[ "$had" -lt "$ticks" ] || break
	sleep 0.05
done
kill $pid
wait $pid
"""


class Bench(truth.Bench):
    """Records by the tool, which compares at once: the "data" is its answer."""
    show = 0

    def record(self, name, command, size=None, pid=None, stdin=None):
        line = f"cd {shlex.quote(self.work)}; exec timeout -s TERM {self.seconds * 20 + 300} {shlex.join(command)}"
        done = subprocess.run([self.tool, str(self.show), line + (f" <{shlex.quote(stdin)}" if stdin else " </dev/null")],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, DEBUGINFOD_URLS=""))
        sys.stderr.write(done.stderr)
        if done.returncode:
            raise truth.Skip(done.stderr.strip()[-200:] or done.stdout.strip()[-200:])
        return json.loads(done.stdout)


def nginx(b):
    program = truth.package("nginx", "usr/sbin/nginx") if b.table else truth.need("nginx")
    port = truth.free_port()
    conf = truth.nginx_conf(b, port)
    with truth.nginx_clients(b, port):
        begun = ["sh", b.write("while.sh", WHILE), str(100 * b.seconds)]
        return b.record("nginx", [*begun, program, "-p", b.work, "-c", conf])


def mix(b):
    program = b.path("mix")
    done = subprocess.run([truth.need("c++"), "-O2", "-pthread", "-o", program, os.path.join(HERE, "bpf", "mix.cc")],
                          capture_output=True, text=True)
    if done.returncode:
        raise truth.Skip(done.stderr[-200:])
    return b.record("mix", [program, str(b.seconds)])


# The same programs, but for those that perf can only follow by pid; what may be incomplete, and why.
PROGRAMS = {name: record for name, (record, _) in truth.PROGRAMS.items()} | {"nginx": nginx, "C++": mix}
INCOMPLETE = {
    "C++ exceptions, threads": 0.98,  # while libgcc lands an exception no rule can be right
    "static, no .eh_frame for the program": 0,  # no tables
    "musl, static": 0, "musl, static, -g": 0,  # built without tables
}


def without_a_stack(r):
    """The program was being replaced, or the task's memory was gone: there is nothing to walk."""
    return r["ends"]["exec"] + r["ends"]["exited"]


def own_stacks(name, r):
    """Go's runtime on a stack of its own: the walk ends where it went there (go_stacks.sh). Each of the two walkers has a
    word for that end. How many such samples there are is the machine's affair: a goroutine is sent a signal when it had
    10 ms on the clock, not on the CPU."""
    return r["ends"]["no_rule"] + r["outside_ends"]["no_unwind_info"] if name.startswith("Go") else 0


def first_moments(r):
    """_init of crti.o, and what musl or the loader has before its first frame, have no unwind information: libdw
    ends there, too. Some ten instructions of each object, once a program."""
    return min(r["neither_begins"], r["ends"]["no_rule"] + r["outside_ends"]["no_unwind_info"], 3)


def judge(name, r):
    wrong = []
    walkable = max(1, r["samples"] - without_a_stack(r) - max(first_moments(r), own_stacks(name, r)))
    if r["samples"] < 20:
        wrong.append("hardly any sample")
    if r["differ"] > r["both"] * (1 - EQUAL):
        wrong.append("frames differ")
    if r["cut_begins"] < r["cut"] * (1 - (1 - EQUAL)):
        wrong.append("frames differ before the copy ends")
    if name in truth.GUESSED and r["guessed"]:
        wrong.append("frames were guessed")
    if name not in truth.GUESSED and r["neither"] - r["neither_begins"] > r["samples"] * (1 - COMPLETE):
        wrong.append("frames of unfinished stacks differ")
    if r["complete"] < INCOMPLETE.get(name, COMPLETE) * walkable:
        wrong.append("too few are complete")
    return wrong


def row(name, r):
    percent = lambda part, whole: f"{100 * part / whole:.3f} %" if whole else "-"
    print(f"| {name} | {r['samples']} | {r['frames'] / max(1, r['samples']):.1f} | {r['deferred']} | {r['outside']} |"
          f" {percent(r['complete'], r['samples'] - without_a_stack(r))} | {r['both']} | {percent(r['equal'], r['both'])} |"
          f" {r['cut']} | {percent(r['cut_begins'], r['cut'])} | stops {r['stops']} guesses {r['guesses']} else {r['differ']};"
          f" exec {r['ends']['exec']} exited {r['ends']['exited']} uncopied {r['uncopied']}", flush=True)


def main():
    tool, table = os.path.abspath(sys.argv[1]), "--table" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    if subprocess.run([tool, "0", "true"], capture_output=True).returncode == 77:
        print("skipped: BPF cannot be used here")
        return 77
    failed, ran = [], 0
    with tempfile.TemporaryDirectory(prefix="seam-bpf-") as work:
        b = Bench(tool, work, 5 if table else 1, table)
        b.show = 6 if only else 0
        for name, record in PROGRAMS.items():
            if only and only != name:
                continue
            try:
                r = record(b)
            except truth.Skip as reason:
                print(f"{name}: skipped: {reason}", flush=True)
                continue
            ran += 1
            row(name, r)
            wrong = judge(name, r)
            if wrong:
                failed.append(f"{name}: {', '.join(wrong)}: {r}")
    for f in failed:
        print("FAIL", f)
    return 1 if failed else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
