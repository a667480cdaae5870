// SPDX-License-Identifier: MIT
// abi_event_unit.c: which events count time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "abi/event_unit.h"

static bool is_time(uint32_t type, uint64_t config, const char *name)
{
	struct seam_event e = { .attr = { .type = type, .config = config }, .name = name };

	return event_unit_is_time(&e);
}

static void test_by_what_it_is(void **state)
{
	assert_true(is_time(SEAM_TYPE_SOFTWARE, 0, "cpu-clock:u"));
	assert_true(is_time(SEAM_TYPE_SOFTWARE, 1, "task-clock"));
	/* A name that a user gave tells nothing. */
	assert_true(is_time(SEAM_TYPE_SOFTWARE, 0, "mine"));
	assert_false(is_time(SEAM_TYPE_HARDWARE, 0, "cpu-clock"));
	assert_false(is_time(SEAM_TYPE_RAW, 0, "task-clock"));
	assert_false(is_time(SEAM_TYPE_SOFTWARE, 2, "page-faults"));
	assert_false(is_time(SEAM_TYPE_SOFTWARE, 3, "context-switches"));
}

static void test_off_the_cpu(void **state)
{
	assert_true(is_time(SEAM_TYPE_SOFTWARE, 10, "offcpu-time")); /* perf's */
	assert_true(is_time(SEAM_TYPE_SOFTWARE, 9, "offcpu-runqueue"));
	assert_false(is_time(SEAM_TYPE_SOFTWARE, 10, "bpf-output"));
	assert_false(is_time(SEAM_TYPE_SOFTWARE, 9, "dummy:u"));
	assert_false(is_time(SEAM_TYPE_SOFTWARE, 9, NULL));
}

static void test_tracepoints(void **state)
{
	assert_true(is_time(SEAM_TYPE_TRACEPOINT, 300, "sched:sched_stat_sleep"));
	assert_true(is_time(SEAM_TYPE_TRACEPOINT, 301, "sched:sched_stat_runtime:u"));
	assert_false(is_time(SEAM_TYPE_TRACEPOINT, 302, "sched:sched_stat_runtime_more"));
	assert_false(is_time(SEAM_TYPE_TRACEPOINT, 303, "sched:sched_switch"));
	assert_false(is_time(SEAM_TYPE_TRACEPOINT, 303, NULL));
}

/* Without a period each sample counts one, whatever the event counts. */
static void test_frequency_without_period(void **state)
{
	struct seam_event e = { .attr = { .type = SEAM_TYPE_SOFTWARE, .flags = SEAM_ATTR_FREQ },
		                .name = "cpu-clock" };

	assert_false(event_unit_is_time(&e));
	e.attr.sample_type = SEAM_SAMPLE_PERIOD;
	assert_true(event_unit_is_time(&e));
}

/* What a thread used of its CPU: all of it, and nothing else. */
static void test_of_the_cpu(void **state)
{
	struct seam_event e = { .attr = { .type = SEAM_TYPE_SOFTWARE, .config = 1 } };

	assert_true(event_unit_is_cpu_time(&e));
	assert_false(event_unit_is_cpu_cycles(&e));
	e.attr.flags = SEAM_ATTR_EXCLUDE_KERNEL;
	assert_false(event_unit_is_cpu_time(&e));
	e.attr = (struct seam_attr){ .type = SEAM_TYPE_HARDWARE, .config = 4ULL << 32 };
	assert_true(event_unit_is_cpu_cycles(&e));
	assert_false(event_unit_is_cpu_time(&e));
	e.attr.config |= 1; /* instructions */
	assert_false(event_unit_is_cpu_cycles(&e));
	e.attr = (struct seam_attr){ .type = SEAM_TYPE_HARDWARE, .flags = SEAM_ATTR_FREQ };
	assert_false(event_unit_is_cpu_cycles(&e));
	e.attr = (struct seam_attr){ .type = SEAM_TYPE_SOFTWARE, .config = 10 };
	e.name = "offcpu-time";
	assert_false(event_unit_is_cpu_time(&e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_what_it_is),
		cmocka_unit_test(test_off_the_cpu),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_frequency_without_period),
		cmocka_unit_test(test_of_the_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
