# SPDX-License-Identifier: MIT
"""A program whose chains are known by construction, and noted by the interpreter itself. Usage: chains_program.py SECONDS DIR
(of CPU time, all together; what is noted goes to DIR/noted-PID.json).

Its own functions are k_ROLE_0, which calls k_ROLE_1, which calls k_ROLE_2 and so on to the role's depth; each has LINES lines,
and calls the next in line CALL of them. The last calls zlib. What called k_ROLE_0 ("floor") is noted by its first call. A
thread, and each process of multiprocessing, has roles of its own; ev and rl are compiled anew each time, with a number in
names and file. A sampler in each process notes what sys._current_frames() says of all threads."""
import asyncio
import ctypes
import functools
import importlib
import json
import multiprocessing
import os
import sys
import threading
import time
import zlib

LINES, CALL = 10, 6
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
# A chain of that many calls, most of them by way of C. Where the native stack is cut off 3.8 and 3.9 have no frames.
DEEP = 500 if sys.version_info >= (3, 10) else 60
# How the function of a depth is called: d directly, s as a key of sorted, u by reduce, c by ctypes, p by map, o as a key of
# max, a as the + of a class, g as a generator, x and ends by an exception.
KINDS = "dsucpogaxd"
DEPTHS = {"deep": DEEP, "ta": 40, "tb": 40, "tc": 40, "fork": 40, "spawn": 40, "as": 12, "ev": 9, "rl": 9}
noted = {"floors": {}, "chains": {}}
lock = threading.Lock()
data = bytes(1500)


def names(frame):
    """Outermost first."""
    found = []
    while frame:
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found[::-1]


class Note:
    """Notes once for each thread and role what runs it."""
    def __init__(self):
        self.done = set()

    def __call__(self, role, caller=3):
        if (threading.get_ident(), role) not in self.done:
            self.done.add((threading.get_ident(), role))
            note_floor(role, caller)


def note_floor(role, caller):
    with lock:
        floors = noted["floors"].setdefault(str(threading.get_native_id()), {}).setdefault(role, [])
        floors.append(names(sys._getframe(caller)))


def source(role, depth, tag=""):
    """All functions of a role."""
    text = ""
    for d in range(depth + 1):
        name, kind = f"k_{role}{tag}_{d}", KINDS[d % len(KINDS)]
        callee, by = f"k_{role}{tag}_{d + 1}", KINDS[(d + 1) % len(KINDS)]
        if role == "as":
            call, kind = f"await {callee}(n)", "as"
        else:
            call = {"d": "{}(n)", "s": "sorted((n,), key={})", "u": "functools.reduce({}, (n, n))", "c": "CALLBACK({})(n)",
                    "p": "list(map({}, (n,)))", "o": "max((n,), key={})", "a": "Adds_{}(n) + 0", "x": "{}(n)",
                    "g": "for _ in {}(n): pass"}[by].format(callee)
        end = {"x": "raise ValueError", "g": "yield 1"}.get(kind, "return 1")
        before = "await asyncio.sleep(0)" if kind == "as" and d % 4 == 3 else "pass"
        text += "\n".join([
            f"{'async ' if kind == 'as' else ''}def {name}(n, *_):",
            f"    {f'NOTE({role!r})' if d == 0 else before}; v = 0",
            "    for i in range(60): v += i * i",
            f"    if n <= {d}: {'' if kind in 'xg' else 'return '}zlib.crc32(data) and 1" if d == depth else "    v += 1",
            "    try:",
            f"        {'pass' if d == depth else call}",
            "    except ValueError: v = 2",
            "    for i in range(60): v += i * i",
            f"    {end}",
            f"Adds_{name} = type('Adds', (int,), {{'__add__': {name}}})", ""])
    return text


def space_of():
    return {"asyncio": asyncio, "functools": functools, "CALLBACK": CALLBACK, "zlib": zlib, "data": data, "NOTE": Note()}


def made(role, tag=""):
    space = space_of()
    exec(compile(source(role, DEPTHS[role], tag), f"/made/{role}{tag}", "exec"), space)
    return space


def sample(stop):
    """Notes the chains of all other threads, by their own names."""
    while not stop.wait(0.005):
        tids = {t.ident: t.native_id for t in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            if ident == threading.get_ident() or ident not in tids:
                continue
            noted["chains"].setdefault(str(tids[ident]), set()).add("/".join(names(frame)))


def run_role(role, seconds):
    function = made(role)[f"k_{role}_0"]
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        function(DEPTHS[role])


def run_eval(seconds):
    i, end = 10000, time.thread_time() + seconds
    while time.thread_time() < end:
        i = i + 1 if i < 99999 else 10000
        space = made("ev", i)
        for _ in range(3):
            eval(f"k_ev{i}_0({DEPTHS['ev']})", space)


def run_reload(seconds, directory):
    name = f"reloaded_{os.getpid()}"
    sys.dont_write_bytecode = True
    sys.path.insert(0, directory)
    i, end, module, note = 10000, time.thread_time() + seconds, None, Note()
    while time.thread_time() < end:
        i = i + 1 if i < 99999 else 10000
        with open(f"{directory}/{name}.py", "w") as f:
            f.write(source("rl", DEPTHS["rl"], i))
            f.write("import functools, ctypes, zlib\nCALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)\ndata = bytes(1500)\n")
        importlib.invalidate_caches()
        module = importlib.reload(module) if module else importlib.import_module(name)
        module.NOTE = note
        for _ in range(3):
            getattr(module, f"k_rl{i}_0")(DEPTHS["rl"])


async def tasks(seconds):
    function = made("as")["k_as_0"]
    Note()("made", 2)  # this makes the coroutines, which are frames of k_as_0, too, for a moment
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        made_now = []
        for _ in range(4):
            made_now.append(asyncio.ensure_future(function(DEPTHS["as"])))
        await asyncio.gather(*made_now)


def run_tasks(seconds):
    asyncio.run(tasks(seconds))


def run_process(role, seconds, directory):
    """In a process: its role, and all that is noted of it."""
    noted["floors"].clear()
    noted["chains"].clear()
    stop = threading.Event()
    sampler = threading.Thread(target=sample, args=(stop,))
    sampler.start()
    if role:
        run_role(role, seconds)
    else:
        run_main(seconds, directory)
    stop.set()
    sampler.join()
    with open(f"{directory}/noted-{os.getpid()}.json", "w") as f:
        json.dump({"depths": DEPTHS, "floors": noted["floors"], "chains": {t: sorted(c) for t, c in noted["chains"].items()}}, f)


def run_main(seconds, directory):
    threads = [threading.Thread(target=run_role, args=(role, seconds / 10)) for role in ("ta", "tb", "tc")]
    for t in threads:
        t.start()
    run_role("deep", seconds / 10)
    for t in threads:
        t.join()
    run_tasks(seconds / 10)
    run_eval(seconds / 10)
    run_reload(seconds / 10, directory)


def main():
    seconds, directory = float(sys.argv[1]), sys.argv[2]
    sys.setrecursionlimit(20000)
    for way in ("fork", "spawn"):
        process = multiprocessing.get_context(way).Process(target=run_process, args=(way, seconds / 10, directory))
        process.start()
        process.join()
    run_process("", seconds, directory)


if __name__ == "__main__":
    main()
