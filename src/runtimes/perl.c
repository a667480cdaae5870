// SPDX-License-Identifier: MIT
/*
 * perl.c: see perl.h. The offsets are those of the structs in each version's own headers (Debian's
 * libperl-dev), which are the same with and without threads. No symbol has the version: it is told
 * by how many ops there are, of which each version has others, and a build with threads also by
 * the size of its interpreter. Builds for debugging Perl have other structs, and another size.
 */
#include "runtimes/perl.h"

#include <errno.h>
#include <string.h>

#define PERL_INTERPRETER_SIZE 3768 /* of all three versions */

static const struct {
	uint64_t ops; /* bytes of PL_opargs: 4 an op */
	struct perl_layout layout;
} versions[] = {
	{ 414 * 4,
	  { .version = 0x0524,
	    .loop = 2288,
	    .jump = 760,
	    .main = 1816,
	    .op_entersub = 184,
	    .op_goto = 210,
	    .op_nextstate = 195,
	    .op_dbstate = 196,
	    .op_dofile = 343 } },
	{ 422 * 4,
	  { .version = 0x0528,
	    .loop = 2072,
	    .jump = 776,
	    .main = 1600,
	    .op_entersub = 187,
	    .op_goto = 213,
	    .op_nextstate = 198,
	    .op_dbstate = 199,
	    .op_dofile = 346 } },
	{ 426 * 4,
	  { .version = 0x052a,
	    .loop = 2072,
	    .jump = 776,
	    .main = 1600,
	    .op_entersub = 191,
	    .op_goto = 217,
	    .op_nextstate = 202,
	    .op_dbstate = 203,
	    .op_dofile = 350 } },
};

_Static_assert(sizeof(struct perl_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

/* Where the object's code is. */
struct perl_text {
	uint64_t start, end;
};

static int perl_text(void *ctx, uint64_t start, uint64_t end)
{
	struct perl_text *t = ctx;

	if (start < t->start)
		t->start = start;
	if (end > t->end)
		t->end = end;
	return 0;
}

static int perl_version(struct perl_layout *ret, const struct runtime_source *source)
{
	uint64_t at, bytes;
	int r = source->symbol(source->ctx, "PL_opargs", &at, &bytes);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (versions[i].ops == bytes) {
			*ret = versions[i].layout;
			return 0;
		}
	}
	return -ENOTSUP;
}

/* With threads each has an interpreter: what is in it where. */
static int perl_threaded(struct perl_layout *l, const struct runtime_source *source)
{
	uint16_t size;
	uint64_t at;
	int r = source->symbol(source->ctx, "PL_interp_size", &at, NULL);

	if (r >= 0)
		r = source->read(source->ctx, at, &size, sizeof(size));
	if (r < 0 || size != PERL_INTERPRETER_SIZE)
		return -ENOTSUP;
	l->threaded = 1;
	l->op = 8;
	l->cop = 208;
	l->stacks = 224;
	return 0;
}

/* Without, each part is a variable. */
static int perl_single(struct perl_layout *l, const struct runtime_source *source, uint64_t loop)
{
	struct {
		const char *name;
		uint64_t *to;
	} parts[] = {
		{ "PL_curstackinfo", &l->stacks },
		{ "PL_curcop", &l->cop },
		{ "PL_op", &l->op },
		{ "PL_runops", &l->loop },
		{ "PL_top_env", &l->jump },
		{ "PL_main_start", &l->main },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int r = source->symbol(source->ctx, parts[i].name, parts[i].to, NULL);

		if (r < 0)
			return r;
		*parts[i].to -= loop;
	}
	return 0;
}

/* The functions that run the loop. */
static int perl_functions(struct runtime_object *o, struct perl_layout *l,
                          const struct runtime_source *source)
{
	struct {
		const char *name;
		enum perl_address address;
		uint32_t *bytes;
	} functions[] = {
		{ "Perl_call_sv", PERL_CALL, &l->call_bytes },
		{ "Perl_eval_sv", PERL_EVAL, &l->eval_bytes },
		{ "Perl_amagic_call", PERL_OVERLOAD, &l->overload_bytes },
		{ "perl_run", PERL_RUN, &l->run_bytes },
	};
	struct perl_text text = { .start = UINT64_MAX };
	uint64_t bytes;
	int r;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		r = source->symbol(source->ctx, functions[i].name,
		                   &o->address[functions[i].address], &bytes);
		if (r < 0 || bytes > UINT32_MAX)
			return -ENOTSUP;
		*functions[i].bytes = (uint32_t)bytes;
	}
	r = source->functions(source->ctx, perl_text, &text);
	if (r < 0 || text.end <= text.start)
		return -ENOTSUP;
	l->text = text.start - o->address[PERL_LOOP];
	l->text_bytes = text.end - text.start;
	return 0;
}

/* Perl_runops_standard and PL_opargs are Perl's; all else says which one it is. */
int perl_find(struct runtime_object *ret, const struct runtime_source *source)
{
	struct perl_layout layout = { .version = 0 };
	uint64_t loop, bytes, at;
	int r;

	if (source->symbol(source->ctx, "Perl_runops_standard", &loop, &bytes) < 0 ||
	    source->symbol(source->ctx, "PL_opargs", &at, NULL) < 0)
		return -ENOENT;
	r = bytes > UINT32_MAX ? -ENOTSUP : perl_version(&layout, source);
	ret->address[PERL_LOOP] = loop;
	layout.loop_bytes = (uint32_t)bytes;
	if (r >= 0)
		r = perl_functions(ret, &layout, source);
	if (r >= 0 && source->symbol(source->ctx, "PL_thr_key", &ret->address[PERL_KEY], NULL) >= 0)
		r = perl_threaded(&layout, source);
	else if (r >= 0)
		r = perl_single(&layout, source, loop);
	memcpy(ret->layout, &layout, sizeof(layout));
	return r < 0 ? -ENOTSUP : 0;
}

uint32_t perl_line(const struct runtime_lines *lines, uint32_t at)
{
	(void)lines;
	(void)at;
	return 0;
}
