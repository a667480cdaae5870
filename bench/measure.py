# SPDX-License-Identifier: MIT
"""The one way in which bench/ measures: a command's whole process tree, and several commands in turn.

What a command cost is said by bench/tree.c, which waits for all that it started. A command that fails has no figures:
Result.failure says how it ended.
"""
import os
import shutil
import signal
import statistics
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Result:
    """CPU seconds (user and system) of the tree, seconds, the largest process's peak memory in MB, and the command's own."""

    def __init__(self, words):
        user, system, seconds, peak, own, how, *code = words
        self.cpu, self.seconds = float(user) + float(system), float(seconds)
        self.peak, self.own = int(peak) / 1024, int(own) / 1024
        self.failure = None if (how, code) == ("exit", ["0"]) else " ".join([how, *code])


class Runner:
    """Compiles the helpers into a directory, and runs commands in it."""

    def __init__(self, directory):
        self.directory, self.children = directory, set()
        self.environment = dict(os.environ, HOME=os.path.join(directory, "home"), LC_ALL="C.UTF-8", CCACHE_DISABLE="1",
                                XDG_CACHE_HOME=os.path.join(directory, "home", ".cache"), SEAM_CONFIG="", PERF_CONFIG="/dev/null",
                                QT_QPA_PLATFORM="offscreen", DEBUGINFOD_URLS="", NO_COLOR="1", PYTHONDONTWRITEBYTECODE="1")
        os.makedirs(self.environment["XDG_CACHE_HOME"], exist_ok=True)
        os.makedirs(self.path("bin"), exist_ok=True)
        for name in ("tree", "bound", "crowd"):
            source, program = os.path.join(HERE, name + ".c"), self.helper(name)
            if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
                subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", program + ".new", source], check=True)
                os.rename(program + ".new", program)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def helper(self, name):
        return self.path("bin", name)

    def start(self, argv, **more):
        child = subprocess.Popen(argv, **more)
        self.children.add(child)
        return child

    def end(self):
        """Ends what still runs: tree.c ends all that it watches."""
        for child in self.children:
            if child.poll() is None:
                child.terminate()
                child.wait()

    def run(self, argv, limit=0, cwd=None, environment=None, count=None, said=None):
        """A Result. `count` (a list) takes how many bytes went to standard output, `said` (a list) the text on standard error."""
        read, write = os.pipe()
        try:
            child = self.start([self.helper("tree"), str(write), str(limit), *argv], cwd=cwd or self.directory,
                               env=environment or self.environment, pass_fds=[write], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL if count is None else subprocess.PIPE,
                               stderr=subprocess.DEVNULL if said is None else subprocess.PIPE)
            os.close(write)
            readers = [threading.Thread(target=count_bytes, args=(child.stdout, count))] if count is not None else []
            readers += [threading.Thread(target=lambda: said.append(child.stderr.read().decode("utf-8", "replace")))] \
                if said is not None else []
            for reader in readers:
                reader.start()
            with os.fdopen(read) as figures:
                text = figures.read()
            child.wait()
            for reader in readers:
                reader.join()
        except BaseException:
            self.end()
            raise
        self.children.discard(child)
        if not text:
            raise RuntimeError(f"{argv[0]}: bench/tree said nothing")
        return Result(text.split())


def count_bytes(stream, count):
    n = 0
    while piece := stream.read(1 << 20):
        n += len(piece)
    count.append(n)


class Side:
    """One of those that take turns: `once` gives a Result."""

    def __init__(self, once, rounds=None):
        self.once, self.rounds, self.results, self.failure = once, rounds, [], None

    def done(self, patience):
        """Whether it is not run again."""
        return self.failure or self.slowest() > patience or self.rounds is not None and len(self.results) >= self.rounds

    def slowest(self):
        return max((r.seconds for r in self.results), default=0)


def in_turn(sides, rounds, budget, patience):
    """Runs each of {name: Side} `rounds` times, one after the other, beginning with another each time. No round is begun that
    would end after `budget` seconds, and a side that took more than `patience` seconds, or had all of its own rounds, is not run again."""
    begin, names = time.monotonic(), list(sides)
    for i in range(rounds):
        for name in names[i % len(names):] + names[:i % len(names)]:
            side = sides[name]
            if side.done(patience):
                continue
            result = side.once()
            side.failure = result.failure
            if not result.failure:
                side.results.append(result)
        if time.monotonic() - begin + sum(s.slowest() for s in sides.values() if not s.done(patience)) > budget:
            break


def ratios(above, below, figure):
    """figure(above) / figure(below) of each round that both were in; if one of them ran once, by the other's median."""
    above, below = [figure(r) for r in above.results], [figure(r) for r in below.results]
    if not above or not below or min(below) <= 0:
        return []
    if len(above) != len(below):
        return [statistics.median(above) / statistics.median(below)]
    return [a / b for a, b in zip(above, below)]


def number(x):
    if x >= 99.5:
        return f"{x:,.0f}"
    return f"{x:.1f}" if x >= 9.95 else f"{x:.2f}" if x >= 0.0995 else f"{x:.3f}"


def spread(values):
    """Median, and least to most if there is more than one."""
    if not values:
        return "-"
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))} to {number(max(values))})"


def cpu(result):
    return result.cpu


def seconds(result):
    return result.seconds


def peak(result):
    return result.peak


def interrupts():
    """SIGTERM ends the run as Ctrl-C does, so that nothing that was started is left behind."""
    def stop(number, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, stop)


def free_bytes(directory):
    return shutil.disk_usage(directory).free
