/* SPDX-License-Identifier: MIT */
/*
 * kwalk_parts.h: the inside of kwalk.h. kwalk_load.c makes programs and maps, kwalk_arena.c gives
 * out the arena, kwalk_room.c keeps tables there, kwalk_space.c address spaces there,
 * kwalk_follow.c learns of them, kwalk_ring.c turns the rings into records. Only kwalk*.c include
 * it.
 *
 * Its files call downwards only (scripts/check-calls):
 *	kwalk.c
 *	kwalk_load.c
 *	kwalk_ring.c
 *	kwalk_follow.c  kwalk_cover.c
 *	kwalk_learn.c
 *	kwalk_publish.c  kwalk_maps.c
 *	kwalk_room.c  kwalk_budget.c  kwalk_counts.c  kwalk_offcpu.c
 *	kwalk_space.c  kwalk_arena.c  kwalk_programs.c  kwalk_filter.c  kwalk_probe.c  kwalk_lock.c
 */
#ifndef SEAM_CAPTURE_BPF_KWALK_PARTS_H
#define SEAM_CAPTURE_BPF_KWALK_PARTS_H

#include <pthread.h>
#include <stdarg.h>
#include <time.h>

#include <bpf/libbpf.h>

#include "base/buf.h"
#include "base/map.h"
#include "capture/bpf/kwalk.h"
#include "capture/ringbuf.h"
#include "runtimes/splice.h"

/* The clock of all times here: that of the programs. */
static inline uint64_t kwalk_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- kwalk_arena.c: memory that the programs see ---- */

#define ARENA_CLASSES 24 /* blocks of 1 KiB << class */

struct codes;
struct context;
struct arena_freed;

struct arena_memory {
	unsigned char *bytes;                     /* NULL: none */
	uint64_t most;                            /* bytes; */
	uint64_t used;                            /* given out by moving up */
	struct arena_freed *freed[ARENA_CLASSES]; /* oldest first */
	struct arena_freed *freed_last[ARENA_CLASSES];
	uint64_t table_space; /* of used: what tables have, or had */
	struct buf holes;     /* struct arena_hole: in it, by offset */
	uint64_t left_out;    /* arrays that found no room */
	bool remembers;       /* it has the memory at KWALK_KNOWN_AT */
};

void arena_memory_free(struct arena_memory *a);
/* Takes a block of n bytes and returns its offset; 0: memory is out. */
uint32_t arena_take(struct arena_memory *a, size_t n);
/* Gives a block back. It is not handed out again while a program may still read it. */
void arena_give(struct arena_memory *a, uint32_t offset, size_t n, uint64_t now_ns);
/* The same for tables, which have any size. They leave a part of the memory to arrays. */
uint32_t arena_take_table(struct arena_memory *a, uint64_t n, uint64_t now_ns);
void arena_give_table(struct arena_memory *a, uint32_t offset, uint64_t n, uint64_t now_ns);
/* The largest table for which there would be room when all that was given back has rested. */
uint64_t arena_soon(const struct arena_memory *a);
/* Whether n bytes could ever be had. */
bool arena_could(const struct arena_memory *a, uint64_t n);

/* ---- kwalk_room.c: which tables are in the arena ---- */

struct room_object;

struct kwalk_room {
	struct map objects;      /* blob pointer -> struct room_object * */
	bool pressed;            /* some table found no room: uses are noted; see room_is_pressed */
	bool wanted;             /* of those that found none, some were used */
	uint64_t looked_ns;      /* when room was made last */
	uint64_t n, bytes;       /* in the arena now */
	uint32_t entered;        /* so many tables have come in */
	uint64_t left, returned; /* tables that left, and that came later than they were mapped */
};

/* May be called without the lock. Once it was true, it is never false again. */
static inline bool room_is_pressed(const struct kwalk_room *r)
{
	return __atomic_load_n(&r->pressed, __ATOMIC_RELAXED);
}

enum room_state {
	ROOM_IN,
	ROOM_OUT,  /* known, and not in memory */
	ROOM_NONE, /* not a table of ours */
};

/* Copies a table into the arena, once, if there is room; fills the parts of m for ROOM_IN. */
enum room_state room_table(struct kwalk *l, const void *blob, struct kwalk_mapping *m);
/* A walk went through it. */
void room_used(struct kwalk *l, const void *blob);
/* Copies tables into the arena that walks needed, in the place of those that were not used for
 * longest. To be called now and then; what changed must be published. */
void room_make(struct kwalk *l);
void room_free(struct kwalk_room *r);

/* ---- kwalk_space.c: what is mapped in each process ---- */

struct kwalk_vma {
	uint64_t start, end, pgoff, since_ns;
	uint64_t vaddr; /* of start */
	const void *blob;
	const struct runtime_object *runtime;
	const struct context_process *context;
	bool may_guess, keeps_fp, tells;
	uint32_t later; /* a question (kwalk_later.c) that all above but vaddr waits for; 0: none */
};

/* What a process had mapped before it replaced its program. */
struct kwalk_image {
	struct kwalk_vma *at;
	size_t n;
	uint64_t until_ns;
};

/* A mapping, or a part of it, that a newer one has replaced. */
struct kwalk_replaced {
	struct kwalk_vma was;
	uint64_t until_ns;
};

/* These are kept until every sample of their time has been walked, however late the rings are read;
 * but no more than this for one process. */
#define KWALK_IMAGES 4096u
#define KWALK_REPLACED 4096u

struct kwalk_space {
	uint32_t runtimes; /* that were published beside the first one: 1 << enum runtime_kind */
	uint32_t pid;
	uint32_t execs;        /* as the map `changes` counts */
	uint32_t losses;       /* likewise, when /proc was read */
	uint64_t read_cost_ns; /* and how long that took */
	uint64_t read_ns;      /* when /proc was read: older records say nothing new */
	struct kwalk_vma *at;  /* by start */
	size_t n, capacity;
	uint32_t published; /* offset in the arena; 0: none */
	size_t published_size;
	struct kwalk_image *before; /* the oldest first */
	size_t n_before, before_capacity;
	struct buf replaced; /* struct kwalk_replaced: by time */
	struct kwalk_spaces *all;
	struct kwalk_space *next_dirty;
	bool reading;     /* /proc is being read for it (kwalk_cover.c) */
	bool dirty;       /* in the list of those that the programs have not seen as they are */
	uint64_t gone_ns; /* its process has exited */
	bool outlived;    /* and mapped something after that: other threads run on */
	uint64_t work;    /* since work_since_ns: what its mappings cost */
	uint64_t work_since_ns;
	uint64_t left_ns; /* since then it is left alone, as they cost too much; 0: it is not */
};

struct kwalk_spaces {
	struct map by_pid; /* -> struct kwalk_space * */
	struct kwalk_space *dirty;
	uint64_t mappings;
	uint64_t swept_ns, sweeps;
	/* Of what was sampled before, nothing waits any more: the reader's, without the lock. */
	uint64_t walked_ns;
};

/* The programs are to see it as it is now. */
void kwalk_space_touch(struct kwalk_space *s);
struct kwalk_space *kwalk_space_get(struct kwalk_spaces *s, uint32_t pid, bool make);
/* Forgets what was mapped before a time. */
void kwalk_space_clear(struct kwalk_space *s, uint64_t before_ns);
/* Forgets everything, also what was mapped before. */
void kwalk_space_forget(struct kwalk_space *s);
/* The same at an exec: what was mapped is remembered for samples that were taken before. */
void kwalk_space_exec(struct kwalk_space *s, uint64_t at_ns);
void kwalk_space_free(struct kwalk_space *s);
/* Adds a mapping. Older ones that it overlaps are cut; where a newer one is, nothing is added.
 * -ENOMEM. */
int kwalk_space_put(struct kwalk_space *s, const struct kwalk_vma *m);
/*
 * Replaces the mappings by those that were read at a time, which are sorted. All records until
 * seen_ns were applied to the known ones: what is still there keeps its age, and what is not is
 * remembered for samples of its time. -ENOMEM: nothing has changed.
 */
int kwalk_space_replace(struct kwalk_space *s, const struct kwalk_vma *at, size_t n,
                        uint64_t seen_ns);
int kwalk_space_copy(struct kwalk_space *to, const struct kwalk_space *from);
void kwalk_spaces_free(struct kwalk_spaces *s);
/* To be called when a table came or left, so that the programs see it. */
void kwalk_spaces_touch(struct kwalk_spaces *s, const void *blob);
/* Finds what was mapped in a process at a time. Under the lock. */
const struct kwalk_vma *kwalk_spaces_find(struct kwalk_spaces *s, uint32_t pid, uint64_t pc,
                                          uint64_t time_ns);
/* ---- kwalk_budget.c: what mappings may cost ---- */

#define BUDGET_NS 1000000000ull
#define BUDGET_LINE 40u /* a line of /proc/PID/maps, or a record */

struct budget {
	uint64_t since_ns; /* a second, or all the time before the recording begins */
	uint64_t all;      /* work of all in it */
	uint64_t left;     /* times that a process was left alone */
	uint64_t waiting;  /* processes that were not read before the beginning */
};

/* Counts more work for a process that has cost `own` so far; false: it is too much. From any
 * thread. */
bool budget_take(struct budget *b, uint64_t own, uint64_t work);
/* Whether a process is not to be read before the beginning any more; counts those. From any
 * thread. */
bool budget_waits(struct budget *b);
/* Begins the next second, if it is time. */
void budget_turn(struct budget *b, uint64_t now_ns);
bool budget_charge(struct kwalk *l, struct kwalk_space *s, uint64_t work);
void budget_leave(struct kwalk *l, struct kwalk_space *s);

/* ---- kwalk_later.c ---- */

#define LATER_MAX 4096u /* questions */

struct later {
	pthread_mutex_t lock;
	struct later_question *at; /* NULL: no question yet */
	struct map by_hash;        /* -> number */
	uint32_t last;
};

void later_init(struct later *t);
void later_free(struct later *t);
/* Whether tables are made when they are wanted. */
bool later_is_on(const struct kwalk *l);
uint32_t later_add(struct kwalk *l, const struct kwalk_ask *ask);
/* Makes the table. False: the process is forgotten, or the time is over. */
bool later_settle(struct kwalk *l, uint32_t pid, uint32_t number);

/* ---- kwalk_publish.c ---- */

/* Makes the programs see all that has changed. */
void kwalk_publish(struct kwalk *l);

/* ---- kwalk_follow.c ---- */

#define FOLLOW_TOLD 64

struct follow {
	pthread_t thread;
	bool running;
	int wake;            /* an eventfd: stop */
	int news_fd;         /* by it the programs wake the thread; */
	struct ringbuf news; /* its words are processes' numbers */
	struct ring *rings;  /* one per CPU, of dummy events */
	int *fds;
	size_t n;
	struct seam_events *events;
	struct buf records;         /* drained and not applied yet */
	struct buf order;           /* struct follow_entry: of them, by time */
	struct map ended;           /* process -> time of its EXIT, if that is among them */
	uint64_t seen_ns;           /* what was mapped until then has been applied */
	uint32_t told[FOLLOW_TOLD]; /* processes in which a walk met what is not known */
	size_t n_told;
	uint64_t lost;  /* records that say so, or for which there was no memory */
	uint64_t again; /* times that /proc was read again for that */
};

int follow_start(struct kwalk *l, struct seam_error *err);
void follow_stop(struct kwalk *l);
/* Learns all that the kernel has said of mappings until now. */
void follow_drain(struct kwalk *l);

/* ---- kwalk_learn.c: with the turn and the lock, which is given back in between ---- */

/* Learns one record of the dummy events; they come in order of time. */
int learn_record(struct kwalk *l, const unsigned char *bytes, uint16_t size);
/* To be called when records were lost: reads all that is known from /proc anew. */
void learn_again(struct kwalk *l);
/* The programs' count of what a process did to its mappings. */
struct kwalk_changes learn_changes(struct kwalk *l, uint32_t pid);
/* To be called when a walk in the kernel knew nothing of an address: if the process has moved code
 * since it was read, it is read anew. */
void learn_missed(struct kwalk *l, uint32_t pid);

/* ---- kwalk_maps.c ---- */

/* Calls put for each executable line of /proc/PID/maps, with its table. text is room for reading.
 * -errno; -E2BIG: there are more than the process may cost, or it keeps who reads them waiting;
 * -ECANCELED: the time is over. Without the lock. */
int maps_read(struct kwalk *l, uint32_t pid, uint64_t now_ns, struct buf *text,
              void (*put)(void *ctx, const struct kwalk_vma *m), void *ctx);
/* Finds the table of one mapping. False: nothing must be known of it. */
bool maps_table(struct kwalk *l, struct kwalk_vma *m, const struct kwalk_ask *ask);

/* ---- kwalk_ring.c ---- */

struct kwalk_ring {
	struct kwalk *kwalk;
	struct ringbuf bytes;
	struct kwalk_sample sample; /* the one whose KWALK_RAW comes next; kind 0: none */
	uint64_t user[KWALK_FRAMES_MAX];
	/* The newest walks over frames of each interpreter, at once and deferred: of the record
	 * that comes next. Each with KWALK_RUNTIME_ROOM frames behind it; NULL: there was none. */
	struct kwalk_runtime *runtime[2][RUNTIMES];
	struct map contexts; /* thread -> the set of labels that the recording was told last */
	uint64_t context_of; /* time of the sample that was told of last */
};

struct seam_ksymbol;

/* ---- kwalk_runtime.c ---- */

/* A stack with the frames of an interpreter in it. */
#define KWALK_SPLICED_MAX (KWALK_FRAMES_MAX + KWALK_RUNTIME_ROOM + SPLICE_INLINED)

int runtime_open(struct kwalk *l);
void runtime_close(struct kwalk *l);
/* To be called before loading. */
int runtime_sizes(const struct kwalk *l);
/* Tells the programs which interpreters a process runs. */
void runtime_publish(struct kwalk *l, struct kwalk_space *s);
/* Takes a KWALK_CODE: 1: *ret is to be put into the recording before all that comes; or 0. */
int runtime_code(struct kwalk *l, const struct kwalk_code *code, struct seam_ksymbol *ret);
/* Keeps a KWALK_RUNTIME for the record that comes next. -ENOMEM. */
int runtime_keep(struct kwalk_ring *ring, const struct kwalk_runtime *p);

/* Frames that belong to a record: of each interpreter of a process those of one walk. */
struct runtime_set {
	struct kwalk_runtime *at[RUNTIMES];
	size_t n;
};

/* Those of a record (by its time_ns or cookie), once. */
struct runtime_set runtime_kept(struct kwalk_ring *ring, bool deferred, uint64_t of);
/* Writes them behind what waits, and takes them from there: returns the bytes. */
void runtime_wait(struct buf *to, const struct runtime_set *set);
size_t runtime_waited(unsigned char *from, struct runtime_set *set);
struct runtime_natives; /* runtimes/kinds.h */
/* Finds the native frames of their calls of the loop in a stack that was walked here, of which
 * native_end says how that ended. */
void runtime_place(struct kwalk *l, struct runtime_set *set, const struct runtime_natives *natives,
                   uint64_t time_ns, uint32_t native_end);
/*
 * Puts the frames into a native stack, in ips[*n], which is returned, or else l->spliced. The set
 * may be empty, and is changed. native_end: how the walk of these ended. *end (enum
 * kwalk_runtime_end) is changed where names are missing, or calls have no place.
 */
const uint64_t *runtime_splice(struct kwalk *l, struct runtime_set *set, const uint64_t *ips,
                               size_t *n, uint32_t native_end, uint8_t *end);

struct hotspots; /* ../runtime/kwalk_memory.h */
struct v8_scripts;

/* ---- kwalk_runtime_load.c ---- */

/* The programs of one interpreter. */
struct kwalk_runtimes {
	struct kwalk *kwalk;
	enum runtime_kind kind;
	bool wanted, started, loaded; /* atomic */
	pthread_t thread;
	struct bpf_object *object; /* the thread's, until it has ended */
	struct bpf_object *owing;  /* kwalk_owing.c; NULL: not needed yet */
};

void runtime_settle(struct kwalk *l);
void runtime_unload(struct kwalk *l);

/* ---- kwalk_runtime_object.c ---- */

/* How a kind's object is opened: bytes is NULL where there is none; `said` has LOAD_LOG bytes, or
 * is NULL. */
struct relocate_object runtime_object_of(enum runtime_kind kind, char *said);

/* ---- kwalk.c ---- */

struct kwalk {
	struct kwalk_opts opts;
	struct kwalk_probe probe;
	struct bpf_object *object;
	struct bpf_object *owing; /* kwalk_owing.c; NULL: not needed yet */
	struct bpf_program *on_sample;
	uint32_t alive; /* a target that was seen alive: the first to be looked at */
	int *links;     /* descriptors */
	size_t n_links;
	int *attached; /* links of on_sample to the session's events */
	size_t n_attached;
	int epoll; /* over all rings */
	int *ring_fds;
	struct kwalk_ring *rings;                         /* beside them */
	size_t n_cpus;                                    /* possible ones: one ring each */
	int processes, changes, targets, counts, matched; /* map descriptors */
	/*
	 * One at a time learns: the follower, or the reader before it walks copies. It changes what
	 * is below under the lock, which is given back where something is read from a file or made
	 * of it: nobody waits for that. Both locks: turn first.
	 */
	pthread_mutex_t turn;
	pthread_mutex_t lock; /* of all below: the follower and the reader */
	struct arena_memory arena;
	struct kwalk_room room;
	struct kwalk_spaces spaces;
	struct budget budget;
	struct map followed; /* pids that are or were targets */
	struct follow follow;
	struct later later;

	/* kwalk_ring.c */
	const struct seam_events *events;      /* the session's */
	const struct seam_event *output_event; /* of them, that which carries deferred records */
	capture_write write;
	void *write_ctx;
	int64_t given;
	struct buf out;
	uint64_t chain[KWALK_SPLICED_MAX + KWALK_KERNEL_MAX + 8];
	uint64_t spliced[KWALK_SPLICED_MAX];
	struct codes *codes;     /* of interpreters; NULL: not wanted */
	int runtimes;            /* the map's descriptor */
	int contexts;            /* likewise */
	struct context *context; /* NULL: not wanted */
	uint64_t context_unnamed;
	struct buf context_begun; /* struct context_began: for the reader, under the lock */
	uint64_t context_begins;  /* how many came there in all; read without it */
	struct kwalk_runtimes kinds[RUNTIMES];
	uint32_t runtimes_met; /* atomic */
	struct hotspots *hotspots;
	struct v8_scripts *v8_scripts;
	/* Writes a name into the recording, before the first stack that has it. */
	int (*tell_symbol)(struct kwalk *l, uint32_t pid, uint64_t time_ns,
	                   const struct seam_ksymbol *symbol);
	uint64_t hotspot_unread; /* places in compiled code whose inlined methods are not known */
	uint64_t splice_time;    /* of the record that frames are put into */
	uint64_t runtime_unnamed, runtime_functions, runtime_apart, runtime_late;
	struct map pending_cookies; /* cookies without a deferred record */
	struct map early
	        [2]; /* answers of this round and the last, which may come before their samples */
	struct map remote; /* cookie -> offset in held of a sleeping task's deferred record */
	struct buf held;
	bool ending;
	bool counts_skipped; /* on_overflow is attached */
	bool counts_losses;  /* on_unlocked is */
	bool away_on, away_ends;
	uint64_t away_ids[KWALK_AWAYS];
	/* samples to be walked here: sample, user frames, raw, each padded to 8 */
	struct buf pending;
	uint64_t round_ns; /* when the rings began to be read for the last time */
	uint64_t samples, answered, late, unwound;
	uint64_t end_ns; /* nothing is read after it (0: no such time); the follower asks, too */
	bool begun;      /* sampling; likewise */
	uint64_t cut;
	uint64_t told_full, told_skipped, told_tasks; /* what the file was told of losses */
};

/* Whether the time to end is over (session_end_by), or came before sampling began. */
static inline bool kwalk_is_over(const struct kwalk *l)
{
	uint64_t end_ns = __atomic_load_n(&l->end_ns, __ATOMIC_RELAXED);

	if (end_ns && kwalk_now_ns() >= end_ns)
		return true;
	return l->opts.stopped && !__atomic_load_n(&l->begun, __ATOMIC_RELAXED) &&
	       l->opts.stopped();
}

/* -- kwalk_lock.c -- */
void lock_make(struct kwalk *l);
void lock_free(struct kwalk *l);
/* Takes a lock for the reader, who waits no longer than the time to end. False: it is over, and
 * somebody else has the lock. */
bool lock_soon(struct kwalk *l, pthread_mutex_t *lock);

/* -- kwalk_probe.c -- */
struct relocate;
/* Asks for the kernel's function for task work. */
void kwalk_want_task_work(struct relocate *r);
/* Its number, once it was looked for; 0: there is none. */
uint32_t kwalk_task_work(const struct relocate *r);
/* Whether BPF can be used at all; nothing is said of deferring. */
void kwalk_probe_usable(struct kwalk_probe *ret);
void kwalk_probe_defers(struct kwalk_probe *p, uint32_t task_work);
/* Whether a program can be attached to a function of the kernel, by its number, found out by
 * trying. */
bool kwalk_traces(uint32_t function);
/* The address of a symbol of the kernel; 0: there is none, or it is hidden from this user. */
uint64_t kwalk_symbol(const char *name);
int kwalk_libbpf_print(enum libbpf_print_level level, const char *format, va_list ap);

/* -- kwalk_filter.c -- */
/* To be called before loading: writes what the programs are told. */
void filter_configure(const struct kwalk *l, struct kwalk_config *c);
/* To be called after loading: fills the maps. */
int filter_fill(struct kwalk *l);
/* Whether a task of the process ever was what the filters ask for. */
bool filter_has_matched(const struct kwalk *l, uint32_t pid);

/* -- kwalk_offcpu.c -- */
/* To be called before loading, with what c says of deferral. */
void offcpu_configure(const struct kwalk *l, struct kwalk_config *c);
/* To be called after on_fork was attached. */
int offcpu_attach(struct kwalk *l);
/* l->events are known. */
void offcpu_events(struct kwalk *l);
/* The id of the event that the `event` of a sample means. */
uint64_t offcpu_id(const struct kwalk *l, uint64_t event);
/* Begins, or ends, counting time off the CPU. */
int offcpu_switch(struct kwalk *l, bool on);
/* To be called after the end: reports the threads that are still off the CPU. drain reads the rings
 * when they are full; a result of it below 0 is returned. */
int offcpu_end(struct kwalk *l, int (*drain)(void *ctx), void *ctx);

/* -- kwalk_counts.c -- */
int counts_of_programs(struct kwalk *l, struct kwalk_counts *ret);

/* -- kwalk_programs.c -- */
/* Asks the kernel about a program; zeros: it is not loaded. */
struct bpf_prog_info kwalk_program_info(const struct bpf_program *p);
/* Attaches a program for as long as l lives. */
int kwalk_link(struct kwalk *l, const char *name);
/* Runs an iterator's program over all tasks. drain is called when the program says (by 1) that the
 * rings must be read before it goes on; NULL: the program never says so. */
int kwalk_iterate(struct kwalk *l, const char *name, int (*drain)(void *), void *ctx);
int kwalk_iterate_object(struct bpf_object *object, const char *name, int (*drain)(void *),
                         void *ctx);
/* The number of times that the kernel skipped a program because it was running on the CPU. */
uint64_t kwalk_misses(struct kwalk *l, const char *name);

/* -- kwalk_owing.c -- */
void owing_configure(struct bpf_object *object);
int kwalk_read_owing(struct kwalk *l);
void owing_free(struct bpf_object **owing);

/* -- kwalk_load.c -- */
int kwalk_load(struct kwalk *l, struct seam_error *err);
#define LOAD_LOG (1u << 20) /* bytes of the verifier's words */
/* What another object of programs needs as well. load_patch: the kernel's number of the function
 * for task work; load_say: the verifier's last words; load_tell: how much it went through. */
void load_patch(struct bpf_object *object, uint32_t id);
int load_configure(struct kwalk *l, struct bpf_object *object);
void load_say(struct kwalk *l, const char *said);
void load_tell(struct kwalk *l, struct bpf_object *object);
int load_map_fd(struct kwalk *l, const char *name);
void kwalk_unload(struct kwalk *l);

/* -- kwalk_ring.c -- */
int kwalk_ring_add(struct kwalk *l, size_t ring);
int64_t kwalk_ring_read(struct kwalk *l, capture_write write, void *ctx);
/* Gives the stacks that the iterator read, unless the task answered itself. */
int64_t kwalk_ring_end(struct kwalk *l, capture_write write, void *ctx);

#endif
