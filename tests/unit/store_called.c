// SPDX-License-Identifier: MIT
/*
 * store_called.c: unit tests of what functions of an SQLite store's roll-up are called, of more
 * functions than a block has: each hour's are what was put, whichever were met before, let go and
 * met again, and whatever their names share.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "rnd.h"

#define S 1000000000ULL
#define HOUR (3600 * S)
#define FUNCTIONS 11000u
#define HOURS 120u

static struct store *store;
static uint16_t met[HOURS][FUNCTIONS]; /* samples */

/* Of one of few objects; names begin alike, one is empty, and some are in two objects. */
static void function_text(unsigned f, char name[64], char object[64])
{
	snprintf(name, 64, f % 3 ? "std::vector<int>::f%u" : "g\xff%u", f / 2 * 2 / (f % 5 + 1));
	snprintf(object, 64, "/usr/lib/lib%u.so.%u", f % 7, f % 5);
	if (f == 3)
		*name = '\0';
	snprintf(object + strlen(object), 64 - strlen(object), "-%u", f % 2);
}

/* Puts one window: the hour's share of the functions, which goes on slowly, and some from
 * anywhere. */
static void put(unsigned hour, unsigned n)
{
	const uint32_t first = hour * 80;
	struct labels labels = { 0 };
	struct store_window w = { .instance = "one",
		                  .from_ns = hour * HOUR,
		                  .to_ns = hour * HOUR + 10 * S,
		                  .series = &labels,
		                  .n_series = 1 };
	struct profile *p;

	assert_int_equal(profile_new(&p, 0), 0);
	assert_int_equal(profile_set_state(p, 0, &(struct profile_state){ .name = "s" }), 0);
	for (unsigned i = 0; i < n; i++) {
		const uint32_t f = rnd(50) ? (first + rnd(1500)) % FUNCTIONS : rnd(FUNCTIONS);
		struct profile_key key = { .event = profile_event(p, "cycles"),
			                   .task = profile_task(p, profile_string(p, "c"), 0, 0) };
		struct profile_frame frame = { .kind = PROFILE_USER };
		char name[64], object[64];

		function_text(f, name, object);
		frame.symbol = *name ? profile_string(p, name) : 0;
		frame.object = profile_object(p, object, NULL);
		key.node = profile_node(p, PROFILE_ROOT, profile_frame(p, &frame));
		assert_int_equal(profile_add(p, &key, 1, 1), 0);
		met[hour][f]++;
	}
	w.profile = p;
	assert_int_equal(store_put(store, &w, NULL), 1);
	profile_free(p);
}

static void roll_up(unsigned hours)
{
	const struct store_query q = { .to_ns = UINT64_MAX };
	struct store_rolled rolled = { 0 };

	assert_int_equal(store_roll_up(store, &q, UINT64_MAX / 2, 0, &rolled, NULL), 0);
	assert_int_equal(rolled.made, hours);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines of what was put from an hour on; functions of one name and object are one. */
static size_t wanted_lines(unsigned from, unsigned to, char **lines)
{
	size_t n = 0, kept = 0;

	for (unsigned f = 0; f < FUNCTIONS; f++) {
		char name[64], object[64];
		unsigned sum = 0;

		for (unsigned h = from; h < to; h++)
			sum += met[h][f];
		function_text(f, name, object);
		if (sum && asprintf(&lines[n++], "%s %s=%u", object, name, sum) < 0)
			abort();
	}
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++) {
		const char *end = strchr(lines[i], '=');
		const size_t head = (size_t)(end - lines[i]) + 1;
		char *joined;

		if (!kept || strncmp(lines[kept - 1], lines[i], head)) {
			lines[kept++] = lines[i];
			continue;
		}
		if (asprintf(&joined, "%.*s%d", (int)head, lines[i],
		             atoi(end + 1) + atoi(lines[kept - 1] + head)) < 0)
			abort();
		free(lines[kept - 1]);
		free(lines[i]);
		lines[kept - 1] = joined;
	}
	qsort(lines, kept, sizeof(*lines), by_text);
	return kept;
}

/* The roll-up of these hours says what was put in them. */
static void check(unsigned from, unsigned to)
{
	static char *wanted[FUNCTIONS], *got[FUNCTIONS];
	const struct store_query q = { .from_ns = from * HOUR, .to_ns = to * HOUR };
	struct store_functions f = { 0 };
	const size_t n = wanted_lines(from, to, wanted);

	assert_int_equal(store_functions(store, &q, FUNCTIONS, &f, NULL), 0);
	assert_int_equal(f.hours, to - from);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.events[0].n, n);
	for (size_t i = 0; i < n; i++) {
		const struct store_function *x = &f.events[0].functions[i];

		assert_non_null(x->name);
		if (asprintf(&got[i], "%s %s=%llu", x->object, x->name,
		             (unsigned long long)x->self) < 0)
			abort();
	}
	qsort(got, n, sizeof(*got), by_text);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(wanted[i], got[i]);
		free(wanted[i]);
		free(got[i]);
	}
	store_functions_free(&f);
}

/* Hours come and go; one is put again. */
static void names_stay_with_their_hours(void **state)
{
	for (unsigned hour = 0; hour < HOURS; hour++) {
		put(hour, hour ? 1500 : 6000);
		roll_up(1);
		if (hour % 40 == 39)
			check(hour - 39, hour + 1);
	}
	check(0, HOURS);
	for (unsigned from = 10; from < HOURS; from += 10) {
		assert_int_equal(store_forget(store, from * HOUR, 0, NULL), 10);
		check(from, HOURS);
	}
	assert_int_equal(store_forget(store, HOURS * HOUR, 0, NULL), 10);
	memset(met, 0, sizeof(met));
	put(2, 3000);
	roll_up(1);
	check(2, 3);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_stay_with_their_hours),
	};
	int r = store_open(&store, "sqlite::memory:", STORE_WRITE, NULL);

	if (r < 0)
		return r == -ENOSYS ? 77 : 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	store_close(store);
	return r;
}
