// SPDX-License-Identifier: MIT
// stitch_waiting.c: the lists of waiting.h hold together, whichever entry goes first: those of a
// task, those of a cookie, those with a deadline, and the samples in each.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stitch/waiting.h"

#define N 4u

static struct waiting_entry *open_entry(struct waiting *w, uint64_t cookie, uint32_t pid,
                                        uint32_t tid)
{
	const struct rules_who who = { .when = 1, .pid = pid, .tid = tid };
	struct waiting_entry *e = NULL;

	assert_int_equal(waiting_open(w, cookie, &who, &e), 0);
	return e;
}

/* Both directions of a task's list show the same entries. */
static void check_task(const struct waiting_task *task, unsigned n)
{
	const struct waiting_entry *before = NULL;

	for (const struct waiting_entry *e = task->entries; e; before = e, e = e->next) {
		assert_ptr_equal(e->previous, before);
		assert_true(n-- > 0);
	}
	assert_int_equal(n, 0);
}

/* Entries of one task, each under its cookie, are closed in every order of four. */
static void test_of_a_task(void **state)
{
	(void)state;
	for (unsigned order = 0; order < N * N * N; order++) {
		unsigned pick[N - 1] = { order % N, order / N % N, order / N / N };
		struct waiting_entry *e[N];
		struct waiting_task *task;
		struct waiting w;
		unsigned left = N;

		waiting_start(&w);
		for (unsigned i = 0; i < N; i++)
			e[i] = open_entry(&w, 100 + i, 7, 8);
		task = waiting_task(&w, 8, false);
		assert_non_null(task);
		check_task(task, N);
		for (unsigned i = 0; i < N - 1; i++) {
			if (!e[pick[i]])
				continue;
			task->current = e[pick[i]];
			waiting_close(&w, e[pick[i]]);
			assert_null(task->current);
			e[pick[i]] = NULL;
			assert_null(waiting_entry(&w, 100 + pick[i]));
			check_task(task, --left);
		}
		for (unsigned i = 0; i < N; i++)
			if (e[i])
				waiting_close(&w, e[i]);
		/* Nobody refers to them any more. */
		assert_null(waiting_task(&w, 8, false));
		assert_null(waiting_process(&w, 7, false));
		assert_int_equal(waiting_bytes(&w), 0);
		waiting_free(&w);
	}
}

/* How many entries of a cookie are found, each once. */
static unsigned of_cookie(const struct waiting *w, uint64_t cookie)
{
	unsigned n = 0;

	for (const struct waiting_entry *e = waiting_entry(w, cookie); e; e = e->same, n++)
		assert_int_equal(e->cookie, cookie);
	return n;
}

/* Tasks under one cookie: at most eight, which is as many as a wrapped counter can give. */
static void test_of_a_cookie(void **state)
{
	const struct rules_who more = { .when = 1, .pid = 50, .tid = 50 };
	struct waiting_entry *e[8], *none;
	struct waiting w;

	(void)state;
	for (unsigned first = 0; first < 8; first++) {
		waiting_start(&w);
		for (uint32_t i = 0; i < 8; i++) {
			e[i] = open_entry(&w, 5, 10 + i, 20 + i);
			assert_ptr_equal(open_entry(&w, 5, 10 + i, 20 + i), e[i]);
		}
		assert_int_equal(waiting_open(&w, 5, &more, &none), -EOVERFLOW);
		assert_null(waiting_task(&w, 50, false));
		assert_null(waiting_process(&w, 50, false));
		assert_int_equal(of_cookie(&w, 5), 8);
		for (unsigned i = 0; i < 8; i++) {
			waiting_close(&w, e[(first * 3 + i * 5) % 8]);
			assert_int_equal(of_cookie(&w, 5), 7 - i);
		}
		assert_int_equal(waiting_bytes(&w), 0);
		waiting_free(&w);
	}
}

/* Samples leave as they came; the first that no sign has passed is always known. */
static void test_samples(void **state)
{
	struct hold *h[3];
	struct waiting_entry *e;
	struct waiting w;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_non_null(h[i] = calloc(1, sizeof(*h[i])));
	waiting_start(&w);
	e = open_entry(&w, 5, 7, 8);
	waiting_add(e, h[0]);
	waiting_add(e, h[1]);
	assert_ptr_equal(e->unpassed, h[0]);
	assert_ptr_equal(waiting_take(e), h[0]);
	assert_null(h[0]->entry);
	assert_ptr_equal(e->unpassed, h[1]);
	e->task->current = e;
	waiting_pass(&w, e->task, 1000);
	assert_true(h[1]->passed);
	assert_null(e->unpassed);
	assert_null(e->task->current);
	assert_int_equal(e->deadline, 1000 + DEFERRED_GRACE_NS);
	waiting_add(e, h[2]);
	assert_ptr_equal(e->unpassed, h[2]);
	assert_ptr_equal(waiting_take(e), h[1]);
	assert_ptr_equal(e->unpassed, h[2]);
	assert_ptr_equal(waiting_take(e), h[2]);
	assert_null(waiting_take(e));
	assert_null(e->last);
	waiting_close(&w, e);
	waiting_free(&w);
	for (size_t i = 0; i < 3; i++)
		free(h[i]);
}

/* Entries with a deadline stand in order of it, whichever goes. */
static void test_deadlines(void **state)
{
	struct waiting_entry *e[3];
	struct waiting w;

	(void)state;
	for (unsigned gone = 0; gone < 3; gone++) {
		const struct waiting_entry *before = NULL;
		uint64_t last = 0;
		unsigned n = 0;

		waiting_start(&w);
		for (uint32_t i = 0; i < 3; i++) {
			e[i] = open_entry(&w, i, 7, 8 + i);
			waiting_limit(&w, e[i], 100 * (i + 1));
			waiting_limit(&w, e[i], 9000); /* the first one holds */
		}
		waiting_unlimit(&w, e[gone]);
		assert_int_equal(e[gone]->deadline, 0);
		for (const struct waiting_entry *at = w.limit_first; at; at = at->limit_next) {
			assert_ptr_equal(at->limit_previous, before);
			assert_true(at->deadline > last);
			last = at->deadline;
			before = at;
			n++;
		}
		assert_int_equal(n, 2);
		assert_ptr_equal(w.limit_last, before);
		for (unsigned i = 0; i < 3; i++)
			waiting_close(&w, e[i]);
		assert_null(w.limit_first);
		assert_null(w.limit_last);
		waiting_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_task),
		cmocka_unit_test(test_of_a_cookie),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
