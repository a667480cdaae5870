# SPDX-License-Identifier: MIT
"""What tests of the page share: checks, pages that are opened and looked at, pages that are made up. Of the program's arguments
SEAM SCRATCH [SCREENSHOTS]."""
import base64
import gzip
import json
import os
import struct
import subprocess
import sys

seam, scratch = sys.argv[1:3]
pictures = sys.argv[3] if len(sys.argv) > 3 else None
failed = []


def check(what, good, seen=""):
    print("%s: %s%s" % ("ok" if good else "FAILED", what, " (%s)" % (seen,) if seen != "" else ""))
    if not good:
        failed.append(what)


def end():
    sys.exit(1 if failed else 0)


def run(*args):
    return subprocess.run([seam, *args], check=True, capture_output=True).stdout


def picture(browser, name):
    if pictures:
        with open(os.path.join(pictures, name + ".png"), "wb") as out:
            out.write(base64.b64decode(browser.screenshot()))


def eventually(browser, what, holds, note=""):
    """Checks what the page comes to by itself: the history's steps, and answers of searches, do not wait for whom asked."""
    try:
        browser.until(holds, 10)
    except RuntimeError:
        pass
    check(what, holds(), note)


def opened(browser, path):
    browser.open(path)
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready || !document.getElementById('failed').hidden"))
    check("%s is shown" % os.path.basename(path), browser.js("return seamFlame.ready"), browser.js("return document.title"))


def totals(browser):
    return browser.js("return seamFlame.totals()")


def cells(browser):
    return browser.js("return seamFlame.cells()")


def view(browser, name):
    browser.js("document.querySelector('#views button[data-view=%s]').click()" % name)
    browser.until(lambda: "view=" + name in browser.js("return location.hash") or name == "flame")


def link(browser):
    """What the page's address says is chosen, by name."""
    return browser.js("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")


def made(name, like, meta, words, weights):
    """A page with a block of data that was made up, in the page that like is. words: the arrays of it, in their order."""
    with open(like, encoding="utf-8") as page:
        like = page.read()
    begin, end = like.index('<script type="application/octet-stream"'), like.rindex("</script>")
    text = json.dumps({"unit": 1, "whats": [[0, 0, 0]], **meta}).encode()
    block = struct.pack("<I", len(text)) + text
    for form, array in [("I", a) for a in words] + [("d", weights)]:
        block += bytes(-len(block) & 7) + struct.pack("<II%d%s" % (len(array), form), struct.calcsize("<" + form), 0, *array)
    path = os.path.join(scratch, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(like[:begin] + '<script type="application/octet-stream" class="data" data-bytes="%d">' % len(block)
                  + base64.b64encode(gzip.compress(block)).decode() + like[end:])
    return path
