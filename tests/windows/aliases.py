# SPDX-License-Identifier: MIT
"""Names that stand at one address of a file, as `_dl_catch_exception` and `__GI__dl_catch_exception` do in libc: tools may choose either.
They are read here by nm, of the file and of its debug file, so that neither tool's own choice counts."""
import glob
import os
import re
import subprocess


def debug_file(path):
    """Where Debian has a file's debug information; it need not be there."""
    notes = subprocess.run(["readelf", "-n", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    found = re.search(rb"Build ID: ([0-9a-f]+)", notes)
    build_id = found.group(1).decode() if found else "none"
    return "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id[:2], build_id[2:])


def functions(path):
    """(address, name) of each function in a file's tables."""
    for table in ([], ["-D"]):
        said = subprocess.run(["nm", "--demangle", "--defined-only", *table, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace")
        for line in said.splitlines():
            words = line.split(None, 2)
            if len(words) == 3 and words[1] in "tTwWiu":
                yield int(words[0], 16), re.sub(r"@.*", "", words[2])


class Aliases:
    """plain: how a name is written for the comparison."""

    def __init__(self, paths, plain):
        self.groups = {}
        for path in (p for p in paths if os.path.isfile(p)):
            self.groups[os.path.basename(path)] = self.read(path, plain)

    def read(self, path, plain):
        """Name -> the names at its address. A name that is at more than one address is left out: it says nothing."""
        at, names = {}, {}
        for file in [path] + glob.glob(debug_file(path)):
            for address, name in functions(file):
                at.setdefault(plain(name), set()).add(address)
        for name, addresses in at.items():
            if len(addresses) == 1:
                names.setdefault(min(addresses), set()).add(name)
        return {name: group for group in names.values() for name in group}

    def names(self, file, name):
        """All names of the function, this one too."""
        return self.groups.get(file, {}).get(name) or {name}

    def of(self, file, name):
        """The first of them, which stands for all; None where the file says nothing of the name."""
        group = self.groups.get(file, {}).get(name)
        return min(group) if group else None
