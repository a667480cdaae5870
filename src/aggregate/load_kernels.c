// SPDX-License-Identifier: MIT
/*
 * load_kernels.c: see load_kernels.h. Each part is walked once, which gives its path: the frames of
 * it, by number. A path is put below a node once, as long as that is remembered.
 *
 * Invariant: what is remembered saves time and nothing else: nodes are put in the order in which
 * they would be without it.
 */
#include "aggregate/load_kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "resolve/resolver.h"

/* The most places that pay. Of few stacks less is kept: a page that is touched for the first time
 * costs more than some nodes that are looked up again. */
#define LOAD_BELOW_BITS 16

int load_kernels_start(struct load_kernels *k, uint64_t stacks)
{
	k->below_bits = load_descent_bits(stacks, LOAD_BELOW_BITS);
	k->below = calloc((size_t)1 << k->below_bits, sizeof(*k->below));
	return k->below ? 0 : -ENOMEM;
}

void load_kernels_free(struct load_kernels *k)
{
	intern_free(&k->paths);
	free(k->known);
	free(k->below);
}

void load_kernels_other_table(struct load_kernels *k)
{
	if (k->known)
		memset(k->known, 0, k->capacity * sizeof(*k->known));
}

/* Walks a part: its frames are in d->frames then. 1: they are those of every stack that has it, and
 * *ret says so. A part that holds user addresses, too, is another thing in each address space;
 * without a marker in front, in each sample. -ENOMEM. */
static int load_kernel_walk(struct load_kernels *k, struct load_descent *d,
                            const struct load_whose *e, const struct callchain *kernel,
                            struct load_kernel *ret, size_t *n)
{
	const bool marked =
	        kernel->kernel.n && seam_u64s_at(&kernel->kernel, 0) >= SEAM_CONTEXT_MAX;
	const uint64_t told = d->told;
	uint32_t path;
	int r;

	d->told = 0;
	recording_looked_around(resolver_recording(d->namer.resolver), &k->looked, &kernel->kernel);
	r = load_walk(d, e, kernel, SIZE_MAX, n);
	if (r >= 0 && marked && !frame_walk_mixed(kernel)) {
		path = intern_bytes(&k->paths, d->frames, *n * sizeof(*d->frames));
		r = path == INTERN_FAILED ? -ENOMEM : 1;
		*ret = (struct load_kernel){ .part = e->kernel,
			                     .space = e->key->kernel_space,
			                     .path = path + 1,
			                     .told = (uint32_t)(d->told >> 32) };
	}
	d->told |= told;
	return r;
}

/* Puts a path below *node, whose place is then that of its innermost frame. -ENOMEM. */
static int load_kernel_path(struct load_kernels *k, struct load_descent *d, uint32_t path,
                            uint32_t *node)
{
	const uint64_t key = (uint64_t)*node << 32 | path;
	struct load_below *b = &k->below[key * 0x9e3779b97f4a7c15ULL >> (64 - k->below_bits)];
	const uint32_t from = *node;
	size_t n;
	int r;

	if (b->path == path && b->from == from) {
		*node = b->to;
		return 0;
	}
	n = intern_length(&k->paths, path - 1) / sizeof(*d->frames);
	if (ARRAY_ROOM(&d->frames, &d->frames_capacity, n + 1) < 0)
		return -ENOMEM;
	memcpy(d->frames, intern_get(&k->paths, path - 1), n * sizeof(*d->frames));
	r = load_path(d, n, node);
	if (r >= 0)
		*b = (struct load_below){ .from = from, .path = path, .to = *node };
	return r;
}

/* What is known of a part is asked first. Its words are not looked at for that: they may be far. */
int load_descend_kernel(struct load_kernels *k, struct load_descent *d, const struct load_whose *e,
                        const struct callchain *kernel, uint32_t *node)
{
	struct load_kernel *known;
	size_t n = 0;
	int r;

	if (ARRAY_ROOM_ZEROED(&k->known, &k->capacity, (size_t)e->kernel / 2 + 1) < 0)
		return -ENOMEM;
	known = &k->known[e->kernel / 2];
	if (known->path && known->part == e->kernel && known->space == e->key->kernel_space) {
		d->told |= (uint64_t)known->told << 32;
		return load_kernel_path(k, d, known->path, node);
	}
	r = load_kernel_walk(k, d, e, kernel, known, &n);
	if (r < 0)
		return r;
	return r ? load_kernel_path(k, d, known->path, node) : load_path(d, n, node);
}
