# SPDX-License-Identifier: MIT
"""samply over `seam convert`, with the Firefox Profiler's page (FIREFOX_PROFILER, as profiler.py has it): samply imports the recording,
serves it with the names and inlined calls that it finds itself, and the page shows them. Functions that samply names as seam does
have as many samples of their own in the heaviest thread."""
import base64
import json
import os
import re
import subprocess

from checks import check
from profiler import in_link, opened_at, rows, serve
from window import PEER, until


def own_samples(truth, event, tid):
    """A function's own samples in a thread. Of programs without debug information samply names code that has no name of its own as the
    function in front of it, so only functions with lines count."""
    own = {}
    for row in truth.all["rows"]:
        if truth.all["events"][row["event"]]["name"] == event and truth.all["tasks"][row["task"]]["tid"] == tid and row["stack"] >= 0:
            last = truth.path(row["stack"])[-1]
            name = last["symbol"] if last.get("line") else None
            own[name] = own.get(name, 0) + row["samples"]
    return own


def look(screen, truth, picture=None):
    page = os.environ.get("FIREFOX_PROFILER")
    if not page:
        print("no FIREFOX_PROFILER: left out")
        return
    from browser import Browser
    what, event = "samply: " + os.path.basename(truth.data), list(truth.of)[0]
    subprocess.run([truth.seam, "convert", truth.data, "-o", screen.at + "/converted"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    path = screen.at + "/samply.json"
    subprocess.run([PEER, "samply", "import", screen.at + "/converted", "--save-only", "-o", path], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        threads = json.load(file)["threads"]
    heavy = max({r["task"] for r in truth.all["rows"]}, key=lambda task: sum(
        r["weight"] for r in truth.all["rows"] if r["task"] == task and truth.all["events"][r["event"]]["name"] == event))
    tid = truth.all["tasks"][heavy]["tid"]
    at = max((i for i, t in enumerate(threads) if int(str(t["tid"]).split(".")[0]) == tid), default=None,
             key=lambda i: threads[i]["samples"]["length"])
    if not check("%s: it has thread %d" % (what, tid), at is not None):
        return
    server = serve(os.path.realpath(page), path)
    os.environ["PROFILER_URL"] = "http://127.0.0.1:%d" % server.server_port
    loaded = screen.start(PEER, "samply", "load", "--no-open", path)
    browser = Browser(1280, 800)
    try:
        said = until(lambda: re.search(r"http://\S*/from-url/\S*", open(loaded.log, encoding="utf-8").read()), "samply's address", 60).group(0)
        opened_at(browser, said.replace("/?", "/calltree/?thread=%s&invertCallstack&v=12&" % in_link(at)))
        hot = lambda: [r for r in rows(browser) if not r[1][-2].startswith("0x")]
        browser.until(hot, 60)
        own = own_samples(truth, event, tid)
        seen = {re.sub(r"^\(inlined\)|\(.*", "", r[1][-2]): r[0][-4] for r in rows(browser)}
        both = {n: w for n, w in own.items() if n and n in seen and seen[n].replace(",", "").isdigit()}
        wrong = [(n, seen[n], w) for n, w in both.items() if int(seen[n].replace(",", "")) != w]
        check("%s: %s: own samples of %d functions that it shows" % (what, event, len(both)), both and not wrong, wrong or dict(list(both.items())[:4]))
        if picture:
            with open(picture, "wb") as out:
                out.write(base64.b64decode(browser.screenshot()))
    finally:
        browser.close()
        screen.stop(loaded)
        server.shutdown()
