#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py OBJECT OUT.c NAME: the bytes of a file as the C array NAME_bytes, their number as NAME_size."""
import sys

data, name = open(sys.argv[1], "rb").read(), sys.argv[3]
with open(sys.argv[2], "w") as out:
    out.write('#include "capture/bpf/object.h"\n\n')
    out.write(f"_Alignas(8) const unsigned char {name}_bytes[] = {{\n")
    for at in range(0, len(data), 24):
        out.write("\t" + ",".join("%d" % byte for byte in data[at:at + 24]) + ",\n")
    out.write(f"}};\nconst size_t {name}_size = sizeof({name}_bytes);\n")
