// SPDX-License-Identifier: MIT
/*
 * kwalk_load.c: the object that was built in, its maps made and its programs loaded. Knows libbpf
 * and what kernels of different age call the same function; all is let go in kwalk_unload, nothing
 * is pinned.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/bpf/object.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/relocate.h"
#include "capture/kernel.h"

/* Where the arena is mapped here: 4 GiB aligned, so that an offset is its address's low half; above
 * what AddressSanitizer keeps for itself. */
#ifdef __SANITIZE_THREAD__ /* which keeps this range for other things */
#define ARENA_ADDRESS 0x7ea000000000ull
#else
#define ARENA_ADDRESS 0x200000000000ull
#endif
#define ARENA_PAGE 4096u
#define ARENA_MOST (4ull << 30)
/* With less memory for tables, none is taken for the rules that were found. */
#define REMEMBER_LEAST (16ull << 20)
#define TASKS_LEAST 131072u
#define TASKS_MOST 4194304u /* PID_MAX_LIMIT */

/* "what: the errno in words". */
static int load_fail(struct seam_error *err, int code, const char *what)
{
	return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", what,
	                      strerror(code));
}

/* The number of entries for tasks. A hash takes memory for all its entries before it is used, so it
 * is not made for every pid that is possible, nor for more than there can be. */
static uint32_t load_tasks(void)
{
	unsigned long running, tasks = 0;
	long long most = TASKS_MOST;
	char text[64];
	int n = kernel_running.text(kernel_running.ctx, "/proc/loadavg", text, sizeof(text));

	if (n <= 0 || sscanf(text, "%*s %*s %*s %lu/%lu", &running, &tasks) != 2)
		tasks = 0;
	kernel_number(&kernel_running, "/proc/sys/kernel/pid_max", &most);
	tasks = tasks > TASKS_MOST / 4 ? TASKS_MOST : tasks * 4;
	tasks = tasks < TASKS_LEAST ? TASKS_LEAST : tasks;
	return most >= 1 && (unsigned long)most < tasks ? (uint32_t)most : (uint32_t)tasks;
}

/* Maps of what nobody asked for have hardly any room: their memory is taken when they are made. */
static int load_filter_sizes(struct kwalk *l)
{
	static const char *const names[] = { "uids", "comms", "matched" };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(l->object, names[i]);

		r = map ? bpf_map__set_max_entries(map, 1) : -ENOENT;
	}
	return r;
}

/* Sets the sizes of the maps: by CPUs, by tasks, and by the memory for tables. -errno. */
static int load_sizes(struct kwalk *l)
{
	static const char *const by_task[] = { "slots",   "processes", "changes",
		                               "targets", "runtimes",  "contexts" };
	struct bpf_map *rings = bpf_object__find_map_by_name(l->object, "rings");
	struct bpf_map *arena = bpf_object__find_map_by_name(l->object, "arena");
	struct bpf_map *copies = bpf_object__find_map_by_name(l->object, "copies");
	uint32_t tasks = l->opts.tasks ? l->opts.tasks : load_tasks();
	int r;

	if (!rings || !arena || !copies)
		return -ENOENT;
	r = bpf_map__set_max_entries(rings, (uint32_t)l->n_cpus);
	if (r >= 0)
		r = bpf_map__set_max_entries(copies, (uint32_t)l->n_cpus);
	for (size_t i = 0; r >= 0 && i < sizeof(by_task) / sizeof(by_task[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(l->object, by_task[i]);

		r = map ? bpf_map__set_max_entries(map, tasks) : -ENOENT;
	}
	if (r >= 0)
		r = bpf_map__set_max_entries(arena, (uint32_t)(l->opts.memory / ARENA_PAGE));
	if (r >= 0)
		r = bpf_map__set_map_extra(arena, ARENA_ADDRESS);
	if (r >= 0 && !kwalk_filters_any(&l->opts.filters))
		r = load_filter_sizes(l);
	if (r >= 0)
		r = runtime_sizes(l);
	return r;
}

/* A program for a hook that this kernel lacks is not loaded at all. */
static void load_unless(struct kwalk *l, const char *name, bool has)
{
	struct bpf_program *p = bpf_object__find_program_by_name(l->object, name);

	if (p && !has)
		bpf_program__set_autoload(p, false);
}

/* Linux 6.9 has arenas, but no tracepoint yet for when an exec begins to take effect. The kernel
 * does not promise that the others stay. */
static void load_optional(struct kwalk *l, const struct relocate *r)
{
	bool traced = kwalk_traces(relocate_id(r, "__perf_event_overflow"));

	load_unless(l, "on_replace", relocate_id(r, "btf_trace_sched_prepare_exec"));
	load_unless(l, "on_overflow", traced);
	load_unless(l, "on_timer", !traced && relocate_id(r, "btf_trace_hrtimer_expire_exit"));
	l->counts_losses = relocate_id(r, "btf_trace_mmap_lock_released");
	load_unless(l, "on_unlocked", l->counts_losses && !l->opts.fp);
}

/* MAP_FIXED_NOREPLACE: at another address offsets would not be the low half of pointers. */
static int load_arena(struct kwalk *l)
{
	int fd = load_map_fd(l, "arena");
	void *p = mmap((void *)ARENA_ADDRESS, l->opts.memory, PROT_READ | PROT_WRITE,
	               MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	l->arena.bytes = p;
	l->arena.most = l->opts.memory;
	l->arena.used = ARENA_PAGE; /* offset 0 means none */
	l->arena.remembers = l->opts.memory >= REMEMBER_LEAST;
	if (l->arena.remembers) { /* the programs can write only to pages that are there */
		memset(l->arena.bytes + KWALK_KNOWN_AT, 0, KWALK_KNOWN_BYTES);
		l->arena.used += KWALK_KNOWN_BYTES;
	}
	return 0;
}

/* All at once: for each change of such a map the kernel waits until no program can be running that
 * saw it before, 10 ms and more. -errno. */
static int load_ring_map(struct kwalk *l, int map)
{
	uint32_t n = (uint32_t)l->n_cpus, *keys = malloc(l->n_cpus * sizeof(*keys));
	int r;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = i;
	r = bpf_map_update_batch(map, keys, l->ring_fds, &n, NULL);
	free(keys);
	return r;
}

/* Makes a ring for each possible CPU and begins to wait for it. -errno. */
static int load_rings(struct kwalk *l)
{
	int rings = load_map_fd(l, "rings");

	l->ring_fds = malloc(l->n_cpus * sizeof(*l->ring_fds));
	l->rings = calloc(l->n_cpus, sizeof(*l->rings));
	if (!l->ring_fds || !l->rings)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_cpus; i++)
		l->ring_fds[i] = -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0)
		return -errno;
	for (uint32_t i = 0; i < l->n_cpus; i++) {
		int r;

		l->ring_fds[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "seam_ring", 0, 0,
		                                (uint32_t)l->opts.ring_bytes, NULL);
		if (l->ring_fds[i] < 0)
			return -errno;
		r = kwalk_ring_add(l, i);
		if (r < 0)
			return r;
	}
	return load_ring_map(l, rings);
}

/* All but on_sample, which the session attaches to its events, and the counters of skipped
 * samples. */
static int load_attach_sets(struct kwalk *l)
{
	static const char *const names[] = { "on_fork", "on_replace", "on_exec", "on_free",
		                             "on_unlocked" };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(l->object, names[i]);

		if (!p || bpf_program__autoload(p))
			r = kwalk_link(l, names[i]);
	}
	return r < 0 ? r : offcpu_attach(l);
}

/* Attaches the one or the other; a program that is not loaded has no link. The latter sees only the
 * software clocks. */
static void load_attach_skipped(struct kwalk *l)
{
	uint32_t zero = 0, id = kwalk_program_info(l->on_sample).id;

	l->counts_skipped =
	        bpf_map_update_elem(load_map_fd(l, "own_id"), &zero, &id, BPF_ANY) >= 0 &&
	        (kwalk_link(l, "on_overflow") >= 0 || kwalk_link(l, "on_timer") >= 0);
	if (!l->counts_skipped)
		log_line(l->opts.log, LOG_ATTRS,
		         "samples that the kernel skips are not counted here");
}

/* Opens and loads the object for this kernel: parts that it does not have are left out first.
 * -errno, and err says what the verifier said. */
static int load_object(struct kwalk *l, struct seam_error *err)
{
	char *said = calloc(1, LOAD_LOG);
	const struct relocate_object object = { .name = "seam",
		                                .bytes = kwalk_object,
		                                .size = kwalk_object_size,
		                                .log = said,
		                                .log_size = LOAD_LOG };
	struct relocate relocate;
	int r = relocate_begin(&relocate);

	kwalk_want_task_work(&relocate);
	if (r >= 0)
		r = relocate_open(&relocate, &object, &l->object);
	if (r >= 0) {
		uint32_t task_work = kwalk_task_work(&relocate);

		kwalk_probe_defers(&l->probe, task_work);
		load_patch(l->object, task_work);
		load_optional(l, &relocate);
		owing_configure(l->object);
		r = load_configure(l, l->object);
	}
	if (r >= 0)
		r = load_sizes(l);
	if (r >= 0) {
		r = bpf_object__load(l->object);
		if (r < 0 && said)
			load_say(l, said);
	}
	relocate_end(&relocate);
	free(said);
	return r < 0 ? load_fail(err, -r, "the kernel does not load the BPF programs") : 0;
}

/* Loads the programs, makes maps and rings, and attaches what does not depend on a session's
 * events. On failure kwalk_unload frees what was made. */
int kwalk_load(struct kwalk *l, struct seam_error *err)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	int r = libbpf_num_possible_cpus();

	libbpf_set_print(kwalk_libbpf_print);
	if (r < 0)
		return load_fail(err, -r, "the possible CPUs cannot be found");
	l->n_cpus = (size_t)r;
	if (l->opts.memory > ARENA_MOST)
		l->opts.memory = ARENA_MOST;
	setrlimit(RLIMIT_MEMLOCK,
	          &no_limit); /* kernels before 5.11 count maps there; no error here */
	r = load_object(l, err);
	if (r < 0)
		return r;
	load_tell(l, l->object);
	l->on_sample = bpf_object__find_program_by_name(l->object, "on_sample");
	l->processes = load_map_fd(l, "processes");
	l->changes = load_map_fd(l, "changes");
	l->targets = load_map_fd(l, "targets");
	l->counts = load_map_fd(l, "counts");
	l->runtimes = load_map_fd(l, "runtimes");
	l->contexts = load_map_fd(l, "contexts");
	r = filter_fill(l);
	if (r >= 0)
		r = load_arena(l);
	if (r < 0)
		return load_fail(err, -r, "the memory for unwind tables cannot be mapped");
	r = load_rings(l);
	if (r < 0)
		return load_fail(err, -r, "the BPF rings cannot be made");
	r = load_attach_sets(l);
	if (r >= 0)
		load_attach_skipped(l);
	if (!l->counts_losses && !l->opts.fp)
		log_line(l->opts.log, LOG_ATTRS,
		         "the kernel does not say when code is unmapped: it is known a moment "
		         "later");
	return r < 0 ? load_fail(err, -r, "the BPF programs cannot be attached") : 0;
}

/* Frees what kwalk_load made, also after it failed. Detaching comes first, so that no program runs
 * any more. */
void kwalk_unload(struct kwalk *l)
{
	for (size_t i = 0; i < l->n_links; i++)
		close(l->links[i]);
	free(l->links);
	for (size_t i = 0; i < l->n_attached; i++)
		close(l->attached[i]);
	free(l->attached);
	for (size_t i = 0; l->rings && i < l->n_cpus; i++)
		ringbuf_unmap(&l->rings[i].bytes);
	for (size_t i = 0; l->ring_fds && i < l->n_cpus; i++)
		if (l->ring_fds[i] >= 0)
			close(l->ring_fds[i]);
	if (l->epoll >= 0)
		close(l->epoll);
	free(l->ring_fds);
	free(l->rings);
	if (l->arena.bytes)
		munmap(l->arena.bytes, l->arena.most);
	owing_free(&l->owing);
	bpf_object__close(l->object);
}
