# SPDX-License-Identifier: MIT
"""Makes the broken recordings of this folder: a small sound file, and what can be wrong with one.

Deterministic and independent of seam's own writer; zstd frames are spelled by hand from raw and
run-length blocks. cases() yields (name, bytes).
"""
import os
import struct
import sys

MAGIC = 0x32454C4946524550
IP, TID, TIME, CPU, PERIOD, IDENTIFIER, CALLCHAIN = 1, 2, 4, 0x80, 0x100, 0x10000, 0x20
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | CPU | PERIOD | IDENTIFIER
SAMPLE_ID_ALL = 1 << 18
IDS = (11, 12)


ORDER = "<"


def u16(v):
    return struct.pack(ORDER + "H", v)


def u32(v):
    return struct.pack(ORDER + "I", v & 0xFFFFFFFF)


def u64(v):
    return struct.pack(ORDER + "Q", v & 0xFFFFFFFFFFFFFFFF)


def big_endian(make):
    """What make() gives on a big-endian machine."""
    global ORDER
    ORDER = ">"
    try:
        return make()
    finally:
        ORDER = "<"


def flags(bits):
    """C bit-fields run from the other end of the word on big-endian machines."""
    return u64(bits if ORDER == "<" else int("{:064b}".format(bits)[::-1], 2))


def record(kind, body, misc=0, size=None):
    body += bytes(-len(body) % 8) if kind not in (66, 80, 81) else b""
    return u32(kind) + u16(misc) + u16(8 + len(body) if size is None else size) + body


def trailer(time, ident=11):
    return u32(70) + u32(70) + u64(time) + u32(0) + u32(0) + u64(ident)


def text(s):
    s = s.encode() + b"\0"
    return s + bytes(-len(s) % 8)


def comm(time):
    return record(3, u32(70) + u32(70) + text("worker") + trailer(time), 0x2000)


def mmap2(time):
    return record(10, u32(70) + u32(70) + u64(0x400000) + u64(0x1000) + u64(0) + u32(8) + u32(1) +
                  u64(99) + u64(0) + u32(5) + u32(2) + text("/bin/worker") + trailer(time), 2)


def sample(time, ident=11, chain=(0xFFFFFFFFFFFFFE00, 0x400100, 0x400200), nr=None):
    nr = len(chain) if nr is None else nr
    return record(9, u64(ident) + u64(0x400100) + u32(70) + u32(70) + u64(time) + u32(0) + u32(0) +
                  u64(1) + u64(nr) + b"".join(map(u64, chain)), 2)


def lost(time):
    return record(2, u64(11) + u64(5) + trailer(time))


def finished_round():
    return record(68, b"")


def records():
    return [comm(1000), mmap2(1100), sample(2000), sample(3000), lost(3500), finished_round(), sample(4000),
            sample(5000, 12), finished_round()]


def attr(size=128):
    a = u32(1) + u32(size) + u64(0) + u64(1000000) + u64(SAMPLE_TYPE) + u64(0) + flags(SAMPLE_ID_ALL)
    return (a + bytes(max(size - len(a), 0)))[:size]


def string(s):
    s = s.encode() + b"\0"
    s += bytes(-len(s) % 64)
    return u32(len(s)) + s


def features():
    desc = u32(1) + u32(128) + attr() + u32(2) + string("cpu-clock") + u64(11) + u64(12)
    return {3: string("box"), 5: string("7.3"), 7: u32(2) + u32(2), 12: desc}


class File:
    """A sound file whose parts can be replaced before it is put together."""

    def __init__(self):
        self.attr = attr()
        self.attrs_offset = self.attrs_size = self.ids_offset = self.ids_size = None
        self.attr_size = self.data_offset = self.data_size = self.header_size = None
        self.records = records()
        self.features = features()
        self.sections = {}  # feature -> (offset, size) to lie with
        self.magic = MAGIC
        self.n_attrs = 1

    def bytes(self):
        entry = len(self.attr) + 16
        attrs, ids = 104, 104 + entry * self.n_attrs
        data = ids + 8 * len(IDS)
        body = b"".join(self.records)

        def pick(given, computed):
            return computed if given is None else given

        out = u64(self.magic) + u64(pick(self.header_size, 104)) + u64(pick(self.attr_size, entry))
        out += u64(pick(self.attrs_offset, attrs)) + u64(pick(self.attrs_size, entry * self.n_attrs))
        out += u64(pick(self.data_offset, data)) + u64(pick(self.data_size, len(body)))
        out += u64(0) * 2 + struct.pack(ORDER + "4Q", *[
            sum(1 << (f % 64) for f in self.features if f // 64 == w) for w in range(4)])
        out += (self.attr + u64(pick(self.ids_offset, ids)) +
                u64(pick(self.ids_size, 8 * len(IDS)))) * self.n_attrs
        out += b"".join(map(u64, IDS)) + body
        at = len(out) + 16 * len(self.features)
        for f in sorted(self.features):
            out += b"".join(map(u64, self.sections.get(f, (at, len(self.features[f])))))
            at += len(self.features[f])
        return out + b"".join(self.features[f] for f in sorted(self.features))

    def boundaries(self):
        at = 104 + len(self.attr) + 16 + 8 * len(IDS)
        for r in self.records:
            yield at, r
            at += len(r)
        yield at, b""


def file_with(**parts):
    f = File()
    for name, value in parts.items():
        setattr(f, name, value)
    return f.bytes()


def with_record(r, at=3):
    rs = records()
    rs.insert(at, r)
    return rs


def pipe(rs=None):
    out = u64(MAGIC) + u64(16) + record(64, attr() + b"".join(map(u64, IDS)))
    return out + b"".join(records() if rs is None else rs)


def feature_record(number, content):
    return record(80, u64(number) + content)


def zstd_frame(*blocks):
    """Blocks are (type, byte count, content): 0 raw, 1 one byte repeated. Window of 128 KiB."""
    out = bytes.fromhex("28b52ffd") + bytes([0x00, 0x38])
    for i, (kind, n, content) in enumerate(blocks):
        head = (i == len(blocks) - 1) | kind << 1 | n << 3
        out += struct.pack("<I", head)[:3] + content
    return out


def raw_frame(content):
    return zstd_frame((0, len(content), content))


def compressed(payload):
    return record(81, payload)


def compressed2(payload, data_size=None):
    return record(83, u64(len(payload) if data_size is None else data_size) + payload)


def open_frame_in_two(content, at):
    """One frame whose two raw blocks stand in two records: a record may straddle them."""
    whole = zstd_frame((0, at, content[:at]), (0, len(content) - at, content[at:]))
    cut = 6 + 3 + at
    return whole[:cut], whole[cut:]


def cut_cases():
    whole = file_with()
    yield "sound", whole
    for i, (at, r) in enumerate(File().boundaries()):
        yield "cut-before-record-%d" % i, whole[:at]
        for inside in (1, 7, 8, 9):
            if inside < len(r):
                yield "cut-in-record-%d-at-%d" % (i, inside), whole[:at + inside]
    for n in (0, 1, 7, 8, 15, 16, 17, 71, 72, 103, 104, 150, 247, 255):
        yield "cut-header-%d" % n, whole[:n]
    for n in (1, 63, 64, 65, 100):
        yield "cut-tail-%d" % n, whole[:-n]
    stream = pipe()
    for n in (16, 17, 24, 100, 168, 169, 200, len(stream) - 1):
        yield "pipe-cut-%d" % n, stream[:n]


def size_cases():
    for kind in (9, 3, 68):
        for size in (0, 1, 7, 0xFFFF, 0xFFF8):
            bad = record(kind, bytes(16), size=size)
            yield "record-type-%d-size-%#x" % (kind, size), file_with(records=with_record(bad))
    yield "record-size-9", file_with(records=with_record(u32(9) + u16(2) + u16(9) + b"\0"))
    yield "sample-of-8-bytes", file_with(records=with_record(record(9, b"")))
    yield "pipe-size-0", pipe(with_record(record(9, bytes(16), size=0)))


def count_cases():
    for nr in (4, 0xFFFF, 1 << 32, 1 << 61, (1 << 64) - 1):
        yield "chain-nr-%#x" % nr, file_with(records=with_record(sample(3100, nr=nr)))
    yield "deferred-nr-huge", file_with(records=with_record(
        record(22, u64(1) + u64(1 << 61) + trailer(3100), 2)))
    yield "id-matches-nothing", file_with(records=with_record(sample(3100, ident=77)))


def section_cases():
    far = 1 << 62
    yield "data-behind-end", file_with(data_offset=1 << 40)
    yield "data-size-huge", file_with(data_size=(1 << 64) - 1)
    yield "data-size-0", file_with(data_size=0)
    yield "data-size-0-no-records", file_with(records=[], data_size=0)
    yield "data-in-header", file_with(data_offset=8)
    yield "data-over-attrs", file_with(data_offset=104)
    yield "attrs-behind-end", file_with(attrs_offset=far)
    yield "attrs-size-huge", file_with(attrs_size=(1 << 64) - 1)
    yield "attrs-none", file_with(attrs_size=0)
    yield "ids-behind-end", file_with(ids_offset=far)
    yield "ids-size-huge", file_with(ids_size=(1 << 64) - 8)
    yield "ids-overlap-many-events", file_with(n_attrs=64, ids_offset=0, ids_size=4096)
    yield "header-size-0", file_with(header_size=0)
    yield "header-size-huge", file_with(header_size=1 << 40)
    yield "magic-wrong", file_with(magic=0x1122334455667788)
    for size in (0, 15, 16, 79, 80, 5000, (1 << 64) - 1):
        yield "attr-entry-size-%#x" % size, file_with(attr_size=size)
    yield "attr-from-the-future", file_with(attr=attr(200))
    yield "attr-says-0", file_with(attr=attr()[:4] + u32(0) + attr()[8:])
    yield "attr-says-huge", file_with(attr=attr()[:4] + u32(1 << 30) + attr()[8:])


def feature_cases():
    for f, where in ((3, (1 << 62, 8)), (7, (0, (1 << 64) - 1)), (12, (104, 8)), (12, (0, 0))):
        yield "feature-%d-at-%#x-%#x" % ((f,) + where), file_with(sections={f: where})
    for f in (40, 130, 192, 255):
        yield "feature-unknown-%d" % f, file_with(features={**features(), f: b"12345678"})
    yield "feature-string-too-long", file_with(features={**features(), 3: u32(1 << 31) + b"box\0"})
    yield "event-desc-count-huge", file_with(features={**features(), 12: u32(1 << 31) + u32(128)})
    yield "pipe-feature-end-marker-32", pipe([feature_record(3, string("box")),
                                              feature_record(32, b"")] + records())
    yield "pipe-feature-number-huge", pipe([feature_record(1 << 40, b"x" * 8)] + records())
    yield "pipe-event-desc-bad", pipe([feature_record(12, u32(9) + u32(128))] + records())
    yield "pipe-attr-says-huge", u64(MAGIC) + u64(16) + record(
        64, attr()[:4] + u32(1 << 20) + attr()[8:]) + b"".join(records())


def type_cases():
    for kind in (23, 63, 87, 1000, 32769, 0xFFFFFFFF, 0):
        yield "type-unknown-%d" % kind, file_with(records=with_record(record(kind, bytes(16))))
    yield "type-vendor-12-bytes", file_with(records=with_record(
        u32(32770) + u16(0) + u16(12) + u32(7) + bytes(0)))
    # What simpleperf adds: features 128 to 133, records 32769 to 32777, some not of whole words.
    yield "simpleperf", file_with(
        features={**features(), **{f: b"\1\0\0\0meta" * (f - 127) for f in range(128, 134)}},
        records=records()[:4] + [record(32769 + i, b"\7" * (4 * i + 8), size=16 + 4 * i)
                                 [:16 + 4 * i] for i in range(9)] + records()[4:])
    yield "auxtrace-payload", file_with(records=with_record(
        record(71, u64(24) + bytes(32)) + b"\xff" * 24))
    yield "auxtrace-payload-behind-end", file_with(records=with_record(
        record(71, u64(1 << 50) + bytes(32))))
    yield "auxtrace-payload-behind-cut-end", file_with(records=with_record(
        record(71, u64(1 << 50) + bytes(32)) + b"\xa5" * 24, at=8))
    yield "tracing-data-in-record", file_with(records=with_record(record(66, u32(20) + b"\xfe" * 20)))
    yield "tracing-data-in-record-piped", pipe(with_record(record(66, u32(20) + b"\xfe" * 20)))
    yield "tracing-data-payload", pipe(with_record(record(66, u32(16)) + b"\xfe" * 16))
    yield "tracing-data-behind-end", pipe(with_record(record(66, u32(0xFFFFFFF0))))
    yield "pipe-ends-in-text", pipe() + b"[ perf record: Woken up 1 times to write data ]\n"
    yield "pipe-ends-in-stray-bytes", pipe() + b"\x01\x00\x00"


def zstd_cases():
    body = b"".join(records())
    half = len(body) // 2 + 4
    one, two = open_frame_in_two(body, half)
    yield "z-sound", file_with(records=[compressed(raw_frame(body))])
    yield "z2-sound", file_with(records=[compressed2(raw_frame(body))])
    yield "z-straddles", file_with(records=[compressed(one), finished_round(), compressed(two)])
    yield "z-second-half-missing", file_with(records=[compressed(one)])
    yield "z-not-zstd", file_with(records=[compressed(b"this is not zstd")] + records())
    yield "z-broken-then-new-frame", file_with(
        records=[compressed(b"this is not zstd"), compressed(raw_frame(body))])
    yield "z-broken-then-not-a-record", file_with(
        records=[compressed(b"this is not zstd"), compressed(raw_frame(body[4:]))])
    yield "z2-data-size-huge", file_with(records=[compressed2(raw_frame(body), 1 << 40)] + records())
    yield "z2-data-size-short", file_with(records=[compressed2(raw_frame(body), 10)] + records())
    yield "z-empty", file_with(records=[compressed(b"")] + records())
    yield "z-zeros-inside", file_with(records=[compressed(zstd_frame((1, 4096, b"\0")))] + records())
    bomb = zstd_frame(*[(1, 128 << 10, b"\x44\x00"[:1])] * 16000)
    yield "z-bomb", file_with(records=[compressed(bomb)] + records())
    rounds = raw_frame(finished_round() * 4000)
    yield "z-many-small", file_with(records=[compressed(rounds)] * 4)
    nested = compressed(raw_frame(records()[0]))
    yield "z-in-z", file_with(records=[compressed(raw_frame(nested + body))])


def order_cases():
    yield "big-endian", big_endian(file_with)
    yield "big-endian-pipe", big_endian(pipe)
    yield "big-endian-cut", big_endian(file_with)[:-500]
    yield "big-endian-size-7", big_endian(lambda: file_with(
        records=with_record(record(9, bytes(16), size=7))))
    yield "big-endian-z", big_endian(lambda: file_with(
        records=[compressed(raw_frame(b"".join(records())))]))
    yield "version-1", b"PERFFILE" + file_with()[8:]
    yield "version-1-big-endian", b"PERFFILE" + big_endian(file_with)[8:]
    yield "header-without-features", file_with(header_size=72)
    yield "header-from-the-future", file_with(header_size=112)


def write(directory, most=4096):
    """The files themselves, for a fuzzer to start from; the many cut ones are left to it."""
    for name, content in cases():
        if not name.startswith(("cut-", "record-type-")) and len(content) <= most:
            with open(os.path.join(directory, name), "wb") as f:
                f.write(content)


def cases():
    for make in (order_cases, cut_cases, size_cases, count_cases, section_cases, feature_cases, type_cases,
                 zstd_cases):
        yield from make()


if __name__ == "__main__":
    write(sys.argv[1])
