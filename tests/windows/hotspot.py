# SPDX-License-Identifier: MIT
"""hotspot's window over `seam convert`: samples and cost of each event; self, inclusive and callers of functions, against the
recording's truth. hotspot reads the program's own files for names and lines; of a frame in a library it may take another name that
stands at the same address (aliases.py). A function is a name in an object, as it is in hotspot's tables."""
import os
import re
import subprocess
import time

from aliases import Aliases
from checks import alike, check
from window import until

TITLE = ("Symbol", "Binary")


def plain(name):
    """A function's name without parameters and template arguments: hotspot shortens what stands in <>. That of an inlined function is
    its own: hotspot puts those that it is inlined in before it."""
    name = re.sub(r" const$| \[clone [^]]*\]", "", name)
    depth, out = 0, []
    for c in name:
        depth += c in "<("
        if not depth:
            out.append(c)
        depth -= c in ">)"
    return "".join(out).rpartition(" ")[2].rpartition("::")[2]


def open_recording(screen, truth):
    path = screen.at + "/converted"
    subprocess.run([truth.seam, "convert", truth.data, "-o", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    window = screen.program("hotspot", "--sysroot", "/host", path)
    window.fill()
    until(lambda: [l for l in window.shown("label") if "Total Samples" in l.name], "hotspot's summary", 300)
    return window


def summary(window, truth, what):
    """Samples and cost of each event."""
    text = [l.name for l in window.shown("label") if "Total Samples" in l.name][0]
    seen = {e.strip(): (float(cost), int(n)) for e, cost, n in re.findall(r"^\s*(\S.*): \n([\d.E+]+) \((\d+) samples?,", text, re.M)}
    for event, whole in truth.whole.items():
        cost, n = seen.get(event, (0, 0))
        check("%s: %s: samples and cost of the summary" % (what, event), n == truth.samples[event] and abs(cost - whole) <= whole * 0.0006, (n, cost))


def once(pairs):
    """Name -> value, None where a name stands more than once."""
    found = {}
    for name, value in pairs:
        found[name] = None if name in found else value
    return found


def look(screen, truth, picture=None, whole_machine=False):
    """whole_machine: of such a recording hotspot names little (of perf's own as well), so its summary is all that is held."""
    what = "hotspot: " + os.path.basename(truth.data)
    window = open_recording(screen, truth)
    try:
        summary(window, truth, what)
        if whole_machine:
            return
        window.click(window.one("page tab", "Caller / Callee"))
        time.sleep(1)
        tree = window.tree(*TITLE)
        rows = window.rows(tree)
        aliases = Aliases({o["path"] for o in truth.all["objects"]}, plain)
        compared, there = map(sum, zip(*(functions(truth, "%s: %s" % (what, event), event, rows, aliases) for event in truth.of)))
        check("%s: two of three functions are compared, or more" % what, compared and compared * 3 >= there * 2, (compared, there))
        event = list(truth.of)[0]
        hot = max((n for n in truth.of[event] if user(truth, n) and len(truth.objects[n]) == 1 and not n.startswith("[") and any(plain(r["Symbol"]) == plain(n) for r in rows)),
                  key=lambda n: truth.of[event][n][0])
        check_callers(window, truth, "%s: %s" % (what, event), event, hot, aliases)
        if picture:
            screen.picture(picture)
    finally:
        window.end()


def of_program(path):
    return path and not path.startswith(("[kernel", "bpf_"))


def user(truth, name):
    return all(of_program(path) for path in truth.objects[name])


def functions(truth, what, event, rows, aliases):
    """Functions of programs: hotspot knows no BPF programs, and puts their addresses to kernel functions near to them. A function's self
    is compared where hotspot shows none that is inlined in it and of which seam does not know. Returns how many were compared, and of
    how many: the little of an event may all be of names that cannot be."""
    def key(frame):
        path = truth.object(frame)
        if not frame["symbol"] or frame["symbol"].startswith("[unknown") or not of_program(path):
            return None
        file = os.path.basename(path)
        return aliases.of(file, plain(frame["symbol"])) or frame["symbol"], file
    named = lambda name, file: (aliases.of(file, plain(name)) or plain(name), file)
    seen = once((named(r["Symbol"], r["Binary"]), r) for r in rows)
    of = {n: v for n, v in once((named(*n), v) for n, v in truth.by(event, key).items()).items() if v and n[0]}
    mine = {plain(n) for n in truth.of[event]}
    outer = {part for r in rows for part in r["Symbol"].split("::")[:-1] if plain(r["Symbol"]) not in mine}
    both = {n: v for n, v in of.items() if v[1] and seen.get(n)}
    wrong = [(n, seen[n][event + " (self)"], seen[n][event + " (incl.)"], v) for n, v in both.items()
             if not alike(seen[n][event + " (incl.)"], v[1], truth.whole[event]) or
             n[0] not in outer and not alike(seen[n][event + " (self)"], v[0], truth.whole[event])]
    if of:
        check("%s: self and inclusive of %d functions of %d" % (what, len(both), len(of)), not wrong, wrong[:4])
    inlined = {plain(n) for n in truth.inlined} & {n for n, _ in both}
    if inlined:
        check("%s: %d inlined ones are among them" % (what, len(inlined)), True, sorted(inlined)[:5])
    return len(both), len(of)


def check_callers(window, truth, what, event, hot, aliases):
    """The hottest function is typed into the search field and clicked, and its callers are read."""
    window.screen.type_into([t for t in window.shown("text")][0], window, plain(hot))
    time.sleep(1)
    window.click(until(lambda: [c for c in window.cells(window.tree(*TITLE)) if plain(c.name) == plain(hot)], hot, 20)[0])
    time.sleep(1)
    found = [window.rows(t) for t in window.shown("tree") if t.childCount and t.getChildAtIndex(0).name == "Caller"]
    named = lambda name, files: next(filter(None, (aliases.of(os.path.basename(f), plain(name)) for f in files)), plain(name))
    seen = {named(r["Caller"], [r["Binary"]]): r[event] for r in (found[0] if found else []) if r["Caller"] != "??"}
    wanted = {named(n, truth.objects[n]): w for n, w in truth.callers[event].get(hot, {}).items() if not n.startswith("[unknown")}
    check("%s: callers of %s" % (what, hot), set(seen) == set(wanted) and all(alike(seen[n], wanted[n], truth.whole[event]) for n in wanted), (seen, wanted))
