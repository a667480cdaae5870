# SPDX-License-Identifier: MIT
"""The same small service in three interpreted languages: it takes rows as JSON, keeps those whose name matches, sorts them by name and
answers them compressed; its client asks as often as it is told to. And the commands that run them, with and without what the runtime
must be told for perf to know its functions.

Runtimes leave /tmp/perf-PID.map for perf; each program removes its own.
"""
import collections
import glob
import os
import shutil
import subprocess

PYTHON_SERVICE = """
import http.client, http.server, json, os, re, sys, zlib
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm, wbufsize = "HTTP/1.1", True, -1
    def do_POST(self):
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = sorted((r for r in rows if re.search(r"name[0-9]*5", r["name"])), key=lambda r: r["name"])
        body = zlib.compress(json.dumps(found).encode())
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
pid = os.fork()
if pid == 0:
    rows = json.dumps([{"id": i, "name": "name%d" % (i * 7919 % 1000), "tags": ["x" * (i % 17)]} for i in range(60)])
    client = http.client.HTTPConnection("127.0.0.1", server.server_port)
    for _ in range(int(sys.argv[1])):
        client.request("POST", "/", rows)
        json.loads(zlib.decompress(client.getresponse().read()))
    os._exit(0)
import threading
threading.Thread(target=server.serve_forever, daemon=True).start()
os.waitpid(pid, 0)
for left in (pid, os.getpid()):
    if os.path.exists("/tmp/perf-%d.map" % left):
        os.remove("/tmp/perf-%d.map" % left)
os._exit(0)
"""
NODE_SERVICE = """
const http = require('http'), zlib = require('zlib'), fs = require('fs');
const server = http.createServer((request, answer) => {
  const parts = [];
  request.on('data', part => parts.push(part));
  request.on('end', () => {
    const found = JSON.parse(Buffer.concat(parts)).filter(row => /name[0-9]*5/.test(row.name)).sort((a, b) => a.name < b.name ? -1 : 1);
    answer.end(zlib.deflateSync(JSON.stringify(found)));
  });
});
const rows = JSON.stringify(Array.from({length: 60}, (_, i) => ({id: i, name: 'name' + i * 7919 % 1000, tags: ['x'.repeat(i % 17)]})));
const agent = new http.Agent({keepAlive: true, maxSockets: 1});
let left = Number(process.argv[2]);
function ask() {
  if (left-- === 0) {
    fs.rmSync(`/tmp/perf-${process.pid}.map`, {force: true});
    process.exit(0);
  }
  const request = http.request({agent, port: server.address().port, host: '127.0.0.1', method: 'POST'}, answer => {
    const parts = [];
    answer.on('data', part => parts.push(part));
    answer.on('end', () => { JSON.parse(zlib.inflateSync(Buffer.concat(parts))); ask(); });
  });
  request.end(rows);
}
server.listen(0, '127.0.0.1', ask);
"""
JAVA_SERVICE = """
import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.net.*;
import java.util.*;
import java.util.regex.*;
import java.util.zip.*;

public class Service {
    static final Pattern ROW = Pattern.compile("\\\\{\\"id\\":([0-9]+),\\"name\\":\\"([a-z0-9]+)\\",\\"tags\\":\\\\[\\"(x*)\\"\\\\]\\\\}");
    record Row(int id, String name, String tags) { }

    static byte[] answer(byte[] body) throws IOException {
        List<Row> found = new ArrayList<>();
        Matcher rows = ROW.matcher(new String(body));
        while (rows.find())
            if (rows.group(2).matches("name[0-9]*5"))
                found.add(new Row(Integer.parseInt(rows.group(1)), rows.group(2), rows.group(3)));
        found.sort(Comparator.comparing(Row::name));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (DeflaterOutputStream packed = new DeflaterOutputStream(out)) {
            for (Row row : found)
                packed.write(row.toString().getBytes());
        }
        return out.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = answer(exchange.getRequestBody().readAllBytes());
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < 60; i++)
            rows.append("{\\"id\\":" + i + ",\\"name\\":\\"name" + i * 7919 % 1000 + "\\",\\"tags\\":[\\"" + "x".repeat(i % 17) + "\\"]}");
        URL url = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        for (int n = Integer.parseInt(args[0]); n > 0; n--) {
            HttpURLConnection request = (HttpURLConnection) url.openConnection();
            request.setDoOutput(true);
            request.getOutputStream().write(rows.toString().getBytes());
            new InflaterInputStream(request.getInputStream()).readAllBytes();
        }
        server.stop(0);
        System.exit(0);
    }
}
"""

# `plain` and `told` are commands; told is None where the runtime has no way to tell, and `how` is what it is told.
Service = collections.namedtuple("Service", "title plain told how")


def version_of(command, words):
    return subprocess.run([*command, *words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=True).stdout.split("\n")[0]


def python(path, requests, peer):
    """CPython 3.12 and later know -X perf; trixie's is beside the peer perf, and is run through its own loader as that is."""
    command = ["python3"]
    if peer:
        root = os.path.dirname(os.path.dirname(os.path.dirname(peer[-1])))
        there = glob.glob(os.path.join(root, "usr", "bin", "python3.[0-9]*"))
        if there:
            command = ["env", f"PYTHONHOME={root}/usr", *peer[:-1], there[0]]
    version = version_of(command, ["--version"]).split()[1]
    told = [*command, "-X", "perf", path, requests] if tuple(map(int, version.split(".")[:2])) >= (3, 12) else None
    return Service(f"python {version}, a service", [*command, path, requests], told, "`-X perf`")


def node(path, requests):
    if not shutil.which("node"):
        raise OSError("node is not installed")
    return Service(f"node {version_of(['node'], ['--version'])}, a service", ["node", path, requests],
                   ["node", "--perf-basic-prof", "--no-logfile-per-isolate", "--logfile=/dev/null", path, requests], "`--perf-basic-prof`")


def java(directory, requests):
    """Compiled once. The runtime writes its map behind the program's end, so a shell removes it."""
    if not shutil.which("javac") or not shutil.which("java"):
        raise OSError("a JDK is not installed")
    source, built = os.path.join(directory, "Service.java"), os.path.join(directory, "Service.class")
    if not os.path.exists(built) or os.path.getmtime(built) < os.path.getmtime(source):
        subprocess.run(["javac", "-d", directory, source], check=True, stdin=subprocess.DEVNULL)
    plain = ["java", "-XX:-UsePerfData", "-Dsun.net.httpserver.nodelay=true", "-cp", directory, "Service", requests]
    told = ["java", "-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", *plain[1:]]
    shell = ["sh", "-c", '"$@" & wait $!; s=$?; rm -f /tmp/perf-$!.map; exit $s', "sh"]
    version = version_of(["java"], ["-version"]).split('"')[1]
    return Service(f"java {version}, a service", [*shell, *plain], [*shell, *told], "`PreserveFramePointer`, `DumpPerfMapAtExit`")


def write_all(directory):
    """Sources are written only where they are others, so that what is compiled of them stays."""
    for name, text in (("service.py", PYTHON_SERVICE), ("service.js", NODE_SERVICE), ("Service.java", JAVA_SERVICE)):
        path = os.path.join(directory, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                if f.read() == text:
                    continue
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def services(directory, requests, peer, left):
    """Those that can be had here; `left` takes why one cannot."""
    write_all(directory)
    makers = (lambda n: python(os.path.join(directory, "service.py"), n, peer), lambda n: node(os.path.join(directory, "service.js"), n),
              lambda n: java(directory, n))
    found = []
    for make, n in zip(makers, requests):
        try:
            found.append(make(str(n)))
        except (OSError, IndexError, ValueError, subprocess.CalledProcessError) as why:
            left.append(f"a service: {why}")
    return found
