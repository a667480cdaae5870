# SPDX-License-Identifier: MIT
"""Builds an initramfs: files of this host under their own paths, programs with their libraries.

Knows the newc form of cpio and how a program names its libraries. Paths in the guest are paths of
the host, so that what a recording names in the guest is found by a reader on the host.
"""

import os
import re
import stat
import subprocess


class Initramfs:
    def __init__(self):
        self.entries = {}  # path without the leading / -> (mode, bytes, (major, minor))
        self._directory("dev")
        # Without /dev/console the first process would start with no standard output.
        self.entries["dev/console"] = (stat.S_IFCHR | 0o600, b"", (5, 1))

    def _directory(self, path):
        while path and path not in self.entries:
            self.entries[path] = (stat.S_IFDIR | 0o755, b"", (0, 0))
            path = os.path.dirname(path)

    def text(self, path, content, mode=0o755):
        path = path.lstrip("/")
        self._directory(os.path.dirname(path))
        self.entries[path] = (stat.S_IFREG | mode, content.encode(), (0, 0))

    def symlink(self, path, target):
        path = path.lstrip("/")
        self._directory(os.path.dirname(path))
        self.entries[path] = (stat.S_IFLNK | 0o777, target.encode(), (0, 0))

    def file(self, path):
        """Adds a file of the host; links on the way, such as /lib, become links in the guest."""
        done = ""
        parts = [part for part in os.path.abspath(path).split("/") if part]
        for i, part in enumerate(parts):
            here = done + "/" + part
            if os.path.islink(here):
                target = os.readlink(here)
                self.symlink(here, target)
                rest = "/".join(parts[i + 1:])
                self.file(os.path.normpath(os.path.join(done or "/", target, rest)))
                return
            done = here
        with open(done, "rb") as source:
            content = source.read()
        self._directory(os.path.dirname(done.lstrip("/")))
        self.entries[done.lstrip("/")] = (
            stat.S_IFREG | (os.stat(done).st_mode & 0o777), content, (0, 0))

    def program(self, path, loader=()):
        """Adds a program and what its dynamic loader (or the one given) says that it needs."""
        self.file(path)
        command = [*loader, "--list", path] if loader else ["ldd", path]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        for name in re.findall(r"(/\S+) \(0x", found.stdout):
            self.file(name)
        if loader:
            self.file(loader[0])

    def write(self, path):
        with open(path, "wb") as out:
            for inode, (name, entry) in enumerate([*sorted(self.entries.items()),
                                                   ("TRAILER!!!", (0, b"", (0, 0)))], 1):
                mode, content, (major, minor) = entry
                head = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(name) + 1, 0)
                block = b"070701" + b"".join(b"%08X" % field for field in head)
                block += name.encode() + b"\0"
                block += b"\0" * (-len(block) % 4)
                out.write(block + content + b"\0" * (-len(content) % 4))
