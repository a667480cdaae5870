/* SPDX-License-Identifier: MIT */
/* lines_object.h: the inside of lines.c: its objects and their files, and the parallel part. */
#ifndef SEAM_RESOLVE_LINES_OBJECT_H
#define SEAM_RESOLVE_LINES_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "dwarf/dwarf.h"
#include "resolve/lines.h"
#include "resolve/line_cache.h"
#include "tables/stamp.h"
#include "tables/table_cache.h"

#define LINES_THREADS_MAX 16u

/* How much memory all handles of the process may take together, apart from the sections. A handle
 * that grows beyond its share is closed and opened anew. */
#define LINES_HANDLE_BYTES (256ULL << 20)

struct lines_object {
	struct lines *lines;
	enum lines_terms terms;
	const char *path;
	struct image_build_id build_id;
	struct lines_object *next, *same; /* of all, in order; with the same hash */
	struct line_cache answers;
	struct table_cache_bytes cached; /* of the file whose answers are among them */
	struct buf wanted;               /* u64 addresses */
	bool cut;                        /* wanted is dealt out */
	struct map shown; /* vaddr -> struct lines_frame *, for those that were asked for */
	/* Addresses of which a file (.dwo) that was not found may know more; and the name of one
	 * such file. */
	struct map partial;
	char partial_file[256];
	char cache_name[96]; /* "": not known, or not for the disk */
	bool cache_read;
	bool dirty;      /* has answers that are not on disk */
	bool incomplete; /* parts of its information are missing: not for the disk */
	bool asked;
	bool old; /* of a recording before: nobody finds it */
	/* LINES_KEPT: what files were when they were opened, and how lately they were used. */
	const char *image_at, *debug_at; /* NULL: there was none */
	struct stat image_was, debug_was;
	bool too_large;
	uint64_t used;
	uint32_t waited; /* how often some of its addresses were put off */
	/* State of the files; under the lock while threads run. */
	pthread_mutex_t lock;
	bool opened;                       /* or tried */
	struct image *image, *debug, *alt; /* debug may be image */
	uint64_t base;                     /* where its terms count from, as it was linked */
	struct dwarf *dwarf;               /* lines_find's own */
	bool handed;                       /* a handle was asked for: too late for an early one */
	struct dwarf *prefetch;            /* opened ahead of time, not handed out yet */
	bool has_opener;
	atomic_bool opening; /* the opener is at work: who wants a handle would wait */
	pthread_t opener;    /* who opens early */
	char reason[512];
};

struct lines {
	struct lines_opts opts;
	pthread_mutex_t lock; /* texts, and all objects' answers, while threads run */
	struct arena arena;
	struct intern texts;
	struct map demangled; /* text -> const char * */
	struct table_cache cache;
	struct map by_hash;
	struct lines_object *first, *last;
	struct lines_counts counts;
	unsigned openers;       /* threads started to open handles early */
	_Atomic uint64_t clock; /* threads look up lines of several objects */
	size_t shown;           /* bytes of frames that were made for showing */
	int64_t share_ns;       /* CPU time that is left; below 0: too much was taken */
	bool share_begun;
};

/* The threads to be used. */
unsigned lines_threads(const struct lines *l);

/* A handle on the object's information, which is searched for at the first call. -ENOENT and the
 * like: it has none, reason says why. Any thread. */
int lines_handle(struct lines_object *object, struct dwarf **ret);
void lines_handle_close(struct lines_object *object, struct dwarf *handle);
/* Gives a handle back: it is kept for the next one who asks, where files stay open. */
void lines_handle_rest(struct lines_object *object, struct dwarf *handle);
/* Closes files until those that are left take no more than keep_bytes. */
void lines_files_shrink(struct lines *l);
/* There is no time for its addresses: it is found out only whether it has any information. */
void lines_files_put_off(struct lines_object *object);
/* Whether its files are what they were when they were opened. */
bool lines_files_hold(const struct lines_object *object);
/* Closes its files; no handle may be left. */
void lines_files_close(struct lines_object *object);

/* CPU time for debugging information (lines_opts.share_ns): another recording begins; what was
 * taken since began_ns, of lines_share_now; whether there is any left. */
void lines_share_renew(struct lines *l);
uint64_t lines_share_now(const struct lines *l);
void lines_share_take(struct lines *l, uint64_t began_ns);
bool lines_share_is_left(const struct lines *l);
/* How urgent an object's addresses are: the most first. */
uint64_t lines_share_weight(const struct lines_object *object);

void lines_cache_read(struct lines_object *object);
void lines_cache_write(struct lines_object *object);

/* Looks up n addresses of an object with a handle; texts and answers are taken over under lines'
 * lock. */
int lines_look_up(struct lines_object *object, struct dwarf *handle, const uint64_t *vaddrs,
                  size_t n);

#endif
