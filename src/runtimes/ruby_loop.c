// SPDX-License-Identifier: MIT
/*
 * ruby_loop.c: see ruby_loop.h. Neither has a symbol. The loop, vm_exec_core, ends each instruction
 * by an indirect jump. It is called from two places: vm_exec, and a function of some bytes that
 * calls it without arguments, to be told the addresses of its instructions.
 */
#include "runtimes/ruby_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUBY_LOOP_PIECE 65536u
#define RUBY_LOOP_OVERLAP 6u /* no instruction that is looked for is longer */
#define RUBY_LOOP_LEAST 8192u
#define RUBY_LOOP_MOST (1u << 18)
#define RUBY_LOOP_JUMPS 64u
#define RUBY_LOOP_ASKS 32u   /* bytes of a function that does no more than to call it */
#define RUBY_LOOP_CALL 8192u /* bytes of vm_exec at most */
#define RUBY_LOOP_ASKED 64u

struct ruby_loop_search {
	const struct runtime_source *source;
	unsigned char *code;
	/* what functions go to that only set their arguments to 0 */
	uint64_t asked[RUBY_LOOP_ASKED];
	size_t n_asked;
	uint64_t loop; /* the one of these that is the loop */
	uint32_t loops;
	uint64_t call, call_end; /* the function that calls it */
	uint32_t calls;
	int error;
};

/* What is done with each piece of a function's code. */
typedef void ruby_loop_look(struct ruby_loop_search *s, uint64_t at, size_t n, uint32_t *found);

/* Goes through a function's code, piece by piece. Jumps at the end of a piece are looked at in the
 * next. */
static uint32_t ruby_loop_code(struct ruby_loop_search *s, uint64_t start, uint64_t end,
                               ruby_loop_look *look)
{
	uint32_t found = 0;

	if (end - start > RUBY_LOOP_MOST)
		return 0;
	for (uint64_t at = start; at < end;) {
		size_t n = end - at < RUBY_LOOP_PIECE ? (size_t)(end - at) : RUBY_LOOP_PIECE;

		s->error = s->source->read(s->source->ctx, at, s->code, n);
		if (s->error < 0)
			return 0;
		memset(s->code + n, 0, RUBY_LOOP_OVERLAP);
		look(s, at, at + n < end ? n - RUBY_LOOP_OVERLAP : n, &found);
		at += at + n < end ? n - RUBY_LOOP_OVERLAP : n;
	}
	return found;
}

/* jmp *(reg), jmp *8(reg). */
static void ruby_loop_jumps(struct ruby_loop_search *s, uint64_t at, size_t n, uint32_t *found)
{
	(void)at;
	for (size_t i = 0; i < n; i++)
		*found += s->code[i] == 0xff && (s->code[i + 1] & 0xb8) == 0x20;
}

/* Calls of the loop, and jumps to its beginning. */
static void ruby_loop_calls(struct ruby_loop_search *s, uint64_t at, size_t n, uint32_t *found)
{
	int32_t far;

	for (size_t i = 0; i < n; i++) {
		if ((s->code[i] & 0xfe) != 0xe8)
			continue;
		memcpy(&far, s->code + i + 1, sizeof(far));
		*found += at + i + 5 + (uint64_t)(int64_t)far == s->loop;
	}
}

/* Keeps where a function goes to that does no more than to set arguments to 0: [endbr64], xor,
 * jmp. */
static int ruby_loop_asks(void *arg, uint64_t start, uint64_t end)
{
	static const unsigned char enters[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct ruby_loop_search *s = arg;
	unsigned char code[RUBY_LOOP_ASKS];
	size_t n = (size_t)(end - start), at;
	int32_t far;

	if (end <= start || end - start > RUBY_LOOP_ASKS || n < 7)
		return 0;
	if (s->source->read(s->source->ctx, start, code, n) < 0)
		return 0;
	at = !memcmp(code, enters, sizeof(enters)) ? sizeof(enters) : 0;
	if (at + 7 > n || code[at] != 0x31)
		return 0;
	while (at + 7 <= n && code[at] == 0x31 && (code[at + 1] == 0xf6 || code[at + 1] == 0xff))
		at += 2;
	if (at + 5 > n || code[at] != 0xe9 || s->n_asked >= RUBY_LOOP_ASKED)
		return 0;
	memcpy(&far, code + at + 1, sizeof(far));
	s->asked[s->n_asked++] = start + at + 5 + (uint64_t)(int64_t)far;
	return 0;
}

/* The one of these that is the loop. */
static int ruby_loop_which(void *arg, uint64_t start, uint64_t end)
{
	struct ruby_loop_search *s = arg;
	size_t i = 0;

	while (i < s->n_asked && s->asked[i] != start)
		i++;
	if (i == s->n_asked || end <= start || end - start < RUBY_LOOP_LEAST ||
	    ruby_loop_code(s, start, end, ruby_loop_jumps) < RUBY_LOOP_JUMPS)
		return s->error < 0 ? s->error : 0;
	s->loops++;
	s->loop = start;
	return 0;
}

static int ruby_loop_callers(void *arg, uint64_t start, uint64_t end)
{
	struct ruby_loop_search *s = arg;

	if (end <= start || start == s->loop || !ruby_loop_code(s, start, end, ruby_loop_calls))
		return s->error < 0 ? s->error : 0;
	if (end - start > RUBY_LOOP_ASKS) {
		s->calls++;
		s->call = start;
		s->call_end = end;
	}
	return 0;
}

/* The compiler's setjmp needs the address of a place in the same function, where it goes on. */
static void ruby_loop_labels(struct ruby_loop_search *s, uint64_t at, size_t n, uint32_t *found)
{
	int32_t far;

	for (size_t i = 0; i + 7 <= n; i++) {
		uint64_t to;

		if ((s->code[i] & 0xfb) != 0x48 || s->code[i + 1] != 0x8d ||
		    (s->code[i + 2] & 0xc7) != 0x05)
			continue;
		memcpy(&far, s->code + i + 3, sizeof(far));
		to = at + i + 7 + (uint64_t)(int64_t)far;
		*found += to > s->call && to < s->call_end;
	}
}

/* Looks for the loop, and then for who calls it. */
int ruby_loop_find(struct ruby_loop *ret, const struct runtime_source *source)
{
	struct ruby_loop_search s = { .source = source };
	int r;

	s.code = malloc(RUBY_LOOP_PIECE + RUBY_LOOP_OVERLAP);
	if (!s.code)
		return -ENOMEM;
	r = source->functions(source->ctx, ruby_loop_asks, &s);
	if (r >= 0)
		r = source->functions(source->ctx, ruby_loop_which, &s);
	if (r >= 0 && s.loops != 1)
		r = -ENOTSUP;
	if (r >= 0)
		r = source->functions(source->ctx, ruby_loop_callers, &s);
	if (r >= 0 && (s.calls != 1 || s.call_end - s.call > RUBY_LOOP_CALL))
		r = -ENOTSUP;
	if (r >= 0) {
		*ret = (struct ruby_loop){ .call = s.call,
			                   .call_bytes = (uint32_t)(s.call_end - s.call) };
		ret->by_library = !ruby_loop_code(&s, s.call, s.call_end, ruby_loop_labels);
		r = s.error;
	}
	free(s.code);
	return r < 0 ? -ENOTSUP : 0;
}
