// SPDX-License-Identifier: MIT
// capture_session.c: records real processes of this machine into memory with the session API and
// decodes what came: who ran, what it mapped, its stacks, and that nothing is unaccounted for.
// Exits 77 with the reason where perf events are not permitted.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "base/buf.h"
#include "base/map.h"
#include "capture/session.h"
#include "work.h"

static struct features features;

static int take(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

static void burn(unsigned rounds)
{
	volatile unsigned x = 0;

	while (rounds--)
		x += rounds;
	(void)x;
}

/* ---- the target: stops, then runs work() when it is continued ---- */

static pid_t spawn(void (*work)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		raise(SIGSTOP);
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static void work_children(void)
{
	prctl(PR_SET_NAME, "seam-parent");
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_NAME, "seam-child");
			for (uint64_t end = work_until(60); work_goes_on(end);)
				burn(work_loops(100000));
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void work_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void work_faults(void)
{
	size_t n = 2000 * 4096;
	volatile char *p =
	        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	madvise((void *)p, n, MADV_NOHUGEPAGE); // a fault for every page
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
}

static void work_burn(void)
{
	for (;;)
		burn(work_loops(1000000));
}

/* ---- what came ---- */

struct seen {
	uint64_t of_type[128];
	uint64_t samples_of_tid, samples_with_user, samples, answered, unanswered;
	uint64_t exec_comms, forks, exits, mmaps, child_comms, foreign;
	uint64_t values; // of the second event of a group, at its last sample
};

static void see_sample(struct seen *seen, const struct seam_sample *s, struct map *cookies)
{
	bool user = false;

	seen->samples++;
	for (uint64_t i = 0; i < s->callchain.n; i++) {
		uint64_t word = seam_u64s_at(&s->callchain, i);

		user |= word == SEAM_CONTEXT_USER;
		if (word == SEAM_CONTEXT_USER_DEFERRED && i + 1 < s->callchain.n) {
			user = true;
			assert_int_equal(map_put(cookies, seam_u64s_at(&s->callchain, i + 1), 1),
			                 0);
		}
	}
	seen->samples_with_user += user;
	if (s->read.n == 2)
		seen->values = seam_read_at(&s->read, 1).value;
}

static void look(struct session *s, const struct buf *bytes, struct seen *seen)
{
	struct map cookies = { 0 }, deferred = { 0 };
	uint64_t key, value;
	size_t i = 0;

	memset(seen, 0, sizeof(*seen));
	for (size_t at = 0; at < bytes->n;) {
		struct seam_record rec;
		struct seam_decoded d;
		struct seam_error err = { 0 };

		assert_true(record_at(bytes->bytes + at, bytes->n - at, &rec));
		rec.offset = at;
		at += rec.size;
		seen->of_type[rec.type < 128 ? rec.type : 127]++;
		if (rec.type >= SEAM_RECORD_USER_FIRST)
			continue;
		if (record_decode(session_events(s), &rec, &d, &err) < 0)
			fail_msg("%s", err.text);
		if (rec.type != SEAM_RECORD_SAMPLE)
			assert_true(d.id.has & SEAM_SAMPLE_TIME && d.id.has & SEAM_SAMPLE_TID);
		if (rec.type == SEAM_RECORD_SAMPLE)
			see_sample(seen, &d.sample, &cookies);
		if (rec.type == SEAM_RECORD_COMM) {
			seen->exec_comms += d.comm.exec;
			seen->child_comms += !strcmp(d.comm.comm, "seam-child");
		}
		if (rec.type == SEAM_RECORD_CALLCHAIN_DEFERRED)
			assert_int_equal(map_put(&deferred, d.deferred.cookie, 1), 0);
	}
	while (map_next(&cookies, &i, &key, &value)) {
		seen->answered += map_get(&deferred, key, NULL);
		seen->unanswered += !map_get(&deferred, key, NULL);
	}
	map_free(&cookies);
	map_free(&deferred);
}

/* ---- the recorder ---- */

struct recording {
	struct session *s;
	struct buf bytes;
	struct session_counts counts;
	struct seen seen;
};

static void begin(struct recording *rec, const char *events, struct session_opts opts)
{
	struct event_list list = { 0 };
	struct seam_error err = { 0 };
	int r;

	memset(rec, 0, sizeof(*rec));
	opts.sz = sizeof(opts);
	opts.features = &features;
	if (events)
		assert_int_equal(event_list_parse(&list, events, NULL, NULL), 0);
	opts.events = &list;
	r = session_open(&rec->s, &opts, &err);
	event_list_free(&list);
	if (r < 0)
		fail_msg("%s", err.text);
	assert_int_equal(session_start(rec->s), 0);
}

static void end(struct recording *rec)
{
	assert_int_equal(session_stop(rec->s), 0);
	assert_true(session_settle(rec->s, 0, take, &rec->bytes) >= 0);
	assert_true(session_finish(rec->s, take, &rec->bytes) >= 0);
	rec->counts.sz = sizeof(rec->counts);
	assert_int_equal(session_counts(rec->s, &rec->counts), 0);
	look(rec->s, &rec->bytes, &rec->seen);
	// The rings' own counts are those of the bytes, and nothing is left out in silence.
	assert_int_equal(rec->counts.total.samples, rec->seen.samples);
	assert_int_equal(rec->counts.total.bytes +
	                         8 * rec->seen.of_type[SEAM_RECORD_FINISHED_ROUND],
	                 rec->bytes.n);
	assert_int_equal(rec->counts.rounds, rec->seen.of_type[SEAM_RECORD_FINISHED_ROUND]);
	assert_int_equal(rec->counts.total.bad_bytes, 0);
	if (rec->counts.lost_kernel_known)
		assert_true(rec->counts.lost_kernel >=
		            rec->counts.total.lost + rec->counts.total.lost_samples);
}

static void drop(struct recording *rec)
{
	session_close(rec->s);
	buf_free(&rec->bytes);
}

static void until_gone(struct recording *rec)
{
	while (!session_target_gone(rec->s)) {
		assert_true(session_wait(rec->s, 20) >= 0);
		assert_true(session_read(rec->s, take, &rec->bytes) >= 0);
	}
}

/* ---- tests ---- */

static void children_are_followed(void **state)
{
	pid_t pid = spawn(work_children);
	struct recording rec;

	begin(&rec, "cpu-clock:u",
	      (struct session_opts){ .target = SESSION_PIDS, .pids = &pid, .n_pids = 1 });
	assert_false(session_target_gone(rec.s));
	kill(pid, SIGCONT);
	until_gone(&rec);
	end(&rec);
	assert_true(rec.seen.samples > 10);
	assert_int_equal(rec.seen.samples_with_user, rec.seen.samples);
	assert_int_equal(rec.seen.of_type[SEAM_RECORD_FORK], 3);
	assert_int_equal(rec.seen.of_type[SEAM_RECORD_EXIT], 4);
	assert_int_equal(rec.seen.child_comms, 3);
	if (session_mode(rec.s)->stack == MODE_FP_DEFER &&
	    session_mode(rec.s)->deferred == MODE_DEFERRED_CPU && !rec.counts.lost_kernel)
		assert_int_equal(rec.seen.unanswered, 0);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

static void only_the_parent_without_inherit(void **state)
{
	pid_t pid = spawn(work_children);
	struct recording rec;

	begin(&rec, "cpu-clock:u",
	      (struct session_opts){
	              .target = SESSION_TASKS, .pids = &pid, .n_pids = 1, .no_inherit = true });
	kill(pid, SIGCONT);
	until_gone(&rec);
	end(&rec);
	assert_int_equal(rec.seen.child_comms, 0);
	assert_int_equal(rec.seen.of_type[SEAM_RECORD_EXIT], 1);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

static void a_command_begins_at_its_exec(void **state)
{
	pid_t pid = spawn(work_exec);
	struct recording rec;

	begin(&rec, "cpu-clock:u",
	      (struct session_opts){
	              .target = SESSION_TASKS, .pids = &pid, .n_pids = 1, .enable_on_exec = true });
	kill(pid, SIGCONT);
	until_gone(&rec);
	end(&rec);
	assert_int_equal(rec.seen.exec_comms, 1);
	assert_true(rec.seen.of_type[SEAM_RECORD_MMAP2] >= 3);
	assert_int_equal(rec.seen.of_type[SEAM_RECORD_EXIT], 1);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

static void each_page_fault_is_there(void **state)
{
	pid_t pid = spawn(work_faults);
	struct recording rec;

	begin(&rec, "page-faults/period=1/u",
	      (struct session_opts){ .target = SESSION_TASKS,
	                             .pids = &pid,
	                             .n_pids = 1,
	                             .mmap_pages = 256,
	                             .callchain = SESSION_CALLCHAIN_FP });
	assert_int_equal(session_mode(rec.s)->stack, MODE_FP);
	kill(pid, SIGCONT);
	until_gone(&rec);
	end(&rec);
	assert_true(rec.seen.samples + rec.counts.lost_kernel >= 2000);
	assert_int_equal(rec.counts.ring_pages, 256);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

// Rings of one page that nobody reads meanwhile: all that is lost must be counted.
static void small_rings_lose_and_say_so(void **state)
{
	pid_t pid = spawn(work_faults);
	struct recording rec;

	begin(&rec, "page-faults/period=1/u",
	      (struct session_opts){
	              .target = SESSION_TASKS, .pids = &pid, .n_pids = 1, .mmap_pages = 1 });
	kill(pid, SIGCONT);
	while (!session_target_gone(rec.s))
		usleep(1000);
	end(&rec);
	assert_int_equal(rec.counts.ring_pages, 1);
	if (rec.counts.lost_kernel_known) {
		assert_true(rec.counts.lost_kernel > 1000);
		assert_true(rec.seen.samples + rec.counts.lost_kernel >= 2000);
	}
	waitpid(pid, NULL, 0);
	drop(&rec);
}

static void a_group_is_read_with_its_leader(void **state)
{
	pid_t pid = spawn(work_faults);
	struct recording rec;

	if (!features_has(&features, FEATURE_INHERIT_READ))
		skip();
	begin(&rec, "{page-faults/period=100/u,context-switches:u}:S",
	      (struct session_opts){ .target = SESSION_TASKS, .pids = &pid, .n_pids = 1 });
	kill(pid, SIGCONT);
	until_gone(&rec);
	end(&rec);
	assert_true(rec.seen.samples >= 20);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

static void pause_and_resume(void **state)
{
	pid_t pid = spawn(work_burn);
	struct recording rec;

	begin(&rec, "cpu-clock:u",
	      (struct session_opts){
	              .target = SESSION_PIDS, .pids = &pid, .n_pids = 1, .start_paused = true });
	kill(pid, SIGCONT);
	for (int i = 0; i < 5; i++) {
		assert_true(session_wait(rec.s, 10) >= 0);
		assert_true(session_read(rec.s, take, &rec.bytes) >= 0);
	}
	assert_int_equal(rec.bytes.n, 0);
	assert_int_equal(session_resume(rec.s), 0);
	while (rec.bytes.n < 10000) {
		assert_true(session_wait(rec.s, 10) >= 0);
		assert_true(session_read(rec.s, take, &rec.bytes) >= 0);
	}
	end(&rec);
	assert_true(rec.seen.samples > 0);
	assert_false(session_target_gone(rec.s));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

static void the_whole_system(void **state)
{
	pid_t pid;
	struct recording rec;

	if (!features_has(&features, FEATURE_SYSTEM_WIDE))
		skip();
	pid = spawn(work_children);
	begin(&rec, NULL, (struct session_opts){ .target = SESSION_SYSTEM, .frequency = 997 });
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
	session_wake(rec.s);
	assert_int_equal(session_wait(rec.s, -1), 1);
	end(&rec);
	assert_true(rec.seen.samples > 0);
	assert_int_equal(rec.seen.child_comms, 3);
	assert_false(session_target_gone(rec.s));
	drop(&rec);
}

static void who_is_not_there_is_said(void **state)
{
	struct session *s = NULL;
	struct seam_error err = { 0 };
	pid_t pid = fork();
	int cpu = 65000;
	struct session_opts opts = { .sz = sizeof(opts),
		                     .target = SESSION_PIDS,
		                     .pids = &pid,
		                     .n_pids = 1,
		                     .features = &features };

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(session_open(&s, &opts, &err), -ESRCH);
	assert_non_null(strstr(err.text, "no such process"));
	opts.target = SESSION_TASKS;
	assert_int_equal(session_open(&s, &opts, &err), -ESRCH);
	opts.target = SESSION_SYSTEM;
	opts.cpus = &cpu;
	opts.n_cpus = 1;
	assert_int_equal(session_open(&s, &opts, &err), -EINVAL);
	assert_non_null(strstr(err.text, "CPU 65000 is not online"));
	assert_null(s);
}

// A sink that fails: the bytes stay in the rings and come with the next round.
static int refuse(void *ctx, const void *bytes, size_t n)
{
	return -ENOSPC;
}

// Nobody reads before the end, and then it is too late: what waited is counted, and told of.
static void what_cannot_be_read_in_time_is_counted(void **state)
{
	pid_t pid = spawn(work_burn);
	struct recording rec;
	uint64_t told = 0;

	(void)state;
	begin(&rec, "cpu-clock",
	      (struct session_opts){ .target = SESSION_PIDS,
	                             .pids = &pid,
	                             .n_pids = 1,
	                             .callchain = SESSION_CALLCHAIN_FP });
	kill(pid, SIGCONT);
	while (ring_pending(session_ring(rec.s, 0)) < 4096 &&
	       ring_pending(session_ring(rec.s, session_rings(rec.s) - 1)) < 4096)
		usleep(1000);
	session_stop(rec.s);
	session_end_by(rec.s, 1);
	assert_true(session_settle(rec.s, 0, take, &rec.bytes) >= 0);
	assert_true(session_finish(rec.s, take, &rec.bytes) >= 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rec.counts.sz = sizeof(rec.counts);
	assert_int_equal(session_counts(rec.s, &rec.counts), 0);
	look(rec.s, &rec.bytes, &rec.seen);
	assert_int_equal(rec.seen.samples, 0);
	assert_true(rec.counts.total.cut_samples > 10);
	assert_true(rec.counts.total.cut >= rec.counts.total.cut_samples);
	for (size_t at = 0; at < rec.bytes.n;) {
		struct seam_record r;
		struct seam_decoded d;

		assert_true(record_at(rec.bytes.bytes + at, rec.bytes.n - at, &r));
		at += r.size;
		if (r.type == SEAM_RECORD_LOST_SAMPLES &&
		    record_decode(session_events(rec.s), &r, &d, NULL) >= 0)
			told += d.lost.lost;
	}
	assert_int_equal(told, rec.counts.total.cut_samples);
	drop(&rec);
}

static void a_full_disk_loses_nothing(void **state)
{
	pid_t pid = spawn(work_faults);
	struct recording rec;

	begin(&rec, "page-faults/period=20/u",
	      (struct session_opts){ .target = SESSION_TASKS, .pids = &pid, .n_pids = 1 });
	kill(pid, SIGCONT);
	while (!session_target_gone(rec.s))
		usleep(1000);
	assert_int_equal(session_read(rec.s, refuse, NULL), -ENOSPC);
	end(&rec);
	assert_true(rec.seen.samples >= 100);
	waitpid(pid, NULL, 0);
	drop(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_followed),
		cmocka_unit_test(only_the_parent_without_inherit),
		cmocka_unit_test(a_command_begins_at_its_exec),
		cmocka_unit_test(each_page_fault_is_there),
		cmocka_unit_test(small_rings_lose_and_say_so),
		cmocka_unit_test(a_group_is_read_with_its_leader),
		cmocka_unit_test(pause_and_resume),
		cmocka_unit_test(the_whole_system),
		cmocka_unit_test(who_is_not_there_is_said),
		cmocka_unit_test(what_cannot_be_read_in_time_is_counted),
		cmocka_unit_test(a_full_disk_loses_nothing),
	};

	features_init(&features, NULL);
	if (!features_can_record(&features)) {
		fprintf(stderr, "skipped: %s\n", features.at[FEATURE_SOFTWARE_CLOCK].reason);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
