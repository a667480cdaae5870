#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ClickHouse's HTTP in front of its engine in a library: face.py LIBCHDB.SO PORT DIRECTORY.

Loopback only, one query at a time. The body of an insert goes through a file: libchdb ends binary data in a query's text at
its first empty line. User seam has the password "se'cret"; without a user nobody is asked. It ends by os._exit, as the library
may crash when Python takes it down. SEAM_FACE_LOG names a file: a line for each query, with its seconds, CPU seconds and first characters.
"""
import base64
import ctypes
import gzip
import http.server
import os
import re
import sys
import tempfile
import threading
import time
import urllib.parse

lib = ctypes.CDLL(sys.argv[1])
lib.chdb_connect.restype = lib.chdb_query_n.restype = ctypes.c_void_p
lib.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
for name, kind in (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)):
    function = getattr(lib, "chdb_result_" + name)
    function.restype, function.argtypes = kind, [ctypes.c_void_p]
lib.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
arguments = (ctypes.c_char_p * 2)(b"clickhouse", b"--path=" + sys.argv[3].encode())
connection = ctypes.cast(lib.chdb_connect(2, arguments), ctypes.POINTER(ctypes.c_void_p))[0]
lock = threading.Lock()
LOG = os.environ.get("SEAM_FACE_LOG")
INSERT = re.compile(rb"(?is)\s*(insert\s+into\s+\S+(?:\s*\([^)]*\))?)\s+(settings\s+.*?\s+)?(format\s+\w+)\s*$")


known = set()  # settings that were asked for: they stay


def settings(asked):
    for name, values in asked.items():
        if name not in ("query", "wait_end_of_query") and re.fullmatch(r"\w+", name) and (name, values[0]) not in known:
            known.add((name, values[0]))
            run(b"SET %s = '%s'" % (name.encode(), values[0].encode()))


def run(query):
    with lock:
        begin, used = time.monotonic(), time.process_time()
        result = lib.chdb_query_n(connection, query, len(query), b"TSV", 3)
        error, n = lib.chdb_result_error(result), lib.chdb_result_length(result)
        out = ctypes.string_at(lib.chdb_result_buffer(result), n) if n else b""
        error = error and bytes(error)
        lib.chdb_destroy_query_result(result)
        if LOG:
            with open(LOG, "a", encoding="utf-8") as log:
                print("%.4f %.4f %s" % (time.monotonic() - begin, time.process_time() - used, query[:4000].decode("utf-8", "replace").replace("\n", " ")), file=log)
        return error, out


class Face(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        who = self.headers.get("Authorization")
        if who and base64.b64decode(who.split()[1]) != b"seam:se'cret":
            self.answer(403, b"Code: 516. DB::Exception: seam: Authentication failed")
            return
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        settings(asked)
        query = asked.get("query", [""])[0].encode()
        insert = INSERT.match(query)
        if insert and body:
            with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
                file.write(body)
                file.flush()
                error, out = run(insert[1] + b" FROM INFILE '" + file.name.encode() + b"' " + (insert[2] or b"") + insert[3])
        else:
            error, out = run(query + b"\n" + body if query else body)
        self.answer(500 if error else 200, error or out)

    def log_message(self, *_):
        pass


try:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Face).serve_forever()
finally:
    os._exit(0)
