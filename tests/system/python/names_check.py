#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tools say of shop.py (python_names.sh):
  seam FILE <report.json      prints the share of Shop.count, in per cent, as perf does
  chains FILE <text           stacks as "ip symbol" and "file:line": every chain of Shop.count has its callers, and right lines
  annotate FILE <json         lines of Shop.count with their texts
  loop <json                  prints the samples at instructions
  exports FILE FIREFOX CALLGRIND  files, lines, and that Python is a category of its own
  page <html                  a flame graph in which Python's functions have a kind of their own
  samply FILE PEER PROFILE    names and lines that samply's server gives for the profile's addresses"""
import base64
import gzip
import json
import re
import struct
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


def annotate(path):
    function = json.load(sys.stdin)["functions"][0]
    if function["instructions"] or not function["lines"]:
        sys.exit(json.dumps(function))
    with open(path, encoding="ascii") as f:
        text = f.read().splitlines()
    for line in function["lines"]:
        if line["file"] != path or line["line"] not in LINES["Shop.count"] or line["text"] != text[line["line"] - 1]:
            sys.exit(json.dumps(line))


def loop():
    print(sum(i["samples"] for f in json.load(sys.stdin)["functions"] for i in f["instructions"]))


def exports(path, firefox, callgrind):
    with open(firefox, encoding="utf-8") as f:
        j = json.load(f)
    names = [category["name"] for category in j["meta"]["categories"]]
    part = j["shared"] if "funcTable" in j.get("shared", {}) else j["threads"][0]
    texts = j["shared"]["stringArray"] if "stringArray" in j.get("shared", {}) else part["stringArray"]
    lines = set()
    for i, func in enumerate(part["frameTable"]["func"]):
        name = texts[part["funcTable"]["name"][func]]
        category = names[part["frameTable"]["category"][i]]
        if name.startswith("py::") != (category == "Python"):
            sys.exit("category of %s: %s" % (name, category))
        if name == "py::Shop.count:" + path:
            lines.add(part["frameTable"]["line"][i])
    if not lines or lines - set(LINES["Shop.count"]):
        sys.exit("lines: " + str(lines))
    with open(callgrind, encoding="utf-8") as f:
        text = f.read()
    if not re.search(r"^c?f[il]=.*" + re.escape(path) + r"$", text, re.M):
        sys.exit("no file in callgrind")


def page():
    """The data of a page: a head in JSON, then arrays (src/export/flame_arrays.c), in elements of base64."""
    pieces = re.findall(r'class="data"[^>]*>([^<]*)<', sys.stdin.read())
    data = gzip.decompress(b"".join(map(base64.b64decode, pieces)))
    meta = json.loads(data[4:4 + struct.unpack("<I", data[:4])[0]])
    if meta["runtimes"][0]["name"] != "Python": # its kind is the first behind native code's
        sys.exit(str(meta["runtimes"]))
    at = (4 + struct.unpack("<I", data[:4])[0] + 7) & ~7
    arrays = []
    for _ in range(3):
        width = struct.unpack_from("<I", data, at)[0]
        form = "<%d%s" % (meta["functions"], {1: "B", 2: "H", 4: "I"}[width])
        arrays.append(struct.unpack_from(form, data, at + 8))
        at += 8 + (struct.calcsize(form) + 7 & ~7)
    names, _, kinds = arrays
    for name, kind in zip(names, kinds):
        if meta["texts"][name].startswith("py::") != (kind == 5):
            sys.exit("kind of %s: %d" % (meta["texts"][name], kind))


{"seam": seam, "chains": chains, "samply": samply, "annotate": annotate, "loop": loop,
 "exports": exports, "page": page}[sys.argv[1]](*sys.argv[2:])
