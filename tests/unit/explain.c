// SPDX-License-Identifier: MIT
// explain.c: what is said of profiles made up so that the answer is known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "explain/explain.h"

#define MS 1000000ull

/* A profile in the making, of one event that counts time. */
struct made {
	struct report report;
	struct profile *p;
	uint32_t event, object, kernel;
};

static void made_start(struct made *m)
{
	*m = (struct made){ 0 };
	assert_int_equal(profile_new(&m->p, EXPLAIN_KEEPS), 0);
	assert_int_equal(load_states(m->p), 0);
	m->report.load.profile = m->p;
	m->event = profile_event_in(m->p, "cpu-clock", PROFILE_NANOSECONDS);
	m->object = profile_object(m->p, "/usr/bin/app", NULL);
	m->kernel = profile_object(m->p, "[kernel.kallsyms]", NULL);
}

static uint32_t made_node(struct made *m, uint32_t parent, const char *symbol, uint32_t kind)
{
	const struct profile_frame frame = {
		.address = 0x1000 + profile_n_frames(m->p),
		.object = kind == PROFILE_KERNEL ? m->kernel : m->object,
		.symbol = symbol ? profile_string(m->p, symbol) : 0,
		.kind = kind,
	};

	return profile_node(m->p, parent, profile_frame(m->p, &frame));
}

/* Samples of 1 ms each in a thread. */
static void made_add(struct made *m, const char *comm, uint32_t pid, uint32_t node, uint64_t n)
{
	const struct profile_key key = {
		.event = m->event,
		.task = profile_task(m->p, profile_string(m->p, comm), pid, pid),
		.state = SEAM_STITCH_IMMEDIATE,
		.node = node,
		.cpu = PROFILE_NOT_KEPT,
	};

	assert_int_equal(profile_add(m->p, &key, n, n * MS), 0);
}

static void made_explain(struct made *m, struct explain *x, struct buf *text)
{
	static const char *const input[] = { "-i", "a file", NULL };
	static const struct explain_from from = { .input = input };

	assert_int_equal(explain_find(x, &m->report, "a file", &from), 0);
	assert_int_equal(explain_text(x, false, text), 0);
}

static const struct explain_finding *found(const struct explain *x, const char *id)
{
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->finding[i].id, id))
			return &x->finding[i];
	return NULL;
}

static void has(struct buf *text, const char *part)
{
	if (!strstr(buf_text(text), part))
		fail_msg("no '%s' in: %s", part, buf_text(text));
}

static void ends(struct made *m, struct explain *x, struct buf *text)
{
	explain_free(x);
	buf_free(text);
	profile_free(m->p);
}

/* main calls serve, which calls step, which calls hot (60 of 100) and malloc (30), which faults
 * (10): a stack counts once for a kind, and for each kind that it has. serve and step have as much;
 * step is farther in. */
static void kinds_of_work(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	uint32_t main_node, malloc_node;

	made_start(&m);
	main_node = made_node(&m, PROFILE_ROOT, "main", PROFILE_USER);
	main_node = made_node(&m, main_node, "serve", PROFILE_USER);
	main_node = made_node(&m, main_node, "step", PROFILE_USER);
	made_add(&m, "app", 7, made_node(&m, main_node, "hot", PROFILE_USER), 60);
	malloc_node = made_node(&m, main_node, "malloc", PROFILE_USER);
	made_add(&m, "app", 7, made_node(&m, malloc_node, "_int_malloc", PROFILE_USER), 30);
	made_add(&m, "app", 7, made_node(&m, malloc_node, "exc_page_fault", PROFILE_KERNEL), 10);
	made_explain(&m, &x, &text);
	assert_true(found(&x, "allocation")->percent == 40.0);
	assert_true(found(&x, "page_faults")->percent == 10.0);
	assert_true(found(&x, "hottest_function")->percent == 60.0);
	assert_true(found(&x, "passes_through")->percent == 100.0);
	has(&text, "passes through step of app, the innermost function");
	assert_null(found(&x, "locks"));
	assert_null(found(&x, "one_thread"));
	has(&text, "a file: 100 samples of cpu-clock; 0.10 s of CPU time\n");
	has(&text, "   60.0 %  most in one function: hot of app, by itself\n");
	has(&text, "$ seam report -i 'a file' --stdio -g callee --symbols hot\n");
	has(&text, "   90.0 %  in programs and libraries, 10.0 % in the kernel; ");
	ends(&m, &x, &text);
}

/* One event that counts waiting, and another: shares are of what ran, and the other events have a
 * command of their own. What was asked for stands in all of them; flame has no --time. */
static void events_and_filters(void **state)
{
	static const char *const input[] = { "-i", "f", NULL }, *const tasks[] = { "--pid", "7",
		                                                                   NULL };
	static const char *const time[] = { "--time", "10%-20%", NULL };
	const struct explain_from from = { .input = input, .tasks = tasks, .time = time };
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	uint32_t node, ran;

	made_start(&m);
	ran = m.event;
	node = made_node(&m, PROFILE_ROOT, "wait_for_reply", PROFILE_USER);
	m.event = profile_event_in(m.p, "offcpu-time", PROFILE_NANOSECONDS);
	made_add(&m, "app", 7, made_node(&m, node, "k_sleep", PROFILE_KERNEL), 90);
	m.event = profile_event(m.p, "page-faults");
	made_add(&m, "app", 7, node, 20);
	m.event = ran;
	made_add(&m, "app", 7, node, 10);
	assert_int_equal(explain_find(&x, &m.report, "f", &from), 0);
	assert_int_equal(explain_text(&x, false, &text), 0);
	has(&text, "f: 10 samples of cpu-clock");
	has(&text, "$ seam report -i f --pid 7 --time 10%-20% -e cpu-clock --stdio -s dso");
	has(&text, "threads slept for 0.09 s in all (offcpu-time)\n             $ seam explain -i "
	           "f --pid 7 "
	           "--time 10%-20% -e offcpu-time\n");
	has(&text, "20 samples of page-faults, which all this is not about\n             $ seam "
	           "explain -i f "
	           "--pid 7 --time 10%-20% -e page-faults\n");
	has(&text, "$ seam flame -i f --pid 7\n");
	ends(&m, &x, &text);
}

/* Where nothing ran, it is of the waiting: where a program waits, not where the kernel does. */
static void waiting_alone(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	uint32_t node;

	made_start(&m);
	m.event = profile_event_in(m.p, "offcpu-time", PROFILE_NANOSECONDS);
	node = made_node(&m, PROFILE_ROOT, "wait_for_reply", PROFILE_USER);
	made_add(&m, "app", 7, made_node(&m, node, "k_sleep", PROFILE_KERNEL), 90);
	made_explain(&m, &x, &text);
	has(&text, "a file: 90 samples of offcpu-time\n\nWhere it waits (offcpu-time)\n");
	has(&text, "passes through wait_for_reply of app, the innermost user function");
	assert_null(found(&x, "objects"));
	assert_null(found(&x, "waiting"));
	ends(&m, &x, &text);
}

/* Stacks that a walk cut are not called whole. */
static void cut_stacks(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };

	made_start(&m);
	made_add(&m, "app", 7, made_node(&m, PROFILE_ROOT, "_start", PROFILE_USER), 100);
	m.report.load.taken = 100;
	m.report.load.recorded = (struct walk_result_counts){ .samples = 100 };
	m.report.load.recorded.kind[WALK_RESULT_WALKED] = 100;
	m.report.load.recorded.end[WALK_COMPLETE] = 90;
	m.report.load.recorded.end[WALK_TRUNCATED] = 10;
	made_explain(&m, &x, &text);
	assert_true(found(&x, "whole")->percent == 90.0);
	assert_true(found(&x, "cut_off")->percent == 10.0);
	has(&text, "the copy of the stack ended (--call-graph dwarf,BYTES takes longer ones)\n");
	ends(&m, &x, &text);
}

/* What was counted of others, too, says nothing of these samples. */
static void counts_of_others(void **state)
{
	for (int others = 0; others < 2; others++) {
		struct made m;
		struct explain x;
		struct buf text = { 0 };
		struct load *l = &m.report.load;

		made_start(&m);
		made_add(&m, "app", 7, made_node(&m, PROFILE_ROOT, "_start", PROFILE_USER), 100);
		l->taken = 100;
		l->ends[STACK_END_COMPLETE] = 900;
		l->ends[STACK_END_NO_TABLE] = 90;
		l->runtime_ends[RUNTIME_END_COMPLETE] = 10;
		l->runtime_ends[RUNTIME_END_UNKNOWN] = 10;
		profile_counts(m.p)->lost = 70;
		l->of_others = others;
		made_explain(&m, &x, &text);
		assert_true(found(&x, "whole")->percent == (others ? 100.0 : 10.0));
		assert_int_equal(!found(&x, "cut_off"), others);
		assert_int_equal(!found(&x, "interpreter"), others);
		assert_int_equal(!found(&x, "lost"), others);
		ends(&m, &x, &text);
	}
	(void)state;
}

/* Names that would move a cursor, or end an argument, do neither. */
static void names_of_others(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };

	made_start(&m);
	made_add(&m, "app", 7, made_node(&m, PROFILE_ROOT, "it's; rm -rf $HOME", PROFILE_USER), 60);
	made_add(&m, "\033[2J\nevil", 8,
	         made_node(&m, PROFILE_ROOT, "\033[1m\n$ seam", PROFILE_USER), 40);
	made_explain(&m, &x, &text);
	has(&text, "--symbols 'it'\\''s; rm -rf $HOME'\n");
	has(&text, "(a name in it cannot be typed)\n");
	assert_null(strchr(buf_text(&text), '\033'));
	has(&text, "in threads named app; \\x1b[2J\\nevil 40.0 %");
	ends(&m, &x, &text);
}

/* One thread of three has 90 percent; CPUs without work are no thread's, and no CPU time. */
static void threads(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	uint32_t node, idle;

	made_start(&m);
	node = made_node(&m, PROFILE_ROOT, "main", PROFILE_USER);
	made_add(&m, "app", 7, node, 90);
	made_add(&m, "app", 8, node, 5);
	made_add(&m, "app", 9, node, 5);
	made_explain(&m, &x, &text);
	assert_true(found(&x, "one_thread")->percent == 90.0);
	has(&text, "one thread of 3: app, 7\n");
	buf_free(&text);
	explain_free(&x);
	text = (struct buf){ 0 };
	idle = made_node(&m, PROFILE_ROOT, "do_idle", PROFILE_KERNEL);
	made_add(&m, "swapper", 0, idle, 300);
	made_explain(&m, &x, &text);
	assert_true(found(&x, "idle")->percent == 75.0);
	assert_null(found(&x, "one_thread"));
	assert_null(found(&x, "kernel"));
	has(&text, "; 0.10 s of CPU time\n");
	ends(&m, &x, &text);
}

/* Many equal functions, and code without a name. */
static void spread(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	char name[16];

	made_start(&m);
	for (unsigned i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		made_add(&m, "app", 7, made_node(&m, PROFILE_ROOT, name, PROFILE_USER), 1);
	}
	made_explain(&m, &x, &text);
	has(&text, "in 20 functions of 40: none stands out");
	buf_free(&text);
	explain_free(&x);
	text = (struct buf){ 0 };
	made_add(&m, "app", 7, made_node(&m, PROFILE_ROOT, NULL, PROFILE_USER), 60);
	made_explain(&m, &x, &text);
	assert_null(found(&x, "spread"));
	assert_true(found(&x, "unnamed_functions")->percent == 60.0);
	ends(&m, &x, &text);
}

/* run, of Python, calls parse by way of the interpreter; both go down into native code, and each
 * sample counts for the innermost function of Python. What half passes through is one of these,
 * not the interpreter's loop. A little Ruby in another process is not told. */
static void interpreted(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	uint32_t run, parse, ruby;

	made_start(&m);
	run = made_node(&m, PROFILE_ROOT, "py::run:/srv/app.py", PROFILE_USER);
	made_add(&m, "python3", 7, made_node(&m, run, "memcpy", PROFILE_USER), 20);
	parse = made_node(&m, run, "_PyEval_EvalFrame", PROFILE_USER);
	parse = made_node(&m, parse, "py::Reader.parse:/srv/reader.py", PROFILE_USER);
	made_add(&m, "python3", 7, made_node(&m, parse, "strtod", PROFILE_USER), 40);
	parse = made_node(&m, parse, "_PyObject_Call", PROFILE_USER);
	made_add(&m, "python3", 7, made_node(&m, parse, "hash", PROFILE_USER), 25);
	ruby = made_node(&m, PROFILE_ROOT, "rb::main:/srv/app.rb", PROFILE_USER);
	made_add(&m, "ruby", 8, ruby, 2);
	made_add(&m, "sh", 9, made_node(&m, PROFILE_ROOT, "execute", PROFILE_USER), 13);
	made_explain(&m, &x, &text);
	assert_true(found(&x, "interpreted")->percent == 85.0);
	has(&text, "   85.0 %  in functions of Python and the native code that they call; most in "
	           "Reader.parse (reader.py) 65.0 %, run (app.py) 20.0 %\n");
	has(&text,
	    "$ seam report -i 'a file' --stdio -s parent -p '^py::' -g none --no-children\n");
	has(&text, "   65.0 %  passes through py::Reader.parse:/srv/reader.py of app,");
	assert_null(strstr(buf_text(&text), "Ruby"));
	ends(&m, &x, &text);
}

/* A timer's interrupt that comes where interrupts are let in again says nothing of that place. A
 * share is never 0.0 where something is. */
static void let_in(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };
	uint32_t fault;

	made_start(&m);
	made_add(&m, "app", 7, made_node(&m, PROFILE_ROOT, "work", PROFILE_USER), 6000);
	fault = made_node(&m, PROFILE_ROOT, "exc_page_fault", PROFILE_KERNEL);
	made_add(&m, "app", 7, made_node(&m, fault, "_raw_spin_unlock_irqrestore", PROFILE_KERNEL),
	         4000);
	m.report.load.taken = 10000;
	*profile_counts(m.p) = (struct profile_counts){
		.lost = 1, .lost_samples = 5, .lost_beside = 3, .skipped_samples = 3
	};
	made_explain(&m, &x, &text);
	has(&text, "   60.0 %  most in one function: work of app, by itself\n");
	has(&text,
	    "_raw_spin_unlock_irqrestore of [kernel.kallsyms], by itself; it lets interrupts");
	has(&text, "   <0.1 %  of what was sampled is lost (2): a ring was full");
	has(&text, "   <0.1 %  of what was sampled the kernel skipped (3): a BPF program");
	ends(&m, &x, &text);
}

/* A recording without samples is no error, and no share is made of nothing. */
static void nothing(void **state)
{
	struct made m;
	struct explain x;
	struct buf text = { 0 };

	made_start(&m);
	made_explain(&m, &x, &text);
	has(&text, "a file: 0 samples\n");
	assert_null(strstr(buf_text(&text), "nan"));
	assert_null(found(&x, "objects"));
	ends(&m, &x, &text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_and_filters),
		cmocka_unit_test(waiting_alone),
		cmocka_unit_test(cut_stacks),
		cmocka_unit_test(counts_of_others),
		cmocka_unit_test(kinds_of_work),
		cmocka_unit_test(names_of_others),
		cmocka_unit_test(threads),
		cmocka_unit_test(spread),
		cmocka_unit_test(interpreted),
		cmocka_unit_test(let_in),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
