// SPDX-License-Identifier: MIT
/*
 * kwalk_runtime_load.c: the programs that walk an interpreter's frames: the verifier goes through
 * their walks for as long as through all the others, so a kind's are loaded when the first process
 * is met that runs it: by a thread of its own, for nobody is to wait. They work on the maps of the
 * programs that are there already, which enter them by a tail call once they are in its map.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/runtime.h"
#include "base/thread.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/object.h"
#include "capture/bpf/relocate.h"

/* Maps that the programs for native stacks have are theirs, too; those for walks are as many as
 * there are CPUs. */
static int runtime_maps(const struct kwalk *l, struct bpf_object *object)
{
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		const struct bpf_map *have = bpf_object__find_map_by_name(l->object, name);

		if (bpf_map__is_internal(map))
			continue;
		if (have)
			r = bpf_map__reuse_fd(map, bpf_map__fd(have));
		else if (!strcmp(name, "runtime_scratches") || !strcmp(name, "runtime_knowns"))
			r = bpf_map__set_max_entries(map, (uint32_t)l->n_cpus);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Fits the object to the kernel and loads it, as kwalk_load does with the other. -errno. */
static int runtime_load_object(struct kwalk_runtimes *t)
{
	struct kwalk *l = t->kwalk;
	char *said = calloc(1, LOAD_LOG);
	const struct relocate_object object = runtime_object_of(t->kind, said);
	struct bpf_program *away;
	struct relocate relocate;
	int r = relocate_begin(&relocate);

	kwalk_want_task_work(&relocate);
	if (r >= 0)
		r = relocate_open(&relocate, &object, &t->object);
	if (r >= 0) {
		away = bpf_object__find_program_by_name(t->object, "runtime_away");
		load_patch(t->object, kwalk_task_work(&relocate));
		owing_configure(t->object);
		r = away ? bpf_program__set_autoload(away, l->opts.away_ns) : -ENOENT;
	}
	if (r >= 0)
		r = load_configure(l, t->object);
	if (r >= 0)
		r = runtime_maps(l, t->object);
	if (r >= 0) {
		r = bpf_object__load(t->object);
		if (r < 0 && said)
			load_say(l, said);
	}
	relocate_end(&relocate);
	free(said);
	return r;
}

/* Puts a program where others enter it. */
static int runtime_enter(struct kwalk_runtimes *t, const char *map, const char *program)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->object, program);
	uint32_t kind = t->kind;
	int fd = p ? bpf_program__fd(p) : -ENOENT;

	return fd < 0 ? fd : bpf_map_update_elem(load_map_fd(t->kwalk, map), &kind, &fd, BPF_ANY);
}

/* A thread: loads a kind's programs, and opens the way to them once all are there. A process of the
 * kind may be running: so this comes before others where that is allowed. */
static void *runtime_load(void *ctx)
{
	struct kwalk_runtimes *t = ctx;
	struct kwalk *l = t->kwalk;
	uint32_t kind = t->kind, one = 1;
	int r;

	setpriority(PRIO_PROCESS, 0, -20); /* of this thread alone; else it is as late as anybody */
	r = runtime_load_object(t);
	if (r >= 0)
		load_tell(l, t->object);
	if (r >= 0)
		r = bpf_map_update_elem(load_map_fd(l, "runtime_loaded"), &kind, &one, BPF_ANY);
	if (r >= 0)
		r = runtime_enter(t, "runtime_samples", "runtime_sample");
	if (r >= 0 && l->opts.away_ns)
		r = runtime_enter(t, "runtime_aways", "runtime_away");
	if (r < 0)
		log_line(l->opts.log, LOG_PLAIN,
		         "functions of %s are not in the stacks: the kernel does not load the BPF "
		         "programs: %s",
		         runtime_label(t->kind), strerror(-r));
	__atomic_store_n(&t->loaded, r >= 0, __ATOMIC_RELEASE);
	return NULL;
}

/* Begins to load a kind's programs, once; any thread. */
void kwalk_runtime_want(struct kwalk *l, enum runtime_kind kind)
{
	struct kwalk_runtimes *t;

	if (kind >= RUNTIMES || !runtime_object_of(kind, NULL).bytes ||
	    !(l->opts.runtimes >> kind & 1))
		return;
	t = &l->kinds[kind];
	if (__atomic_exchange_n(&t->wanted, true, __ATOMIC_ACQ_REL))
		return;
	t->kwalk = l;
	t->kind = kind;
	__atomic_store_n(&t->started, thread_start(&t->thread, runtime_load, t) >= 0,
	                 __ATOMIC_RELEASE);
}

/* Waits for what is being loaded. To be called by one thread, once no other wants any. */
void runtime_settle(struct kwalk *l)
{
	for (unsigned k = 0; k < RUNTIMES; k++) {
		struct kwalk_runtimes *t = &l->kinds[k];

		if (__atomic_exchange_n(&t->started, false, __ATOMIC_ACQ_REL))
			pthread_join(t->thread, NULL);
	}
}

void runtime_unload(struct kwalk *l)
{
	runtime_settle(l);
	for (unsigned k = 0; k < RUNTIMES; k++) {
		owing_free(&l->kinds[k].owing);
		bpf_object__close(l->kinds[k].object);
	}
}
