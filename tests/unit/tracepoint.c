// SPDX-License-Identifier: MIT
/*
 * tracepoint.c: the text of tracepoints: of formats in the words of Linux, in both byte orders; and
 * of formats and raw data that lie, each with the reason that is given instead of a text.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../tracepoint_head.h"
#include "tracepoint/formats.h"
#include "tracepoint/tracepoint.h"

#define COMMON                                                                         \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define HEAD(ID) "name: event\nID: " ID "\n" COMMON
#define FIELD(TYPE, OFFSET, SIZE, SIGNED) \
	"\tfield:" TYPE ";\toffset:" OFFSET ";\tsize:" SIZE ";\tsigned:" SIGNED ";\n"

/* A sample: common fields, u32 a, u64 addr, char name[8], data_loc text, its bytes. */
#define FIELDS                                 \
	FIELD("unsigned int a", "8", "4", "0") \
	FIELD("void * addr", "16", "8", "0")   \
	FIELD("char name[8]", "24", "8", "0") FIELD("__data_loc char[] text", "32", "4", "0")

static void sample_bytes(struct buf *out, unsigned id, bool big)
{
	head_put(out, id, 2, big);
	head_put(out, 0, 2, big);
	head_put(out, 4711, 4, big);
	head_put(out, 5, 4, big);
	head_put(out, 0, 4, big);
	head_put(out, 0xffffffff81000123, 8, big);
	buf_put(out, "sh\0\0\0\0\0\0", 8);
	head_put(out, 36 | 6 << 16, 4, big);
	buf_put(out, "hello\0\0\0", 8);
}

static const char *name_of(void *ctx, uint64_t addr, uint64_t *start)
{
	*start = 0xffffffff81000100;
	return addr == 0xffffffff81000123 ? "do_it" : NULL;
}

/* The text, or the reason in angle brackets. */
static char *text_of(const char *format, const struct buf *raw, bool big)
{
	const struct tracepoint_names names = { .find = name_of };
	struct buf head = { 0 }, out = { 0 };
	struct tracepoints *t;
	const char *reason;
	char *text;
	int r;

	head_of(&head, big, 8, &format, 1, "0xffffffff81000123 : \"a constant\"\n");
	assert_int_equal(tracepoint_new(&t, head.bytes, head.n, &names, NULL), 0);
	r = tracepoint_text(t, 77, 0, raw->bytes, raw->n, &out, &reason);
	assert_true(r == 0 || r == 1);
	if (!r)
		buf_printf(&out, "<%s>", reason);
	text = strdup(buf_text(&out));
	tracepoint_free(t);
	buf_free(&out);
	buf_free(&head);
	return text;
}

static void expect(const char *format, const char *wanted)
{
	for (int big = 0; big < 2; big++) {
		struct buf raw = { 0 };
		char *text;

		sample_bytes(&raw, 77, big);
		text = text_of(format, &raw, big);
		if (strcmp(text, wanted))
			fail_msg("%s byte order: '%s', not '%s'", big ? "big" : "little", text,
			         wanted);
		free(text);
		buf_free(&raw);
	}
}

static void texts(void **state)
{
	expect(HEAD("77") FIELDS "\nprint fmt: \"a=%u name=%s text=%s\", REC->a, REC->name, "
	                         "__get_str(text)\n",
	       "a=5 name=sh text=hello");
	expect(HEAD("77") FIELDS "\nprint fmt: \"%pS\", (void *)REC->addr\n", "do_it+0x23");
	expect(HEAD("77") FIELDS "\nprint fmt: \"%s\", __print_symbolic(REC->a, { 4, \"four\" }, { "
	                         "5, \"five\" })\n",
	       "five");
	expect(HEAD("77") FIELDS "\nprint fmt: \"%s\", (REC->a & 4) ? __print_flags(REC->a, \"|\", "
	                         "{ 1, \"one\" }, { 4, \"four\" }) : \"none\"\n",
	       "one|four");
	expect(HEAD("77") FIELDS "\nprint fmt: \"pid %d\", REC->common_pid\n", "pid 4711");
	expect(HEAD("77") FIELDS "\nprint fmt: \"%s\", __print_hex(__get_dynamic_array(text), "
	                         "__get_dynamic_array_len(text))\n",
	       "68 65 6c 6c 6f 00");
	/* What no kernel writes, and names that only its source knows: not followed either. */
	expect(HEAD("77") FIELDS "\nprint fmt: \"%d\", REC->a +\n",
	       " a=5 addr=0xffffffff81000123 name=sh text=hello");
	expect(HEAD("77") FIELDS
	       "\nprint fmt: \"%s\", __print_symbolic(REC->a, { FIVE, \"five\" })\n",
	       " a=5 addr=0xffffffff81000123 name=sh text=hello");
	expect(HEAD("77") FIELDS "\nprint fmt: \"%d\", REC->nothing\n",
	       " a=5 addr=0xffffffff81000123 name=sh text=hello");
	/* A length that an expression computes: its fields, one by one. */
	expect(HEAD("77") FIELDS
	       "\nprint fmt: \"%s\", __print_hex(__get_dynamic_array(text), REC->a * "
	       "100000000)\n",
	       " a=5 addr=0xffffffff81000123 name=sh text=hello");
}

static void formats_that_lie(void **state)
{
	static char deep[1001], many[70000], format[8192];

	expect(HEAD("78") FIELDS "\nprint fmt: \"\"\n", "<the recording has no format of it>");
	expect("name: event\nID: 77\n", "<its format has no print format>");
	expect(HEAD("77") FIELDS "\nprint fmt: \"%s, REC->a\n",
	       "<a string of its print format does not end>");
	expect(HEAD("77") FIELDS "\nprint fmt: \"\x01\xff\"\n", "<its format is not text>");
	expect(HEAD("77") FIELD("int a", "70000", "4", "0") "\nprint fmt: \"%d\", REC->a\n",
	       "<a field of it lies outside of any record>");
	expect(HEAD("77") FIELD("int a", "8", "4000000000", "0") "\nprint fmt: \"%d\", REC->a\n",
	       "<its fields are not declared as Linux declares them>");
	expect(HEAD("77") FIELD("int a", "48", "4", "0") "\nprint fmt: \"%d\", REC->a\n",
	       "<its raw data are shorter than its fields>");

	memset(deep, '(', 1000);
	deep[1000] = 0;
	snprintf(format, sizeof(format), HEAD("77") FIELDS "\nprint fmt: \"%%d\", %sREC->a\n",
	         deep);
	expect(format, "<its print format is nested too deeply>");
	memset(deep, '!', 1000);
	snprintf(format, sizeof(format), HEAD("77") FIELDS "\nprint fmt: \"%%d\", %sREC->a\n",
	         deep);
	expect(format, "<its print format has too many operators in one argument>");
	memset(many, ' ', 69999);
	memcpy(many, HEAD("77"), strlen(HEAD("77")));
	many[69999] = 0;
	expect(many, "<its format is too long>");
}

static void raw_data_that_lie(void **state)
{
	const char *format = HEAD("77") FIELDS "\nprint fmt: \"text=%s\", __get_str(text)\n";
	struct buf raw = { 0 };
	char *text;

	text = text_of(format, &raw, false);
	assert_string_equal(text, "<it carries no raw data>");
	free(text);
	sample_bytes(&raw, 77, false);
	for (size_t n = 1; n < 36 + 6; n++) {
		struct buf cut = { .bytes = malloc(n), .n = n, .capacity = n };

		memcpy(cut.bytes, raw.bytes, n);
		text = text_of(format, &cut, false);
		assert_string_equal(
		        text, n < 36 ? "<its raw data are shorter than its fields>"
		                     : "<a dynamic field of it lies outside of its raw data>");
		free(text);
		buf_free(&cut);
	}
	raw.bytes[32] = 0xff; /* of the dynamic field's offset */
	raw.bytes[33] = 0xff;
	text = text_of(format, &raw, false);
	assert_string_equal(text, "<a dynamic field of it lies outside of its raw data>");
	free(text);
	buf_clear(&raw);
	sample_bytes(&raw, 78, false);
	text = text_of(format, &raw, false);
	assert_string_equal(text, "<its raw data are another tracepoint's>");
	free(text);
	buf_free(&raw);
}

/* Every cut of the tracing data: what stands before it is kept. */
static void heads_cut(void **state)
{
	const char *const all[] = { HEAD("77") "\nprint fmt: \"\"\n", HEAD("78") "\n",
		                    HEAD("5") "\n" };

	for (int big = 0; big < 2; big++) {
		struct buf head = { 0 };
		struct formats f;
		size_t seen = 0;

		head_of(&head, big, 8, all, 3, "x");
		for (size_t n = 0; n <= head.n - 8; n++) {
			struct seam_error err = { 0 };
			unsigned char *exact = malloc(n ? n : 1);
			int r;

			memcpy(exact, head.bytes, n);
			r = formats_read(&f, exact, n, &err);
			assert_int_equal(r, n < head.n - 8 ? -EBADMSG : 0);
			assert_true(!r == !err.text[0] && f.n >= seen);
			seen = f.n;
			formats_free(&f);
			free(exact);
		}
		assert_int_equal(seen, 3);
		assert_int_equal(formats_read(&f, head.bytes, head.n, NULL), 0);
		assert_int_equal(f.big_endian, big);
		assert_int_equal(formats_find(&f, 5)->id, 5);
		assert_string_equal(formats_find(&f, 78)->system, "test");
		assert_null(formats_find(&f, 6));
		assert_null(formats_find(&f, 77ULL << 32));
		formats_free(&f);
		buf_free(&head);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(formats_that_lie),
		cmocka_unit_test(raw_data_that_lie),
		cmocka_unit_test(heads_cut),
	};
	struct tracepoints *t;
	const char *reason = "";

	if (tracepoint_new(&t, NULL, 0, NULL, NULL) < 0)
		return 1;
	tracepoint_text(t, 0, 0, NULL, 0, NULL, &reason);
	tracepoint_free(t);
	if (strstr(reason, "built without")) {
		puts("skipped: built without libtraceevent");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
