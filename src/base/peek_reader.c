// SPDX-License-Identifier: MIT
/*
 * peek_reader.c: see peek_parts.h: the processes behind peek.h. One keeps readers, and touches
 * nothing of others, so that it can always answer. A reader does what it is asked for, and may wait
 * in the kernel for ever; then it is killed, which it may not notice for as long as it waits. There
 * are at most READERS in all.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/peek.h"
#include "base/peek_parts.h"

#define READERS 20

/* Gives bytes of memory, piece by piece. */
static void peek_reader_memory(const struct peek_question *q, struct peek_answer *a, peek_give give,
                               void *ctx)
{
	uint64_t at = 0;
	size_t n;

	do {
		n = q->n - at < sizeof(a->bytes) ? (size_t)(q->n - at) : sizeof(a->bytes);
		const struct iovec mine = { a->bytes, n };
		const struct iovec theirs = { (void *)(uintptr_t)(q->at + at), n };
		const ssize_t got = process_vm_readv((pid_t)q->pid, &mine, 1, &theirs, 1, 0);

		a->error = got < 0 ? -errno : (size_t)got < n ? -EFAULT : 0;
		at += n;
		a->last = a->error || at == q->n;
	} while (give(ctx, a, a->error ? 0 : n) >= 0 && !a->last);
}

/* Gives a file, piece by piece. */
static void peek_reader_file(int file, const struct peek_question *q, struct peek_answer *a,
                             peek_give give, void *ctx)
{
	uint64_t at = 0;
	ssize_t got;

	do {
		size_t n = q->n - at < sizeof(a->bytes) ? (size_t)(q->n - at) : sizeof(a->bytes);

		got = read(file, a->bytes, n);
		a->error = got < 0 ? -errno : 0;
		got = got < 0 ? 0 : got;
		at += (uint64_t)got;
		a->last = !got || at == q->n;
	} while (give(ctx, a, (size_t)got) >= 0 && !a->last);
}

/* Puts one mapping into a piece; false: there is no room for it. */
static bool peek_reader_put(struct peek_answer *a, size_t *n, const struct procfs_map *map)
{
	const struct peek_map m = { .map = *map, .path_size = map->path_size };

	if (sizeof(a->bytes) - *n < sizeof(m) + m.path_size)
		return false;
	memcpy(a->bytes + *n, &m, sizeof(m));
	memcpy(a->bytes + *n + sizeof(m), map->path, m.path_size);
	*n += sizeof(m) + m.path_size;
	return true;
}

/* Gives the executable mappings of a process, piece by piece. */
static void peek_reader_maps(int file, const struct peek_question *q, struct peek_answer *a,
                             peek_give give, void *ctx)
{
	struct procfs_query query = { .fd = file };
	struct procfs_map map;
	uint64_t at = 0;
	size_t n = 0;
	int r;

	a->error = 0;
	a->last = false;
	while ((r = procfs_map_query(&query, &map)) > 0 && at + n < q->n) {
		if (peek_reader_put(a, &n, &map))
			continue;
		if (give(ctx, a, n) < 0)
			return;
		at += n;
		n = 0;
		peek_reader_put(a, &n, &map);
	}
	a->error = r > 0 ? -E2BIG : r == -ENOTTY && at + n ? -EIO : r;
	a->last = true;
	give(ctx, a, n);
}

/* Does what is asked, and may wait in it. */
void peek_reader_answer(const struct peek_question *q, struct peek_answer *a, peek_give give,
                        void *ctx)
{
	int file;

	a->number = q->number;
	if (q->kind == PEEK_MEMORY) {
		peek_reader_memory(q, a, give, ctx);
		return;
	}
	file = open(q->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (file < 0) {
		a->error = -errno;
		a->last = true;
		give(ctx, a, 0);
	} else if (q->kind == PEEK_MAPS) {
		peek_reader_maps(file, q, a, give, ctx);
	} else {
		peek_reader_file(file, q, a, give, ctx);
	}
	if (file >= 0)
		close(file);
}

/* Nobody asks any more where nothing can be said. */
static int peek_reader_say(void *ctx, struct peek_answer *a, size_t n)
{
	if (send(*(int *)ctx, a, offsetof(struct peek_answer, bytes) + n, MSG_NOSIGNAL) < 0)
		_exit(1);
	return 0;
}

/* A reader: answers until nobody asks any more. */
static _Noreturn void peek_reader_serve(int fd)
{
	struct peek_question q;
	struct peek_answer a;

	for (;;) {
		ssize_t n = recv(fd, &q, sizeof(q), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= (ssize_t)offsetof(struct peek_question, path))
			_exit(0);
		((char *)&q)[n - 1] = 0;
		peek_reader_answer(&q, &a, peek_reader_say, &fd);
	}
}

/* Takes note of readers that have ended. Those left behind may do so at any time. */
static void peek_reader_reap(pid_t *readers)
{
	for (int i = 0; i < READERS; i++)
		if (readers[i] && waitpid(readers[i], NULL, WNOHANG) == readers[i])
			readers[i] = 0;
}

/* Ends a reader, if it has not ended: its number may be a stranger's since. */
static void peek_reader_kill(const pid_t *readers, pid_t pid)
{
	for (int i = 0; i < READERS; i++)
		if (pid && readers[i] == pid)
			kill(pid, SIGKILL);
}

/* Another reader; 0: too many wait already, or the machine has no room. */
static pid_t peek_reader_new(pid_t *readers, int lane)
{
	pid_t pid = 0;
	int i = 0;

	peek_reader_reap(readers);
	while (i < READERS && readers[i])
		i++;
	if (i < READERS)
		pid = fork();
	if (i < READERS && !pid) {
		close(0);
		/* It ends with its keeper, however that ends. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		peek_reader_serve(1 + lane);
	}
	if (pid > 0)
		readers[i] = pid;
	return pid > 0 ? pid : 0;
}

/* Ends all readers that end, and then the keeper. */
static _Noreturn void peek_reader_end(pid_t *readers)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	bool any = true;

	for (int i = 0; i < READERS; i++)
		if (readers[i])
			kill(readers[i], SIGKILL);
	for (int tries = 0; any && tries < 20; tries++) {
		any = false;
		peek_reader_reap(readers);
		for (int i = 0; i < READERS; i++)
			any |= readers[i] != 0;
		if (any)
			nanosleep(&nap, NULL);
	}
	_exit(0);
}

void peek_reader_keep(void)
{
	pid_t readers[READERS] = { 0 }, current[PEEK_LANES] = { 0 };
	unsigned char lane;
	sigset_t all;

	/* Who ends a program from its terminal ends it when it has read all. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "seam-reader");
	while (recv(0, &lane, 1, 0) == 1 && lane < PEEK_LANES) {
		peek_reader_kill(readers, current[lane]);
		current[lane] = peek_reader_new(readers, lane);
		if (send(0, &current[lane], sizeof(current[lane]), MSG_NOSIGNAL) < 0)
			break;
	}
	peek_reader_end(readers);
}
