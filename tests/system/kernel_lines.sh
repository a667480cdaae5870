# SPDX-License-Identifier: MIT
# kernel_lines.sh: inlined calls, source lines and code of kernel functions. The kernel is a program linked like one, the module
# an object that is not linked; the recording is made up, of a machine that loaded both elsewhere (KASLR). addr2line, which reads
# the same files as they were linked, is the judge.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v python3 >/dev/null || skip "there is no python3"
command -v gcc >/dev/null && command -v addr2line >/dev/null || skip "there is no gcc, or no addr2line"
[ "$(uname -m)" = x86_64 ] || skip "the made-up kernel is x86_64's"
XDG_CACHE_HOME=$T/cache
PYTHONPATH=$here:$here/../golden/broken
PYTHONDONTWRITEBYTECODE=1
export XDG_CACHE_HOME PYTHONPATH PYTHONDONTWRITEBYTECODE

cat >kernel.c <<'C'
static volatile int word;
static inline __attribute__((always_inline)) int innermost(int x)
{
	while (word < x)
		word += x;
	return word;
}
static inline __attribute__((always_inline)) int inner(int x)
{
	return innermost(x + 1) + innermost(x * 3);
}
__attribute__((noinline)) int sys_hot(int x)
{
	word = x;
	return inner(x) * 2;
}
__attribute__((noinline)) int do_syscall(int x) { return sys_hot(x) + 1; }
void _start(void) { for (;;) word = do_syscall(word); }
C
cat >module.c <<'C'
extern int outside(int);
static volatile int state;
static inline __attribute__((always_inline)) int mod_inlined(int x)
{
	for (int i = 0; i < x; i++)
		state ^= i;
	return state;
}
__attribute__((section(".init.text"))) int mod_init(void) { return outside(1); }
__attribute__((noinline)) int mod_first(int x) { return outside(x) + 7; }
__attribute__((noinline)) int mod_hot(int x)
{
	state = x;
	return mod_inlined(x) + mod_first(x);
}
C
code="-O2 -g -fno-pie -fno-pic -mcmodel=kernel -fcf-protection=none -ffreestanding"
# shellcheck disable=SC2086
{
	gcc $code -nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-Ttext=0xffffffff81000000 -Wl,--defsym=_text=0xffffffff81000000 \
		-Wl,--defsym=_etext=0xffffffff81001000 -o vmlinux kernel.c &&
		gcc $code -c -o module.o module.c &&
		ld -r --build-id=sha1 -o made.ko module.o
} 2>gcc.err || skip "no kernel can be made here: $(cat gcc.err)"
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p' | head -n 1; }
kernel_id=$(id_of vmlinux) module_id=$(id_of made.ko)
objcopy --strip-debug vmlinux vmlinux.bare

# Each instruction of the hot functions is sampled once, with a caller.
cat >made_kernel.py <<'P'
import subprocess, sys
from made import *
kernel_id, module_id, kind = sys.argv[1:4]
LINKED, LOADED, MODULE = 0xffffffff81000000, 0xffffffffa7600000, 0xffffffffc0a41000

def code(path, section, function):
    got, inside = [], False
    for line in subprocess.run(["objdump", "-d", "-w", "-j", section, path], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(">:"):
            inside = line.split("<")[1] == function + ">:"
        elif inside and line.startswith((" ", "f")) and ":" in line and "nop" not in line and "xchg   %ax,%ax" not in line:
            got.append((int(line.split(":")[0], 16), line))
    return got

def after_call(path, section, function):
    lines = code(path, section, function)
    calls = [i for i, (_, text) in enumerate(lines) if "call" in text]
    return lines[calls[0] + 1][0]

hot = [a for a, _ in code("vmlinux", ".text", "sys_hot")]
caller = after_call("vmlinux", ".text", "do_syscall")
mod = [a for a, _ in code("made.ko", ".text", "mod_hot")]
shift = LOADED - LINKED
records = [kernel_mmap(LOADED, 0x1000), kernel_mmap(MODULE, 0x4000, "/lib/modules/%s/kernel/made.ko" % RELEASE, 0)]
time = 1000
for a in hot:
    time += 10
    records.append(sample(time, (KERNEL, a + shift, caller + shift), a + shift))
for a in mod:
    time += 10
    records.append(sample(time, (KERNEL, a + MODULE, caller + shift), a + MODULE))
ids = [build_id("[kernel.kallsyms]", kernel_id), build_id("/lib/modules/%s/kernel/made.ko" % RELEASE, module_id)]
open("made.data", "wb").write(recording(records, [] if kind == "noids" else ids))
with open("truth", "w") as out:
    for path, addresses, base in (("vmlinux", hot + [caller - 1], shift), ("made.ko", mod, MODULE)):
        for a in sorted(set(addresses)):
            args = ["addr2line", "-f", "-i", "-e", path] + (["-j", ".text"] if path == "made.ko" else []) + [hex(a)]
            lines = subprocess.run(args, capture_output=True, text=True, check=True).stdout.split("\n")
            frames = ["%s %s" % (lines[i], lines[i + 1].split(" ")[0].rsplit("/", 1)[-1]) for i in range(0, len(lines) - 1, 2)]
            shown = a + base + (1 if a == caller - 1 and path == "vmlinux" else 0)
            print("%x" % shown, " < ".join(frames), file=out)
P
python3 made_kernel.py "$kernel_id" "$module_id" ids || fail "the recording could not be made"
atleast "addresses of which addr2line knows" 20 "$(grep -c 'innermost\|mod_inlined' truth)"

# asked FILE OPTIONS...: what seam script says of each address, in truth's form.
cat >asked.py <<'P'
import re, sys
at, frames = {}, []
for line in sys.stdin:
    frame = re.match(r"\s+([0-9a-f]{16}) (\S+)", line)
    source = re.match(r"\s+(\S+:\d+)( \(inlined\))?$", line)
    if frame:
        address = int(frame.group(1), 16)
        frames.append(frame.group(2))
    elif source and frames:
        frames[-1] += " " + source.group(1).rsplit("/", 1)[-1]
        if not source.group(2):
            at["%x" % address] = " < ".join(frames)
            frames = []
for a in sorted(at):
    print(a, at[a])
P
asked() { "$SEAM" script -i made.data -F ip,sym,dso,srcline "$@" 2>script.err | python3 asked.py; }
sort truth >truth.sorted
agrees() { # WHAT OPTIONS...
	what=$1
	shift
	asked "$@" | sort >asked.sorted
	if diff truth.sorted asked.sorted >differs; then echo "ok: $what: as addr2line ($(wc -l <truth.sorted) addresses)"; else fail "$what: $(head -n 8 differs)"; fi
}

# Where distributions file them: the kernel by its release, the module at its path; nothing is on this machine itself.
mkdir -p root/usr/lib/debug/boot "root/usr/lib/debug/lib/modules/6.99.1-made/kernel"
cp vmlinux root/usr/lib/debug/boot/vmlinux-6.99.1-made
mkdir -p root/lib/modules/6.99.1-made/kernel
objcopy --strip-debug made.ko root/lib/modules/6.99.1-made/kernel/made.ko
cp made.ko root/usr/lib/debug/lib/modules/6.99.1-made/kernel/made.ko
agrees "vmlinux by release, module by path" --symfs root
agrees "once more, from the cache" --symfs root
rm -rf cache
# By build-id.
rm -rf root && mkdir root
for pair in "$kernel_id vmlinux" "$module_id made.ko"; do
	set -- $pair
	dir=root/usr/lib/debug/.build-id/$(echo "$1" | cut -c1-2)
	mkdir -p "$dir"
	cp "$2" "$dir/$(echo "$1" | cut -c3-).debug"
done
agrees "both by build-id" --symfs root
# In the report inlined calls have frames of their own.
"$SEAM" report -i made.data --symfs root --no-children -g none --csv -s sym >csv 2>err
says csv 'innermost'
says csv 'mod_inlined'
# Code and lines.
NO_COLOR=1 "$SEAM" annotate -i made.data --symfs root sys_hot >text 2>err
same "annotate" 0 $?
says text 'kernel.c:5'
says text 'word += x'
NO_COLOR=1 "$SEAM" annotate -i made.data --symfs root mod_hot >text 2>err
says text 'module.c:6'
says text 'state ^= i'
"$SEAM" annotate -i made.data --symfs root --json sys_hot >json
python3 - "$T" <<'P' || fail "annotate of a kernel function"
import json
f = json.load(open("json"))["functions"][0]
if not f["instructions"]:
    print("no disassembler:", f["reason"]); raise SystemExit(0)
assert f["outside_samples"] == 0 and sum(i["samples"] for i in f["instructions"]) == f["samples"] > 20, f
assert all(i["samples"] == 1 for i in f["instructions"] if "nop" not in i["text"]), f
P
# An archive carries both to where there is nothing.
"$SEAM" archive -q -o made.tar.zst --symfs root made.data 2>err
same "archive" 0 $?
mv root elsewhere
rm -rf cache
agrees "an archive" --archive made.tar.zst
mv elsewhere root
# --vmlinux, and one without debugging information, whose separate file has it; with another build-id it says nothing.
rm -rf root/usr cache
"$SEAM" script -i made.data -F ip,sym,srcline --vmlinux vmlinux >text 2>err
says text 'innermost'
rm -rf cache
"$SEAM" script -i made.data -F ip,sym,srcline --vmlinux vmlinux.bare --symfs root >text 2>err
says text 'sys_hot'
grep -q innermost text && fail "inlined calls without debugging information"
sed 's/word += x/word += x + 2/' kernel.c >kernel2.c
# shellcheck disable=SC2086
gcc $code -nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-Ttext=0xffffffff81000000 -Wl,--defsym=_text=0xffffffff81000000 \
	-Wl,--defsym=_etext=0xffffffff81001000 -o vmlinux2 kernel2.c
"$SEAM" script -i made.data -F ip,sym,srcline --vmlinux vmlinux2 --symfs root >text 2>err
grep -q 'sys_hot\|kernel2.c' text && fail "another kernel's names or lines"
done_testing
