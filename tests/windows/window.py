# SPDX-License-Identifier: MIT
"""Programs with windows, without a person and without a screen: an X server in memory, the programs of Debian sid that
scripts/peer unpacks, and what they tell a screen reader, from which a test reads their tables and presses their buttons.

Needs dbus-daemon, at-spi2-core and python3-pyatspi (scripts/setup windows), and rights for namespaces (scripts/peer --window). One
Screen at a time in a process. What is clicked is clicked by xdotool at the place that the program gives; nothing is set from behind."""
import atexit
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
PEER = os.path.join(TOP, "scripts", "peer")


def until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise RuntimeError("%s: not after %d s" % (what, seconds))
        time.sleep(0.1)


def answers(path):
    """Whether a server listens at this socket: its file is there a moment before that."""
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(path) == 0


def png(xwd, place=None):
    """A picture of the server's memory, as PNG; place: (x, y, width, height)."""
    head = struct.unpack(">25I", xwd[:100])
    width, height, line, begins = head[4], head[5], head[12], head[0] + head[19] * 12
    x, y, width, height = place or (0, 0, width, height)
    rows = []
    for r in range(y, y + height):
        row = bytearray(width * 3)
        at = begins + r * line + x * 4
        for to, of in ((0, 2), (1, 1), (2, 0)):
            row[to::3] = xwd[at + of:at + width * 4:4]
        rows.append(b"\0" + bytes(row))
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            part(b"IDAT", zlib.compress(b"".join(rows), 9)) + part(b"IEND", b""))


class Screen:
    """An X server, and the buses that a screen reader needs. The directory that it works in is the temporary one of all
    that it runs, for scripts/peer gives its programs no other."""

    def __init__(self, width=1280, height=800):
        self.at = os.path.realpath(tempfile.mkdtemp(prefix="seam-windows-"))
        atexit.register(self.close)
        self.running = []
        self.size = width, height
        cache = os.environ.get("SEAM_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "seam-tests")
        for name in ("home/.config", "run", "screen"):
            os.makedirs(os.path.join(self.at, name), mode=0o700)
        number = next(n for n in range(70, 200) if not os.path.exists("/tmp/.X11-unix/X%d" % n) and not os.path.exists("/tmp/.X%d-lock" % n))
        os.makedirs("/tmp/.X11-unix", mode=0o1777, exist_ok=True)
        os.environ.update(SEAM_CACHE=cache, TMPDIR=self.at, HOME=self.at + "/home", XDG_RUNTIME_DIR=self.at + "/run", DISPLAY=":%d" % number,
                          XDG_CONFIG_HOME=self.at + "/home/.config", XDG_CACHE_HOME=self.at + "/home/.cache", LC_ALL="C.UTF-8",
                          DBUS_SESSION_BUS_ADDRESS="unix:path=%s/run/bus" % self.at, QT_QPA_PLATFORM="xcb", QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
        self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" + os.environ["DBUS_SESSION_BUS_ADDRESS"])
        self.run("Xvfb", os.environ["DISPLAY"], "-screen", "0", "%dx%dx24" % (width, height), "-fbdir", self.at + "/screen", "-nolisten", "tcp")
        until(lambda: os.path.exists(self.at + "/screen/Xvfb_screen0") and answers("/tmp/.X11-unix/X%d" % number), "Xvfb")
        until(lambda: os.path.exists(self.at + "/run/bus"), "dbus-daemon")
        sys.path.append("/usr/lib/python3/dist-packages")
        import pyatspi
        self.spi = pyatspi
        pyatspi.setTimeout(60000, 60000)

    def start(self, *words):
        log = open(os.path.join(self.at, "log-%s-%d" % (os.path.basename(words[-1] if words[0] == PEER else words[0])[:30], len(self.running))), "wb")
        done = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        done.log = log.name
        self.running.append(done)
        return done

    def run(self, *words):
        return self.start(PEER, "--window", *words)

    def program(self, name, *words):
        """Starts it, and waits for its window."""
        done = self.run(name, *words)

        def window():
            if done.poll() is not None:
                raise RuntimeError("%s: exit %s: %s" % (name, done.returncode, open(done.log, errors="replace").read()[-500:]))
            desktop = self.spi.Registry.getDesktop(0)
            for app in (desktop.getChildAtIndex(i) for i in range(desktop.childCount)):
                if app and app.name == name and app.childCount:
                    return app
            return None
        return Program(self, done, until(window, name + "'s window"))

    def xdo(self, *words):
        return subprocess.run([PEER, "--window", "xdotool", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.decode()

    def type_into(self, field, window, text):
        """Puts a text in the place of what is in the field."""
        window.click(field, times=3)
        self.xdo("key", "ctrl+a", "Delete")
        if text:
            self.xdo("type", "--delay", 5, "--", text)
        time.sleep(0.5)

    def picture(self, path, place=None):
        time.sleep(0.5)
        with open(self.at + "/screen/Xvfb_screen0", "rb") as file:
            data = png(file.read(), place)
        with open(path, "wb") as out:
            out.write(data)

    def stop(self, one):
        if one.poll() is None:
            try:
                os.killpg(one.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
            try:
                one.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(one.pid, signal.SIGKILL)

    def close(self):
        for one in reversed(self.running):
            self.stop(one)
        self.running = []
        shutil.rmtree(self.at, ignore_errors=True)


class Program:
    """A program that shows its window: what is in it by role and name, as a screen reader has it."""

    def __init__(self, screen, process, app):
        self.screen, self.process, self.app = screen, process, app

    def fill(self):
        """As large as the screen."""
        for window in self.screen.xdo("search", "--onlyvisible", "--name", ".").split():
            self.screen.xdo("windowmove", window, 0, 0, "windowsize", window, *self.screen.size)
        time.sleep(1)

    def all(self, role=None, name=None, under=None, deep=True):
        """What is on the screen of this role and name, in the order of the window. The cells of tables are not searched."""
        todo, found = [under or self.app], []
        while todo:
            one = todo.pop()
            try:
                kind = one.getRoleName()
                if (role is None or kind == role) and (name is None or one.name == name):
                    found.append(one)
                if kind not in ("tree", "table", "list") and deep:
                    todo += [one.getChildAtIndex(i) for i in reversed(range(one.childCount))]
            except Exception:  # pylint: disable=broad-except
                pass  # it went away while it was looked at
        return found

    def shown(self, *what, **more):
        showing = self.screen.spi.STATE_SHOWING
        return [one for one in self.all(*what, **more) if one.getState().contains(showing)]

    def one(self, role, name=None, seconds=60):
        return until(lambda: self.shown(role, name), "%s %s" % (role, name), seconds)[0]

    def tree(self, *columns, seconds=60):
        """The table on the screen whose first columns are called so."""
        def is_it(one):
            heads = [one.getChildAtIndex(i) for i in range(min(one.childCount, len(columns)))]
            return [h.name for h in heads if h.getRoleName() == "table column header"] == list(columns)
        return until(lambda: [t for t in self.shown("tree") + self.shown("table") if is_it(t)], "a table of %s" % (columns,), seconds)[0]

    def cells(self, tree):
        return [tree.getChildAtIndex(i) for i in range(tree.childCount)]

    def rows(self, tree):
        """Rows of a table, each by its columns' names."""
        heads, rows, row = [], [], {}
        for cell in self.cells(tree):
            if cell.getRoleName() == "table column header":
                heads.append(cell.name)
                continue
            row[heads[len(row)]] = cell.name
            if len(row) == len(heads):
                rows.append(row)
                row = {}
        return rows

    def click(self, what, times=1, button=1):
        place = what.queryComponent().getExtents(self.screen.spi.DESKTOP_COORDS)
        self.screen.xdo("mousemove", place.x + min(place.width // 2, 40), place.y + place.height // 2, "click", "--repeat", times, button)
        time.sleep(0.3)

    def end(self):
        self.screen.stop(self.process)
