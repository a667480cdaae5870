#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py PAGE STYLE SCRIPT HEAD TAIL: the page with its style and script in place, as two files: up to the data and after it."""
import sys

page, style, script = (open(name, encoding="utf-8").read() for name in sys.argv[1:4])
parts = page.replace("@STYLE@", style).replace("@SCRIPT@", script).split("@DATA@")
for name, text in zip(sys.argv[4:], parts, strict=True):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)
