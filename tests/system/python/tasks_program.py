# SPDX-License-Identifier: MIT
"""tasks_program.py SECONDS (of CPU time): tasks of asyncio that await each other in ways whose chains are known: who awaits the task that
runs t_NAME is what AWAITED has, the innermost first (tasks_check.py)."""
import asyncio
import sys
import time

AWAITED = {
    "alone": (), "several": (),
    "direct": ("inner", "direct", "main"),
    "gathered": ("gathers", "main"),
    "first": ("group", "main"), "second": ("group", "main"),
    "twice": ("waits_twice", "main"),
    "shielded": ("shields", "main"),
    "streamed": ("stream", "reads", "main"),
    "legacy": ("Waits.__await__", "legacy", "main"),
    "nested": ("outer", "nests", "main"),
    "deep": tuple(["deeper"] * 12) + ("deep", "main"),
    "far": tuple(["far"] * 16),
    "cycle": None,
}


def works(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


source = """
async def t_NAME():
    for _ in range(4):
        works(2000)
        await asyncio.sleep(0)
"""
for name in AWAITED:
    exec(compile(source.replace("NAME", name), __file__, "exec"))
task = asyncio.create_task


async def inner(t):
    await t


async def direct():
    await inner(task(t_direct()))


async def gathers():
    await asyncio.gather(t_gathered(), t_gathered())


async def group():
    async with asyncio.TaskGroup() as g:
        g.create_task(t_first())
        g.create_task(t_second())


async def waits_twice():
    async with asyncio.TaskGroup() as g:
        await g.create_task(t_twice())


async def shields():
    await asyncio.shield(t_shielded())


async def stream():
    await task(t_streamed())
    yield 1


async def reads():
    async for _ in stream():
        pass


class Waits:
    def __init__(self, t):
        self.t = t

    def __await__(self):
        return (yield from self.t.__await__())


async def legacy():
    await Waits(task(t_legacy()))


async def outer():
    await task(t_nested())


async def nests():
    await task(outer())


async def deeper(n):
    await (deeper(n - 1) if n else task(t_deep()))


async def deep():
    await deeper(11)


async def far(n):
    await task(far(n - 1) if n else t_far())


async def waits(t):
    await t


async def several():
    t = task(t_several())
    await asyncio.gather(waits(t), waits(t))


async def cycle():
    """Who awaits the task awaits itself, by way of another."""
    async def stays():
        await asyncio.sleep(1e6)
    a, b = task(stays()), task(stays())
    await asyncio.sleep(0)
    t = task(t_cycle())
    for awaited, by in (t, a), (a, b), (b, a):
        asyncio.futures.future_add_to_awaited_by(awaited, by)
    while not t.done():
        await asyncio.sleep(0)
    asyncio.futures.future_discard_from_awaited_by(b, a)
    a.cancel()
    b.cancel()


async def main():
    for way in (direct, gathers, group, waits_twice, shields, reads, legacy, nests, deep, several, cycle):
        await way()
    await far(20)
    t = task(t_alone())
    while not t.done():
        await asyncio.sleep(0)


while time.process_time() < float(sys.argv[1]):
    asyncio.run(main())
