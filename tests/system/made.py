# SPDX-License-Identifier: MIT
"""A made-up recording of another machine's kernel: records over tests/golden/broken's writer. For system tests, which
put their directory and tests/golden/broken on the path."""
import make
from make import record, text, trailer, u16, u32, u64

KERNEL = 0xFFFFFFFFFFFFFF80  # what follows in a callchain is the kernel's
USER = 0xFFFFFFFFFFFFFE00
RELEASE = "6.99.1-made"


def kernel_mmap(start, size, name="[kernel.kallsyms]_text", pgoff=None, time=0):
    body = u32(0xFFFFFFFF) + u32(0) + u64(start) + u64(size) + u64(start if pgoff is None else pgoff)
    return record(1, body + text(name) + trailer(time), 1)


def build_id(path, hex_id, kernel=True):
    """An entry of the BUILD_ID feature."""
    name = path.encode() + b"\0"
    name += bytes(-len(name) % 64)
    ident = bytes.fromhex(hex_id)
    body = u32(0xFFFFFFFF) + ident + bytes(20 - len(ident)) + bytes([len(ident)]) + bytes(3) + name
    return u32(67) + u16(1 | 1 << 15 if kernel else 2 | 1 << 15) + u16(8 + len(body)) + body


def sample(time, chain, ip, kernel=True):
    r = make.sample(time, chain=chain)
    # misc and ip, which make's has of the user
    r = r[:4] + u16(1 if kernel else 2) + r[6:16] + u64(ip) + r[24:]
    return r


def recording(records, ids, host="elsewhere", release=RELEASE):
    features = make.features()
    features[3] = make.string(host)
    features[4] = make.string(release)
    features[2] = b"".join(ids)
    return make.file_with(records=[make.comm(1)] + records, features=features)
