// SPDX-License-Identifier: MIT
/*
 * target.c: knows fork, exec and wait.
 *
 * The command exists before the events are opened, so that they can be opened on its pid; it runs
 * after them. Two pipes hold it: `go` lets it run, `failed` says by its end (closed by exec) that
 * the exec succeeded, or carries errno.
 *
 * Invariant: between fork and exec the child does nothing but wait for its byte, so what is
 * recorded of the command begins with its exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/target.h"

/* The child, between fork and exec: waits for its byte, then runs the command. If exec fails, its
 * errno goes back through the pipe. It ends quietly when the parent closes the pipe instead. */
static _Noreturn void target_child(char *const argv[], int go, int failed)
{
	char byte;
	ssize_t n;
	int error;

	/* Its comm until the exec, by which it can be told from seam in a list of processes. */
	prctl(PR_SET_NAME, "seam-exec");
	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0);
	/* The pipe to `failed` is O_CLOEXEC: success closes it. */
	execvp(argv[0], argv);
	error = errno;
	do
		n = write(failed, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	_exit(127);
}

/* The command is held back until target_go. On failure nothing stays open. */
int target_fork(struct target *t, char *const argv[], bool quiet_output)
{
	int go[2], failed[2], error;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		error = -errno;
		close(go[0]);
		close(go[1]);
		return error;
	}
	pid = fork();
	error = -errno;
	if (pid == 0) {
		close(go[1]);
		/* What the command prints must not go into a recording that is written to
		 * stdout. */
		if (quiet_output)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		target_child(argv, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	if (pid < 0) {
		close(go[1]);
		close(failed[0]);
		return error;
	}
	*t = (struct target){ .pid = pid, .go = go[1], .failed = failed[0] };
	return 0;
}

static void target_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Lets the command run; returns when its exec has succeeded or failed. */
int target_go(struct target *t)
{
	int error = 0;
	ssize_t n;

	/* If somebody killed the child meanwhile, the pipe is broken (the caller ignores SIGPIPE)
	 * and there is no exec to report: target_poll tells how the child ended. */
	do
		n = write(t->go, "", 1);
	while (n < 0 && errno == EINTR);
	target_close_fd(&t->go);
	/* EOF (n 0) means that exec closed the pipe; an int means that it failed. */
	if (n == 1) {
		do
			n = read(t->failed, &error, sizeof(error));
		while (n < 0 && errno == EINTR);
	}
	target_close_fd(&t->failed);
	t->started = n == 0;
	return n == (ssize_t)sizeof(error) ? -error : 0;
}

/* true: it has ended, and status is known. It never waits. */
bool target_poll(struct target *t)
{
	pid_t pid;

	if (t->pid <= 0 || t->ended)
		return true;
	do
		pid = waitpid(t->pid, &t->status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	t->ended = pid != 0;
	return t->ended;
}

/* A pid that was waited for may be somebody else's by now, so that it is asked first. */
void target_signal(struct target *t, int number)
{
	if (!target_poll(t))
		kill(t->pid, number);
}

/* As a shell says it: 128 + the signal's number. */
int target_exit_code(const struct target *t)
{
	if (WIFEXITED(t->status))
		return WEXITSTATUS(t->status);
	return WIFSIGNALED(t->status) ? 128 + WTERMSIG(t->status) : 0;
}

/* A child that was never let go ends by itself when the pipe is closed. One that runs is left
 * running; init will wait for it. */
void target_close(struct target *t)
{
	if (t->pid <= 0)
		return;
	target_close_fd(&t->go);
	target_close_fd(&t->failed);
	if (!t->started && !t->ended)
		waitpid(t->pid, &t->status, 0);
	t->pid = 0;
}
