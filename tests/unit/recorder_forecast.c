// SPDX-License-Identifier: MIT
/* forecast: which programs a command is said to run, by its words, texts, scripts and makefiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/forecast.h"
#include "recorder/forecast_words.h"
#include "tree.h"

/* The names of what was asked for; "lang" and "tool-lang" are what is looked for. */
struct asked {
	char names[4096];
	unsigned n;
};

static bool asked_program(void *ctx, const char *path)
{
	struct asked *a = ctx;
	const char *name = strrchr(path, '/') + 1;
	size_t have = strlen(a->names);

	a->n++;
	snprintf(a->names + have, sizeof(a->names) - have, "%s ", name);
	return !strcmp(name, "lang") || !strcmp(path, "second/shim");
}

#define ELF "\177ELF\2\1\1\0\0\0\0\0"

static void put(const char *name, const void *bytes, size_t n)
{
	tree_put(".", name, bytes, n);
	assert_int_equal(chmod(name, 0755), 0);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* What is asked of a command. */
static const char *asked_of(const char *const argv[])
{
	static struct asked a;

	a = (struct asked){ .n = 0 };
	forecast_command((char *const *)argv, asked_program, &a);
	assert_true(a.n < 400);
	return a.names;
}
#define ASKED(...) asked_of((const char *[]){ __VA_ARGS__, NULL })

static int set_up(void **state)
{
	static char directory[] = "forecast-XXXXXX";
	static const char *const programs[] = { "lang", "tool", "env",  "timeout", "sh",
		                                "make", "nice", "true", "xargs" };
	char name[64];

	assert_non_null(mkdtemp(directory));
	*state = directory;
	assert_int_equal(chdir(directory), 0);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		snprintf(name, sizeof(name), "bin/%s", programs[i]);
		put(name, ELF, sizeof(ELF));
	}
	put_text("first/shim", "#!bin/sh\nexec \"elsewhere/manager\" exec \"$program\" \"$@\"\n");
	put("second/shim", ELF, sizeof(ELF));
	setenv("PATH", "first:second:bin", 1);
	return 0;
}

static void test_command(void **state)
{
	assert_string_equal(ASKED("true"), "true ");
	assert_string_equal(ASKED("lang", "x"), "lang ");
	assert_string_equal(ASKED("bin/lang", "x"), "lang ");
	assert_string_equal(ASKED("nothing", "lang"), "");
	/* Words of a program are its own business, if it is not known to run them. */
	assert_string_equal(ASKED("tool", "lang"), "tool ");
	assert_string_equal(ASKED("env", "A=b", "-i", "lang", "x"), "env lang ");
	assert_string_equal(ASKED("timeout", "-s", "KILL", "5", "nice", "-n", "3", "lang", "x"),
	                    "timeout lang ");
	assert_string_equal(ASKED("env", "tool", "lang"), "env tool lang ");
	assert_string_equal(ASKED("env", "true"), "env true ");
}

static void test_shell(void **state)
{
	assert_string_equal(ASKED("sh", "-c", "true; A=1 lang x | tool"), "sh true lang tool ");
	assert_string_equal(ASKED("sh", "-o", "pipefail", "-c", "lang x"), "sh lang ");
	assert_string_equal(ASKED("sh", "-ec", "if tool; then lang x; fi"), "sh tool lang ");
	assert_string_equal(ASKED("sh", "-c", "sh -c 'lang x'"), "sh sh lang ");
	assert_string_equal(ASKED("sh", "-c", "tool 'lang x' \"; lang\" # ; lang"), "sh tool ");
	assert_string_equal(ASKED("sh", "-c", "(cd x && \\\n  'lang' x)"), "sh lang ");
	assert_string_equal(ASKED("sh", "-c", "X=$(lang x)"), "sh lang ");
	assert_string_equal(ASKED("sh", "-c", "LANG_OF=lang; $LANG_OF x"), "sh lang ");
	put_text("text", "true\nlang x\n");
	assert_string_equal(ASKED("sh", "text"), "sh true lang ");
	assert_string_equal(ASKED("sh", "bin/tool"), "sh ");
	put_text("wrap", "#!bin/sh\n\"$@\"\n");
	assert_string_equal(ASKED("./wrap", "lang", "x"), "wrap sh lang ");
	put_text("plain", "lang x\n");
	assert_string_equal(ASKED("./plain"), "plain sh lang ");
}

static void test_script(void **state)
{
	put_text("a", "#! bin/lang -x\n");
	assert_string_equal(ASKED("./a"), "a lang ");
	put_text("b", "#!bin/env lang\n");
	assert_string_equal(ASKED("./b"), "b lang ");
	put_text("c", "#!bin/env -S A=b lang -u\n");
	assert_string_equal(ASKED("./c", "x"), "c lang ");
	put_text("d", "#!./a\n");
	assert_string_equal(ASKED("./d"), "d a lang ");
	assert_string_equal(ASKED("sh", "-c", "./d"), "sh d a lang ");
	/* What stands for a program of that name. */
	assert_string_equal(ASKED("shim", "x"), "shim sh shim ");
	put_text("loop", "#!./loop\n");
	assert_true(strlen(ASKED("./loop")) < 100);
	put_text("empty", "#!\n");
	assert_string_equal(ASKED("./empty"), "empty ");
}

static void test_make(void **state)
{
	put_text("Makefile", "TOOL ?= tool\nLANG = lang -u\nall: text\n\t@true\n\t-$(LANG) x\n");
	assert_string_equal(ASKED("make", "all"), "make tool lang true ");
	put_text("sub/makefile", "all:\n\t@lang x\n");
	assert_string_equal(ASKED("make", "-C", "sub"), "make lang ");
	put_text("other.mk", "LANG:=lang\n");
	assert_string_equal(ASKED("make", "-C", "bin", "-f", "other.mk"), "make lang ");
}

/* Who writes into a fifo waits for its reader, which is the command: nobody else opens it. */
static void test_fifo(void **state)
{
	char event[sizeof(struct inotify_event) + 256];
	int watch = inotify_init1(IN_NONBLOCK);

	assert_true(watch >= 0);
	assert_int_equal(mkfifo("fifo", 0755), 0);
	assert_true(inotify_add_watch(watch, "fifo", IN_OPEN) >= 0);
	assert_string_equal(ASKED("sh", "fifo", "lang"), "sh lang ");
	assert_string_equal(ASKED("./fifo"), "");
	assert_string_equal(ASKED("make", "-C", "bin", "-f", "fifo"), "make ");
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	close(watch);
}

/* However long, deep or broken a text is, it ends. */
static void test_hostile(void **state)
{
	static const char *const texts[] = { "'", "\"\\",       "\\",         "a\\\n", "#",
		                             "`", "((((",       "= = =",      "?:+=",  "-",
		                             "@", "\"a\" ''\\", "\n\n\\\n#\n" };
	static char large[300000];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[64];
		struct forecast_words w = { .at = text };
		unsigned n = 0;

		snprintf(text, sizeof(text), "%s", texts[i]);
		while (forecast_words_next(&w))
			assert_true(n++ < sizeof(text));
		ASKED("sh", "-c", texts[i]);
	}
	for (size_t i = 0; i + 6 < sizeof(large); i += 6)
		memcpy(large + i, "true;\n", 6);
	ASKED("sh", "-c", large);
	for (size_t i = 0; i + 5 < sizeof(large); i += 5)
		memcpy(large + i, "lang ", 5);
	ASKED("sh", "-c", large);
	put_text("self", "sh self; sh self; sh self; ./self; ./self\n");
	ASKED("sh", "-c", "sh self");
}

static int tear_down(void **state)
{
	char command[128];

	assert_int_equal(chdir(".."), 0);
	setenv("PATH", "/bin:/usr/bin", 1);
	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	return system(command);
}

/* What chroot runs is looked for in its directory, by links as they lead there. */
static void test_chroot(void **state)
{
	(void)state;
	put("bin/chroot", ELF, sizeof(ELF));
	put("other/bin/real", ELF, sizeof(ELF));
	put("other/opt/lang", ELF, sizeof(ELF));
	assert_int_equal(symlink("/opt/lang", "other/bin/language"), 0);
	assert_int_equal(symlink("/bin/real", "other/bin/lang"), 0);
	put_text("other/bin/script", "#!/bin/language\n");
	assert_string_equal(ASKED("chroot", "other", "language", "x"), "chroot lang ");
	assert_string_equal(ASKED("chroot", "--userspec=a", "other", "/bin/language"),
	                    "chroot lang ");
	assert_string_equal(ASKED("chroot", "other", "lang"), "chroot real ");
	assert_string_equal(ASKED("chroot", "other", "script"), "chroot script lang ");
	assert_string_equal(ASKED("chroot", "other", "../../../opt/lang"), "chroot lang ");
	assert_string_equal(ASKED("chroot", "nowhere", "lang"), "chroot ");
	assert_string_equal(ASKED("chroot", "other"), "chroot ");
	assert_string_equal(ASKED("chroot"), "chroot ");
	/* It is the root of that command alone. */
	assert_non_null(strstr(ASKED("sh", "-c", "chroot other lang; lang"), "lang "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command), cmocka_unit_test(test_shell),
		cmocka_unit_test(test_script),  cmocka_unit_test(test_make),
		cmocka_unit_test(test_fifo),    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_chroot),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
