// SPDX-License-Identifier: MIT
// agent_metrics.c: what an agent says of itself, and to whom.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "agent/metrics.h"

#define SECOND 1000000000ull

static void secrets_are_left_out_and_texts_escaped(void **state)
{
	const struct metrics_values v = {
		.version = "seam 1",
		.samples = 7,
		.cpu_ns = 1500000000,
		.stores = { { .url = "clickhouse:https://me:pa%40ss@db:8443/?token=x",
		              .windows = 3 },
		            { .url = "sqlite:a\"b\\c\nd", .lost = 2 } },
		.n_stores = 2,
	};
	struct buf out = { 0 };
	const char *text;

	metrics_text(&v, &out);
	text = buf_text(&out);
	assert_non_null(strstr(text, "seam_agent_samples_total 7\n"));
	assert_non_null(strstr(text, "seam_agent_cpu_seconds_total 1.500000000\n"));
	assert_null(strstr(text, "pa%40ss"));
	assert_null(strstr(text, "token"));
	assert_non_null(strstr(text, "windows_total{store=\"clickhouse:https://db:8443/\"} 3\n"));
	assert_non_null(strstr(text, "lost_windows_total{store=\"sqlite:a\\\"b\\\\c\\nd\"} 2\n"));
	buf_free(&out);
}

static void it_is_well_while_windows_come_and_are_taken(void **state)
{
	struct metrics_values v = { .window_ns = 10 * SECOND, .n_stores = 1 };
	struct buf out = { 0 };

	v.stores[0].url = "sqlite:x";
	assert_true(metrics_health(&v, 1000 * SECOND, &out)); /* no window yet */
	v.last_ns = 1000 * SECOND;
	assert_true(metrics_health(&v, 1029 * SECOND, &out));
	assert_false(metrics_health(&v, 1030 * SECOND, &out));
	/* A clock that was set back. */
	assert_true(metrics_health(&v, 900 * SECOND, &out));
	v.stores[0].failing = true;
	buf_clear(&out);
	assert_false(metrics_health(&v, 1000 * SECOND, &out));
	assert_string_equal(buf_text(&out), "sqlite:x cannot be written\n");
	buf_free(&out);
}

static void only_the_loopback_is_listened_at(void **state)
{
	static const char *const wrong[] = { "",           "x",           "0.0.0.0:9464",
		                             "70000",      "10.0.0.1:80", "[::]:80",
		                             "127.0.0.1:", "host:80",     "127.0.0.1:8x" };
	struct metrics *m;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int r = metrics_open(&m, wrong[i], NULL);

		if (r == -ENOSYS)
			skip();
		assert_int_equal(r, -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_left_out_and_texts_escaped),
		cmocka_unit_test(it_is_well_while_windows_come_and_are_taken),
		cmocka_unit_test(only_the_loopback_is_listened_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
