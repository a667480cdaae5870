// SPDX-License-Identifier: MIT
// Unit tests of view/: what is shown, as a file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "view_screen.h"

static void a_pane_is_written_to_a_new_file(void **state)
{
	char dir[] = "/tmp/seam-view-XXXXXX", path[64], line[256];
	struct test t;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	start(&t);
	keys(&t, "w");
	row_has(&t, ROWS - 1, "write to: _  (.folded .pb.gz .callgrind .json: samples");
	keys(&t, path);
	row_has(&t, ROWS - 1, "write to: ");
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "written");
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, "Total*"));
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, "[.] main"));
	fclose(f);
	keys(&t, "w");
	keys(&t, path);
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "File exists");
	unlink(path);
	/* What is written while more comes is not all. */
	view_set_state(t.view, "reading 45 %");
	keys(&t, "w");
	keys(&t, path);
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "written, of what had come until then (reading 45 %)");
	unlink(path);
	rmdir(dir);
	end(&t);
}

/* The name of the file says the format; the samples are those that are shown. */
static void shown_samples_are_exported(void **state)
{
	char dir[] = "/tmp/seam-view-XXXXXX", path[64], text[512] = "";
	struct test t;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f.folded", dir);
	start(&t);
	keys(&t, "5\n"); /* of work */
	keys(&t, "/k_copy\nw");
	keys(&t, path);
	keys(&t, "\n");
	row_has(&t, ROWS - 1, "written");
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, "work;main;write_all;k_write;k_copy 30\n");
	unlink(path);
	rmdir(dir);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pane_is_written_to_a_new_file),
		cmocka_unit_test(shown_samples_are_exported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
