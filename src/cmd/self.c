// SPDX-License-Identifier: MIT
// self.c: see self.h.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/self.h"

/* In the child: its text goes into the pipe, without colours, and no progress over the screen. */
static void self_child(const char *const *args, int to)
{
	sigset_t none;

	/* Who asks may be a thread that has all signals blocked. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("NO_COLOR", "1", 1);
	if (dup2(to, STDOUT_FILENO) >= 0 && dup2(to, STDERR_FILENO) >= 0)
		execv("/proc/self/exe", (char *const *)args);
	_exit(127);
}

/* Waits until the child has said something. -ECANCELED: it is not wanted any more. */
static int self_wait(int from, int stop)
{
	struct pollfd p[2] = { { .fd = from, .events = POLLIN }, { .fd = stop, .events = POLLIN } };

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return p[1].revents ? -ECANCELED : 0;
}

/* Reads all that the child says. -ENOMEM, -ECANCELED, or how reading failed. */
static int self_read(int from, size_t most, int stop, struct buf *out)
{
	for (;;) {
		void *at = buf_reserve(out, 65536);
		int r = self_wait(from, stop);
		ssize_t n = at && r >= 0 ? read(from, at, 65536) : 0;

		if (!at)
			return -ENOMEM;
		if (r < 0)
			return r;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		out->n += (size_t)n;
		if (out->n > most) {
			out->n = most;
			return buf_put_text(out, "\n(the rest is not shown)\n");
		}
	}
}

/* Who does not want the rest ends the child, and waits for its end. */
int self_run(const char *const *args, size_t most, int stop, struct buf *out)
{
	int ends[2], rc;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (!child)
		self_child(args, ends[1]);
	close(ends[1]);
	rc = child < 0 ? -errno : self_read(ends[0], most, stop, out);
	if (rc == -ECANCELED)
		kill(child, SIGTERM);
	close(ends[0]); /* a child that still writes ends by SIGPIPE */
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
