# SPDX-License-Identifier: MIT
"""What a recording says by seam, against which a window's numbers are held: functions with self and total, callers, lines, of each event.

It is computed here from `seam export -f json`, and self and total must be those of `seam report` of the same recording."""
import json
import subprocess


class Truth:
    """Of each event with weight: whole[event]; of[event][function] = (self, total); callers[event][function] = {caller: weight}, by the
    outermost call of a function in a stack; a function is a name. objects[name]: the paths it is in. A frame without a name has none here."""

    def __init__(self, seam, data):
        self.seam, self.data = seam, data
        self.now()

    def now(self):
        """As it is now: of the whole machine a program's file may have gone since, and its functions' names with it."""
        for again in (3, 2, 1, 0):  # or between the two
            self.count()
            said = self.differs()
            if not said:
                return
            if not again:
                raise SystemExit("FAILED: %s: export and report differ: %s" % (self.data, said))

    def count(self):
        self.all = json.loads(self.read("export", "-f", "json", self.data))
        self.whole, self.samples, self.unit, self.of, self.callers, self.objects, self.inlined = {}, {}, {}, {}, {}, {}, set()
        for frame in self.all["frames"]:
            if frame["symbol"]:
                self.objects.setdefault(frame["symbol"], set()).add(self.object(frame))
                if frame["kind"] == "inlined":
                    self.inlined.add(frame["symbol"])
        for row in self.all["rows"]:
            event = self.all["events"][row["event"]]["name"]
            if not row["weight"]:
                continue
            self.unit[event] = self.all["events"][row["event"]]["unit"]
            self.whole[event] = self.whole.get(event, 0) + row["weight"]
            self.samples[event] = self.samples.get(event, 0) + row["samples"]
            self.add(self.of.setdefault(event, {}), self.callers.setdefault(event, {}), row)

    def read(self, *words):
        return subprocess.run([self.seam, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout

    def object(self, frame):
        return self.all["objects"][frame["object"]]["path"] if frame["object"] is not None and frame["object"] >= 0 else ""

    def path(self, stack):
        """Frames, the outermost first."""
        frames = []
        while stack >= 0:
            stack, frame = self.all["stacks"][stack]
            frames.append(self.all["frames"][frame])
        return frames[::-1]

    def add(self, of, callers, row):
        names = [f["symbol"] for f in self.path(row["stack"])]
        for i, name in enumerate(names):
            if not name:
                continue
            own, total = of.get(name, (0, 0))
            first = name not in names[:i]
            of[name] = own + row["weight"] * (i == len(names) - 1), total + row["weight"] * first
            if first and i and names[i - 1]:
                above = callers.setdefault(name, {})
                above[names[i - 1]] = above.get(names[i - 1], 0) + row["weight"]

    def by(self, event, key):
        """key(frame) -> (self, total), of what is a function by that; None is none."""
        of, keys = {}, [key(f) for f in self.all["frames"]]
        for row in self.all["rows"]:
            if self.all["events"][row["event"]]["name"] != event or not row["weight"]:
                continue
            stack, within = row["stack"], set()
            while stack >= 0:
                above, frame = self.all["stacks"][stack]
                one = keys[frame]
                if one is not None:
                    own, total = of.get(one, (0, 0))
                    of[one] = own + row["weight"] * (stack == row["stack"]), total + row["weight"] * (one not in within)
                    within.add(one)
                stack = above
        return of

    def differs(self):
        """Where what is computed here is not what the report says."""
        said = {}
        for row in json.loads(self.read("report", "--json", "-s", "sym", self.data))["rows"]:
            if row["sym"] and row["total"]:
                said.setdefault(row["event"], {})[row["sym"]] = row["self"], row["total"]
        mine = {event: {n: v for n, v in of.items() if v[1]} for event, of in self.of.items()}
        for event in mine:
            brackets = {n: v for n, v in said.get(event, {}).items() if n.startswith("[") and n not in mine[event]}
            if {n: v for n, v in said.get(event, {}).items() if n not in brackets} != mine[event]:
                wrong = [(n, mine[event].get(n), said.get(event, {}).get(n)) for n in set(mine[event]) | set(said.get(event, {}))
                         if mine[event].get(n) != said.get(event, {}).get(n)]
                return wrong[:4]
        return []

    def hottest(self, event):
        return max(self.of[event], key=lambda n: self.of[event][n][0])

    def lines(self, event, name):
        """Self of a function by (file, line)."""
        found = {}
        for row in self.all["rows"]:
            if self.all["events"][row["event"]]["name"] == event and row["stack"] >= 0:
                last = self.path(row["stack"])[-1]
                if last["symbol"] == name:
                    at = last.get("file"), last.get("line")
                    found[at] = found.get(at, 0) + row["weight"]
        return found
