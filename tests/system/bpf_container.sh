# SPDX-License-Identifier: MIT
# bpf_container.sh: a process in another mount namespace has other files at the same paths: its unwind tables come from its own,
# whether BPF programs walk or the recorder does.
. "$(dirname "$0")/lib.sh"
command -v gcc >/dev/null 2>&1 || skip "gcc is needed"
unshare -m true 2>why || skip "no mount namespaces here: $(cat why)"
can_record

# The container's library works for long, without frame pointers; the host's is another one at the same path.
cat >inside.c <<'C'
volatile unsigned long sink;
static __attribute__((noinline)) unsigned long deep(unsigned long x) { for (int i = 0; i < 4000; i++) x = x * 31 + i; sink = x; return x; }
__attribute__((noinline)) unsigned long library(unsigned long x) { char room[200]; for (int i = 0; i < 200; i++) room[i] = (char)(x + i); sink += room[x % 200]; return deep(x) + 1; }
C
echo 'unsigned long library(unsigned long x) { return x; } int other(int x) { return x; }' >host.c
cat >main.c <<'C'
#include "work.h"
unsigned long library(unsigned long);
int main(void)
{
	unsigned long x = 1;

	for (uint64_t end = work_until(1000); work_goes_on(end);)
		for (unsigned i = 0, n = work_loops(100); i < n; i++)
			x += library(x);
	return x == 7;
}
C
mkdir -p at in
gcc -O2 -fomit-frame-pointer -fPIC -shared -Wl,--build-id inside.c -o in/libinside.so &&
	gcc -O2 -fPIC -shared -Wl,--build-id host.c -o at/libinside.so &&
	gcc -O2 -fno-optimize-sibling-calls main.c -o program -Lat -linside -Wl,-rpath,"$PWD/at" || skip "gcc does not work"

modes=dwarf
"$SEAM" check 2>/dev/null | grep -q "bpf_stacks  *yes" && modes="dwarf dwarf,defer"
for mode in $modes; do
	record -a -F 997 --call-graph $mode -o c.data -- \
		unshare -m sh -c "mount --bind '$PWD/in' '$PWD/at' && exec ./program"
	same "exit status" 0 "$status"
	"$SEAM" script -i c.data --comms program -F ip,dso >script.txt 2>err
	python3 - <<'PY' >figures
stacks = [[line for line in s.split("\n") if line.strip()] for s in open("script.txt").read().split("\n\n")]
inside = [s for s in stacks if s and "libinside" in s[0]]
print(len(inside), sum("/program" in s[-1] for s in inside))
PY
	read -r all whole <figures
	atleast "samples in the container's library ($mode)" 50 "$all"
	atleast "of them whole, of 1000 ($mode)" 980 $((whole * 1000 / (all + 1)))
done

# Without build-ids files are told apart by their inodes, which two file systems may both have at one path.
case "$modes" in
*defer*)
	below_tmpfs() { unshare -m sh -c "mount -t tmpfs none '$PWD/at' && cp $1 '$PWD/at/libinside.so' && $2"; }
	gcc -O2 -fomit-frame-pointer -fPIC -shared -Wl,--build-id=none inside.c -o in/none.so
	gcc -O2 -fPIC -shared -Wl,--build-id=none host.c -o host.so
	if [ "$(below_tmpfs in/none.so "stat -c %i at/libinside.so")" = "$(below_tmpfs host.so "stat -c %i at/libinside.so")" ]; then
		# The recorder sees the host's: it runs below one mount, the program below another.
		SEEN="'$SEAM' record -q -a -F 997 --call-graph dwarf,defer -o n.data -- unshare -m sh -c \"umount '$PWD/at'; mount -t tmpfs none '$PWD/at' && cp in/none.so '$PWD/at/libinside.so' && exec ./program\""
		below_tmpfs host.so "$SEEN" 2>err
		"$SEAM" script -i n.data --comms program -F ip,dso >script.txt 2>err
		python3 - <<'PY' >figures
stacks = [[line for line in s.split("\n") if line.strip()] for s in open("script.txt").read().split("\n\n")]
inside = [s for s in stacks if s and "libinside" in s[0]]
print(len(inside), sum("/program" in s[-1] for s in inside))
PY
		read -r all whole <figures
		atleast "samples in the container's library without a build-id" 50 "$all"
		atleast "of them whole, of 1000 (without a build-id)" 980 $((whole * 1000 / (all + 1)))
	fi
	;;
esac
done_testing
