#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples of a program that gives back its memory in its exit (exit_mmap) have no user stack, whoever walks it. They are said
# to be that, and not samples of a thread of the kernel.
set -u
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root records all processes"
command -v cc >/dev/null || skip "no cc"
can_record
cat >gives_back.c <<'END_OF_C'
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* Pages of 4 KiB in many mappings. */
int main(void)
{
	size_t size = 256 << 10;

	for (int i = 0; i < 1000; i++) {
		char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return 1;
		madvise(p, size, MADV_NOHUGEPAGE);
		mprotect(p, 4096, PROT_READ);
		for (size_t k = 4096; k < size; k += 4096)
			p[k] = 1;
	}
	_exit(0);
}
END_OF_C
cc -O1 -o gives_back gives_back.c || skip "cc does not work"

# exits NAME OPTION...: NAME.data has the program's exits, and NAME.exits how seam shows their samples: state, stack end
exits() {
	name=$1
	shift
	record -q -a -F 3999 -e cpu-clock "$@" -o "$name.data" -- sh "$REPEAT" 1500 ./gives_back
	same "$name: the recording's status" 0 "$status"
	"$SEAM" script --comm gives_back -F comm,ip,sym,state -i "$name.data" 2>err |
		awk 'BEGIN { RS = ""; ORS = "\n\n" } / exit_mmap/' >"$name.exits"
	atleast "$name: samples in exit_mmap" 20 "$(grep -c ^gives_back "$name.exits")"
	same "$name: of them, with the kernel's part only" "$(grep -c ^gives_back "$name.exits")" \
		"$(grep -c '^gives_back.*kernel_only' "$name.exits")"
	same "$name: user frames below exit_mmap" 0 "$(grep -cE '^[[:space:]]+[0-7]?[0-9a-f]{1,15} ' "$name.exits")"
}

exits fp --call-graph fp
exits dwarf --call-graph dwarf
needs_bpf
exits bpf --call-graph dwarf,defer
"$SEAM" report --json -i bpf.data >json 2>err
"$SEAM" report -i bpf.data >text 2>err
says text 'in its exit the task had given up its memory'
gone=$(python3 -c 'import json; print(json.load(open("json"))["ends"]["gone"])')
atleast "samples that JSON counts so" "$(grep -c ^gives_back bpf.exits)" "$gone"
done_testing
