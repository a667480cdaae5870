# SPDX-License-Identifier: MIT
"""The questions of bench/tasks asked of tools with windows: hotspot, and samply with the Firefox Profiler's page. They are driven as a
person drives them (tests/windows/window.py: clicks and keys at the places that the window gives), each step is counted, and the answer
is read off the window. Seconds are of CPUs, until the window shows the recording: a person's clicks take what they take.

FIREFOX_PROFILER names the page, as scripts/firefox-profiler builds it; without it, or without scripts/peer --window, a tool is not
asked, and that is said."""
import os
import re
import subprocess
import sys
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
sys.path[:0] = [os.path.join(TOP, "tests", "windows"), os.path.join(TOP, "tests", "system")]
ASKED_FOR = "the line that is asked for"


def cpu_seconds(root):
    """Of a process and all below it that still run, with those of its children that ended."""
    of = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it ended
        of[int(pid)] = int(fields[1]), sum(map(int, fields[11:15]))
    def below(pid):
        while pid in of and pid != root:
            pid = of[pid][0]
        return pid == root
    return sum(ticks for pid, (_, ticks) in of.items() if below(pid)) / os.sysconf("SC_CLK_TCK")


class Answer:
    """What it took, and what was there: words for a table."""

    def __init__(self, steps, seconds, found, text):
        said = "" if text.startswith("not ") else "yes: " if found else "**no**: "
        self.steps, self.seconds, self.text = steps, seconds, said + text


def none(text, steps=()):
    """No answer, or one that was not asked for."""
    return Answer(list(steps), None, False, text)


# ---- hotspot ----

class Hotspot:
    name = "hotspot 1.6.0"

    def __init__(self, screen):
        self.screen = screen

    def open(self, recording):
        from window import until
        window = self.screen.program("hotspot", "--sysroot", "/host", os.path.join(self.screen.at, recording))
        window.fill()
        until(lambda: [l for l in window.shown("label") if "Total Samples" in l.name], "hotspot's summary", 120)
        return window, cpu_seconds(window.process.pid)

    @staticmethod
    def table(window):
        return [t for t in window.shown("tree") if t.childCount and t.getChildAtIndex(0).name == "Symbol"][0]

    def row(self, window, name):
        from window import until
        return until(lambda: [c for c in window.cells(self.table(window)) if c.name.startswith(name)], name, 20)[0]

    def tab(self, window, name):
        window.click(window.one("page tab", name))
        time.sleep(1)

    def hottest(self):
        window, seconds = self.open("r")
        try:
            self.tab(window, "Bottom Up")
            hot = window.rows(self.table(window))[0]["Symbol"]
            window.click(self.row(window, "parse_number"))
            self.screen.xdo("key", "Right")
            time.sleep(1)
            below = [r["Symbol"] for r in window.rows(self.table(window))][1:3]
            found = hot.startswith("parse_number") and {b.split("(")[0] for b in below} == {"read_table", "check_row"}
            return Answer(["`hotspot r`", "tab *Bottom Up*", "click `parse_number`", "key Right"], seconds, found, "the first row, and the two below it")
        finally:
            window.end()

    def waits(self):
        window, seconds = self.open("s")
        try:
            self.tab(window, "Top Down")
            window.click(window.shown("combo box")[0])
            self.screen.xdo("type", "T")
            self.screen.xdo("key", "Return")
            time.sleep(1)
            rows = {r["Symbol"]: r for r in window.rows(self.table(window))}
            share = lambda name: float(rows[name]["off-CPU Time (incl.)"].rstrip("%") or 0)
            window.click(self.row(window, "loader"))
            self.screen.xdo("key", "asterisk")
            time.sleep(1.5)
            names = [r["Symbol"] for r in window.rows(self.table(window))]
            names = names[names.index("loader"):]
            found = share("loader") > share("work") and any("nanosleep" in n for n in names)
            return Answer(["`hotspot s`", "tab *Top Down*", "click *Aggregate cost by*", "choose *Thread*", "click `loader`", "key *"], seconds, found,
                          "`loader` has %.0f %% of the off-CPU time, and nanosleep stands below it" % share("loader"))
        finally:
            window.end()

    def changed(self):
        return none("it opens one recording, and compares none")

    def line(self):
        window, seconds = self.open("r")
        try:
            self.tab(window, "Bottom Up")
            cell = self.row(window, "parse_number")
            place = cell.queryComponent().getExtents(self.screen.spi.DESKTOP_COORDS)
            window.click(cell, button=3)
            time.sleep(0.5)
            # The menu is not told to a screen reader: its third line.
            x, y = place.x + min(place.width // 2, 40), place.y + place.height // 2
            self.screen.xdo("mousemove", x + 60, y + 55, "click", 1)
            time.sleep(4)
            # The source pane begins with what is inlined first; a click on an instruction shows its line.
            code = [t for t in window.shown("tree") if t.childCount and t.getChildAtIndex(0).name == "Address"][0]
            hot = max(re.findall(r"([\d.]+)%", " ".join(c.name for c in window.cells(code))), key=float)
            cells = window.cells(code)
            at = next(i for i, c in enumerate(cells) if c.name == hot + "%")
            window.click(cells[at - 1])
            time.sleep(2)
            shown = [c.name for t in window.shown("tree") + window.shown("table") for c in window.cells(t) if c.name]
            found = any(ASKED_FOR in c for c in shown)
            if os.environ.get("SEAM_PICTURES"):
                self.screen.picture(os.path.join(os.environ["SEAM_PICTURES"], "tasks-hotspot-line.png"))
            return Answer(["`hotspot r`", "tab *Bottom Up*", "right click `parse_number`", "*Disassembly*", "click the hottest instruction"], seconds, found,
                          "the source beside the instructions, each line with its share" if found else "the line is not on the screen after these steps")
        finally:
            window.end()

    def colleague(self):
        """Export writes what hotspot reads."""
        subprocess.run([os.path.join(TOP, "scripts", "peer"), "--window", "hotspot", "--sysroot", "/host", "--exportTo", os.path.join(self.screen.at, "r.perfparser"),
                        os.path.join(self.screen.at, "r")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        size = os.path.getsize(os.path.join(self.screen.at, "r.perfparser")) if os.path.exists(os.path.join(self.screen.at, "r.perfparser")) else 0
        return none("one file of %.0f kB (`hotspot --exportTo r.perfparser r`), which hotspot alone opens" % (size / 1e3), ["`hotspot --exportTo r.perfparser r`"])


# ---- samply, with the Firefox Profiler ----

class Samply:
    name = "samply 0.13.1, Firefox Profiler"

    def __init__(self, screen, page):
        from profiler import serve
        self.screen = screen
        self.server = serve(os.path.realpath(page), screen.at + "/none")
        os.environ["PROFILER_URL"] = "http://127.0.0.1:%d" % self.server.server_port
        self.browser = self.loaded = None

    def open(self, recording):
        from browser import Browser
        from window import PEER, until
        self.loaded = self.screen.start(PEER, "samply", "import", os.path.join(self.screen.at, recording), "--no-open", "-o",
                                        os.path.join(self.screen.at, recording + ".json"))
        self.browser = Browser(1280, 800)
        said = lambda: open(self.loaded.log, encoding="utf-8", errors="replace").read()
        until(lambda: re.search(r"http://\S*/from-url/\S*", said()) or self.loaded.poll() is not None, "samply's address", 60)
        if self.loaded.poll() is not None:
            raise RuntimeError("`samply import` ends: %s" % (re.findall(r"called .*|[Ee]rror.*", said()) or ["exit %d" % self.loaded.returncode])[0])
        self.browser.go(re.search(r"http://\S*/from-url/\S*", said()).group(0))
        self.browser.until(lambda: self.browser.js("return document.querySelectorAll('.treeViewRow').length"), 90)
        seconds = cpu_seconds(self.loaded.pid) + cpu_seconds(self.browser.driver.pid)
        time.sleep(1)
        return seconds

    def close(self):
        if self.browser:
            self.browser.close()
        if self.loaded:
            self.screen.stop(self.loaded)
        self.browser = self.loaded = None

    def names(self):
        from profiler import rows
        return [r[1][3] for r in rows(self.browser)]

    def invert(self):
        self.browser.click_on("input.stackSettingsCheckbox")
        time.sleep(1)

    def hottest(self):
        seconds = self.open("r")
        self.invert()
        hot = self.names()[0]
        self.browser.click_on(".treeViewRowScrolledColumns .treeRowToggleButton")
        time.sleep(1)
        below = {n.split("(")[0] for n in self.names()[1:3]}
        return Answer(["`samply import r`", "*Invert call stack*", "open `parse_number`"], seconds,
                      hot.startswith("parse_number") and below == {"read_table", "check_row"}, "the first row, and the two below it")

    def waits(self):
        self.open("s")
        return none("not tried: here `samply import` takes no recording of sched_switch")

    def changed(self):
        return none("not tried: its page `/compare/` takes the links of two profiles that are served or uploaded")

    def line(self):
        seconds = self.open("r")
        self.invert()
        self.browser.js("""const r = document.querySelector('.treeViewRowScrolledColumns .treeViewMainColumn').getBoundingClientRect();
                           window.place = [r.x + 20, r.y + r.height / 2]""")
        x, y = self.browser.js("return window.place")
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.browser._mouse({"type": "pointerMove", "x": round(x), "y": round(y)}, *press, *press)  # pylint: disable=protected-access
        time.sleep(5)
        found = ASKED_FOR in self.browser.js("return document.body.innerText")
        return Answer(["`samply import r`", "*Invert call stack*", "double click `parse_number`"], seconds, found,
                      "the source with samples of each line" if found else "the line is not on the screen after these steps")

    def colleague(self):
        return none("*Upload Local Profile* gives a link, of a server of Mozilla's, for which there is no network here; `samply import --save-only` writes a file for "
                    "who has the page")


def answer(tool, task):
    """What became of a task, also where the tool did not come to it."""
    try:
        return getattr(tool, task)()
    except Exception as error:  # pylint: disable=broad-except
        return none(str(error).split("\n")[0])
    finally:
        if hasattr(tool, "close"):
            tool.close()


def tools():
    """Those that can be asked here, after a screen; and why others cannot."""
    from window import Screen
    screen = Screen()
    page = os.environ.get("FIREFOX_PROFILER")
    return screen, [Samply(screen, page) if page else None, Hotspot(screen)]
