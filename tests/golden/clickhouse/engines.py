# SPDX-License-Identifier: MIT
"""ClickHouse's engines for tests, each in a process of its own, and a server in front of one that loses answers."""
import http.client
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = """<?xml version="1.0"?>
<yandex>
 <logger><level>warning</level><log>{at}/log</log><errorlog>{at}/err</errorlog></logger>
 <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
 <path>{at}/data/</path><tmp_path>{at}/tmp/</tmp_path><users_config>users.xml</users_config>
 <default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>50000000</mark_cache_size>
 <remote_servers><fleet>{shards}</fleet></remote_servers>{more}
</yandex>"""
# Copies: where the servers agree, what this one is called, and where the others get its rows.
COPIES = """
 <zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node></zookeeper><distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
 <macros><shard>{shard}</shard><replica>{replica}</replica></macros><interserver_http_port>{port}</interserver_http_port>
 <interserver_http_host>127.0.0.1</interserver_http_host>"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>"
USER = "<{0}><password>{1}</password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></{0}>"
USERS = ("<?xml version=\"1.0\"?>\n<yandex><profiles><default><insert_distributed_sync>1</insert_distributed_sync>"
         "<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type></default></profiles>"
         "<quotas><default/></quotas><users>" + USER.format("default", "") + USER.format("seam", "se'cret") + "</users></yandex>")


def ports(n):
    """Free ones: all are held until all are known."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    numbers = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return numbers


class Engine:
    """One of ClickHouse's, in a process of its own."""

    def __init__(self, clickhouse, kind, at, http_port=0, tcp=0, shards=(), more=""):
        self.clickhouse, self.kind, self.at = clickhouse, kind, at
        self.port = http_port or ports(1)[0]
        self.tcp, self.shards, self.more = tcp or ports(1)[0], shards, more
        self.process = None
        os.makedirs(at, exist_ok=True)

    def start(self):
        command = have(self.clickhouse, self.kind)
        if self.kind == "library":
            args = [sys.executable, os.path.join(HERE, "face.py"), command, str(self.port), os.path.join(self.at, "data")]
        else:
            for name, text in (("users.xml", USERS), ("config.xml", CONFIG.format(
                    at=self.at, http=self.port, tcp=self.tcp, shards=self.shards if isinstance(self.shards, str) else "".join(SHARD % s for s in self.shards), more=self.more))):
                with open(os.path.join(self.at, name), "w", encoding="utf-8") as file:
                    file.write(text)
            args = [command, "--config-file=" + os.path.join(self.at, "config.xml")]
        with open(os.path.join(self.at, "out"), "ab") as out:
            self.process = subprocess.Popen(args, cwd=self.at, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        for _ in range(600):
            try:
                return self.ask("SELECT version()").strip()
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        with open(os.path.join(self.at, "out"), "rb") as out:
            raise RuntimeError("%s does not begin: %s" % (self.kind, out.read()[-500:]))

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, sql):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/?allow_experimental_low_cardinality_type=1" % self.port, sql.encode(), timeout=60) as answer:
                return answer.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as e:
            raise RuntimeError("%s: %s" % (sql[:300], e.read().decode("utf-8", "replace")[:600])) from e

    def url(self, rest=""):
        return "clickhouse:http://127.0.0.1:%d%s" % (self.port, rest)


def have(clickhouse, kind):
    done = subprocess.run([clickhouse, "--have", kind], capture_output=True, check=False)
    return done.stdout.decode().strip() if done.returncode == 0 else None


class Between(http.server.BaseHTTPRequestHandler):
    """A server that hands requests on, and loses some of the answers. The server object has port, and lose()."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        to = http.client.HTTPConnection("127.0.0.1", self.server.to)
        try:
            to.request("POST", self.path, body, {k: v for k, v in self.headers.items() if k != "Host"})
            answer = to.getresponse()
            got = answer.read()
        except (OSError, http.client.HTTPException):
            return  # it was killed
        if self.server.lose(self.path):
            return  # the connection ends without an answer
        try:
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(got)))
            self.end_headers()
            self.wfile.write(got)
        except OSError:
            pass  # who asked was killed

    def log_message(self, *_):
        pass


def between(port, lose):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
    server.to, server.lose = port, lose
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
