# SPDX-License-Identifier: MIT
"""What bench/table measures: the commands that read, by recording, with what each peer has for the same; the recorders."""
import collections

# `first`: with an empty cache directory each time. {} is the recording, {out} a file for what comes out.
Row = collections.namedtuple("Row", "label seam perf samply perfparser first", defaults=(None, None, None, False))

REPORT = ["report", "-i", "{}"]
PERF_REPORT = ["report", "--stdio", "-i", "{}"]
FLAT, NO_CHILDREN = ["-g", "none"], ["--no-children"]

report = Row("report", REPORT, PERF_REPORT)
report_self = Row("report --no-children", REPORT + NO_CHILDREN, PERF_REPORT + NO_CHILDREN)
report_lines = Row("report --no-children --no-inline", REPORT + NO_CHILDREN + ["--no-inline"], PERF_REPORT + NO_CHILDREN + ["--no-inline"])
report_flat = Row("report --no-children -g none", REPORT + NO_CHILDREN + FLAT, PERF_REPORT + NO_CHILDREN + FLAT)
report_stats = Row("report --stats", ["report", "--stats", "-i", "{}"], ["report", "--stats", "-i", "{}"])
script = Row("script", ["script", "-i", "{}"], ["script", "-i", "{}"], None, ["--input", "{}", "--output", "{out}"])
dump = Row("dump", ["dump", "{}"], ["report", "-D", "-i", "{}"])
stat = Row("stat", ["stat", "{}"], ["report", "--stats", "-i", "{}"])
folded = Row("export --format folded", ["export", "--format", "folded", "-i", "{}"], ["script", "-s", "{core}/scripts/python/stackcollapse.py", "-i", "{}"])
firefox = Row("export --format firefox", ["export", "--format", "firefox", "-o", "{out}", "{}"], None,
              ["import", "--save-only", "--unstable-presymbolicate", "-o", "{out}.json", "{}"])
flame = Row("flame", ["flame", "-o", "{out}", "{}"])
convert = Row("convert", ["convert", "-q", "{}", "-o", "{out}"], ["inject", "-i", "{}", "-o", "{out}"])


def export(name):
    return Row("export --format " + name, ["export", "--format", name, "-o", "{out}", "{}"])


diff = Row("diff", ["diff", "{}", "{}"], ["diff", "{}", "{}"])
# What is asked of every recording.
EACH = [report_self, report, report_flat, folded, export("pprof"), flame, diff, script, report_stats, dump]
READ = {
    "make": [
        report_lines, report_flat, report, report_stats, script, dump, stat, Row("stat --stacks", ["stat", "--stacks", "{}"]),
        Row("stat --check", ["stat", "--check", "{}"]), folded, firefox, *map(export, ("pprof", "speedscope", "callgrind", "json", "perfetto")),
        flame, Row("flame --svg", ["flame", "--svg", "-o", "{out}", "{}"]), diff, convert,
        Row("recover", ["recover", "{}", "-o", "{out}"]), Row("archive", ["archive", "-q", "-o", "{out}", "{}"]),
        Row("evlist", ["evlist", "{}"], ["evlist", "-i", "{}"]), Row("header", ["header", "{}"], ["report", "--header-only", "-i", "{}"]),
    ],
    "deferred": EACH + [stat, firefox, convert],
    "copies": EACH + [
        stat, firefox,
               convert._replace(perf=["inject", "--convert-callchain", "-i", "{}", "-o", "{out}"]),
    ],
    "inlined": [
        Row("report, the first", REPORT, PERF_REPORT, first=True), Row("report, the second", REPORT, PERF_REPORT),
        Row("script, the first", script.seam, script.perf, None, script.perfparser, first=True),
        Row("script, the second", script.seam, script.perf, None, script.perfparser), firefox,
        Row("annotate", ["annotate", "-i", "{}", "{hot}"], ["annotate", "--stdio", "-i", "{}", "-s", "{hot}"]),
    ],
    "large": [report_self, report_flat, report_stats, stat],
    "service": EACH, "sqlite3": EACH, "gcc": EACH, "all": EACH,
}

# Which of these are run on one CPU, too.
THREADS = [(name, row) for name in ("make", "deferred", "copies") for row in (report_self, script, folded, export("pprof"))]

# What seam aims at: CPU seconds of a row of READ, for so many samples. Of work as deep and as various as that of the recording.
Goal = collections.namedtuple("Goal", "section row cpu samples")
DEEP, STORM, COPIES = 170168, 1008508, 29874
GOALS = [
    *[Goal("make", row, cpu, DEEP) for row, cpu in ((report_lines, .35), (report_flat, .1), (report, .4), (folded, .8), (export("pprof"), .6),
                                                    (flame, .9), (diff, .9))],
    *[Goal("deferred", row, cpu, STORM) for row, cpu in ((report_self, .25), (script, .45), (folded, .3), (report_stats, .1), (dump, .6))],
    *[Goal("copies", row, cpu, COPIES) for row, cpu in ((script, .12), (report_self, .12), (report_flat, .08))],
]

# Who records: options behind `record`, by program. {hz} is the frequency, {file} what is written.
SEAM = ["record", "-q", "-F", "{hz}", "-o", "{file}"]
PERF = ["record", "-q", "-F", "{hz}", "-e", "cpu-clock", "-o", "{file}"]
RECORDERS = {
    "seam auto": ("seam", SEAM + ["--"]),
    "seam fp": ("seam", SEAM + ["--call-graph", "fp", "--"]),
    "seam dwarf": ("seam", SEAM + ["--call-graph", "dwarf", "--"]),
    "perf fp": ("perf", PERF + ["--call-graph", "fp", "--"]),
    "perf dwarf": ("perf", PERF + ["--call-graph", "dwarf", "--"]),
    "samply": ("samply", ["record", "--save-only", "-r", "{hz}", "-o", "{file}.json", "--"]),
    "seam top": ("seam", ["top", "--stdio", "-F", "{hz}", "-d", "1", "--"]),
}
# These have one round of a quick run: they tell how far off they are.
RECORD_ONCE = ("perf dwarf", "samply", "seam top")
# Who records a service in an interpreter. "told": the command by which the runtime tells perf its functions.
RUNTIME_RECORDERS = {
    "seam auto": RECORDERS["seam auto"],
    "seam auto, no runtimes": ("seam", SEAM + ["--no-runtimes", "--"]),
    "perf fp": RECORDERS["perf fp"],
    "perf fp, told": ("perf, told", RECORDERS["perf fp"][1]),
}
# Of Python alone: from outside, while the program is stopped, functions without the native stack around them.
PYTHON_RECORDERS = {
    "py-spy": ("py-spy", ["record", "--rate", "{hz}", "--subprocesses", "--format", "raw", "--output", "{file}", "--"]),
}
RECORD_HEAD = ("", "", "CPU", "s", "perf fp", "MB", "bytes a sample", "samples", "lost")
# How soon there is a recording: what is there before, and who records what.
STARTERS = {
    "seam auto": ("seam", ["record", "-q", "-o", "{file}"]),
    "seam fp": ("seam", ["record", "-q", "--call-graph", "fp", "-o", "{file}"]),
    "perf fp": ("perf", ["record", "-q", "-g", "-o", "{file}"]),
    "perf dwarf": ("perf", ["record", "-q", "--call-graph", "dwarf", "-o", "{file}"]),
}


def starts(processes, threads, mappings):
    """What is there when a recorder starts (bench/crowd.c), and the rows beside it: a title, and options of both perf and seam. {pid} is the
    crowd's process, {pids} are its children."""
    yield None, [("`record -- /bin/true`", [])]
    yield ("threads", threads), [(f"`-p` of a process of {threads:,} threads", ["-p", "{pid}"])]
    yield ("processes", processes), [(f"`-p` of one of {processes:,} processes", ["-p", "{pid}"]), (f"`-a`, {processes:,} processes", ["-a", "-F", "997"])]
    yield ("mappings", mappings, 20), [(f"`-p` of 20 processes of {mappings:,} mappings", ["-p", "{pids}"]),
                                       (f"`-a`, 20 processes of {mappings:,} mappings", ["-a", "-F", "997"])]
