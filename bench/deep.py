#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports of deep and various stacks: a recording of `make -j2` of C++ files full of templates, made here.

usage: bench/deep.py [--files N] [--freq HZ] [--rounds N] [--file PERF.DATA]

Prints the CPU seconds and the most memory of each command, seam's and perf 7's (scripts/peer), of one run: the least of
the rounds. --file takes a recording that is there already. Nothing of it is kept.
"""
import argparse
import os
import resource
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SEAM = os.environ.get("SEAM", os.path.join(ROOT, "build", "seam"))
SOURCE = """
#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
template<int N> struct Deep%(n)d {
	std::map<std::string, std::vector<std::array<int, N + 1>>> m;
	std::string go(const std::string &s)
	{
		std::regex r("a(b|c)*d");
		std::smatch x;
		std::vector<std::function<int(int)>> fs;
		int t = std::regex_search(s, x, r);
		for (int i = 0; i < N; i++)
			fs.push_back([=](int k) { return k * i + N; });
		for (auto &f : fs)
			t += f(3);
		m[s].push_back({});
		std::sort(m[s].begin(), m[s].end());
		return std::to_string(t) + Deep%(n)d<N - 1>().go(s);
	}
};
template<> struct Deep%(n)d<0> { std::string go(const std::string &s) { return s; } };
int run%(n)d() { std::cout << Deep%(n)d<%(depth)d>().go("abcd"); return std::async([] { return 1; }).get(); }
"""
COMMANDS = [("report --no-children --no-inline --stdio", True), ("report --no-children --no-inline -g none --stdio", True),
            ("report --no-inline --stdio", True), ("export --format folded -o -", False), ("flame -o flame.html", False)]


def record(where, files, freq):
    for n in range(files):
        with open(os.path.join(where, "f%d.cpp" % n), "w", encoding="utf-8") as f:
            f.write(SOURCE % {"n": n, "depth": 8 + n})
    with open(os.path.join(where, "Makefile"), "w", encoding="utf-8") as f:
        f.write("all: %s\n%%.o: %%.cpp\n\tg++ -O2 -c $< -o $@\n" % " ".join("f%d.o" % n for n in range(files)))
    subprocess.run([SEAM, "record", "-q", "-F", str(freq), "-o", "deep.data", "--", "make", "-j2"], cwd=where, check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(where, "deep.data")


def measure(command, where):
    """User and system CPU seconds of a command, and the most memory of it in MB."""
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("%s: status %d" % (" ".join(command), status))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][7:])
    parser.add_argument("--files", type=int, default=14)
    parser.add_argument("--freq", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="seam-deep-") as where:
        path = os.path.abspath(args.file) if args.file else record(where, args.files, args.freq)
        print("%s: %.0f MB" % (os.path.basename(path), os.path.getsize(path) / 1e6))
        print("| | seam, CPU s | MB | perf, CPU s | MB |\n|---|---|---|---|---|")
        for command, peer in COMMANDS:
            sides = [[SEAM]] + ([[os.path.join(ROOT, "scripts", "peer"), "perf"]] if peer else [])
            row = [min(measure(side + command.split() + ["-i", path], where) for _ in range(args.rounds)) for side in sides]
            print("| `%s` |%s" % (command, "".join(" %.2f | %.0f |" % pair for pair in row)) + ("" if peer else " - | - |"))


main()
