// SPDX-License-Identifier: MIT
/*
 * kwalk_learn.c: what is mapped in a process, from /proc and from the kernel's records, one at a
 * time and in the order of time. An exec is counted as the programs count it, so that no mapping of
 * one program is ever used for the next.
 *
 * Two sources tell of one thing, and neither is enough. /proc has what is there now, but nothing of
 * when it came, and costs time; records have each change with its time, but begin with the
 * recording, and some may be lost. So a process is read from /proc when it is first met, and again
 * only after a loss; between, records are applied. What is older than the reading (read_ns) is in
 * it already and is not applied.
 *
 * The programs count execs and losses of code of each process in a map that both sides read
 * (struct kwalk_changes). A reading holds only if these counts are the same before and after it.
 *
 * Invariant: learn_* run with the turn and under the lock of kwalk, and give the lock back while
 * /proc or the file of an object is read, which takes long: so the reader never waits for that.
 * With the turn, nobody else learns meanwhile. Whatever cannot be known is unknown: stacks end
 * there and say so; a wrong mapping is never used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "abi/record.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/context/kwalk_context.h"
#include "base/procfs.h"

#define PROT_EXECUTE 4u
#define TARGETS_READ (1u << 20)
#define LEARN_REST 10u /* times that a reading took are between one and the next */

/* ---- /proc ---- */

/* A process that the programs have not met has changed nothing. The flag that an exec is under way
 * is not part of the count. */
struct kwalk_changes learn_changes(struct kwalk *l, uint32_t pid)
{
	struct kwalk_changes c = { 0 };

	if (bpf_map_lookup_elem(l->changes, &pid, &c) < 0)
		return (struct kwalk_changes){ 0 };
	c.execs &= ~KWALK_REPLACING;
	return c;
}

/* A callback of maps_read. */
static void learn_keep(void *vmas, const struct kwalk_vma *m)
{
	buf_put(vmas, m, sizeof(*m));
}

/* Replaces what is known by what was read. If memory is out, the process is used no longer. */
static void learn_replace(struct kwalk *l, struct kwalk_space *s, const struct buf *vmas)
{
	if (vmas->failed ||
	    kwalk_space_replace(s, (const void *)vmas->bytes, vmas->n / sizeof(struct kwalk_vma),
	                        l->follow.seen_ns) < 0)
		kwalk_space_clear(s, UINT64_MAX);
}

/* What was known is dropped: records were lost, so the past of these mappings is not known. */
static void learn_anew(struct kwalk_space *s, const struct buf *vmas)
{
	const struct kwalk_vma *m = (const void *)vmas->bytes;

	kwalk_space_clear(s, UINT64_MAX);
	/* If memory is out, the mapping is unknown: stacks end there and say so. */
	for (size_t i = 0; !vmas->failed && i < vmas->n / sizeof(*m); i++)
		kwalk_space_put(s, &m[i]);
}

/*
 * Reads the mappings of a process as they are now; again if it replaced its program meanwhile, or
 * lost code. complete: all records until follow.seen_ns were applied, so that the past is known,
 * too.
 */
static int learn_read(struct kwalk *l, uint32_t pid, bool complete)
{
	struct buf text = { 0 }, vmas = { 0 };
	struct kwalk_space *s;
	int r = 0;

	for (unsigned tries = 0; tries < 8; tries++) {
		struct kwalk_changes now, before = learn_changes(l, pid);
		uint64_t now_ns = kwalk_now_ns();

		buf_clear(&vmas);
		pthread_mutex_unlock(&l->lock);
		r = maps_read(l, pid, now_ns, &text, learn_keep, &vmas);
		now = learn_changes(l, pid);
		pthread_mutex_lock(&l->lock);
		if (kwalk_is_over(l)) { /* mappings may have been left out */
			r = -ECANCELED;
			break;
		}
		/* What was read while the process changed may be half old and half new. */
		if (r != -E2BIG &&
		    (r < 0 || now.execs != before.execs || now.losses != before.losses))
			continue;
		s = kwalk_space_get(&l->spaces, pid, true);
		if (!s) {
			r = -ENOMEM;
			break;
		}
		s->execs = before.execs;
		s->losses = before.losses;
		s->read_ns = now_ns;
		s->gone_ns = s->left_ns = 0;
		s->outlived = false;
		if (r == -E2BIG)
			budget_leave(l, s);
		else if (complete)
			learn_replace(l, s, &vmas);
		else
			learn_anew(s, &vmas);
		s->read_cost_ns = kwalk_now_ns() - now_ns;
		r = 0;
		break;
	}
	buf_free(&text);
	buf_free(&vmas);
	return r;
}

/* The time from which on it may be read again. */
static uint64_t learn_due_ns(const struct kwalk_space *s)
{
	return s->left_ns ? s->left_ns + BUDGET_NS : s->read_ns + s->read_cost_ns * LEARN_REST;
}

/* Reads a process that was not read before the beginning, and is sampled now. While it replaces its
 * program this would be half old and half new; it is sampled again. */
static void learn_waiting(struct kwalk *l, uint32_t pid)
{
	struct kwalk_changes c = { 0 };

	if (l->opts.filter != KWALK_EVERYTHING ||
	    (bpf_map_lookup_elem(l->changes, &pid, &c) >= 0 && c.execs & KWALK_REPLACING))
		return;
	learn_read(l, pid, true);
}

/* A walk found no mapping where there should be one. It is read again if code was lost, or if an
 * earlier reading was cut short; not more often than the share of time that LEARN_REST leaves. */
void learn_missed(struct kwalk *l, uint32_t pid)
{
	const struct kwalk_space *s = kwalk_space_get(&l->spaces, pid, false);
	struct kwalk_changes now;

	if (!s) {
		learn_waiting(l, pid);
		return;
	}
	if (s->reading)
		return;
	now = learn_changes(l, pid);
	/* After an exec nothing is read before the record of it has come. */
	if (now.execs == s->execs && (s->left_ns || now.losses != s->losses) &&
	    kwalk_now_ns() >= learn_due_ns(s))
		learn_read(l, pid, true);
}

/* The process of a thread, or -ESRCH. */
static int learn_process_of(pid_t tid)
{
	struct buf text = { 0 };
	char path[32];
	const char *at;
	int pid = -ESRCH;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (procfs_read(AT_FDCWD, path, &text) >= 0) {
		at = strstr(buf_text(&text), "\nTgid:");
		if (at)
			pid = atoi(at + 6);
	}
	buf_free(&text);
	return pid;
}

/* Adds processes whose FORK may be among the lost records: the programs know which are targets, or
 * all are. */
static void learn_strangers(struct kwalk *l, struct buf *pids)
{
	size_t most = TARGETS_READ; /* where one goes while it is the last, they begin anew */
	uint32_t key = 0;
	int r;

	if (l->opts.filter == KWALK_EVERYTHING) {
		procfs_numbers(AT_FDCWD, "/proc", pids);
		return;
	}
	for (r = bpf_map_get_next_key(l->targets, NULL, &key); r >= 0 && most--;
	     r = bpf_map_get_next_key(l->targets, &key, &key)) {
		int pid = l->opts.filter == KWALK_THREADS ? learn_process_of((pid_t)key) : (int)key;

		if (pid > 0 && map_put(&l->followed, (uint64_t)pid, 1) >= 0)
			buf_put_u32(pids, (uint32_t)pid);
	}
}

/* Called after a loss, which may have taken any record: also a FORK, so processes are looked for
 * that are not known yet. */
void learn_again(struct kwalk *l)
{
	struct buf pids = { 0 };
	uint64_t pid, value;
	size_t i = 0, known;

	while (map_next(&l->spaces.by_pid, &i, &pid, &value))
		buf_put_u32(&pids, (uint32_t)pid);
	known = pids.n;
	learn_strangers(l, &pids);
	for (size_t j = 0; j + 4 <= pids.n && !kwalk_is_over(l); j += 4) {
		const struct kwalk_space *s;
		uint32_t one;

		memcpy(&one, pids.bytes + j, 4);
		s = kwalk_space_get(&l->spaces, one, false);
		if (s ? j < known && (!s->left_ns || kwalk_now_ns() >= learn_due_ns(s))
		      : !budget_waits(&l->budget))
			learn_read(l, one, false);
	}
	buf_free(&pids);
}

/* ---- records ---- */

/* Whether the process is known to have ended after this record of it. */
static bool learn_has_ended(const struct kwalk *l, uint32_t pid, uint64_t time_ns)
{
	uint64_t end_ns;

	return map_get(&l->follow.ended, pid, &end_ns) && end_ns >= time_ns;
}

/* Applies an MMAP2 record to its process's space, if the process is known and may still cost that
 * work. */
static void learn_mmap(struct kwalk *l, const struct seam_decoded *d)
{
	const struct seam_mmap *r = &d->mmap;
	struct kwalk_space *s = kwalk_space_get(&l->spaces, r->pid, false);
	struct kwalk_vma m = { .start = r->addr,
		               .end = r->addr + r->len,
		               .pgoff = r->pgoff,
		               .since_ns = d->id.time_ns };
	struct kwalk_ask ask = { .pid = (pid_t)r->pid,
		                 .path = r->filename,
		                 .pgoff = r->pgoff,
		                 .size = r->len,
		                 .build_id_size = r->has_build_id ? r->build_id_size : 0,
		                 .inode = r->has_build_id ? 0 : r->ino,
		                 .gone = learn_has_ended(l, r->pid, d->id.time_ns) };
	bool known;

	memcpy(ask.build_id, r->build_id, sizeof(ask.build_id));
	/* Inserting in the middle of many mappings moves half of them. */
	if (!s || !(r->prot & PROT_EXECUTE) || d->id.time_ns < s->read_ns ||
	    !budget_charge(l, s, BUDGET_LINE + s->n / 2))
		return;
	s->outlived |= s->gone_ns != 0;
	pthread_mutex_unlock(&l->lock);
	known = maps_table(l, &m, &ask);
	pthread_mutex_lock(&l->lock);
	if (known) /* spaces are freed by who has the turn */
		kwalk_space_put(s, &m);
}

/* Gives the child its parent's mappings. If the parent is being read from /proc just now, the child
 * is read, too. */
static void learn_fork(struct kwalk *l, const struct seam_decoded *d)
{
	const struct seam_task *r = &d->task;
	struct kwalk_space *from, *to;

	if (r->pid == r->ppid)
		return;
	context_begin(l, r->pid, d->id.time_ns);
	/* A child of a target is one, if children are inherited. */
	if (map_get(&l->followed, r->ppid, NULL) && !l->opts.no_inherit)
		map_put(&l->followed, r->pid, 1);
	from = kwalk_space_get(&l->spaces, r->ppid, false);
	if (!from)
		return;
	if (from->reading) { /* what it has mapped is not known yet */
		learn_read(l, r->pid, false);
		return;
	}
	to = kwalk_space_get(&l->spaces, r->pid, true);
	if (!to || (to->n && !to->gone_ns)) /* read from /proc already */
		return;
	to->execs = to->losses = 0;
	to->gone_ns = 0;
	to->outlived = false;
	to->read_ns = d->id.time_ns;
	kwalk_space_copy(to, from);
}

/* An exec gives the process an empty space, which the MMAP2 records that follow fill. */
static void learn_comm(struct kwalk *l, const struct seam_decoded *d)
{
	struct kwalk_space *s = kwalk_space_get(&l->spaces, d->comm.pid, false);

	if (!s || !d->comm.exec || d->id.time_ns < s->read_ns)
		return;
	s->execs++;
	context_begin(l, d->comm.pid, d->id.time_ns);
	kwalk_space_exec(s, d->id.time_ns);
}

static void learn_exit(struct kwalk *l, const struct seam_decoded *d)
{
	struct kwalk_space *s = kwalk_space_get(&l->spaces, d->task.pid, false);

	/* At the leader's exit other threads may still run, so the mappings stay for a while. */
	if (s && d->task.pid == d->task.tid)
		s->gone_ns = kwalk_now_ns();
}

/* 0 also for records that say nothing of mappings, or cannot be decoded. */
int learn_record(struct kwalk *l, const unsigned char *bytes, uint16_t size)
{
	struct seam_record record = { .size = size, .bytes = bytes };
	struct seam_decoded d;

	memcpy(&record.type, bytes, 4);
	memcpy(&record.misc, bytes + 4, 2);
	if (record.type == SEAM_RECORD_LOST)
		l->follow.lost++;
	if (record_decode(l->follow.events, &record, &d, NULL) < 0)
		return 0;
	switch (record.type) {
	case SEAM_RECORD_MMAP2:
		learn_mmap(l, &d);
		break;
	case SEAM_RECORD_FORK:
		learn_fork(l, &d);
		break;
	case SEAM_RECORD_COMM:
		learn_comm(l, &d);
		break;
	case SEAM_RECORD_EXIT:
		learn_exit(l, &d);
		break;
	default:
		break;
	}
	return 0;
}

/* ---- targets ---- */

/* A command that is held back has the recorder's mappings until its exec, and no sample is taken
 * before: nothing is read of it, and what it maps comes as records. */
static int learn_held(struct kwalk *l, uint32_t pid)
{
	struct kwalk_changes now = learn_changes(l, pid);
	struct kwalk_space *s = kwalk_space_get(&l->spaces, pid, true);

	if (!s)
		return -ENOMEM;
	s->execs = now.execs;
	s->losses = now.losses;
	s->read_ns = kwalk_now_ns();
	return 0;
}

/* Programs find a target by its number, so it is put into their map before its mappings are read:
 * what it maps from then on comes as records. */
int kwalk_target(struct kwalk *l, pid_t pid)
{
	int process = learn_process_of(pid), r;
	uint32_t key = (uint32_t)pid, one = 1;

	if (process <= 0)
		return -ESRCH;
	pthread_mutex_lock(&l->turn);
	pthread_mutex_lock(&l->lock);
	r = map_put(&l->followed, (uint64_t)process, 1);
	if (r >= 0 && l->opts.filter != KWALK_EVERYTHING &&
	    bpf_map_update_elem(l->targets, &key, &one, BPF_ANY) < 0)
		r = -errno;
	if (r >= 0)
		r = pid == l->opts.held ? learn_held(l, (uint32_t)process)
		                        : learn_read(l, (uint32_t)process, false);
	kwalk_publish(l);
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->turn);
	return r == -ENOENT ? -ESRCH : r;
}

bool kwalk_is_followed(struct kwalk *l, uint32_t pid)
{
	bool is;

	if (!filter_has_matched(l, pid))
		return false;
	if (l->opts.filter == KWALK_EVERYTHING)
		return true;
	if (!lock_soon(l, &l->lock))
		return true; /* a record too many does no harm */
	is = map_get(&l->followed, pid, NULL);
	pthread_mutex_unlock(&l->lock);
	return is;
}

/* The process is a zombie for which its parent has not waited, and may never wait: until then it is
 * among the targets. If its state cannot be read, it is not known to have exited. */
static bool learn_has_exited(const struct kwalk *l, uint32_t pid)
{
	struct procfs_stat stat = { 0 };
	struct buf text = { 0 };
	char path[32];
	int64_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	n = procfs_read(AT_FDCWD, path, &text);
	if (n > 0 && procfs_stat_parse(buf_text(&text), (size_t)n, &stat) < 0)
		stat.state = 0;
	buf_free(&text);
	/* Other threads of the process may still live. */
	return (stat.state == 'Z' || stat.state == 'X') &&
	       (l->opts.filter == KWALK_THREADS || stat.threads < 2);
}

/* The target that was alive at the last call is asked first, so that this is one look as long as it
 * lives. */
bool kwalk_targets_gone(struct kwalk *l)
{
	uint32_t key = l->alive, value;
	bool more;

	if (l->opts.filter == KWALK_EVERYTHING)
		return false;
	if (key && bpf_map_lookup_elem(l->targets, &key, &value) >= 0 && !learn_has_exited(l, key))
		return false;
	more = bpf_map_get_next_key(l->targets, NULL, &key) >= 0;
	while (more && learn_has_exited(l, key)) {
		uint32_t before = key;

		more = bpf_map_get_next_key(l->targets, &before, &key) >= 0;
	}
	l->alive = more ? key : 0;
	return !more;
}
