# SPDX-License-Identifier: MIT
# view_page.sh: seam view FILE: who is answered and who is not, how it leads to the page, how it ends; the page in a browser, which
# asks for what it shows (view_page.py).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
data=$here/../data/gcc_d/perf.data

"$SEAM" view --no-browser "$T/nothing" >out 2>err </dev/null && fail "a recording that is not there"
says err 'nothing'
"$SEAM" view --port 70000 "$data" >out 2>err
same "no such port: usage" 2 $?
"$SEAM" view "$data" "$data" "$data" >out 2>err
same "three recordings: usage" 2 $?
if command -v cc >/dev/null && (can_record) >/dev/null 2>&1; then
	cat >code.c <<'C'
#include "work.h"
static volatile unsigned sink;
static __attribute__((noinline)) void first(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink % 1000003u * 48271u; /* FIRST */
}
static __attribute__((noinline)) void second(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink % 1000003u * 48271u; /* SECOND */
}
int main(void)
{
	for (uint64_t end = work_until(400); work_goes_on(end);)
		first(work_loops(100000));
	for (uint64_t end = work_until(400); work_goes_on(end);)
		second(work_loops(100000));
}
C
	cc -g -O1 -I"$here" -o code code.c -lm || fail "cc"
	"$SEAM" record -q -F 997 -g -o code.data -- ./code 2>err || fail "record: $(cat err)"
	# A program and the next version of it, elsewhere.
	mkdir old new
	cp code.c old/prog.c
	sed 's/work_until(400)/work_until(300)/; s,FIRST \*/,& sink++;,' code.c >new/prog.c
	for which in old new; do
		cc -g -O1 -I"$here" -o $which/prog $which/prog.c -lm || fail "cc"
		"$SEAM" record -q -F 997 -g -o $which.data -- $which/prog 2>err || fail "record: $(cat err)"
	done
fi
python3 "$here/view_page.py" "$SEAM" "$T" "$data" ${SEAM_PICTURES:+"$SEAM_PICTURES"}
rc=$?
[ $rc -eq 77 ] && skip "this build has no libmicrohttpd"
[ $rc -eq 0 ] || fail "the server"
done_testing
