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
#include "runtimes/splice.h"

_Static_assert(sizeof(struct runtime_frame) == 16, "records of rings have fixed layouts");

/* Frames wait per ring and kind (at once, deferred) for the record that they belong to. */
int python_open(struct kwalk *l)
{
	int r = codes_new(&l->codes);

	for (size_t i = 0; r >= 0 && i < l->n_cpus; i++)
		for (size_t k = 0; r >= 0 && k < 2; k++) {
			l->rings[i].python[k] =
			        calloc(1, sizeof(struct kwalk_python) +
			                          KWALK_PYTHON_ROOM * sizeof(struct runtime_frame));
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

static int python_size(const struct kwalk *l, const char *name, size_t n)
{
	struct bpf_map *map = bpf_object__find_map_by_name(l->object, name);

	return map ? bpf_map__set_max_entries(map, (uint32_t)n) : -ENOENT;
}

/* Without the option nothing is kept: the maps are as small as maps can be. Of `codes` all entries
 * are made at once: so many functions for each CPU, and one that is lost is sent again. */
int python_sizes(const struct kwalk *l)
{
	size_t n = l->opts.python ? l->n_cpus : 0, codes = n * 8192;
	int r = python_size(l, "codes", !n ? 1 : codes < 65536 ? codes : 65536);

	if (r >= 0 && n)
		return python_size(l, "python_scratches", n);
	if (r >= 0)
		r = python_size(l, "pythons", 1);
	return r < 0 ? r : python_size(l, "python_walks", 1);
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
		memcpy(to, p, sizeof(*p) + p->n * sizeof(struct runtime_frame));
}

struct kwalk_python *python_kept(struct kwalk_ring *ring, bool deferred, uint64_t of)
{
	struct kwalk_python *p = ring->python[deferred];

	if (!p || p->kind != KWALK_PYTHON || p->of != of)
		return NULL;
	p->kind = 0; /* it is used once */
	return p;
}

/* The frames behind p as splice.c has them. */
static struct splice python_frames(struct kwalk_python *p)
{
	return (struct splice){ .frames = (void *)(p + 1),
		                .n = p->n,
		                .other = p->other,
		                .whole = p->end == KWALK_PYTHON_COMPLETE };
}

void python_place(struct kwalk_python *p, const uint64_t *sps, size_t n)
{
	struct splice s = python_frames(p);

	splice_place(&s, sps, n);
}

const uint64_t *python_splice(struct kwalk *l, struct kwalk_python *p, const uint64_t *ips,
                              size_t *n, bool cut, uint8_t *end)
{
	uint64_t unnamed = l->python_unnamed;
	struct splice s;

	if (!p)
		return ips;
	s = python_frames(p);
	if (p->shifted)
		splice_shift(&s);
	if (*end == KWALK_PYTHON_COMPLETE && !cut && splice_is_apart(&s))
		*end = KWALK_PYTHON_APART;
	*n = splice_stack(&s, l->codes, ips, *n, cut, l->spliced, &l->python_unnamed);
	if (l->python_unnamed > unnamed)
		*end = KWALK_PYTHON_UNNAMED;
	return l->spliced;
}
