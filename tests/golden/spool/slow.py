#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent's windows for a server that is slow: a stub stands for ClickHouse.

    slow.py PUT

It takes a window in longer than the next one takes to come; it answers a byte at a time, or not within the time that it has, or without
end. The writer never waits for it, its memory is bounded, it is said what happens, and all windows arrive when the server is well.
"""
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PUT = os.path.abspath(sys.argv[1])
MEMORY = 400 << 20
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text[:2000])


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers what ClickHouse does; inserts as server.how says."""
    protocol_version = "HTTP/1.1"

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = self.path + body[:300].decode("latin-1")
        try:
            if "version()" in text:
                self.answer(b"26.5.1.1\n")
            elif "EXISTS" in text:
                self.answer(b"1\n")
            elif "max%28version%29" in text or "max(version)" in text:
                self.answer(b"%d\n" % self.server.schema)
            elif "INSERT" in text:
                self.server.how(self)
                self.server.inserts += 1
            else:
                self.answer(b"")
        except OSError:
            pass  # who asked is gone

    def log_message(self, *_):
        pass


def well(stub):
    stub.answer(b"")


def late(stub):
    stub.server.wait.wait(0.3)
    stub.answer(b"")


def silent(stub):
    stub.server.wait.wait(30)
    stub.close_connection = True


def drips(stub):
    """An answer of which a byte comes now and then."""
    stub.send_response(200)
    stub.send_header("Content-Length", "1000000")
    stub.end_headers()
    while not stub.server.wait.wait(0.05):
        stub.wfile.write(b" ")
        stub.wfile.flush()
    stub.close_connection = True


def floods(stub):
    """An answer without end."""
    stub.send_response(200)
    stub.send_header("Transfer-Encoding", "chunked")
    stub.end_headers()
    while not stub.server.wait.is_set():
        stub.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
    stub.close_connection = True


class Server:
    def __init__(self, how):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/store/clickhouse/clickhouse.h"), encoding="utf-8") as file:
            schema = int(re.search(r"CLICKHOUSE_SCHEMA (\d+)", file.read()).group(1))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        self.server.schema, self.server.how, self.server.wait, self.server.inserts = schema, how, threading.Event(), 0
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, spool):
        return "clickhouse:http://127.0.0.1:%d/?timeout=1&spool=%s" % (self.server.server_address[1], spool)

    def heals(self):
        self.server.how = well
        self.server.wait.set()


def pieces(spool):
    return [f for f in os.listdir(spool) if f.endswith((".piece", ".sent"))] if os.path.isdir(spool) else []


class Writer:
    """Puts n windows; says() is what the store has said."""

    def __init__(self, url, n, rows, ms):
        self.child = subprocess.Popen([PUT, url, "0", str(n), str(rows), str(ms)], stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.child.stdout:
            self.lines.append(line.strip())

    def until(self, what, words):
        end = time.monotonic() + 120
        while time.monotonic() < end and not any(re.search(words, l) for l in self.lines):
            if not self.thread.is_alive():
                break
            time.sleep(0.05)
        if not any(re.search(words, l) for l in self.lines):
            fault("%s: it is not said: %s: %s" % (what, words, self.lines[-4:]))

    def end(self, what, safe):
        status = os.wait4(self.child.pid, 0)
        self.thread.join()
        if status[1] or sum(l.startswith("put ") for l in self.lines) != safe:
            fault("%s: exit %d, %s" % (what, status[1], self.lines[-4:]))
        if status[2].ru_maxrss * 1024 > MEMORY:
            fault("%s: %d MB of memory" % (what, status[2].ru_maxrss >> 10))
        return [l for l in self.lines if l.startswith("news: ")]


def drained(what, server, spool):
    """All that waits arrives when the server is well."""
    server.heals()
    for _ in range(40):
        if not pieces(spool):
            return
        subprocess.run([PUT, server.url(spool), "0", "0", "0", "0"], check=False, stdout=subprocess.DEVNULL)
    fault("%s: %d windows still wait" % (what, len(pieces(spool))))


def slower(work):
    """Each window is taken, but later than the next one comes."""
    server, spool = Server(late), os.path.join(work, "slower")
    writer = Writer(server.url(spool), 5000, 3, 50)
    writer.until("slower", r"the server takes windows more slowly than they come; \d+ wait in the spool \(\d+\.\d MB\)")
    server.heals()
    writer.until("slower", "no window waits any more")
    writer.child.kill()
    writer.child.wait()
    writer.thread.join()
    news = [l for l in writer.lines if l.startswith("news: ")]
    if len(news) > 8:
        fault("slower: it is said again and again: %s" % news)
    drained("slower", server, spool)
    put = sum(l.startswith("put ") for l in writer.lines)
    if server.server.inserts < put:
        fault("slower: %d inserts of %d windows" % (server.server.inserts, put))


def fails(work, how, words):
    """No answer that counts: windows wait, in bounded memory, and none is lost."""
    server, spool = Server(how), os.path.join(work, how.__name__)
    writer = Writer(server.url(spool), 120, 300, 20)
    writer.until(how.__name__, words + r".*; windows wait in the spool")
    news = writer.end(how.__name__, 120)
    if any("dropped" in n for n in news):
        fault("%s: a window is dropped: %s" % (how.__name__, news))
    if len(pieces(spool)) < 100:
        fault("%s: %d windows wait" % (how.__name__, len(pieces(spool))))
    drained(how.__name__, server, spool)


def main():
    work = tempfile.mkdtemp(prefix="seam-slow-")
    probe = subprocess.run([PUT, Server(well).url(os.path.join(work, "probe")), "0", "0", "0", "0"], check=False, capture_output=True, text=True)
    if "libcurl" in probe.stdout:
        print("skipped: " + probe.stdout)
        return 77
    try:
        slower(work)
        fails(work, silent, "[Tt]imed? ?out")
        fails(work, drips, "[Tt]imed? ?out")
        fails(work, floods, "answers more than")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("%d faults" % faults)
    return 1 if faults else 0


sys.exit(main())
