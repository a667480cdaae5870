# SPDX-License-Identifier: MIT
"""ways.py SECONDS: functions that call each other in many ways (judge.py): f<K> calls a w<K>_..., which leads to f<K+1>."""
import asyncio
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import re
import sys
import tempfile
import threading
import time

ended = False


def spin(n):
    s = n
    for i in range(20 + n % 16):
        s = (s * 31 + i) & 0xffff
    return s


class A:
    def __init__(self, n, f):
        self.n, self.f = n, f

    def __hash__(self):
        return self.f(self.n)

    def __eq__(self, other):
        return self.f(self.n) == 0

    def __lt__(self, other):
        return self.f(self.n) > 0

    def __add__(self, other):
        return self.f(self.n) + other

    def __str__(self):
        return str(self.f(self.n))

    def __getattr__(self, name):
        return self.f(self.n)

    def __enter__(self):
        return self.f(self.n)

    def __exit__(self, *a):
        return False

    def __call__(self, n):
        return self.f(n)

    @property
    def value(self):
        return self.f(self.n)

    @classmethod
    def made(cls, n, f):
        return f(n)


class Dies:
    def __init__(self, n, f):
        self.n, self.f = n, f

    def __del__(self):
        self.f(self.n)


class Built(A):
    def __init__(self, n, f):
        super().__init__(n, f)
        self.f(n)


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)
folder = tempfile.TemporaryDirectory()
sys.path.insert(0, folder.name)
sys.dont_write_bytecode = True
gc.set_threshold(100, 5, 5)


def made(k, n, f):
    """A function whose code is new and dies behind its call, so that another one's is where it was."""
    names = {}
    exec("def w%d_made%d(n):\n    return f(n)\n" % (k, n % 90 + 10), {"f": f}, names)
    return names.popitem()[1]


def again(k, n, f):
    """Likewise, of a module that is read again: its functions are on other lines each time."""
    name = "ways_again%d" % threading.get_ident()
    with open(os.path.join(folder.name, name + ".py"), "w") as module:
        module.write("".join("%sdef w%d_again(n):\n    return f(n)\n" % ("\n" * (n % 50), i) for i in range(4)))
    importlib.invalidate_caches()
    found = getattr(importlib.reload(importlib.import_module(name)), "w%d_again" % k)
    return type(found)(found.__code__, {"f": f})


def f0(n):
    ways = (w0_direct, w0_lambda, w0_map, w0_sorted, w0_comprehension, w0_generator, w0_reduce, w0_property, w0_recursion,
            lambda x: made(0, x, f1)(x))
    return ways[n % 10](n) + spin(n)


def w0_direct(n):
    return f1(n) + spin(n)


def w0_lambda(n):
    return (lambda x: f1(x))(n)


def w0_map(n):
    return sum(map(f1, (n,)))


def w0_sorted(n):
    return sorted((n, n + 1), key=f1)[0]


def w0_comprehension(n):
    return [f1(x) for x in (n,)][0]


def w0_generator(n):
    return sum(f1(x) for x in (n,))


def w0_reduce(n):
    return functools.reduce(lambda a, x: f1(x), (n, n))


def w0_property(n):
    return A(n, f1).value


def w0_recursion(n):
    def deeper(k):
        return f1(n) if k == 0 else deeper(k - 1) + 1
    return deeper(20)


def f1(n):
    ways = (w1_hash, w1_equal, w1_less, w1_add, w1_text, w1_attribute, w1_with, w1_call, w1_class,
            lambda x: made(1, x, f2)(x))
    return ways[n // 10 % 10](n) + spin(n)


def w1_hash(n):
    return len({A(n, f2)})


def w1_equal(n):
    return [A(n, f2)].count(n)


def w1_less(n):
    return min(A(n, f2), A(n, f2)).n


def w1_add(n):
    return A(n, f2) + 1


def w1_text(n):
    return len(f"{A(n, f2)}")


def w1_attribute(n):
    return A(n, f2).missing


def w1_with(n):
    with A(n, f2) as x:
        return x


def w1_call(n):
    return A(n, f2)(n)


def w1_class(n):
    return A.made(n, f2)


def f2(n):
    ways = (w2_qsort, w2_regex, w2_exec, w2_eval, w2_delete, w2_constructor, w2_json, w2_cached, w2_partial,
            lambda x: made(2, x, f3)(x))
    return ways[n // 100 % 10](n) + spin(n)


def w2_qsort(n):
    a = (ctypes.c_int * 2)(1, 2)
    libc.qsort(a, 2, 4, COMPARE(lambda x, y: f3(n) & 1))
    return a[0]


def w2_regex(n):
    return len(re.sub("b", lambda m: str(f3(n)), "abc"))


def w2_exec(n):
    exec("f3(n)")
    return n


def w2_eval(n):
    return eval("f3(n)")


def w2_delete(n):
    Dies(n, f3)
    return n


def w2_constructor(n):
    return Built(n, f3).n


def w2_json(n):
    return len(json.dumps(A, default=lambda a: f3(n)))


def w2_cached(n):
    return functools.lru_cache(f3)(n)


def w2_partial(n):
    return functools.partial(f3, n)()


async def task(n):
    return f4(n)


def f3(n):
    ways = (w3_send, w3_except, w3_finally, w3_coroutine, w3_manager, w3_callback,
            lambda x: made(3, x, f4)(x))
    way = again(3, n, f4) if n % 97 == 0 else ways[n // 1000 % 7]
    return way(n) + spin(n)


def w3_send(n):
    def steps():
        x = yield
        yield f4(x)
    s = steps()
    next(s)
    return s.send(n)


def w3_except(n):
    try:
        raise ValueError
    except ValueError:
        return f4(n)


def w3_finally(n):
    try:
        return n
    finally:
        f4(n)


def w3_coroutine(n):
    try:
        task(n).send(None)
    except StopIteration as e:
        return e.value


def w3_manager(n):
    @contextlib.contextmanager
    def managed():
        yield f4(n)
    with managed() as x:
        return x


def w3_callback(n):
    loop = asyncio.new_event_loop()
    loop.call_soon(lambda: (f4(n), loop.stop()))
    loop.run_forever()
    loop.close()
    return n


def f4(n):
    return spin(n) + spin(n + 1) + len(str(n) * 50)


def work(n):
    while not ended:
        n += 7919
        f0(n)


threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for t in threads:
    t.start()
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
ended = True
