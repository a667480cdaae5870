// SPDX-License-Identifier: MIT
/*
 * lines_jit.c: see lines_jit.h.
 *
 * A JIT compiler says in jit-PID.dump which line each of its addresses was made for. A row of the
 * dump stands in place of an address: code of a process may be made anew at the same address, and
 * then rows tell the two apart.
 */
#include "resolve/lines_jit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol/jitlines.h"

struct lines_jit_process {
	struct jitlines *dump; /* NULL: it has none that can be read */
	struct lines_object *object;
};

void lines_jit_free(struct lines_jit *j)
{
	uint64_t pid, process;

	for (size_t i = 0; map_next(&j->processes, &i, &pid, &process);) {
		struct lines_jit_process *p = (struct lines_jit_process *)(uintptr_t)process;

		jitlines_free(p->dump);
		free(p);
	}
	map_free(&j->processes);
}

/* A dump that cannot be read is none: 0, and p->object stays NULL. -ENOMEM. */
static int lines_jit_open(struct lines_jit_process *p, struct lines *lines,
                          struct symbol_cache *symbols, uint32_t pid)
{
	char name[32];
	int r = jitlines_open(&p->dump, symbols, pid);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	snprintf(name, sizeof(name), "%u", pid);
	return lines_object(lines, LINES_JIT, name, NULL, &p->object);
}

/* The process's dump, opened when it is first asked for. -ENOMEM. */
static int lines_jit_process(struct lines_jit *j, struct lines *lines, struct symbol_cache *symbols,
                             uint32_t pid, struct lines_jit_process **ret)
{
	uint64_t *slot = map_slot(&j->processes, pid, NULL);
	struct lines_jit_process *p;

	if (!slot)
		return -ENOMEM;
	if (!*slot) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		*slot = (uintptr_t)p;
		if (lines_jit_open(p, lines, symbols, pid) < 0)
			return -ENOMEM;
	}
	*ret = (struct lines_jit_process *)(uintptr_t)*slot;
	return 0;
}

/* What the dump says is put into the object's answers, so that the caller looks it up like any
 * other line, by the row in place of an address. */
int lines_jit_find(struct lines_jit *j, struct lines *lines, struct symbol_cache *symbols,
                   const struct proc_mapping *mapping, uint64_t addr, struct lines_object **ret,
                   uint64_t *ret_row)
{
	struct lines_jit_process *p;
	struct jitlines_row at;
	uint32_t row;
	int r = lines_jit_process(j, lines, symbols, mapping->object->pid, &p);

	*ret = NULL;
	if (r < 0 || !p->object)
		return r;
	/* A recording that `perf inject --jit` made maps code by its number in the dump. */
	if (mapping->object->kind == PROC_KIND_JIT)
		r = jitlines_find_in(p->dump, (uint32_t)mapping->pgoff, addr - mapping->start,
		                     &row);
	else
		r = jitlines_find(p->dump, addr, &row);
	if (r < 0)
		return 0;
	at = jitlines_row(p->dump, row);
	r = lines_tell(p->object, row, at.file, at.line);
	if (r < 0)
		return r;
	*ret = p->object;
	*ret_row = row;
	return 0;
}
