#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unmark.py IN OUT: a recording without the marks of how walks ended (docs/format.md), all else the same.
Exit 1: there were none."""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end, marked = at + size, 0
while at < end:
    kind, misc, n = struct.unpack_from("<IHH", data, at)
    if kind == 9:
        marked += misc & 0xff8 != 0
        struct.pack_into("<H", data, at + 4, misc & ~0xff8)
    at += n
open(sys.argv[2], "wb").write(data)
print(marked, "samples with marks")
sys.exit(not marked)
