# SPDX-License-Identifier: MIT
"""BPF programs that come and go: peer_reads_churn.py N. Each is loaded and let go of again; exit 77 where that is not permitted."""
import ctypes
import os
import platform
import struct
import sys
import time

NUMBER = {"x86_64": 321, "aarch64": 280}
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0))  # r0 = 0; exit
text = ctypes.create_string_buffer(b"GPL")
attr = ctypes.create_string_buffer(struct.pack("<IIQQIIQII16s", 1, 2, ctypes.addressof(code), ctypes.addressof(text),
                                               0, 0, 0, 0, 0, b"churn").ljust(128, b"\0"))

for _ in range(int(sys.argv[1])):
    fd = libc.syscall(NUMBER.get(platform.machine(), -1), 5, attr, 128)
    if fd < 0:
        print("no BPF program can be loaded: " + os.strerror(ctypes.get_errno()))
        sys.exit(77)
    time.sleep(0.002)
    os.close(fd)
