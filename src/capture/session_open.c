// SPDX-License-Identifier: MIT
/*
 * session_open.c: finds the attr that the kernel accepts, opens every event on every task and CPU,
 * maps one ring per CPU and points all events of that CPU at it.
 *
 * Invariant: attrs are settled by a trial before the first event stays open, so all descriptors of
 * a stream have the same attr, which is the one that the file will say.
 *
 * Tasks may end at any time. ESRCH while opening means that this task's row stays empty; it is an
 * error only when no task is left.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/event_unit.h"
#include "base/array.h"
#include "capture/ioctl.h"
#include "capture/session_parts.h"

/* ---- tasks ---- */

static int session_tasks_add(struct session *s, pid_t tid, size_t *capacity)
{
	if (ARRAY_ROOM(&s->tasks, capacity, s->n_tasks + 1) < 0)
		return -ENOMEM;
	s->tasks[s->n_tasks++] = tid;
	return 0;
}

// Every thread that pid has now. Threads that they start later inherit the events.
static int session_tasks_of(struct session *s, pid_t pid, size_t *capacity)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	/* Numbers are the only entries that begin with a digit. */
	while (r >= 0 && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			r = session_tasks_add(s, (pid_t)strtol(entry->d_name, NULL, 10), capacity);
	closedir(dir);
	return r;
}

/* Tasks that are gone are counted in tasks_gone. -ESRCH: none is left. */
int session_find_tasks(struct session *s, struct seam_error *err)
{
	size_t capacity = 0;
	pid_t missing = 0;

	for (size_t i = 0; session_per_task(s) && i < s->opts.n_pids; i++) {
		pid_t pid = s->opts.pids[i];
		int r = s->opts.target == SESSION_PIDS ? session_tasks_of(s, pid, &capacity)
		                                       : session_tasks_add(s, pid, &capacity);

		if (r == -ENOENT || r == -ESRCH) {
			missing = pid;
			s->tasks_gone++;
		} else if (r < 0) {
			return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
			                      "process %d: its threads cannot be listed: %s",
			                      (int)pid, strerror(-r));
		}
	}
	if (session_per_task(s) && !s->n_tasks)
		return seam_error_set(err, ESRCH, NULL, SEAM_NO_OFFSET, NULL,
		                      "no such process or thread: %d", (int)missing);
	return 0;
}

/* ---- trial ---- */

/* How the kernel says that it, or this PMU, has no such event. */
static bool session_error_is_absence(int error)
{
	return error == ENOENT || error == ENODEV || error == ENXIO || error == EOPNOTSUPP;
}

/* Whether hardware counts it: it is neither the kernel's own counter nor a tracepoint. */
static bool session_stream_is_hardware(const struct session_stream *st)
{
	return st->attr.type != SEAM_TYPE_SOFTWARE && st->attr.type != SEAM_TYPE_TRACEPOINT;
}

// "cycles" -> "cycles:u", "cycles:p" -> "cycles:pu".
static int session_stream_name_user(struct session_stream *st)
{
	const char *modifiers = strrchr(st->name, '/');
	char *name;

	/* A PMU's event has its terms between slashes, and a ':' may be part of them. */
	modifiers = strchr(modifiers ? modifiers + 1 : st->name, ':');
	if (asprintf(&name, "%s%s", st->name, modifiers ? "u" : ":u") < 0)
		return -ENOMEM;
	free(st->name);
	st->name = name;
	return 1;
}

/* The modifiers behind the event's own name: "u" of "cycles:u" and of "cycles/freq=99/u". */
static const char *session_stream_modifiers(const char *name)
{
	const char *slash = strrchr(name, '/'), *at = slash ? slash + 1 : strchr(name, ':');

	return !at ? "" : *at == ':' ? at + 1 : at;
}

/*
 * Whether the event is cycles, by name or by default, so that cpu-clock can replace it. Not if only
 * a guest's are wanted, and not if the PMU has cycles but cannot sample them as precisely as asked
 * for.
 */
static bool session_stream_may_be_clock(const struct session_stream *st, int error)
{
	const struct seam_attr *a = &st->attr;

	if (a->type != SEAM_TYPE_HARDWARE || a->config || a->flags & SEAM_ATTR_EXCLUDE_HOST)
		return false;
	if (st->is_default)
		return session_error_is_absence(error) || error == EINVAL;
	return session_error_is_absence(error) &&
	       (error != EOPNOTSUPP || !(a->flags >> SEAM_ATTR_PRECISE_IP_SHIFT & 3));
}

/*
 * Replaces cycles by time, and reports it: most virtual machines cannot count cycles. Which side is
 * sampled (:u, :k, :h, :I) stays, and so does a name that was given to the event.
 */
static int session_stream_to_cpu_clock(struct session *s, struct session_stream *st, int error)
{
	const char *from = session_stream_modifiers(st->name);
	size_t own = strcspn(st->name, ":/");
	bool named = (own != 6 || strncmp(st->name, "cycles", own)) &&
	             (own != 10 || strncmp(st->name, "cpu-cycles", own));
	char to[16] = "";
	size_t n = 0;

	for (; *from && n + 1 < sizeof(to); from++)
		if (strchr("ukhIDe", *from))
			to[n++] = *from;
	log_line(s->log, LOG_PLAIN,
	         "event: %s%scpu-clock%s%s, as cycles cannot be counted here (%s)%s",
	         named ? st->name : "", named ? " is " : "", n ? ":" : "", to,
	         session_error_is_absence(error) ? "there is no PMU" : strerror(error),
	         st->attr.flags & SEAM_ATTR_FREQ ? "" : "; its period is nanoseconds");
	if (!named) {
		free(st->name);
		if (asprintf(&st->name, "cpu-clock%s%s", n ? ":" : "", to) < 0)
			st->name = NULL;
	}
	if (!st->name)
		return -ENOMEM;
	st->attr.type = SEAM_TYPE_SOFTWARE;
	st->attr.config = 0;
	st->attr.flags &= ~(3ULL << SEAM_ATTR_PRECISE_IP_SHIFT | SEAM_ATTR_EXCLUDE_GUEST);
	st->is_default = st->precise_max = false;
	session_attr_source_chain(st);
	return 1;
}

/*
 * To be called when an event was refused although the kernel knows all that it asks for. Changes
 * what the event can do without. 1: something was changed, so try again; 0: nothing is left to
 * change.
 */
static int session_stream_relent(struct session *s, struct session_stream *st, int error)
{
	uint64_t *flags = &st->attr.flags;
	unsigned level = *flags >> SEAM_ATTR_PRECISE_IP_SHIFT & 3;
	/* EINVAL and EOPNOTSUPP: which part is refused is not said, so that parts are taken away in
	 * turn. */
	bool refused = error == EINVAL || error == EOPNOTSUPP;
	bool denied = error == EACCES || error == EPERM;

	/* Only where the user asked for "as precise as there is". */
	if (level && st->precise_max && refused) {
		log_line(s->log, LOG_VERBOSE, "%s: precise_ip %u is refused, trying %u", st->name,
		         level, level - 1);
		*flags -= 1ULL << SEAM_ATTR_PRECISE_IP_SHIFT;
		session_attr_source_chain(st);
		return 1;
	}
	if (session_stream_is_hardware(st) && *flags & SEAM_ATTR_EXCLUDE_GUEST && refused) {
		log_line(s->log, LOG_VERBOSE, "%s: the PMU cannot leave guests out", st->name);
		*flags &= ~SEAM_ATTR_EXCLUDE_GUEST;
		return 1;
	}
	if (session_stream_may_be_clock(st, error))
		return session_stream_to_cpu_clock(s, st, error);
	/* Without the right to sample the kernel a user still has his own code. Only if he did not
	 * say which side he wants, and only if probes show that the kernel's side is what was
	 * refused. */
	if (denied && !st->exclude_given && !(*flags & SEAM_ATTR_EXCLUDE_KERNEL) &&
	    features_has(s->features, FEATURE_SOFTWARE_CLOCK) &&
	    !features_has(s->features, FEATURE_KERNEL) &&
	    (st->per_task || features_has(s->features, FEATURE_SYSTEM_WIDE))) {
		log_line(s->log, LOG_PLAIN, "%s: user space only: %s (%s)", st->name,
		         features_get(s->features, FEATURE_KERNEL)->reason,
		         features_get(s->features, FEATURE_KERNEL)->remedy);
		*flags |= SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV |
		          SEAM_ATTR_EXCLUDE_CALLCHAIN_KERNEL;
		return session_stream_name_user(st);
	}
	return 0;
}

/* The sentence for the user: what was refused, by whom, and what to do. */
static int session_stream_fail(struct session *s, struct session_stream *st, pid_t pid, int cpu,
                               int error, struct seam_error *err)
{
	char text[400];

	features_explain(s->features, &st->attr, st->name, pid, cpu, error, text, sizeof(text));
	return seam_error_set(err, error, NULL, SEAM_NO_OFFSET, NULL, "%s", text);
}

/* The most that a clock samples all CPUs, a second. In a virtual machine a timer takes some 10 us
 * (Linux 6.18): at 100,000 Hz nothing else got on, neither the recorder nor who would stop it. */
#define CLOCK_HZ_MAX 50000

/* Lowers the frequency of a clock to what a machine bears. -EINVAL: who asked for a frequency by
 * --strict-freq wants it or nothing. */
static int session_stream_bearable(struct session *s, struct session_stream *st,
                                   struct seam_error *err)
{
	static const char why[] = "beyond that the clocks of all CPUs can take all of their time";
	unsigned long long hz = st->attr.sample_period;

	if (!event_unit_is_time(&(struct seam_event){ .attr = st->attr }) || st->per_task ||
	    !(st->attr.flags & SEAM_ATTR_FREQ) || hz <= CLOCK_HZ_MAX)
		return 0;
	if (s->opts.strict_frequency)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "event '%s': %llu Hz is above %d Hz: %s", st->name, hz,
		                      CLOCK_HZ_MAX, why);
	log_line(s->log, LOG_PLAIN, "%s: %d Hz instead of %llu: %s", st->name, CLOCK_HZ_MAX, hz,
	         why);
	st->attr.sample_period = CLOCK_HZ_MAX;
	return 0;
}

/* Finds the attr that the kernel accepts for one event, on its first CPU and a task that still
 * exists. Each refusal takes something away from the attr, or ends with err. */
static int session_stream_try(struct session *s, struct session_stream *st, struct seam_error *err)
{
	size_t row = 0;

	for (;;) {
		pid_t pid = stream_pid(s, st, row);
		int fd = features_open(s->features, &st->attr, pid, st->cpus[0], -1, s->log);
		int r;

		if (fd >= 0) {
			s->features->kernel.close(s->features->kernel.ctx, fd);
			return session_stream_bearable(s, st, err);
		}
		/* The task ended. Any other one of the target tells the same. */
		if (fd == -ESRCH && row + 1 < stream_rows(s, st)) {
			row++;
			continue;
		}
		r = session_stream_relent(s, st, -fd);
		if (r < 0)
			return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
		if (!r)
			return session_stream_fail(s, st, pid, st->cpus[0], -fd, err);
	}
}

/* A weak group that the PMU cannot schedule falls apart into single events, each its own leader. */
static void session_group_dissolve(struct session *s, uint32_t leader)
{
	log_line(s->log, LOG_PLAIN, "%s: the group cannot be counted together: events are apart",
	         s->streams[leader].name);
	for (size_t i = leader + 1; i < s->n_streams && s->streams[i].leader == leader; i++) {
		s->streams[i].leader = (uint32_t)i;
		s->streams[i].own_leader = true;
		session_leader_flags(s, &s->streams[i]);
	}
}

/* Tries whether the PMU takes the events of a group together. A weak group that it does not take is
 * dissolved; any other is an error. */
static int session_group_try(struct session *s, uint32_t leader, struct seam_error *err)
{
	const struct kernel *k = &s->features->kernel;
	struct session_stream *head = &s->streams[leader], *st = head;
	/* More members are not tried together: a PMU has a few counters. */
	int fds[64];
	size_t n = 0;
	int r = 0;

	for (size_t i = leader; i < s->n_streams && s->streams[i].leader == leader && n < 64; i++) {
		st = &s->streams[i];
		r = features_open(s->features, &st->attr, stream_pid(s, st, 0), st->cpus[0],
		                  n ? fds[0] : -1, s->log);
		if (r < 0)
			break;
		fds[n++] = r;
	}
	/* Backwards: the leader is the last to go. */
	while (n)
		k->close(k->ctx, fds[--n]);
	if (r >= 0 || r == -ESRCH)
		return 0;
	if (head->weak) {
		session_group_dissolve(s, leader);
		return 0;
	}
	return session_stream_fail(s, st, stream_pid(s, st, 0), st->cpus[0], -r, err);
}

/* "syscalls:" in front of both names. */
static bool session_stream_same_system(const struct session_stream *a,
                                       const struct session_stream *b)
{
	size_t n = strcspn(a->name, ":");

	return !strncmp(a->name, b->name, n + 1);
}

/*
 * Tracepoints of one system that ask for the same are allowed or refused together, and a trial of
 * one takes 30 ms: the kernel patches its code and waits for every CPU. `composed` is what the
 * first asked for before it was tried.
 */
static bool session_stream_is_like(const struct session_stream *st,
                                   const struct session_stream *first,
                                   const struct seam_attr *composed)
{
	struct seam_attr attr = st->attr;

	attr.config = composed->config;
	return attr.type == SEAM_TYPE_TRACEPOINT && !memcmp(&attr, composed, sizeof(attr)) &&
	       st->per_task == first->per_task && st->exclude_given == first->exclude_given &&
	       session_stream_same_system(st, first);
}

/* What the first one had to give up is given up here, too, and its name says so. */
static int session_stream_take_over(struct session_stream *st, const struct session_stream *first)
{
	uint64_t config = st->attr.config;
	bool user = ~st->attr.flags & first->attr.flags & SEAM_ATTR_EXCLUDE_KERNEL;

	st->attr = first->attr;
	st->attr.config = config;
	return user ? session_stream_name_user(st) : 0;
}

/* -EINTR and err, when opts.stopped says so. */
static int session_stopped(struct session *s, struct seam_error *err)
{
	if (!s->opts.stopped || !s->opts.stopped())
		return 0;
	return seam_error_set(err, EINTR, NULL, SEAM_NO_OFFSET, NULL,
	                      "stopped before sampling began");
}

/* Tries every event, but of tracepoints that ask for the same only the first. */
static int session_try_each(struct session *s, struct seam_error *err)
{
	/* What the first of a run of like events asked for, before anything was taken away from
	 * it. */
	struct seam_attr composed = { 0 };
	uint32_t first = 0;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];

		if (i && session_stream_is_like(st, &s->streams[first], &composed)) {
			st->like = first;
			r = session_stream_take_over(st, &s->streams[first]);
			continue;
		}
		st->like = first = i;
		composed = st->attr;
		r = session_stopped(s, err);
		if (r >= 0)
			r = session_stream_try(s, st, err);
	}
	return r;
}

/* First each event by itself, then each group together: an attr must be right before a group can
 * be. */
int session_try(struct session *s, struct seam_error *err)
{
	int tried = session_try_each(s, err);

	if (tried < 0)
		return tried;
	for (size_t i = 0; i + 1 < s->n_streams; i++) {
		int r = 0;

		/* A leader that is followed by a member of its own. */
		if (s->streams[i].own_leader && !s->streams[i + 1].own_leader)
			r = session_group_try(s, (uint32_t)i, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* As session_stream_try, for an attr of the session's choice, which may be refused without harm. */
bool session_accepts(struct session *s, struct session_stream *st, const struct seam_attr *attr)
{
	const struct kernel *k = &s->features->kernel;
	int fd = -ESRCH;

	// If the task has ended, the failure tells nothing about the attr.
	for (size_t row = 0; fd == -ESRCH && row < stream_rows(s, st); row++)
		fd = k->open(k->ctx, attr, stream_pid(s, st, row), st->cpus[0], -1,
		             KERNEL_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	k->close(k->ctx, fd);
	return true;
}

/* An event that counts a whole CPU needs CAP_PERFMON or perf_event_paranoid 0. */
bool session_try_deferred(struct session *s)
{
	const struct kernel *k = &s->features->kernel;
	struct seam_attr attr = session_deferred_attr(s);
	int fd = features_open(s->features, &attr, -1, s->online[0], -1, s->log);

	if (fd < 0)
		return false;
	k->close(k->ctx, fd);
	return true;
}

/* ---- the real thing ---- */

/* The place of a descriptor in a stream's table. */
static int *session_stream_fd(struct session_stream *st, size_t row, size_t cpu)
{
	return &st->fds[row * st->n_cpus + cpu];
}

// The leader's descriptor for the same task and CPU; members are on the CPUs of their leader.
static int session_stream_group_fd(struct session *s, struct session_stream *st, size_t row,
                                   size_t cpu)
{
	struct session_stream *leader = &s->streams[st->leader];

	if (leader == st)
		return -1;
	for (size_t i = 0; i < leader->n_cpus; i++)
		if (leader->cpus[i] == st->cpus[cpu])
			return *session_stream_fd(leader, row, i);
	return -1;
}

/* Opens one event for one task on all of its CPUs. On failure the caller closes the row. */
static int session_stream_open_row(struct session *s, struct session_stream *st, size_t row)
{
	for (size_t cpu = 0; cpu < st->n_cpus; cpu++) {
		int fd =
		        features_open(s->features, &st->attr, stream_pid(s, st, row), st->cpus[cpu],
		                      session_stream_group_fd(s, st, row, cpu), s->log);

		if (fd < 0)
			return fd;
		*session_stream_fd(st, row, cpu) = fd;
		// A kernel that has SAMPLE_IDENTIFIER has this request.
		if (ioctl(fd, IOCTL_ID, &st->ids[row * st->n_cpus + cpu]) < 0)
			return -errno;
	}
	return 0;
}

/* The row is empty after it. It may be called twice. */
static void session_stream_close_row(struct session *s, struct session_stream *st, size_t row)
{
	const struct kernel *k = &s->features->kernel;

	for (size_t cpu = 0; st->fds && cpu < st->n_cpus; cpu++) {
		int *fd = session_stream_fd(st, row, cpu);

		if (*fd >= 0)
			k->close(k->ctx, *fd);
		*fd = -1;
	}
}

/* Room for all descriptors, with none in it: so closing is right at any time. */
static int session_stream_allocate(struct session *s, struct session_stream *st,
                                   struct seam_error *err)
{
	size_t n = stream_rows(s, st) * st->n_cpus;

	st->fds = malloc(n * sizeof(*st->fds));
	st->ids = calloc(n, sizeof(*st->ids));
	if (!st->fds || !st->ids)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
	for (size_t i = 0; i < n; i++)
		st->fds[i] = -1;
	return 0;
}

// Opens all events of one task or, if it has ended, none.
static int session_open_row(struct session *s, size_t row, bool per_task, struct seam_error *err)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct session_stream *st = &s->streams[i];
		int r = session_stopped(s, err);

		if (r < 0)
			return r;
		r = st->per_task == per_task ? session_stream_open_row(s, st, row) : 0;
		if (r >= 0)
			continue;
		/* Only a task that has ended may be left out. */
		if (r != -ESRCH || !per_task)
			return session_stream_fail(s, st, stream_pid(s, st, row), st->cpus[0], -r,
			                           err);
		/* Streams before this one have opened theirs: a task is in the recording with all
		 * events or none. */
		for (size_t j = 0; j <= i; j++)
			if (s->streams[j].per_task)
				session_stream_close_row(s, &s->streams[j], row);
		s->tasks_gone++;
		return 0;
	}
	return 1;
}

/* Opens every event on every task and CPU. A task that ended meanwhile is left out; -ESRCH if that
 * was the last one. */
int session_open_all(struct session *s, struct seam_error *err)
{
	size_t alive = 0;
	int r;

	/* All rooms before the first descriptor: session_close_fds looks at every stream. */
	for (size_t i = 0; i < s->n_streams; i++) {
		r = session_stream_allocate(s, &s->streams[i], err);
		if (r < 0)
			return r;
	}
	/* Per-task streams row by row, then those of whole CPUs, which have one row. */
	for (size_t row = 0; session_per_task(s) && row < s->n_tasks; row++) {
		r = session_open_row(s, row, true, err);
		if (r < 0)
			return r;
		alive += r > 0;
	}
	if (session_per_task(s) && !alive)
		return seam_error_set(err, ESRCH, NULL, SEAM_NO_OFFSET, NULL,
		                      "no such process or thread: %d", (int)s->tasks[0]);
	r = session_open_row(s, 0, false, err);
	return r < 0 ? r : 0;
}

void session_close_fds(struct session *s)
{
	for (size_t i = 0; i < s->n_streams; i++)
		for (size_t row = 0; row < stream_rows(s, &s->streams[i]); row++)
			session_stream_close_row(s, &s->streams[i], row);
}

/* ---- rings ---- */

/* RING_PLAIN is perf's default (-m 512K). With stack copies a ring has up to 4 MiB, and all rings
 * of a machine together at most 128 MiB: the memory is locked. */
#define RING_PLAIN (512u << 10)
#define RING_COPY (4u << 20)
#define RINGS_COPY_MOST (128u << 20)

/* The descriptor over which a ring is mapped: of the last stream, because that one is on every CPU.
 * Its first task may have ended; ring_row says which row it was. */
static int session_ring_owner(struct session *s, size_t cpu)
{
	struct session_stream *last = &s->streams[s->n_streams - 1]; // answers, or else side-band

	for (size_t row = 0; row < stream_rows(s, last); row++) {
		int fd = *session_stream_fd(last, row, cpu);

		if (fd < 0)
			continue;
		s->ring_row[cpu] = row;
		return fd;
	}
	return -1;
}

static void session_rings_unmap(struct session *s)
{
	while (s->n_rings)
		ring_unmap(&s->rings[--s->n_rings]);
}

/* One ring per online CPU, all or none. */
static int session_rings_map(struct session *s, size_t pages)
{
	for (size_t cpu = 0; cpu < s->n_online; cpu++) {
		int r = ring_map(&s->rings[cpu], session_ring_owner(s, cpu), s->online[cpu], pages);

		if (r < 0) {
			session_rings_unmap(s);
			return r;
		}
		s->n_rings++;
	}
	s->ring_pages = pages;
	return 0;
}

/* The user's number of pages, or the default, rounded up to a power of two as the kernel
 * demands. */
static size_t session_rings_pages_wanted(struct session *s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t most = RINGS_COPY_MOST / s->n_online, want = s->opts.mmap_pages, pages = 1;
	bool copies = false;

	// A sample with a copy is about 50 times as long as one without.
	for (size_t i = 0; i < s->n_streams; i++)
		copies |= s->streams[i].attr.sample_type & SEAM_SAMPLE_STACK_USER;
	if (!want && copies)
		want = (most < RING_COPY ? most : RING_COPY) / page;
	if (want < RING_PLAIN / page && !s->opts.mmap_pages)
		want = RING_PLAIN / page;

	while (pages < want && pages < SIZE_MAX / 4 / page)
		pages *= 2;
	return pages;
}

/* Makes all descriptors of an event write into the ring of their CPU. */
static int session_stream_redirect(struct session *s, struct session_stream *st,
                                   struct seam_error *err)
{
	size_t n = stream_rows(s, st) * st->n_cpus;

	for (size_t i = 0; i < n; i++) {
		int cpu = st->cpus[i % st->n_cpus];
		struct ring *ring = s->rings;

		/* The ring of the same CPU: the kernel refuses output into a ring of another. */
		while (ring < s->rings + s->n_rings && ring->cpu != cpu)
			ring++;
		/* Gone with its task, or the ring's own event. */
		if (st->fds[i] < 0 || ring == s->rings + s->n_rings || ring->fd == st->fds[i])
			continue;
		if (ioctl(st->fds[i], IOCTL_SET_OUTPUT, ring->fd) < 0)
			return seam_error_set(err, errno, NULL, SEAM_NO_OFFSET, NULL,
			                      "event '%s': cannot write into the ring of CPU %d: "
			                      "%s",
			                      st->name, cpu, strerror(errno));
	}
	return 0;
}

/* Maps one ring per CPU and points all events there. If the limit of locked memory demands it, the
 * rings are halved until they fit, and that is said. */
int session_map(struct session *s, struct seam_error *err)
{
	size_t want = session_rings_pages_wanted(s), pages = want;
	size_t plain = RING_PLAIN / (size_t)sysconf(_SC_PAGESIZE);
	int r = session_rings_map(s, pages);

	/* EPERM: the limit of locked memory would be passed. ENOMEM: the kernel has no pages. Half
	 * as much may fit. */
	while ((r == -EPERM || r == -ENOMEM) && pages > 1) {
		pages /= 2;
		r = session_rings_map(s, pages);
	}
	if (r < 0)
		return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
		                      "no ring can be mapped: %s (sysctl "
		                      "kernel.perf_event_mlock_kb, ulimit -l)",
		                      strerror(-r));
	if (pages < want)
		log_line(s->log, s->opts.mmap_pages || pages < plain ? LOG_PLAIN : LOG_VERBOSE,
		         "rings: %zu pages per CPU instead of %zu: over the limit of locked memory "
		         "(sysctl kernel.perf_event_mlock_kb, ulimit -l)",
		         pages, want);
	for (size_t i = 0; i < s->n_streams; i++) {
		r = session_stream_redirect(s, &s->streams[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}
