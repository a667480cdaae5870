// SPDX-License-Identifier: MIT
/*
 * kwalk_python.c: frames of CPython: what the programs are told of a process, and where in a native
 * stack its frames belong. Which version keeps what where is known by runtimes/.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "abi/runtime_code.h"
#include "capture/bpf/kwalk_parts.h"
#include "runtimes/codes.h"

_Static_assert(sizeof(struct kwalk_python_frame) == 16, "records of rings have fixed layouts");

/* Frames wait per ring and kind (at once, deferred) for the record that they belong to. */
int python_open(struct kwalk *l)
{
	int r = codes_new(&l->codes);

	for (size_t i = 0; r >= 0 && i < l->n_cpus; i++)
		for (size_t k = 0; r >= 0 && k < 2; k++) {
			l->rings[i].python[k] =
			        calloc(1, sizeof(struct kwalk_python) +
			                          KWALK_PYTHON_ROOM *
			                                  sizeof(struct kwalk_python_frame));
			r = l->rings[i].python[k] ? 0 : -ENOMEM;
		}
	return r;
}

void python_close(struct kwalk *l)
{
	for (size_t i = 0; l->rings && i < l->n_cpus; i++) {
		free(l->rings[i].python[0]);
		free(l->rings[i].python[1]);
	}
	codes_free(l->codes);
}

/* With the secret nobody can foresee keys, and make code objects whose keys collide. */
void python_configure(const struct kwalk *l, struct kwalk_config *c)
{
	c->python = l->opts.python;
	c->seed = map_secret();
}

/* Without the option nothing is kept: the maps are as small as maps can be. */
int python_sizes(const struct kwalk *l)
{
	static const char *const names[] = { "pythons", "codes", "python_walks" };
	int r = 0;

	struct bpf_map *scratches = bpf_object__find_map_by_name(l->object, "python_scratches");

	if (l->opts.python)
		return scratches ? bpf_map__set_max_entries(scratches, (uint32_t)l->n_cpus)
		                 : -ENOENT;
	for (size_t i = 0; r >= 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(l->object, names[i]);

		r = map ? bpf_map__set_max_entries(map, 1) : -ENOENT;
	}
	return r;
}

/* A process runs one CPython, of which the first mapping tells. */
void python_publish(struct kwalk *l, const struct kwalk_space *s)
{
	const struct kwalk_vma *m = NULL;
	struct python_process p = { .execs = s->execs, .losses = s->losses };

	for (size_t i = 0; i < s->n && (!m || !m->python->layout.version); i++)
		if (s->at[i].python && (!m || s->at[i].python->layout.version))
			m = &s->at[i];
	if (!m) {
		bpf_map_delete_elem(l->pythons, &s->pid);
		return;
	}
	/* Addresses of the file become addresses of the process. */
	p.runtime = m->python->runtime + (m->start - m->vaddr);
	p.code_type = m->python->code_type + (m->start - m->vaddr);
	p.loop = m->python->loop + (m->start - m->vaddr);
	p.loop_bytes = m->python->loop_bytes;
	p.cold = m->python->cold + (m->start - m->vaddr);
	p.cold_bytes = m->python->cold_bytes;
	p.at = m->python->layout;
	bpf_map_update_elem(l->pythons, &s->pid, &p, BPF_ANY);
}

/* Sizes come from the rings and are checked once more. */
int python_code(struct kwalk *l, const struct kwalk_code *code, struct seam_ksymbol *ret)
{
	struct codes_told told = {
		.key = code->key,
		.first_line = code->first_line,
		.file = { code->text, code->file_bytes, code->file_width, code->file_cut },
		.name = { code->text + KWALK_CODE_FILE / 8, code->name_bytes, code->name_width,
		          code->name_cut },
		.lines = code->lines,
		.n_lines = code->n_lines,
		.lines_form = code->lines_form,
	};
	const char *name;
	uint64_t start;
	int r;

	if (!l->codes || code->file_bytes > KWALK_CODE_FILE || code->name_bytes > KWALK_CODE_NAME)
		return 0;
	r = codes_learn(l->codes, &told, &name, &start);
	if (r <= 0)
		return r == -ENOSPC ? 0 : r;
	l->python_functions++;
	*ret = (struct seam_ksymbol){ .addr = start, .len = RUNTIME_CODE_SIZE, .name = name };
	return 1;
}

/* One per kind is enough: the record that it belongs to comes next. */
void python_keep(struct kwalk_ring *ring, const struct kwalk_python *p)
{
	struct kwalk_python *to = ring->python[p->deferred & 1];

	if (to)
		memcpy(to, p, sizeof(*p) + p->n * sizeof(struct kwalk_python_frame));
}

/* The frames at..end of one call of the loop, innermost first. Returns how many were put. */
static size_t python_put(struct kwalk *l, const struct kwalk_python_frame *frames, size_t at,
                         size_t end, uint64_t *to)
{
	size_t n = 0;

	for (; at < end; at++) {
		uint64_t address = codes_address(l->codes, frames[at].key, frames[at].at);

		l->python_unnamed += !address;
		if (address)
			to[n++] = address;
	}
	return n;
}

/* The innermost call of the loop has not begun with its frame, or is done with it. The last of them
 * has no frames before it. */
static void python_shift(struct kwalk_python *p)
{
	struct kwalk_python_frame *frames = (void *)(p + 1), *last = NULL;

	for (size_t i = 0; i < p->n; i++) {
		if (frames[i].what != KWALK_PYTHON_LOOP)
			continue;
		if (last)
			last->native = frames[i].native;
		last = &frames[i];
	}
	p->n -= last != NULL;
}

/* Frames of one interpreter that have not been put yet. */
struct python_chain {
	size_t at, end;
};

/* The next call of the loop of a chain; the chain's end: there is none. */
static size_t python_call(const struct kwalk_python_frame *frames, const struct python_chain *c)
{
	size_t i = c->at;

	while (i < c->end && frames[i].what != KWALK_PYTHON_LOOP)
		i++;
	return i;
}

/* The chain whose next call is the innermost native frame; NULL: neither has one among the n that
 * there are, from native on. */
static struct python_chain *python_chain(const struct kwalk_python_frame *frames,
                                         struct python_chain chains[2], size_t native, size_t n)
{
	struct python_chain *next = NULL;

	for (struct python_chain *c = chains; c < chains + 2; c++) {
		size_t i = python_call(frames, c);

		if (i < c->end && frames[i].native >= native && frames[i].native < n) {
			n = frames[i].native;
			next = c;
		}
	}
	return next;
}

/* In front of each native frame that is a call of the loop come the frames it runs. A call that the
 * native stack does not have ends that: what is outwards of it stays native. But where the native
 * stack is cut off (cut) all frames that are known come behind it. */
const uint64_t *python_splice(struct kwalk_ring *ring, bool deferred, uint64_t of,
                              const uint64_t *ips, size_t *n, bool cut, uint8_t *end)
{
	struct kwalk *l = ring->kwalk;
	struct kwalk_python *p = ring->python[deferred];
	const struct kwalk_python_frame *frames = (const void *)(p + 1);
	struct python_chain chains[2], *c;
	size_t to = 0, native = 0;
	uint64_t unnamed = l->python_unnamed;

	if (!p || p->kind != KWALK_PYTHON || p->of != of)
		return ips;
	p->kind = 0; /* it is used once */
	if (p->shifted)
		python_shift(p);
	chains[0] = (struct python_chain){ 0, p->other && p->other < p->n ? p->other : p->n };
	chains[1] = (struct python_chain){ chains[0].end, p->n };
	while ((c = python_chain(frames, chains, native, *n))) {
		size_t call = python_call(frames, c);

		while (native < frames[call].native)
			l->spliced[to++] = ips[native++];
		to += python_put(l, frames, c->at, call, l->spliced + to);
		c->at = call + 1;
	}
	while (native < *n)
		l->spliced[to++] = ips[native++];
	for (; cut && p->end == KWALK_PYTHON_COMPLETE && !p->other; chains[0].at++) {
		size_t call = python_call(frames, &chains[0]);

		to += python_put(l, frames, chains[0].at, call, l->spliced + to);
		chains[0].at = call;
		if (call >= chains[0].end)
			break;
	}
	*n = to;
	if (l->python_unnamed > unnamed)
		*end = KWALK_PYTHON_UNNAMED;
	return l->spliced;
}
