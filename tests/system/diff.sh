#!/bin/sh
# SPDX-License-Identifier: MIT
# Two builds of a program under two names: seam diff says how its functions are found again.
. "$(dirname "$0")/lib.sh"
can_record
command -v cc >/dev/null || skip "no cc"

cat >app.c <<'C'
#include "work.h"
volatile unsigned long n;
__attribute__((noinline)) void first_part(unsigned long k) { while (k--) n++; }
__attribute__((noinline)) void second_part(unsigned long k) { while (k--) n += k; }
int main(void)
{
	for (uint64_t end = work_until(500); work_goes_on(end);) {
		first_part(work_loops(100000));
		second_part(work_loops(MORE));
	}
}
C
cc -g -O1 -DMORE=100000 -o app-1 app.c && cc -g -O1 -DMORE=150000 -o app-2 app.c || skip "no C library"
cp app-1 same
for name in app-1 app-2 same; do
	record -q -e cpu-clock:u -F 997 -o "$name.data" -- "./$name"
	same "recording $name" 0 $status
done

"$SEAM" diff app-1.data app-2.data >out 2>err
says out 'hint: functions of .* have the same names in objects of other names (app-1, app-2): -s sym'
"$SEAM" diff app-1.data same.data >out 2>err
says out 'in objects of other names (app-1, same): -s sym'
"$SEAM" diff -s comm,dso,sym app-1.data app-2.data >out 2>err
says out 'in objects of other names (app-1, app-2): -s sym'
"$SEAM" diff -s sym app-1.data app-2.data >out 2>err
same "a hint with -s sym" 0 "$(grep -c '^hint: functions' out)"
same "both functions on one row each" 2 "$(grep -cE '(first|second)_part' out)"
"$SEAM" diff app-1.data app-1.data >out 2>err
same "a hint for one program" 0 "$(grep -c '^hint: functions' out)"
"$SEAM" diff -s dso app-1.data app-2.data >out 2>err
same "a hint without functions" 0 "$(grep -c '^hint: functions' out)"
done_testing
