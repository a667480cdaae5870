// SPDX-License-Identifier: MIT
// recorder.c: a recorder from end to end, without the program: options in, records into a sink in
// memory, errors by seam_error, notices by a callback. Needs a kernel that lets this user sample
// its own processes; else exit 77.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/record_at.h"
#include "capture/features.h"
#include "capture/target.h"
#include "recorder/recorder.h"

#define WAIT_MS 50
#define ROUNDS_MAX 2000 /* of WAIT_MS: a test that hangs ends */

struct taken {
	const struct seam_events *events;
	unsigned of[128]; /* records by type */
	unsigned in_exec; /* COMMs of an exec */
	unsigned with_callchain, flushed, notices;
	int fail; /* what write returns */
};

static int take(void *ctx, const void *bytes, size_t n)
{
	struct taken *t = ctx;
	const unsigned char *at = bytes;
	struct seam_record r;

	if (t->fail)
		return t->fail;
	for (; record_at(at, n, &r); at += r.size, n -= r.size) {
		struct seam_decoded d = { .sz = sizeof(d) };

		t->of[r.type < 128 ? r.type : 0]++;
		if (seam_record_decode(t->events, &r, &d, NULL) < 0)
			continue;
		t->in_exec += r.type == SEAM_RECORD_COMM && d.comm.exec;
		t->with_callchain += r.type == SEAM_RECORD_SAMPLE && d.sample.callchain.n;
	}
	assert_int_equal(n, 0);
	return 0;
}

static int flushed(void *ctx)
{
	struct taken *t = ctx;

	t->flushed++;
	return 0;
}

static void notice(void *ctx, int level, const char *text)
{
	struct taken *t = ctx;

	(void)level;
	assert_true(*text);
	t->notices++;
}

static struct event_list events;
static struct taken taken;

/* A command, sampled by a clock: the frame pointers' way, which needs no more than the events. */
static struct recorder_opts opts(char **command)
{
	struct recorder_opts o = { .sz = sizeof(o),
		                   .session = { .sz = sizeof(o.session),
		                                .target = SESSION_TASKS,
		                                .callchain = SESSION_CALLCHAIN_FP,
		                                .frequency = 999,
		                                .log = { .line = notice, .ctx = &taken } },
		                   .events = &events,
		                   .command = command };

	event_list_free(&events);
	events = (struct event_list){ 0 };
	taken = (struct taken){ 0 };
	assert_int_equal(event_list_parse(&events, "cpu-clock:u", NULL, NULL), 0);
	o.session.events = &events;
	return o;
}

static const struct recorder_sink sink = { .write = take, .flush = flushed, .ctx = &taken };

static struct recorder *begin(const struct recorder_opts *o)
{
	struct seam_error err = { 0 };
	struct recorder *r;

	assert_int_equal(recorder_new(&r, o, &err), 0);
	assert_int_equal(recorder_open(r, &err), 0);
	taken.events = recorder_events(r);
	assert_int_equal(recorder_begin(r, &sink, &err), 0);
	return r;
}

static void read_until_it_ends(struct recorder *r)
{
	unsigned rounds = 0;

	while (!recorder_ended(r) && rounds++ < ROUNDS_MAX) {
		recorder_wait(r, WAIT_MS);
		assert_int_equal(recorder_read(r), 0);
	}
	assert_true(rounds < ROUNDS_MAX);
	assert_int_equal(recorder_stop(r, recorder_until_ns(r)), 0);
}

static char sh[] = "sh", minus_c[] = "-c",
            script[] = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; exit 7";
static char *busy[] = { sh, minus_c, script, NULL };

static void a_command_is_recorded(void **state)
{
	struct recorder_opts o = opts(busy);
	struct recorder *r = begin(&o);
	uint64_t ns = 0;

	assert_int_equal(taken.of[SEAM_RECORD_SAMPLE], 0);
	assert_int_equal(taken.of[SEAM_RECORD_FINISHED_INIT], 1);
	assert_true(taken.flushed > 0);
	recorder_found(r, &ns);
	assert_true(ns > 0);
	assert_int_equal(recorder_start(r, NULL), 0);
	assert_int_equal(recorder_run_command(r, NULL), 0);
	read_until_it_ends(r);
	assert_true(taken.of[SEAM_RECORD_SAMPLE] > 0);
	assert_int_equal(taken.with_callchain, taken.of[SEAM_RECORD_SAMPLE]);
	assert_true(taken.in_exec > 0 && taken.of[SEAM_RECORD_MMAP2] > 0);
	assert_true(taken.of[SEAM_RECORD_EXIT] > 0);
	assert_int_equal(target_exit_code(recorder_command(r)), 7);
	assert_null(recorder_live(r));
	assert_null(recorder_bpf(r)->kwalk);
	recorder_free(r);
}

/* The sink gets ordinary samples: who reads them needs not know how their stacks were taken. */
static void copies_become_callchains(void **state)
{
	struct recorder_opts o = opts(busy);
	struct recorder *r;
	struct live_counts c;

	o.session.callchain = SESSION_CALLCHAIN_DWARF;
	o.session.unwinds = true;
	r = begin(&o);
	if (!recorder_live(r)) {
		recorder_free(r);
		skip(); /* no registers of this machine are known */
	}
	assert_false(seam_events_at(taken.events, 0)->attr.sample_type & SEAM_SAMPLE_STACK_USER);
	assert_int_equal(recorder_start(r, NULL), 0);
	assert_int_equal(recorder_run_command(r, NULL), 0);
	read_until_it_ends(r);
	live_count(recorder_live(r), &c);
	assert_true(taken.of[SEAM_RECORD_SAMPLE] > 0);
	assert_int_equal(taken.of[SEAM_RECORD_SAMPLE], c.samples);
	assert_true(taken.with_callchain > 0);
	recorder_free(r);
}

static void copies_stay_when_they_are_to_be_kept(void **state)
{
	struct recorder_opts o = opts(busy);
	struct recorder *r;

	o.session.callchain = SESSION_CALLCHAIN_DWARF;
	o.keep_stacks = true;
	r = begin(&o);
	assert_null(recorder_live(r));
	assert_true(seam_events_at(taken.events, 0)->attr.sample_type & SEAM_SAMPLE_STACK_USER);
	recorder_free(r);
}

static void a_command_that_is_not_let_go_runs_nothing(void **state)
{
	char path[] = "/tmp/seam-recorder-XXXXXX", rm[] = "rm", *deletes[] = { rm, path, NULL };
	struct recorder_opts o = opts(deletes);
	int fd = mkstemp(path);
	struct recorder *r;

	assert_true(fd >= 0);
	close(fd);
	r = begin(&o);
	recorder_halt(r);
	recorder_free(r);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
}

static void a_command_that_is_not_there_is_an_error(void **state)
{
	char program[] = "/nonexistent/program", *absent[] = { program, NULL };
	struct recorder_opts o = opts(absent);
	struct recorder *r = begin(&o);
	struct seam_error err = { 0 };

	assert_int_equal(recorder_run_command(r, &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/program: No such file or directory");
	recorder_free(r);
}

/* Sampling waits, and what a program does meanwhile is still told of. */
static void a_delayed_recording_begins_when_it_is_resumed(void **state)
{
	struct recorder_opts o = opts(busy);
	struct recorder *r;

	o.delayed = true;
	r = begin(&o);
	assert_int_equal(recorder_start(r, NULL), 0);
	assert_int_equal(recorder_run_command(r, NULL), 0);
	read_until_it_ends(r);
	assert_int_equal(taken.of[SEAM_RECORD_SAMPLE], 0);
	assert_true(taken.in_exec > 0);
	recorder_free(r);
	o = opts(busy);
	o.delayed = true;
	r = begin(&o);
	assert_int_equal(recorder_start(r, NULL), 0);
	assert_int_equal(recorder_resume(r, NULL), 0);
	assert_int_equal(recorder_run_command(r, NULL), 0);
	read_until_it_ends(r);
	assert_true(taken.of[SEAM_RECORD_SAMPLE] > 0);
	recorder_free(r);
}

static void a_sink_that_fails_ends_it(void **state)
{
	struct recorder_opts o = opts(busy);
	struct seam_error err = { 0 };
	struct recorder *r;

	assert_int_equal(recorder_new(&r, &o, &err), 0);
	assert_int_equal(recorder_open(r, &err), 0);
	taken.events = recorder_events(r);
	taken.fail = -ENOSPC;
	assert_int_equal(recorder_begin(r, &sink, &err), -ENOSPC);
	assert_int_equal(err.code, 0); /* the sink knows why */
	recorder_halt(r);
	recorder_free(r);
}

/* A running process: this one. Its mappings are told of before sampling begins, and again when the
 * sink asks. */
static void what_runs_already_is_told_of(void **state)
{
	struct recorder_opts o = opts(NULL);
	const pid_t self = getpid();
	struct recorder *r;
	unsigned mappings;

	o.session.target = SESSION_PIDS;
	o.session.pids = &self;
	o.session.n_pids = 1;
	r = begin(&o);
	mappings = taken.of[SEAM_RECORD_MMAP2] + taken.of[SEAM_RECORD_MMAP];
	assert_true(mappings > 3 && taken.of[SEAM_RECORD_COMM] > 0);
	assert_int_equal(recorder_synthesize(r), 0);
	assert_true(taken.of[SEAM_RECORD_MMAP2] + taken.of[SEAM_RECORD_MMAP] >= 2 * mappings - 2);
	assert_false(recorder_ended(r));
	assert_int_equal(recorder_stop(r, recorder_until_ns(r)), 0);
	recorder_free(r);
}

/* The end has one time, from the word to stop on, wherever the recorder is then. */
static void an_end_begins_with_the_word(void **state)
{
	struct recorder_opts o = opts(busy);
	struct recorder *r = begin(&o);
	struct seam_error err = { 0 };
	uint64_t end_ns;

	recorder_ends_in(r, 3600000);
	assert_int_equal(recorder_start(r, &err), 0);
	assert_int_equal(recorder_run_command(r, &err), 0);
	recorder_wait(r, WAIT_MS);
	recorder_ends(r);
	end_ns = recorder_until_ns(r);
	recorder_ends_in(r, 3600000);
	recorder_wait(r, 1);
	recorder_ends(r);
	assert_true(end_ns == recorder_until_ns(r));
	while (!recorder_ended(r))
		recorder_wait(r, WAIT_MS);
	assert_int_equal(recorder_stop(r, end_ns), 0);
	recorder_free(r);
}

static void who_is_not_there_is_an_error(void **state)
{
	struct recorder_opts o = opts(NULL);
	const pid_t nobody = 0x3ffffffe;
	struct seam_error err = { 0 };
	struct recorder *r;

	o.session.target = SESSION_PIDS;
	o.session.pids = &nobody;
	o.session.n_pids = 1;
	assert_int_equal(recorder_new(&r, &o, &err), 0);
	assert_int_equal(recorder_open(r, &err), -ESRCH);
	assert_true(err.text[0]);
	recorder_free(r);
}

/* A way of taking stacks that is not open is a notice, and the next one is taken. */
static void a_step_down_is_a_notice(void **state)
{
	struct recorder_opts o = opts(busy);
	struct recorder *r;

	o.session.callchain = SESSION_CALLCHAIN_AUTO;
	o.session.no_sample_time = true; /* which BPF programs cannot leave out */
	o.session.unwinds = true;
	r = begin(&o);
	assert_true(taken.notices > 0);
	assert_string_equal(recorder_bpf(r)->reason, "samples without times were asked for");
	recorder_free(r);
}

static void what_needs_bpf_fails_without(void **state)
{
	struct recorder_opts o = opts(busy);
	struct seam_error err = { 0 };
	struct recorder *r;

	o.session.callchain = SESSION_CALLCHAIN_AUTO;
	o.session.no_sample_time = true;
	o.needs_bpf = "--uid";
	assert_int_equal(recorder_new(&r, &o, &err), 0);
	assert_int_equal(recorder_open(r, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "--uid: BPF programs cannot be used: samples without times "
	                              "were asked for");
	recorder_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_recorded),
		cmocka_unit_test(copies_become_callchains),
		cmocka_unit_test(copies_stay_when_they_are_to_be_kept),
		cmocka_unit_test(a_command_that_is_not_let_go_runs_nothing),
		cmocka_unit_test(a_command_that_is_not_there_is_an_error),
		cmocka_unit_test(a_delayed_recording_begins_when_it_is_resumed),
		cmocka_unit_test(a_sink_that_fails_ends_it),
		cmocka_unit_test(what_runs_already_is_told_of),
		cmocka_unit_test(an_end_begins_with_the_word),
		cmocka_unit_test(who_is_not_there_is_an_error),
		cmocka_unit_test(a_step_down_is_a_notice),
		cmocka_unit_test(what_needs_bpf_fails_without),
	};
	struct features features;
	int r;

	features_init(&features, NULL);
	if (!features_can_record(&features)) {
		printf("this user may not sample: %s\n",
		       features_get(&features, FEATURE_SOFTWARE_CLOCK)->reason);
		return 77;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	event_list_free(&events);
	return r;
}
