// SPDX-License-Identifier: MIT
/*
 * tree.c: runs a command and says what it and all that it started cost.
 *
 *	tree FD SECONDS COMMAND [ARGUMENT...]
 *
 * Writes one line to the descriptor FD: user and system CPU seconds of the whole tree, orphans
 * included, as they come to this process to be waited for; seconds until the command ended; the
 * largest resident set of any process of the tree and that of the command itself, in KiB; and how
 * it ended: "exit N", "signal N", or "late" if SECONDS had passed (0: none). What is left of the
 * tree then, or a second after the command ended, is killed; so is all of it when this process is
 * told to end (SIGTERM, SIGINT), or its parent dies.
 *
 * It is a program of its own because a process's largest resident set counts from its fork: that
 * of a child of python is never less than python's.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct tree {
	pid_t command;
	bool ended, late, told;
	int status;
	double begin, end, limit;
	long peak, own;
};

static double tree_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The command's own largest resident set so far: what wait4 says is that of its children, too. */
static void tree_look(struct tree *t)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)t->command);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			t->own = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
}

static void tree_kill(const struct tree *t)
{
	char path[64], line[4096];
	FILE *f;

	kill(-t->command, SIGKILL);
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		for (char *at = line, *next; (next = strchr(at, ' ')); at = next + 1)
			kill((pid_t)strtol(at, NULL, 10), SIGKILL);
	if (f)
		fclose(f);
}

/* Waits for all that has ended; false: nothing is left to wait for. */
static bool tree_reap(struct tree *t)
{
	struct rusage used;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
		if (used.ru_maxrss > t->peak)
			t->peak = used.ru_maxrss;
		if (pid == t->command) {
			t->ended = true;
			t->end = tree_now();
			t->status = status;
		}
	}
	return pid == 0;
}

static void tree_watch(struct tree *t, const sigset_t *signals)
{
	struct timespec step = { 0, 5000000 };

	while (tree_reap(t)) {
		int signal;

		if (!t->ended)
			tree_look(t);
		signal = sigtimedwait(signals, NULL, &step);
		t->told = t->told || signal == SIGTERM || signal == SIGINT;
		t->late =
		        t->late || (!t->ended && t->limit > 0 && tree_now() - t->begin > t->limit);
		if (t->told || t->late || (t->ended && tree_now() - t->end > 1))
			tree_kill(t);
		if (step.tv_nsec < 40000000)
			step.tv_nsec *= 2;
	}
}

static int tree_say(const struct tree *t, int fd)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	dprintf(fd, "%.6f %.6f %.6f %ld %ld ",
	        (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6,
	        (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6,
	        t->end - t->begin, t->peak, t->own);
	if (t->late || t->told)
		dprintf(fd, "late\n");
	else if (WIFSIGNALED(t->status))
		dprintf(fd, "signal %d\n", WTERMSIG(t->status));
	else
		dprintf(fd, "exit %d\n", WEXITSTATUS(t->status));
	return 0;
}

int main(int argc, char **argv)
{
	struct tree t = { 0 };
	pid_t parent = getppid();
	sigset_t signals, before;
	int fd;

	if (argc < 4) {
		fprintf(stderr, "usage: tree FD SECONDS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	fd = (int)strtol(argv[1], NULL, 10);
	t.limit = strtod(argv[2], NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, &before);
	t.begin = tree_now();
	t.command = fork();
	if (t.command == 0) {
		setpgid(0, 0);
		close(fd);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[3], argv + 3);
		fprintf(stderr, "tree: %s: %s\n", argv[3], strerror(errno));
		_exit(127);
	}
	if (t.command < 0) {
		perror("tree: fork");
		return 1;
	}
	setpgid(t.command, t.command);
	tree_watch(&t, &signals);
	return tree_say(&t, fd);
}
