#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""consumers.py SEAM DATA TOOL...: an exported recording in the tools that it is for, held against `seam report` of it.

Each TOOL reads what seam exports for it and prints, for people, functions with what was spent in them; that is read here, and must be
seam's figures for the functions of the same names, to the unit or to the digits that the tool prints: flamegraph, annotate, pprof.
With SEAM_PICTURES (a directory), a browser looks at what is drawn, and the pictures are left there."""
import base64
import html
import json
import os
import re
import subprocess
import sys

SEAM, DATA = sys.argv[1:3]
TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
PEER = os.path.join(TOP, "scripts", "peer")
failures = 0


def check(what, good, seen=""):
    global failures
    print(("%s: %s%s" % ("ok" if good else "FAILED", what, " (%s)" % (seen,) if seen != "" else "")).encode("unicode_escape").decode())
    failures += not good


def run(*words, text=None, **more):
    done = subprocess.run(words, input=text, stdin=None if text is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", errors="replace", **more)
    if done.returncode:
        raise SystemExit("FAILED: %s: exit %d: %s" % (" ".join(words)[:200], done.returncode, done.stderr[-600:]))
    return done.stdout, done.stderr


class Truth:
    """`seam report` by function: name -> (self, total) of the first event, and the event's whole weight. Names in brackets are what
    stands for one, and that differs from tool to tool."""
    def __init__(self, *keys):
        report = json.loads(run(SEAM, "report", "--json", "-s", ",".join(keys + ("sym",)), DATA)[0])
        self.event, self.whole = report["events"][0]["name"], report["events"][0]["weight"]
        self.of = {" ".join([r["sym"]] + [str(r[k]) for k in keys]): (r["self"], r["total"]) for r in report["rows"]
                   if r["event"] == self.event and r["sym"] and not r["sym"].startswith("[")}
        self.nameless = any(not r["sym"] for r in report["rows"])  # at an address that no mapping holds: pprof calls it <unknown>


def against(what, truth, seen, off=0, total=True):
    """What a tool shows, name -> (self, total), is seam's. off: how much digits that are not printed may hide."""
    wrong = [(n, seen.get(n), truth.of[n]) for n in truth.of
             if n not in seen or abs(seen[n][0] - truth.of[n][0]) > off or (total and abs(seen[n][1] - truth.of[n][1]) > off)]
    strange = [n for n in seen if n not in truth.of and not n.startswith("[") and not (truth.nameless and n == "<unknown>")]
    check("%s: %d functions with self%s are seam's" % (what, len(truth.of), " and total" if total else ""), not wrong and truth.of, wrong[:4] or "")
    check("%s: there are no others" % what, not strange, strange[:4] or "")


def picture(name, path, width=1200, height=760):
    """What a browser makes of a file."""
    if not os.environ.get("SEAM_PICTURES"):
        return
    from browser import Browser
    browser = Browser(width, height)
    try:
        browser.go("file://" + os.path.abspath(path))
        with open(os.path.join(os.environ["SEAM_PICTURES"], name + ".png"), "wb") as out:
            out.write(base64.b64decode(browser.screenshot()))
    finally:
        browser.close()


def text_picture(name, text):
    """What a terminal shows of it."""
    with open(name + ".html", "w", encoding="utf-8") as out:
        out.write('<!doctype html><meta charset="utf-8"><body style="background: #111; color: #ddd"><pre style="font: 13px monospace">%s</pre>' %
                  html.escape(text))
    picture(name, name + ".html")


def flamegraph(truth):
    """flamegraph.pl's boxes. Each is a title with a name and a weight, and a place: what is above it, and not above another, is its own."""
    folded, _ = run(SEAM, "export", "-f", "folded", DATA)
    svg, said = run(PEER, "flamegraph.pl", "--minwidth=0", "--countname=ns", "--title=cpu-clock", text=folded)
    check("flamegraph.pl says nothing wrong", not said.strip(), said.strip()[:200])
    with open("flamegraph.svg", "w", encoding="utf-8") as out:
        out.write(svg)
    boxes = [(html.unescape(n), int(w.replace(",", "")), float(x), float(x) + float(wide), float(y)) for n, w, x, y, wide in re.findall(
        r'<title>(.*) \(([\d,]+) ns, [\d.]+%\)</title><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)]
    root = [b for b in boxes if b[0] == "all"]
    check("flamegraph.pl: all of it", [b[1] for b in root] == [truth.whole], root)
    # A folded line is a path of boxes: as many as there are prefixes, each with the weight of all lines below it.
    paths = {}
    for line in folded.splitlines():
        stack, weight = line.rsplit(" ", 1)
        names = stack.split(";")
        for i in range(len(names)):
            paths[tuple(names[:i + 1])] = paths.get(tuple(names[:i + 1]), 0) + int(weight)
    shown = lambda n: n.replace("<", "(").replace(">", ")")
    check("flamegraph.pl: %d boxes" % len(paths), sorted((shown(p[-1]), w) for p, w in paths.items()) == sorted((shown(b[0]), b[1]) for b in boxes if b[0] != "all"))
    # The total of a function by the picture: the boxes of its name that are not above another one of its name.
    total, own = {}, {}
    for box in boxes:
        name, weight, left, right, y = box
        mine = [b for b in boxes if b[2] >= left - 0.11 and b[3] <= right + 0.11]
        if not any(b[0] == name and b[4] > y for b in boxes if b[2] <= left + 0.11 and b[3] >= right - 0.11):
            total[name] = total.get(name, 0) + weight
        own[name] = own.get(name, 0) + weight - sum(b[1] for b in mine if abs(b[4] - (y - 16)) < 0.5)
    plain = Truth()
    plain.of = {shown(n): v for n, v in truth.of.items()}
    # What a command and a function are both called (readlink) is one to those who look at names.
    comms = {shown(p[0]) for p in paths if len(p) == 1} | {"all"}
    plain.of = {n: v for n, v in plain.of.items() if n not in comms}
    against("flamegraph.pl", plain, {n: (own[n], total[n]) for n in total if n not in comms})
    picture("flamegraph.pl", "flamegraph.svg", 1220, 420)


def annotate(_):
    """callgrind_annotate's two lists: by self cost, and by inclusive cost."""
    truth = Truth()
    run(SEAM, "export", "-f", "callgrind", DATA, "-o", "callgrind")
    seen, threads = {}, set()
    for at, option in enumerate(("no", "yes")):
        text, said = run("callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=" + option, "callgrind")
        check("callgrind_annotate says nothing wrong", not said.strip(), said.strip()[:200])
        whole = re.search(r"^([\d,]+) .*PROGRAM TOTALS", text, re.M)
        check("callgrind_annotate: all of it, with --inclusive=%s" % option, whole and int(whole.group(1).replace(",", "")) == truth.whole, whole and whole.group(1))
        for weight, name, path in re.findall(r"^ *([\d,]+) \( *[\d.]+%\)  [^:]*:(.*?) \[(\[.*\]|[^][]*)\]$", text, re.M):
            old = seen.setdefault(name, [0, 0])
            old[at] += int(weight.replace(",", ""))
            if path == "???":
                threads.add(name)
    text_picture("callgrind_annotate", run("callgrind_annotate", "callgrind")[0])
    # It puts functions of one name in several objects together, and has no inclusive cost of both.
    several = [n.split(" ")[0] for n in Truth("dso").of]
    truth.of = {n: v for n, v in truth.of.items() if several.count(n.split(" ")[0]) == 1 and n not in threads}
    against("callgrind_annotate", truth, {n: tuple(v) for n, v in seen.items() if n in truth.of or n not in threads and several.count(n.split(" ")[0]) == 0})


def pprof(truth):
    """Go's pprof: its table, its graph (drawn by graphviz) and its source."""
    run(SEAM, "export", "-f", "pprof", DATA, "-o", "profile.pb.gz")
    os.makedirs("bin", exist_ok=True)
    with open("bin/dot", "w", encoding="ascii") as out:
        out.write('#!/bin/sh\nexec "%s" dot "$@"\n' % PEER)
    os.chmod("bin/dot", 0o755)
    env = dict(os.environ, PATH=os.path.abspath("bin") + ":" + os.environ["PATH"], PPROF_TMPDIR=os.getcwd())
    tool = ["go", "tool", "pprof", "-symbolize=none", "-nodefraction=0", "-edgefraction=0", "-nodecount=100000", "-unit=ns"]
    top, _ = run(*tool, "-top", "profile.pb.gz", env=env)
    seen = {re.sub(r" \((partial-)?inline\)$", "", n): (int(f), int(c)) for f, c, n in re.findall(
        r"^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +(\d+)(?:ns)? +[\d.]+%  (.*)$", top, re.M)}
    against("pprof -top", truth, seen)
    text_picture("pprof-top", run("go", "tool", "pprof", "-symbolize=none", "-top", "profile.pb.gz", env=env)[0])
    marked = set(re.findall(r"(\S+) \(inline\)$", top, re.M))
    if "deepest" in truth.of:
        check("pprof -top: deepest and middle are inlined", {"deepest", "middle"} <= marked, sorted(marked)[:6])
    svg, _ = run(*tool, "-svg", "profile.pb.gz", env=env)
    with open("pprof.svg", "w", encoding="utf-8") as out:
        out.write(svg)
    nodes = {html.unescape(n): int(w) for n, w in re.findall(r'<a xlink:title="(.*) \((\d+)ns\)">', svg) if "&gt; " not in n}
    wrong = [(n, nodes.get(n), t) for n, (_, t) in truth.of.items() if nodes.get(n) != t]
    check("pprof -svg: %d nodes are seam's functions with their totals" % len(nodes), not wrong, wrong[:4] or "")
    picture("pprof-graph", "pprof.svg")
    run(*tool, "-list=.", "-output=list", "profile.pb.gz", env=env)
    with open("list", encoding="utf-8") as file:
        routines = re.findall(r"^ROUTINE =+ (.*) in .*\n *(\d+)?(?:ns)?\.? +(\d+)(?:ns)?\.? \(flat, cum\)", file.read(), re.M)
    flat = {}
    for n, f, _ in routines:
        flat[n] = flat.get(n, 0) + int(f or 0)
    lines = json.loads(run(SEAM, "export", "-f", "json", DATA)[0])
    lined = lambda f: f.get("file") and f.get("line") and os.path.exists(f["file"])
    have = {f["symbol"] for f in lines["frames"] if lined(f)} - {f["symbol"] for f in lines["frames"] if not lined(f)}
    wrong = [(n, flat.get(n), truth.of[n][0]) for n in have if n in truth.of and flat.get(n) != truth.of[n][0]]
    check("pprof -list: the source of %d functions, with their self" % len(have), have and not wrong, wrong[:4] or "")
    if "add_rows" in truth.of:
        run(*tool, "-weblist=add_rows", "-output=weblist.html", "profile.pb.gz", env=env)
        with open("weblist.html", encoding="utf-8") as file:
            page = file.read()
        hot = [int(w) for w in re.findall(r'<span class=livesrc> *(\d+)(?:ns)? +\d+(?:ns)? [^<]*the hot line', page)]
        check("pprof -weblist: the hot line of the inlined function stands in its caller's source", hot and hot[0] > 0, hot)
        own = re.search(r"<h2>add_rows</h2>.*?Total: *(\d+)", page, re.S)
        wanted = sum(truth.of[n][0] for n in ("add_rows", "middle", "deepest") if n in truth.of)
        check("pprof -weblist: a function's self, with what is inlined", own and int(own.group(1)) == wanted, (own and own.group(1), wanted))
        picture("pprof-weblist", "weblist.html")


def main():
    truth = Truth()
    for tool in sys.argv[3:]:
        {"flamegraph": flamegraph, "annotate": annotate, "pprof": pprof}[tool](truth)
    sys.exit(1 if failures else 0)


main()
