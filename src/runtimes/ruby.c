// SPDX-License-Identifier: MIT
/*
 * ruby.c: see ruby.h. The offsets are those of the structs in each version's own sources, compiled
 * with Debian's config.h. The variables that lead to a thread's frames are not exported since 3.3:
 * short functions that are tell where they are, and whether the build has its structures where the
 * table has them. Which code calls the loop finds ruby_loop.c.
 */
#include "runtimes/ruby.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "runtimes/ruby_loop.h"

#define RUBY_CODE 192u       /* bytes that are looked at of a function */
#define RUBY_SHORT 64u       /* of a short one */
#define RUBY_NAMES_TABLE 16u /* in rb_symbols_t: ids */
#define RUBY_OPERATORS_MAX 255u
#define RUBY_MEMBERS 65536u /* bytes of a structure at most */

/* What 3.3 and 3.4 have at the same place. */
#define RUBY_SINCE_33                                                                        \
	.frame_size = 56, .body_line = 88, .body_lines = 112, .body_local = 168,             \
	.string_inline = 24, .string_length = 16, .class_path = 152, .class_permanent = 149, \
	.class_attached = 128

static const struct ruby_layout versions[] = {
	{ .version = 0x0301,
	  .ec_error = 112,
	  .frame_size = 64,
	  .body_line = 88,
	  .body_line_odd = 1,
	  .body_lines = 120,
	  .body_local = 176,
	  .string_inline = 16,
	  .class_singleton = 1u << 12 },
	{ .version = 0x0303, .ec_error = 120, RUBY_SINCE_33, .class_singleton = 1u << 12 },
	{ .version = 0x0304, .ec_error = 112, RUBY_SINCE_33, .class_singleton = 1u << 13 },
};

_Static_assert(sizeof(struct ruby_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

/* "3.1.2": the first two numbers are the version. */
static int ruby_version(struct ruby_layout *ret, const struct runtime_source *source, uint64_t at)
{
	unsigned char text[4];

	if (source->read(source->ctx, at, text, sizeof(text)) < 0 || text[1] != '.' ||
	    text[3] != '.')
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (text[0] - '0' == (int)(versions[i].version >> 8) &&
		    text[2] - '0' == (int)(versions[i].version & 0xff)) {
			*ret = versions[i];
			return 0;
		}
	return -ENOTSUP;
}

/* Where the four bytes at code[i] lead, which end an instruction that is linked for `at`. */
static uint64_t ruby_leads(const unsigned char *code, size_t i, uint64_t at)
{
	int32_t far;

	memcpy(&far, code + i, sizeof(far));
	return at + i + 4 + (uint64_t)(int64_t)far;
}

/* Whether rb_errinfo goes on at code[i] as it does in every version: ruby_current_ec's member. */
static bool ruby_errinfo(const unsigned char *code, size_t i, const struct ruby_layout *layout)
{
	return code[i] == 0x48 && code[i + 1] == 0x8b && code[i + 2] == 0x40 &&
	       code[i + 3] == layout->ec_error;
}

/* rb_errinfo does nothing but to get at ruby_current_ec and at a member: the instructions are those
 * that the ABI has for each way to a variable of the thread. */
static int ruby_current(struct runtime_object *ret, struct ruby_layout *layout,
                        const struct runtime_source *source)
{
	static const unsigned char module[] = { 0x66, 0x48, 0x8d, 0x3d };
	static const unsigned char direct[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 };
	static const unsigned char initial[] = { 0x48, 0x8b, 0x05 };
	static const unsigned char there[] = { 0x64, 0x48, 0x8b, 0x00 };
	static const unsigned char value[] = { 0x48, 0x8b, 0x00 };
	unsigned char code[RUBY_SHORT];
	uint64_t at;
	int32_t offset;

	if (source->symbol(source->ctx, "rb_errinfo", &at, NULL) < 0 ||
	    source->read(source->ctx, at, code, sizeof(code)) < 0)
		return -ENOTSUP;
	for (size_t i = 0; i + 32 <= sizeof(code); i++) {
		if (!memcmp(code + i, module, sizeof(module)) &&
		    !memcmp(code + i + 16, value, sizeof(value)) &&
		    ruby_errinfo(code, i + 19, layout)) {
			layout->access = RUBY_ACCESS_MODULE;
			ret->address[RUBY_CURRENT] = ruby_leads(code, i + 4, at);
			return 0;
		}
		if (!memcmp(code + i, direct, sizeof(direct)) &&
		    ruby_errinfo(code, i + 9, layout)) {
			memcpy(&offset, code + i + 5, sizeof(offset));
			layout->access = RUBY_ACCESS_STATIC;
			layout->current = (uint64_t)(int64_t)offset;
			return 0;
		}
		if (!memcmp(code + i, initial, sizeof(initial)) &&
		    !memcmp(code + i + 7, there, sizeof(there)) &&
		    ruby_errinfo(code, i + 11, layout)) {
			layout->access = RUBY_ACCESS_INITIAL;
			ret->address[RUBY_CURRENT] = ruby_leads(code, i + 3, at);
			return 0;
		}
	}
	return -ENOTSUP;
}

/* Names of functions that are written in C stand in a table. rb_id2str compares a name's number
 * with the last one of an operator, and goes on in a function that compares it with the last one of
 * all, which begins that table. Both must be as they are in every version, or such functions are
 * left out. */
static void ruby_names(struct runtime_object *ret, struct ruby_layout *layout,
                       const struct runtime_source *source)
{
	unsigned char code[RUBY_CODE];
	uint64_t at, next = 0, last = 0;

	if (source->symbol(source->ctx, "rb_id2str", &at, NULL) < 0 ||
	    source->read(source->ctx, at, code, RUBY_SHORT) < 0)
		return;
	for (size_t i = 0; i + 7 <= RUBY_SHORT && !next; i++) {
		uint32_t number = 0;

		if (code[i] == 0x48 && code[i + 1] == 0x81 && code[i + 2] == 0xff)
			memcpy(&number, code + i + 3, sizeof(number));
		else if (code[i] == 0x48 && code[i + 1] == 0x3d)
			memcpy(&number, code + i + 2, sizeof(number));
		if (number && number <= RUBY_OPERATORS_MAX)
			layout->operators = number;
		if (code[i] == 0xe9 && layout->operators)
			next = ruby_leads(code, i + 1, at);
	}
	if (!next || source->read(source->ctx, next, code, sizeof(code)) < 0)
		return;
	for (size_t i = 0; i + 7 <= sizeof(code); i++) {
		if (code[i] == 0x39 && code[i + 1] == 0x3d)
			last = ruby_leads(code, i + 2, next);
		if (last && code[i] == 0x48 && code[i + 1] == 0x8b && code[i + 2] == 0x3d &&
		    ruby_leads(code, i + 3, next) == last + RUBY_NAMES_TABLE) {
			ret->address[RUBY_NAMES] = last + RUBY_NAMES_TABLE;
			return;
		}
	}
}

/* The bytes of a function from its beginning on, behind what marks it as one that is jumped to. */
static size_t ruby_begins(const unsigned char code[RUBY_SHORT])
{
	static const unsigned char mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return memcmp(code, mark, sizeof(mark)) ? 0 : sizeof(mark);
}

/* What a function of the garbage collection does first: rax becomes the virtual machine. Gives
 * where its variable is, or a word that says that, and how many words are read. Returns the bytes
 * of that, or 0. */
static size_t ruby_machine(const unsigned char code[RUBY_SHORT], uint64_t at, uint64_t *machine,
                           uint32_t *words)
{
	size_t i = ruby_begins(code);

	if (code[i] != 0x48 || (code[i + 1] != 0x8b && code[i + 1] != 0x8d) || code[i + 2] != 0x05)
		return 0;
	*words = code[i + 1] == 0x8b; /* mov n(%rip),%rax; or its address: lea */
	*machine = ruby_leads(code, i + 3, at);
	i += 7;
	if (!memcmp(code + i, "\x48\x8b\x00", 3)) { /* mov (%rax),%rax */
		(*words)++;
		i += 3;
	}
	return *words ? i : 0;
}

/* mov n(%rax),%rax: n. */
static bool ruby_member(const unsigned char *code, uint32_t *n)
{
	memcpy(n, code + 3, sizeof(*n));
	return code[0] == 0x48 && code[1] == 0x8b && code[2] == 0x80 && *n < RUBY_MEMBERS;
}

/* How many garbage collections have begun, and whether one is at work: rb_gc_count and rb_during_gc
 * do nothing but to say so. Where they are not as in every version, it is not known. */
static void ruby_gc(struct runtime_object *ret, struct ruby_layout *layout,
                    const struct runtime_source *source)
{
	static const unsigned char checks[] = { 0x48, 0x85, 0xc0, 0x74 }; /* test; je */
	static const unsigned char reads[] = { 0x0f, 0xb6, 0x40 };        /* movzbl n(%rax) */
	static const unsigned char bit[] = { 0xc0, 0xe8, 0x05, 0x83, 0xe0, 0x01 }; /* its bit 5 */
	unsigned char code[RUBY_SHORT], during[RUBY_SHORT];
	uint64_t at, machine, same;
	uint32_t words, same_words, heap, same_heap, count;
	size_t i, k;

	if (source->symbol(source->ctx, "rb_gc_count", &at, NULL) < 0 ||
	    source->read(source->ctx, at, code, sizeof(code)) < 0)
		return;
	i = ruby_machine(code, at, &machine, &words);
	if (source->symbol(source->ctx, "rb_during_gc", &at, NULL) < 0 ||
	    source->read(source->ctx, at, during, sizeof(during)) < 0)
		return;
	k = ruby_machine(during, at, &same, &same_words);
	if (!i || !k || same != machine || same_words != words)
		return;
	k += memcmp(during + k, checks, sizeof(checks)) ? 0 : sizeof(checks) + 1;
	if (!ruby_member(code + i, &heap) || !ruby_member(code + i + 7, &count) || !count ||
	    code[i + 14] != 0xc3 || !ruby_member(during + k, &same_heap) || same_heap != heap ||
	    memcmp(during + k + 7, reads, sizeof(reads)) ||
	    memcmp(during + k + 11, bit, sizeof(bit)))
		return;
	ret->address[RUBY_MACHINE] = machine;
	layout->gc_words = words;
	layout->gc_heap = heap;
	layout->gc_count = count;
	layout->gc_state = during[k + 10];
}

/* Ruby has all three of these; its extensions have none. A version or a build that is not known is
 * told as such. */
int ruby_find(struct runtime_object *ret, const struct runtime_source *source)
{
	struct ruby_layout layout = { .version = 0 };
	struct ruby_loop loop;
	uint64_t at;
	int r;

	if (source->symbol(source->ctx, "ruby_run_node", &at, NULL) < 0 ||
	    source->symbol(source->ctx, "rb_errinfo", &at, NULL) < 0 ||
	    source->symbol(source->ctx, "ruby_version", &at, NULL) < 0)
		return -ENOENT;
	r = ruby_version(&layout, source, at);
	if (r >= 0)
		r = ruby_current(ret, &layout, source);
	if (r >= 0)
		r = ruby_loop_find(&loop, source);
	if (r >= 0) {
		ret->address[RUBY_CALL] = loop.call;
		layout.call_bytes = loop.call_bytes;
		layout.tag_mangled = loop.by_library;
		/* struct rb_vm_tag: tag, retval, buf, prev; what the compiler or the C library
		 * keeps in buf */
		layout.tag_sp = loop.by_library ? 16 + 48 : 16 + 16;
		layout.tag_pc = loop.by_library ? 16 + 56 : 16 + 8;
		layout.tag_previous = loop.by_library ? 16 + 200 : 16 + 40;
		ruby_names(ret, &layout, source);
		ruby_gc(ret, &layout, source);
	}
	memcpy(ret->layout, &layout, sizeof(layout));
	return r < 0 ? -ENOTSUP : 0;
}

uint32_t ruby_line(const struct runtime_lines *lines, uint32_t at)
{
	(void)lines;
	(void)at;
	return 0;
}
