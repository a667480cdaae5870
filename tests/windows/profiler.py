# SPDX-License-Identifier: MIT
"""The Firefox Profiler's own page over `seam export -f firefox`, in a headless Chromium: which functions its inverted call tree shows
first, with their own time, and which callers of the first, against the recording's truth.

FIREFOX_PROFILER names the page, as scripts/firefox-profiler builds it of the Profiler's published sources. Those may be older than the
Profiler's own command of npm, whose version of the format seam writes (tests/system/firefox.sh holds that): `older` writes the same
tables as version 70, the reverse of what the Profiler does when it opens an older file."""
import base64
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

from checks import check
from window import TOP

sys.path.insert(0, os.path.join(TOP, "tests", "system"))
NAME = "profile.json"


def older(profile):
    """Version 75 as version 70: a column of flags says there which of the others have a value; here those have none themselves."""
    def where(table, column, bit, nothing):
        return [v if f & bit else nothing for v, f in zip(table[column], table["flags"])]
    frames, functions = profile["shared"]["frameTable"], profile["shared"]["funcTable"]
    lib, address = frames["lib"], frames["address"]
    frames.update(inlineDepth=[f & 1 for f in frames["flags"]], lib=where({"lib": lib, "flags": frames["flags"]}, "lib", 2, -1),
                  address=where({"address": address, "flags": frames["flags"]}, "address", 2, -1), category=where(frames, "category", 4, None),
                  subcategory=where(frames, "subcategory", 4, None), nativeSymbol=where(frames, "nativeSymbol", 8, None),
                  line=where(frames, "line", 16, None), column=where(frames, "column", 32, None),
                  originalLocation=where(frames, "originalLocation", 64, None))
    del frames["flags"]
    flags = functions["flags"]
    functions.update(isJS=[bool(f & 1) for f in flags], relevantForJS=[bool(f & 2) for f in flags], resource=where(functions, "resource", 4, -1),
                     source=where(functions, "source", 8, None), lineNumber=where(functions, "lineNumber", 16, None),
                     columnNumber=where(functions, "columnNumber", 32, None), originalLocation=where(functions, "originalLocation", 64, None))
    del functions["flags"]
    profile["meta"]["preprocessedProfileVersion"] = 70
    return profile


def serve(page, file):
    """The page, and the profile as a file of the same place; what is none of both is a view of the page."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=page)

        def log_message(self, *_):
            pass

        def do_GET(self):
            path = self.path.split("?")[0]
            if path == "/" + NAME:
                with open(file, "rb") as data:
                    body = data.read()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body)
                return
            if not os.path.isfile(page + path):
                self.path = "/index.html"
            super().do_GET()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def opened(browser, server, view):
    url = "http://127.0.0.1:%d/" % server.server_port
    return opened_at(browser, "%sfrom-url/%s/%s" % (url, urllib.parse.quote(url + NAME, safe=""), view))


def opened_at(browser, url):
    """Seconds until the call tree is on the screen."""
    browser.go(url)
    begin = time.monotonic()
    browser.until(lambda: browser.js("return document.querySelectorAll('.treeViewRow').length"), 90)
    time.sleep(0.5)
    return time.monotonic() - begin


def rows(browser):
    """What stands in the tree: function, and the numbers of its row."""
    return browser.js("""
        const texts = (q) => [...document.querySelectorAll(q)].map((row) => [...row.children].map((c) => c.textContent.trim()));
        const left = texts('.treeViewRowFixedColumns'), right = texts('.treeViewRowScrolledColumns');
        return left.map((l, i) => [l, right[i]]);""")


def of_thread(truth, event, tid):
    """Own weight of each function of a thread; callers of each where it is the innermost. What has no name is its
    object's, as in the page."""
    own, callers = {}, {}
    for row in truth.all["rows"]:
        if truth.all["events"][row["event"]]["name"] != event or truth.all["tasks"][row["task"]]["tid"] != tid or row["stack"] < 0:
            continue
        names = [f["symbol"] or "[%s]" % os.path.basename(truth.object(f)) for f in truth.path(row["stack"])]
        own[names[-1]] = own.get(names[-1], 0) + row["weight"]
        if len(names) > 1:
            above = callers.setdefault(names[-1], {})
            above[names[-2]] = above.get(names[-2], 0) + row["weight"]
    return own, callers


def close_to(text, weight):
    """"367ms" and "2.0ms" are this many nanoseconds, to the digits that are there."""
    number = text.replace(",", "").rstrip("ms ")
    digits = len(number.partition(".")[2])
    return number and abs(float(number) - weight / 1e6) <= 0.5000001 * 10 ** -digits


def in_link(number, more=0):
    """How the Profiler's links write a thread's place: five bits a digit, and a sixth bit where another digit of the number follows.
    Without it they would be two places, and the page would show both threads as one."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._"
    return (in_link(number // 32, 32) if number >= 32 else "") + digits[number % 32 + more]


def one_thread(what, seen, own, callers, is_time):
    """The inverted tree begins with the hottest function; it is opened along the heaviest callers. Names that are not printable look
    different in a browser: of those only the numbers are compared."""
    names = {n: w for n, w in own.items() if n}
    hot = max(names, key=names.get)
    equal = close_to if is_time else lambda text, weight: float(text.replace(",", "")) == weight
    (numbers, text), above = seen[0], seen[1:2]
    check("%s: the hottest function, %s, with its own weight" % (what, hot), (text[3] == hot or not hot.isprintable()) and equal(numbers[3], names[hot]),
          (text[3], numbers[3], names[hot]))
    if above and callers.get(hot):
        caller = above[0][1][3]
        weight = max(callers[hot].values())
        check("%s: its heaviest caller" % what, (callers[hot].get(caller) == weight or not caller.isprintable()) and equal(above[0][0][1], weight),
              (caller, above[0][0][1], weight))


def look(screen, truth, picture=None):
    page = os.environ.get("FIREFOX_PROFILER")
    if not page:
        print("no FIREFOX_PROFILER: left out")
        return
    from browser import Browser
    what = "Firefox Profiler: " + os.path.basename(truth.data)
    profile = older(json.loads(truth.read("export", "-f", "firefox", truth.data)))
    path = os.path.join(screen.at, NAME)
    with open(path, "w", encoding="utf-8") as out:
        json.dump(profile, out)
    server, browser = serve(os.path.realpath(page), path), Browser(1280, 800)
    try:
        event = list(truth.of)[0]
        name_of = lambda t: t["name"].endswith("(" + event + ")") or "(" not in t["name"]
        at = max((i for i, t in enumerate(profile["threads"]) if name_of(t)), key=lambda i: sum(profile["threads"][i]["samples"]["weight"]))
        opened(browser, server, "calltree/?thread=%s&invertCallstack&v=12" % in_link(at))
        own, callers = of_thread(truth, event, int(str(profile["threads"][at]["tid"]).split(".")[0]))
        one_thread(what + ": " + event, rows(browser), own, callers, truth.unit[event] == "nanoseconds")
        if picture:
            with open(picture, "wb") as out:
                out.write(base64.b64decode(browser.screenshot()))
    finally:
        browser.close()
        server.shutdown()
