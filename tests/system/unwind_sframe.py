#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The same object by .sframe and by .eh_frame: with trixie's assembler (version 2) and sid's (version 3) every rule that
.sframe has must equal .eh_frame's at every address. What .sframe leaves out is counted and printed.

    unwind_sframe.py TOOL SOURCE_ROOT    TOOL: the built system_unwind_sframe

77 when no such assembler is in the cache: scripts/assemblers provides them.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

FLAGS = {
    "O2": ["-O2"],
    "fp": ["-O2", "-fno-omit-frame-pointer"],
    "O3": ["-O3", "-mavx2", "-fstack-protector-strong"],
}
# Version 2 has no rule for a CFA in another register; in both, the start code of the C library was assembled without.
LEFT_OUT = 0.1


def build(root, bin_dir, out, flags, sources):
    command = ["gcc", *flags, "-B", bin_dir + "/", "-Wa,--gsframe", "-D_GNU_SOURCE", f"-I{root}/src", f"-I{root}/include",
               "-o", out, *sources]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"gcc: {done.stderr[-500:]}")
    return done.returncode == 0


def version(path, bin_dir):
    text = subprocess.run([f"{bin_dir}/readelf", "--sframe", path], capture_output=True, text=True).stdout
    flexible = sum('attr = "F"' in line for line in text.splitlines())
    found = [line.split("_")[-1] for line in text.splitlines() if "SFRAME_VERSION_" in line]
    return (found[0] if found else "none"), flexible


def main():
    tool, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    sources = sorted(glob.glob(f"{root}/src/unwind/*.c"))
    case = f"{root}/tests/system/unwind_cases/drap.c"
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="seam-sframe-") as work:
        for suite in ("trixie", "sid"):
            have = subprocess.run([f"{root}/scripts/assemblers", "--have", suite], capture_output=True, text=True)
            if have.returncode:
                print(f"{suite}: skipped: its assembler is not in the cache; scripts/assemblers {suite}")
                continue
            bin_dir = have.stdout.strip()
            objects = [(name, f"{work}/{suite}-{name}.so", [*flags, "-fPIC", "-shared"], sources)
                       for name, flags in FLAGS.items()]
            objects.append(("drap", f"{work}/{suite}-drap", ["-O2", "-mavx2"], [case]))
            for name, out, flags, of in objects:
                if not build(root, bin_dir, out, flags, of):
                    failed += 1
                    continue
                done = subprocess.run([tool, out], capture_output=True, text=True)
                sys.stdout.write(done.stderr)
                if not done.stdout:
                    failed += 1
                    continue
                r = json.loads(done.stdout)
                number, flexible = version(out, bin_dir)
                ran += 1
                print(f"{suite} version {number} {name:5} {r['addresses']:7} addresses, {r['equal']:7} equal, not in .sframe"
                      f" {r['eh_frame_only']}, functions skipped {r['skipped']}, flexible {flexible}", flush=True)
                few = r["eh_frame_only"] <= r["addresses"] * LEFT_OUT or name == "drap"
                failed += done.returncode != 0 or not few or (suite == "sid" and name == "drap" and not flexible)
    return 1 if failed else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
