#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tools say of shop.py (python_names.sh):
  seam FILE <report.json      prints the share of Shop.count, in per cent, as perf does
  chains FILE <text           stacks as "ip symbol" and "file:line": every chain of Shop.count has its callers, and right lines
  samply FILE PEER PROFILE    names and lines that samply's server gives for the profile's addresses"""
import gzip
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request

LINES = {"Shop.count": (8, 9, 10, 11, 12), "Shop.serve": (4, 5, 6), "main": (14, 15), "<module>": (3, 4, 8, 14, 17)}


def seam(path):
    report = json.load(sys.stdin)
    whole = [event["weight"] for event in report["events"] if event["name"] == "cpu-clock"][0]
    for row in report["rows"]:
        if row["sym"] == "py::Shop.count:" + path:
            print("%.2f%%" % (100 * row["self"] / whole))


def chains(path):
    wanted = list(LINES)
    seen = 0
    chain = []

    def done():
        names = [name for name, _ in chain]
        if "Shop.count" not in names:
            return 0
        if names[-4:] != wanted:
            sys.exit("chain: " + str(chain))
        for name, line in chain:
            if line not in LINES[name]:
                sys.exit("line: " + str(chain))
        return 1

    name = None
    for text in sys.stdin:
        frame = re.match(r"\s+[0-9a-f]+ py::([^:]+):" + re.escape(path), text)
        line = re.match(r"\s*(?:\S*/)?shop\.py:(\d+)", text)
        if not text.strip():
            seen += done()
            chain = []
        elif frame:
            name = frame.group(1)
        elif line and name:
            chain.append((name, int(line.group(1))))
            name = None
    seen += done()
    if not seen:
        sys.exit("no chains")
    print(seen, "chains")


def samply(path, peer, file):
    with open(file, "rb") as f:
        text = f.read()
    profile = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text)
    lib = [lib for lib in profile["libs"] if lib["name"] == "[python]"][0]
    number = profile["libs"].index(lib)
    addresses = set()
    for t in profile["threads"]:
        for i, func in enumerate(t["frameTable"]["func"]):
            resource = t["funcTable"]["resource"][func]
            if resource >= 0 and t["resourceTable"]["lib"][resource] == number:
                addresses.add(t["frameTable"]["address"][i])
    words = subprocess.run([peer, "--command", "samply"], check=True, capture_output=True, text=True).stdout.splitlines()
    with subprocess.Popen(words + ["load", "--no-open", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as server:
        try:
            base = None
            while not base:
                line = server.stdout.readline()
                if not line:
                    sys.exit("samply ended")
                base = re.search(r"http://127\.0\.0\.1:\d+/[a-z0-9]+", urllib.parse.unquote(line))
            ask = {"memoryMap": [[lib["debugName"], lib["breakpadId"]]], "stacks": [[[0, a] for a in sorted(addresses)]]}
            request = urllib.request.Request(base.group(0) + "/symbolicate/v5", json.dumps(ask).encode())
            with urllib.request.urlopen(request, timeout=60) as answer:
                frames = json.load(answer)["results"][0]["stacks"][0]
        finally:
            server.kill()
    names = set()
    for frame in frames:
        name = re.match(r"py::([^:]+):(.*)", frame.get("function", ""))
        if not name:
            sys.exit("no name: " + str(frame))
        if name.group(2) == path:
            if frame["file"] != path or frame["line"] not in LINES[name.group(1)]:
                sys.exit("line: " + str(frame))
            names.add(name.group(1))
    if names != set(LINES):
        sys.exit("names: " + str(names))


{"seam": seam, "chains": chains, "samply": samply}[sys.argv[1]](*sys.argv[2:])
