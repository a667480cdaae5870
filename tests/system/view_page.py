#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_page.py SEAM SCRATCH RECORDING [PICTURES]: `seam view` as a server: of RECORDING for who may ask, of SCRATCH/code.data, if it
is there, in a headless Chromium. Ends with 77 where the build cannot serve."""
import base64
import concurrent.futures
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import urllib.parse

seam, scratch, recording = sys.argv[1:4]
pictures = sys.argv[4] if len(sys.argv) > 4 else None
failures = 0


def check(what, good, seen=""):
    global failures
    print("%s: %s%s" % ("ok" if good else "FAILED", what, " (%s)" % (seen,) if seen != "" else ""))
    failures += not good


class Server:
    """seam view with these arguments, until end()."""

    def __init__(self, *args, stdin=None, **env):
        plain = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION")}
        self.errors = os.path.join(scratch, "view.err")
        with open(self.errors, "w") as err:
            self.process = subprocess.Popen([seam, "view", *args], env=dict(plain, **env), stdin=stdin, stdout=subprocess.PIPE, stderr=err, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.process.wait()
            if "no libmicrohttpd" in self.said():
                sys.exit(77)
            raise RuntimeError(self.said())
        parts = urllib.parse.urlsplit(self.url)
        self.port, self.token = parts.port, parts.path.strip("/")
        if stdin is None:
            self.becomes("ready")

    def state(self):
        return json.loads(self.own("state")[2])

    def becomes(self, phase):
        """Waits until the recordings are read, or until it is known that they cannot be."""
        for _ in range(1200):
            if self.state()["phase"] == phase:
                return
            time.sleep(0.05)
        raise RuntimeError(self.state())

    def said(self, wanted=None):
        """What it said; wanted: as soon as that is in it."""
        for _ in range(600):
            with open(self.errors) as err:
                text = err.read()
            if wanted is None or re.search(wanted, text):
                return text
            time.sleep(0.05)
        return text

    def get(self, path, method="GET", **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            c.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                if value is not None:
                    c.putheader(name, value)
            c.endheaders()
            answer = c.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            c.close()

    def own(self, what="", **headers):
        return self.get("/%s/%s" % (self.token, what), **headers)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(60)


def block(body):
    """The arrays of the data: its object, and the samples of each row."""
    data = gzip.decompress(body)
    n = struct.unpack_from("<I", data)[0]
    meta = json.loads(data[4:4 + n])
    at = 4 + n + 7 & ~7
    counts = [meta["functions"]] * 3 + [meta["chains"], meta["chained"]] + [meta["segments"]] * 2 + [meta["rows"]] * 5
    for count in counts:  # each with how many bytes a number of it has
        width = struct.unpack_from("<I", data, at)[0]
        samples = struct.unpack_from("<%d%s" % (count, {1: "B", 2: "H", 4: "I"}[width]), data, at + 8)
        at += 8 + width * count + 7 & ~7
    return meta, samples


def raw(server, request):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as s:
        try:
            s.sendall(request)
            s.shutdown(socket.SHUT_WR)
            answer = b""
            while part := s.recv(65536):
                answer += part
        except OSError:  # the server may close before it has read all
            return b""
        return answer


def who(server):
    """Who is answered, and who is not."""
    check("the address has 128 bits that nobody can guess", re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", server.url), server.url)
    status, headers, body = server.own()
    check("the page", status == 200 and b"seam-served" in body)
    check("it may connect to its server and to nothing else", "connect-src 'self';" in headers["Content-Security-Policy"]
          and "default-src 'none'" in headers["Content-Security-Policy"] and b"http://" not in body and b"https://" not in body)
    check("its address goes nowhere, and nobody else may read it", headers["Referrer-Policy"] == "no-referrer"
          and headers["Cache-Control"] == "no-store" and headers["Cross-Origin-Resource-Policy"] == "same-origin"
          and not [h for h in headers if h.lower().startswith("access-control")])
    wrong = server.token[:-1] + ("0" if server.token[-1] != "0" else "1")
    no = ["/", "/data", "/%s/" % wrong, "/%s" % server.token, "/%s/" % server.token[:-1], "//%s/" % server.token, "/favicon.ico",
          "/%s/nothing" % server.token, "/%s/data/" % server.token, "/%s/../%s/" % (server.token, server.token), "/%s/../../etc/passwd" % server.token,
          "/%s/%%2e%%2e/%%2e%%2e/etc/passwd" % server.token, "/%s//etc/passwd" % server.token, "/../etc/passwd", "/%s/data%%00" % wrong,
          "/" + "a" * 20000, "/?token=%s" % server.token]
    seen = {path[:60]: server.get(path)[0] for path in no}
    check("other paths are 404", set(seen.values()) == {404}, {p: s for p, s in seen.items() if s != 404} or len(seen))
    hosts = ["evil.example", "evil.example:%d" % server.port, "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:80@evil.example",
             "localhost:", "127.0.0.1:123456", "[::1", "0.0.0.0", ""]
    seen = {host: server.own(Host=host)[0] for host in hosts}
    check("other hosts are refused", all(s in (400, 403) for s in seen.values()), seen)
    check("no host is refused", b" 200 " not in raw(server, b"GET /%s/ HTTP/1.0\r\n\r\n" % server.token.encode()).split(b"\r\n")[0])
    check("a forwarded port is none of them", {server.own(Host=h)[0] for h in ("localhost:8080", "LOCALHOST", "[::1]:%d" % server.port)} == {200})
    check("a page of elsewhere gets nothing", server.own("data", Origin="https://evil.example")[0] == 403 and server.own("data", Origin="null")[0] == 403)
    check("nothing but GET", server.own(method="POST")[0] == 405 and server.own(method="DELETE")[0] == 405 and server.own(method="HEAD")[2] == b"")
    if os.geteuid() == 0:
        asked = subprocess.run([sys.executable, "-c", "import http.client, sys\nfor host in ('127.0.0.1', 'localhost'):\n"
                                "    c = http.client.HTTPConnection(host, int(sys.argv[1])); c.request('GET', '/%s/' % sys.argv[2])\n"
                                "    print(c.getresponse().status, end=' ')", str(server.port), server.token], user=65534, group=65534, capture_output=True, text=True)
        check("another user who knows the address is refused", asked.stdout == "403 403 ", asked.stdout + asked.stderr)
    bad = ["data?from=1", "data?from=5&to=5", "data?from=9&to=5", "data?from=-1&to=5", "data?from=0&to=99999999999999999999", "data?from=x&to=y",
           "source", "source?name=x", "source?name=x&object=y&tids=1.x", "source?name=x&object=y&tids=" + "1." * 5000]
    seen = {what[:40]: server.own(what)[0] for what in bad}
    check("wrong arguments are refused", set(seen.values()) == {400}, seen)
    for request in (b"", b"\0" * 4000, b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nHost: " + b"a" * 500000, b"\xff" * 100000):
        raw(server, request)
    check("what is no request does no harm", server.own()[0] == 200)
    listens = [line.split()[1] for name in ("tcp", "tcp6") for line in open("/proc/net/" + name).readlines()[1:]
               if line.split()[1].endswith(":%04X" % server.port) and line.split()[3] == "0A"]
    check("it listens on the loopback alone", listens and set(listens) <= {"0100007F:%04X" % server.port, "0" * 24 + "01000000:%04X" % server.port}, listens)


def answers(server):
    """What is answered."""
    meta, samples = block(server.own("data")[2])
    whole = json.loads(subprocess.run([seam, "export", "-f", "json", recording], check=True, capture_output=True).stdout)
    check("all samples are in the data", sum(samples) == sum(row["samples"] for row in whole["rows"]), sum(samples))
    length = round(meta["sides"][0]["seconds"] * 1e9)
    parts = [block(server.own("data?from=%d&to=%d" % (length * i // 8 + (i > 0), length * (i + 1) // 8))[2]) for i in range(8)]
    check("parts of the time have all of them, each once", sum(sum(s) for _, s in parts) == sum(samples) and all(sum(s) for _, s in parts[:1]),
          [sum(s) for _, s in parts])
    check("numbers of functions and threads are those of the whole", all(m["functions"] == meta["functions"] and m["threads"] == meta["threads"]
          and m["texts"] == meta["texts"] for m, _ in parts))
    check("a part of no sample is empty", block(server.own("data?from=%d&to=%d" % (length + 5, length + 9))[2])[0]["rows"] <= 1)
    status, _, body = server.own("source?name=nothing&object=/nowhere")
    check("a function that is not there has no code", status == 200 and json.loads(body)["parts"] == [])
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        seen = list(pool.map(lambda i: server.own("data" if i % 4 == 0 else "")[0], range(200)))
    check("many at once are all answered", seen == [200] * 200)
    # More than there is room for: with nobody shown out, each 256 would have to be waited for.
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(700)]
    for s in idle[::3]:
        s.sendall(b"GET /")
    check("those who say nothing do not stand in the way", [server.own()[0] for _ in range(3)] == [200] * 3)
    for s in idle:
        s.close()


def reading(path):
    """The page is there before the recording: its state, what is refused meanwhile, what was wrong."""
    with open(path, "rb") as file:
        whole = file.read()
    server = Server("--no-browser", "-", stdin=subprocess.PIPE)
    check("while it is read the page is there", server.own()[0] == 200 and server.state()["phase"] == "reading", server.state())
    check("and has no data", server.own("data")[0] == 503 and server.own("source?name=x&object=y")[0] == 503)
    check("nobody else learns that", server.get("/state")[0] == 404 and server.own("state", Host="evil.example")[0] == 403)
    server.process.stdin.buffer.write(whole)
    server.process.stdin.close()
    server.becomes("ready")
    check("then it has", server.own("data")[0] == 200 and server.state()["said"] == [], server.state())
    check("Ctrl-C: 0", server.end() == 0)
    server = Server("--no-browser", "-", stdin=subprocess.PIPE)
    check("Ctrl-C while it is read: 0", server.end() == 0)
    server = Server("--no-browser", "-", stdin=subprocess.PIPE)
    server.process.stdin.buffer.write(b"this is no recording, but as long as the head of one would be")
    server.process.stdin.close()
    server.becomes("failed")
    said = server.state()["said"]
    check("what is wrong is told, as on the terminal", said and said[-1] in server.said("seam view: "), (said, server.said()))
    check("and there is no data", server.own("data")[0] == 503)
    server.own("seen")
    check("when it was seen: 1", server.process.wait(60) == 1)
    cut = os.path.join(scratch, "cut.data")
    with open(cut, "wb") as file:
        file.write(whole[:len(whole) * 9 // 10])
    server = Server("--no-browser", cut)
    said = server.state()["said"]
    check("what was damaged is told, and the rest is there", said and all(text in server.said() for text in said) and server.own("data")[0] == 200, said)
    server.end()
    return cut


def reads(browser, path, cut):
    """The same in a browser."""
    text = "return document.body.innerText"
    with open(path, "rb") as file:
        whole = file.read()
    server = Server("--no-browser", "-", stdin=subprocess.PIPE)
    browser.go(server.url)
    browser.until(lambda: "is being read" in browser.js(text))
    check("it is being read: the page says so, and shows no empty panes", "Threads" not in browser.js(text), browser.js(text))
    picture(browser, "view_reading")
    server.process.stdin.buffer.write(whole)
    server.process.stdin.close()
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
    check("then it shows the recording by itself", browser.js("return seamFlame.totals().samples") > 100 and "is being read" not in browser.js(text))
    server.end()
    server = Server("--no-browser", "-", stdin=subprocess.PIPE)
    browser.go(server.url)
    server.process.stdin.buffer.write(b"this is no recording, but as long as the head of one would be")
    server.process.stdin.close()
    check("seam view ends when the page shows why", server.process.wait(60) == 1)
    said = server.said("seam view: ").splitlines()[-1].split(": ", 1)[1]
    browser.until(lambda: said in browser.js(text))
    check("and it does, in the words of the terminal", "Threads" not in browser.js(text), browser.js(text))
    picture(browser, "view_failed")
    server = Server("--no-browser", cut)
    browser.go(server.url)
    browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
    check("what was damaged is said beside what is shown", all(line in browser.js(text) for line in server.state()["said"]), server.state()["said"])
    picture(browser, "view_damaged")
    server.end()


def ways():
    """How the user is led to the page, and how it ends."""
    tools = os.path.join(scratch, "tools")
    os.makedirs(tools, exist_ok=True)
    with open(os.path.join(tools, "xdg-open"), "w") as f:
        f.write('#!/bin/sh\nprintf "%s\\n" "$@" >"$OPENED.new"; stat -c %a "$1" >>"$OPENED.new"; cat "$1" >>"$OPENED.new"; mv "$OPENED.new" "$OPENED"\n')
    os.chmod(os.path.join(tools, "xdg-open"), 0o755)
    opened = os.path.join(scratch, "opened")
    env = {"DISPLAY": ":9", "PATH": tools + ":" + os.environ["PATH"], "OPENED": opened, "XDG_RUNTIME_DIR": scratch}
    server = Server(recording, **env)
    server.said("Ctrl-C")
    for _ in range(600):
        if os.path.exists(opened):
            break
        time.sleep(0.05)
    lines = open(opened).read().split("\n")
    check("xdg-open gets a file of the user's alone", lines[0].startswith(scratch) and lines[1] == "600" and len(lines[0].split()) == 1, lines[:2])
    check("the secret is in the file, and on no command line", server.url in lines[2] and server.token not in lines[0])
    check("Ctrl-C: 0", server.end() == 0)
    check("the file is gone", not os.path.exists(lines[0]))
    with socket.socket() as s:
        check("and nobody listens", s.connect_ex(("127.0.0.1", server.port)) != 0)
    os.remove(opened)
    server = Server("--no-browser", recording, **env)
    server.said("Ctrl-C")
    check("SIGTERM: 0", server.end(signal.SIGTERM) == 0)
    server = Server(recording, **dict(env, SSH_CONNECTION="192.0.2.7 50000 192.0.2.1 2222"))
    text = server.said("Ctrl-C")
    check("over ssh the command that forwards", re.search(r"ssh -L (\d+):127\.0\.0\.1:\1 -p 2222 \S*192\.0\.2\.1", text) and str(server.port) in text, text)
    other = subprocess.run([seam, "view", "--port", str(server.port), recording], capture_output=True, text=True, timeout=60)
    check("a port that is taken: said, 1", other.returncode == 1 and "cannot listen" in other.stderr, other.stderr.strip())
    again = Server("--no-browser", recording)
    check("each has a secret of its own", again.token != server.token)
    check("one is no key to the other", again.get("/%s/" % server.token)[0] == 404)
    again.end()
    server.end()
    check("no browser was opened", not os.path.exists(opened))
    os.remove(os.path.join(tools, "xdg-open"))
    for name in ("sh", "env"):
        if not os.path.exists(os.path.join(tools, name)):
            os.symlink(shutil.which(name), os.path.join(tools, name))
    server = Server(recording, **dict(env, PATH=tools))
    check("without xdg-open the address stands there", "open the address" in server.said("Ctrl-C"))
    check("and it serves", server.own()[0] == 200)
    server.end()


def picture(browser, name):
    if pictures:
        with open(os.path.join(pictures, name + ".png"), "wb") as out:
            out.write(base64.b64decode(browser.screenshot()))


def looked_at(path):
    """The page in a browser: what it asks for."""
    from browser import Browser
    server = Server("--no-browser", path)
    browser = Browser()
    lines = "return [...document.querySelectorAll('#source .lines tr[data-line]')].filter((r) => r.cells[1].textContent).map((r) => " \
            "[r.cells[3].textContent, Number(r.cells[1].textContent.replace(',', ''))])"
    try:
        browser.go(server.url)
        browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
        whole = browser.js("return seamFlame.totals().samples")
        told = {name: json.loads(subprocess.run([seam, "annotate", "-i", path, "--json", name], check=True, capture_output=True).stdout)["functions"][0]
                for name in ("first", "second")}
        browser.click_on("#views button[data-view=table]")
        browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === 'second').id = 'wanted'")
        browser.click_on("#wanted")
        browser.click_on("#views button[data-view=source]")
        browser.until(lambda: browser.js(lines))
        check("the source of a chosen function is fetched", sum(n for _, n in browser.js(lines)) == told["second"]["samples"]
              and any("SECOND" in text for text, _ in browser.js(lines)), browser.js(lines))
        picture(browser, "view_source")
        strip = browser.js("const r = document.getElementById('strip').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]")
        y, left, width = strip[1] + strip[3] / 2, strip[0] + 130, strip[2] - 130
        browser.drag(left + width * 0.02, y, left + width * 0.25, y)
        browser.until(lambda: "nothing of it" in browser.js("return document.getElementById('sourcecaption').textContent"))
        check("a span in which it did not run has nothing of it", True)
        span = browser.js("return seamFlame.totals().samples")
        check("the span can be had finer", browser.js("return !document.getElementById('finer').disabled"))
        browser.click_on("#finer")
        browser.until(lambda: "part=" in browser.js("return location.hash"))
        seconds = browser.js("return document.getElementById('span').textContent")
        check("finer: the same samples, in as many parts", browser.js("return seamFlame.totals().samples") == span < whole, "%d of %d: %s" % (span, whole, seconds))
        link = browser.js("return location.hash")
        browser.js("document.querySelector('#views button[data-view=table]').click()")
        browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === 'first').click()")
        browser.keys("5")
        browser.until(lambda: any("FIRST" in text for text, _ in browser.js(lines)))
        seen = sum(n for _, n in browser.js(lines))
        check("source is counted in the span", 0 < seen < told["first"]["samples"], "%d of %d" % (seen, told["first"]["samples"]))
        picture(browser, "view_finer")
        browser.keys("-")
        browser.until(lambda: browser.js("return seamFlame.totals().samples") == whole)
        check("-: the whole time again", "part=" not in browser.js("return location.hash"))
        browser.until(lambda: sum(n for _, n in browser.js(lines)) == told["first"]["samples"])
        browser.js("history.back()")
        browser.until(lambda: browser.js("return seamFlame.totals().samples") == span)
        check("Back: the part again", "part=" in browser.js("return location.hash"))
        browser.go("about:blank")
        browser.go(server.url + link)
        browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
        check("a link opens the part", browser.js("return seamFlame.totals().samples") == span, link)
        check("nothing was complained of", not [e for e in browser.errors() if "favicon" not in e], browser.errors())
        server.end()
        browser.js("document.querySelector('#views button[data-view=table]').click()")
        browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === 'main').click()")
        browser.keys("5")
        browser.until(lambda: "does not answer" in browser.js("return document.getElementById('sourcecaption').textContent"))
        check("when the server has ended the page says so", True)
    finally:
        browser.close()
        if server.process.poll() is None:
            server.end()


def threads_asked(paths):
    """Of two recordings: for the source of each side the page asks with that side's threads alone."""
    from browser import Browser
    server = Server("--no-browser", *paths)
    browser = Browser()
    try:
        browser.go(server.url)
        browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
        browser.click_on("#threads .process input")
        browser.click_on("#views button[data-view=table]")
        browser.js("[...document.querySelectorAll('#functions .name')].find((b) => b.textContent === 'second').click()")
        browser.click_on("#views button[data-view=source]")
        asked = "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => n.includes('/source?'))"
        browser.until(lambda: len(browser.js(asked)) == 2)
        seen = [urllib.parse.parse_qs(urllib.parse.urlparse(url).query, keep_blank_values=True) for url in browser.js(asked)]
        for query in seen:
            path = paths[0] if query.get("side") else paths[1]
            own = set(subprocess.run([seam, "script", "-i", path, "-F", "tid", "-G"], check=True, capture_output=True, text=True).stdout.split())
            check("source is asked of the side's own threads", set(re.split("[.-]", query["tids"][0])) - {""} <= own, query["tids"])
        check("some are asked of", any(query["tids"] != [""] for query in seen))
    finally:
        browser.close()
        server.end()


def many_threads(path):
    """More threads than a request has ids for: all that are chosen are asked for."""
    from browser import Browser
    server = Server("--no-browser", path)
    browser = Browser()
    source = {"name": "touch", "object": os.path.join(os.path.realpath(scratch), "many")}

    def told(**more):
        parts = json.loads(server.own("source?" + urllib.parse.urlencode(dict(source, **more)))[2])["parts"]
        return sum(hit[2] for part in parts for hit in part["hits"])
    try:
        meta, _ = block(server.own("data")[2])
        away = len(meta["threads"]) // 2
        one, everything = told(tids=meta["threads"][away][2]), told()
        link = {"view": "source", "function": "touch", "object": source["object"], "threads": "0-%d.%d-%d" % (away - 1, away + 1, len(meta["threads"]) - 1)}
        browser.go(server.url + "#" + urllib.parse.urlencode(link))
        browser.until(lambda: "samples in this code" in browser.js("return document.getElementById('source').textContent"))
        text = browser.js("return document.querySelector('#source .part .faint').textContent")
        check("the source of all threads but one", int(text.split()[0].replace(",", "")) == everything - one and one > 0 and everything > 3000,
              "%s of %d" % (text, everything))
        check("nothing is said to be left out", "but for" not in browser.js("return document.getElementById('sourcecaption').textContent"))
    finally:
        browser.close()
        server.end()


def elsewhere(old, new):
    """Two recordings of a program that lay in two directories: its functions are the same, in the served page and in a file."""
    from browser import Browser
    page = os.path.join(scratch, "elsewhere.html")
    subprocess.run([seam, "flame", "--source", "--base", old, "-o", page, new], check=True, capture_output=True)
    server = Server("--no-browser", old, new)
    browser = Browser()
    try:
        for kind, url in (("served", server.url), ("file", "file://" + page)):
            browser.go(url)
            browser.until(lambda: browser.js("return window.seamFlame && window.seamFlame.ready"))
            browser.click_on("#views button[data-view=table]")
            named = "[...document.querySelectorAll('#functions .name')].filter((b) => b.textContent === 'first')"
            rows = browser.js("return %s.map((b) => b.title)" % named)
            check("%s: a function that is in both is one" % kind, len(rows) == 1 and rows[0].endswith("\nprog"), rows)
            browser.js("%s[0].click()" % named)
            browser.click_on("#views button[data-view=source]")
            caption = "return document.getElementById('sourcecaption').textContent"
            browser.until(lambda: browser.js(caption) and "asked" not in browser.js(caption))
            check("%s: its source is compared" % kind, "compared with" in browser.js(caption), browser.js(caption))
            hot = browser.js("return [...document.querySelectorAll('#source .lines tr[data-line]')].map((r) => [...r.cells].map((c) => c.textContent))"
                             ".filter((r) => r[1])")
            check("%s: its lines have what both had" % kind, any("FIRST" in r[-1] for r in hot) and any("%" in r[2] for r in hot), hot)
    finally:
        browser.close()
        server.end()


def two(path):
    server = Server("--no-browser", recording, path)
    meta, _ = block(server.own("data")[2])
    check("two recordings: the second, compared with the first", [s["name"] for s in meta["sides"]] == [path, recording])
    server.end()
    server = Server("--no-browser", path, path)
    asked = "source?" + urllib.parse.urlencode({"name": "second", "object": os.path.join(os.path.realpath(scratch), "code")})
    length = round(block(server.own("data")[2])[0]["sides"][1]["seconds"] * 1e9)
    parts = [block(server.own("data?before_from=%d&before_to=%d" % (length * i // 4 + (i > 0), length * (i + 1) // 4))[2]) for i in range(4)]
    whole, samples = block(server.own("data")[2])
    check("the other's time has parts, too, of which each has all of the first", sum(sum(s) for _, s in parts) == sum(samples) // 2 * 5
          and all(m["sides"][1]["from_ns"] == (length * i // 4 + (i > 0)) for i, (m, _) in enumerate(parts)), [sum(s) for _, s in parts])
    check("numbers are those of the whole", all(m["threads"] == whole["threads"] and m["texts"] == whole["texts"] for m, _ in parts))
    check("a wrong part of it is refused", server.own("data?before_from=3&before_to=1")[0] == 400)
    one, other = [json.loads(server.own(asked + side)[2]) for side in ("", "&side=1")]
    check("each has its source", one["parts"] and one == other, (one, other))
    check("there is no third", server.own(asked + "&side=2")[0] in (400, 404), server.own(asked + "&side=2")[0])
    server.end()


server = Server("--no-browser", recording)
try:
    who(server)
    answers(server)
finally:
    check("it ends as it should", server.end() == 0)
cut = reading(recording)
ways()
if os.path.exists(os.path.join(scratch, "code.data")):
    two(os.path.join(scratch, "code.data"))
    if shutil.which("chromedriver"):
        from browser import Browser
        browser = Browser()
        try:
            reads(browser, recording, cut)
        finally:
            browser.close()
        looked_at(os.path.join(scratch, "code.data"))
        threads_asked((recording, os.path.join(scratch, "code.data")))
        many_threads(os.path.join(scratch, "many.data"))
        elsewhere(os.path.join(scratch, "old.data"), os.path.join(scratch, "new.data"))
    else:
        print("chromedriver is not installed (scripts/setup browser): the page is not looked at")
sys.exit(1 if failures else 0)
