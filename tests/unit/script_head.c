// SPDX-License-Identifier: MIT
// script_head.c: what stands in front of a record is the same whatever stood in front of those
// before: a thread takes another name, two share a place among those that are kept, a name is
// longer than any that is kept.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "script/script_head.h"

#define LONG "a name that is longer than a kernel's, and than what is kept of it"

static void learn(struct proc_table *procs, uint32_t pid, uint32_t tid, uint64_t time_ns,
                  const char *name)
{
	struct seam_record record = { .type = SEAM_RECORD_COMM };
	struct seam_decoded d = { .record = &record,
		                  .id = { .has = SEAM_SAMPLE_TIME, .time_ns = time_ns },
		                  .comm = { .pid = pid, .tid = tid, .comm = name } };

	assert_int_equal(proc_learn(procs, &d), 1);
}

struct made {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu;
	const char *padded, *left; /* the text without a stack, with one */
};

static const struct made samples[] = {
	{ 7, 7, 5000, 0, "           first       7/7       [000]     0.000005: ",
	  "first       7/7       [000]     0.000005: " },
	{ 7, 7, 6000, 1, "           first       7/7       [001]     0.000006: ",
	  "first       7/7       [001]     0.000006: " },
	{ 7, 7, 10000, 1, "          second       7/7       [001]     0.000010: ",
	  "second       7/7       [001]     0.000010: " },
	{ 7, 7 + HEADS, 10000, 1, "           other       7/71      [001]     0.000010: ",
	  "other       7/71      [001]     0.000010: " },
	{ 8, 7, 10000, 1, "          second       8/7       [001]     0.000010: ",
	  "second       8/7       [001]     0.000010: " },
	{ 9, 9, 10000, 1000, LONG "       9/9       [1000]     0.000010: ",
	  LONG "       9/9       [1000]     0.000010: " },
	{ 9, 10, 10000, 2, LONG "       9/10      [002]     0.000010: ",
	  LONG "       9/10      [002]     0.000010: " },
	{ 12, 12, 10000, 2, "             :12      12/12      [002]     0.000010: ",
	  ":12      12/12      [002]     0.000010: " },
	{ UINT32_MAX, UINT32_MAX, 10000, 2, "             :-1      -1/-1      [002]     0.000010: ",
	  ":-1      -1/-1      [002]     0.000010: " },
	{ 0, 0, 10000, 2, "         swapper       0/0       [002]     0.000010: ",
	  "swapper       0/0       [002]     0.000010: " },
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static void expect(struct script_head *head, const struct recording *rec, const struct made *s,
                   bool chain)
{
	const struct script_text_opts opts = { .fields = SCRIPT_COMM | SCRIPT_PID | SCRIPT_TID |
		                                         SCRIPT_CPU | SCRIPT_TIME | SCRIPT_IP };
	struct seam_event event = { .attr.sample_type = chain ? SEAM_SAMPLE_CALLCHAIN : 0 };
	const struct sample sample = { .event = &event,
		                       .comm = proc_comm(rec->procs, s->pid, s->tid, s->time_ns),
		                       .id = { .has = SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU,
		                               .pid = s->pid,
		                               .tid = s->tid,
		                               .time_ns = s->time_ns,
		                               .cpu = s->cpu } };
	struct buf out = { 0 };

	script_head(head, &opts, &event, &sample, &out);
	assert_string_equal(buf_text(&out), chain ? s->left : s->padded);
	buf_free(&out);
}

static void heads_do_not_depend_on_the_one_before(void **state)
{
	static struct script_head head;
	struct recording rec = { 0 };

	assert_int_equal(proc_new(&rec.procs, NULL), 0);
	learn(rec.procs, 7, 7, 1000, "first");
	learn(rec.procs, 7, 7, 9000, "second");
	learn(rec.procs, 7, 7 + HEADS, 1000, "other");
	learn(rec.procs, 9, 9, 1000, LONG);
	assert_int_equal(proc_seal(rec.procs), 0);
	for (size_t i = 0; i < SAMPLES; i++) { /* each behind each, and twice */
		for (size_t k = 0; k < SAMPLES; k++) {
			expect(&head, &rec, &samples[i], k % 2);
			expect(&head, &rec, &samples[k], k % 2);
			expect(&head, &rec, &samples[k], k % 2);
			expect(&head, &rec, &samples[k], !(k % 2));
		}
	}
	proc_free(rec.procs);
}

static void expect_event(struct script_head *head, const struct seam_event *event, uint64_t period,
                         const char *text)
{
	struct buf out = { 0 };

	script_head_event(head, event, period, 6, &out);
	assert_string_equal(buf_text(&out), text);
	buf_free(&out);
}

/* Two events that share a place, a name that is longer than what is kept, periods that come and
 * go. */
static void events_do_not_depend_on_the_one_before(void **state)
{
	static struct script_head head;
	const struct seam_event one = { .name = "one" };
	const struct seam_event other = { .name = "other", .index = HEAD_EVENTS };
	const struct seam_event lengthy = { .name = LONG, .index = 1 };

	for (int twice = 0; twice < 2; twice++) {
		expect_event(&head, &one, 4000, "      4000    one: ");
		expect_event(&head, &one, 4000, "      4000    one: ");
		expect_event(&head, &one, 4001, "      4001    one: ");
		expect_event(&head, &other, 4001, "      4001  other: ");
		expect_event(&head, &lengthy, 12345678901, "12345678901 " LONG ": ");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_do_not_depend_on_the_one_before),
		cmocka_unit_test(events_do_not_depend_on_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
