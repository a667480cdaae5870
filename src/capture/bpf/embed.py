#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py OBJECT OUT.c: the bytes of a file as a C array."""
import sys

data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "w") as out:
    out.write('#include "capture/bpf/kwalk_object.h"\n\n')
    out.write("_Alignas(8) const unsigned char kwalk_object_bytes[] = {\n")
    for at in range(0, len(data), 24):
        out.write("\t" + ",".join("%d" % byte for byte in data[at:at + 24]) + ",\n")
    out.write("};\nconst size_t kwalk_object_size = sizeof(kwalk_object_bytes);\n")
