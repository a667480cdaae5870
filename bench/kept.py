# SPDX-License-Identifier: MIT
"""Finished rows of a run of bench/table that has not come to its end, so that another can go on from there.

Rows are kept for one program, told by its contents: rows of another are never taken.
"""
import hashlib
import json
import os
import time


class Kept:
    def __init__(self, path, program, resume):
        self.path, self.taken, self.since = path, 0, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        with open(program, "rb") as f:
            self.program = hashlib.sha256(f.read()).hexdigest()
        self.rows = {}
        if resume and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                known = json.load(f)
            if known["program"] == self.program:
                self.rows, self.since = known["rows"], known["since"]

    def get(self, label):
        """What was put for a row, or None."""
        self.taken += label in self.rows
        return self.rows.get(label)

    def put(self, label, what):
        self.rows[label] = what
        with open(self.path + ".new", "w", encoding="utf-8") as f:
            json.dump({"program": self.program, "since": self.since, "rows": self.rows}, f)
        os.rename(self.path + ".new", self.path)

    def end(self):
        """The run is at its end: the next begins anew."""
        if os.path.exists(self.path):
            os.remove(self.path)
