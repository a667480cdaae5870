// SPDX-License-Identifier: MIT
/*
 * runtimes_context.c: sets of labels as texts, also of hostile keys and values; which set a thread
 * had on a CPU at a time; messages of OpenTelemetry's process context, whole, cut and made up;
 * versions of Go, and its programs without symbols.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/context.h"
#include "runtimes/context_layout.h"
#include "runtimes/go_labels.h"
#include "runtimes/otel_process.h"
#include "samples/contexts.h"

static struct context_label label(const char *key, const char *value)
{
	return (struct context_label){
		.key = key, .key_n = strlen(key), .value = value, .value_n = strlen(value)
	};
}

/* Sorted by key, so that equal sets have one text; the last of equal keys counts. */
static void test_set_is_sorted(void **state)
{
	struct context_label l[] = { label("b", "1"), label("a", "2"), label("b", "3"),
		                     label("", "no key"), label("ab", "4") };
	struct buf set = { 0 };

	(void)state;
	assert_true(context_put_all(&set, l, 5));
	assert_string_equal(buf_text(&set), "a\t2\nab\t4\nb\t3\n");
	buf_free(&set);
}

static void test_set_holds_anything(void **state)
{
	struct context_label l[] = { label("a\tb", "x\ny\\z"), label("c", "\x1b[31m") }, got;
	struct buf set = { 0 }, value = { 0 };
	const char *at;

	(void)state;
	assert_true(context_put_all(&set, l, 2));
	at = buf_text(&set);
	assert_true(context_next(&at, &got));
	assert_true(context_next(&at, &got));
	assert_false(context_next(&at, &got));
	assert_string_equal(context_value(buf_text(&set), "a\tb", &value), "x\ny\\z");
	assert_string_equal(context_value(buf_text(&set), "c", &value), "\x1b[31m");
	assert_null(context_value(buf_text(&set), "a", &value));
	/* Texts of a file that is not sound. */
	for (const char *const *bad = (const char *const[]){ "", "x", "x\n", "\n\t", "x\ty", NULL };
	     *bad; bad++) {
		at = *bad;
		assert_false(context_next(&at, &got));
	}
	buf_free(&set);
	buf_free(&value);
}

/* What finds no room is left out, and said. */
static void test_set_is_bounded(void **state)
{
	static char large[CONTEXT_TEXT_MOST];
	struct context_label l[2];
	struct buf set = { 0 };

	(void)state;
	memset(large, '\t', sizeof(large) - 1);
	l[0] = label("a", "1");
	l[1] = label("b", large);
	assert_false(context_put_all(&set, l, 2));
	assert_string_equal(buf_text(&set), "a\t1\n");
	buf_free(&set);
}

/* ---- contexts ---- */

static void learn(struct contexts *c, uint32_t tid, uint32_t cpu, uint64_t time_ns, uint32_t number,
                  const char *text)
{
	const struct seam_record record = { .misc = SEAM_MISC_USER };
	const struct seam_decoded d = {
		.record = &record,
		.id = { .has = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU,
		        .tid = tid,
		        .cpu = cpu,
		        .time_ns = time_ns },
		.ksymbol = { .addr = CONTEXT_BASE + number, .unregister = true, .name = text },
	};

	assert_true(context_is(&record, &d.ksymbol));
	assert_int_equal(contexts_learn_text(c, &d.ksymbol), 0);
	assert_int_equal(contexts_learn(c, &d), 0);
}

static const char *at(const struct contexts *c, uint32_t tid, uint32_t cpu, uint64_t time_ns)
{
	return contexts_text(c, contexts_at(c, tid, cpu, time_ns));
}

static void test_thread_and_cpu_and_time(void **state)
{
	struct contexts c = { .n_lists = 0 };

	(void)state;
	learn(&c, 7, 0, 100, 20, "a\t1\n");
	learn(&c, 7, 0, 300, 0, "");
	learn(&c, 7, 1, 200, 21, "a\t2\n");
	learn(&c, 8, 0, 100, 20, "");
	learn(&c, 7, 0, 200, 22, "a\t3\n"); /* late */
	learn(&c, 5, 1, 50, 23, "");        /* its text comes later */
	learn(&c, 5, 0, 60, 23, "a\t4\n");
	learn(&c, 9, 0, 100, 1, "");
	learn(&c, 9, 0, 200, 99, ""); /* its text was lost */
	contexts_seal(&c);
	assert_string_equal(at(&c, 7, 0, 99), "");
	assert_string_equal(at(&c, 7, 0, 100), "a\t1\n");
	assert_string_equal(at(&c, 7, 0, 199), "a\t1\n");
	assert_string_equal(at(&c, 7, 0, 200), "a\t3\n");
	assert_string_equal(at(&c, 7, 0, 300), "");
	assert_string_equal(at(&c, 7, 1, 1000), "a\t2\n");
	assert_string_equal(at(&c, 8, 0, 100), "a\t1\n");
	assert_string_equal(at(&c, 6, 0, 100), "");
	assert_string_equal(at(&c, 5, 1, 55), "a\t4\n");
	assert_non_null(strstr(at(&c, 9, 0, 100), "not read"));
	assert_non_null(strstr(at(&c, 9, 0, 200), "not known"));
	contexts_free(&c);
}

static void test_lists(void **state)
{
	const char *set = "http.route\t/cart\nspan_id\t0b\ntrace_id\t0a\n";
	struct buf out = { 0 };

	(void)state;
	assert_true(contexts_match(set, "http.route=/cart"));
	assert_true(contexts_match(set, "http.route=/c*,trace=0a"));
	assert_true(contexts_match(set, "http.route=/x,http.route=/cart"));
	assert_false(contexts_match(set, "http.route=/cart,trace=0b"));
	assert_false(contexts_match(set, "user=*"));
	assert_false(contexts_match("", "user=*"));
	assert_true(contexts_is_list("a=b,c="));
	assert_false(contexts_is_list("a=b,c"));
	assert_false(contexts_is_list("=b"));
	assert_true(contexts_values(set, "http.route,user,span", &out));
	assert_string_equal(buf_text(&out), "/cart,-,0b");
	buf_clear(&out);
	assert_false(contexts_values(set, "user", &out));
	buf_clear(&out);
	contexts_show(&out, set, true);
	assert_string_equal(buf_text(&out), "http.route=/cart span_id=0b trace_id=0a");
	buf_clear(&out);
	contexts_show(&out, set, false);
	assert_string_equal(buf_text(&out), "http.route=/cart");
	buf_free(&out);
}

/* ---- the process ---- */

/* A ProcessContext whose Resource says a service, and two keys beside it. */
static const unsigned char message[] =
        "\x0a\x1a\x0a\x18\x0a\x0cservice.name\x12\x08\x0a\x06"
        "seller"
        "\x12\x2d\x0a\x1dthreadlocal.attribute_key_map\x12\x0c\x2a\x0a\x0a\x03\x0a\x01"
        "a"
        "\x0a\x03\x0a\x01"
        "b";

static struct otel_process process;

static void read_message(size_t n)
{
	memset(&process, 0xee, sizeof(process));
	memcpy(process.text, message, n);
	otel_process_read(&process, n);
}

static void test_process(void **state)
{
	(void)state;
	read_message(sizeof(message) - 1);
	assert_int_equal(process.service.n, 6);
	assert_memory_equal(process.text + process.service.at, "seller", 6);
	assert_int_equal(process.n_keys, 2);
	assert_int_equal(process.keys[1].n, 1);
	assert_int_equal(process.text[process.keys[1].at], 'b');
}

/* Cut anywhere, or with any byte another: nothing that is said lies outside of the message. */
static void test_process_unsound(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(message) - 1; n++) {
		read_message(n);
		for (int byte = 0; byte < 256; byte++) {
			memcpy(process.text, message, sizeof(message) - 1);
			process.text[n] = (char)byte;
			otel_process_read(&process, sizeof(message) - 1);
			assert_true(process.service.at + process.service.n < sizeof(message));
			assert_true(process.n_keys <= OTEL_PROCESS_KEYS);
			for (uint32_t i = 0; i < process.n_keys; i++)
				assert_true(process.keys[i].at + process.keys[i].n <
				            sizeof(message));
		}
	}
}

static void test_process_head(void **state)
{
	struct otel_process_head h = { "OTEL_CTX", 2, 10, 1, 0x1000 };

	(void)state;
	assert_true(otel_process_head_is_sound(&h));
	h.published_ns = 0; /* being written */
	assert_false(otel_process_head_is_sound(&h));
	h.published_ns = 1;
	h.size = OTEL_PROCESS_MOST + 1;
	assert_false(otel_process_head_is_sound(&h));
	h.size = 10;
	h.version = 3;
	assert_false(otel_process_head_is_sound(&h));
}

/* ---- Go ---- */

static void test_go_versions(void **state)
{
	static const struct {
		const char *version;
		uint32_t source, m_curg, g_labels;
	} rows[] = {
		{ "go1.16.15", CONTEXT_GO_OTHER, 0, 0 },
		{ "go1.17", CONTEXT_GO_MAP, 192, 360 },
		{ "go1.19.8", CONTEXT_GO_MAP, 192, 360 },
		{ "go1.21.13", CONTEXT_GO_MAP, 192, 344 },
		{ "go1.23.5", CONTEXT_GO_MAP, 192, 352 },
		{ "go1.24.4", CONTEXT_GO_LIST, 192, 352 },
		{ "go1.25.12 X:nodwarf5", CONTEXT_GO_LIST, 184, 344 },
		{ "go1.27rc1", CONTEXT_GO_LIST, 184, 352 },
		{ "go1.28", CONTEXT_GO_OTHER, 0, 0 },
		{ "devel go1.27-abcdef", CONTEXT_GO_OTHER, 0, 0 },
		{ "", CONTEXT_GO_OTHER, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct context_process p = { .source = CONTEXT_NONE };

		go_labels_version(&p, rows[i].version);
		assert_int_equal(p.source, rows[i].source);
		assert_int_equal(p.m_curg, rows[i].m_curg);
		assert_int_equal(p.g_labels, rows[i].g_labels);
	}
}

/* A program of Go 1.24 without symbols, beside variables of threads that are C's. */
struct go_file {
	Elf64_Ehdr head;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[2];
	char names[32];
	unsigned char info[64], code[40000];
};

#define GO_AT 0x400000u

static int go_file_read(void *ctx, uint64_t offset, void *to, size_t n)
{
	if (offset > sizeof(struct go_file) || n > sizeof(struct go_file) - offset)
		return -1;
	memcpy(to, (char *)ctx + offset, n);
	return 0;
}

static struct context_process go_file_find(struct go_file *f, const char *code, size_t n, size_t at)
{
	const struct context_source_file file = { go_file_read, f };
	struct context_process p = { .source = CONTEXT_NONE };
	struct context_elf e;

	*f = (struct go_file){
		.head = { .e_type = ET_EXEC,
		          .e_machine = EM_X86_64,
		          .e_phoff = offsetof(struct go_file, segments),
		          .e_phentsize = sizeof(Elf64_Phdr),
		          .e_phnum = 2,
		          .e_shoff = offsetof(struct go_file, sections),
		          .e_shentsize = sizeof(Elf64_Shdr),
		          .e_shnum = 2 },
		.segments = { { .p_type = PT_LOAD,
		                .p_flags = PF_R | PF_X,
		                .p_vaddr = GO_AT,
		                .p_filesz = sizeof(*f) },
		              { .p_type = PT_TLS, .p_memsz = 20, .p_align = 8 } },
		.sections = { { .sh_name = 16,
		                .sh_offset = offsetof(struct go_file, names),
		                .sh_size = sizeof(f->names) },
		              { .sh_addr = GO_AT + offsetof(struct go_file, info),
		                .sh_size = sizeof(f->info) } },
		.names = ".go.buildinfo",
		.info = "\xff Go buildinf:\x08\x02",
	};
	memcpy(f->head.e_ident, ELFMAG "\2", 5);
	memcpy(f->info + 32, "\x08go1.24.4", 9);
	memcpy(f->code + at, code, n);
	assert_int_equal(context_elf_open(&e, &file), 0);
	assert_int_equal(go_labels_find(&p, &e), 0);
	return p;
}

/* Where g is then follows from the code of a function that goes there. */
static void test_go_without_symbols(void **state)
{
#define WAYS "\x48\x8b\x40\x30\x48\x8b\x80\xc0\0\0\0"
	static const char direct[] = "\x64\x48\x8b\x04\x25\xe8\xff\xff\xff" WAYS;
	static const char value[] = "\x48\xc7\xc1\xe0\xff\xff\xff\x64\x48\x8b\x01" WAYS;
	static const char word[] = "\x48\x8b\x0d\x10\0\0\0\x64\x48\x8b\x01" WAYS;
	/* pieces that are looked at overlap; and the last place where it fits */
	static const size_t places[] = { 0, 16000, 16384, 32700, 40000 - 26 };
	static struct go_file f;
	struct context_process p;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		p = go_file_find(&f, direct, sizeof(direct), places[i]);
		assert_int_equal(p.source, CONTEXT_GO_LIST);
		assert_int_equal(p.access, CONTEXT_STATIC);
		assert_true(p.offset == (uint64_t)-24);
	}
	p = go_file_find(&f, value, sizeof(value), 100);
	assert_int_equal(p.access, CONTEXT_STATIC);
	assert_true(p.offset == (uint64_t)-32);
	p = go_file_find(&f, word, sizeof(word), 100);
	assert_int_equal(p.access, CONTEXT_INITIAL);
	assert_int_equal(p.slot, GO_AT + offsetof(struct go_file, code) + 100 + 7 + 16);
	/* not there, not whole, or by another way than this version's */
	assert_int_equal(go_file_find(&f, "", 1, 0).source, CONTEXT_GO_OTHER);
	assert_int_equal(go_file_find(&f, direct, 19, 39981).source, CONTEXT_GO_OTHER);
	assert_int_equal(go_file_find(&f, direct + 1, sizeof(direct) - 1, 0).source,
	                 CONTEXT_GO_OTHER);
#undef WAYS
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_is_sorted),
		cmocka_unit_test(test_set_holds_anything),
		cmocka_unit_test(test_set_is_bounded),
		cmocka_unit_test(test_thread_and_cpu_and_time),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_process_unsound),
		cmocka_unit_test(test_process_head),
		cmocka_unit_test(test_go_versions),
		cmocka_unit_test(test_go_without_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
