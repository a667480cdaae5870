#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""several.py MS: writes a script of vim whose functions of Python, Perl and Ruby call each other in each order, four deep. Each works
for MS milliseconds of CPU time. A function's name says the order and which it is: go_plpyrbpl_2 is Python's, called by Perl.
several.py --judge LEAST < script: holds each sample's functions against what their names say. Wrong is none; whole are 99.5 % of
the samples in such a function, which are LEAST at least."""
import itertools
import re
import sys

PYTHON = """import time, vim
def busy():
    end = time.process_time() + %(s)s
    while time.process_time() < end:
        sum(i * i for i in range(300))
def then(text):
    vim.eval(text)
    busy()
"""
PERL = """use POSIX ();
sub busy { my $end = POSIX::clock() + %(s)s * 1e6; my $n = 0; while (POSIX::clock() < $end) { $n += $_ * $_ for 1 .. 300 } }
sub then { VIM::Eval($_[0]); busy() }
"""
RUBY = """def busy
  now = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) }
  last = now.call + %(s)s
  300.times { |i| i * i } while now.call < last
end
def then_of(text)
  VIM::evaluate(text)
  busy
end
"""
CALLS = {"py": "py3eval('%s(0)')", "pl": "perleval('%s()')", "rb": "rubyeval('%s')"}
FUNCTIONS = {"py": "def %(name)s(n):\n    busy()\n    %(next)s\n    return 1\n",
             "pl": "sub %(name)s { busy(); %(next)s; 1 }\n",
             "rb": "def %(name)s\n  busy\n  %(next)s\n  1\nend\n"}
THEN = {"py": 'then("%s")', "pl": 'then("%s")', "rb": 'then_of("%s")'}
PREFIX = {"py": "py::", "pl": "pl::main::", "rb": "rb::Object#"}
DEPTH = 4


def write(ms):
    texts = {"py": PYTHON, "pl": PERL, "rb": RUBY}
    texts = {k: v % {"s": ms / 1000} for k, v in texts.items()}
    calls = []
    for order in itertools.product(CALLS, repeat=DEPTH):
        names = ["go_%s_%d" % ("".join(order), i + 1) for i in range(DEPTH)]
        for i, kind in enumerate(order):
            call = THEN[kind] % (CALLS[order[i + 1]] % names[i + 1]) if i + 1 < DEPTH else "0"
            texts[kind] += FUNCTIONS[kind] % {"name": names[i], "next": call}
        calls.append("call " + CALLS[order[0]] % names[0])
    for kind, command in ("py", "python3"), ("pl", "perl"), ("rb", "ruby"):
        print("%s << EOF\n%sEOF" % (command, texts[kind]))
    print("\n".join(calls) + "\nqa!")


def judge(frames):
    """What a sample's functions are, the innermost first: 'wrong', 'lost', 'whole', or None if it has none of these."""
    goes = [re.match(r"(py::|pl::main::|rb::Object#)go_(\w+)_(\d)(:|$)", f) for f in reversed(frames)]
    goes = [g.groups() for g in goes if g]
    if not goes:
        return "lost" if any(re.match(r"(py::|pl::main::|rb::Object#)(busy|then)(:|$)", f) for f in frames) else None
    order = goes[0][1]
    kinds = re.findall("..", order)
    depths = [int(g[2]) for g in goes]
    if any(g[1] != order or g[0] != PREFIX[kinds[int(g[2]) - 1]] for g in goes) or depths != sorted(set(depths)):
        return "wrong"
    return "whole" if depths == list(range(1, len(depths) + 1)) else "lost"


def main():
    if sys.argv[1] != "--judge":
        write(float(sys.argv[1]))
        return 0
    seen = {"wrong": 0, "lost": 0, "whole": 0}
    deepest = set()
    for block in sys.stdin.read().split("\n\n"):
        frames = [line.strip() for line in block.splitlines() if line[:1] in " \t"]
        frames = [re.sub(r"^[0-9a-f]+ ", "", f) for f in frames]
        is_ = judge(frames)
        if is_ in ("wrong", "lost") and seen[is_] < 3:
            print(is_, [f for f in frames if re.match("(py|pl|rb)::", f)])
        if is_:
            seen[is_] += 1
        deepest |= {m[1] for f in frames for m in [re.search(r"go_(\w+)_%d" % DEPTH, f)] if m and is_ == "whole"}
    n = sum(seen.values())
    print("%d samples, %d whole, %d lost, %d wrong; %d orders of %d" %
          (n, seen["whole"], seen["lost"], seen["wrong"], len(deepest), len(CALLS) ** DEPTH))
    return n < int(sys.argv[2]) or seen["wrong"] or seen["lost"] > n * 0.005


if __name__ == "__main__":
    sys.exit(main())
