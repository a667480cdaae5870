// SPDX-License-Identifier: MIT
// cmd_config.c: the config file: where it is looked for, what it may hold, how faults are told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/config.h"

static char path[64];

static int load(struct config **ret, const char *text, struct seam_error *err)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return config_load(ret, path, err);
}

static void test_values(void **state)
{
	struct config *c;
	bool children = false;

	assert_int_equal(load(&c,
	                      "# comment\n[call-graph]\n\trecord-mode = fp,defer\n; another\n"
	                      "[record]\n\tfreq = 99\n\toutput = x.data\nfreq = max\n"
	                      "[report]\nchildren = Yes",
	                      NULL),
	                 0);
	assert_string_equal(config_get(c, "call-graph.record-mode"), "fp,defer");
	assert_string_equal(config_get(c, "record.freq"), "max"); /* the last one holds */
	assert_string_equal(config_get(c, "record.output"), "x.data");
	assert_null(config_get(c, "record.events"));
	assert_null(config_get(c, "no.such"));
	assert_non_null(strstr(config_where(c, "record.freq"), ":8: record.freq"));
	assert_string_equal(config_where(c, "record.events"), "");
	assert_int_equal(config_bool(c, "report.children", &children, NULL), 0);
	assert_true(children);
	config_free(c);
}

static void test_faults(void **state)
{
	struct seam_error err;
	struct config *c;
	bool b = true;

	assert_int_equal(load(&c, "[record]\nfrek = 1\n", &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2: "));
	assert_non_null(strstr(err.text, "record.frek"));
	assert_int_equal(load(&c, "[record]\nfreq = 1\n\nwhat is this\n", &err), -EINVAL);
	assert_non_null(strstr(err.text, ":4: "));
	assert_int_equal(load(&c, "freq = 1\n", &err), -EINVAL); /* in no section */
	assert_int_equal(load(&c, "[report]\nchildren = maybe\n", &err), 0);
	assert_int_equal(config_bool(c, "report.children", &b, &err), -EINVAL);
	assert_true(b);
	assert_non_null(strstr(err.text, ":2: report.children"));
	config_free(c);
}

static void test_long_line(void **state)
{
	static char text[100000];
	struct seam_error err;
	struct config *c;

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "[record]\nfreq = ", 16);
	assert_int_equal(load(&c, text, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2: "));
}

static void test_places(void **state)
{
	struct seam_error err;
	struct config *c;

	assert_int_equal(config_load(&c, "/nonexistent/config", &err), -ENOENT);
	setenv("SEAM_CONFIG", "/nonexistent/config", 1);
	assert_int_equal(config_load(&c, NULL, &err), -ENOENT);
	setenv("SEAM_CONFIG", "", 1); /* none */
	assert_int_equal(config_load(&c, NULL, &err), 0);
	config_free(c);
	unsetenv("SEAM_CONFIG");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	assert_int_equal(config_load(&c, NULL, &err), 0);
	assert_null(config_get(c, "record.freq"));
	config_free(c);
}

static int make_path(void **state)
{
	int fd;

	strcpy(path, "/tmp/seam-config-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
