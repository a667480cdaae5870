// SPDX-License-Identifier: MIT
// agent_ask.c: processes are asked by a thread of its own: who reads the rings and who names never
// wait until another has read /proc. A file of /proc that is a pipe keeps its reader for as long as
// the test likes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/ask.h"

#define HUNG_S 300u /* who waits so long does so for ever: the test is ended */

static char root[64];

static void file_of(char *path, size_t n, unsigned pid, const char *file)
{
	snprintf(path, n, "%s/proc/%u", root, pid);
	mkdir(path, 0755);
	snprintf(path, n, "%s/proc/%u/%s", root, pid, file);
}

/* A process with a name of its service. */
static void named(unsigned pid, const char *service)
{
	char path[128];
	FILE *f;

	file_of(path, sizeof(path), pid, "cgroup");
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("0::/a\n", f);
	fclose(f);
	file_of(path, sizeof(path), pid, "environ");
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "OTEL_SERVICE_NAME=%s%c", service, 0);
	fclose(f);
}

/* A process whose environment keeps its reader waiting. */
static void slow(unsigned pid)
{
	char path[128];

	file_of(path, sizeof(path), pid, "environ");
	unlink(path);
	named(pid, "");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
}

/* Waits until somebody reads the environment: then that one is held until answer. */
static int held(unsigned pid)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	char path[128];
	int fd;

	file_of(path, sizeof(path), pid, "environ");
	while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO)
		nanosleep(&nap, NULL);
	assert_true(fd >= 0);
	return fd;
}

static void answer(int fd, const char *service)
{
	dprintf(fd, "OTEL_SERVICE_NAME=%s%c", service, 0);
	close(fd);
}

static void is(struct ask *a, unsigned pid, const char *service)
{
	struct labels l = { 0 };

	assert_int_equal(ask_labels(a, pid, NULL, &l), 0);
	assert_string_equal(labels_get(&l, "service") ? labels_get(&l, "service") : "(none)",
	                    service);
	labels_free(&l);
}

static struct ask *begin_for(unsigned held_ms)
{
	static const struct process_opts o = { .root = root };
	struct ask *a;

	alarm(HUNG_S);
	snprintf(root, sizeof(root), "/tmp/seam-ask-XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chdir(root), 0);
	assert_int_equal(mkdir("proc", 0755), 0);
	assert_int_equal(ask_new(&a, &o, held_ms), 0);
	return a;
}

static struct ask *begin(void)
{
	return begin_for(HUNG_S * 1000);
}

static void end(struct ask *a)
{
	char command[128];

	ask_free(a);
	alarm(0);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

struct naming {
	struct ask *ask;
	unsigned pid;
	const char *is;
	pthread_t thread;
};

static void *name(void *arg)
{
	const struct naming *n = arg;

	is(n->ask, n->pid, n->is);
	return NULL;
}

static void starts(struct naming *n, struct ask *a, unsigned pid, const char *is)
{
	*n = (struct naming){ .ask = a, .pid = pid, .is = is };
	assert_int_equal(pthread_create(&n->thread, NULL, name, n), 0);
}

static void hears_all(struct ask *a, unsigned pid)
{
	ask_hear(a, WINDOW_SAMPLED, pid);
	ask_hear(a, WINDOW_REPLACED, pid);
	ask_hear(a, WINDOW_BEGAN, pid);
	ask_hear(a, WINDOW_SAMPLED, pid);
	ask_window(a);
}

static void nobody_waits_for_who_names(void **state)
{
	struct ask *a = begin();
	struct naming n;
	int fd;

	slow(7);
	named(8, "eight");
	starts(&n, a, 7, "seven");
	fd = held(7);
	hears_all(a, 8);
	is(a, 8, "eight"); /* nor does the asking thread */
	answer(fd, "seven");
	pthread_join(n.thread, NULL);
	is(a, 7, "seven");
	end(a);
}

static void nobody_waits_for_who_asks(void **state)
{
	struct ask *a = begin();
	int fd;

	slow(7);
	named(8, "eight");
	ask_hear(a, WINDOW_SAMPLED, 7);
	fd = held(7);
	hears_all(a, 7);
	hears_all(a, 8);
	is(a, 8, "eight");
	slow(7);
	answer(fd, "other"); /* of the program before: 7 began meanwhile */
	slow(9);
	ask_hear(a, WINDOW_SAMPLED, 9);
	/* News are taken in order: when 9 is asked, what was said of 7 is known. */
	fd = held(7);
	answer(fd, "seven");
	fd = held(9);
	answer(fd, "nine");
	is(a, 7, "seven");
	end(a);
}

static void an_answer_of_the_program_before_does_not_count(void **state)
{
	struct ask *a = begin();
	struct naming n;
	int fd;

	slow(7);
	starts(&n, a, 7, "before");
	fd = held(7);
	slow(8);
	ask_hear(a, WINDOW_BEGAN, 7);
	ask_hear(a, WINDOW_SAMPLED, 8);
	answer(held(8), "eight");
	answer(fd, "before");
	pthread_join(n.thread, NULL);
	unlink("proc/7/environ");
	named(7, "after");
	is(a, 7, "after");
	end(a);
}

static void where_news_were_missed_nothing_is_known(void **state)
{
	struct ask *a = begin();
	int fd;

	named(7, "seven");
	is(a, 7, "seven");
	slow(8);
	slow(9);
	ask_hear(a, WINDOW_SAMPLED, 8);
	fd = held(8);
	for (unsigned i = 0; i < 2 * ASK_MOST; i++)
		ask_hear(a, WINDOW_BEGAN, 100 + i);
	ask_hear(a, WINDOW_SAMPLED, 9);
	named(7, "other");
	is(a, 7, "seven");
	answer(fd, "eight");
	fd = held(9);
	is(a, 7, "other");
	answer(fd, "nine");
	end(a);
}

/* Who keeps them waiting for too long has no labels, and all others have. */
static void who_holds_is_left_alone(void **state)
{
	struct ask *a = begin_for(20);
	int fd;

	for (unsigned pid = 10; pid < 40; pid++)
		slow(pid);
	named(8, "eight");
	for (unsigned pid = 10; pid < 40; pid++)
		is(a, pid, "(none)");
	is(a, 8, "eight");
	assert_int_equal(ask_peeks(a).held, 30);
	fd = open("proc/10/environ", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd < 0 && errno == ENXIO); /* nobody waits any more */
	end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_who_names),
		cmocka_unit_test(nobody_waits_for_who_asks),
		cmocka_unit_test(an_answer_of_the_program_before_does_not_count),
		cmocka_unit_test(who_holds_is_left_alone),
		cmocka_unit_test(where_news_were_missed_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
