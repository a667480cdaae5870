// SPDX-License-Identifier: MIT
// capture_pace.c: how often the follower of mappings wakes up beside processes that start, by a
// clock of its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/pace.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

// Wakes in a second in which a process starts each so many ns, and the longest time from a start
// to a reading.
static unsigned wakes(uint64_t period_ns, uint64_t exec_ns, uint64_t *late_ns)
{
	uint64_t now = 0, exec = exec_ns;
	struct pace p;
	unsigned n = 0;

	pace_start(&p, period_ns);
	*late_ns = 0;
	for (; now < SECOND; n++) {
		uint64_t until = now + p.wait_ns;
		bool news = exec <= until;

		if (news) {
			now = exec > now ? exec : now;
			if (pace_gathers(&p)) {
				now += p.soon_ns;
				n++;
			}
			if (now - exec > *late_ns)
				*late_ns = now - exec;
			while (exec <= now)
				exec += exec_ns;
		} else {
			now = until;
		}
		pace_next(&p, news);
	}
	return n;
}

// A storm costs two wakes for each reading, at most, and a reading a 16th of the period; at an
// agent's rates as long as it is, and no more than 50 ms.
static void rare_samples_gather(void **state)
{
	uint64_t late;

	(void)state;
	assert_in_range(wakes(SECOND / 99, 4 * MS, &late), 1, 1200);
	assert_in_range(late, 1, SECOND / 99 / 16);
	assert_in_range(wakes(SECOND / 50, 4 * MS, &late), 1, 100);
	assert_in_range(late, 1, 20 * MS);
	assert_in_range(wakes(SECOND / 19, 4 * MS, &late), 1, 40);
	assert_in_range(late, 1, 50 * MS);
	assert_in_range(wakes(SECOND / 19, MS / 10, &late), 1, 42);
	assert_in_range(wakes(SECOND / 19, 50 * MS, &late), 1, 40);
	assert_in_range(wakes(SECOND, 4 * MS, &late), 1, 40);
	assert_in_range(late, 1, 50 * MS);
}

// From 1,250 Hz on, and where nothing is known, it is at once.
static void frequent_samples_do_not_wait(void **state)
{
	const uint64_t periods[] = { 0, SECOND / 20000, SECOND / 4000, SECOND / 1250 };
	uint64_t late;

	(void)state;
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		wakes(periods[i], 4 * MS, &late);
		assert_int_equal(late, 0);
	}
}

static void idle_is_some_a_second(void **state)
{
	uint64_t late;

	(void)state;
	assert_in_range(wakes(SECOND / 19, 2 * SECOND, &late), 2, 6);
	assert_in_range(wakes(0, 2 * SECOND, &late), 10, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare_samples_gather),
		cmocka_unit_test(frequent_samples_do_not_wait),
		cmocka_unit_test(idle_is_some_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
