/* SPDX-License-Identifier: MIT */
/* live_parts.h: the inside of live.h. live_load.c makes programs and maps, live_arena.c gives out the arena, live_space.c keeps
 * address spaces there, live_follow.c learns of them, live_ring.c turns the rings into records. Only live*.c include it. */
#ifndef SEAM_CAPTURE_BPF_LIVE_PARTS_H
#define SEAM_CAPTURE_BPF_LIVE_PARTS_H

#include <pthread.h>
#include <stdarg.h>

#include <bpf/libbpf.h>

#include "base/buf.h"
#include "base/map.h"
#include "capture/bpf/live.h"

/* ---- live_arena.c: memory that the programs see ---- */

#define ARENA_CLASSES 24 /* blocks of 1 KiB << class */

struct arena_freed;

struct arena_memory {
	unsigned char *bytes;                     /* NULL: none */
	uint64_t most;                            /* bytes; */
	uint64_t used;                            /* given out by moving up; tables stay */
	struct arena_freed *freed[ARENA_CLASSES]; /* oldest first */
	struct arena_freed *freed_last[ARENA_CLASSES];
	struct map tables; /* blob pointer -> offset of its copy */
	uint64_t table_bytes, n_tables, left_out;
};

void arena_memory_free(struct arena_memory *a);
/* A block for n bytes: its offset, 0: memory is out. */
uint32_t arena_take(struct arena_memory *a, size_t n);
/* Given back: not handed out again while a program may still read it. */
void arena_give(struct arena_memory *a, uint32_t offset, size_t n, uint64_t now_ns);
/* Copies a table in, once; fills the parts of m. False: memory is out, or it is not a table of ours. */
bool arena_table(struct arena_memory *a, const void *blob, struct live_mapping *m);

/* ---- live_space.c: what is mapped in each process ---- */

struct live_vma {
	uint64_t start, end, pgoff, since_ns;
	uint64_t vaddr; /* of start */
	const void *blob;
	bool may_guess;
};

/* What a process had mapped before it replaced its program. */
struct live_image {
	struct live_vma *at;
	size_t n;
	uint64_t until_ns;
};

#define LIVE_IMAGES 4 /* a wrapper script, env, the program: and one more */

struct live_space {
	uint32_t pid;
	uint32_t execs;      /* as the map `execs` counts */
	uint64_t read_ns;    /* when /proc was read: older records say nothing new */
	struct live_vma *at; /* by start */
	size_t n, capacity;
	uint32_t published; /* offset in the arena; 0: none */
	size_t published_size;
	struct live_image before[LIVE_IMAGES]; /* the newest first */
	bool dirty;
	uint64_t gone_ns; /* its process has exited */
};

struct live_spaces {
	struct map by_pid; /* -> struct live_space * */
	uint64_t mappings;
};

struct live_space *live_space_get(struct live_spaces *s, uint32_t pid, bool make);
/* Forgets what was mapped before a time. */
void live_space_clear(struct live_space *s, uint64_t before_ns);
/* The same at an exec, and it is remembered for samples that were taken before. */
void live_space_exec(struct live_space *s, uint64_t at_ns);
void live_space_free(struct live_space *s);
/* -ENOMEM. What it overlaps and is older is cut away; where newer is, nothing is put. */
int live_space_put(struct live_space *s, const struct live_vma *m);
int live_space_copy(struct live_space *to, const struct live_space *from);
/* What was mapped there at a time. */
const struct live_vma *live_space_find(const struct live_space *s, uint64_t pc, uint64_t time_ns);
void live_spaces_free(struct live_spaces *s);
/* Makes the programs see what has changed. */
void live_publish(struct live *l, struct live_space *s);

/* ---- live_follow.c ---- */

struct follow {
	pthread_t thread;
	bool running;
	int wake;           /* an eventfd: stop */
	struct ring *rings; /* one per CPU, of dummy events */
	int *fds;
	size_t n;
	struct seam_events *events;
	struct buf records; /* drained and not applied yet */
	struct buf order;   /* struct follow_entry: of them, by time */
	uint64_t lost;
};

int follow_start(struct live *l, struct seam_error *err);
void follow_stop(struct live *l);
/* All that the kernel has said of mappings until now. */
void follow_drain(struct live *l);

/* ---- live_learn.c ---- */

/* One record of the dummies, in the order of time. */
int learn_record(struct live *l, const unsigned char *bytes, uint16_t size);
/* Records were lost: all that is known is read from /proc anew. */
void learn_again(struct live *l);

/* ---- live_ring.c ---- */

struct live_ring {
	struct live *live;
	struct live_sample sample; /* the one whose LIVE_RAW comes next; kind 0: none */
	uint64_t user[LIVE_FRAMES_MAX];
};

/* ---- live.c ---- */

struct live {
	struct live_opts opts;
	struct live_probe probe;
	struct bpf_object *object;
	struct bpf_program *on_sample;
	struct bpf_link **links;
	size_t n_links;
	int *attached; /* links of on_sample to the session's events */
	size_t n_attached;
	struct ring_buffer *reader;
	int *ring_fds;
	struct live_ring *rings;               /* beside them */
	size_t n_cpus;                         /* possible ones: one ring each */
	int processes, execs, targets, counts; /* map descriptors */
	pthread_mutex_t lock;                  /* of all below: the follower and the reader */
	struct arena_memory arena;
	struct live_spaces spaces;
	struct map followed; /* pids that are or were targets */
	struct follow follow;

	/* live_ring.c */
	const struct seam_events *events; /* the session's */
	const struct seam_event *answers; /* of them, that which carries answers */
	capture_write write;
	void *write_ctx;
	int64_t given;
	int write_error;
	struct buf out;
	uint64_t chain[LIVE_FRAMES_MAX + LIVE_KERNEL_MAX + 8];
	struct map owed; /* cookies without an answer */
	struct map early
	        [2]; /* answers of this round and the last, which may come before their samples */
	struct map remote; /* cookie -> offset in held of a sleeping task's answer */
	struct buf held;
	bool ending;
	struct buf
	        pending; /* samples to be walked here: sample, user frames, raw, each padded to 8 */
	uint64_t samples, answered, late, unwound;
};

uint64_t live_now_ns(void);

/* -- live_probe.c -- */
/* The BTF id of the kernel's function for task work; 0: it has none. */
int live_task_work(void);
int live_libbpf_print(enum libbpf_print_level level, const char *format, va_list ap);

/* -- live_load.c -- */
int live_load(struct live *l, struct seam_error *err);
void live_unload(struct live *l);
uint64_t live_misses(struct live *l);
int live_read_owing(struct live *l);

/* -- live_ring.c -- */
int live_ring_add(struct live *l, size_t ring);
int64_t live_ring_read(struct live *l, capture_write write, void *ctx);
/* Gives what the iterator read and nobody else answered. */
int64_t live_ring_end(struct live *l, capture_write write, void *ctx);

#endif
