# SPDX-License-Identifier: MIT
"""Stops every thread of a recorder but the one that reads the rings, until a process has ended.

    hold.py RECORDER TARGET      prints "held" when they stand still, "released N" when they go on
"""
import ctypes
import os
import sys
import time

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None) < 0:
        error = ctypes.get_errno()
        sys.exit(f"ptrace: {os.strerror(error)}")


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


recorder, target = int(sys.argv[1]), int(sys.argv[2])
threads = [int(t) for t in os.listdir(f"/proc/{recorder}/task") if int(t) != recorder]
for thread in threads:
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, WALL)
print("held", len(threads), flush=True)
while running(target) and running(recorder):
    time.sleep(0.05)
for thread in threads:
    ptrace(DETACH, thread)
print("released", len(threads), flush=True)
