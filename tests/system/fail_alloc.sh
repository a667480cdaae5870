# SPDX-License-Identifier: MIT
# fail_alloc.sh: commands in which one allocation finds no memory: each of the first 24, and 24 more across the run. Such a run ends by
# itself, not by a signal; it fails, or prints what it prints otherwise; and it never says that the recording is damaged.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
if nm -D "$SEAM" 2>/dev/null | grep -q __asan_init; then skip "a sanitizer has its own allocator"; fi
# One CPU: with several threads the n-th allocation would be another one in each run.
cc -O1 -shared -fPIC -o fail_alloc.so "$here/oom/fail_alloc.c" || fail "fail_alloc.c does not compile"
data=$here/../data/gcc_d/perf.data
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME

# Which allocations of the command are to fail, of so many.
places() { awk -v n="$1" 'BEGIN { for (i = 1; i <= 24 && i <= n; i++) print i; for (i = 1; i <= 24 && n > 48; i++) print 24 + int(i * (n - 24) / 25) }'; }

# Why the kernel's functions have no names may be said otherwise: its list is read in a thread, which others' names do not
# wait for. And a hint at a package may be missing.
BESIDE='\[kernel.kallsyms\]:| would name it'
same_answer() { grep -avE "$BESIDE" out | cmp -s - whole.names; }

# Runs a command with each of them failing.
try() { # NAME COMMAND...
	name=$1 runs=0
	shift
	"$@" >/dev/null 2>&1 # from here on the caches are filled, and runs ask for the same
	rm -f count
	taskset -c 0 env "FAIL_COUNT_FILE=$T/count" "LD_PRELOAD=$T/fail_alloc.so" "$@" >whole 2>/dev/null
	grep -avE "$BESIDE" whole >whole.names
	for n in $(places "$(head -n 1 count)"); do
		timeout 60 taskset -c 0 env FAIL_AT=$n "LD_PRELOAD=$T/fail_alloc.so" "$@" >out 2>err
		status=$?
		runs=$((runs + 1))
		if [ $status -ge 124 ]; then
			fail "$name, allocation $n: ended with $status: $(tail -n 1 err)"
		elif [ $status = 0 ] && ! same_answer && ! grep -qi memory err; then
			fail "$name, allocation $n: another answer, and no word of it: $(diff whole out | sed -n 2p)"
		fi
		if grep -qiE 'damage|not a perf.data|cannot be read' err; then
			fail "$name, allocation $n: $(grep -iE 'damage|not a perf.data|cannot be read' err | head -n 1)"
		fi
	done
	atleast "$name: runs" 24 $runs
}

try stat "$SEAM" stat "$data"
try report "$SEAM" report -i "$data" --symfs /nonexistent --kallsyms /dev/null
try script "$SEAM" script -i "$data" --symfs /nonexistent --kallsyms /dev/null
try folded "$SEAM" export --format folded --symfs /nonexistent --kallsyms /dev/null -o - "$data"
try convert "$SEAM" convert "$data" -o -
try header "$SEAM" header "$data"
if ! "$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite"; then
	# In memory: each run begins with an empty store.
	try import "$SEAM" store import --store sqlite::memory: --symfs /nonexistent --kallsyms /dev/null "$data"
	"$SEAM" store import --store sqlite:a.db --symfs /nonexistent --kallsyms /dev/null "$data" 2>err || fail "no store: $(cat err)"
	try "store's report" "$SEAM" report --store sqlite:a.db --from 2000-01-01T00:00Z
	try "store's list" "$SEAM" store ls --store sqlite:a.db
fi
done_testing
