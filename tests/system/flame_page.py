#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flame_page.py SEAM SCRATCH [SCREENSHOTS]: the page of `seam flame`, used by hand and eye of a headless Chromium, and held
against what `seam export` says of the same recordings (SCRATCH/flame.data and other.data). With SCREENSHOTS (a directory) pictures are left there."""
import json
import os
import random
import subprocess

from browser import Browser
from paged import cells, check, end, eventually, made, opened, picture, pictures, run, scratch, seam, totals, view

ENTER, ESCAPE, BACKSPACE, UP, DOWN, RIGHT = "\ue007", "\ue00c", "\ue003", "\ue013", "\ue015", "\ue014"


def close(a, b, part=1e-6):
    return abs(a - b) <= part * max(1, abs(a), abs(b))


class Truth:
    """What seam export says: weights by node, by thread, by function, for the first event with samples."""

    def __init__(self, path):
        j = json.loads(run("export", "-f", "json", path))
        self.j = j
        count = [0] * len(j["events"])
        for row in j["rows"]:
            count[row["event"]] += row["samples"]
        self.event = next(i for i, n in enumerate(count) if n)
        self.rows = [row for row in j["rows"] if row["event"] == self.event]
        self.weight = sum(row["weight"] for row in self.rows)
        self.samples = sum(row["samples"] for row in self.rows)

    def frames(self, stack):
        while stack >= 0:
            parent, frame = self.j["stacks"][stack]
            yield self.j["frames"][frame]
            stack = parent

    def by_function(self):
        """name -> (total, self), a sample counting once; of names that one object has"""
        objects = {}
        for frame in self.j["frames"]:
            if frame["symbol"]:
                objects.setdefault(frame["symbol"], set()).add((frame["object"], frame["kind"]))
        sums = {}
        for row in self.rows:
            frames = list(self.frames(row["stack"]))
            for name in {frame["symbol"] for frame in frames if len(objects.get(frame["symbol"], ())) == 1}:
                total, own = sums.get(name, (0, 0))
                sums[name] = (total + row["weight"], own + (row["weight"] if frames[0]["symbol"] == name else 0))
        return sums


def graph_cell(browser, wanted):
    """The widest cell for which wanted() says true and that the window shows."""
    def seen():
        box = browser.js("const r = document.getElementById('graph').getBoundingClientRect(); return [r.top, r.bottom]")
        return [c for c in cells(browser) if wanted(c) and box[0] <= c["y"] and c["y"] + c["height"] <= box[1]]
    return max(browser.until(seen), key=lambda c: c["width"])


def stands(browser, when):
    """Whether the graph's root is where the window shows it."""
    def seen():
        top, bottom = browser.js("const r = document.getElementById('graph').getBoundingClientRect(); return [r.top, r.bottom]")
        root = next(c for c in cells(browser) if c["depth"] == 0)
        return top <= root["y"] and root["y"] + root["height"] <= bottom
    eventually(browser, "the root is seen: " + when, seen)


def middle(cell):
    return cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2


def hand(browser, truth):
    whole = totals(browser)
    check("all samples are there", whole["samples"] == truth.samples, whole["samples"])
    check("their weight, too", close(whole["weight"], truth.weight), whole["weight"])
    rows = {}
    for c in cells(browser):
        rows.setdefault(c["depth"], []).append(c)
    check("no cells of a row overlap", all(a["x"] + a["width"] <= b["x"] + 0.01 for row in rows.values()
                                          for row in [sorted(row, key=lambda c: c["x"])] for a, b in zip(row, row[1:])))
    picture(browser, "flame")

    full = browser.js("return document.getElementById('graph').getBoundingClientRect().width")
    cell = graph_cell(browser, lambda c: c["depth"] >= 2 and 20 < c["width"] < full * 0.8)
    browser.click(*middle(cell))
    zoomed = [c for c in cells(browser) if c["depth"] == cell["depth"] and c["name"] == cell["name"]]
    check("a click makes a cell as wide as the window", len(zoomed) == 1 and close(zoomed[0]["width"], full, 1e-3), cell["name"])
    browser.keys(BACKSPACE)
    eventually(browser, "Backspace goes back", lambda: [c["width"] for c in cells(browser) if c["depth"] == cell["depth"] and
               c["name"] == cell["name"] and close(c["x"], cell["x"], 1e-3) and close(c["width"], cell["width"], 1e-3)] != [])


def seek(browser, truth):
    sums = truth.by_function()
    outermost = {list(truth.frames(row["stack"]))[-1]["symbol"] for row in truth.rows if row["stack"] >= 0}
    name = max((n for n in sums if n not in outermost and 0.02 < sums[n][0] / truth.weight < 0.6), key=lambda n: (sums[n][0], n))
    matching = sum(row["weight"] for row in truth.rows if any(name.lower() in f["symbol"].lower() for f in truth.frames(row["stack"]) if f["symbol"]))
    browser.keys("/")
    browser.keys(*name)
    wanted = "%.1f %% match" % (100 * matching / truth.weight)
    eventually(browser, "search finds", lambda: browser.js("return document.getElementById('found').textContent") == wanted,
               "%s: %s" % (name, wanted))
    picture(browser, "search")
    browser.keys(ESCAPE)
    browser.keys(ESCAPE)
    check("Escape forgets it", browser.js("return document.getElementById('search').value") == "")
    own = max(sums, key=lambda n: (sums[n][1], n))
    browser.keys("c")
    tops = {c["name"]: c["value"] for c in cells(browser) if c["depth"] == 1}
    check("callers: the innermost functions stand next to the root", close(tops.get(own, 0), sums[own][1]), "%s %s" % (own, sums[own][1]))
    browser.keys("c")
    return name, sums[name]


def focus(browser, name, sums):
    cell = graph_cell(browser, lambda c: c["name"] == name)
    browser.click(*middle(cell), button=2)
    center = [c for c in cells(browser) if c["depth"] == 0]
    check("right click: the function in the middle, each sample once", len(center) == 1 and close(center[0]["value"], sums[0]), center[0]["value"])
    eventually(browser, "its callers are on the other side", lambda: any(c["depth"] == -1 for c in cells(browser)))
    picture(browser, "focus")
    browser.keys(ESCAPE)


def drag_span(browser, truth, times, window):
    """A span dragged in the strip, against where the pointer was (on whole pixels) and the samples' own times."""
    browser.until(lambda: browser.js("const e = document.getElementById('strip'), wide = document.getElementById('left').clientWidth;"
                                     "return e.clientWidth === wide && e.width === Math.round(wide * devicePixelRatio)"))
    left, top, width, height = browser.js("const r = document.getElementById('strip').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]")
    y, left, width = top + height / 2, left + 130, width - 130
    browser.drag(left + width * 0.25, y, left + width * 0.5, y)
    part = totals(browser)["samples"]
    first, last = (int(n) for n in browser.js("return new URLSearchParams(location.hash.slice(1)).get('span')").split("-"))
    error = 1024 * 2 / width + 1
    check("a dragged span is the one under the pointer" + window, abs(first - 256) <= error and abs(last + 1 - 512) <= error, "%d to %d" % (first, last))
    # Times are printed in microseconds.
    at = [(1024 * (t - times[0]) / (times[-1] - times[0]), 1024 * 1e-6 / (times[-1] - times[0])) for t in times]
    core, inside = (sum(first + side * e <= t <= last + 1 - side * e for t, e in at) for side in (1, -1))
    check("it holds the samples of that time", core <= part <= inside < len(times), "%d in %d..%d" % (part, core, inside))
    picture(browser, "brush" + window.replace(" ", "-"))
    browser.click(left + width * 0.7, y)
    check("a click takes the span away", totals(browser)["samples"] == truth.samples)


def choose(browser, truth):
    times = sorted(float(line) for line in run("script", "-i", recording, "-F", "time", "-G").decode().replace(":", " ").split())
    drag_span(browser, truth, times, "")
    for size in ((900, 600, 2), (500, 700, 1.25)):
        # A page is told of another size, but not always of the other pixels that came with it: so there are two sizes.
        browser.size(size[0] + 20, *size[1:])
        browser.until(lambda: browser.js("return [innerWidth, devicePixelRatio]") == [size[0] + 20, size[2]])
        browser.size(*size)
        drag_span(browser, truth, times, " at %d x %d, %s pixels" % size)
    browser.own_size()

    by_pid = {}
    for row in truth.rows:
        pid = truth.j["tasks"][row["task"]]["pid"]
        by_pid[pid] = by_pid.get(pid, 0) + row["samples"]
    name = browser.js("return document.querySelector('#threads .process label').title")
    browser.click_on("#threads .process button")
    stands(browser, "a window that was smaller, and one process")
    check("one process only", totals(browser)["samples"] == by_pid[int(name.split()[-1])], name)
    ticked = "return [...document.querySelectorAll('#threads .process input')].filter((box) => box.checked).length"
    check("and only it is ticked", browser.js(ticked) == 1 < len(by_pid))
    browser.click_on("#allthreads")
    check("all are ticked", browser.js(ticked) == len(by_pid))
    check("all again", totals(browser)["samples"] == truth.samples)
    stands(browser, "all processes")
    by_state = {}
    for row in truth.rows:
        by_state[row["state"]] = by_state.get(row["state"], 0) + row["samples"]
    browser.click_on("#states .row input")
    check("a state can be left out", totals(browser)["samples"] == truth.samples - max(by_state.values()))
    browser.click_on("#states .row input")
    stands(browser, "a state less, and it again")
    browser.keys(ESCAPE)


def processes(browser, truth):
    """A level of processes at the root of the graph, as the page opens with where there are several; together; by numbers."""
    by_name, by_pid = {}, {}
    for row in truth.rows:
        task = truth.j["tasks"][row["task"]]
        for sums, key in ((by_name, task["comm"]), (by_pid, "%s %d" % (task["comm"], task["pid"]))):
            sums[key] = sums.get(key, 0) + row["weight"]

    def level():
        return {c["name"]: c["value"] for c in cells(browser) if c["depth"] == 1 and c["kind"] == "process"}

    def right(sums):
        seen = level()
        return len(seen) > 1 and all(close(seen[name], sums[name]) for name in seen)
    check("processes of several names stand apart at the root", len(by_name) > 1 and right(by_name), level())
    check("and the link is as short as can be", "processes" not in browser.js("return location.hash"))
    picture(browser, "processes")
    name = max(level(), key=level().get)
    browser.click(*middle(graph_cell(browser, lambda c: c["name"] == name and c["kind"] == "process")))
    whole = totals(browser)["weight"]
    told = browser.js("return document.getElementById('detail').textContent")
    check("one is zoomed to, and what it is is said", "(process)" in told and "%.1f %% of what is chosen" % (100 * by_name[name] / whole) in told, told)
    browser.keys("p")
    eventually(browser, "p: together", lambda: not level() and "processes=together" in browser.js("return location.hash"))
    check("whose weight is the same", close(next(c for c in cells(browser) if c["depth"] == 0)["value"], truth.weight))
    browser.js("const e = document.getElementById('processes'); e.value = 'each'; e.dispatchEvent(new Event('change'))")
    check("each apart, by name and number", right(by_pid), level())
    picture(browser, "processes-each")
    browser.js("history.back()")
    eventually(browser, "Back has them together", lambda: not level())
    browser.keys("p")
    eventually(browser, "p: apart again", lambda: right(by_name))
    browser.keys("/")
    browser.keys(*name)
    eventually(browser, "search finds a process", lambda: browser.js("return parseFloat(document.getElementById('found').textContent) || 0") >=
               100 * by_name[name] / whole - 0.06, name)
    browser.keys(ESCAPE)
    browser.keys(ESCAPE)


def pasted(browser):
    """What is in the clipboard, as who pastes it into a text elsewhere gets it."""
    browser.js("const e = document.createElement('textarea'); e.id = 'elsewhere'; document.body.append(e); e.focus()")
    browser.paste()
    return browser.js("const e = document.getElementById('elsewhere'), text = e.value; e.remove(); return text")


def copies(browser, truth):
    """Name and stack of a cell, outermost first, are copied by clicks and by keys; in the graph, and in that of callers."""
    stacks = {(truth.j["tasks"][row["task"]]["comm"], *reversed([f["symbol"] for f in truth.frames(row["stack"])])) for row in truth.rows}

    def fit(lines, stack):  # what has no symbol is named by its object
        return len(lines) <= len(stack) and all(name == symbol or not symbol for name, symbol in zip(lines, stack))
    for key in ("", "c"):
        browser.keys(*key)
        cell = graph_cell(browser, lambda c: c["depth"] >= 3 and c["kind"] == "user" and not c["name"].startswith("["))
        browser.click(*middle(cell))
        for name, stack, do in (("#copyname", "#copystack", browser.click_on), ("y", "Y", browser.keys)):
            do(name)
            check("%s: the name is in the clipboard" % name, pasted(browser) == cell["name"], cell["name"])
            do(stack)
            lines = pasted(browser).split("\n")
            check("%s: the stack is in the clipboard" % stack, len(lines) == cell["depth"] and cell["name"] == lines[0 if key else -1] and any(
                fit(lines[::-1], one[:0:-1]) if key else fit(lines, one) for one in stacks), lines)
        browser.keys(ESCAPE)


def keyboard(browser):
    browser.keys("i")
    root, deep = (next(c for c in cells(browser) if c["depth"] == d) for d in (0, 1))
    check("i: roots on top", root["y"] < deep["y"])
    browser.keys(DOWN, DOWN)
    text = browser.js("return document.getElementById('detail').textContent")
    browser.keys(ENTER)
    check("arrow keys select, Enter zooms", any(text.startswith(c["name"]) and c["width"] > 1000 for c in cells(browser)), text[:60])
    browser.keys("t")
    check("t: light or dark", browser.js("return document.documentElement.classList.contains('dark')"))
    picture(browser, "dark")
    browser.keys("t", ESCAPE, "i", "?")
    check("?: the keys", browser.js("return document.getElementById('keys').open"))
    browser.keys(ESCAPE)


def table(browser, truth):
    """The table and what is around a function, against export; a link to it, and back."""
    view(browser, "table")
    sums = truth.by_function()
    rows = browser.js("return [...document.querySelectorAll('#functions tr')].map((r) => [r.querySelector('.name').textContent, "
                      "r.cells[0].textContent, r.cells[2].textContent])")
    near = [(name, own, total) for name, own, total in rows if name in sums]
    off = [r for r in near if abs(float(r[1].split()[0]) - 100 * sums[r[0]][1] / truth.weight) > 0.06 or
           abs(float(r[2].split()[0]) - 100 * sums[r[0]][0] / truth.weight) > 0.06]
    check("the table has self and total as export has them", len(near) > 5 and not off, "%d functions, %s" % (len(near), off[:2]))
    name = max((n for n, _, _ in near), key=lambda n: sums[n][0])
    browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === %s).click()" % json.dumps(name))
    check("its callers and callees stand beside it", browser.js("return !document.getElementById('around').hidden && "
          "document.getElementById('aroundname').textContent") == name, name)
    link = browser.js("return location.hash")
    picture(browser, "table")
    browser.js("document.querySelector('#views button[data-view=flame]').click()")
    browser.js("history.back()")
    eventually(browser, "Back shows the table again, with its function", lambda: browser.js(
        "return !document.getElementById('table').hidden && document.getElementById('aroundname').textContent") == name)
    return link, name


def linked(browser, path, link, name):
    browser.open(path + link)
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
    check("a link opens the same view", browser.js("return !document.getElementById('table').hidden && "
          "document.getElementById('aroundname').textContent") == name, link[:80])


def in_time(browser, truth):
    view(browser, "order")
    order = cells(browser)
    rows = {}
    for c in sorted(order, key=lambda c: c["x"]):
        rows.setdefault(c["depth"], []).append(c)
    check("in order of time no cells of a row overlap", len(order) > 3 and all(
        a["x"] + a["width"] <= b["x"] + 0.01 for row in rows.values() for a, b in zip(row, row[1:])), len(order))
    picture(browser, "order")
    view(browser, "time")
    shown = browser.js("const c = document.getElementById('heat'), d = c.getContext('2d').getImageData(150, 0, c.width - 150, c.height).data; "
                       "let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return [n, document.getElementById('lanes').height]")
    check("the map and the lanes are drawn", shown[0] > 1000 and shown[1] > 10, shown)
    picture(browser, "time")
    browser.js("document.getElementById('heat').focus()")
    spans = []
    for key in (RIGHT, RIGHT, DOWN):
        browser.keys(key)
        spans.append(browser.js("return new URLSearchParams(location.hash.slice(1)).get('span')"))
    check("arrow keys choose a span in the map, and move it by its cells", spans[0] and len(set(spans)) == 3, spans)
    browser.keys(ESCAPE)
    view(browser, "flame")
    check("the graph is as before", totals(browser)["samples"] == truth.samples)


def compared_source(browser, path):
    """The pane of source with two recordings, which are the same one: nothing has changed, and both have their code."""
    page = os.path.join(scratch, "sources.html")
    run("flame", "--source", path, "--base", path, "-o", page)
    browser.open(page + "#view=table")
    browser.until(lambda: browser.js("return window.seamFlame && seamFlame.ready"))
    browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === 'work').click()")
    browser.keys("5")
    browser.until(lambda: "compared with" in browser.js("return document.getElementById('sourcecaption').textContent"))
    for list in (".lines", ".insns"):
        told = browser.js("return [...document.querySelectorAll('#sourceparts > .part > .both %s tr[data-line]')].map((r) => "
                          "[r.cells[0], r.cells[2], r.cells[3]].map((c) => c.textContent))" % list)
        hit = [row for row in told if row[0]]
        check("source of two recordings, %s: what was hit is compared" % list,
              hit and all(now == was and "+0.00 \u00b1" in change and change.endswith("~") for now, was, change in hit), hit[:3])
        check("and nothing else, %s" % list, all(not was and not change for now, was, change in told if not now))
    check("the other's code can be opened", browser.js("return document.querySelectorAll('#source details.was .insns tr[data-line]').length") ==
          browser.js("return document.querySelectorAll('#sourceparts > .part > .both .insns tr[data-line]').length"))
    picture(browser, "source_two")


def source(browser, path):
    """The pane of source against annotate, followed from the table, by mouse and by keys."""
    page = os.path.join(scratch, "source.html")
    run("flame", "--source", path, "-o", page)
    opened(browser, page)
    told = json.loads(run("annotate", "-i", path, "--json", "work"))["functions"][0]
    view(browser, "table")
    browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === 'work').click()")
    browser.keys("5")
    browser.until(lambda: not browser.js("return document.getElementById('source').hidden"))
    check("5: source of what the table chose", browser.js("return document.getElementById('sourcename').textContent") == "work")
    rows = browser.js("return [...document.querySelectorAll('#source .lines tr[data-line]')].map((r) => [r.cells[1].textContent, "
                      "r.cells[2].textContent, r.cells[3].textContent])")
    mine = sorted((int(line), int(n.replace(",", ""))) for n, line, _ in rows if n)
    check("lines have the samples that annotate counts", mine == sorted((r["line"], r["samples"]) for r in told["lines"]), mine)
    hot = [text for n, _, text in rows if "HOT" in text and n]
    check("the hot line is there, as text", len(hot) == 1 and "<b>HOT</b>" in hot[0] and "\\u202e" in hot[0], hot)
    check("and is no element, nor is its order turned", browser.js("return document.querySelectorAll('#source b').length") == 0 and
          "\u202e" not in browser.js("return document.body.textContent"))
    insns = browser.js("return [...document.querySelectorAll('#source .insns tr[data-line]')].map((r) => r.cells[1].textContent)")
    check("instructions have the samples that annotate counts", [int(n.replace(",", "") or 0) for n in insns] ==
          [i["samples"] for i in told["instructions"]], len(insns))
    picture(browser, "source")
    at = browser.js("const r = [...document.querySelectorAll('#source .lines tr[data-line]')].find((r) => r.textContent.includes('HOT'));"
                    "const b = r.querySelector('.line').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]")
    browser.click(*at)
    chosen = browser.js("return document.querySelectorAll('#source .insns tr[aria-selected=true]').length")
    line = {i["line"] for i in told["instructions"] if i["samples"]} & {r["line"] for r in told["lines"]}
    check("a click on a line marks its instructions", 0 < chosen == sum(i["line"] == max(told["lines"], key=lambda r: r["samples"])["line"]
          for i in told["instructions"]), "%d, lines %s" % (chosen, line))
    link = browser.js("return location.hash")
    browser.keys(DOWN, ENTER)
    check("arrow keys and Enter choose another line", browser.js("return location.hash") != link, link)
    browser.js("history.back()")
    eventually(browser, "Back chooses the line again", lambda: browser.js("return location.hash") == link and browser.js(
        "return document.querySelectorAll('#source .insns tr[aria-selected=true]').length") == chosen)
    browser.js("[...document.querySelectorAll('#threads .process button')][0].click()")
    browser.js("document.querySelector('#nothreads').click()")
    check("what is not followed is said", "not followed" in browser.js("return document.getElementById('sourcecaption').textContent"))
    compared_source(browser, path)
    browser.open(os.path.join(scratch, "flame.html") + "#view=source")
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
    check("a page without source says how to have it", "--source" in browser.js("return document.getElementById('sourcecaption').textContent"))


def hostile(browser):
    """A command whose name is markup: it is shown, never run."""
    name = "<img src=x onerror=alert(1)>"[:15]
    path = os.path.join(scratch, "hostile.data")
    script = "import ctypes\nctypes.CDLL(None).prctl(15, %r)\nx = 0\nfor i in range(1200000): x += i" % name.encode()
    subprocess.run([seam, "record", "-F", "997", "-o", path, "--", "python3", "-S", "-c", script], check=True, stderr=subprocess.DEVNULL)
    title = "</script><script>document.title = 'run'</script>"
    run("flame", path, "-o", os.path.join(scratch, "hostile.html"), "--title", title)
    opened(browser, os.path.join(scratch, "hostile.html"))
    check("a title is text", browser.js("return document.getElementById('title').textContent") == title)
    check("a name is text", name in browser.js("return document.getElementById('threads').textContent"))
    check("and no element", browser.js("return document.images.length") == 0)


def two(browser, other):
    page = os.path.join(scratch, "two.html")
    run("flame", recording, "--base", other, "-o", page)
    opened(browser, page)
    sums, before = totals(browser), Truth(other)
    check("both sides are whole", sums["samples"] == Truth(recording).samples and close(sums["before"], before.weight), sums["before"])
    picture(browser, "two")
    browser.keys("b")
    root = next(c for c in cells(browser) if c["depth"] == 0)
    check("b: widths of before", close(root["base"], before.weight))
    told = {r["sym"]: (100 * r["delta"], 100 * r["margin"], r["verdict"] == "same")
            for r in json.loads(run("diff", "--json", "-s", "sym", other, recording))["rows"] if r["event"] == truth.j["events"][truth.event]["name"]}
    view(browser, "table")
    rows = browser.js("return [...document.querySelectorAll('#functions tr')].map((r) => [r.querySelector('.name').textContent, "
                      "r.cells[2].textContent])")
    kinds = {}  # a name that is a function's in two objects, or inlined as well, has several rows
    for side in (truth, before):
        for f in side.j["frames"]:
            kinds.setdefault(f["symbol"], set()).add((side.j["objects"][f.get("object", -1)]["path"], f["kind"]))
    seen = {name: text.replace("\u2212", "-").replace("\u00b1", "") for name, text in rows if len(kinds.get(name, ())) == 1 and name in told}
    wrong = [(name, text, told[name]) for name, text in seen.items() if any(abs(float(part) - figure) > 0.011 for part, figure in
             zip(text.split(), told[name][:2])) or (text[-1] == "~") != told[name][2]]
    check("the table's changes and margins are those of seam diff", len(seen) > 5 and not wrong, "%d, %s" % (len(seen), wrong[:2]))
    browser.click_on("#functions .name")
    around = browser.js("return [...document.querySelectorAll('#around td')].filter((c) => c.textContent.includes('\\u00b1')).length")
    check("callers and callees have margins, too", around > 0)
    both_in_time(browser)


def both_in_time(browser):
    """Order of time, timeline and panels of two recordings, and its link."""
    view(browser, "order")
    depths = {c["depth"] < 0 for c in cells(browser)}
    check("in order of time the other recording grows the other way", depths == {True, False})
    picture(browser, "two-order")
    view(browser, "time")
    check("the other's map is drawn", browser.js("const c = document.getElementById('beforeheat'); return !c.hidden && c.height > 100"))
    picture(browser, "two-time")
    check("stacks of both sides", browser.js("return document.querySelectorAll('#bar .bar').length") == 2 and
          "\u00b1" in browser.js("return document.getElementById('states').textContent"))
    browser.js("document.getElementById('lanesdetails').open = true; document.getElementById('lanes').focus()")
    browser.until(lambda: browser.js("return document.querySelectorAll('#lanetable tr').length"))
    browser.keys(DOWN, DOWN)
    said = browser.js("return document.getElementById('detail').textContent")
    browser.keys(DOWN)
    check("keys go from row to row of the timeline", said != browser.js("return document.getElementById('detail').textContent"), said[:60])
    for key in [UP] * 10 + [DOWN] * 20:  # to the program that both have: which row that is depends on how fast each was
        if browser.js("return document.getElementById('detail').textContent").startswith("python3"):
            break
        browser.keys(key)
    browser.keys(ENTER)
    eventually(browser, "Enter chooses one, with those of its name of the other", lambda: 0 < totals(browser)["samples"] and 0 < totals(browser)["before"] and
          "threads=" in browser.js("return location.hash"), browser.js("return location.hash"))
    browser.keys("t")
    link = browser.js("return location.hash")
    browser.js("history.back()")
    eventually(browser, "Back takes the theme back", lambda: not browser.js("return document.documentElement.classList.contains('dark')"))
    browser.js("history.forward()")
    eventually(browser, "Forward has it again", lambda: browser.js("return document.documentElement.classList.contains('dark')"), link)
    browser.keys("t")


def small(browser, path):
    """A phone's window keeps everything, and paper has the whole graph."""
    browser.open(path)
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
    browser.size(360, 640)
    for name in ("flame", "table", "time", "source", "order"):
        view(browser, name)
        eventually(browser, "%s: nothing stands out of 360 pixels" % name,
                   lambda: browser.js("return document.documentElement.scrollWidth") <= 360)
        picture(browser, "phone-" + name)
    for what in ("threads", "legend", "states"):
        box = browser.js("const r = document.getElementById(arguments[0]).getBoundingClientRect(); return [r.x, r.right, r.height]", what)
        check("%s are there" % what, box[0] >= 0 and box[1] <= 360 and box[2] > 10, box)
    browser.size(1400, 700)
    view(browser, "flame")
    browser.keys("t")
    paper = browser.printed()
    check("it is printed", paper.startswith(b"%PDF") and b"%%EOF" in paper[-32:], len(paper))
    check("and looks as before", browser.js("return document.documentElement.classList.contains('dark')"))
    if pictures:
        with open(os.path.join(pictures, "paper.pdf"), "wb") as out:
            out.write(paper)
    browser.keys("t")


def many(browser):
    """100,000 distinct stacks, made up, in the same page."""
    chance, functions, parents, fns, leaves = random.Random(1), 4000, [0], [1], []
    while len(leaves) < 100000:
        at = 0 if not leaves or chance.random() < 0.02 else leaves[-1]
        for _ in range(chance.randrange(1, 6)):
            at = parents[at] if at else 0
        for _ in range(chance.randrange(1, 9)):
            parents.append(at)
            fns.append(2 + chance.randrange(functions))
            at = len(parents) - 1
        leaves.append(at)
    kids, hit, segment, chain, chains, segments = [0] * len(parents), set(leaves), [0], [1], {}, []
    for parent in parents[1:]:
        kids[parent] += 1

    def end():
        segments[-1].append(chains.setdefault(tuple(chain), len(chains)))
    segments.append([0])
    for node in range(1, len(parents)):
        parent = parents[node]
        if parent == 0 or kids[parent] != 1 or parent in hit or parent != node - 1:
            end()
            chain = []
            segments.append([len(segments) - segment[parent]])
        chain.append(fns[node])
        segment.append(len(segments) - 1)
    end()
    hits = sorted(segment[leaf] for leaf in leaves)
    n, chained = functions + 2, [fn for c in chains for fn in c]
    meta = {"title": "many", "icicle": False, "slices": 1024, "functions": n, "nodes": len(parents), "rows": len(leaves),
            "chains": len(chains), "chained": len(chained), "segments": len(segments),
            "sides": [{"name": "many", "start": 0, "seconds": 60, "lost": 0, "undecoded": 0}],
            "events": [{"name": "cycles", "unit": "count", "first": False}], "states": [{"text": "taken at once", "unfinished": False}],
            "threads": [[0, i, i] for i in range(500)], "texts": ["", "all"] + ["function_%d" % i for i in range(functions)]}
    arrays = [range(n), [0] * n, [1 + i % 3 for i in range(n)], [len(c) for c in chains], chained, [s[0] for s in segments],
              [s[1] for s in segments], [at - before for at, before in zip(hits, [0] + hits)], [i % 500 for i in range(len(leaves))],
              [i * 1024 // len(leaves) for i in range(len(leaves))], [0] * len(leaves), [1] * len(leaves)]
    page = made("many.html", os.path.join(scratch, "flame.html"), meta, arrays, [1.0] * len(leaves))
    opened(browser, page)
    check("100,000 stacks are there", totals(browser)["samples"] == 100000, "%d nodes" % len(parents))
    took = {name: browser.js("return seamFlame.time(seamFlame.work[arguments[0]])", name) for name in ("recompute", "layout", "draw")}
    print("100,000 distinct stacks, ms: " + ", ".join("%s %.0f" % pair for pair in took.items()) + ", %d cells drawn" % len(cells(browser)))
    picture(browser, "many")


recording = os.path.join(scratch, "flame.data")
truth = Truth(recording)
run("flame", recording, "-o", os.path.join(scratch, "flame.html"))
browser = Browser()
try:
    opened(browser, os.path.join(scratch, "flame.html"))
    hand(browser, truth)
    focus(browser, *seek(browser, truth))
    choose(browser, truth)
    processes(browser, truth)
    copies(browser, truth)
    keyboard(browser)
    browser.open(os.path.join(scratch, "flame.html"))
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
    link, name = table(browser, truth)
    in_time(browser, truth)
    linked(browser, os.path.join(scratch, "flame.html"), link, name)
    if os.path.exists(os.path.join(scratch, "code.data")):
        source(browser, os.path.join(scratch, "code.data"))
    two(browser, os.path.join(scratch, "other.data"))
    small(browser, os.path.join(scratch, "flame.html"))
    many(browser)
    hostile(browser)
    errors = browser.errors()
    check("nothing was complained of", not errors, errors[:3] if errors else "")
finally:
    browser.close()
end()
