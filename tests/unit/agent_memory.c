// SPDX-License-Identifier: MIT
// agent_memory.c: where threads of the agent take their memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent_parts.h"

#define THREADS 4u /* that live at once, beside the first */

struct taken {
	pthread_barrier_t *all;
	pthread_t thread;
	uintptr_t at;
};

/* Lives until all have taken something. */
static void *take(void *arg)
{
	struct taken *t = arg;
	void *memory = malloc(100);

	t->at = (uintptr_t)memory;
	pthread_barrier_wait(t->all);
	free(memory);
	return NULL;
}

/* The first thread's memory is below the break, as long as no other thread has any there. */
static void no_thread_takes_memory_where_the_first_does(void **state)
{
	struct taken threads[THREADS];
	pthread_barrier_t all;

	agent_memory_apart();
	pthread_barrier_init(&all, NULL, THREADS);
	for (unsigned turn = 0; turn < 3; turn++) {
		for (unsigned i = 0; i < THREADS; i++) {
			threads[i] = (struct taken){ .all = &all };
			assert_int_equal(pthread_create(&threads[i].thread, NULL, take,
			                                &threads[i]),
			                 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(threads[i].thread, NULL);
			assert_true(threads[i].at > (uintptr_t)sbrk(0));
		}
	}
	pthread_barrier_destroy(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_thread_takes_memory_where_the_first_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
