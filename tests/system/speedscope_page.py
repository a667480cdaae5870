#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope_page.py DIST PROFILE FOLDED [PICTURES]: speedscope itself, in a headless Chromium, opens an exported profile as its own command
does. Its table of functions is held against FOLDED, the same recording as folded stacks. With PICTURES (a directory) the screen is left there."""
import base64
import json
import os
import re
import shutil
import sys

from browser import Browser

dist, profile, folded = sys.argv[1:4]
failures = 0


def check(what, good, seen=""):
    global failures
    print("%s: %s%s" % ("ok" if good else "FAILED", what, " (%s)" % (seen,) if seen != "" else ""))
    failures += not good


def truth(thread):
    """Self and total by function of a thread's folded stacks, and all of it."""
    own, total, whole = {}, {}, 0
    for line in open(folded, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        names, weight = stack.split(";"), int(weight)
        if names[0] != thread:
            continue
        whole += weight
        own[names[-1]] = own.get(names[-1], 0) + weight
        for name in set(names[1:]):
            total[name] = total.get(name, 0) + weight
    return own, total, whole


def main():
    here = os.path.dirname(os.path.abspath(profile))
    site = os.path.join(here, "speedscope")
    shutil.copytree(dist, site, dirs_exist_ok=True)
    with open(profile, "rb") as f, open(os.path.join(site, "profile.js"), "w", encoding="ascii") as out:
        out.write("speedscope.loadFileFromBase64('p.json', '%s')" % base64.b64encode(f.read()).decode())
    with open(profile, encoding="utf-8") as f:
        opened = json.load(f)
    name = opened["profiles"][opened["activeProfileIndex"]]["name"]
    browser = Browser()
    try:
        browser.go("file://%s/index.html#localProfilePath=%s/profile.js" % (site, site))
        text = lambda: browser.js("return document.body.innerText")
        browser.until(lambda: "Sandwich" in text() and name in text(), 120)
        check("the profile that is to be seen first is", name in text(), name)
        picture(browser, "speedscope")
        browser.keys("3")
        cells = ("return [...document.querySelectorAll('tr')].map((r) => [...r.children].map((c) => c.innerText))"
                 ".filter((r) => r.length === 3 && /%/.test(r[0]) && /%/.test(r[1]))")
        rows = browser.until(lambda: browser.js(cells))
        shares = {r[2].strip(): [float(re.search(r"([\d.]+)%", c).group(1)) for c in r[:2]] for r in rows if "<" not in r[0] + r[1]}
        own, total, whole = truth(name.split()[0])
        off = [(f, s, 100 * total[f] / whole, 100 * own.get(f, 0) / whole) for f, s in shares.items() if f in total and (
            abs(s[0] - 100 * total[f] / whole) > 0.51 or abs(s[1] - 100 * own.get(f, 0) / whole) > 0.51)]
        check("its functions are the recording's", len([f for f in shares if f in total]) > 5, "%d of %d" % (len(shares), len(rows)))
        check("with their self and total", not off, off[:3])
        picture(browser, "speedscope-table")
        errors = [e for e in browser.errors() if "WebGL" not in e and "favicon" not in e]
        check("nothing was complained of", not errors, errors[:2])
    finally:
        browser.close()
    sys.exit(1 if failures else 0)


def picture(browser, name):
    if len(sys.argv) > 4:
        with open(os.path.join(sys.argv[4], name + ".png"), "wb") as out:
            out.write(base64.b64decode(browser.screenshot()))


main()
