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
	cat >many.c <<'C'
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
static __attribute__((noinline)) void *touch(void *pages)
{
	for (int i = 0; i < 3; i++)
		((volatile char *)pages)[i * 4096] = 1; /* TOUCH */
	return NULL;
}
int main(void)
{
	for (int i = 0; i < 1300; i++) {
		void *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_t t;
		madvise(pages, 3 * 4096, MADV_NOHUGEPAGE);
		pthread_create(&t, NULL, touch, pages);
		pthread_join(t, NULL);
	}
}
C
	cc -g -O1 -pthread -o many many.c || fail "cc"
	"$SEAM" record -q -e page-faults -c 1 -o many.data -- ./many 2>err || fail "record: $(cat err)"
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
