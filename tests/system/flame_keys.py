#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flame_keys.py SEAM SCRATCH [SCREENSHOTS]: the page of `seam flame` without a mouse and without eyes: every control is reached and
worked by keys, in every pane, and what a screen reader is told (the browser's own tree for it) is what the page shows. Recordings:
SCRATCH/flame.data, other.data, code.data."""
import json
import os

from browser import Browser
from paged import check, end, eventually, link, opened, picture, run, scratch, totals

TAB, SHIFT, ENTER, ESCAPE, SPACE = "\ue004", "\ue008", "\ue007", "\ue00c", " "
UP, DOWN, LEFT, RIGHT = "\ue013", "\ue015", "\ue012", "\ue014"
PANES = ("flame", "order", "table", "time", "source")
# Whatever a person can work on the page, by what it is for the browser, and what has words that react to a click.
CONTROLS = """[...document.querySelectorAll('button, input, select, summary, a[href], canvas, [tabindex], [onclick]')]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length && !e.disabled && !e.classList.contains('swatch') && !(e.tabIndex < 0 && e.closest('tbody')))"""
TOLD = "((e) => e && (e.id || e.dataset.view || e.dataset.sort || e.title || e.textContent.trim().slice(0, 40) || e.tagName))"


def focused(browser):
    return browser.js("return %s(document.activeElement)" % TOLD)


def focus_is(browser, selector):
    return browser.js("return document.activeElement === document.querySelector(arguments[0])", selector)


def tab_to(browser, selector, most=400):
    """Goes by Tab until the focus is there."""
    for _ in range(most):
        if focus_is(browser, selector):
            return True
        browser.keys(TAB)
    return False


def back_tab(browser):
    browser._actions({"type": "key", "id": "keys", "actions": [{"type": kind, "value": key} for kind, key in (
        ("keyDown", SHIFT), ("keyDown", TAB), ("keyUp", TAB), ("keyUp", SHIFT))]})


def reached(browser, name, pane):
    """Tab comes to each control, in the order in which they stand, shows where it is, and leaves none again; Shift-Tab goes back."""
    browser.js("document.activeElement.blur(); window.getSelection().removeAllRanges(); document.body.tabIndex = -1; document.body.focus();"
               "document.body.removeAttribute('tabindex')")
    browser.js("window.seamAll = %s; window.seamSeen = []" % CONTROLS)
    n = browser.js("return seamAll.length")
    bare = []
    for _ in range(n + 20):
        browser.keys(TAB)
        mark = browser.js("const e = document.activeElement, s = getComputedStyle(e); if (!e || e === document.body) return null;"
                          "seamSeen.push(e); return [%s(e), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1, e.matches(':focus-visible')]" % TOLD)
        if mark is None or browser.js("return seamSeen.indexOf(document.activeElement) < seamSeen.length - 1"):
            break
        if not mark[1] or not mark[2]:
            bare.append(mark[0])
    missed = browser.js("return seamAll.filter((e) => !seamSeen.includes(e)).map(%s)" % TOLD)
    check("%s, %s: Tab comes to all %d controls" % (name, pane, n), n > 15 and not missed, missed[:6])
    check("%s, %s: where it is can be seen" % (name, pane), not bare, bare[:6])
    order = browser.js("return seamSeen.every((e, i) => !i || seamSeen.indexOf(e) < i || "
                       "seamSeen[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)")
    check("%s, %s: in the order in which they stand" % (name, pane), order)
    stops = browser.js("return [...document.querySelectorAll('tbody')].filter((t) => t.checkVisibility() && t.querySelector('button:enabled'))"
                       ".map((t) => t.querySelectorAll('button[tabindex=\"0\"]').length)")
    check("%s, %s: of a list's lines one, from which arrow keys go on" % (name, pane), set(stops) <= {1}, stops)


def walked(browser):
    """A stranger's way through the page, by keys alone."""
    browser.keys(TAB)
    check("Tab: the focus comes to the page", focused(browser) is not None, focused(browser))
    check("search is reached", tab_to(browser, "#search"))
    browser.keys(*"work")
    eventually(browser, "what is typed is found", lambda: "match" in browser.js("return document.getElementById('found').textContent"))
    browser.keys(ESCAPE, ESCAPE)

    check("the graph is reached", tab_to(browser, "#graph"))
    browser.keys(UP, UP)
    said = browser.js("return document.getElementById('detail').textContent")
    check("arrow keys say what they select", "%" in said, said[:60])
    browser.keys(ENTER)
    eventually(browser, "Enter zooms", lambda: "zoom" in link(browser))
    browser.keys("f")
    eventually(browser, "f: its callers and callees", lambda: "focus" in link(browser))
    browser.keys(ESCAPE)
    whole = totals(browser)["samples"]

    check("the strip is reached", tab_to(browser, "#strip"))
    browser.keys(RIGHT)
    eventually(browser, "an arrow key chooses a span", lambda: "span" in link(browser) and totals(browser)["samples"] < whole)
    browser.keys(ESCAPE)

    check("a pane's button is reached", tab_to(browser, "[data-view=table]"))
    browser.keys(ENTER)
    eventually(browser, "Enter: the table", lambda: link(browser).get("view") == "table")
    check("a heading is reached", tab_to(browser, "[data-sort=total]"))
    browser.keys(ENTER)
    eventually(browser, "Enter: by total", lambda: link(browser).get("sort") == "total")
    browser.keys(DOWN)
    first = focused(browser)
    browser.keys(ENTER)
    eventually(browser, "down, Enter: a function with its callers", lambda: not browser.js("return document.getElementById('around').hidden"), first)
    check("the focus stays on it", focused(browser) == first, (first, focused(browser)))
    browser.keys(DOWN, DOWN, DOWN, ENTER)
    row = browser.js("return [...document.querySelectorAll('#functions button')].indexOf(document.activeElement)")
    eventually(browser, "down from there: another", lambda: browser.js(
        "return document.getElementById('aroundname').textContent === document.querySelectorAll('#functions .name')[arguments[0]].textContent", row), row)
    browser.keys(TAB)
    check("Tab: from hundreds of functions to what is around it", browser.js("return document.getElementById('around').contains(document.activeElement)"),
          focused(browser))
    name = browser.js("return document.activeElement.textContent")
    browser.keys(SPACE)
    eventually(browser, "Space on one of those: that one", lambda: browser.js("return document.getElementById('aroundname').textContent") == name, name)
    browser.keys(ESCAPE)

    check("a process's box is reached", tab_to(browser, "#threads input"))
    browser.keys(SPACE)
    eventually(browser, "Space: it is left out", lambda: totals(browser)["samples"] < whole)
    browser.keys(SPACE)
    eventually(browser, "and Space: there again", lambda: totals(browser)["samples"] == whole)
    check("its button is reached", tab_to(browser, "#threads .row button"))
    browser.keys(ENTER)
    eventually(browser, "Enter: it alone", lambda: "threads" in link(browser))
    check("all is reached", tab_to(browser, "#allthreads"))
    browser.keys(SPACE)
    eventually(browser, "Space: all again", lambda: totals(browser)["samples"] == whole)
    check("a state's box is reached", tab_to(browser, "#states input"))
    browser.keys(SPACE)
    eventually(browser, "Space: that state is left out", lambda: totals(browser)["samples"] < whole)
    browser.keys(SPACE)
    eventually(browser, "and Space: there again, as the focus stays", lambda: totals(browser)["samples"] == whole)

    browser.keys("4")
    check("a table of the pane of time is reached", tab_to(browser, "#heatdetails summary"))
    browser.keys(ENTER)
    eventually(browser, "Enter opens it", lambda: browser.js("return document.querySelectorAll('#heattable tr').length") > 0)
    browser.keys("?")
    check("?: the keys", browser.js("return document.getElementById('keys').open"))
    browser.keys(ENTER)
    eventually(browser, "Enter closes them, and the focus is where it was", lambda: not browser.js("return document.getElementById('keys').open")
               and focus_is(browser, "#heatdetails summary"), focused(browser))
    before = focused(browser)
    browser.keys(TAB)
    back_tab(browser)
    check("Shift-Tab goes back", focused(browser) == before, before)
    browser.keys("t")
    check("t: dark", browser.js("return document.documentElement.classList.contains('dark')"))
    browser.keys("t", ESCAPE, "1")


def tree(browser):
    """What a screen reader is told: [role, name, properties, description of its rows' texts]."""
    nodes = browser.call("POST", "/goog/cdp/execute", {"cmd": "Accessibility.getFullAXTree", "params": {}})["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}

    def text(node):
        if node["role"]["value"] == "StaticText":
            return node.get("name", {}).get("value", "")
        return "".join(text(by_id[kid]) for kid in node.get("childIds", []) if kid in by_id)

    def below(node, role):
        found = []
        for kid in node.get("childIds", []):
            if kid in by_id:
                found += [by_id[kid]] if by_id[kid]["role"]["value"] == role else below(by_id[kid], role)
        return found
    seen = [node for node in nodes if not node.get("ignored")]
    return seen, text, below


def called(node):
    return node.get("name", {}).get("value", "")


def tables(browser):
    """The tables that a screen reader finds, by name: headings, and rows of cells as texts."""
    seen, text, below = tree(browser)
    found = {}
    for node in seen:
        if node["role"]["value"] != "table":
            continue
        rows = below(node, "row")
        cells = [[text(c).strip() for role in ("rowheader", "cell", "gridcell") for c in below(row, role)] for row in rows]
        found[called(node)] = [text(h).strip() for h in below(node, "columnheader")] + [None], [row for row in cells if row], rows
    return found


def figure(text):
    return int(text.split()[0].replace(",", "")) if text[:1].isdigit() else 0


def heard(browser, name):
    """Every control has a name and a role, pictures say which table has them in words, and tables have headings."""
    browser.js("document.activeElement.blur()")
    for pane in PANES:
        browser.keys(str(PANES.index(pane) + 1))
        browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
        browser.js("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen, _, _ = tree(browser)
        working = [n for n in seen if n["role"]["value"] in ("button", "checkbox", "combobox", "searchbox", "textbox", "link", "image", "table",
                                                             "DisclosureTriangle", "img", "dialog", "listbox")]
        nameless = [n["role"]["value"] for n in working if not called(n).strip()]
        check("%s, %s: all %d things have names" % (name, pane, len(working)), len(working) > 15 and not nameless, nameless[:6])
        pressed = [called(n) for n in seen if n["role"]["value"] == "button" and any(
            p["name"] == "pressed" and p["value"]["value"] == "true" for p in n.get("properties", []))]
        check("%s, %s: which pane is shown is told" % (name, pane), any(browser.js(
            "return document.querySelector('[data-view=%s]').textContent" % pane) == p for p in pressed), pressed)
        # A picture of rows that have text beside them, as the legend's colours, has none of its own.
        pictures = [called(n) for n in seen if n["role"]["value"] in ("image", "img")]
        if pane in ("flame", "order", "time"):
            check("%s, %s: pictures say how to use them, and where their table is" % (name, pane), pictures and all(
                "arrow" in p or "choose" in p for p in pictures) and any("table" in p for p in pictures), pictures)
        for what, (heads, rows, _) in tables(browser).items():
            check("%s, %s: the table %s has rows of cells" % (name, pane, what), rows or not browser.js(
                "return [...document.querySelectorAll('table')].find((t) => t.ariaLabel === arguments[0] && t.checkVisibility()).rows.length > 1", what))
            if what in ("functions", "instructions") or what.startswith(("weight", "threads", "source")):
                check("%s, %s: and the table %s a heading for each column" % (name, pane, what), rows and len(heads) - 1 == max(map(len, rows)),
                      (heads, rows[:1]))


def told(browser):
    """Figures in tables for who cannot see: those of export."""
    whole = json.loads(run("export", "-f", "json", os.path.join(scratch, "flame.data")))
    event = whole["events"][next(r["event"] for r in whole["rows"] if r["samples"])]
    samples = totals(browser)["samples"]
    browser.keys("4")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.until(lambda: browser.js("return document.querySelectorAll('#heattable tr').length && document.querySelectorAll('#lanetable tr').length"))
    found = tables(browser)
    heads, rows, _ = found["threads: samples and times"]
    running = sum(figure(row[heads.index(next(h for h in heads if h and "running" in h))]) for row in rows if " " in row[0])
    by_process = {}
    for row in whole["rows"]:
        task = whole["tasks"][row["task"]]
        by_process.setdefault(task["pid"], [task["comm"], 0])[1] += row["samples"]
    check("the table of threads has the samples of each", running >= samples, (heads, rows[:2], samples))
    heads, rows, _ = found["weight by second"]
    check("the table of seconds has each", len(rows) >= 1 and all(len(row) == len(heads) - 1 for row in rows), (heads, rows[:2], event))
    browser.keys("3")
    heads, rows, _ = tables(browser)["functions"]
    check("the table of functions is one, with its headings", heads[0] == "self" and len(rows) > 5, (heads, rows[:1]))
    live = [n for n in tree(browser)[0] if n["role"]["value"] == "status"]
    check("what is selected is said as it changes", live, len(live))
    sort = browser.js("return [...document.querySelectorAll('#functionhead th')].filter((h) => h.ariaSort !== null && h.ariaSort !== 'none').length")
    check("by what it is sorted is told", sort == 1, sort)
    browser.keys("1")


browser = Browser()
try:
    code = os.path.join(scratch, "code.data")
    one, two = (os.path.join(scratch, name) for name in ("keys.html", "keys-two.html"))
    run("flame", *(["--source", code] if os.path.exists(code) else [os.path.join(scratch, "flame.data")]), "-o", one)
    run("flame", os.path.join(scratch, "flame.data"), "--base", os.path.join(scratch, "other.data"), "-o", two)
    plain = os.path.join(scratch, "keys-plain.html")
    run("flame", os.path.join(scratch, "flame.data"), "-o", plain)
    opened(browser, plain)
    walked(browser)
    told(browser)
    for name, path in (("one", one), ("two", two)):
        opened(browser, path)
        browser.keys("3", DOWN, ENTER)
        eventually(browser, "%s: a function is chosen by keys" % name, lambda: "function" in link(browser))
        for pane in PANES:
            browser.keys(str(PANES.index(pane) + 1))
            reached(browser, name, pane)
        heard(browser, name)
        picture(browser, "keys-" + name)
    check("nothing was complained of", not browser.errors())
finally:
    browser.close()
end()
