// SPDX-License-Identifier: MIT
// dwarf_source_file.c: which source files may be shown: what a name that somebody chose leads to,
// by every way out of the directory of a program.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/source_file.h"

static char top[PATH_MAX], here[PATH_MAX];

static const char *at(const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	FILE *f = fopen(at(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(at(name), mode), 0);
}

/* What is read by a name: "text", "-" where nothing is there, or the reason. */
static const char *shows(const char *dirs, const char *name, const char *program)
{
	static char text[PATH_MAX];
	struct source_dirs allowed = { dirs };
	struct source_file file;
	int r = source_file_read(&allowed, name, program, &file);

	snprintf(text, sizeof(text), "%s",
	         r >= 0         ? file.bytes ? "text" : "nothing"
	         : r == -ENOENT ? "-"
	         : file.reason  ? file.reason
	                        : strerror(-r));
	assert_true(r >= 0 || !file.bytes);
	free(file.bytes);
	return text;
}

#define SHOWN(dirs, name, program) assert_string_equal(shows(dirs, name, program), "text")
#define REFUSED(dirs, name, program, why) assert_non_null(strstr(shows(dirs, name, program), why))

static int make(void **state)
{
	static const char *const dirs[] = { "app", "app/bin", "app/src", "other", "other/.git",
		                            "all", "all/in",  "tree",    "tree/c" };

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(top, sizeof(top), "%s/source_file.XXXXXX",
	         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(top));
	/* A home: what is in its directories has nothing to do with each other. */
	assert_int_equal(setenv("HOME", top, 1), 0);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		assert_int_equal(mkdir(at(dirs[i]), 0700), 0);
	put("app/bin/prog", "ELF", 0700);
	put("app/src/a.c", "int a;\n", 0600);
	put("app/src/secret", "SECRET\n", 0600);
	put("app/src/nul.c", "int b;\n", 0600);
	assert_int_equal(truncate(at("app/src/nul.c"), 20), 0);
	put("app/src/huge.c", "int b;\n", 0600);
	assert_int_equal(truncate(at("app/src/huge.c"), SOURCE_FILE_MAX + 1), 0);
	put("other/secret.txt", "SECRET\n", 0600);
	put("other/b.c", "int b;\n", 0600);
	put("other/.git/config", "SECRET\n", 0600);
	put("tree/c/c.c", "int c;\n", 0600);
	put("all/d.c", "int d;\n", 0600);
	put("all/prog", "ELF", 0700);
	put("all/in/e.c", "int e;\n", 0600);
	assert_int_equal(chmod(at("all"), 01777), 0);
	assert_int_equal(symlink(at("other/secret.txt"), at("app/src/link.c")), 0);
	assert_int_equal(symlink(at("other/b.c"), at("app/src/away.c")), 0);
	assert_int_equal(symlink(at("app/src/a.c"), at("app/src/home.c")), 0);
	assert_int_equal(symlink(at("other"), at("app/src/dir")), 0);
	assert_int_equal(symlink("loop.c", at("app/src/loop.c")), 0);
	assert_int_equal(mkfifo(at("app/src/fifo.c"), 0600), 0);
	assert_int_equal(chdir(at("other/.git")), 0);
	return 0;
}

static int unmake(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	assert_int_equal(chdir(here), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

static void what_a_program_names(void **state)
{
	char program[PATH_MAX + 64];

	(void)state;
	snprintf(program, sizeof(program), "%s", at("app/bin/prog"));
	SHOWN(NULL, at("app/src/a.c"), program);
	SHOWN(NULL, at("app/bin/../src/./a.c"), program);
	SHOWN(NULL, at("app/src/home.c"), program);
	/* Nobody speaks for it. */
	REFUSED(NULL, at("app/src/a.c"), NULL, "--source-dir DIR");
	/* Another directory, by its name, by links and by "..". */
	REFUSED(NULL, at("other/b.c"), program, "--source-dir DIR");
	REFUSED(NULL, at("app/src/away.c"), program, "--source-dir DIR");
	REFUSED(NULL, at("app/src/dir/b.c"), program, "--source-dir DIR");
	REFUSED(NULL, at("app/src/../../other/b.c"), program, "--source-dir DIR");
	/* What is no source. */
	REFUSED(NULL, at("app/src/secret"), program, "does not end as sources do");
	REFUSED(NULL, at("app/src/link.c"), program, "does not end as sources do");
	REFUSED(NULL, "/etc/passwd", program, "does not end as sources do");
	REFUSED(NULL, "/proc/self/environ", program, "does not end as sources do");
	REFUSED(NULL, at("app/src/fifo.c"), program, "no regular file");
	REFUSED(NULL, at("app/src"), program, "no regular file");
	REFUSED(NULL, "/dev/null", program, "no regular file");
	REFUSED(NULL, "/dev/zero", program, "no regular file");
	REFUSED(NULL, at("app/src/huge.c"), program, "larger than");
	REFUSED(NULL, at("app/src/nul.c"), program, "no text");
	assert_string_equal(shows(NULL, at("app/src/loop.c"), program), "-");
	assert_string_equal(shows(NULL, at("app/src/none.c"), program), "-");
	assert_string_equal(shows(NULL, "", program), "-");
	assert_string_equal(shows(NULL, at("app/src/a.c/b.c"), program), "-");
}

static void what_a_user_allows(void **state)
{
	char dirs[2 * PATH_MAX + 256];

	(void)state;
	snprintf(dirs, sizeof(dirs), ":%s::%s:/nonexistent", at("tree"), at("other"));
	SHOWN(dirs, at("other/b.c"), NULL);
	SHOWN(dirs, at("app/src/away.c"), NULL);
	REFUSED(dirs, at("other/secret.txt"), NULL, "does not end as sources do");
	REFUSED(dirs, at("other/.git/config"), NULL, "does not end as sources do");
	REFUSED(dirs, at("app/src/a.c"), NULL, "--source-dir DIR");
	/* Where it was compiled there is nothing; a part of the path is below the directory. */
	SHOWN(dirs, "/build/pkg-1.0/c/c.c", NULL);
	SHOWN(dirs, "/build/pkg-1.0/b.c", NULL);
	assert_string_equal(shows(dirs, "/build/pkg-1.0/d/c.c", NULL), "-");
	REFUSED(dirs, "/build/../../app/src/a.c", NULL, "--source-dir DIR");
	/* A file by its own name may end in any way. */
	snprintf(dirs, sizeof(dirs), "%s", at("other/secret.txt"));
	SHOWN(dirs, at("other/secret.txt"), NULL);
	SHOWN(dirs, at("app/src/link.c"), NULL);
}

/* A directory where everybody may write speaks for what lies beside the program only. */
static void wide_directories(void **state)
{
	(void)state;
	SHOWN(NULL, at("all/d.c"), at("all/prog"));
	REFUSED(NULL, at("all/in/e.c"), at("all/prog"), "--source-dir DIR");
	put("prog", "ELF", 0700);
	put("f.c", "int f;\n", 0600);
	SHOWN(NULL, at("f.c"), at("prog"));
	REFUSED(NULL, at("f.c"), at("app/bin/prog"), "--source-dir DIR");
	REFUSED(NULL, at("app/src/a.c"), at("prog"), "--source-dir DIR");
}

static void the_current_directory(void **state)
{
	(void)state;
	REFUSED(NULL, at("app/src/a.c"), NULL, "--source-dir DIR");
	assert_int_equal(chdir(at("app")), 0);
	SHOWN(NULL, at("app/src/a.c"), NULL);
	SHOWN(NULL, "src/a.c", NULL);
	REFUSED(NULL, "../other/b.c", NULL, "--source-dir DIR");
	REFUSED(NULL, "src/away.c", NULL, "--source-dir DIR");
	assert_int_equal(chdir(at("all")), 0);
	SHOWN(NULL, at("all/d.c"), NULL);
	REFUSED(NULL, at("all/in/e.c"), NULL, "--source-dir DIR");
	assert_int_equal(chdir("/"), 0);
	REFUSED(NULL, at("app/src/a.c"), NULL, "--source-dir DIR");
}

/* Another's program speaks for his files and for what all can read, not for ours. */
static void owners(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("not root: owners are not tried\n");
		return;
	}
	assert_int_equal(chmod(top, 0755), 0);
	assert_int_equal(chmod(at("app"), 0755), 0);
	assert_int_equal(chmod(at("app/src"), 0755), 0);
	assert_int_equal(chown(at("app/bin/prog"), 4321, 4321), 0);
	assert_int_equal(chown(at("app"), 4321, 4321), 0);
	REFUSED(NULL, at("app/src/a.c"), at("app/bin/prog"), "--source-dir DIR");
	assert_int_equal(chmod(at("app/src/a.c"), 0644), 0);
	SHOWN(NULL, at("app/src/a.c"), at("app/bin/prog"));
	assert_int_equal(chmod(at("app/src"), 0700), 0);
	REFUSED(NULL, at("app/src/a.c"), at("app/bin/prog"), "--source-dir DIR");
	assert_int_equal(chown(at("app/src/a.c"), 4321, 4321), 0);
	SHOWN(NULL, at("app/src/a.c"), at("app/bin/prog"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_program_names, make, unmake),
		cmocka_unit_test_setup_teardown(what_a_user_allows, make, unmake),
		cmocka_unit_test_setup_teardown(the_current_directory, make, unmake),
		cmocka_unit_test_setup_teardown(owners, make, unmake),
		cmocka_unit_test_setup_teardown(wide_directories, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
