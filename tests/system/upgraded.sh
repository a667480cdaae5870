#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs whose files were deleted or replaced while they run, as a package's upgrade does it, and that are met afterwards: their
# stacks are whole, and their functions of Python are there.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
command -v gcc >/dev/null 2>&1 || skip "gcc is needed"

cat >work.c <<'C'
#define F __attribute__((noinline, noipa))
static volatile unsigned long sink;
F unsigned long leaf(unsigned long n) { volatile char room[64]; while (n--) sink += (unsigned long)room[n % 64]; return sink; }
F unsigned long middle(unsigned long n) { return leaf(n) + 1; }
int main(void) { for (;;) middle(1000); }
C
gcc -O1 -fomit-frame-pointer -Wl,--build-id work.c -o with 2>gcc.err && gcc -O1 -fomit-frame-pointer -Wl,--build-id=none work.c -o without ||
	skip "$(cat gcc.err)"

# upgraded NAME ARGUMENT...: a copy of the program NAME runs, whose file is replaced by another one, or deleted, and is recorded then.
upgraded() {
	name=$1
	shift
	cp "$name" "$name.runs"
	"./$name.runs" "$@" &
	pid=$!
	until_true "$name runs" grep -q "$name.runs" "/proc/$pid/maps"
	if [ "$name" = with ]; then rm "$name.runs"; else cp /bin/true "$name.new" && mv "$name.new" "$name.runs"; fi
	record -F 997 -e cpu-clock -p "$pid" -o "$name.data" -- sh "$AWAIT" 300 "$pid"
	same "$name: status" 0 "$status"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	"$SEAM" script -F ip,sym,dso -i "$name.data" >"$name.txt" 2>/dev/null
}
# whole NAME PATTERN: how many of a thousand stacks have a line like it.
whole() { awk -v p="$2" 'BEGIN { RS = "" } /runs \(deleted\)/ { n++; m += $0 ~ p } END { printf "%d %d", n, n ? m * 1000 / n : 0 }' "$1.txt"; }

for name in with without; do
	upgraded $name
	whole $name 'libc[.-]' >said
	atleast "$name: stacks" 20 "$(cut -d ' ' -f 1 said)"
	atleast "$name: of a thousand that are whole" 950 "$(cut -d ' ' -f 2 said)"
done

cat >served.py <<'END'
def inner():
    for i in range(2000):
        pass
def outer():
    while True:
        inner()
outer()
END
for python in /usr/bin/python3.1[0-9]; do
	[ -x "$python" ] && ! ldd "$python" | grep -q libpython || continue
	cp "$python" python
	upgraded python served.py
	whole python 'py::inner.*py::outer.*py::<module>' >said
	atleast "$python: stacks" 20 "$(cut -d ' ' -f 1 said)"
	atleast "$python: of a thousand with all functions" 900 "$(cut -d ' ' -f 2 said)"
	break
done
done_testing
