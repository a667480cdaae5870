# SPDX-License-Identifier: MIT
"""KCachegrind's window over `seam export -f callgrind`: for each event its flat profile, the callers of the hottest function and its
lines of source, against the recording's truth."""
import os
import re
import time

from checks import by_shown, check, number, spelling
from window import until

# Costs in units and not as percentages; no cycle in the place of its functions; the flat profile whole.
CONFIG = ("[GeneralSettings]\nShowPercentage=false\nShowCycles=false\nMaxListCount=100000\nMaxSymbolLength=1000\n"
          "MaxSymbolCount=100\nHideTemplates=false\n")


def flat(window):
    """Function -> (self, inclusive, objects); of one that is in several objects, None: its inclusive costs do not add up."""
    seen, rows = {}, window.rows(window.tree("Incl.", "Self", "Called", "Function"))
    for row in rows:
        name = row["Function"]
        seen[name] = None if name in seen else (number(row["Self"]), number(row["Incl."]))
    return seen, rows


def choose(window, event, events):
    """The event whose costs are shown, by the box in the tool bar."""
    box = [b for b in window.shown("combo box") if b.name in events][0]
    if box.name == event:
        return
    window.click(box)
    window.screen.xdo("key", "Home", *["Down"] * events.index(event), "Return")
    until(lambda: [b for b in window.shown("combo box") if b.name == event], "KCachegrind: " + event)
    time.sleep(0.5)


def pick(window, name):
    """Shows a function, by its name as it stands in the window: its row of the flat profile is clicked, which the search field brings
    up. The field takes a pattern, in which these signs stand for themselves only in brackets."""
    window.screen.type_into(window.one("text", "Search:"), window, re.sub(r"[][?*]", r"[\g<0>]", name))
    head = ("Incl.", "Self", "Called", "Function")
    until(lambda: window.tree(*head).childCount < 1000 and any(r["Function"] == name for r in window.rows(window.tree(*head))), name, 30)

    def chosen():
        """The list may be made anew while it is clicked. Its narrow pane shows the first column for sure, which the row's cost is in."""
        cells = window.cells(window.tree(*head))
        width = sum(c.getRoleName() == "table column header" for c in cells)
        window.click(next(cells[i] for i in range(width, len(cells), width) if cells[i + head.index("Function")].name == name))
        return window.shown("label", name)
    until(chosen, "KCachegrind's function " + name, 30)


def callers(window):
    window.click(window.one("page tab", "Callers"))

    def table():
        found = [t for t in window.shown("tree") if t.childCount > 5 and t.getChildAtIndex(5).name == "Caller"]
        return found and window.rows(found[0])
    rows = until(table, "KCachegrind's callers", 20)
    found = {}
    for row in rows:
        name = re.sub(r" \([^()]*\)$", "", row["Caller"])
        found[name] = found.get(name, 0) + number(list(row.values())[0])
    return found


def source(window):
    """Number of a line -> the cost that stands beside it."""
    window.click(window.one("page tab", "Source Code"))

    def table():
        for tree in window.shown("tree"):
            rows = window.rows(tree) if tree.childCount > 5 and tree.getChildAtIndex(0).name == "#" else []
            if rows and any(r["#"].isdigit() and int(r["#"]) > 1 for r in rows):
                return rows
        return None
    rows = until(table, "KCachegrind's source", 30)
    return {int(r["#"]): number(list(r.values())[1]) for r in rows if r["#"].isdigit() and list(r.values())[1]}


def look(screen, truth, picture=None):
    """picture: where the window's is left, with the hottest function chosen."""
    name = os.path.basename(truth.data)
    os.makedirs(screen.at + "/home/.config", exist_ok=True)
    with open(screen.at + "/home/.config/kcachegrindrc", "w", encoding="ascii") as out:
        out.write(CONFIG)
    path = screen.at + "/callgrind.out"
    truth.read("export", "-f", "callgrind", truth.data, "-o", path)
    events = [re.sub(r"[^0-9A-Za-z-]", "_", e["name"]) for e in truth.all["events"]]
    window = screen.program("kcachegrind", path)
    try:
        window.fill()
        for event in list(truth.of)[:2]:
            shown_as = re.sub(r"[^0-9A-Za-z-]", "_", event)
            choose(window, shown_as, events)
            one_event(window, truth, "KCachegrind: %s: %s" % (name, event), event, shown_as)
            if picture and event == list(truth.of)[0]:
                window.click(window.one("page tab", "Callers"))
                screen.picture(picture)
                picture = None
    finally:
        window.end()


def one_event(window, truth, what, event, shown_as):
    of = {n: v for n, v in truth.of[event].items() if v[1]}
    window.screen.type_into(window.one("text", "Search:"), window, "")
    seen, _ = until(lambda: flat(window), what)
    time.sleep(0.5)
    seen, rows = flat(window)
    status = [l.name for l in window.shown("label") if "Total " + shown_as + " Cost" in l.name]
    check(what + ": all of it", status and number(status[0].rpartition(":")[2]) == truth.whole[event], status)
    mine, rest = by_shown(of, seen)
    once = {n: v for n, v in mine.items() if v is not None and len(truth.objects[n]) == 1}
    wrong = [(n, once.get(n), of[n]) for n in of if len(truth.objects[n]) == 1 and once.get(n, 0) != of[n] and mine.get(n, 0) is not None]
    check("%s: self and inclusive of %d functions of %d" % (what, len(once), len(of)), once and not wrong, wrong[:4])
    # What else has a cost stands for threads, or for a frame without a name.
    own = sum(number(r["Self"]) for r in rows)
    check(what + ": nothing is there twice or missing", own == truth.whole[event], own)
    plain = [n for n in once if n.isprintable() and n.isascii() and not n.startswith("[")]
    if not plain:
        return
    hot = max(plain, key=lambda n: of[n][0])
    pick(window, spelling(hot, seen))
    seen = callers(window)
    wanted, _ = by_shown(truth.callers[event].get(hot, {}), seen)
    check("%s: callers of %s" % (what, hot), wanted == truth.callers[event].get(hot, {}), wanted)
    check_lines(window, truth, what, event, hot)


def check_lines(window, truth, what, event, hot):
    """The source of a function whose file is there."""
    lines = {line: weight for (file, line), weight in truth.lines(event, hot).items() if file and line and os.path.exists(file) and
             os.path.realpath(file).startswith(window.screen.at)}
    if not lines:
        return
    seen = source(window)
    wrong = [(line, seen.get(line), weight) for line, weight in lines.items() if seen.get(line, 0) < weight]
    check("%s: lines of %s" % (what, hot), not wrong, wrong or lines)
    window.click(window.one("page tab", "Callers"))
