// SPDX-License-Identifier: MIT
/*
 * kwalk_runtime.c: frames of interpreters: what the programs are told of a process, and where in a
 * native stack its frames belong. Which version keeps what where is known by runtimes/.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "abi/runtime_code.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/runtime/kwalk_memory.h"
#include "runtimes/codes.h"
#include "runtimes/kinds.h"
#include "runtimes/splice.h"

_Static_assert(sizeof(struct runtime_frame) == 16, "records of rings have fixed layouts");

/* Frames wait per ring and kind (at once, deferred) for the record that they belong to. */
int runtime_open(struct kwalk *l)
{
	int r = codes_new(&l->codes);

	for (size_t i = 0; r >= 0 && i < l->n_cpus; i++)
		for (size_t k = 0; r >= 0 && k < 2; k++) {
			l->rings[i].runtime[k] =
			        calloc(1,
			               sizeof(struct kwalk_runtime) +
			                       KWALK_RUNTIME_ROOM * sizeof(struct runtime_frame));
			r = l->rings[i].runtime[k] ? 0 : -ENOMEM;
		}
	return r;
}

void runtime_close(struct kwalk *l)
{
	for (size_t i = 0; l->rings && i < l->n_cpus; i++) {
		free(l->rings[i].runtime[0]);
		free(l->rings[i].runtime[1]);
	}
	hotspot_close(l);
	v8_close(l);
	codes_free(l->codes);
}

/* Of `codes` all entries are made at once: so many functions for each CPU, and one that is lost is
 * sent again. Without interpreters nothing is kept: the maps are as small as maps can be. */
int runtime_sizes(const struct kwalk *l)
{
	struct bpf_map *codes = bpf_object__find_map_by_name(l->object, "codes");
	struct bpf_map *runtimes = bpf_object__find_map_by_name(l->object, "runtimes");
	size_t n = l->opts.runtimes ? l->n_cpus * 8192 : 1;
	int r;

	if (!codes || !runtimes)
		return -ENOENT;
	r = bpf_map__set_max_entries(codes, (uint32_t)(n < 65536 ? n : 65536));
	return r < 0 || l->opts.runtimes ? r : bpf_map__set_max_entries(runtimes, 1);
}

/* A process runs one interpreter, of which the first mapping tells that is understood. Addresses of
 * the file become addresses of the process. */
void runtime_publish(struct kwalk *l, const struct kwalk_space *s)
{
	const struct kwalk_vma *m = NULL;
	struct runtime_process p = { .execs = s->execs, .losses = s->losses };

	for (size_t i = 0; i < s->n && (!m || !m->runtime->known); i++)
		if (s->at[i].runtime && s->at[i].runtime->loads)
			kwalk_runtime_want(l, s->at[i].runtime->kind);
		else if (s->at[i].runtime && (!m || s->at[i].runtime->known))
			m = &s->at[i];
	if (!m) {
		bpf_map_delete_elem(l->runtimes, &s->pid);
		return;
	}
	if (!(l->opts.runtimes >> m->runtime->kind & 1))
		return;
	__atomic_fetch_or(&l->runtimes_met, 1u << m->runtime->kind, __ATOMIC_RELAXED);
	p.of = *m->runtime;
	for (size_t i = 0; i < RUNTIME_ADDRESSES; i++)
		if (p.of.address[i])
			p.of.address[i] += m->start - m->vaddr;
	if (p.of.kind == RUNTIME_HOTSPOT && p.of.known &&
	    !hotspot_publish(l, s->pid, m->runtime, m->start - m->vaddr, &p))
		return;
	bpf_map_update_elem(l->runtimes, &s->pid, &p, BPF_ANY);
	if (p.of.known)
		kwalk_runtime_want(l, p.of.kind);
}

static struct codes_text runtime_text(const struct kwalk_code_text *text, const uint64_t *at)
{
	return (struct codes_text){ at, text->bytes, text->width, text->cut };
}

/* Sizes come from the rings and are checked once more. */
int runtime_code(struct kwalk *l, const struct kwalk_code *code, struct seam_ksymbol *ret)
{
	const uint64_t *name_text = code->text + KWALK_CODE_FILE / 8;
	struct codes_told told = {
		.kind = code->runtime,
		.key = code->key,
		.first_line = code->first_line,
		.file = runtime_text(&code->file, code->text),
		.name = runtime_text(&code->name, name_text),
		.scope = runtime_text(&code->scope, name_text + KWALK_CODE_NAME / 8),
		.lines = code->lines,
		.n_lines = code->n_lines,
		.lines_form = code->lines_form,
		.awaits = code->awaits,
	};
	const char *name;
	uint64_t start;
	int r;

	if (!l->codes || code->file.bytes > KWALK_CODE_FILE || code->name.bytes > KWALK_CODE_NAME ||
	    code->scope.bytes > KWALK_CODE_SCOPE)
		return 0;
	if (codes_knows(l->codes, told.key))
		return 0;
	v8_lines_of(l, code->pid, &told);
	r = codes_learn(l->codes, &told, &name, &start);
	if (r <= 0)
		return r == -ENOSPC ? 0 : r;
	l->runtime_functions++;
	*ret = (struct seam_ksymbol){ .addr = start, .len = RUNTIME_CODE_SIZE, .name = name };
	return 1;
}

/* One per kind is enough: the record that it belongs to comes next. */
void runtime_keep(struct kwalk_ring *ring, const struct kwalk_runtime *p)
{
	struct kwalk_runtime *to = ring->runtime[p->deferred & 1];

	if (to)
		memcpy(to, p, sizeof(*p) + p->n * sizeof(struct runtime_frame));
}

struct kwalk_runtime *runtime_kept(struct kwalk_ring *ring, bool deferred, uint64_t of)
{
	struct kwalk_runtime *p = ring->runtime[deferred];

	if (!p || p->kind != KWALK_RUNTIME || p->of != of)
		return NULL;
	p->kind = 0; /* it is used once */
	return p;
}

/* The frames behind p as splice.c has them. */
static struct splice runtime_frames(struct kwalk_runtime *p)
{
	return (struct splice){ .frames = (void *)(p + 1),
		                .n = p->n,
		                .other = p->other,
		                .whole = p->end == KWALK_RUNTIME_COMPLETE };
}

void runtime_place(struct kwalk_runtime *p, const uint64_t *sps, size_t n)
{
	struct splice s = runtime_frames(p);

	splice_place(&s, sps, n);
}

/* Whether all that the native walk missed is outwards of what it saw: it came to its limit, or, in
 * PHP and Ruby, whose functions that are written in C are in the chain, too, to code that nothing
 * describes (of a JIT). What is missing then are calls by way of C: of other interpreters functions
 * would look as if one had called the other, so such stacks have none, and are counted. */
static bool runtime_is_cut(const struct kwalk_runtime *p, uint32_t native_end)
{
	return native_end == KWALK_LIMIT ||
	       ((p->runtime == RUNTIME_PHP || p->runtime == RUNTIME_RUBY) &&
	        (native_end == KWALK_NO_TABLE || native_end == KWALK_NO_RULE));
}

/* What HotSpot has inlined comes in the place of the compiled method first. Frames whose names are
 * not known, or whose place is not, are left out, and *end says so. */
const uint64_t *runtime_splice(struct kwalk *l, struct kwalk_runtime *p, const uint64_t *ips,
                               size_t *n, uint32_t native_end, uint8_t *end)
{
	uint64_t unnamed = l->runtime_unnamed;
	struct runtime_frame *expanded;
	bool unread = false, cut;
	struct splice s;

	if (!p)
		return ips;
	if (*end == KWALK_RUNTIME_AWAY)
		hotspot_away(l, p->pid);
	expanded = p->runtime == RUNTIME_HOTSPOT ? hotspot_expand(l, p, &unread) : NULL;
	s = runtime_frames(p);
	if (expanded)
		s.frames = expanded;
	if (!kinds_match(p->runtime, s.frames, &s.n)) {
		s.n = 0;
		*end = KWALK_RUNTIME_APART;
	}
	if (p->shifted)
		splice_shift(&s);
	/* What resumed this stack has its place behind it. */
	cut = runtime_is_cut(p, native_end) || (p->behind && *end == KWALK_RUNTIME_COMPLETE);
	if (*end == KWALK_RUNTIME_COMPLETE && !cut && splice_is_apart(&s))
		*end = KWALK_RUNTIME_APART;
	*n = splice_stack(&s, l->codes, ips, *n, cut, l->spliced, &l->runtime_unnamed);
	if (l->runtime_unnamed > unnamed || unread)
		*end = KWALK_RUNTIME_UNNAMED;
	return l->spliced;
}
