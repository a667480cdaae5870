// SPDX-License-Identifier: MIT
/*
 * runtimes_ruby.c: which Ruby an object is, and where its variables and its loop are, by made code
 * that is as GCC's of Ruby 3.1 and 3.3 is; what is nearly so is not known.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/ruby.h"

#define BASE 0x10000u
#define VERSION (BASE + 0x10)
#define ERRINFO (BASE + 0x100)
#define ID2STR (BASE + 0x200)
#define ENTRY (BASE + 0x300)
#define COLLECTIONS (BASE + 0x400)
#define COLLECTS (BASE + 0x440)
#define LOOP (BASE + 0x1000)
#define LOOP_END (BASE + 0x4000)
#define ASKS LOOP_END
#define CALL (BASE + 0x4010)
#define CALL_END (BASE + 0x4200)
#define OTHER (BASE + 0x5000)
#define OTHER_END (BASE + 0x8000)
#define SLOT (BASE + 0x9000)
#define NAMES (BASE + 0x9100)
#define MACHINE (BASE + 0x9200)

struct made {
	unsigned char bytes[0x9000];
	bool extension;
	struct {
		uint64_t start, end;
	} functions[8];
};

static int made_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *size)
{
	const struct made *m = ctx;

	(void)size;
	if (m->extension)
		return -ENOENT;
	if (!strcmp(name, "ruby_version"))
		*ret = VERSION;
	else if (!strcmp(name, "rb_errinfo") || !strcmp(name, "ruby_run_node"))
		*ret = ERRINFO;
	else if (!strcmp(name, "rb_id2str"))
		*ret = ID2STR;
	else if (!strcmp(name, "rb_gc_count"))
		*ret = COLLECTIONS;
	else if (!strcmp(name, "rb_during_gc"))
		*ret = COLLECTS;
	else
		return -ENOENT;
	return 0;
}

static int made_read(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct made *m = ctx;

	if (address < BASE || address - BASE > sizeof(m->bytes) ||
	    n > sizeof(m->bytes) - (address - BASE))
		return -EFAULT;
	memcpy(to, m->bytes + (address - BASE), n);
	return 0;
}

static int made_functions(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end),
                          void *arg)
{
	const struct made *m = ctx;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 8 && m->functions[i].end; i++)
		r = each(arg, m->functions[i].start, m->functions[i].end);
	return r;
}

/* Puts code there, at whose end stands how far away `to` is, if there is such. */
static uint64_t code(struct made *m, uint64_t at, const char *bytes, size_t n, uint64_t to)
{
	int32_t far = (int32_t)(to - (at + n + 4));

	memcpy(m->bytes + (at - BASE), bytes, n);
	if (!to)
		return at + n;
	memcpy(m->bytes + (at + n - BASE), &far, sizeof(far));
	return at + n + 4;
}
#define CODE(m, at, bytes, to) code(m, at, bytes, sizeof(bytes) - 1, to)

/* rb_errinfo, with the place of errinfo that the version has. */
static void made_errinfo(struct made *m, const char *version, char errinfo)
{
	const char member[] = { 0x48, (char)0x8b, 0x40, errinfo };
	uint64_t at = CODE(m, ERRINFO, "\xf3\x0f\x1e\xfa\x48\x83\xec\x08", 0);

	at = CODE(m, at, "\x66\x48\x8d\x3d", SLOT);
	at = CODE(m, at, "\x66\x66\x48\xe8", BASE);
	at = CODE(m, at, "\x48\x8b\x00", 0);
	code(m, at, member, sizeof(member), 0);
	memcpy(m->bytes + (VERSION - BASE), version, strlen(version) + 1);
}

static void made_jumps(struct made *m, uint64_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at = CODE(m, at, "\x41\xff\x64\x24\x10", 0);
}

static struct made *made(void)
{
	static struct made m;
	uint64_t at;

	m = (struct made){ .functions = { { BASE + 0x80, BASE + 0x90 },
		                          { LOOP, LOOP_END },
		                          { ASKS, ASKS + 11 },
		                          { CALL, CALL_END },
		                          { OTHER, OTHER_END } } };
	memset(m.bytes, 0x90, sizeof(m.bytes));
	made_errinfo(&m, "3.3.8", 120);
	made_jumps(&m, LOOP + 100, 100);
	at = CODE(&m, ASKS, "\xf3\x0f\x1e\xfa\x31\xff", 0);
	CODE(&m, at, "\xe9", LOOP);
	CODE(&m, CALL + 0x80, "\xe8", LOOP);
	at = CODE(&m, ID2STR, "\x48\x81\xff\xa9\x00\x00\x00", 0);
	CODE(&m, at, "\xe9", ENTRY);
	at = CODE(&m, ENTRY + 40, "\x39\x3d", NAMES);
	CODE(&m, at + 2, "\x48\x8b\x3d", NAMES + 16);
	return &m;
}

static int found(struct made *m, struct runtime_object *ret, struct ruby_layout *l)
{
	const struct runtime_source source = {
		.ctx = m, .symbol = made_symbol, .read = made_read, .functions = made_functions
	};
	int r;

	*ret = (struct runtime_object){ .kind = 0 };
	r = kinds_find(ret, &source);
	memcpy(l, ret->layout, sizeof(*l));
	return r;
}

static void test_versions(void **state)
{
	struct made *m = made();
	struct runtime_object o;
	struct ruby_layout l;

	(void)state;
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(o.kind, RUNTIME_RUBY);
	assert_int_equal(o.known, 1);
	assert_int_equal(l.version, 0x0303);
	assert_int_equal(l.access, RUBY_ACCESS_MODULE);
	assert_int_equal(o.address[RUBY_CURRENT], SLOT);
	assert_int_equal(o.address[RUBY_CALL], CALL);
	assert_int_equal(l.call_bytes, CALL_END - CALL);
	assert_int_equal(o.address[RUBY_NAMES], NAMES + 16);
	assert_int_equal(l.operators, 0xa9);
	/* setjmp is the C library's */
	assert_int_equal(l.tag_mangled, 1);
	assert_int_equal(l.tag_previous, 216);
	/* Another build has its structures elsewhere. */
	made_errinfo(m, "3.3.8", 112);
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	assert_int_equal(o.kind, RUNTIME_RUBY);
	made_errinfo(m, "3.1.2", 112);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.version, 0x0301);
	made_errinfo(m, "3.4.1", 112);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.version, 0x0304);
	made_errinfo(m, "3.10.1", 112);
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	made_errinfo(m, "3.2.1", 112);
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	m->extension = true;
	assert_int_equal(found(m, &o, &l), -ENOENT);
}

/* The variable of an executable, and of an object that is loaded with it. */
static void test_access(void **state)
{
	struct made *m = made();
	struct runtime_object o;
	struct ruby_layout l;
	uint64_t at;

	(void)state;
	memset(m->bytes + (ERRINFO - BASE), 0x90, 0x80);
	CODE(m, ERRINFO, "\x64\x48\x8b\x04\x25\xf0\xff\xff\xff\x48\x8b\x40\x78", 0);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.access, RUBY_ACCESS_STATIC);
	assert_int_equal(l.current, (uint64_t)-16);
	at = CODE(m, ERRINFO, "\x48\x8b\x05", SLOT);
	CODE(m, at, "\x64\x48\x8b\x00\x48\x8b\x40\x78", 0);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.access, RUBY_ACCESS_INITIAL);
	assert_int_equal(o.address[RUBY_CURRENT], SLOT);
	memset(m->bytes + (ERRINFO - BASE), 0x90, 0x80);
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
}

/* Without the table of names there are no functions that are written in C. */
static void test_names(void **state)
{
	struct made *m = made();
	struct runtime_object o;
	struct ruby_layout l;

	(void)state;
	CODE(m, ENTRY + 48, "\x48\x8b\x3d", NAMES + 24);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(o.address[RUBY_NAMES], 0);
	m = made();
	CODE(m, ID2STR + 7, "\xe9", BASE + 0x100000); /* outside of the file */
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(o.address[RUBY_NAMES], 0);
}

/* rb_gc_count and rb_during_gc as GCC of Debian 13 made them, of 3.3. */
static void made_collections(struct made *m)
{
	uint64_t at = CODE(m, COLLECTIONS, "\xf3\x0f\x1e\xfa\x48\x8d\x05", MACHINE);

	CODE(m, at, "\x48\x8b\x00\x48\x8b\x80\x18\x05\x00\x00\x48\x8b\x80\x70\x05\x00\x00\xc3", 0);
	at = CODE(m, COLLECTS, "\xf3\x0f\x1e\xfa\x48\x8d\x05", MACHINE);
	CODE(m, at,
	     "\x48\x8b\x00\x48\x85\xc0\x74\x15\x48\x8b\x80\x18\x05\x00\x00\x0f\xb6\x40\x10"
	     "\xc0\xe8\x05\x83\xe0\x01\xc3",
	     0);
}

/* Where the number of garbage collections is; what is nearly so is not known, and nothing else is
 * the worse for it. */
static void test_collections(void **state)
{
	struct made *m = made();
	struct runtime_object o;
	struct ruby_layout l;
	uint64_t at;

	(void)state;
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.gc_count, 0);
	made_collections(m);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(o.address[RUBY_MACHINE], MACHINE);
	assert_int_equal(l.gc_words, 1);
	assert_int_equal(l.gc_heap, 0x518);
	assert_int_equal(l.gc_count, 0x570);
	assert_int_equal(l.gc_state, 0x10);
	m->bytes[COLLECTS + 32 - BASE] = 6; /* another bit: other structures */
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.gc_count, 0);
	made_collections(m);
	CODE(m, COLLECTS + 4, "\x48\x8d\x05", MACHINE + 8); /* another variable */
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(l.gc_count, 0);
	/* 3.1, by the table of addresses, as GCC of Debian 12 made them */
	at = CODE(m, COLLECTIONS, "\x48\x8b\x05", SLOT);
	CODE(m, at, "\x48\x8b\x00\x48\x8b\x80\x50\x04\x00\x00\x48\x8b\x80\xb8\x01\x00\x00\xc3", 0);
	at = CODE(m, COLLECTS, "\x48\x8b\x05", SLOT);
	CODE(m, at,
	     "\x48\x8b\x00\x48\x8b\x80\x50\x04\x00\x00\x0f\xb6\x40\x10"
	     "\xc0\xe8\x05\x83\xe0\x01\xc3",
	     0);
	assert_int_equal(found(m, &o, &l), 0);
	assert_int_equal(o.address[RUBY_MACHINE], SLOT);
	assert_int_equal(l.gc_words, 2);
	assert_int_equal(l.gc_count, 0x1b8);
}

/* Where it is not sure which code the loop is, or who calls it, nothing is known. */
static void test_loop(void **state)
{
	struct made *m = made();
	struct runtime_object o;
	struct ruby_layout l;

	(void)state;
	CODE(m, CALL + 0x40, "\x48\x8d\x0d", CALL + 0x90);
	assert_int_equal(found(m, &o, &l), 0); /* setjmp is the compiler's */
	assert_int_equal(l.tag_mangled, 0);
	assert_int_equal(l.tag_previous, 56);
	assert_int_equal(l.tag_pc, 24);
	CODE(m, OTHER + 0x40, "\xe8", LOOP); /* it is called from elsewhere, too */
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	m = made();
	memset(m->bytes + (CALL - BASE), 0x90, CALL_END - CALL); /* from nowhere */
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	m = made();
	memset(m->bytes + (LOOP - BASE), 0x90, LOOP_END - LOOP);
	made_jumps(m, LOOP + 100, 63);
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	m = made();
	made_jumps(m, OTHER + 100, 100); /* two of them */
	m->functions[5].start = BASE + 0x600;
	m->functions[5].end = BASE + 0x610;
	CODE(m, CODE(m, BASE + 0x600, "\x31\xf6\x31\xff", 0), "\xe9", OTHER);
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	m = made();
	m->functions[4].end = BASE + 0x10000; /* code that the file does not have */
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
	m->functions[4].end = 0;
	m->functions[3].end = CALL; /* ends before it begins */
	assert_int_equal(found(m, &o, &l), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions), cmocka_unit_test(test_access),
		cmocka_unit_test(test_names),    cmocka_unit_test(test_collections),
		cmocka_unit_test(test_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
