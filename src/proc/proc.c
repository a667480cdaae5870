// SPDX-License-Identifier: MIT
/*
 * proc.c: see proc.h. Makes the table and looks things up in it: a history by time, then a space by
 * address. Learning is learn.c's, the rules are apply.c's.
 *
 * A space is a number (the root of a tree). Who holds one can look addresses up without pid and
 * time.
 */
#include "proc/table.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/runtime_code.h"

/* Fixed by the x86_64 ABI, one page, seldom recorded. */
#define VSYSCALL_START 0xffffffffff600000ULL
#define VSYSCALL_END 0xffffffffff601000ULL
/* Mappings among which the [vdso] is looked for; on x86_64 it is the last one, elsewhere among the
 * libraries. */
#define WHOLE_LOOK 4096u

/* The change that is in effect at a time. In a live table the time is always now. */
static const struct change *proc_at(const struct proc_table *table, const struct histories *of,
                                    uint64_t key, uint64_t time_ns)
{
	return history_at(history_of(of, key), table->live ? PROC_NOW : time_ns);
}

/* PROC_NO_SPACE: nothing is known of the process at that time. */
uint32_t proc_space(const struct proc_table *table, uint32_t pid, uint64_t time_ns)
{
	const struct change *change = proc_at(table, &table->processes, pid, time_ns);

	return change ? change->value : PROC_NO_SPACE;
}

/* From here on the caller keeps the number, and the space must not change under it. Edits change a
 * space in place only while its stamp says that nobody else has it. */
uint32_t proc_space_hold(struct proc_table *table, uint32_t pid)
{
	const struct history *process = history_of(&table->processes, pid);

	if (!process || !process->n)
		return PROC_NO_SPACE;
	process->changes[process->n - 1].stamp = 0; /* shared from now on: edits must copy */
	return process->changes[process->n - 1].value;
}

static const struct space_node *proc_node(const struct proc_table *table, uint32_t space,
                                          uint64_t addr)
{
	const struct change *runtimes =
	        runtime_code_is(addr) ? history_last(history_of(&table->processes, KEY_RUNTIMES))
	                              : NULL;

	return space_find(&table->spaces, runtimes ? runtimes->value : space, addr);
}

const struct proc_mapping *proc_space_range(const struct proc_table *table, uint32_t space,
                                            uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct space_node *node = proc_node(table, space, addr);

	if (!node)
		return NULL;
	*start = node->start;
	*end = node->end;
	return table->mappings[node->value];
}

const struct proc_mapping *proc_space_find(const struct proc_table *table, uint32_t space,
                                           uint64_t addr)
{
	const struct space_node *node = proc_node(table, space, addr);

	if (node)
		return table->mappings[node->value];
	return addr >= VSYSCALL_START && addr < VSYSCALL_END ? table->mappings[0] : NULL;
}

static bool proc_is_vdso(const void *ctx, uint32_t value)
{
	const struct proc_table *table = ctx;

	return table->mappings[value]->object->kind == PROC_KIND_VDSO &&
	       !table->mappings[value]->data;
}

/* A process whose mappings were all learned has a vdso: the kernel maps one into every process, and
 * the record of it comes with the others. */
bool proc_space_is_whole(const struct proc_table *table, uint32_t space)
{
	return space_any_of_last(&table->spaces, space, WHOLE_LOOK, proc_is_vdso, table);
}

/* The program is mapped at the lowest addresses: the first mapping of code there that is a file's.
 * Data of a file may lie before it, but not much else. */
const struct proc_mapping *proc_space_program(const struct proc_table *table, uint32_t space)
{
	uint64_t addr = 0;

	for (unsigned i = 0; i < PROC_LOWEST; i++) {
		const struct space_node *node = space_from(&table->spaces, space, addr);
		const struct proc_mapping *m = node ? table->mappings[node->value] : NULL;

		if (!m || (!m->data && m->object->kind == PROC_KIND_FILE))
			return m;
		addr = node->end;
	}
	return NULL;
}

/* With a hint, the space of the last call is used again as long as pid and time fall within the
 * stretch in which it holds; samples of one task often come one after the other. */
const struct proc_mapping *proc_find(const struct proc_table *table, struct proc_hint *hint,
                                     uint32_t pid, uint64_t time_ns, uint64_t addr)
{
	const struct history *process;
	const struct change *change;

	if (!hint || table->live)
		return proc_space_find(table, proc_space(table, pid, time_ns), addr);
	if (hint->generation != table->generation || hint->pid != pid || time_ns < hint->from_ns ||
	    time_ns > hint->to_ns) {
		process = history_of(&table->processes, pid);
		change = history_at(process, time_ns);
		*hint = (struct proc_hint){
			.generation = table->generation,
			.pid = pid,
			.space = change ? change->value : PROC_NO_SPACE,
			.from_ns = change ? change->time : 0,
			.to_ns = UINT64_MAX,
		};
		/* A stretch ends where the next change begins, or the first one, if none holds
		 * yet. */
		if (change && change != history_last(process))
			hint->to_ns = change[1].time - 1;
		else if (!change && process && process->n)
			hint->to_ns = process->changes[0].time - 1;
	}
	return proc_space_find(table, hint->space, addr);
}

/* Three spaces, the narrowest first: a program of the kernel (a ksymbol) lies in the range of the
 * modules, and their range may lie in the one that the kernel's own mapping claims. */
const struct proc_mapping *proc_find_kernel(const struct proc_table *table, uint64_t time_ns,
                                            uint64_t addr)
{
	static const uint64_t keys[] = { KEY_KSYMBOLS, KEY_MODULES, KEY_KERNEL };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct change *change = proc_at(table, &table->processes, keys[i], time_ns);
		const struct space_node *node =
		        change ? space_find(&table->spaces, change->value, addr) : NULL;

		if (node)
			return table->mappings[node->value];
	}
	return NULL;
}

const struct proc_mapping *proc_kernel(const struct proc_table *table)
{
	return table->kernel;
}

/* The idle task has tid 0 and never a record of its own. */
const char *table_comm(const struct proc_table *table, const struct change *name, uint32_t tid)
{
	if (name && name->value)
		return intern_get(&table->names, name->value);
	return tid ? NULL : "swapper";
}

/* Threads that were not named have their process's name. */
const char *proc_comm(const struct proc_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const struct change *name = proc_at(table, &table->threads, tid, time_ns);

	if (!name || !name->value)
		name = proc_at(table, &table->threads, pid, time_ns);
	return table_comm(table, name, tid);
}

size_t proc_objects(const struct proc_table *table)
{
	return table->objects.n;
}

const struct proc_object *proc_object_at(const struct proc_table *table, size_t id)
{
	return id < table->objects.n ? table->objects.objects[id] : NULL;
}

size_t proc_mappings(const struct proc_table *table)
{
	return table->n_mappings;
}

const struct proc_mapping *proc_mapping_at(const struct proc_table *table, size_t id)
{
	return id < table->n_mappings ? table->mappings[id] : NULL;
}

/* A live table and a stream's have a mapping for each time that one was made. */
const struct proc_mapping *proc_made_at(const struct proc_table *table, size_t i, uint32_t *pid)
{
	const struct proc_mapping *m;

	if (table->live || table->in_order) {
		m = proc_mapping_at(table, i);
		*pid = m ? m->pid : 0;
		return m;
	}
	if (i >= table->n_made)
		return NULL;
	*pid = table->made[i].pid;
	return table->mappings[table->made[i].mapping];
}

/* What is held from the system; it goes through all histories, so that it is not for each
 * record. */
void proc_count(const struct proc_table *table, struct proc_counts *ret)
{
	*ret = table->counts;
	ret->bytes = history_bytes(&table->processes) + history_bytes(&table->threads) +
	             table->arena.bytes + table->names.arena.bytes +
	             table->spaces.capacity * sizeof(struct space_node) +
	             table->mappings_capacity * sizeof(struct proc_mapping *) +
	             table->made_capacity * sizeof(*table->made) +
	             table->objects.capacity * sizeof(struct proc_object *) +
	             table->objects.keys.arena.bytes + map_bytes(&table->tasks.alive) +
	             map_bytes(&table->tasks.running) + map_bytes(&table->tasks.ended) +
	             blocks_bytes(&table->events);
}

/* Mapping 0 is [vsyscall], which no process maps by a record. */
static int proc_table_init(struct proc_table *table)
{
	struct proc_event vsyscall = { .type = EVENT_MAP, .kind = PROC_KIND_VSYSCALL };
	struct proc_mapping *mapping = apply_mapping(table);

	table->objects.names = &table->names;
	table->objects.arena = &table->arena;
	vsyscall.name = intern_text(&table->names, "[vsyscall]");
	if (!mapping || vsyscall.name == INTERN_FAILED)
		return -ENOMEM;
	mapping->start = VSYSCALL_START;
	mapping->end = VSYSCALL_END;
	mapping->object = apply_object(table, &vsyscall);
	/* The seed: the address of a heap block, which the system chooses at random. */
	return mapping->object ? space_init(&table->spaces, map_mix((uintptr_t)table)) : -ENOMEM;
}

int proc_new(struct proc_table **ret, const struct proc_opts *opts)
{
	struct proc_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->live = opts && opts->live;
	table->in_order = opts && opts->in_order && !opts->live;
	table->generation = 1;
	if (proc_table_init(table) < 0) {
		proc_free(table);
		return -ENOMEM;
	}
	*ret = table;
	return 0;
}

void proc_free(struct proc_table *table)
{
	if (!table)
		return;
	history_free(&table->processes);
	history_free(&table->threads);
	space_destroy(&table->spaces);
	object_destroy(&table->objects);
	map_free(&table->build_ids);
	renew_free(&table->tasks);
	blocks_free(&table->events);
	free(table->mappings);
	free(table->made);
	pool_free(&table->known);
	intern_free(&table->names);
	arena_free(&table->arena);
	free(table);
}
