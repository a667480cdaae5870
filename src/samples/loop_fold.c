// SPDX-License-Identifier: MIT
/*
 * loop_fold.c: see loop_fold.h.
 *
 * The frame of the interpreter's loop that ran a function stands right behind it, outwards, and
 * says nothing more: it is left out. So is code of Python's own making that calls the loop.
 */
#include "samples/loop_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/runtime.h"
#include "abi/runtime_code.h"
#include "proc/proc.h"
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

/* Whether code that was made at run time called the loop that runs this function of Python: only
 * what -X perf makes does. */
static bool loop_is_trampoline(const struct loop_fold *f, uint32_t space, uint64_t function,
                               uint64_t caller)
{
	const struct proc_mapping *m = f->procs ? proc_space_find(f->procs, space, caller) : NULL;

	if (!m || (m->object->kind != PROC_KIND_ANON && m->object->kind != PROC_KIND_JIT))
		return false;
	m = proc_space_find(f->procs, space, function);
	return m && m->object->kind == PROC_KIND_RUNTIME && m->object->path &&
	       runtime_of_function(m->object->path) == RUNTIME_PYTHON;
}

/* What a word of a chain with functions of interpreters is. */
enum loop_word {
	LOOP_WORD_NATIVE,
	LOOP_WORD_FUNCTION,
	LOOP_WORD_LOOP,      /* right behind a function */
	LOOP_WORD_TRAMPOLINE /* right behind a loop */
};

/* Of the word at i, and what the one before it is. */
static enum loop_word loop_word(const struct loop_fold *f, uint32_t space,
                                const struct seam_u64s *user, uint64_t i, enum loop_word before)
{
	uint64_t word = seam_u64s_at(user, i);

	if (runtime_code_is(word))
		return LOOP_WORD_FUNCTION;
	if (before == LOOP_WORD_FUNCTION)
		return LOOP_WORD_LOOP;
	if (before == LOOP_WORD_LOOP &&
	    loop_is_trampoline(f, space, seam_u64s_at(user, i - 2), word))
		return LOOP_WORD_TRAMPOLINE;
	return LOOP_WORD_NATIVE;
}

/* Keeps either the functions or the loops. A chain without functions of an interpreter stays as it
 * is. */
static int loop_keep(struct loop_fold *f, uint32_t space, struct callchain *chain, bool functions)
{
	const struct seam_u64s user = chain->user;
	enum loop_word is = LOOP_WORD_NATIVE;
	size_t n = 0;

	if (called_marks(chain) || !loop_any(&user, user.n))
		return 0;
	if (ARRAY_ROOM(&f->words, &f->capacity, user.n) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < user.n; i++) {
		is = loop_word(f, space, &user, i, is);
		if (functions ? is < LOOP_WORD_LOOP : is != LOOP_WORD_FUNCTION)
			f->words[n++] = seam_u64s_at(&user, i);
	}
	chain->user = (struct seam_u64s){ .bytes = (const void *)f->words, .n = n };
	return 0;
}

int loop_fold(struct loop_fold *f, uint32_t space, struct callchain *chain)
{
	return loop_keep(f, space, chain, true);
}

int loop_native(struct loop_fold *f, struct callchain *chain)
{
	return loop_keep(f, 0, chain, false);
}
