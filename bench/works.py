# SPDX-License-Identifier: MIT
"""The work that bench/table records, and the recordings of it that it reads.

Sources come from Debian (apt-get source, with an apt of its own: nothing of the machine's is touched); where they cannot be
had, bench/live_work.cc is compiled instead, and it is said. Recordings are kept with what they were made by, and are
made anew when that is another.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import services

HERE = os.path.dirname(os.path.abspath(__file__))
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = os.environ.get("SEAM_MIRROR", "http://deb.debian.org/debian")
CXX, CC, PYTHON = "/usr/bin/g++", "/usr/bin/gcc", "/usr/bin/python3"
# Of re2, from the longest to compile down.
RE2 = ["parse", "dfa", "re2", "regexp", "compile", "nfa", "onepass", "prog", "set", "simplify", "prefilter", "prefilter_tree",
       "filtered_re2", "tostring", "bitstate", "mimics_pcre", "stringpiece"]
TESTING = ["backtrack", "dump", "exhaustive_tester", "null_walker", "regexp_generator", "string_generator", "tester", "parse_test", "re2_test",
           "regexp_test", "search_test"]
# How much of each work, by kind of run: files of the C++ package, and of its tests; the frequency of all but the storm; its rounds in
# each shell; how often g++ runs, with copies of how many bytes; seconds of the inlined program; requests to the service that is read; rows of
# sqlite3; C files; deferred samples where they are generated; seconds of -a; processes that sleep at a start;
# bytes of the large recording; requests to the services in python, node and java.
Scale = collections.namedtuple("Scale", "objects tests hertz storm copies copy_size seconds requests rows c_files generated all processes large services")
SCALES = {
    "full": Scale(len(RE2), len(TESTING), 4000, 1000, 4, 16384, "2.1", 12000, 300000, 40, 1000000, "4", 10000, 4000000000,
                  (4000, 4000, 2500)),
    "quick": Scale(6, 0, 4000, 100, 1, 16384, "0.5", 3000, 80000, 10, 200000, "3", 10000, 400000000,
                   (1500, 1500, 1000)),
    "smoke": Scale(2, 0, 997, 4, 1, 1024, "0.1", 20, 2000, 1, 2000, "0.5", 20, 1000000, (20, 20, 20)),
}

WORK_PY = """
import collections, json, re, sys
text = open(sys.argv[1], encoding="utf-8", errors="replace").read()[:20000] * 4
for _ in range(int(sys.argv[2])):
    words = collections.Counter(re.findall(r"[A-Za-z_]+", text))
    copy = json.loads(json.dumps(words))
    assert sorted(copy, key=copy.get) == sorted(words, key=words.get)
"""
STORM_SH = """
i=0
while [ $i -lt $1 ]; do
	i=$((i + 1))
	/bin/true
	/bin/ls -l /usr/bin | /usr/bin/head -n 40 | /bin/sed 's/root/user/' | /usr/bin/sort >/dev/null
	/usr/bin/awk 'BEGIN { for (i = 0; i < 2000; i++) n += i; print n }' >/dev/null
	/usr/bin/expr $i + 1 >/dev/null
	/bin/cat /proc/self/maps | /bin/grep -c lib >/dev/null
done
"""
SQL = """
create table t (id integer primary key, name text, n integer);
with recursive c(i) as (select 1 union all select i + 1 from c where i < %(rows)d)
insert into t select i, printf('name%%06d', i * 7919 %% 99991), i %% 977 from c;
create index by_name on t (name);
select count(*), sum(a.n) from t a join t b on a.name = b.name where b.n < 200;
select n, count(*), group_concat(substr(name, 5, 2)) from t group by n order by count(*) desc limit 5;
"""
ALL_SH = """
cd "$1"
timeout $2 sh -c 'while :; do sh storm.sh 20; done' &
timeout $2 sh -c 'while :; do sqlite3 :memory: <rows.sql >/dev/null; done' &
timeout $2 sh -c 'while :; do /usr/bin/python3 service.py 200; done' &
timeout $2 sh -c 'while :; do make -s clean; make -s -j2; done' >/dev/null &
wait
"""
OWN_MAKEFILE = """
OBJECTS = %(objects)s
.PHONY: all clean
all: $(OBJECTS)
$(OBJECTS): %(source)s
	%(compiler)s -O2 -g -c -o $@ $<
clean:
	rm -f *.o
"""


class LeftOut(Exception):
    """What cannot be had or done here, and why."""


def reason(said):
    """The first line of what a command said, for a cell of the table; what seam says it does is no reason."""
    lines = [line for line in said.strip().splitlines() if not re.match(r"seam record: (event|user stacks|perf older)|\[ ", line)]
    return (lines or ["without a word"])[0].replace("|", "/")[:200]


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def apt(base, *command):
    """apt-get with lists and sources of its own, below base."""
    for part in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(base, part), exist_ok=True)
    sources = write(os.path.join(base, "sources.list"), f"deb-src [signed-by={KEYRING}] {MIRROR} bookworm main\n")
    options = [f"Dir::State={base}/state", "Dir::State::status=/dev/null", f"Dir::Cache={base}/cache", f"Dir::Etc::sourcelist={sources}",
               "Dir::Etc::sourceparts=/dev/null", f"APT::Sandbox::User={os.environ.get('USER', 'root')}", "Acquire::http::Timeout=60"]
    done = subprocess.run(["apt-get", "-qq", *[w for o in options for w in ("-o", o)], *command], cwd=os.path.dirname(base), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        raise LeftOut(f"apt-get {' '.join(command)}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")


def package(directory, name):
    """The tree of a package's source, fetched once."""
    def there():
        return [d for d in sorted(glob.glob(os.path.join(directory, name + "-*"))) if os.path.isdir(d)]
    if not there():
        missing = [tool for tool in ("apt-get", "dpkg-source") if not shutil.which(tool)]
        if missing or not os.path.exists(KEYRING):
            raise LeftOut(f"source of {name}: {', '.join(missing) or KEYRING} is missing")
        os.makedirs(directory, exist_ok=True)
        print(f"table: apt-get source {name}", file=sys.stderr)
        if not os.path.exists(os.path.join(directory, "apt", "fresh")):
            apt(os.path.join(directory, "apt"), "update")
            write(os.path.join(directory, "apt", "fresh"), "")
        apt(os.path.join(directory, "apt"), "source", name)
    return there()[0]


Sources = collections.namedtuple("Sources", "where make clean compile c_files name")


def own_sources(run, smoke):
    """Of this directory, where Debian's cannot be had; for --smoke what compiles in no time."""
    source = os.path.join(HERE, "bound.c" if smoke else "live_work.cc")
    where = run.path("src", "own-smoke" if smoke else "own")
    os.makedirs(where, exist_ok=True)
    names = " ".join(f"o{i}.o" for i in range(2 if smoke else 12))
    write(os.path.join(where, "Makefile"), OWN_MAKEFILE % {"objects": names, "source": source, "compiler": CC if smoke else CXX})
    return Sources(where, ["make", "-j2"], ["make", "-s", "clean"], [CC if smoke else CXX, "-O2", "-g", "-c", "-o", "/dev/null", source],
                   [os.path.join(HERE, name) for name in ("bound.c", "tree.c", "crowd.c", "offcpu_work.c")], "bench/" + os.path.basename(source))


def re2_make(objects):
    return ["make", "-j2", f"CXX={CXX}", "CXXFLAGS=-std=c++17 -g -O2 -fno-omit-frame-pointer", *objects]


def debian_sources(run, scale):
    """re2, a C++ library that needs nothing else, and lua's C files."""
    where, lua = package(run.path("src"), "re2"), package(run.path("src"), "lua5.4")
    write(os.path.join(lua, "src", "lua5.4-deb-multiarch.h"), "#define DEB_HOST_MULTIARCH \"here\"\n")  # debian/rules would make it
    objects = [f"obj/re2/{name}.o" for name in RE2[:scale.objects]] + [f"obj/re2/testing/{name}.o" for name in TESTING[:scale.tests]]
    return Sources(where, re2_make(objects), ["rm", "-rf", "obj"], [CXX, "-std=c++17", "-g", "-O2", "-I.", "-c", "-o", "/dev/null", "re2/compile.cc"],
                   sorted(glob.glob(os.path.join(lua, "src", "l*.c")))[:scale.c_files], os.path.basename(where))


class Works:
    """The works, made ready in the runner's directory. `left` collects what is left out, and why."""

    def __init__(self, run, kind, seam, build):
        self.run, self.kind, self.seam, self.build, self.scale, self.left = run, kind, seam, build, SCALES[kind], []
        self.recordings = {}
        os.makedirs(run.path("src"), exist_ok=True)
        os.makedirs(run.path(kind), exist_ok=True)
        for name, text in (("work.py", WORK_PY), ("storm.sh", STORM_SH), ("all.sh", ALL_SH),
                           ("rows.sql", SQL % {"rows": self.scale.rows})):
            write(run.path("src", name), text)
        services.write_all(run.path("src"))
        self.sources = own_sources(run, kind == "smoke")
        if kind != "smoke":
            try:
                self.sources = debian_sources(run, self.scale)
            except LeftOut as why:
                self.left.append(f"Debian's sources: {why}; {self.sources.name} is compiled instead")
        # What runs in a loop beside the others under -a: a few files of the package.
        write(run.path("src", "Makefile"), OWN_MAKEFILE % {
            "objects": "a.o b.o c.o d.o", "source": os.path.join(HERE, "bound.c" if kind == "smoke" else "live_work.cc"),
            "compiler": CC if kind == "smoke" else CXX})

    def python(self, rounds):
        return [PYTHON, self.run.path("src", "work.py"), os.path.join(HERE, "works.py"), str(rounds)]

    def inlined(self):
        """A program with debug information and much that is inlined: what it is, and its command."""
        re2 = self.sources.where if os.path.basename(self.sources.where).startswith("re2-") else None
        out = self.run.path("bin", "inlined-re2" if re2 else "inlined")
        if not os.path.exists(out):
            print("table: building a program with debug information", file=sys.stderr)
            flags, files = ["-g", "-O2", "-std=c++17", "-fno-omit-frame-pointer", "-pthread"], [os.path.join(HERE, "live_work.cc")]
            if re2:
                objects = [f"obj/re2/{name}.o" for name in RE2] + ["obj/util/rune.o", "obj/util/strutil.o"]
                groups = self.run.path("src", "perl_groups.cc")
                with open(groups, "w", encoding="utf-8") as f:
                    subprocess.run(["perl", "re2/make_perl_groups.pl"], cwd=re2, stdout=f, check=True)
                subprocess.run(re2_make(objects), cwd=re2, check=True, stdout=subprocess.DEVNULL, env=self.run.environment)
                files = [os.path.join(HERE, "inlined_work.cc"), os.path.join(HERE, "inlined_tables.cc"), groups, "-I", re2, *objects]
            subprocess.run([CXX, *flags, "-o", out + ".new", *files], cwd=re2 or HERE, check=True, env=self.run.environment)
            os.rename(out + ".new", out)
        return f"{'a program with re2' if re2 else 'bench/live_work.cc'}, debug information, much inlined", [out, self.scale.seconds if re2 else "1" if self.kind == "smoke" else "10"]

    def recipes(self):
        """{name: (what it is, options of seam record, the command, where it runs)}"""
        s, src = self.scale, self.run.path("src")
        c_files = " ".join(self.sources.c_files)
        storm = f"sh {src}/storm.sh {s.storm} & sh {src}/storm.sh {s.storm}; wait"
        return {
            "make": (f"`make -j2` of {f'{len(self.sources.make) - 4} C++ files of ' if self.sources.make[2:] else ''}{self.sources.name}",
                     ["-F", str(s.hertz)], self.sources.make, self.sources.where),
            "deferred": (f"two shells that start short processes, {13 * s.storm:,} each, every user stack deferred",
                         ["-F", "20000", "-m", "8M", "--call-graph", "dwarf,defer=always"], ["sh", "-c", storm], src),
            "copies": (f"g++, copies of {s.copy_size} bytes of stack in the file", ["-F", str(s.hertz), "-m", "16M", "--call-graph", f"dwarf,{s.copy_size}", "--keep-stacks"],
                       ["sh", "-c", "; ".join([" ".join(self.sources.compile)] * s.copies)], self.sources.where),
            "inlined": ("", ["-e", "cpu-clock", "-c", "20000", "--call-graph", "fp"], None, src),
            "service": ("a service in python3 and its client", ["-F", str(s.hertz)], [PYTHON, f"{src}/service.py", str(s.requests)], src),
            "sqlite3": ("sqlite3: insert, index, join, group", ["-F", str(s.hertz)], ["sqlite3", ":memory:", f".read {src}/rows.sql"], src),
            "gcc": (f"gcc -O2 of {len(self.sources.c_files)} C files", ["-F", str(s.hertz)],
                    ["sh", "-c", f"for f in {c_files}; do {CC} -O2 -c -o /dev/null $f; done"], src),
            "large": (f"the recording of make again and again, each round later than the one before, up to {s.large / 1e6:,.0f} MB", [], None, src),
            "all": ("`-a` while all of these run at once", ["-a", "-F", "997"], ["sh", f"{src}/all.sh", src, s.all], src),
        }

    def recording(self, name, fresh):
        """Makes a recording, or takes the one that is there and was made the same way; LeftOut where it cannot be had."""
        what, options, command, where = self.recipes()[name]
        path, notes = self.run.path(self.kind, name + ".data"), self.run.path(self.kind, name + ".json")
        if name == "inlined":
            what, command = self.inlined()
        if name == "sqlite3" and not shutil.which("sqlite3"):
            raise LeftOut("sqlite3 is not installed")
        spec = [what, options, command]
        if not fresh and os.path.exists(path) and os.path.exists(notes):
            with open(notes, encoding="utf-8") as f:
                known = json.load(f)
            if known["spec"] == spec:
                self.recordings[name] = known
                return
        print(f"table: recording {name}", file=sys.stderr)
        if name == "large":
            known = self.enlarge(path)
            known.update(spec=spec, what=what, path=path)
            write(notes, json.dumps(known))
            self.recordings[name] = known
            return
        if name == "make":
            subprocess.run(self.sources.clean, cwd=where, check=True)
        known = self.record(name, path, options, command, where)
        known.update(spec=spec, what=what if "generated" not in known else known["generated"], path=path)
        write(notes, json.dumps(known))
        self.recordings[name] = known

    def record(self, name, path, options, command, where):
        said = []
        done = self.run.run([self.seam, "record", "-o", path + ".new", *options, "--", *command], limit=300, cwd=where, said=said)
        if done.failure and name != "deferred":
            raise LeftOut(f"seam record {' '.join(options)}: {done.failure}: {reason(said[0])}")
        known = facts(self.seam, path + ".new") if not done.failure else {"deferred": 0}
        if name == "deferred" and not known["deferred"]:
            self.generate(path + ".new")
            known = facts(self.seam, path + ".new")
            known["generated"] = f"{self.scale.generated:,} samples written by bench/gen_deferred, as stacks cannot be deferred here"
            options = []
        os.rename(path + ".new", path)
        known["how"] = " ".join(options)
        ways = [line.split("user stacks: ")[1] for line in said[0].splitlines() if "user stacks: " in line]
        known["stacks"] = ways[0] if ways and "generated" not in known else ""
        return known

    def enlarge(self, path):
        """A large recording, whose first rounds have stacks of their own."""
        program = os.path.join(self.build, "bench", "gen_big")
        if not os.path.exists(program):
            raise LeftOut(f"{program} is not built")
        self.recording("make", False)
        subprocess.run([program, "-v", "4", str(self.scale.large), self.recordings["make"]["path"], path + ".new"], check=True)
        os.rename(path + ".new", path)
        return {**facts(self.seam, path), "how": "", "stacks": ""}

    def generate(self, path):
        program = os.path.join(self.build, "bench", "gen_deferred")
        if not os.path.exists(program):
            raise LeftOut(f"stacks cannot be deferred here, and {program} is not built")
        subprocess.run([program, "-o", path, "-n", str(self.scale.generated), "frames=30", "chains=500", "places=16", "tasks=4"], check=True)
        os.remove(path + ".truth")


def facts(seam, path):
    """What is in a recording, counted by seam stat for all recorders alike."""
    done = subprocess.run([seam, "stat", path], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    samples, deferred, lost = (re.search(p, done.stdout, re.M) for p in (
        r"^ *SAMPLE events: +(\d+)", r"^ *CALLCHAIN_DEFERRED events: +(\d+)", r"^lost: (\d+)"))
    if done.returncode or not samples:
        raise LeftOut(f"{os.path.basename(path)}: {(done.stderr.strip() or 'no samples').splitlines()[-1]}")
    return {"samples": int(samples[1]), "deferred": int(deferred[1]) if deferred else 0, "lost": int(lost[1]) if lost else 0,
            "bytes": os.path.getsize(path)}
