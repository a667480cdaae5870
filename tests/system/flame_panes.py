#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flame_panes.py SEAM SCRATCH [SCREENSHOTS]: each pane of the page of `seam flame` in every state: spans of time of two recordings,
a thousand threads, letters that stand out, narrow windows, paper, one sample and none. Recordings: SCRATCH/flame.data, other.data, code.data."""
import os
import re

from browser import Browser
from paged import check, end, eventually, link, made, opened, picture, pictures, run, scratch, totals, view

ENTER, ESCAPE, UP, DOWN, RIGHT, END, PAGE_DOWN = "\ue007", "\ue00c", "\ue013", "\ue015", "\ue014", "\ue010", "\ue00f"
PANES = ("flame", "order", "table", "time", "source")
recording, other = (os.path.join(scratch, name) for name in ("flame.data", "other.data"))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "contrast.js"), encoding="utf-8") as file:
    CONTRAST = file.read()


def box(browser, name):
    return browser.js("const r = document.getElementById(arguments[0]).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]", name)


def into_view(browser, name):
    browser.js("document.getElementById(arguments[0]).scrollIntoView({ block: 'center' })", name)
    browser.js("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return box(browser, name)


def times_of(path):
    """When samples were taken, as parts of the recording's time in 1,024 slices; and how exactly that is known (microseconds)."""
    times = sorted(float(line) for line in run("script", "-i", path, "-F", "time", "-G").decode().replace(":", " ").split())
    whole = times[-1] - times[0]
    return [1024 * (t - times[0]) / whole for t in times], 1024 * 1e-6 / whole


def span_holds(browser, what, slices, exact):
    """The other recording's chosen span has its samples, and the first one's are all there."""
    span = link(browser).get("beforespan")
    if not check_span(what, span):
        return
    first, last = (int(n) for n in span.split("-"))
    least, most = (sum(first + side * exact <= t <= last + 1 - side * exact for t in slices) for side in (1, -1))
    seen = totals(browser)
    check("%s: its samples, of all %d" % (what, len(slices)), least <= seen["samplesBefore"] <= most < len(slices) and "span" not in link(browser),
          "%s: %d in %d..%d" % (span, seen["samplesBefore"], least, most))


def check_span(what, span):
    check("%s: a span of the other recording" % what, span is not None, span)
    return span is not None


def two_spans(browser):
    """Spans of the other recording: in its map, its strip, its rows of the timeline and in order of time, by mouse and by keys."""
    page = os.path.join(scratch, "spans.html")
    run("flame", recording, "--base", other, "-o", page)
    opened(browser, page)
    slices, exact = times_of(other)
    view(browser, "time")
    x, y, width, height = into_view(browser, "beforeheat")
    browser.drag(x + 152, y + height * 0.1, x + 160, y + height * 0.8)
    span_holds(browser, "dragged in the map", slices, exact)
    picture(browser, "two-spans")
    changed = browser.js("return document.getElementById('beforespan').textContent")
    check("how much that is, is said", "of the weight" in changed and os.path.basename(other) in changed, changed)
    before = link(browser)
    browser.js("document.getElementById('beforeheat').focus()")
    browser.keys(UP)  # down there may be nothing: how long a recording is depends on the machine
    check("an arrow key moves it", link(browser).get("beforespan") != before["beforespan"], link(browser).get("beforespan"))
    browser.keys(ESCAPE)
    check("Escape: all of both", "beforespan" not in link(browser) and totals(browser)["samplesBefore"] == len(slices))

    x, y, width, height = box(browser, "beforestrip")
    browser.drag(x + 130 + (width - 130) * 0.2, y + height / 2, x + 130 + (width - 130) * 0.6, y + height / 2)
    span_holds(browser, "dragged in the strip", slices, exact)
    browser.keys(ESCAPE)

    browser.js("document.getElementById('lanes').focus()")
    browser.keys(END)
    browser.keys(RIGHT)
    span_holds(browser, "by keys in the timeline", slices, exact)
    where = link(browser)["beforespan"]
    x, y, width, height = box(browser, "lanes")
    pane = box(browser, "when")
    bottom = min(y + height, pane[1] + pane[3]) - 8
    browser.drag(x + 150 + (width - 150) * 0.5, bottom, x + 150 + (width - 150) * 0.9, bottom)
    span_holds(browser, "dragged in the timeline", slices, exact)
    check("another than before", link(browser).get("beforespan") != where, link(browser).get("beforespan"))
    kept = browser.js("return location.hash")
    browser.keys(ESCAPE)
    browser.js("history.back()")
    eventually(browser, "Back has the span again", lambda: browser.js("return location.hash") == kept)
    browser.keys(ESCAPE)

    view(browser, "order")
    cell = max((c for c in browser.js("return seamFlame.cells()") if c["depth"] < -2), key=lambda c: c["width"])
    browser.js("document.getElementById('graph').dispatchEvent(new MouseEvent('click', { clientX: %f, clientY: %f, bubbles: true }))" %
               (cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2))
    check("a cell in order of time is a span of its own recording", "beforespan" in link(browser) and "span" not in link(browser), link(browser))
    browser.keys(ESCAPE)


def crowded(threads, samples):
    """A page of one process with so many threads, that have so many samples each."""
    n = threads * samples
    meta = {"title": "crowd", "icicle": False, "slices": 1024, "functions": 3, "nodes": 3, "chains": 3, "chained": 3, "segments": 3, "rows": n,
            "sides": [{"name": "crowd", "start": 0, "seconds": 60, "lost": 0, "undecoded": 0}],
            "events": [{"name": "cycles", "unit": "count", "first": False}], "states": [{"text": "taken at once", "unfinished": False}],
            "threads": [[3 + i, 77, 1000 + i] for i in range(threads)],
            "texts": ["", "all", "main"] + ["worker-%d" % i for i in range(threads)]}
    words = [range(3), [0] * 3, [0, 0, 1], [1, 1, 1], [0, 1, 2], [0, 1, 1], [0, 1, 2], [2] + [0] * (n - 1), [i % threads for i in range(n)],
             [i * 1024 // n for i in range(n)], [0] * n, [1] * n]
    return made("crowd.html", os.path.join(scratch, "spans.html"), meta, words, [1.0] * n)


def crowd(browser):
    """A thousand threads: all can be read, found and chosen."""
    opened(browser, crowded(1000, 20))
    view(browser, "time")
    browser.js(CONTRAST.replace("drawn = [];", "drawn = [], texts = [];").replace("look(this, text, x, y);", "texts.push(text);")
               .replace("return { watch, seen };", "return { watch, texts: () => texts.splice(0) };") + "seamContrast.watch()")
    size = browser.js("return [document.getElementById('lanesbox').clientHeight, document.getElementById('lanes').clientHeight, "
                      "document.getElementById('when').clientHeight]")
    check("there is a row for each of 1,000 threads, and only what is seen is drawn", size[0] > 1000 * 18 and size[1] <= size[2], size)
    browser.js("document.getElementById('lanes').focus()")
    browser.keys(END)
    eventually(browser, "End: the last one", lambda: re.match(r"worker-\d+ \d+:", browser.js("return document.getElementById('detail').textContent")))
    names = []
    browser.until(lambda: names.extend(browser.js("return seamContrast.texts()")) or "worker-999 1999" in names)
    shown = {name for name in names if re.search(r"\d{4}$", name)}
    check("names are whole there", "worker-999 1999" in shown and len(shown) > 10, len(shown))
    picture(browser, "crowd")
    x, y, width, height = box(browser, "lanes")
    browser.click(x + 40, y + height - 12)
    check("a click on a name: that thread alone", totals(browser)["samples"] == 20 and link(browser).get("threads") == "999", link(browser))
    browser.click(x + 40, y + height - 12)
    check("and again: all of them", totals(browser)["samples"] == 20000, link(browser))
    browser.keys(UP, PAGE_DOWN, ENTER)
    check("keys choose one, too", totals(browser)["samples"] == 20 and link(browser).get("threads") == "999", link(browser))
    browser.keys(ESCAPE)
    browser.js("const e = document.getElementById('threadfilter'); e.focus()")
    browser.keys(*"worker-512")
    rows = browser.js("return document.getElementById('lanesbox').clientHeight")
    check("what is typed finds it in the timeline", 18 <= rows <= 3 * 18, rows)
    check("and beside it", browser.js("return document.querySelectorAll('#threads .thread').length") == 1)
    browser.keys(ESCAPE)
    browser.js("const e = document.getElementById('threadfilter'); e.value = ''; e.dispatchEvent(new Event('input'))")
    check("how many are not listed is said", "900 more threads" in browser.js("return document.getElementById('threads').textContent"))
    browser.js("[...document.querySelectorAll('#threads .thread button')].at(-1).click()")
    chosen = link(browser).get("threads")
    eventually(browser, "one that is chosen beside comes into view", lambda: browser.js(
        "return document.getElementById('when').scrollTop") > 0 or int(chosen) < 5, chosen)
    browser.keys(ESCAPE)
    view(browser, "order")
    check("all can be had in order of time", browser.js("return document.getElementById('thread').options.length") == 1000)


def written(browser, name):
    """All that is written in each pane stands out from its ground: WCAG 2 AA, in light and in dark."""
    browser.js(CONTRAST + "seamContrast.watch()")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    for theme in ("light", "dark"):
        for pane in PANES:
            browser.keys(str(PANES.index(pane) + 1))
            browser.js("seamContrast.seen(); window.dispatchEvent(new Event('resize')); document.getElementById('theme').click();"
                       "document.getElementById('theme').click(); await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            seen = browser.js("return seamContrast.seen()")
            bad = sorted({tuple(pair) for pair in seen if pair[0] < pair[1]})
            check("%s, %s, %s: letters stand out" % (name, theme, pane), len(seen) > 30 and not bad, "%d texts: %s" % (len(seen), bad[:6]))
        browser.keys("t")
    browser.keys("?")
    bad = [pair for pair in browser.js("return seamContrast.seen()") if pair[0] < pair[1]]
    check("%s: the keys, too" % name, not bad, bad[:6])
    browser.keys(ESCAPE)


OUTSIDE = """
const wide = document.documentElement.clientWidth, out = [];
for (const e of document.querySelectorAll('header, #left > *, aside, aside *, #views *, #parts *, #detail, #around, #when p, #when .key, h2, h3')) {
	if (!e.checkVisibility() || !e.getClientRects().length) continue;
	const r = e.getBoundingClientRect();
	if (r.right > wide + 0.5 || r.left < -0.5) out.push(e.tagName + '#' + e.id + ' ' + Math.round(r.right));
	if (/^(auto|scroll|visible)$/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline'
		&& !/SELECT|OPTION/.test(e.tagName))
		out.push(e.tagName + '#' + e.id + '.' + e.className + ' holds ' + e.scrollWidth + ' in ' + e.clientWidth);
}
return [document.documentElement.scrollWidth, out];
"""


def narrow(browser, name):
    """On 320 pixels nothing is cut off, nor scrolls sideways but code in its own box; threads and legend are there."""
    browser.size(320, 568)
    for pane in PANES:
        view(browser, pane)
        browser.js("for (const e of document.querySelectorAll('select')) for (const o of e.options) o.textContent += ' of process 4194304, as long as can be'")
        # Headings of long names and paths, and a key for each way to wait.
        browser.js("for (const e of document.querySelectorAll('#source h2, #source h3, #around h2')) e.textContent += '/rustc/59807616e1fa2540724bfbac/core/sort.rs'")
        browser.js("for (const e of document.querySelectorAll('#lanescaption .key')) for (let i = 0; i < 4; i++) e.after(e.cloneNode(true))")
        browser.js("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        eventually(browser, "%s, %s: nothing stands out of 320 pixels" % (name, pane), lambda: browser.js(OUTSIDE) == [320, []] or
                   (browser.js(OUTSIDE)[0] <= 320 and not browser.js(OUTSIDE)[1]), browser.js(OUTSIDE))
        picture(browser, "narrow-%s-%s" % (name, pane))
    for what in ("threads", "legend", "states"):
        place = into_view(browser, what)
        check("%s: %s are there" % (name, what), place[0] >= 0 and place[0] + place[2] <= 320 and place[3] > 10, place)
        picture(browser, "narrow-%s-%s" % (name, what))
    browser.own_size()
    view(browser, "flame")
    browser.until(lambda: browser.js("const wide = document.getElementById('scroll').clientWidth; "
                                     "return wide > 320 && document.getElementById('graph').width === Math.round(wide * devicePixelRatio)"))


def paper(browser, name):
    """What is printed is light, as wide as paper, and whole, whatever the screen is; and the screen is as before."""
    seen = """const css = getComputedStyle(document.body), px = (id) => parseFloat(document.getElementById(id).style.height);
        seamPrinted = [css.backgroundColor, css.color, document.getElementById('graph').width, px('graph'), px('spacer')];"""
    browser.js("window.addEventListener('beforeprint', () => { %s })" % seen)
    for pane in PANES:
        view(browser, pane)
        browser.keys("t")
        drawn = "return [location.hash, document.documentElement.className, !document.getElementById('scroll').hidden && document.getElementById('graph').width]"
        screen = browser.js(drawn)
        sheet = browser.printed()
        check("%s, %s: it is printed" % (name, pane), sheet.startswith(b"%PDF") and b"/Type /Page" in sheet, len(sheet))
        back, text, width, height, whole = browser.js("return seamPrinted")
        check("%s, %s: dark letters on light paper" % (name, pane), back == "rgb(255, 255, 255)" and text == "rgb(26, 26, 26)", (back, text))
        if pane in ("flame", "order"):
            check("%s, %s: the whole graph, as wide as paper, in points of paper" % (name, pane), width == 1440 and height >= min(whole, 3600) - 1,
                  (width, height, whole))
        eventually(browser, "%s, %s: the screen is as before" % (name, pane), lambda: browser.js(drawn) == screen, screen)
        if pictures:
            with open(os.path.join(pictures, "paper-%s-%s.pdf" % (name, pane)), "wb") as out:
                out.write(sheet)
        browser.keys("t")


def few(browser):
    """One sample, and none: every pane says what there is."""
    meta = {"title": "one", "icicle": False, "slices": 1024, "functions": 3, "nodes": 3, "chains": 3, "chained": 3, "segments": 3, "rows": 1,
            "sides": [{"name": "one", "start": 0, "seconds": 0, "lost": 0, "undecoded": 0}],
            "events": [{"name": "cycles", "unit": "count", "first": False}], "states": [{"text": "taken at once", "unfinished": False}],
            "threads": [[3, 1, 1]], "texts": ["", "all", "main", "comm"]}
    words = [range(3), [0] * 3, [0, 0, 1], [1, 1, 1], [0, 1, 2], [0, 1, 1], [0, 1, 2], [2], [0], [0], [0], [1]]
    one = made("one.html", os.path.join(scratch, "spans.html"), meta, words, [5.0])
    none = os.path.join(scratch, "none.html")
    run("flame", recording, "--tid", "1", "-o", none)
    for path, samples in ((one, 1), (none, 0)):
        opened(browser, path)
        check("%d samples" % samples, totals(browser)["samples"] == samples)
        for pane in PANES:
            view(browser, pane)
            picture(browser, "few-%d-%s" % (samples, pane))
            text = browser.js("return document.getElementById('left').innerText")
            check("%d samples, %s: no figure is none" % (samples, pane), not re.search(r"NaN|Infinity|undefined|null", text), text[:100])
        for key in (DOWN, UP, RIGHT, ENTER, "f", "c", "i", "o", "b", "t", "t"):
            browser.keys(key)


browser = Browser()
try:
    two_spans(browser)
    crowd(browser)
    few(browser)
    one = os.path.join(scratch, "panes.html")
    code = os.path.join(scratch, "code.data")
    run("flame", *(["--source", code] if os.path.exists(code) else [recording]), "-o", one)
    for name, path in (("one", one), ("two", os.path.join(scratch, "spans.html"))):
        opened(browser, path)
        view(browser, "table")
        browser.js("const all = [...document.querySelectorAll('#functions .name')]; (all.find((b) => b.textContent === 'work') || all[0]).click()")
        written(browser, name)
        narrow(browser, name)
        paper(browser, name)
    errors = [line for line in browser.errors() if "willReadFrequently" not in line]  # the contrast is read back
    check("nothing was complained of", not errors, errors[:3] if errors else "")
finally:
    browser.close()
end()
