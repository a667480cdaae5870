/* SPDX-License-Identifier: MIT */
/*
 * lines.h: the source of an address: the line it stands for, and the calls that were inlined there.
 *
 * An object's debugging information is opened at its first question and never before; each address
 * is looked up once, and what was found is kept in $XDG_CACHE_HOME/seam/lines by what those files
 * are (stamp.h). Many addresses at once are answered in parallel: lines_want each, then
 * lines_resolve.
 *
 * Addresses are taken as they are: those of callers are asked for minus 1, as in symbol.h.
 */
#ifndef SEAM_RESOLVE_LINES_H
#define SEAM_RESOLVE_LINES_H

#include "base/room.h"
#include "image/image.h"
#include "samples/recording.h"

struct lines;
struct lines_object;

struct lines_opts {
	size_t sz;
	struct image_search search;
	bool no_demangle, parameters; /* as in symbol_opts */
	bool no_cache;                /* neither read nor write the cache on disk */
	const char *cache_dir;        /* NULL: $XDG_CACHE_HOME/seam/lines, or ~/.cache/seam/lines */
	uint64_t cache_bytes; /* the cache is kept below this, least used first; 0: 512 MiB */
	unsigned threads;     /* 0: as many as there are CPUs, at most 16 */
	struct progress progress;
	/* For lines that serve one recording after the other (lines_renew): files stay open, and
	 * answers are written at the end, as long as all that is open takes no more bytes than
	 * this, the least used closed first. 0: files are closed when all was asked. */
	uint64_t keep_bytes;
	/* An object whose debugging information would take more has no lines. 0: as much as it
	 * takes. */
	uint64_t most_bytes;
	/* Asked before debugging information is opened; without room the object has no lines for
	 * now. */
	struct room room;
	/*
	 * CPU time that may go into debugging information, from one lines_renew to the next; what
	 * is not used is kept, up to ten times as much. Objects that have waited, and are asked for
	 * much, come first. What is left has no lines this time (lines_at.put_off). For one thread.
	 * 0: as much as it takes.
	 */
	uint64_t share_ns;
};

int lines_new(struct lines **ret, const struct lines_opts *opts);
void lines_free(struct lines *l);
/* Begins anew for another recording: what may mean something else there is forgotten (code in no
 * file, files without a build-id, files that changed). search is that recording's, until the next
 * call; NULL: none is read for now. Handles of objects are void. */
void lines_renew(struct lines *l, const struct image_search *search);
/* About how much memory the answers take. */
size_t lines_bytes(const struct lines *l);

/* What the addresses of an object are counted from. */
enum lines_terms {
	LINES_FILE,   /* as its file was linked */
	LINES_KERNEL, /* from _text, wherever the kernel was loaded */
	LINES_MODULE, /* from the begin of .text */
	LINES_JIT,    /* of code in no file: rows, of which lines_tell tells */
};

/* The same pointer for the same path, build-id (NULL or empty: none was recorded) and terms.
 * -ENOMEM. Opens nothing. One thread. */
int lines_object(struct lines *l, enum lines_terms terms, const char *path,
                 const struct image_build_id *build_id, struct lines_object **ret);

/* One function at an address. Texts live until lines_free. */
struct lines_frame {
	const char *function; /* demangled; "" when not known */
	const char *file;     /* from the root where the compiler said so; "": not known */
	uint32_t line; /* in it: of the code, or of the call to the next frame; 0: not known */
};

/* frames[0] is the function that has the code (symbol.h names it, too, and better: its name is the
 * one to show); each one after that was inlined into the one before it. */
struct lines_at {
	const struct lines_frame *frames;
	size_t n; /* 0: nothing is known of the address */
	/* The name of a file (.dwo) that was not found and may know more of this address, or of
	 * others of the object. NULL: everything about the address was looked into. */
	const char *partial;
	/* There may be more to know, and there was no time for it (share_ns). */
	bool put_off;
};

/* vaddr: in the object's terms. Looks it up if that was not done. 1; 0: nothing is known (*ret has
 * no frames); -ENOMEM. One thread. *ret lives until lines_free. */
int lines_find(struct lines_object *object, uint64_t vaddr, struct lines_at *ret);

/* Adds an answer that the caller has. One that is there already stays. It is not written to disk.
 * -ENOMEM. One thread. */
int lines_tell(struct lines_object *object, uint64_t vaddr, const char *file, uint32_t line);

/* Asks for an address; lines_resolve then answers all that were asked for, in parallel. -ENOMEM. */
int lines_want(struct lines_object *object, uint64_t vaddr);
int lines_resolve(struct lines *l);
/* The same for those that were asked for so far. Files stay open until lines_resolve, which must
 * follow. */
int lines_resolve_some(struct lines *l);

/* Whether there can be answers: some are on disk, or the object has debugging information, which is
 * searched for at the first call. One thread. */
bool lines_known(struct lines_object *object);

/* Why an object has no lines, for people: "" when it has, or was never asked. */
const char *lines_object_reason(const struct lines_object *object);

struct lines_counts {
	uint64_t looked_up;        /* addresses; what was known, or on disk, is not among them */
	uint64_t objects, without; /* asked for; of these, with no debugging information */
	uint64_t too_large;        /* of these, because there was too much of it */
};
void lines_count(const struct lines *l, struct lines_counts *ret);

#endif
