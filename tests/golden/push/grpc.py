#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A recording pushed to OpenTelemetry's collector by gRPC: a stub over HTTP/2 stands for it (python3-h2).

    grpc.py SEAM DATA

The call is one that a server of gRPC takes; every sample arrives once, however many messages it needs; each status means what
OpenTelemetry's protocol says.
"""
import gzip
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

try:
    import h2.config
    import h2.connection
    import h2.events
except ImportError:
    print("skipped: no python3-h2")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wire  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "broken"))
import make as m  # noqa: E402

SEAM, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RECORDING = os.path.join(DATA, "hackbench_d", "perf.data")
ENV = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", SEAM_CONFIG="", TZ="UTC")
METHOD = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
THREADS = 100000
faults = 0


def check(what, wanted, got):
    global faults
    if wanted != got:
        faults += 1
        print("FAILED: %s: wanted %r, got %r" % (what, wanted, str(got)[:1500]))


class Server:
    """Answers calls by `answers`, in turn: fields of the trailer and the message, packed ones in a list; None: the connection ends; then
    status 0."""

    def __init__(self, answers, certificate=None):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate, certificate)
            self.tls.set_alpn_protocols(["h2"])
        self.port = self.socket.getsockname()[1]
        self.answers, self.calls = list(answers), []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            with self.tls.wrap_socket(one, server_side=True) if self.tls else one as open_one:
                self.connection(open_one)

    def connection(self, one):
        c = h2.connection.H2Connection(config=h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        c.initiate_connection()
        one.sendall(c.data_to_send())
        heads, bodies = {}, {}
        while True:
            data = one.recv(1 << 16)
            if not data:
                return
            for event in c.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    heads[event.stream_id], bodies[event.stream_id] = dict(event.headers), b""
                elif isinstance(event, h2.events.DataReceived):
                    bodies[event.stream_id] += event.data
                    c.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.calls.append((heads[event.stream_id], bodies[event.stream_id]))
                    answer = self.answers.pop(0) if self.answers else ({"grpc-status": "0"}, b"")
                    if answer is None:
                        return
                    self.answer(c, event.stream_id, *answer)
            one.sendall(c.data_to_send())

    @staticmethod
    def answer(c, stream, fields, message):
        head = [(":status", "200"), ("content-type", "application/grpc+proto")]
        if message is None:
            c.send_headers(stream, head + list(fields.items()), end_stream=True)
            return
        c.send_headers(stream, head)
        packed, message = (1, message[0]) if isinstance(message, list) else (0, message)
        c.send_data(stream, bytes([packed]) + len(message).to_bytes(4, "big") + message, end_stream=not fields)
        if fields:
            c.send_headers(stream, list(fields.items()), end_stream=True)


def push(answers=(), rest="", recording=RECORDING, certificate=None):
    server = Server(answers, certificate)
    url = "otlp:http%s://127.0.0.1:%d%s" % ("s" if certificate else "", server.port, rest or "?protocol=grpc")
    done = subprocess.run([SEAM, "push", "--symfs", "/nonexistent", recording, url], env=ENV, capture_output=True, check=False)
    server.socket.close()
    return server.calls, done.returncode, done.stderr.decode("utf-8", "replace")


def message(body):
    """The message of a call, whose frame is whole."""
    check("a frame", (1, len(body) - 5), (body[0], int.from_bytes(body[1:5], "big")))
    return gzip.decompress(body[5:])


def weight(messages):
    """The sum of all values, and the ids of profiles."""
    got, ids = 0, []
    for one in messages:
        for profile in wire.profiles(one):
            for field, value in wire.fields(profile):
                if field == 2:
                    got += sum(wire.numbers(dict(wire.fields(value))[4]))
                if field == 7:
                    ids.append(value)
    return got, ids


def services(path):
    """A recording of two programs and so many threads, each of its own name, that a message of all is too long."""
    with open(path, "wb") as to:
        to.write(m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11)))
        for pid in 70, 71:
            who = m.u32(pid) + m.u32(pid)
            name = b"/made/%d" % pid
            to.write(m.record(1, who + m.u64(0x400000) + m.u64(0x10000) + m.u64(0) + name.ljust(16, b"\0") + m.trailer(1), 2))
        for i in range(2 * THREADS):
            who, time = m.u32(70 + i % 2) + m.u32(1000 + i), 10**9 + i
            to.write(m.record(3, who + (b"t%d" % i).ljust(16, b"\0") + m.trailer(time)))
            to.write(m.record(9, m.u64(11) + m.u64(0x400100) + who + m.u64(time) + m.u64(0) + m.u64(1) + m.u64(2) + m.u64(2**64 - 512) +
                              m.u64(0x400100), 2))


def long_window(work):
    """By gRPC a message of all parts would be refused for its length: each part is sent once."""
    path = os.path.join(work, "perf.data")
    services(path)
    asked, code, err = wire.by_http(SEAM, ENV, path, "otlp:http://127.0.0.1:%d")
    check("by HTTP, exit", (0, 1), (code, len(asked)))
    calls, code, err = push(recording=path)
    check("in several messages", (2, 0), (len(calls), code))
    sent = [message(body) for _, body in calls]
    check("short ones", True, max(map(len, sent)) < 4 << 20 < len(asked[0][2]))
    check("each once", weight([asked[0][2]]), weight(sent))
    calls, code, _ = push([({"grpc-status": "0"}, b""), ({"grpc-status": "14"}, None)], recording=path)
    check("what arrived is not sent again", (3, 0, 1), (len(calls), code, len({message(body) for _, body in calls[1:]})))


def statuses():
    """Which statuses are tried again, and which are not."""
    ok = ({"grpc-status": "0"}, b"")
    for status in (1, 4, 10, 11, 14, 15):
        calls, code, _ = push([({"grpc-status": str(status)}, None), ok])
        check("status %d is tried again" % status, (2, 0), (len(calls), code))
    calls, code, _ = push([({"grpc-status": "8", "grpc-status-details-bin": "CAg"}, None), ok])
    check("exhausted, and says when", (2, 0), (len(calls), code))
    for status in (2, 3, 5, 6, 7, 8, 9, 12, 13, 16, 77):
        calls, code, err = push([({"grpc-status": str(status), "grpc-message": "no %e2%9b%94%0a<b>%zz%"}, None)])
        check("status %d is not tried again" % status, (1, 1), (len(calls), code))
        check("status %d is said" % status, True, "answers gRPC status %d: no \u26d4<b>%%zz%%;" % status in err)


def ends():
    """Calls without a status, and profiles that are refused."""
    for what, answer in (("no status", ({}, b"")), ("no connection", None), ("status x", ({"grpc-status": "x"}, b"")),
                         ("a long status", ({"grpc-status": "0000"}, b""))):
        calls, code, _ = push([answer])
        check(what + ": what may have arrived is not sent again", (1, 1), (len(calls), code))
    refused = b"\x0a\x07\x08\x03\x12\x03a\x1bb"
    for body in refused, [gzip.compress(refused)]:
        calls, code, err = push([({"grpc-status": "0"}, body)])
        check("refused profiles", (1, 1, True), (len(calls), code, "refused 3 profiles of a request: ab;" in err))
    asked, code, err = wire.by_http(SEAM, ENV, RECORDING, "otlp:http://127.0.0.1:%d", says=refused)
    check("refused by HTTP", (1, 1, True), (len(asked), code, "refused 3 profiles of a request: ab;" in err))
    for what, body in (("no gzip", b"x" * 40), ("short", b"x"), ("too long", gzip.compress(b"")[:-1] + b"\xff"), ("a bomb", gzip.compress(bytes(1 << 24)))):
        calls, code, err = push([({"grpc-status": "0"}, [body])])
        check("an answer packed, " + what, (1, 1, True), (len(calls), code, "does not answer as" in err))
    for body in (b"\x0a\x02\x10", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x00", b"{}", b"\xff" * 64):
        calls, code, err = push([({"grpc-status": "0"}, body)])
        check("an answer %r" % body, (1, 0), (len(calls), code))
    calls, code, err = push([({"grpc-status": "0", "x": "y" * 70000}, b"")])
    check("a trailer without end", 1, code)


def tls(work):
    certificate = os.path.join(work, "certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", certificate + ".key", "-out", certificate, "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with open(certificate, "a", encoding="utf-8") as to, open(certificate + ".key", encoding="utf-8") as key:
        to.write(key.read())
    calls, code, err = push(rest="?protocol=grpc&ca-file=" + certificate, certificate=certificate)
    check("with TLS", (1, 0, "https"), (len(calls), code, calls[0][0][":scheme"] if calls else err))


def urls():
    for rest in ("?protocol=http", "?protocol=", "/x?protocol=grpc"):
        calls, code, err = push(rest=rest)
        check(rest, (0, True), (len(calls), code != 0 and "protocol" in err))
    done = subprocess.run([SEAM, "push", RECORDING, "parca:http://127.0.0.1:1?protocol=grpc"], env=ENV, capture_output=True, check=False)
    check("protocol of Parca", True, b"only otlp:" in done.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        secret = os.path.join(work, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("k3y\n")
        calls, code, err = push(rest="?protocol=grpc&token-file=" + secret)
    if "has no libcurl" in err:
        print("skipped: this build has no libcurl")
        return 77
    check("exit", (0, ""), (code, "" if code == 0 else err))
    head, body = calls[0]
    for field, value in ((":method", "POST"), (":scheme", "http"), (":path", METHOD), ("te", "trailers"), ("grpc-encoding", "gzip"),
                         ("content-type", "application/grpc+proto"), ("authorization", "Bearer k3y")):
        check("field " + field, value, head.get(field))
    asked = wire.by_http(SEAM, ENV, RECORDING, "otlp:http://127.0.0.1:%d")[0][0][2]
    check("by HTTP and by gRPC", weight([asked]), weight([message(body)]))
    check("something was sent", True, weight([asked])[0] > 0)
    with tempfile.TemporaryDirectory() as work:
        long_window(work)
        tls(work)
    statuses()
    ends()
    urls()
    print("%d faults" % faults)
    return 1 if faults else 0


sys.exit(main())
