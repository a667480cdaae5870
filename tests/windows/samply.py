# SPDX-License-Identifier: MIT
"""samply over `seam convert`, with the Firefox Profiler's page (FIREFOX_PROFILER, as profiler.py has it): samply imports the recording,
serves it with the names and inlined calls that it finds itself, and the page shows them. Functions that samply names as seam does
have as many samples of their own in the thread that has most of them."""
import base64
import json
import os
import re
import subprocess

from aliases import Aliases
from checks import check
from profiler import in_link, opened_at, rows, serve
from window import PEER, until


def own_samples(truth, event, tid):
    """(file, function) -> its own samples in a thread. Of programs without debug information samply names code that has no name of its own as the
    function in front of it, so only functions with lines count."""
    own = {}
    for row in truth.all["rows"]:
        if truth.all["events"][row["event"]]["name"] == event and truth.all["tasks"][row["task"]]["tid"] == tid and row["stack"] >= 0:
            last = truth.path(row["stack"])[-1]
            if last["symbol"] and last.get("line"):
                name = os.path.basename(truth.object(last)), last["symbol"]
                own[name] = own.get(name, 0) + row["samples"]
    return own


def plain(name):
    """A name without parameters, and without what a compiler adds for a copy of a function."""
    return re.sub(r"^\(inlined\)|\(.*|\.(constprop|isra|part|cold)\b.*", "", name)


def page(name):
    """The page leaves the underscore out that names of another system begin with; here some have one, some two, some none."""
    return plain(name).lstrip("_")


def together(truth, own, seen):
    """Function -> (samples in the page, here): functions that stand in the page once, under one of the names of their address, which no
    other function has."""
    aliases, found = Aliases({o["path"] for o in truth.all["objects"]}, plain), {}
    for (file, name), samples in own.items():
        for said in {page(n) for n in aliases.names(file, plain(name))} & set(seen):
            found.setdefault(said, []).append(samples)
    return {said: (int(seen[said][0]), samples[0]) for said, samples in found.items() if len(samples) == len(seen[said]) == 1}


def look(screen, truth, picture=None):
    built = os.environ.get("FIREFOX_PROFILER")
    if not built:
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
    tid = max((t["tid"] for t in truth.all["tasks"]), key=lambda tid: sum(own_samples(truth, event, tid).values()))
    at = max((i for i, t in enumerate(threads) if int(str(t["tid"]).split(".")[0]) == tid), default=None,
             key=lambda i: threads[i]["samples"]["length"])
    if not check("%s: it has thread %d" % (what, tid), at is not None):
        return
    server = serve(os.path.realpath(built), path)
    os.environ["PROFILER_URL"] = "http://127.0.0.1:%d" % server.server_port
    loaded = screen.start(PEER, "samply", "load", "--no-open", path)
    browser = Browser(1280, 800)
    browser.size(1280, 6000)  # the page makes only the rows that are on the screen
    try:
        said = until(lambda: re.search(r"http://\S*/from-url/\S*", open(loaded.log, encoding="utf-8").read()), "samply's address", 60).group(0)
        opened_at(browser, said.replace("/?", "/calltree/?thread=%s&invertCallstack&v=12&" % in_link(at)))
        hot = lambda: [r for r in rows(browser) if not r[1][-2].startswith("0x")]
        browser.until(hot, 60)
        own, seen = own_samples(truth, event, tid), {}
        for r in rows(browser):
            number = r[0][-4].replace(",", "")
            if number.isdigit():  # else a caller in the row that is open
                seen.setdefault(page(r[1][-2]), []).append(number)
        both = together(truth, own, seen)
        wrong = {n: w for n, w in both.items() if w[0] != w[1]}
        check("%s: %s: own samples of %d functions of %d" % (what, event, len(both), len(own)), both and not wrong,
              wrong or dict(list(both.items())[:4]))
        if picture:
            browser.own_size()
            with open(picture, "wb") as out:
                out.write(base64.b64decode(browser.screenshot()))
    finally:
        browser.close()
        screen.stop(loaded)
        server.shutdown()
