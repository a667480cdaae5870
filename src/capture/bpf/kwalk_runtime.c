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

int runtime_open(struct kwalk *l)
{
	return codes_new(&l->codes);
}

void runtime_close(struct kwalk *l)
{
	for (size_t i = 0; l->rings && i < l->n_cpus; i++)
		for (size_t k = 0; k < RUNTIMES; k++) {
			free(l->rings[i].runtime[0][k]);
			free(l->rings[i].runtime[1][k]);
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

/* The first mapping of each interpreter that a process runs, of one that is understood if there is
 * such a one. */
static void runtime_mappings(struct kwalk *l, const struct kwalk_space *s,
                             const struct kwalk_vma *ret[RUNTIMES])
{
	for (size_t i = 0; i < s->n; i++) {
		const struct runtime_object *of = s->at[i].runtime;

		if (!of || of->kind >= RUNTIMES)
			continue;
		if (of->loads)
			kwalk_runtime_want(l, of->kind);
		else if ((l->opts.runtimes >> of->kind & 1) &&
		         (!ret[of->kind] || (of->known && !ret[of->kind]->runtime->known)))
			ret[of->kind] = &s->at[i];
	}
}

/* Addresses of the file become addresses of the process. False: it has only begun. */
static bool runtime_fill(struct kwalk *l, const struct kwalk_space *s, const struct kwalk_vma *m,
                         struct runtime_process *ret)
{
	*ret = (struct runtime_process){ .execs = s->execs,
		                         .losses = s->losses,
		                         .of = *m->runtime };
	for (size_t i = 0; i < RUNTIME_ADDRESSES; i++)
		if (ret->of.address[i])
			ret->of.address[i] += m->start - m->vaddr;
	return ret->of.kind != RUNTIME_HOTSPOT || !ret->of.known ||
	       hotspot_publish(l, s->pid, m->runtime, m->start - m->vaddr, ret);
}

/* Of several interpreters the programs find one by the pid, Java if it is there, and by this one's
 * entry the others. */
static const struct kwalk_vma *runtime_first(const struct kwalk_vma *const of[RUNTIMES])
{
	const struct kwalk_vma *first = NULL;

	for (size_t k = 0; k < RUNTIMES; k++) {
		if (!of[k])
			continue;
		if (!first || (of[k]->runtime->known && !first->runtime->known) ||
		    (k == RUNTIME_HOTSPOT && of[k]->runtime->known == first->runtime->known))
			first = of[k];
	}
	return first;
}

/* Tells the programs of one more interpreter of a process. */
static void runtime_publish_other(struct kwalk *l, const struct kwalk_space *s,
                                  const struct kwalk_vma *m, struct runtime_process *first)
{
	uint32_t kind = m->runtime->kind, key = s->pid | kind << KWALK_RUNTIME_OTHER;
	struct runtime_process p;

	if (!m->runtime->known) {
		first->unknown = 1;
		return;
	}
	if (runtime_fill(l, s, m, &p) && bpf_map_update_elem(l->runtimes, &key, &p, BPF_ANY) >= 0)
		first->others |= 1u << kind;
	kwalk_runtime_want(l, kind);
}

/* What was published of a process before and is not any more. */
static void runtime_withdraw(struct kwalk *l, struct kwalk_space *s, uint32_t others)
{
	uint32_t key;

	for (uint32_t k = 0; k < RUNTIMES; k++) {
		key = s->pid | k << KWALK_RUNTIME_OTHER;
		if (s->runtimes & ~others & 1u << k)
			bpf_map_delete_elem(l->runtimes, &key);
	}
	s->runtimes = others;
}

/* All interpreters that are wanted; what is published is as it was while Java has only begun. */
void runtime_publish(struct kwalk *l, struct kwalk_space *s)
{
	const struct kwalk_vma *of[RUNTIMES] = { NULL }, *first;
	struct runtime_process p;

	runtime_mappings(l, s, of);
	first = runtime_first(of);
	if (!first) {
		bpf_map_delete_elem(l->runtimes, &s->pid);
		runtime_withdraw(l, s, 0);
		return;
	}
	if (!runtime_fill(l, s, first, &p))
		return;
	for (size_t k = 0; k < RUNTIMES; k++) {
		if (!of[k])
			continue;
		__atomic_fetch_or(&l->runtimes_met, 1u << k, __ATOMIC_RELAXED);
		if (of[k] != first)
			runtime_publish_other(l, s, of[k], &p);
	}
	bpf_map_update_elem(l->runtimes, &s->pid, &p, BPF_ANY);
	runtime_withdraw(l, s, p.others);
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

static size_t runtime_bytes(size_t frames)
{
	return sizeof(struct kwalk_runtime) + frames * sizeof(struct runtime_frame);
}

/* One of each kind is enough: the record that it belongs to comes next. */
int runtime_keep(struct kwalk_ring *ring, const struct kwalk_runtime *p)
{
	struct kwalk_runtime **to;

	if (p->runtime >= RUNTIMES)
		return 0;
	to = &ring->runtime[p->deferred & 1][p->runtime];
	if (!*to)
		*to = malloc(runtime_bytes(KWALK_RUNTIME_ROOM));
	if (!*to)
		return -ENOMEM;
	memcpy(*to, p, runtime_bytes(p->n));
	return 0;
}

struct runtime_set runtime_kept(struct kwalk_ring *ring, bool deferred, uint64_t of)
{
	struct runtime_set set = { .n = 0 };

	for (size_t k = 0; k < RUNTIMES; k++) {
		struct kwalk_runtime *p = ring->runtime[deferred][k];

		if (!p || p->kind != KWALK_RUNTIME || p->of != of)
			continue;
		p->kind = 0; /* it is used once */
		set.at[set.n++] = p;
	}
	return set;
}

/* Whether calls of the loop are still to be met in the native stack (kinds_meet). */
static bool runtime_is_left(const struct kwalk_runtime *p)
{
	const struct runtime_frame *frames = (const void *)(p + 1);

	return p->n && frames[p->n - 1].what == RUNTIME_FRAME_JUMP;
}

/* For those that will be met. What is kept has room for all. */
static void runtime_make_room(struct kwalk_runtime *p)
{
	struct runtime_frame *frames = (void *)(p + 1);

	for (size_t i = 0; i < KINDS_MET && p->n < KWALK_RUNTIME_ROOM - 1; i++)
		frames[p->n++] =
		        (struct runtime_frame){ .key = UINT64_MAX, .what = RUNTIME_FRAME_JUMP };
}

void runtime_wait(struct buf *to, const struct runtime_set *set)
{
	uint64_t n = set->n;

	buf_put(to, &n, sizeof(n));
	for (size_t i = 0; i < set->n; i++) {
		if (runtime_is_left(set->at[i]))
			runtime_make_room(set->at[i]);
		buf_put(to, set->at[i], runtime_bytes(set->at[i]->n));
	}
}

size_t runtime_waited(unsigned char *from, struct runtime_set *set)
{
	size_t at = sizeof(uint64_t);
	uint64_t n;

	memcpy(&n, from, sizeof(n));
	for (set->n = 0; set->n < n && set->n < RUNTIMES; set->n++) {
		set->at[set->n] = (void *)(from + at);
		at += runtime_bytes(set->at[set->n]->n);
	}
	return at;
}

/* The frames behind p as splice.c has them. */
static struct splice runtime_frames(struct kwalk_runtime *p)
{
	return (struct splice){ .frames = (void *)(p + 1),
		                .n = p->n,
		                .other = p->other,
		                .whole = p->end == KWALK_RUNTIME_COMPLETE };
}

/* The interpreter of p with the addresses that its process has, by a frame in its code. */
static bool runtime_object_of_frames(struct kwalk *l, const struct kwalk_runtime *p,
                                     const struct runtime_natives *natives, uint64_t time_ns,
                                     struct runtime_object *ret)
{
	bool found = false;

	if (!lock_soon(l, &l->lock))
		return false;
	for (size_t i = 0; i < natives->n && !found; i++) {
		const struct kwalk_vma *m =
		        kwalk_spaces_find(&l->spaces, p->pid, natives->ips[i], time_ns);

		found = m && m->runtime && m->runtime->kind == p->runtime && m->runtime->known;
		if (!found)
			continue;
		*ret = *m->runtime;
		for (size_t k = 0; k < RUNTIME_ADDRESSES; k++)
			ret->address[k] += ret->address[k] ? m->start - m->vaddr : 0;
	}
	pthread_mutex_unlock(&l->lock);
	return found;
}

void runtime_place(struct kwalk *l, struct runtime_set *set, const struct runtime_natives *natives,
                   uint64_t time_ns, uint32_t native_end)
{
	for (size_t i = 0; i < set->n; i++) {
		struct kwalk_runtime *p = set->at[i];
		struct splice s = runtime_frames(p);
		struct runtime_object o;

		splice_place(&s, natives->sps, natives->n);
		if (native_end != KWALK_COMPLETE || !runtime_is_left(p) ||
		    !runtime_object_of_frames(l, p, natives, time_ns, &o))
			continue;
		kinds_meet(&o, s.frames, &s.n, natives);
		p->n = (uint32_t)s.n;
	}
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

/* One interpreter's frames as they are put into a stack of n native ones: what HotSpot has inlined
 * comes in the place of the compiled method. *cut: some of them may be outwards of these. */
static struct splice runtime_prepare(struct kwalk *l, struct kwalk_runtime *p, size_t n,
                                     uint32_t native_end, uint8_t *end, bool *cut)
{
	struct runtime_frame *expanded;
	bool unread = false;
	struct splice s;

	if (*end == KWALK_RUNTIME_AWAY)
		hotspot_away(l, p->pid);
	expanded = p->runtime == RUNTIME_HOTSPOT ? hotspot_expand(l, p, &unread) : NULL;
	s = runtime_frames(p);
	if (expanded)
		s.frames = expanded;
	if (runtime_is_left(p) || !kinds_match(p->runtime, s.frames, &s.n)) {
		s.n = 0;
		*end = KWALK_RUNTIME_APART;
	}
	if (p->shifted)
		splice_shift(&s);
	/* What resumed this stack has its place behind it. */
	*cut = runtime_is_cut(p, native_end) || (p->behind && *end == KWALK_RUNTIME_COMPLETE);
	if (*end == KWALK_RUNTIME_COMPLETE && !*cut && splice_is_apart(&s, n))
		*end = KWALK_RUNTIME_APART;
	if (unread)
		*end = KWALK_RUNTIME_UNNAMED;
	return s;
}

/* Frames whose names are not known, or whose place is not, are left out, and *end says so. Where
 * the native stack is cut off, frames of several interpreters have no order there. */
const uint64_t *runtime_splice(struct kwalk *l, struct runtime_set *set, const uint64_t *ips,
                               size_t *n, uint32_t native_end, uint8_t *end)
{
	uint64_t unnamed = l->runtime_unnamed;
	struct splice s[RUNTIMES];
	bool cut = false;
	size_t frames = 0, k;

	if (!set->n)
		return ips;
	for (k = 0; k < set->n; k++) {
		frames += set->at[k]->n;
		if (frames >= KWALK_RUNTIME_ROOM) {
			*end = KWALK_RUNTIME_NO_ROOM;
			break;
		}
		s[k] = runtime_prepare(l, set->at[k], *n, native_end, end, &cut);
		if (cut && set->n > 1 && *end == KWALK_RUNTIME_COMPLETE &&
		    splice_is_apart(&s[k], *n))
			*end = KWALK_RUNTIME_APART;
	}
	*n = splice_stack(s, k, l->codes, ips, *n, cut, l->spliced, &l->runtime_unnamed);
	if (l->runtime_unnamed > unnamed)
		*end = KWALK_RUNTIME_UNNAMED;
	return l->spliced;
}
