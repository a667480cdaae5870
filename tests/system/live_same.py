#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
One recording with --keep-stacks, unwound from the file and by the recorder's own path: every sample must have the same
frames and the same end. Programs whose mappings change all the time, threads, signals, python3.

    live_same.py TOOL SOURCE_ROOT      77 when nothing can be recorded here; TOOL is the built system_live_same
"""
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

PYTHON = """
import json, time
while time.process_time() < 0.4: json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(1000)]))
"""


def build(out, source, *flags):
    subprocess.run(["cc", "-O2", "-g", "-fomit-frame-pointer", *flags, "-o", out, source, "-ldl", "-lpthread"], check=True,
                   stderr=subprocess.DEVNULL)
    return out


def main():
    tool, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    seam = os.path.join(os.path.dirname(tool), "..", "..", "seam")
    here = os.path.join(root, "tests", "system")
    if platform.machine() != "x86_64" or not shutil.which("cc"):
        print("the programs are written for x86_64, and are compiled")
        return 77
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="seam-same-") as work:
        os.chdir(work)
        os.environ["SEAM_CONFIG"] = ""
        scenes = build("scenes", os.path.join(here, "live", "scenes.c"), "-rdynamic")
        for plug, words in (("a", "4"), ("b", "40")):
            build(f"plug_{plug}.so", os.path.join(here, "live", "plug.c"), "-shared", "-fPIC", f"-DINNER=inner_{plug}",
                  f"-DWORDS={words}")
        cases = build("cases", os.path.join(here, "unwind_cases", "cases.c"), "-DHAVE_UCONTEXT")
        programs = {
            "scenes": ([f"./{scenes}", "1200"], "16384"),
            "scenes, short copies": ([f"./{scenes}", "700"], "512"),
            "signals": ([f"./{cases}", "signal", "1"], "8192"),
            "alternate stack": ([f"./{cases}", "altstack", "1"], "8192"),
            "threads": ([f"./{cases}", "threads", "1"], "8192"),
            "python3": ([sys.executable, "-S", "-c", PYTHON], "65528"),
            "many short processes": (["sh", "-c", "while read -r s </proc/self/stat; set -- ${s##*) }; [ $((${14}+${15})) -lt 50 ]; do ls -lR /usr/include/linux; done"],
                                     "8192"),
        }
        for name, (command, size) in programs.items():
            done = subprocess.run([seam, "record", "--call-graph", f"dwarf,{size}", "--keep-stacks", "-F", "1999", "-o",
                                   "keep.data", "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True)
            if done.returncode:
                print("cannot record here:", done.stderr.strip()[-300:])
                return 77
            for threads in ("1", "3"):
                done = subprocess.run([tool, "keep.data", threads], capture_output=True, text=True)
                r = json.loads(done.stdout)
                ran += 1
                bad = (done.returncode or r["differ"] or r["samples"] != r["expected"] or r["equal"] < 20
                       or r["equal"] + r["in_exec"] != r["samples"] or not r["frames"])
                failed += bool(bad)
                print("FAILED" if bad else "ok", f"{name}, {threads} threads:", json.dumps(r), done.stderr)
    return 1 if failed else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
