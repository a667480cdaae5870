// SPDX-License-Identifier: MIT
/*
 * peek.c: see peek.h: who asks, and judges whether the reader waits.
 */
#include "base/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/peek_parts.h"
#include "base/procfs.h"

#define NS_S 1000000000ull
#define NS_MS 1000000ull
#define HELD_MOST 4096u /* processes that are remembered; then all are forgotten */
/* Where no reader can be had, it is tried again after so long. */
#define WITHOUT_NS (10 * NS_S)
/* For so many times the limit it may wait for a CPU. */
#define BUSY_MOST 50u

/* One of those who read, for one question at a time. */
struct peek_lane {
	pthread_mutex_t lock; /* of what follows: held for as long as a question takes */
	pid_t reader;         /* 0: there is none */
	int questions;
	uint64_t number;
	struct peek_question question;
	struct peek_answer answer;
};

struct peek {
	struct peek_opts opts;
	pid_t keeper;
	pthread_mutex_t lock; /* of what follows: behind a lane's, and nobody waits long for it */
	int control;
	struct map held;   /* process -> when it kept a reader waiting */
	uint64_t until_ns; /* nothing is looked at */
	struct peek_counts counts;
	struct peek_lane lanes[PEEK_LANES];
};

static uint64_t peek_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_S + (uint64_t)t.tv_nsec;
}

/* The CPU time of a process so far; 0: it has ended. */
static uint64_t peek_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (!pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * NS_S + (uint64_t)t.tv_nsec;
}

/* ---- the keeper ---- */

/* The keeper, with nothing of ours but its ends: control, then a lane's each. */
static _Noreturn void peek_child(int *ends)
{
	long most = sysconf(_SC_OPEN_MAX);

	/* They become the first: then all others are closed by one call, where the kernel has
	 * it. */
	for (int i = 0; i <= PEEK_LANES; i++)
		ends[i] = fcntl(ends[i], F_DUPFD, PEEK_LANES + 1);
	for (int i = 0; i <= PEEK_LANES; i++)
		if (ends[i] < 0 || dup2(ends[i], i) < 0)
			_exit(1);
	if (close_range(PEEK_LANES + 1, ~0u, 0) < 0)
		for (int fd = PEEK_LANES + 1; fd < most; fd++)
			close(fd);
	peek_reader_keep();
}

/* Leaves a lane's reader behind, if it has one, and takes another, whose number the keeper says at
 * once. */
static void peek_replace(struct peek *p, struct peek_lane *l)
{
	const unsigned char lane = (unsigned char)(l - p->lanes);
	pid_t reader = 0;
	ssize_t n;

	pthread_mutex_lock(&p->lock);
	__atomic_fetch_add(&p->counts.cpu_ns, peek_cpu_ns(l->reader), __ATOMIC_RELAXED);
	n = send(p->control, &lane, 1, MSG_NOSIGNAL);
	while (n > 0 && (n = recv(p->control, &reader, sizeof(reader), 0)) < 0 && errno == EINTR)
		n = 1;
	__atomic_store_n(&l->reader, n == sizeof(reader) ? reader : 0, __ATOMIC_RELAXED);
	if (!l->reader)
		p->until_ns = peek_now_ns() + WITHOUT_NS;
	pthread_mutex_unlock(&p->lock);
}

/* Makes a pair of sockets: ours, and the keeper's. */
static int peek_pair(int *ours, int *theirs)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	*ours = pair[0];
	*theirs = pair[1];
	return 0;
}

/* Forks the keeper. Readers are made when they are needed. */
int peek_new(struct peek **ret, const struct peek_opts *opts)
{
	struct peek *p = calloc(1, sizeof(*p));
	int theirs[PEEK_LANES + 1], error;

	if (!p)
		return -ENOMEM;
	p->opts = *opts;
	p->control = theirs[0] = -1;
	pthread_mutex_init(&p->lock, NULL);
	error = peek_pair(&p->control, &theirs[0]);
	for (int i = 0; i < PEEK_LANES; i++) {
		pthread_mutex_init(&p->lanes[i].lock, NULL);
		p->lanes[i].questions = theirs[i + 1] = -1;
		if (!error)
			error = peek_pair(&p->lanes[i].questions, &theirs[i + 1]);
	}
	p->keeper = error ? -1 : fork();
	if (!p->keeper)
		peek_child(theirs);
	if (!error && p->keeper < 0)
		error = -errno;
	for (int i = 0; i <= PEEK_LANES; i++)
		if (theirs[i] >= 0)
			close(theirs[i]);
	if (error) {
		peek_free(p);
		return error;
	}
	*ret = p;
	return 0;
}

/* Ends the keeper, and readers but those that wait for a process: they end with that. */
void peek_free(struct peek *p)
{
	const unsigned char end = PEEK_END;

	if (!p)
		return;
	/* A command that was forked meanwhile may hold the ends still: so the end is said. */
	if (p->keeper > 0)
		send(p->control, &end, 1, MSG_NOSIGNAL);
	if (p->control >= 0)
		close(p->control);
	for (int i = 0; i < PEEK_LANES; i++) {
		if (p->lanes[i].questions >= 0)
			close(p->lanes[i].questions);
		pthread_mutex_destroy(&p->lanes[i].lock);
	}
	while (p->keeper > 0 && waitpid(p->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	map_free(&p->held);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- questions ---- */

/* What a reader does: 'R' runs or waits for a CPU; 'S' and 'D' wait for something else, ...; 0: it
 * has ended. */
static char peek_state(const struct peek_lane *l)
{
	struct procfs_stat stat;
	struct buf text = { 0 };
	char path[32];
	char state = 0;
	int64_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)l->reader);
	n = procfs_read(AT_FDCWD, path, &text);
	if (n > 0 && procfs_stat_parse((const char *)text.bytes, (size_t)n, &stat) >= 0)
		state = stat.state == 'Z' || stat.state == 'X' ? 0 : stat.state;
	buf_free(&text);
	return state;
}

/* Notes who kept a reader waiting since a time. */
static void peek_hold(struct peek *p, struct peek_lane *l, uint64_t since_ns)
{
	uint64_t now_ns = peek_now_ns(), until_ns = now_ns + p->opts.rests * (now_ns - since_ns);

	pthread_mutex_lock(&p->lock);
	if (p->held.n >= HELD_MOST)
		map_free(&p->held);
	map_put(&p->held, l->question.pid, now_ns); /* without memory it is asked again */
	if (p->until_ns < until_ns)
		p->until_ns = until_ns;
	pthread_mutex_unlock(&p->lock);
	__atomic_fetch_add(&p->counts.held, 1, __ATOMIC_RELAXED);
	peek_replace(p, l);
}

/* Waits for a piece of the answer, which is n bytes. -ETIME: the process keeps the reader waiting.
 * -EBUSY: the reader is gone. since_ns: when it was asked; *waits: times that it was not there. */
static int peek_piece(struct peek *p, struct peek_lane *l, uint64_t since_ns, unsigned *waits,
                      size_t *n)
{
	const size_t head = offsetof(struct peek_answer, bytes);
	char state;

	for (;;) {
		uint64_t end_ns = since_ns + (1 + *waits) * (p->opts.limit_ms * NS_MS);
		uint64_t now_ns = peek_now_ns();
		int ms = now_ns < end_ns ? (int)((end_ns - now_ns) / NS_MS) + 1 : 0;
		struct pollfd poll_for = { .fd = l->questions, .events = POLLIN };
		ssize_t got = -1;

		if (poll(&poll_for, 1, ms) > 0)
			got = recv(l->questions, &l->answer, sizeof(l->answer), MSG_DONTWAIT);
		if (got == 0)
			return -EBUSY;
		if (got >= (ssize_t)head && l->answer.number == l->number) {
			*n = (size_t)got - head;
			return l->answer.error;
		}
		if (got >= 0 || peek_now_ns() < end_ns)
			continue;
		state = peek_state(l);
		if (state && state != 'R') {
			peek_hold(p, l, since_ns);
			return -ETIME;
		}
		if (!state || ++*waits > BUSY_MOST) {
			peek_replace(p, l);
			return -EBUSY;
		}
	}
}

/* Why a process is not looked at now; 0: it is. */
static int peek_refuses(struct peek *p, uint32_t pid)
{
	uint64_t now_ns = peek_now_ns(), since;
	int r = 0;

	pthread_mutex_lock(&p->lock);
	if (map_get(&p->held, pid, &since)) {
		if (now_ns < since + PEEK_AGAIN_S * NS_S)
			r = -ETIME;
		else
			map_del(&p->held, pid);
	}
	if (!r && now_ns < p->until_ns)
		r = -EBUSY;
	pthread_mutex_unlock(&p->lock);
	return r;
}

/* Where an answer goes. */
struct peek_taker {
	struct buf *ret;
	unsigned char *to; /* NULL: ret */
	uint64_t left;
	int error;
};

/* A peek_give. */
static int peek_take(void *ctx, struct peek_answer *a, size_t n)
{
	struct peek_taker *t = ctx;

	t->error = a->error;
	if (t->to && n > t->left)
		t->error = -EBUSY;
	else if (!t->to && buf_put(t->ret, a->bytes, n) < 0)
		t->error = -ENOMEM;
	if (t->to && !t->error) {
		memcpy(t->to, a->bytes, n);
		t->to += n;
		t->left -= n;
	}
	return t->error;
}

/* Asks a lane's question with n bytes of path. */
static int peek_ask(struct peek *p, struct peek_lane *l, size_t n, struct peek_taker *t)
{
	uint64_t since_ns = peek_now_ns();
	unsigned waits = 0;
	int r;

	if (!l->reader)
		peek_replace(p, l);
	if (!l->reader)
		return -EBUSY;
	l->question.number = ++l->number;
	if (send(l->questions, &l->question, offsetof(struct peek_question, path) + n,
	         MSG_NOSIGNAL) < 0)
		return -EBUSY;
	do {
		r = peek_piece(p, l, since_ns, &waits, &n);
		if (r >= 0)
			r = peek_take(t, &l->answer, n);
	} while (r >= 0 && !l->answer.last);
	return r;
}

/* A lane, locked: one that nobody uses, or else one that is waited for. */
static struct peek_lane *peek_lane(struct peek *p, uint32_t pid)
{
	for (int i = 0; i < PEEK_LANES; i++)
		if (!pthread_mutex_trylock(&p->lanes[i].lock))
			return &p->lanes[i];
	pthread_mutex_lock(&p->lanes[pid % PEEK_LANES].lock);
	return &p->lanes[pid % PEEK_LANES];
}

/* Asks a question, and has the answer taken. */
static int peek_question(struct peek *p, const struct peek_question *q, const char *path,
                         struct peek_taker *t)
{
	size_t n = strlen(path) + 1;
	struct peek_lane *l;
	int r;

	if (n > PEEK_PATH)
		return -ENAMETOOLONG;
	r = p ? peek_refuses(p, q->pid) : 0;
	if (r < 0)
		return r;
	l = p ? peek_lane(p, q->pid) : calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	memcpy(&l->question, q, offsetof(struct peek_question, path));
	memcpy(l->question.path, path, n);
	if (p) {
		r = peek_ask(p, l, n, t);
		pthread_mutex_unlock(&l->lock);
	} else {
		peek_reader_answer(&l->question, &l->answer, peek_take, t);
		r = t->error;
		free(l);
	}
	return r;
}

int peek_memory(struct peek *p, uint32_t pid, uint64_t at, void *to, size_t n)
{
	const struct peek_question q = { .at = at, .n = n, .pid = pid, .kind = PEEK_MEMORY };

	return peek_question(p, &q, "", &(struct peek_taker){ .to = to, .left = n });
}

int peek_file(struct peek *p, uint32_t pid, const char *path, size_t most, struct buf *ret)
{
	const struct peek_question q = { .n = most, .pid = pid, .kind = PEEK_FILE };

	return peek_question(p, &q, path, &(struct peek_taker){ .ret = ret });
}

int peek_maps(struct peek *p, uint32_t pid, const char *path, size_t most, struct buf *ret)
{
	const struct peek_question q = { .n = most, .pid = pid, .kind = PEEK_MAPS };

	return peek_question(p, &q, path, &(struct peek_taker){ .ret = ret });
}

bool peek_maps_next(const struct buf *maps, size_t *at, struct procfs_map *ret)
{
	struct peek_map m;

	if (maps->n - *at < sizeof(m))
		return false;
	memcpy(&m, maps->bytes + *at, sizeof(m));
	*at += sizeof(m);
	*ret = m.map;
	ret->path = (const char *)maps->bytes + *at;
	*at += m.path_size;
	return true;
}

struct peek_counts peek_counts(struct peek *p)
{
	struct peek_counts counts = {
		.held = __atomic_load_n(&p->counts.held, __ATOMIC_RELAXED),
		.cpu_ns = __atomic_load_n(&p->counts.cpu_ns, __ATOMIC_RELAXED),
	};

	for (int i = 0; i < PEEK_LANES; i++)
		counts.cpu_ns +=
		        peek_cpu_ns(__atomic_load_n(&p->lanes[i].reader, __ATOMIC_RELAXED));
	return counts;
}
