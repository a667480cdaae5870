# SPDX-License-Identifier: MIT
"""A program whose stacks are known: every function has one caller only, and its name is the way to
it. Usage: truth_program.py SECONDS (of CPU time). Each part of a name is a number and how the
function is called: d directly, m as a method, l through a closure, r and calls itself, s as the key
of sorted, p by map, j by json, c by ctypes, g as a generator, x and ends by an exception, a as a
coroutine, e by exec, f by a finalizer."""
import asyncio
import ctypes
import json
import sys
import time

WIDTH, DEPTH = 4, 4
KINDS = "dmlrspjcgxaef"
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


def body(name, children):
    """The statements of a function: some work, and its children."""
    lines = ["v = 0", "for i in range(150):", "    v += i * i"]
    for child in children:
        kind = child[-1]
        lines += {
            "d": [f"{child}()"],
            "m": [f"Holder_{child}().{child}()"],
            "l": [f"(make_{child}())()"],
            "r": [f"{child}(4)"],
            "s": [f"sorted((2, 1), key={child})"],
            "p": [f"list(map({child}, (1,)))"],
            "j": [f"json.loads('{{\"a\": 1}}', object_hook={child})"],
            "c": [f"CALLBACK({child})(1)"],
            "g": [f"for _ in {child}(): pass"],
            "x": ["try:", f"    {child}()", "except ValueError:", "    v = 1"],
            "a": [f"asyncio.run({child}())"] if "a" not in name else [f"{child}_sync()"],
            "e": [f"exec(code_{child}, globals())"],
            "f": [f"Final_{child}()"],
        }[kind]
    lines += ["for i in range(150):", "    v += i * i"]
    return lines


def define(name, children):
    """The source of a function that is called as the last letter of its name says."""
    kind = name[-1]
    lines = body(name, children)
    indent = "\n    "
    args = "*_"
    if kind == "r":
        return (f"def {name}(n):{indent}if n:{indent}    return {name}(n - 1)"
                f"{indent}" + indent.join(lines))
    if kind == "m":
        return (f"class Holder_{name}:\n    def {name}(self):\n        "
                + "\n        ".join(lines))
    if kind == "l":
        return (f"def make_{name}():\n    cell = [0]\n    def {name}():\n        cell[0] += 1\n"
                "        " + "\n        ".join(lines) + f"\n    return {name}")
    if kind == "f":
        return (f"class Final_{name}:\n    def __del__(self):\n        {name}()\n"
                f"def {name}():{indent}" + indent.join(lines))
    if kind == "a":
        text = f"async def {name}():{indent}await asyncio.sleep(0){indent}" + indent.join(lines)
        return text + f"\ndef {name}_sync():{indent}" + indent.join(lines)
    if kind == "e":
        source = f"def {name}():\n    " + indent.join(lines) + f"\n{name}()\n"
        return f"code_{name} = compile({source!r}, '<made>', 'exec')"
    if kind == "g":
        lines = ["yield 1"] + lines + ["yield 2"]
    if kind == "x":
        lines.append("raise ValueError")
    if kind in "sjc":
        lines.append("return 1")
    return f"def {name}({args}):{indent}" + indent.join(lines)


def tree(name, depth, number):
    """All functions below one, and their names."""
    children = []
    if depth:
        for i in range(WIDTH):
            kind = KINDS[number[0] % len(KINDS)]
            number[0] += 1
            children.append(f"{name}_{i}{kind}")
    texts = []
    for child in children:
        texts += tree(child, depth - 1, number)
    return texts + [define(name, children)]


def main():
    space = {"asyncio": asyncio, "json": json, "CALLBACK": CALLBACK, "ctypes": ctypes}
    exec(compile("\n".join(tree("n_0d", DEPTH, [0])), __file__ + ".made", "exec"), space)
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        space["n_0d"]()


main()
