// SPDX-License-Identifier: MIT
// report_hint.c: the advice below a report: the right package, the right file, and none where none
// is known to help.
#include <setjmp.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/hint.h"
#include "report/hint_known.h"
#include "runtimes/runtime_flags.h"
#include "tree.h"

static char dir[] = "/tmp/seam-test-hint-XXXXXX";

static void check_package(const char *path, const char *expected)
{
	struct hint_package files[2] = { { .path = "/usr/bin/other" }, { .path = path } };

	hint_packages(dir, files, 2);
	assert_int_equal(files[0].match, HINT_NONE);
	assert_int_equal(files[1].match != HINT_NONE, expected != NULL);
	assert_string_equal(buf_text(&files[1].name), expected ? expected : "");
	buf_free(&files[1].name);
}

/* A list longer than what is read at once: lines of many lengths, so that pieces meet anywhere. */
static void put_long_list(void)
{
	static char text[4 << 20];
	size_t n = 0;

	for (unsigned i = 0; n < sizeof(text) - 64; i++)
		n += (size_t)snprintf(text + n, 64, "/usr/share/long/%0*u\n", (int)(i % 37), i);
	tree_put_text(dir, "long-list.list", text);
}

static void check_long_list(void)
{
	char path[64];

	for (unsigned i = 0; i < 20000; i += 997) {
		snprintf(path, sizeof(path), "/usr/share/long/%0*u", (int)(i % 37), i);
		check_package(path, "long-list");
	}
}

static void test_package(void **state)
{
	char command[128];

	put_long_list();
	check_long_list();
	tree_put_text(dir, "libx1:amd64.list", "/.\n/lib/libx.so.1\n/usr/lib/liby.so\n");
	tree_put_text(dir, "tool.list", "/.\n/usr/bin/tool\n/usr/bin/tool-more\n/usr/share/doc\n");
	tree_put_text(dir, "tool.md5sums", "/usr/bin/other\n");
	check_package("/usr/bin/tool", "tool");
	check_package("/usr/lib/liby.so", "libx1");
	check_package("/lib/libx.so.1", "libx1");
	check_package("/usr/lib/libx.so.1", "libx1"); /* listed as it was before /lib went */
	check_package("/usr/bin/too", NULL);
	check_package("/bin/tool", NULL);
	check_package("/usr/bin/other", NULL);
	/* A list whose name tells nothing, and one that is alike and has it not. */
	tree_put_text(dir, "liby-doc.list", "/.\n/usr/share/doc/liby\n");
	check_package("/usr/lib/liby.so", "libx1");
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	check_package("/usr/bin/tool", NULL); /* not a Debian system */
}

/* ---- what is known of before ---- */

static char known_dir[] = "/tmp/seam-test-known-XXXXXX";
static char cache_dir[] = "/tmp/seam-test-cache-XXXXXX";

/* The folder of the lists seems to have been changed at that second, long ago. */
static void known_changed(time_t second)
{
	const struct timespec times[2] = { { .tv_sec = second }, { .tv_sec = second } };

	assert_int_equal(utimensat(AT_FDCWD, known_dir, times, 0), 0);
}

static void check_known(const char *path, const char *expected)
{
	struct hint_package files[2] = { { .path = "/usr/bin/none" }, { .path = path } };

	hint_known_packages(known_dir, cache_dir, files, 2);
	assert_string_equal(buf_text(&files[0].name), "");
	assert_string_equal(buf_text(&files[1].name), expected);
	buf_free(&files[0].name);
	buf_free(&files[1].name);
}

static void known_shell(const char *format, const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), format, path);
	assert_int_equal(system(command), 0);
}

/* Answers hold as long as the folder is the same, and no longer; damaged ones are none. */
static void test_known(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(known_dir));
	assert_non_null(mkdtemp(cache_dir));
	tree_put_text(known_dir, "one.list", "/.\n/usr/bin/tool\n");
	known_changed(1000);
	check_known("/usr/bin/tool", "one");
	/* Nobody changes a list in its place: here it shows that none is read. */
	tree_put_text(known_dir, "one.list", "/.\n/usr/bin/new\n");
	known_changed(1000);
	check_known("/usr/bin/tool", "one");
	check_known("/usr/bin/new", "one");
	check_known("/usr/bin/tool", "one");
	known_shell("for f in %s/*; do head -c -1 \"$f\" > \"$f.cut\"; mv \"$f.cut\" \"$f\"; done",
	            cache_dir);
	check_known("/usr/bin/tool", "");
	tree_put_text(known_dir, "one.list", "/.\n/usr/bin/tool\n");
	known_changed(2000);
	check_known("/usr/bin/tool", "one");
	/* A folder that was changed just now may be changed again. */
	tree_put_text(known_dir, "one.list", "/.\n");
	known_changed(time(NULL));
	check_known("/usr/bin/tool", "");
	tree_put_text(known_dir, "one.list", "/.\n/usr/bin/tool\n");
	known_changed(time(NULL));
	check_known("/usr/bin/tool", "one");
	known_shell("rm -r %s", known_dir);
	known_shell("rm -r %s", cache_dir);
}

static void check_hint(enum symbol_kind kind, enum symbol_state state, bool id, const char *part)
{
	struct symbol_key key = { .kind = kind, .path = "/nowhere/thing", .pid = 4711 };
	struct load_unnamed unnamed = { .object = "thing", .state = state, .key = &key };
	struct proc_table *procs;
	struct buf got = { 0 };

	assert_true(proc_new(&procs, &(struct proc_opts){ .sz = sizeof(struct proc_opts) }) >= 0);
	if (id)
		key.build_id = (struct image_build_id){ 20, { 0xab, 0xcd, 0xef } };
	hint_unnamed(&unnamed, 1, procs, &got);
	proc_free(procs);
	if (part)
		assert_non_null(strstr(buf_text(&got), part));
	else
		assert_string_equal(buf_text(&got), "");
	buf_free(&got);
}

static void test_hints(void **state)
{
	struct load_unnamed outside = { .object = "[unknown]" };
	struct buf got = { 0 };

	check_hint(SYMBOL_KIND_ANON, SYMBOL_NO_FILE, false, "/tmp/perf-4711.map");
	check_hint(SYMBOL_KIND_FILE, SYMBOL_NO_SYMBOLS, true, "/usr/lib/debug/.build-id/ab/cdef00");
	check_hint(SYMBOL_KIND_FILE, SYMBOL_NO_SYMBOLS, false, NULL);
	check_hint(SYMBOL_KIND_FILE, SYMBOL_OTHER_BUILD_ID, true, "build-id abcdef00");
	check_hint(SYMBOL_KIND_FILE, SYMBOL_NO_FILE, false, NULL);
	check_hint(SYMBOL_KIND_FILE, SYMBOL_OTHER_BUILD_ID, false, "--symfs DIR");
	check_hint(SYMBOL_KIND_KERNEL, SYMBOL_OTHER_BUILD_ID, true, "--vmlinux");
	check_hint(SYMBOL_KIND_KERNEL, SYMBOL_HIDDEN, true, "kptr_restrict");
	check_hint(SYMBOL_KIND_STACK, SYMBOL_NOT_CODE, false, NULL);
	hint_unnamed(&outside, 1, NULL, &got);
	assert_string_equal(buf_text(&got), "");
	buf_free(&got);
}

/* A process is known by a file's own name, not by one that only begins so. */
static void test_runtimes(void **state)
{
	static const struct {
		const char *path, *names, *stacks;
	} cases[] = {
		{ "/usr/lib/jvm/java-17/lib/server/libjvm.so", "-XX:+DumpPerfMapAtExit",
		  "-XX:+PreserveFramePointer" },
		{ "/usr/bin/node", "--perf-basic-prof --interpreted-frames-native-stack", NULL },
		{ "/usr/lib/libnode.so.108", "--perf-basic-prof --interpreted-frames-native-stack",
		  NULL },
		{ "/usr/lib/erlang/erts-13.1/bin/beam.smp", "+JPperf true", "+JPperf true" },
		{ "/usr/share/dotnet/libcoreclr.so", "DOTNET_PerfMapEnabled=1", NULL },
		{ "/usr/bin/node_exporter", NULL, NULL },
		{ "/usr/lib/libjvmti.so", NULL, NULL },
		{ "libjvm.so", NULL, NULL },
		{ "//anon", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct runtime_flags *f = runtime_flags_of_path(cases[i].path);

		assert_int_equal(!!f, !!cases[i].names);
		if (!f)
			continue;
		assert_string_equal(f->names, cases[i].names);
		assert_int_equal(!!f->stacks, !!cases[i].stacks);
		if (f->stacks)
			assert_string_equal(f->stacks, cases[i].stacks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_package),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_runtimes),
	};

	if (!mkdtemp(dir))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
