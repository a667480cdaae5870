# SPDX-License-Identifier: MIT
# nameless.sh: a program recorded without its symbol table: each of its functions has a row of its own, which is the one
# that it has under its name when the same recording is read with the table; nothing else is called a function.
. "$(dirname "$0")/lib.sh"
can_record || skip "no samples can be recorded here"
for tool in cc strip nm python3; do
	command -v $tool >/dev/null || skip "there is no $tool"
done

cat >gen.py <<'P'
import sys
print("#include \"work.h\"\nstatic volatile unsigned sink;\nextern unsigned bare(unsigned), told(unsigned);")
if len(sys.argv) > 1:  # another build: all that follows begins elsewhere
    print("__attribute__((noinline)) void moved(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 3 + i; }")
for i in range(24):
    print(f"""static __attribute__((noinline)) void work{i}(unsigned n)
{{
	for (unsigned i = 0; i < n; i++) {{
		sink = sink * {i + 3}u % {65521 - i}u;
		if (__builtin_expect(sink == 70000u + n, 0))
			abort();
	}}
}}""")
# What is unlikely stands apart, as unlikely.cold.
print("""static __attribute__((noinline, cold)) void seldom(unsigned n)
{
	sink += n;
}
static __attribute__((noinline)) void unlikely(unsigned n)
{
	sink = n;
	if (__builtin_expect(n > 5, 0)) {
		seldom(n);
		for (unsigned i = 0; i < n; i++) {
			sink = sink * 5u % 65519u;
			sink = sink * 7u % 65519u;
		}
		seldom(n);
	}
}
static __attribute__((noinline)) int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}
/* Two pieces of assembly, one of which says nothing of itself. */
__asm__(".text\\n.type bare,@function\\nbare:\\n1: dec %edi\\n jnz 1b\\n ret\\n.size bare,.-bare\\n"
        ".type told,@function\\ntold:\\n.cfi_startproc\\n1: dec %edi\\n jnz 1b\\n ret\\n.cfi_endproc\\n.size told,.-told\\n");
static int numbers[4096];
int main(int argc, char **argv)
{
	for (int round = 0; round < 12; round++) {""")
if len(sys.argv) > 1:
    print("		for (uint64_t end = work_until(8); work_goes_on(end);) moved(work_loops(20000));")
for i in range(24):
    print(f"		for (uint64_t end = work_until({3 + i / 8}); work_goes_on(end);) work{i}(work_loops(20000));")
print("""		for (uint64_t end = work_until(5); work_goes_on(end);) unlikely(argc > 1 ? 3 : 10 + work_loops(20000));
		for (uint64_t end = work_until(5); work_goes_on(end);) bare(work_loops(100000));
		for (uint64_t end = work_until(5); work_goes_on(end);) told(work_loops(100000));
		for (int i = 0; i < 4096; i++)
			numbers[i] = i * 2654435761u >> 8;
		qsort(numbers, 4096, sizeof(*numbers), compare);
	}
	return 0;
}""")
P
[ "$(uname -m)" = x86_64 ] || sed -i 's/dec %edi/subs w0, w0, #1/; s/jnz 1b/b.ne 1b/' gen.py
build() { # NAME [other]
	python3 gen.py ${2:-} >"$1.c" && cc -O2 -fno-plt -Wl,--build-id -o "$1.full" "$1.c" && strip -s -o "$1" "$1.full"
}
build prog && mkdir other && build other/prog other || skip "the C compiler makes no program"
record -q -e cpu-clock -F 1999 -o a.data ./prog
same "record" 0 "$status"
record -q -e cpu-clock -F 1999 -o b.data ./prog
same "record again" 0 "$status"
record -q -e cpu-clock -F 1999 -o other.data other/prog
same "record another build" 0 "$status"

rows() { "$SEAM" report -i "$1" --no-children --json -s dso,sym --percent-limit 0; }
rows a.data >stripped.json
"$SEAM" report -i a.data --no-children -s dso,sym >stripped.txt
"$SEAM" script -i a.data >stripped.script
"$SEAM" export -i a.data --format folded -o a.folded 2>/dev/null
for format in json speedscope callgrind firefox pprof; do
	"$SEAM" export -i a.data --format $format -o a.$format 2>/dev/null
done
rows b.data >again.json
"$SEAM" report -i a.data --no-children --json -s dso,sym --percent-limit 0 -d prog -S '[unknown]' >unknown.json
"$SEAM" annotate -i a.data --json >annotated.json
cp prog.full prog # the same build, with its symbol table
rows a.data >named.json
strip -s prog

cat >hold.py <<'P'
import gzip, json, re, subprocess, sys
nameless = re.compile(r"^\[unknown prog\+0x([0-9a-f]+)\]$")
def rows(path):
    return {r["sym"]: r["self_samples"] for r in json.load(open(path))["rows"]
            if r["dso"] and r["dso"].endswith("/prog") and r["self_samples"]}
def check(what, ok):
    print(("ok: " if ok else "FAILED: ") + what)
    global failed
    failed |= not ok
failed = False
symbols = {}
for line in subprocess.run(["nm", "-S", "--defined-only", "prog.full"], capture_output=True, text=True).stdout.splitlines():
    f = line.split()
    if len(f) == 4 and f[2] in "tTwW":
        symbols[int(f[0], 16)] = (int(f[1], 16), f[3])
stripped, named = rows("stripped.json"), rows("named.json")
starts = {int(m[1], 16): n for s, n in stripped.items() if (m := nameless.match(s or ""))}
check(f"{len(starts)} rows of functions without a name", len(starts) >= 24)
check("each begins where a symbol does", all(s in symbols for s in starts))
cold = {s for s in starts if s in symbols and symbols[s][1].endswith(".cold")}
print(f"of them parts that the compiler put aside: {len(cold)}")
by_name = {symbols[s][1]: n for s, n in starts.items() if s in symbols}
rest = stripped.get(None, 0)
bare = named.pop("bare", 0)
check(f"what says nothing of itself is [unknown] ({bare} samples)", rest == bare and bare > 0)
check("the same samples by name", by_name == {k.replace(" [clone .cold]", ".cold"): v for k, v in named.items()})
if by_name != named: print(sorted(by_name.items()), sorted(named.items()))
check("told apart by its own word alone", by_name.get("told", 0) > 0)
check("-S '[unknown]' means all of them", rows("unknown.json") == stripped)
again = {int(m[1], 16) for s in rows("again.json") if (m := nameless.match(s or ""))}
hot = {s for s, n in starts.items() if n > 20}
check(f"the same {len(hot)} in another run", hot and hot <= again)
# everywhere alike
top = max(starts, key=starts.get)
text = f"[unknown prog+{top:#x}]"
for format in "folded", "json", "speedscope", "callgrind", "firefox", "pprof":
    data = open("a." + format, "rb").read()
    if data[:2] == b"\x1f\x8b": data = gzip.decompress(data)
    check(f"{format} has it", text.encode() in data)
# pprof looks for the names of a mapping that is said to have none: fields 3 (mapping), 6 (strings); 5, 7: file, has_functions.
def fields(data):
    at = 0
    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v |= (data[at] & 127) << shift; shift += 7; at += 1
            if data[at - 1] < 128: return v
    while at < len(data):
        key = varint(); v = varint()
        if key & 7 == 2: v, at = data[at:at + v], at + v
        yield key >> 3, v
pprof = list(fields(gzip.decompress(open("a.pprof", "rb").read())))
strings = [v for f, v in pprof if f == 6]
mapping = [m for m in (dict(fields(v)) for f, v in pprof if f == 3) if strings[m.get(5, 0)].endswith(b"/prog")]
check("pprof is told that names are missing", len(mapping) == 1 and not mapping[0].get(7, 0))
stops = [s["object"] for s in json.load(open("stripped.json"))["stops"]]
check("no stack is said to stop in a function that is not known", not [s for s in stops if s.endswith("/prog")])
check("script has it not", text not in open("stripped.script").read() and "[unknown]" in open("stripped.script").read())
f = json.load(open("annotated.json"))
check("annotate shows the hottest", f["symbol"] == text)
f = f["functions"][0]
if f["instructions"]:
    size = symbols[top][0]
    check("from its first to its last byte", int(f["instructions"][0]["address"], 0) == top and
          int(f["instructions"][-1]["address"], 0) + f["instructions"][-1]["size"] == top + size)
    check("every sample is at an instruction", sum(i["samples"] for i in f["instructions"]) == starts[top])
else:
    print("no disassembler:", f["reason"])
open("top", "w").write(f"{top:#x} {top + 1:#x}")
sys.exit(failed)
P
python3 hold.py || fail "nameless rows and named ones differ"
says stripped.txt 'frames without a name'
says stripped.txt 'prog: the object has no symbol there'
[ -s top ] || done_testing
read -r top inside <top
"$SEAM" annotate -i a.data --json "prog+$inside" >at.json
same "annotate by an address" 0 "$(cmp -s annotated.json at.json; echo $?)"
"$SEAM" annotate -i a.data "[unknown prog+0x3]" >/dev/null 2>err
same "annotate where there is none" 1 $?

# Between recordings: within one build only.
"$SEAM" diff --json --percent-limit 0 a.data b.data >same.json
"$SEAM" diff --json --percent-limit 0 a.data other.data >differ.json
"$SEAM" diff --json --percent-limit 0 --children a.data other.data >children.json
cat >between.py <<'P'
import json
def rows(path): return {r["sym"]: r for r in json.load(open(path))["rows"] if r["dso"] == "prog"}
both, differ, children = rows("same.json"), rows("differ.json"), rows("children.json")
kept = [s for s in both if s.startswith("[unknown prog+")]
assert len(kept) >= 24, kept
assert sum(both[s]["base"] > 0 and both[s]["new"] > 0 for s in kept) >= 20
assert not [s for s in differ if s.startswith("[unknown prog+")], differ
assert differ["[unknown]"]["base"] > .5 and differ["[unknown]"]["new"] > .5
assert not [s for s in children if s.startswith("[unknown prog+")]
assert .5 < children["[unknown]"]["base"] <= 1 and .5 < children["[unknown]"]["new"] <= 1
P
python3 between.py || fail "rows of two recordings are not matched as they should be"
"$SEAM" flame a.data -o a.svg 2>/dev/null
"$SEAM" flame a.data --base b.data -o ab.svg 2>/dev/null
"$SEAM" flame a.data --base other.data -o ao.svg 2>/dev/null
says a.svg "unknown prog+$top"
says ab.svg "unknown prog+$top"
same "flame --base of another build" 0 "$(grep -c 'unknown prog+' ao.svg)"
done_testing
