# SPDX-License-Identifier: MIT
"""What tests of pushes share: fields of protobuf messages, and what a push by HTTP sends."""
import gzip
import http.server
import subprocess
import threading


def fields(message):
    """The fields of a protobuf message: (number, value)."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift += 7
            at += 1
            if message[at - 1] < 128:
                return value

    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        elif tag & 7 == 1:
            yield tag >> 3, message[at:at + 8]
            at += 8
        else:
            n = number()
            yield tag >> 3, message[at:at + n]
            at += n


def numbers(packed):
    """Packed varints."""
    out, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value = shift = 0
    return out


def profiles(request):
    """The profiles of an ExportProfilesServiceRequest."""
    for number, resource in fields(request):
        for n, scope in fields(resource) if number == 1 else ():
            for m, profile in fields(scope) if n == 2 else ():
                if m == 2:
                    yield profile


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers by server.answers: a status, 0: none; then 200."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.asked.append((self.path, dict(self.headers), body))
        status = self.server.answers.pop(0) if self.server.answers else 200
        if not status:
            return
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(self.server.says)))
        self.end_headers()
        self.wfile.write(self.server.says)

    def log_message(self, *_):
        pass


def by_http(seam, env, recording, url, answers=(), more=(), says=b"{}"):
    """Pushes to a stub of a server, whose place in the URL is %d: what was asked for, exit status, what seam said."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    server.asked, server.answers, server.says = [], list(answers), says
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = subprocess.run([seam, "push", "--symfs", "/nonexistent", *more, recording, url % server.server_address[1]], env=env,
                          capture_output=True, check=False)
    server.shutdown()
    return server.asked, done.returncode, done.stderr.decode("utf-8", "replace")
