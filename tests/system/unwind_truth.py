#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Stacks of real programs, unwound by seam, by libdw (from the same registers and stack bytes) and by gdb (at a
stopped process). docs/unwind-truth.md explains the figures and each class of difference.

    unwind_truth.py TOOL              short recordings of what is installed: a test; 77 when perf is missing
    unwind_truth.py TOOL --table      longer ones, and Debian packages unpacked in the cache; prints the table
    unwind_truth.py TOOL --only NAME  one program, with the first differences

TOOL is the built system_unwind_truth.
"""
import contextlib
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "seam-tests", "unwind")

# Both must hold for every program: of the samples whose copy suffices, and of the stacks that both completed.
COMPLETE = 0.995
EQUAL = 0.999

WORK_PY = """
import json, re, random, sys, time, zlib
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Tree:
    def __init__(self, d): self.l = Tree(d - 1) if d else None; self.r = Tree(d - 1) if d else None
    def sum(self): return 1 + (self.l.sum() if self.l else 0) + (self.r.sum() if self.r else 0)
while time.process_time() < float(sys.argv[1]):
    fib(16); Tree(8).sum()
    d = json.loads(json.dumps({str(i): [i, i * 2.5, {"a": str(i)}] for i in range(1000)}))
    re.sub(r"(\\w+)\\s(\\w+)", lambda m: m.group(2) + m.group(1), "hello world foo bar " * 300)
    zlib.compress(repr(d).encode()); sorted((random.random() for _ in range(9000)), key=lambda x: -x)
"""
# Until the process PID has had so many seconds of CPU time more.
AWAIT = """
import sys, time
def had(): return sum(map(int, open(f"/proc/{sys.argv[1]}/stat").read().rsplit(")", 1)[1].split()[11:13]))
end = had() + 100 * float(sys.argv[2])
while had() < end: time.sleep(0.02)
"""
# sh AGAIN TICKS COMMAND...: the command again and again, until all of them had so many hundredths of
# a second of CPU time.
AGAIN = """ticks=$1 had=0
shift
while [ $had -lt "$ticks" ]; do
	"$@"
	read -r stat </proc/self/stat
	stat=${stat##*) }
	had=$(set -- $stat; echo $((${14} + ${15})))
done
"""
WORK_SQL = """with recursive c(x) as (select 1 union all select x + 1 from c limit {n})
select count(*), sum(length(printf('%d-%s', x, hex(x * 7919)))), max(x % 97) from c group by x % 31 order by 2;
"""


class Skip(Exception):
    pass


def need(program):
    path = program if program.startswith("/") else shutil.which(program, path="/usr/bin:/bin:/usr/sbin:/sbin")
    if not path or not os.path.exists(path):
        raise Skip(f"no {program}")
    return path


def package(name, program):
    """A Debian package's program, unpacked in the cache, not installed."""
    path = os.path.join(CACHE, "root", program)
    if not os.path.exists(path):
        os.makedirs(CACHE, exist_ok=True)
        done = subprocess.run(["apt-get", "download", name], cwd=CACHE, capture_output=True)
        debs = sorted(glob.glob(os.path.join(CACHE, f"{name}_*.deb")))
        if done.returncode or not debs:
            raise Skip(f"package {name} cannot be downloaded")
        subprocess.run(["dpkg-deb", "-x", debs[-1], os.path.join(CACHE, "root")], check=True)
    return path


def units(n):
    """How much a program of others does at once: n, or more by SEAM_TEST_WORK. How long that takes
    must not matter. Less would be another program: what it does before and after its work, in code
    of the C library that no table describes, is the same share of its time on every machine."""
    return int(n * max(1, float(os.environ.get("SEAM_TEST_WORK") or 1)))


class Bench:
    def __init__(self, tool, work, seconds, table):
        self.tool, self.work, self.seconds, self.table = tool, work, seconds, table

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def again(self, *command):
        """A command that works for b.seconds of CPU time, however long it takes to be done once."""
        return ["sh", self.write("again.sh", AGAIN), str(100 * self.seconds), *command]

    def compile(self, name, source, *flags, compiler="cc", libs=()):
        out = self.path(name)
        if not os.path.exists(out):
            done = subprocess.run([need(compiler), "-O2", *flags, "-o", out, os.path.join(HERE, "unwind_cases", source),
                                   *libs], capture_output=True, text=True)
            if done.returncode:
                raise Skip(f"{compiler} cannot build {source}: {done.stderr[-200:]}")
        return out

    def record(self, name, command, size=16384, pid=None, stdin=None):
        data = self.path(name + ".data")
        perf = [need("perf"), "record", "-B", "-N", "-e", "cpu-clock", "-F", "997", "-m", "16M",
                "--call-graph", f"dwarf,{size}", "-o", data]
        command = ["timeout", "-s", "INT", str(self.seconds * 20 + 300), *command]
        perf += ["-p", str(pid), "--", sys.executable, "-c", AWAIT, str(pid), str(self.seconds)] if pid else ["--", *command]
        with open(stdin or os.devnull, "rb") as feed:
            done = subprocess.run(perf, stdin=feed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  cwd=self.work)
        if not os.path.exists(data) or os.path.getsize(data) < 10000:
            raise Skip(f"perf record: {done.stderr.strip()[-200:]}")
        return data

    def compare(self, data, show=0):
        done = subprocess.run([self.tool, data, str(show)], capture_output=True, text=True, check=True)
        sys.stderr.write(done.stderr)
        return json.loads(done.stdout)


# ---- the programs: each returns the perf.data ----

def python(b):
    return b.record("python3", [need("/usr/bin/python3"), b.write("work.py", WORK_PY), str(b.seconds)])


def cc1(b):
    found = sorted(glob.glob("/usr/lib/gcc/x86_64-linux-gnu/*/cc1"))
    if not found:
        raise Skip("no cc1")
    functions = units(60)
    body = "".join(f"static int f{i}(int a, int *p) {{ for (int i = 0; i < a; i++) p[i % {i + 2}] += i * a ^ {i};"
                   f" switch (a % 5) {{ case 0: return p[1]; case 1: return a * {i}; default: return p[0] / (a | 1); }} }}\n"
                   for i in range(functions))
    calls = " + ".join(f"f{i}(a, p)" for i in range(functions))
    source = b.write("big.c", body + "int g(int a, int *p) { return " + calls + "; }\n")
    return b.record("cc1", b.again(found[-1], "-quiet", "-O2", source, "-o", b.path("big.s")))


def sqlite(b):
    sql = b.write("work.sql", WORK_SQL.format(n=units(200000)))
    return b.record("sqlite3", b.again(need("sqlite3"), ":memory:", ".read " + sql))


def some_bytes(b, megabytes):
    path = b.path("bytes")
    with open(path, "wb") as f:
        text = b"".join(open(p, "rb").read() for p in sorted(glob.glob("/usr/lib/python3/**/*.py", recursive=True))[:300]
                        ) or os.urandom(1 << 20)
        while f.tell() < megabytes << 20:
            f.write(text)
    return path


def xz(b):
    source = some_bytes(b, units(3))
    return b.record("xz", b.again(need("xz"), "-T2", "-6", "-k", "-f", "-c", source))


def openssl(b):
    what = ["rsa2048", "sha256", "ecdsap256"][:None if b.table else 1]
    return b.record("openssl", b.again(need("openssl"), "speed", "-seconds", "1", *what))


NGINX_CONF = """daemon off; master_process off; error_log stderr; pid {work}/pid;
events {{ worker_connections 64; }}
http {{ access_log off; gzip on; gzip_types *; {temporary}
server {{ listen 127.0.0.1:{port}; root {work}; }} }}"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def nginx_conf(b, port):
    """A server of one page that is compressed anew for every request: the path of its configuration."""
    os.makedirs(b.path("logs"), exist_ok=True)
    b.write("index.html", "<p>seam</p>" * 3000)
    temporary = "".join(f"{kind}_temp_path {b.path(kind)}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return b.write("nginx.conf", NGINX_CONF.format(work=b.work, port=port, temporary=temporary))


@contextlib.contextmanager
def nginx_clients(b, port):
    """Two that ask for the page all the time, from now on, whether it is there yet or not."""
    asked = True

    def client():
        while asked:
            try:
                c = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
                for _ in range(50):
                    c.request("GET", "/index.html", headers={"Accept-Encoding": "gzip"})
                    c.getresponse().read()
                c.close()
            except OSError:
                time.sleep(0.05)

    clients = [threading.Thread(target=client) for _ in range(2)]
    for c in clients:
        c.start()
    try:
        yield
    finally:
        asked = False
        for c in clients:
            c.join()


def nginx(b):
    if b.table:
        try:
            program = need("nginx")
        except Skip:
            program = package("nginx", "usr/sbin/nginx")
    else:
        program = need("nginx")
    port = free_port()
    server = subprocess.Popen([program, "-p", b.work, "-c", nginx_conf(b, port)], stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(b.path("pid")):
            if server.poll() is not None:
                raise Skip("nginx does not start")
            time.sleep(0.05)
        with nginx_clients(b, port):
            return b.record("nginx", [], pid=server.pid)
    finally:
        server.terminate()
        server.wait()


def ripgrep(b):
    program = package("ripgrep", "usr/bin/rg") if b.table else need("rg")
    source = some_bytes(b, units(40))
    form = r"(\w+)\s+=\s+(\w+)\.\w+|import [a-z]+ as"
    return b.record("ripgrep", b.again(program, "-j2", "-c", form, source, source))


def fd(b):
    program = package("fd-find", "usr/bin/fdfind") if b.table else need("fdfind")
    return b.record("fd", b.again(program, "-j2", "-uu", "q[a-z]*z", "/usr"))


def throw(b):
    return b.record("throw", [b.compile("throw", "throw.cc", "-pthread", compiler="c++"), str(b.seconds)])


def cpp_work(b):
    return b.record("cpp", [b.compile("work", "work.cc", compiler="c++"), str(b.seconds)])


def go(b):
    """As go build makes it: .debug_frame only, compressed."""
    out = b.path("work-go")
    env = dict(os.environ, GOCACHE=os.path.join(CACHE, "go"), GOFLAGS="-mod=mod", GO111MODULE="off")
    done = subprocess.run([need("go"), "build", "-o", out, os.path.join(HERE, "unwind_cases", "work.go")], env=env,
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"go cannot build: {done.stderr[-200:]}")
    return b.record("go", [out, str(b.seconds)])


def go_stripped(b):
    """As Debian ships it: stripped. Go's own table says how to unwind it, which seam reads and libdw does not: libdw guesses."""
    found = sorted(glob.glob("/usr/lib/go-*/pkg/tool/linux_amd64/compile"))
    if not found:
        raise Skip("no Go compiler")
    body = "".join(f"func F{i}(a int, s []int) int {{ for i := range s {{ s[i] += a*{i} ^ i; if a%5 == 0 {{ s = append(s, a) }} }};"
                   f" m := map[int]int{{a: {i}}}; return m[a] + len(s) }}\n" for i in range(units(400)))
    source = b.write("big.go", "package p\n" + body)
    return b.record("go-compile", b.again(found[-1], "-o", b.path("big.o"), "-p", "p", source))


def case(name, *flags, binary="cases", **more):
    def run(b):
        return b.record(f"{binary}-{name}", [b.compile(binary, "cases.c", "-pthread", *flags, **more), name,
                                             str(b.seconds)])
    return run


def stripped(b):
    plain = b.compile("cases", "cases.c", "-pthread", "-DHAVE_UCONTEXT")
    if not os.path.exists(b.path("stripped")):
        subprocess.run(["strip", "-o", b.path("stripped"), plain], check=True)
    return b.record("stripped", [b.path("stripped"), "plain", str(b.seconds)])


def musl(*flags):
    def run(b):
        return b.record("musl", [b.compile("musl" + "".join(flags), "cases.c", "-static", *flags, compiler="musl-gcc"),
                                 "plain", str(b.seconds)])
    return run


UC = "-DHAVE_UCONTEXT"
# Reasons that no other sample of a program may have, and how many must be complete nevertheless. While libgcc installs
# the context of a landing pad it overwrites its own return address: no rule can say so, and a program that does nothing
# but throw is there in 0.7 % of its samples. Where Go's runtime works on the thread's own stack (mcall, systemstack) no
# unwind information is the reason; where it reads the clock there, that the goroutine's stack is another one.
LEAST = {"throwing": 0.98}
# Of these libdw knows nothing, and follows frame pointers: where neither is complete it is no judge.
GUESSED = {"Go's compiler, stripped"}
# name: (recording, what may be incomplete: None, or the reason that is right for it, or both)
PROGRAMS = {
    "python3": (python, None),
    "gcc's cc1": (cc1, None),
    "sqlite3": (sqlite, None),
    "nginx": (nginx, None),
    "xz": (xz, None),
    "openssl speed": (openssl, "below_sp"),
    "C++ exceptions, threads": (throw, "throwing"),
    "C++ at work that throws": (cpp_work, None),
    "Go": (go, ("no_unwind_info", "other_stack")),
    "Go's compiler, stripped": (go_stripped, ("no_unwind_info", "other_stack")),
    "ripgrep (Rust)": (ripgrep, None),
    "fd-find (Rust)": (fd, None),
    "signal handler": (case("signal", UC), None),
    "raise": (case("raise", UC), None),
    "signal, alternate stack": (case("altstack", UC), "other_stack"),
    "vdso": (case("vdso", UC), None),
    "PLT": (case("plt", UC, "-fno-builtin", "-Wl,-z,lazy", binary="lazy"), None),
    "swapcontext": (case("coroutine", UC), None),
    "longjmp": (case("longjmp", UC), None),
    "threads": (case("threads", UC), None),
    "stripped": (stripped, None),
    "static, no .eh_frame for the program": (case("plain", "-static", "-fno-asynchronous-unwind-tables",
                                                  "-fno-unwind-tables", binary="notables"), "no_unwind_info"),
    "the same, with -g (.debug_frame)": (case("plain", "-static", "-g", "-fno-asynchronous-unwind-tables",
                                              "-fno-unwind-tables", binary="debugframe"), None),
    "musl, static": (musl(), "no_unwind_info"),
    "musl, static, -g": (musl("-g"), "no_unwind_info"),
}


# ---- gdb at a stopped process ----

GDB = """
import gdb
gdb.execute("set backtrace past-main on"); gdb.execute("set backtrace past-entry on")
for t in gdb.selected_inferior().threads():
    t.switch(); f = gdb.newest_frame(); pcs = []
    while f is not None and len(pcs) < 900:
        if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): pcs.append("%x" % f.pc())
        try: f = f.older()
        except gdb.error: break
    print("STACK", t.ptid[1], " ".join(pcs))
"""


def gdb_stacks(pid, script):
    done = subprocess.run([need("gdb"), "-nx", "-batch", "-p", str(pid), "-x", script], capture_output=True, text=True,
                          env=dict(os.environ, DEBUGINFOD_URLS=""))
    return {int(l.split()[1]): l.split()[2:] for l in done.stdout.splitlines() if l.startswith("STACK")}


def process_states(pid):
    """The state of each of its threads, a letter each."""
    states = ""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as f:
            states += f.read().rsplit(")", 1)[1].split()[0]
    return states


def process_had(pid):
    """Its CPU time in hundredths of a second."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))


def gdb_compare(b, name, command, stops, stdin=None):
    """(threads that both completed, equal ones, the first difference)"""
    script = b.write("stacks.py", GDB)
    both = equal = 0
    difference = ""
    feed = open(stdin, "rb") if stdin else subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=feed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=b.work)
    try:
        for stop in range(stops):
            enough = process_had(process.pid) + 4 + 3 * (stop % 5)
            while process.poll() is None and process_had(process.pid) < enough:
                time.sleep(0.007)
            if process.poll() is not None:
                break
            os.kill(process.pid, signal.SIGSTOP)
            while set(process_states(process.pid)) - set("TZX"):
                time.sleep(0.007)
            ours = subprocess.run([b.tool, "--pid", str(process.pid)], capture_output=True, text=True).stdout
            theirs = gdb_stacks(process.pid, script)
            for line in ours.splitlines():
                tid, end, *frames = line.split()
                peer = theirs.get(int(tid))
                if end != "complete" or not peer:
                    continue
                if peer[-1] == "0":  # clone's caller, which is nobody
                    peer.pop()
                both += 1
                if peer == frames:
                    equal += 1
                elif not difference:
                    difference = f"{name}: seam {' '.join(frames)}\n    gdb {' '.join(peer)}"
            os.kill(process.pid, signal.SIGCONT)
    finally:
        process.kill()
        process.wait()
    return both, equal, difference


def gdb_all(b):
    need("gdb")
    stops = 25 if b.table else 4
    b.seconds += 60
    cases = b.compile("cases", "cases.c", "-pthread", UC)
    programs = {"python3": [need("/usr/bin/python3"), b.write("work.py", WORK_PY), "60"]}
    for name in ("threads", "raise", "altstack", "coroutine", "plt", "longjmp", "vdso"):
        programs[name] = [cases, name, "60"]
    programs["xz"] = [need("xz"), "-T2", "-9", "-k", "-f", "-c", some_bytes(b, units(60 if b.table else 20))]
    sums = [0, 0]
    for name, command in programs.items():
        both, equal, difference = gdb_compare(b, name, command, stops)
        print(f"gdb   {name:38} {both:6} stacks, {equal:6} equal")
        if difference:
            print(difference)
        sums = [sums[0] + both, sums[1] + equal]
    b.seconds -= 60
    return sums


# ---- guesses ----

def guesses(b, seam):
    """Frames behind code made at run time are guessed by frame pointer: right, and marked. What is wrong."""
    program = b.compile("jit", "cases.c", "-pthread", UC, "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    data = b.record("jit", [program, "bent", str(b.seconds)])
    script = subprocess.run([seam, "script", "-F", "comm,ip,sym,state", data], capture_output=True, text=True).stdout
    report = json.loads(subprocess.run([seam, "report", "--json", data], capture_output=True, text=True).stdout)["unwound"]
    wrong, marked = [], 0
    for sample in script.split("\n\n"):
        names = [line.split(None, 1)[1].split("+")[0] for line in sample.splitlines()[1:] if len(line.split()) > 1]
        if "leaf_plain" not in names:
            continue
        behind = names[names.index("leaf_plain") + 1:]
        marked += 1
        if not all(n.startswith("?") for n in behind[1:]) or "?leaf_made" not in behind or "?main" not in behind:
            wrong.append(f"guesses: {names}")
    print(f"guess code made at run time: {report['samples']} samples, {report['guessed_samples']} with guesses,"
          f" {marked} looked at, {len(wrong)} wrong")
    if marked < 20 or report["guessed_samples"] < marked:
        wrong.append("hardly any guess was made")
    return wrong[:1]


# ---- judging ----

def judge(r, may, guessed):
    """What is wrong with a program's figures."""
    wrong = []
    # Assembly that nothing describes, as in the C library's start and libgmp: libdw ends there, too.
    undescribed = min(r["neither_prefix"], r["no_unwind_info"], r["samples"] // 100)
    right = (may,) if isinstance(may, str) else may
    suffices = r["samples"] - r["truncated"] - (sum(r.get(reason, 0) for reason in right) if right else undescribed)
    if r["samples"] < 20:
        wrong.append("hardly any sample")
    unexplained = r["differ"] - r["peer_short"] - r["peer_guess"]
    if suffices and r["complete"] / suffices < LEAST.get(may, COMPLETE):
        wrong.append("too few are complete")
    if unexplained > r["both"] * (1 - EQUAL):
        wrong.append("frames differ")
    if not guessed and r["neither"] - r["neither_prefix"] > r["samples"] * (1 - COMPLETE):
        wrong.append("frames of unfinished stacks differ")
    return wrong


def row(name, r):
    suffices = max(1, r["samples"] - r["truncated"])
    print(f"libdw {name:38} {r['samples']:6} samples {r['frames'] / max(1, r['samples']):5.1f} frames"
          f" {r['truncated']:5} cut {100 * r['complete'] / suffices:7.2f} % complete, libdw"
          f" {100 * (r['both'] + r['peer_only']) / suffices:6.2f} %; both {r['both']:6}, equal"
          f" {100 * r['equal'] / max(1, r['both']):7.3f} %; differ: libdw stops {r['peer_short']}, guesses"
          f" {r['peer_guess']}, else {r['differ'] - r['peer_short'] - r['peer_guess']}", flush=True)


def main():
    tool, table = os.path.abspath(sys.argv[1]), "--table" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    failed, ran = [], 0
    if not shutil.which("perf"):
        print("no perf")
        return 77
    with tempfile.TemporaryDirectory(prefix="seam-unwind-") as work:
        b = Bench(tool, work, 5 if table else 1, table)
        for name, (record, may) in PROGRAMS.items():
            if only and only not in name:
                continue
            try:
                data = record(b)
                r = b.compare(data, 5 if only else 0)
            except Skip as reason:
                print(f"libdw {name:38} skipped: {reason}")
                continue
            ran += 1
            row(name, r)
            wrong = judge(r, may, name in GUESSED)
            if wrong:
                b.compare(data, 3)
                failed.append(f"{name}: {', '.join(wrong)}: {r}")
            os.unlink(data)
        if not only or only == "guess":
            try:
                failed += guesses(b, os.path.join(os.path.dirname(tool), "..", "..", "seam"))
            except Skip as reason:
                print(f"guess skipped: {reason}")
        if not only or only == "gdb":
            try:
                both, equal = gdb_all(b)
                if both - equal > max(1, both * (1 - EQUAL)) or not both:
                    failed.append(f"gdb: {both - equal} of {both} stacks differ")
            except Skip as reason:
                print(f"gdb   skipped: {reason}")
    for f in failed:
        print("FAIL", f)
    return 1 if failed else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
