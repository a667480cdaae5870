// SPDX-License-Identifier: MIT
/*
 * script_frames.c: see script_frames.h. The form of a line is perf's to the blank.
 *
 * A frame's line depends on its place and its address only, so each is made once per place and its
 * text kept in the resolver's slot; where another process has the file mapped elsewhere, the
 * address in it is written over. Most stacks repeat the last ones: whole parts are kept by words
 * (script_stacks.c), outer frames by thread (script_tail.c). Invariant: what is copied is byte for
 * byte what would be made. One thread; those that share symbols are made with `with`.
 */
#include "script/script_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digits.h"
#include "base/shown.h"
#include "script/script_put.h"
#include "script/script_stacks.h"
#include "script/script_tail.h"
#include "resolve/kernel_prefetch.h"
#include "samples/called.h"
#include "samples/hit.h"
#include "samples/loop_fold.h"

/* Kept lines of a stream that runs for days; then all are made anew. */
#define LINES_MAX (1u << 18) /* about 50 MiB */
#define TAILS 16u            /* threads whose last stack's lines are kept; a power of two */

#define ADDRESS 16 /* columns of an address */
#define MET_BITS 12

/* The text of one frame, made once. It lies in the arena, ended by n, not by a NUL. The address
 * stands at its beginning, and behind each "\n\t" of what is inlined. */
struct script_line {
	uint64_t addr; /* in the text */
	uint32_t n;
	bool stops; /* the frame below it was stopped (resolve/frame_walk.h) */
	bool data;  /* no frame unless it is the first of its part (resolve/resolver.h) */
	/* where the line of the function itself begins, behind those of what is inlined */
	uint32_t own;
	char text[];
};

/* The line of an address that was met lately, in front of the resolver's slots. */
struct script_met {
	uint64_t addr;
	const struct script_line *line; /* NULL: none */
	uint32_t space;
	bool caller;
};

struct script_frames {
	const struct script_text_opts *opts;
	struct resolver *resolver;
	struct kernel_prefetch prefetch;
	struct arena lines; /* what places' slots point to */
	/* 1 << MET_BITS; NULL: numbers of spaces do not last, or no memory */
	struct script_met *met;
	struct loop_fold fold;
	struct buf line; /* one line while it is composed */
	struct script_stacks stacks;
	struct script_tail *tails[TAILS]; /* by tid; NULL: not needed yet */
	/* Where each frame's line begins, of the user part that is being written. */
	uint32_t begins[TAIL_FRAMES];
};

/* Whether source lines are looked up at all: for them, or for inlined calls. */
static bool script_wants_lines(const struct script_text_opts *opts)
{
	return opts->fields & SCRIPT_IP &&
	       (opts->fields & SCRIPT_SRCLINE ||
	        (!opts->no_inline && !opts->hide_chain && opts->fields & SCRIPT_SYM));
}

/* Only the first one starts what all threads share: reading the kernel's symbols ahead, and source
 * lines. */
int script_frames_new(struct script_frames **ret, struct recording *rec,
                      const struct script_text_opts *opts, const struct script_frames *with)
{
	struct script_frames *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->opts = opts;
	f->fold.procs = rec->procs;
	if (!rec->in_order)
		f->met = calloc((size_t)1 << MET_BITS, sizeof(*f->met));
	r = with ? resolver_share(&f->resolver, with->resolver)
	         : resolver_new(&f->resolver, rec, opts->symbols);
	if (r >= 0 && !with && opts->fields & SCRIPT_SYM)
		kernel_prefetch_start(&f->prefetch, f->resolver, 0);
	if (r >= 0 && !with && script_wants_lines(opts))
		r = resolver_lines_start(f->resolver, NULL, opts->symbols);
	if (r < 0) {
		script_frames_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void script_frames_free(struct script_frames *f)
{
	if (!f)
		return;
	kernel_prefetch_end(&f->prefetch);
	resolver_free(f->resolver);
	arena_free(&f->lines);
	free(f->met);
	buf_free(&f->line);
	loop_fold_free(&f->fold);
	script_stacks_free(&f->stacks);
	for (size_t i = 0; i < TAILS; i++)
		free(f->tails[i]);
	free(f);
}

struct resolver *script_frames_resolver(const struct script_frames *f)
{
	return f->resolver;
}

/* Forgets all lines when there are too many. Only between samples. */
void script_frames_bound(struct script_frames *f)
{
	if (resolver_count(f->resolver) <= LINES_MAX)
		return;
	resolver_forget(f->resolver);
	arena_free(&f->lines);
	f->lines = (struct arena){ 0 };
	if (f->met)
		memset(f->met, 0, sizeof(*f->met) << MET_BITS);
}

/* ---- one line ---- */

/* Writes a function's name, and how far behind its start the address is. One that an interpreter
 * runs has no code: there the address says a line. */
static void script_symbol(const struct script_frames *f, const struct place *place,
                          const char *name, struct buf *out)
{
	shown_put_text(out, name ? name : SYMBOL_UNKNOWN);
	if (place->symbol.name && f->opts->fields & SCRIPT_SYMOFF &&
	    !(place->mapping && place->mapping->object->kind == PROC_KIND_RUNTIME)) {
		buf_put(out, "+0x", 3);
		put_hex(out, place->address - place->symbol.start, 0);
	}
}

/* Writes the line below a frame: " file.c:12", or where the code is if no line is known. */
static void script_source(const struct script_frames *f, const struct place *place,
                          const struct lines_frame *source, uint64_t addr, struct buf *out)
{
	const char *slash = source && *source->file ? strrchr(source->file, '/') : NULL;

	if (!(f->opts->fields & SCRIPT_SRCLINE) || !place->object)
		return;
	buf_put_text(out, "\n  ");
	if (source && *source->file) {
		shown_put_text(out, slash ? slash + 1 : source->file);
		buf_put(out, ":", 1);
		buf_put_decimal(out, source->line);
	} else {
		shown_put_text(out, symbol_object_short_name(place->object));
		buf_put(out, "[", 1);
		put_hex(out, place->kernel ? addr : place->address, 0);
		buf_put(out, "]", 1);
	}
}

/* Writes " name (object)", as far as these are asked for. */
static void script_place(struct script_frames *f, const struct place *place, bool guessed,
                         struct buf *out)
{
	unsigned fields = f->opts->fields;

	if (guessed || fields & SCRIPT_SYM)
		buf_put(out, " ", 1);
	if (guessed)
		buf_put_text(out, FRAME_GUESS);
	if (fields & SCRIPT_SYM)
		script_symbol(f, place, place->symbol.name, out);
	if (fields & SCRIPT_DSO) {
		buf_put(out, " (", 2);
		shown_put_text(out,
		               place->object ? symbol_object_name(place->object) : SYMBOL_UNKNOWN);
		buf_put(out, ")", 1);
	}
}

/* What is inlined at an address, the innermost first, each with its end and the next one's lead.
 * All have the address of the function that they are inlined in, as in perf. */
static void script_inlined(struct script_frames *f, const struct place *place, uint64_t addr,
                           const struct lines_at *at, struct buf *out)
{
	if (f->opts->no_inline || !(f->opts->fields & SCRIPT_SYM))
		return;
	for (size_t i = at->n; i > 1; i--) {
		const struct lines_frame *call = &at->frames[i - 1];

		put_hex(out, addr, ADDRESS);
		buf_put(out, " ", 1);
		script_symbol(f, place, *call->function ? call->function : NULL, out);
		script_source(f, place, call, addr, out);
		buf_put_text(out, " (inlined)\n\t");
	}
}

/* Composes a frame's line in f->line. *own: where the function's own line begins, behind the
 * inlined ones. -errno. */
static int script_compose(struct script_frames *f, const struct frame_at *at,
                          const struct place *place, size_t *own)
{
	struct lines_at source = { 0 };
	size_t shown;
	/* Of a frame that was found by guess the address may be wrong, so no line is claimed. */
	int r = at->guessed ? 0 : resolver_source(f->resolver, place, &source);

	if (r < 0)
		return r;
	/* Without inlined frames the innermost call's line stands for all. */
	shown = f->opts->no_inline ? source.n : 1;
	buf_clear(&f->line);
	script_inlined(f, place, at->addr, &source, &f->line);
	*own = f->line.n;
	put_hex(&f->line, at->addr, ADDRESS);
	script_place(f, place, at->guessed, &f->line);
	script_source(f, place, source.n ? &source.frames[shown - 1] : NULL, at->addr, &f->line);
	return 0;
}

/* Makes the line of an address, without what stands in front of it and without its end. */
static int script_line_new(struct script_frames *f, uint32_t space, uint64_t time_ns,
                           const struct frame_at *at, const struct script_line **ret)
{
	struct place place = { .address = at->addr };
	struct script_line *line;
	size_t own = 0;
	int r = 0;

	if (!at->guest && f->opts->fields & (SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE))
		r = resolver_find(f->resolver, space, time_ns, at->addr, at->caller, &place);
	if (r >= 0)
		r = script_compose(f, at, &place, &own);
	if (r < 0)
		return r;
	line = arena_alloc(&f->lines, sizeof(*line) + f->line.n);
	if (!line || f->line.failed)
		return -ENOMEM;
	line->addr = at->addr;
	line->n = (uint32_t)f->line.n;
	line->own = (uint32_t)own;
	line->stops = place.stops;
	/* Kept with the line, because it costs a look into the mappings. */
	line->data = resolver_is_data(f->resolver, space, at);
	memcpy(line->text, f->line.bytes, f->line.n);
	*ret = line;
	return 0;
}

/* Where the line of a frame is kept. Numbers of a stream's spaces do not last. */
static uint64_t *script_slot(struct script_frames *f, uint32_t space, const struct frame_at *at)
{
	return resolver_recording(f->resolver)->in_order
	               ? resolver_frame_slot(f->resolver, space, at)
	               : resolver_place_slot(f->resolver, space, at);
}

/* Where the line of an address is kept if it is among those met last. NULL: nowhere. */
static struct script_met *script_met(const struct script_frames *f, uint32_t space,
                                     const struct frame_at *at)
{
	const uint64_t hash = (at->addr ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15ULL;

	return f->met && !at->guest && !at->guessed ? &f->met[hash >> (64 - MET_BITS)] : NULL;
}

/* The line of an address, made if its place is new. -errno. */
static int script_line(struct script_frames *f, const struct script_spaces *spaces,
                       const struct frame_at *at, const struct script_line **ret)
{
	/* A user address means something in the user's space only. */
	uint32_t space = at->user ? spaces->user : spaces->kernel;
	struct script_met *met = script_met(f, space, at);
	uint64_t *slot;
	int r;

	if (met && met->line && met->addr == at->addr && met->space == space &&
	    met->caller == at->caller) {
		*ret = met->line;
		return 0;
	}
	slot = script_slot(f, space, at);
	r = slot ? 0 : -ENOMEM;
	if (slot && !*slot) {
		r = script_line_new(f, space, spaces->time_ns, at, ret);
		if (r >= 0)
			*slot = (uint64_t)(uintptr_t)*ret;
	}
	if (r >= 0)
		*ret = (const struct script_line *)(uintptr_t)*slot;
	if (r >= 0 && met)
		*met = (struct script_met){
			.addr = at->addr, .line = *ret, .space = space, .caller = at->caller
		};
	return r;
}

/* Writes an address over those of a text, whose lines begin with it. Names are escaped, so no other
 * "\n\t" is there. lone: neither is one of what is inlined. */
static void script_line_at(unsigned char *text, const unsigned char *end, bool lone, uint64_t addr)
{
	_Static_assert(ADDRESS == 16, "as wide as digits_put_hex_right");

	while (text) {
		digits_put_hex_right((char *)text, addr);
		if (lone)
			return;
		do
			text = memchr(text, '\n', (size_t)(end - text));
		while (text && *++text != '\t');
		text += !!text;
	}
}

/* Writes a line from one of its addresses on, as that of this address, between two other bytes. */
static int script_line_put(const struct script_line *line, uint32_t from, uint64_t addr,
                           const char around[2], struct buf *out)
{
	const size_t n = line->n - from;
	unsigned char *p = buf_reserve(out, n + 2);

	if (!p)
		return -ENOMEM;
	p[0] = (unsigned char)around[0];
	memcpy(p + 1, line->text + from, n);
	p[n + 1] = (unsigned char)around[1];
	out->n += n + 2;
	if (addr != line->addr)
		script_line_at(p + 1, p + 1 + n, from == line->own, addr);
	return 0;
}

/* Writes the line of a frame, and tells the walk if the next frame was stopped. 1: the chain ends
 * here. */
static int script_frame(struct script_frames *f, const struct script_spaces *spaces,
                        const struct frame_at *at, struct frame_walk *walk, struct buf *out)
{
	const struct script_line *line;
	int r = script_line(f, spaces, at, &line);

	if (r < 0)
		return r;
	/* Values that look like addresses but are data end a stack: what is above them is not
	 * known. */
	if (line->data && !at->first && !f->opts->unmerged)
		return 1;
	if (line->stops && (!at->user || spaces->by_tables))
		frame_walk_stopped(walk);
	return script_line_put(line, 0, at->addr, "\t\n", out);
}

/* ---- stacks ---- */

/* How the words of a user part were found: 1: they carry walk.h's marks; 2: by tables, while
 * recording. Lines depend on it. Two stacks with the same words and another mark have other
 * lines. */
static unsigned script_found(const struct script_spaces *spaces)
{
	return spaces->marks ? 1 : spaces->by_tables ? 2 : 0;
}

#define FOUND_KERNEL 3 /* of a kernel part */

/* The thread's last lines; NULL: out of memory. */
static struct script_tail *script_tail(struct script_frames *f, uint32_t tid)
{
	struct script_tail **tail = &f->tails[tid % TAILS];

	if (!*tail)
		*tail = calloc(1, sizeof(**tail));
	return *tail;
}

/* Writes the user part; lines are made only for frames that the thread's last such stack did not
 * have. -ENOMEM. */
static int script_user_lines(struct script_frames *f, const struct callchain *sample,
                             const struct script_spaces *spaces, struct buf *out)
{
	struct script_tail *tail = script_tail(f, spaces->tid);
	struct frame_walk walk = { .in_chain = true, .in_user = true };
	size_t start = out->n;
	struct frame_at at;
	struct seam_u64s frames = sample->user;
	uint32_t same;
	int r = 0;

	if (!tail)
		return -ENOMEM;
	same = script_tail_common(tail, spaces->tid, spaces->user, script_found(spaces),
	                          &sample->user);
	while (!r && walk.i < sample->user.n - same && frame_walk_next(&walk, sample, &at)) {
		if (walk.i <= TAIL_FRAMES)
			f->begins[walk.i - 1] = (uint32_t)(out->n - start);
		r = script_frame(f, spaces, &at, &walk, out);
	}
	if (r < 0 || out->failed)
		return -ENOMEM;
	/* The walk ended at this frame, which is not written: only the frames before it are
	 * kept. */
	if (r > 0) {
		frames.n = walk.i - 1;
		same = 0;
	}
	script_tail_keep(tail, same, &frames, out->bytes + start, out->n - start, f->begins);
	return script_tail_put(tail, same, out);
}

/* Writes the kernel part. -errno. */
static int script_kernel_lines(struct script_frames *f, const struct callchain *sample,
                               const struct script_spaces *spaces, struct buf *out)
{
	struct frame_walk walk = { .in_chain = true };
	struct frame_at at;
	int r = 0;

	/* A user frame: the kernel part's last word was a marker. */
	while (!r && walk.i < sample->kernel.n && frame_walk_next(&walk, sample, &at) && !at.user)
		r = script_frame(f, spaces, &at, &walk, out);
	return r;
}

/* A part as it is kept; its words are not known yet. */
static struct stacks_part script_part_of(const struct script_spaces *spaces, bool user)
{
	return (struct stacks_part){ .space = user ? spaces->user : spaces->kernel,
		                     .found = user ? script_found(spaces) : FOUND_KERNEL,
		                     .number = user ? spaces->user_number : spaces->kernel_number };
}

/* Whether a kernel part is written in the same way for each sample that has it: it says itself in
 * which mode its addresses are, and has some. */
static bool script_is_plain(const struct seam_u64s *kernel)
{
	uint64_t innermost;

	return kernel->n && seam_u64s_at(kernel, 0) >= SEAM_CONTEXT_MAX &&
	       hit_chain(kernel, &innermost);
}

/* Writes one part of a stack: a copy of what was kept of it, or line by line. */
static int script_part(struct script_frames *f, const struct callchain *sample,
                       const struct script_spaces *spaces, bool user, struct buf *out)
{
	struct stacks_part part = script_part_of(spaces, user);
	size_t start = out->n;
	int r;

	part.words = user ? &sample->user : &sample->kernel;
	if (!user && !script_is_plain(part.words))
		part.number = 0;
	/* script_stacks_put also fills part.hash, by which the lines are kept below. */
	if (!part.words->n || script_stacks_put(&f->stacks, &part, out))
		return 0;
	r = user ? script_user_lines(f, sample, spaces, out)
	         : script_kernel_lines(f, sample, spaces, out);
	if (r >= 0 && !out->failed)
		script_stacks_keep(&f->stacks, &part, out->bytes + start, out->n - start);
	return r;
}

/* As in perf, the chain stands for the sample. Only if the chain has no address, the line is where
 * the sample hit. */
static bool script_has_chain(const struct callchain *sample)
{
	uint64_t innermost;

	return sample->user.n || hit_chain(&sample->kernel, &innermost);
}

/* Writes frame by frame: for a sample whose chain has no address, or if only some of its frames
 * were asked for. */
static int script_walk(struct script_frames *f, const struct callchain *sample,
                       const struct script_spaces *spaces, struct buf *out)
{
	unsigned most = f->opts->max_stack ? f->opts->max_stack : UINT32_MAX;
	struct frame_walk walk = { .in_chain = script_has_chain(sample) };
	struct frame_at at;
	int r = 0;

	for (unsigned n = 0; !r && n < most && frame_walk_next(&walk, sample, &at); n++)
		r = script_frame(f, spaces, &at, &walk, out);
	return r < 0 ? r : 0;
}

/* Most samples have parts that came before. What is kept is for whole parts only. */
int script_frames_known(struct script_frames *f, const struct script_spaces *spaces,
                        struct buf *out)
{
	const struct stacks_part kernel = script_part_of(spaces, false),
	                         user = script_part_of(spaces, true);
	const unsigned char *kernel_lines = NULL, *user_lines = NULL;
	size_t n_kernel = 0, n_user = 0;

	if (f->opts->max_stack || (!kernel.number && !user.number))
		return 0;
	if (kernel.number)
		kernel_lines = script_stacks_known(&f->stacks, &kernel, &n_kernel);
	if (user.number && (kernel_lines || !kernel.number))
		user_lines = script_stacks_known(&f->stacks, &user, &n_user);
	if ((kernel.number && !kernel_lines) || (user.number && !user_lines))
		return 0;
	if (buf_put(out, kernel_lines, n_kernel) < 0 || buf_put(out, user_lines, n_user) < 0)
		return -ENOMEM;
	return 1;
}

/* Writes all frames of a sample, one a line. recorded is not changed: folded loops have words of
 * their own. */
int script_frames_put(struct script_frames *f, const struct callchain *recorded,
                      const struct script_spaces *spaces, struct buf *out)
{
	struct callchain folded = *recorded;
	const struct callchain *sample = &folded;
	int r = f->opts->native || f->opts->unmerged ? 0
	                                             : loop_fold(&f->fold, spaces->user, &folded);

	if (r < 0)
		return r;
	/* What is kept is for whole parts only. */
	if (f->opts->max_stack || !script_has_chain(sample) || frame_walk_mixed(sample))
		return script_walk(f, sample, spaces, out);
	r = script_part(f, sample, spaces, false, out);
	return r < 0 ? r : script_part(f, sample, spaces, true, out);
}

/* Writes the frame where the sample hit, behind a blank and without a newline: for samples without
 * a chain. */
int script_frames_hit(struct script_frames *f, const struct callchain *sample,
                      const struct script_spaces *spaces, struct buf *out)
{
	struct callchain lone = *sample;
	const struct script_line *line;
	struct frame_walk walk = { 0 };
	struct frame_at at;
	int r;

	lone.kernel.n = lone.user.n = 0;
	if (!frame_walk_next(&walk, &lone, &at))
		return 0;
	r = script_line(f, spaces, &at, &line);
	if (r < 0)
		return r;
	/* Without what is inlined there: perf shows the function that holds the address. */
	r = script_line_put(line, line->own, at.addr, "  ", out);
	out->n -= r >= 0; /* no byte behind it */
	return r;
}
