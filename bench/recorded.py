# SPDX-License-Identifier: MIT
"""Rows of bench/table that record: what a recorder costs the whole tree of processes that it watches, and how soon it is there."""
import contextlib
import json
import os
import shlex
import shutil
import subprocess

import measure
import rows
import services
import works
from measure import cpu, number, peak, seconds, spread

# samply asks this file, not the kernel, whether it may record, and not who it is. Where root runs it, it sees another one in its place.
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
PATIENT = 4  # times the limit of a command that reads: what is recorded runs beside whatever else the machine does


class RecordRows:
    """What Table does of recorders. Table gives run, kind, limits, works, lines, what was kept of an earlier run, and which rows are wanted."""

    def allowed(self, program):
        """The words of a program that records as the kernel allows it."""
        words = self.program(program)
        if program != "samply" or not self.root or not shutil.which("unshare"):
            return words
        shown = works.write(self.run.path("scratch", "paranoid"), "1\n")
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" ' + PARANOID + ' && exec "$@"', shown, *words]

    def recorder(self, name, program, template, hertz, command, path, where):
        words = self.allowed(program) + [w.replace("{hz}", str(hertz)).replace("{file}", path) for w in template] + command
        side = measure.Side(None, 1 if self.kind == "quick" and name in rows.RECORD_ONCE else None)

        def once():
            said = []
            result = self.run.run(words, limit=self.limits.limit * PATIENT, said=said, cwd=where)
            if result.failure:
                side.words = works.reason(said[0])
            return result
        side.once = once
        return side

    def contents(self, program, template, path):
        """Bytes a sample, samples, and samples lost of what a recorder wrote."""
        if program == "samply" and os.path.exists(path + ".json"):
            with open(path + ".json", encoding="utf-8") as f:
                n = sum(thread["samples"]["length"] for thread in json.load(f)["threads"])
            return [number(os.path.getsize(path + ".json") / n) if n else "-", f"{n:,}", "not said"]
        if "{file}" not in template or not os.path.exists(path):
            return ["-"] * 3
        if program == "py-spy":  # a line a stack, and how often it was there
            with open(path, encoding="utf-8", errors="replace") as f:
                n = sum(int(line.rpartition(" ")[2]) for line in f if line.strip())
            return [number(os.path.getsize(path) / n) if n else "-", f"{n:,}", "not said"]
        try:
            known = works.facts(self.seam, path)
        except works.LeftOut:
            return ["-", "0", "-"]
        return [number(known["bytes"] / known["samples"]), f"{known['samples']:,}", f"{known['lost']:,}"]

    def record_rows(self, section, title, command, where, hertz, who=None, told=None):
        """A program under each of `who`, in turn with itself alone. `told`: its command for those that need the program to be told."""
        who = who or rows.RECORDERS
        chosen = {name: those for name, those in who.items() if self.wanted(section, f"{title} {name} {hertz}")}
        if not chosen:
            return
        label = f"{section}: {title}, {hertz} Hz"
        if self.take_kept(label):
            return
        self.say(label)
        files = {name: self.run.path("scratch", name.replace(" ", "-")) for name in chosen}
        sides = {"none": self.side(command)}
        sides["none"].once = lambda: self.run.run(command, limit=self.limits.limit * PATIENT, cwd=where)
        for name, (program, template) in chosen.items():
            its = told if program.endswith(", told") else command
            if its and self.program(program.removesuffix(", told")):
                sides[name] = self.recorder(name, program.removesuffix(", told"), template, hertz, its, files[name], where)
        measure.in_turn(sides, self.limits.rounds, self.limits.runtimes if section == "runtimes" else self.limits.record, 30)
        none, begin, before = sides["none"], len(self.lines), len(self.failures)
        if none.failure:
            self.failed(f"{section}: {title} without a profiler", none.failure)
        for name, (program, template) in chosen.items():
            start = f"| {title}, {hertz:,} Hz | {name} | "
            side = sides.get(name)
            if not side or side.failure or not side.results:
                how = "missing" if not side else f"failed: {side.failure}: {side.words}"
                if side and program == "seam":
                    self.failed(f"{section}: {title}, {hertz} Hz, {name}", how)
                self.put(start + how + " |" * 7)
                continue
            fp = sides.get("perf fp")
            cells = [spread(measure.ratios(side, none, cpu)), spread(measure.ratios(side, none, seconds)),
                     spread(measure.ratios(side, fp, cpu)) if fp and fp.results else "missing", number(max(r.own for r in side.results)),
                     *self.contents(program, template, files[name])]
            self.put(start + " | ".join(cells) + " |")
        self.keep(label, self.lines[begin:], before)

    @contextlib.contextmanager
    def head_if_any(self, title, said, *names):
        """The head of a section, which is there if the section has rows."""
        begin = len(self.lines)
        for line in (f"## {title}", "", said, ""):
            self.put(line)
        self.head(*names)
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            del self.lines[begin:]
        self.put()

    def record_section(self):
        python, sources = self.works.python(1 if self.kind == "smoke" else 650), self.works.sources
        said = ("*CPU*, *s*: with the recorder over without one, in the same round; *perf fp*: over perf's CPU seconds with frame pointers; *MB*: "
                "the recorder's own memory; samples and losses of the last round's file. seam auto: what this machine allows best.")
        with self.head_if_any("recording: what it costs the whole tree of processes, recorder included", said, *rows.RECORD_HEAD):
            for hertz in self.limits.hertz:
                self.record_rows("recording", "python3", python, self.run.path("src"), hertz)
                self.record_rows("recording", "g++" if self.kind != "smoke" else "gcc", sources.compile, sources.where, hertz)
            # As many compilers as there are CPUs, at the highest rate: what is lost when nobody is idle.
            each = " ".join(map(shlex.quote, sources.compile))
            self.record_rows("recording", f"{os.cpu_count()} compilers at once",
                             ["sh", "-c", f"{each} & " * (os.cpu_count() - 1) + f"{each}; wait"], sources.where, self.limits.hertz[-1])

    def runtimes_section(self):
        """The user's own functions of interpreters: with and without them, and perf, which the runtime must tell of them."""
        if not self.wanted("runtimes", "") and not self.args.only:
            return
        found = services.services(self.run.path("src"), self.works.scale.services, self.peers["perf"], self.works.left)
        told = "; ".join(f"{s.title.split()[0]}: {s.how}" for s in found)
        said = ("As above. seam auto: with the functions of the interpreter in the stacks; no runtimes: without, by `--no-runtimes`. *perf, told*: the "
                f"runtime is told, so that perf can name its functions ({told}); its cost is in the figures, which are over the program that is not told. "
                "py-spy: Python's functions alone, of no native stack.")
        with self.head_if_any("runtimes: what the functions of interpreters cost", said, *rows.RECORD_HEAD):
            for hertz in self.limits.hertz[:1 if self.kind != "full" else 2]:
                for service in found:
                    who = {**rows.RUNTIME_RECORDERS, **(rows.PYTHON_RECORDERS if service.title.startswith("python") else {})}
                    self.record_rows("runtimes", service.title, service.plain, self.run.path("src"), hertz, who, service.told)

    def crowd(self, *words):
        """Starts bench/crowd.c and waits until all of it is there."""
        child = self.run.start([self.run.helper("crowd"), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if child.stdout.readline() != b"ready\n":
            raise works.LeftOut(f"crowd {' '.join(map(str, words))}: not all could be made")
        return child

    def start_rows(self, words, those):
        """Rows beside one crowd: `those` are (title, options of the recorders)."""
        wanted = [(title, options) for title, options in those
                  if any(self.wanted("start", f"{title} {name}") for name in rows.STARTERS) and not self.take_kept(f"start: {title}")]
        if not wanted:
            return
        crowd = None
        try:
            crowd = self.crowd(*words) if words else None
            for title, options in wanted:
                self.start_row(title, crowd.pid if crowd else 0, options)
        except works.LeftOut as why:
            self.works.left.append(f"start: {why}")
        finally:
            if crowd:
                crowd.stdin.close()
                crowd.wait()
                self.run.children.discard(crowd)

    def start_row(self, title, pid, options):
        self.say(f"start: {title}")
        begin, names, sides = len(self.lines), [name for name in rows.STARTERS if self.wanted("start", f"{title} {name}")], {}
        if "{pids}" in options:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
                options = [o.replace("{pids}", ",".join(f.read().split())) if o == "{pids}" else o for o in options]
        for name in names:
            program, template = rows.STARTERS[name]
            if self.program(program):
                its = template + [o.replace("{pid}", str(pid)) for o in options]
                sides[name] = self.recorder(name, program, its, 0, ["--", "/bin/true"], self.run.path("scratch", "start"), None)
        measure.in_turn(sides, self.limits.rounds, self.limits.start, 10)
        fp, before = sides.get("perf fp"), len(self.failures)
        for name in names:
            side = sides.get(name)
            if not side or not side.results:
                how = "missing" if not side else f"failed: {side.failure}: {side.words}"
                if side and name.startswith("seam"):
                    self.failed(f"start: {title}, {name}", how)
                self.put(f"| {title} | {name} | {how} |" + " |" * 3)
                continue
            self.put(f"| {title} | {name} | " + " | ".join([
                spread([r.cpu for r in side.results]), spread([r.seconds for r in side.results]), number(max(r.own for r in side.results)),
                spread(measure.ratios(side, fp, cpu)) if fp and fp.results else "missing"]) + " |")
        self.keep(f"start: {title}", self.lines[begin:], before)

    def start_section(self):
        said = ("*CPU s*, *s*, *MB*: the recorder's with `/bin/true`, its head and its end; *perf fp*: over perf's CPU seconds with frame pointers.")
        with self.head_if_any("start: from nothing to a finished recording", said, "", "", "CPU s", "s", "MB", "perf fp"):
            for words, those in rows.starts(self.works.scale.processes, *((10, 20) if self.kind == "smoke" else (1000, 5000))):
                self.start_rows(words, [(title, options) for title, options in those if self.root or "-a" not in options])
            if not self.root:
                self.works.left.append("start with `-a`: needs root")
            if self.wanted("start", "check"):
                side = self.side([self.seam, "check"])
                measure.in_turn({"check": side}, self.limits.rounds, self.limits.budget, self.limits.patience)
                if side.failure:
                    self.failed("start: check", side.failure)
                self.put(f"| `check` | seam | {spread([r.cpu for r in side.results])} | {spread([r.seconds for r in side.results])} | "
                         f"{number(max(map(peak, side.results), default=0))} | - |")
