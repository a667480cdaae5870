#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py PAGE STYLE SCRIPT OUT.c: the page with its style and script in place, as two C arrays: up to the data and after it."""
import sys

page, style, script = (open(name, encoding="utf-8").read() for name in sys.argv[1:4])
page = page.replace("@STYLE@", style).replace("@SCRIPT@", script)
head, tail = page.split("@DATA@")
with open(sys.argv[4], "w", encoding="utf-8") as out:
    out.write('#include "export/flame_asset.h"\n\n')
    for name, text in (("head", head), ("tail", tail)):
        data = text.encode()
        out.write("const unsigned char flame_asset_%s[] = {\n" % name)
        for at in range(0, len(data), 24):
            out.write("\t" + ",".join("%d" % byte for byte in data[at:at + 24]) + ",\n")
        out.write("};\nconst size_t flame_asset_%s_size = sizeof(flame_asset_%s);\n\n" % (name, name))
