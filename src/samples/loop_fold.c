// SPDX-License-Identifier: MIT
/*
 * loop_fold.c: see loop_fold.h.
 *
 * The frame of the interpreter's loop that ran a function stands right behind it, outwards, and
 * says nothing more: it is left out.
 */
#include "samples/loop_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/runtime_code.h"
#include "samples/called.h"

void loop_fold_free(struct loop_fold *f)
{
	free(f->words);
	*f = (struct loop_fold){ 0 };
}

#define LOOP_AT_ONCE 8u /* words, of which most are none */

bool loop_any(const struct seam_u64s *user, uint64_t n)
{
	uint64_t i = 0, words[LOOP_AT_ONCE], any;

	for (; !user->swap && n - i >= LOOP_AT_ONCE; i += LOOP_AT_ONCE) {
		memcpy(words, user->bytes + i * 8, sizeof(words));
		any = 0;
		for (unsigned k = 0; k < LOOP_AT_ONCE; k++)
			any |= runtime_code_is(words[k]);
		if (any)
			return true;
	}
	while (i < n && !runtime_code_is(seam_u64s_at(user, i)))
		i++;
	return i < n;
}

/* Keeps either the functions or the loops. A chain without functions of an interpreter stays as it
 * is. */
static int loop_keep(struct loop_fold *f, struct callchain *chain, bool functions)
{
	const struct seam_u64s user = chain->user;
	size_t n = 0;

	if (called_marks(chain) || !loop_any(&user, user.n))
		return 0;
	if (ARRAY_ROOM(&f->words, &f->capacity, user.n) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < user.n; i++) {
		uint64_t word = seam_u64s_at(&user, i);

		bool function = runtime_code_is(word);
		bool loop = !function && i && runtime_code_is(seam_u64s_at(&user, i - 1));

		if (functions ? !loop : !function)
			f->words[n++] = word;
	}
	chain->user = (struct seam_u64s){ .bytes = (const void *)f->words, .n = n };
	return 0;
}

int loop_fold(struct loop_fold *f, struct callchain *chain)
{
	return loop_keep(f, chain, true);
}

int loop_native(struct loop_fold *f, struct callchain *chain)
{
	return loop_keep(f, chain, false);
}
