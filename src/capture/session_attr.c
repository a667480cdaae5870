// SPDX-License-Identifier: MIT
/*
 * session_attr.c: what each event of a recording asks of the kernel, from the options. Opens
 * nothing.
 *
 * The event's own modifiers and terms come first, then the options, then defaults. What the kernel
 * then refuses is taken out in session_open.c and features.c.
 *
 * Invariant: all events agree on the fields that sample_id is made of, so that one reader's rule
 * finds the event of any record (SAMPLE_IDENTIFIER).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session_parts.h"

#define CONFIG_DUMMY 9 /* of SEAM_TYPE_SOFTWARE */
#define CONFIG_BPF_OUTPUT 10

static int session_no_memory(struct seam_error *err)
{
	return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
}

/* What every event has, dummies too. The CPU is left out where each event is of one task and nobody
 * asked for it: 8 bytes a sample. */
static uint64_t attr_id_fields(const struct session *s)
{
	const struct session_opts *o = &s->opts;
	uint64_t type = SEAM_SAMPLE_TID | SEAM_SAMPLE_IDENTIFIER;

	if (!o->no_sample_time)
		type |= SEAM_SAMPLE_TIME;
	if (!session_sideband_per_task(s) || o->cpus || o->sample_cpu)
		type |= SEAM_SAMPLE_CPU;
	return type;
}

/* What the read_format of all events has: ids tell members of a group apart, LOST is the kernel's
 * own count. */
static void attr_common(const struct session *s, struct seam_attr *attr, bool per_task)
{
	attr->flags |= SEAM_ATTR_SAMPLE_ID_ALL;
	attr->read_format |= SEAM_FORMAT_ID | SEAM_FORMAT_LOST;
	if (per_task && !s->opts.no_inherit)
		attr->flags |= SEAM_ATTR_INHERIT;
	if (s->opts.use_clockid) {
		attr->flags |= SEAM_ATTR_USE_CLOCKID;
		attr->clockid = s->opts.clockid;
	}
}

// The kernel's limit of samples per second; frequencies above it are refused by the kernel.
static int attr_frequency(struct session *s, const char *name, uint64_t *hz, struct seam_error *err)
{
	static const char limit_path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	long long limit = 0;
	bool known = !kernel_number(&s->features->kernel, limit_path, &limit) && limit > 0;

	if (*hz == UINT64_MAX) /* -F max */
		*hz = known ? (uint64_t)limit : SESSION_FREQUENCY_DEFAULT;
	if (!known || *hz <= (uint64_t)limit)
		return 0;
	/* Strict: who asked for a frequency by --strict-freq wants it or nothing. */
	if (s->opts.strict_frequency)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "event '%s': %llu Hz is above the kernel's limit of %lld "
		                      "(kernel.perf_event_max_sample_rate)",
		                      name, (unsigned long long)*hz, limit);
	log_line(s->log, LOG_PLAIN,
	         "%s: %lld Hz instead of %llu: the kernel's limit "
	         "(kernel.perf_event_max_sample_rate)",
	         name, limit, (unsigned long long)*hz);
	*hz = (uint64_t)limit;
	return 0;
}

/* Sets period or frequency: the event's own, else that of the options, else the default; a
 * tracepoint counts each time. -errno: the frequency is above the kernel's limit. */
static int attr_rate(struct session *s, const struct event *e, struct seam_attr *attr,
                     struct seam_error *err)
{
	const struct session_opts *o = &s->opts;

	if (!e->has_rate) {
		if (o->period) {
			attr->sample_period = o->period;
		} else if (e->attr.type == SEAM_TYPE_TRACEPOINT && !o->frequency) {
			attr->sample_period = 1; // each one counts
		} else {
			attr->sample_period =
			        o->frequency ? o->frequency : SESSION_FREQUENCY_DEFAULT;
			attr->flags |= SEAM_ATTR_FREQ;
		}
	}
	if (attr->flags & SEAM_ATTR_FREQ)
		attr->sample_type |= SEAM_SAMPLE_PERIOD;
	return attr->flags & SEAM_ATTR_FREQ ? attr_frequency(s, e->name, &attr->sample_period, err)
	                                    : 0;
}

/* All that perf asks for, too: unwinders need no more than the callee-saved registers, ip and
 * sp. */
#if defined(__x86_64__)
#define REGS_USER 0xff0fffULL /* PERF_REG_X86_AX ... SS, R8 ... R15 */
#elif defined(__aarch64__)
#define REGS_USER 0x1ffffffffULL /* PERF_REG_ARM64_X0 ... X29, LR, SP, PC */
#else
#define REGS_USER 0ULL
#endif

/* false: no registers are known for this machine, so that a copy could not be unwound. */
bool session_attr_copy(const struct session *s, struct seam_attr *attr)
{
	attr->sample_type |= SEAM_SAMPLE_CALLCHAIN | SEAM_SAMPLE_REGS_USER | SEAM_SAMPLE_STACK_USER;
	/* The user's part is made of the copy, so that the kernel need not walk it as well. */
	attr->flags |= SEAM_ATTR_EXCLUDE_CALLCHAIN_USER;
	attr->flags &= ~SEAM_ATTR_DEFER_CALLCHAIN;
	attr->sample_regs_user = REGS_USER;
	attr->sample_stack_user =
	        s->opts.stack_size ? s->opts.stack_size : SESSION_STACK_SIZE_DEFAULT;
	return REGS_USER != 0;
}

/* Asks for the event's callchain: its own wish, else that of the options. The depth is lowered to
 * what the kernel allows. */
static void attr_callchain(struct session *s, const struct event *e, struct seam_attr *attr)
{
	static const char limit_path[] = "/proc/sys/kernel/perf_event_max_stack";
	uint16_t depth = e->max_stack ? e->max_stack : s->opts.max_stack;
	enum event_callchain want = e->callchain;
	long long limit = 0;

	/* The event has no term of its own: the recording's option decides. Where it is automatic,
	 * deferral is asked for first. */
	if (want == EVENT_CALLCHAIN_INHERIT) {
		if (s->opts.callchain == SESSION_CALLCHAIN_NONE)
			want = EVENT_CALLCHAIN_NO;
		else if (s->opts.callchain == SESSION_CALLCHAIN_FP)
			want = EVENT_CALLCHAIN_FP;
		else if (s->opts.callchain == SESSION_CALLCHAIN_DWARF)
			want = EVENT_CALLCHAIN_DWARF;
		else
			want = EVENT_CALLCHAIN_DEFER;
	}
	if (want == EVENT_CALLCHAIN_NO)
		return;
	attr->sample_type |= SEAM_SAMPLE_CALLCHAIN;
	if (want == EVENT_CALLCHAIN_DEFER)
		attr->flags |= SEAM_ATTR_DEFER_CALLCHAIN;
	if (want == EVENT_CALLCHAIN_DWARF)
		session_attr_copy(s, attr);
	// Deeper than the sysctl is refused by the kernel (EOVERFLOW).
	if (depth && !kernel_number(&s->features->kernel, limit_path, &limit) && depth > limit) {
		log_line(s->log, LOG_PLAIN,
		         "%s: stacks of at most %lld frames: kernel.perf_event_max_stack", e->name,
		         limit);
		depth = (uint16_t)limit;
	}
	attr->sample_max_stack = depth;
}

/* What the sample carries besides. Tracepoints and BPF output are their RAW part. */
static void attr_data(const struct session *s, struct seam_attr *attr)
{
	const struct session_opts *o = &s->opts;

	if (o->sample_addr)
		attr->sample_type |= SEAM_SAMPLE_ADDR;
	if (o->sample_phys_addr)
		attr->sample_type |= SEAM_SAMPLE_PHYS_ADDR;
	if (o->sample_period)
		attr->sample_type |= SEAM_SAMPLE_PERIOD;
	if (o->sample_weight)
		attr->sample_type |= SEAM_SAMPLE_WEIGHT;
	if (o->cgroups)
		attr->sample_type |= SEAM_SAMPLE_CGROUP;
	if (attr->type == SEAM_TYPE_TRACEPOINT ||
	    (attr->type == SEAM_TYPE_SOFTWARE && attr->config == CONFIG_BPF_OUTPUT))
		attr->sample_type |= SEAM_SAMPLE_RAW;
}

/* Starting and stopping acts on leaders; members follow as they are never off by themselves. With
 * enable_on_exec the kernel starts a task's events itself, so that what seam does between fork and
 * exec is not sampled. */
void session_leader_flags(const struct session *s, struct session_stream *st)
{
	st->attr.flags |= SEAM_ATTR_DISABLED;
	if (s->opts.enable_on_exec && st->per_task &&
	    (st->role == STREAM_SIDEBAND || !s->opts.start_paused))
		st->attr.flags |= SEAM_ATTR_ENABLE_ON_EXEC;
}

/* Gives the event its place in a group. With :S only the leader samples, and its samples hold the
 * counters of all members. */
static void attr_group(struct session *s, const struct event_list *events, size_t i,
                       struct session_stream *st)
{
	const struct event *e = &events->at[i];
	bool leads = e->leader == i;
	/* A leader by itself has no group; the next event says whether it has members. */
	bool group = !leads || (i + 1 < events->n && events->at[i + 1].leader == i);

	st->own_leader = leads;
	if (leads)
		session_leader_flags(s, st);
	if (!e->sample_read)
		return;
	st->attr.sample_type |= SEAM_SAMPLE_READ;
	if (group)
		st->attr.read_format |= SEAM_FORMAT_GROUP;
	/* Members of :S count and never sample: their values stand in the leader's samples. */
	if (!leads) {
		st->attr.sample_period = 0;
		st->attr.flags &= ~SEAM_ATTR_FREQ;
	}
}

static int *session_cpus_copy(const int *cpus, size_t n)
{
	int *copy = malloc((n ? n : 1) * sizeof(*copy));

	if (copy && n)
		memcpy(copy, cpus, n * sizeof(*copy));
	return copy;
}

static bool session_cpus_have(const int *cpus, size_t n, int cpu)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

// The session's CPUs, and of those only where the PMU is.
static int session_stream_cpus(struct session *s, const struct event *e, struct session_stream *st,
                               struct seam_error *err)
{
	/* The user's list, else all that are online. */
	const int *from = s->opts.cpus ? s->opts.cpus : s->online;
	size_t n = s->opts.cpus ? s->opts.n_cpus : s->n_online;
	int *mask = NULL;
	int masked = e->cpus ? kernel_cpu_list(e->cpus, &mask) : 0;

	/* The mask is text from /sys, or from a test's tree. */
	if (masked < 0)
		return seam_error_set(err, -masked, NULL, SEAM_NO_OFFSET, NULL,
		                      "event '%s': its PMU's cpumask '%s' is not understood",
		                      e->name, e->cpus);
	st->cpus = session_cpus_copy(from, n);
	for (size_t i = 0; st->cpus && i < n; i++)
		if (!mask || session_cpus_have(mask, (size_t)masked, from[i]))
			st->cpus[st->n_cpus++] = from[i];
	free(mask);
	if (!st->cpus)
		return session_no_memory(err);
	if (!st->n_cpus)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "event '%s': its PMU counts on CPUs %s only", e->name,
		                      e->cpus);
	return 0;
}

/*
 * Callchains of a source: the kernel is not asked for any, which it would walk for nothing, unless
 * the event is precise: the kernel refuses a program that takes kernel stacks on one without them
 * (EPROTO). To be called again when an event has become less precise.
 */
void session_attr_source_chain(struct session_stream *st)
{
	if (st->sourced && !(st->attr.flags >> SEAM_ATTR_PRECISE_IP_SHIFT & 3))
		st->attr.sample_type &= ~SEAM_SAMPLE_CALLCHAIN;
}

/* The event is every CPU's, as the source knows whose samples are wanted. */
static void attr_sourced(struct session *s, struct session_stream *st)
{
	st->sourced = true;
	st->per_task = false;
	st->attr.flags &=
	        ~(SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_INHERIT | SEAM_ATTR_ENABLE_ON_EXEC);
	st->attr.sample_max_stack = 0;
	session_attr_source_chain(st);
}

/* What becomes of an event that BPF could have served and does not take. In a recording with a
 * source there is nobody to defer to, so a copy of the stack is the next best. */
static void attr_not_sourced(struct session *s, struct session_stream *st)
{
	const char *how = "frame pointers";

	if (!st->may_source)
		return;
	st->attr.flags &= ~SEAM_ATTR_DEFER_CALLCHAIN;
	if (s->opts.unwinds && !s->opts.source.by_fp && session_attr_copy(s, &st->attr))
		how = "copies of the stack";
	log_line(s->log, LOG_PLAIN,
	         "%s: its samples are the kernel's own, as BPF cannot give what they carry; its "
	         "user stacks: "
	         "%s",
	         st->name, how);
}

// A group is one context: all of it is sourced, or nothing.
static void session_compose_source(struct session *s)
{
	const struct session_source *from = &s->opts.source;

	for (size_t i = 0; session_has_source(s) && i < s->n_streams;) {
		size_t end = i;
		bool takes = true;

		/* All members must be the source's own: what it does not sample cannot be read in a
		 * group with it. */
		for (; end < s->n_streams && s->streams[end].leader == i; end++)
			takes &= s->streams[end].may_source &&
			         from->takes(from->ctx, &s->streams[end].attr);
		for (; i < end; i++) {
			if (takes)
				attr_sourced(s, &s->streams[i]);
			else
				attr_not_sourced(s, &s->streams[i]);
		}
	}
}

/* Composes the attr of one event from what the user wrote and the options, and adds it as a stream.
 * Nothing is opened. -errno and err. */
static int session_compose_one(struct session *s, const struct event_list *events, size_t i,
                               struct seam_error *err)
{
	const struct event *e = &events->at[i];
	struct session_stream *st = &s->streams[s->n_streams];
	struct seam_attr *attr = &st->attr;
	bool software = e->attr.type == SEAM_TYPE_SOFTWARE || e->attr.type == SEAM_TYPE_TRACEPOINT;
	int r;

	*st = (struct session_stream){ .role = STREAM_SAMPLING,
		                       .attr = e->attr,
		                       .is_default = e->is_default,
		                       .precise_max = e->precise_max,
		                       .exclude_given = e->exclude_given,
		                       .weak = e->weak,
		                       .leader = e->leader,
		                       .per_task = session_per_task(s) };
	st->name = strdup(e->name);
	if (!st->name)
		return session_no_memory(err);
	s->n_streams++;
	attr->sample_type |= attr_id_fields(s) | SEAM_SAMPLE_IP;
	attr_common(s, attr, st->per_task);
	/* precise_max: begin with the highest level; session_stream_relent comes down from
	 * there. */
	if (e->precise_max)
		attr->flags |= 3ULL << SEAM_ATTR_PRECISE_IP_SHIFT;
	if (s->opts.all_user)
		attr->flags |= SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV;
	if (s->opts.all_kernel)
		attr->flags |= SEAM_ATTR_EXCLUDE_USER;
	// A guest's addresses are nobody's here; software events do not happen in guests.
	if (!software && !e->guest_given)
		attr->flags |= SEAM_ATTR_EXCLUDE_GUEST;
	/* What the session may choose: the event has no callchain term and the option is
	 * automatic. */
	st->auto_chain = e->callchain == EVENT_CALLCHAIN_INHERIT &&
	                 s->opts.callchain == SESSION_CALLCHAIN_AUTO;
	st->may_source = st->auto_chain || (e->callchain == EVENT_CALLCHAIN_INHERIT &&
	                                    s->opts.callchain == SESSION_CALLCHAIN_FP_DEFER);
	attr_callchain(s, e, attr);
	attr_data(s, attr);
	r = attr_rate(s, e, attr, err);
	if (r < 0)
		return r;
	attr_group(s, events, i, st);
	r = session_stream_cpus(s, e, st, err);
	/* An event that only the source has, such as time off the CPU: one descriptor stands for it
	 * in the file, so that it has an id. */
	if (r >= 0 && e->from_source) {
		st->from_source = true;
		st->attr.sample_type |= SEAM_SAMPLE_PERIOD;
		st->n_cpus = 1;
	}
	return r;
}

/* Fills s->streams in the order of the events: the index of an event is the index of its stream. */
int session_compose(struct session *s, const struct event_list *events, struct seam_error *err)
{
	// Two more for the dummies.
	s->streams = calloc(events->n + 2, sizeof(*s->streams));
	if (!s->streams)
		return session_no_memory(err);
	for (size_t i = 0; i < events->n; i++) {
		int r = session_compose_one(s, events, i, err);

		if (r < 0)
			return r;
	}
	session_compose_source(s);
	return 0;
}

/* A dummy counts nothing. It exists to receive records and to own a ring. */
static struct seam_attr attr_dummy(const struct session *s, bool per_task)
{
	struct seam_attr attr = {
		.type = SEAM_TYPE_SOFTWARE,
		.config = CONFIG_DUMMY,
		.sample_period = 1,
		.sample_type = attr_id_fields(s) | SEAM_SAMPLE_IP,
		// A dummy counts nothing; without kernel it needs no privilege.
		.flags = SEAM_ATTR_DISABLED | SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV,
	};

	attr_common(s, &attr, per_task);
	return attr;
}

/* MMAP2 and COMM say which code is where and whose; TASK says births and ends; KSYMBOL and
 * BPF_EVENT say what code the kernel loads. */
static struct seam_attr attr_sideband(const struct session *s)
{
	const struct session_opts *o = &s->opts;
	struct seam_attr attr = attr_dummy(s, session_sideband_per_task(s));

	attr.flags |= SEAM_ATTR_MMAP | SEAM_ATTR_MMAP2 | SEAM_ATTR_COMM | SEAM_ATTR_COMM_EXEC |
	              SEAM_ATTR_TASK | SEAM_ATTR_KSYMBOL | SEAM_ATTR_BPF_EVENT;
	attr.flags |= o->build_id ? SEAM_ATTR_BUILD_ID : 0;
	attr.flags |= o->sample_addr ? SEAM_ATTR_MMAP_DATA : 0;
	attr.flags |= o->context_switch ? SEAM_ATTR_CONTEXT_SWITCH : 0;
	attr.flags |= o->namespaces ? SEAM_ATTR_NAMESPACES : 0;
	attr.flags |= o->cgroups ? SEAM_ATTR_CGROUP : 0;
	return attr;
}

/*
 * The kernel gives a CPU-wide event the deferred records only when it is a side-band event.
 * comm_exec alone makes it one and asks for no record by itself (COMM records need comm). Kernel
 * symbols are everyone's and few, so this event has them, too: a BPF program that another process
 * loads is then known.
 */
struct seam_attr session_deferred_attr(const struct session *s)
{
	struct seam_attr attr = attr_dummy(s, false);

	attr.flags |= SEAM_ATTR_COMM_EXEC | SEAM_ATTR_KSYMBOL | SEAM_ATTR_BPF_EVENT |
	              SEAM_ATTR_DEFER_OUTPUT;
	return attr;
}

/* A stream behind all that are there, on all online CPUs, whatever CPUs the user's list has: tasks
 * move. */
static int session_compose_dummy(struct session *s, enum stream_role role, struct seam_attr attr,
                                 struct seam_error *err)
{
	struct session_stream *st = &s->streams[s->n_streams];

	*st = (struct session_stream){ .role = role,
		                       .attr = attr,
		                       .name = strdup("dummy:u"),
		                       .exclude_given = true,
		                       .own_leader = true,
		                       .leader = (uint32_t)s->n_streams,
		                       .per_task = role == STREAM_SIDEBAND &&
		                                   session_sideband_per_task(s),
		                       .cpus = session_cpus_copy(s->online, s->n_online),
		                       .n_cpus = s->n_online };
	s->n_streams++;
	session_leader_flags(s, st);
	return st->name && st->cpus ? 0 : session_no_memory(err);
}

/* Called when it is known whether the kernel defers and who can receive the records. Deferred
 * records go to one event only: the side-band event, or one for every CPU. */
int session_compose_sideband(struct session *s, bool deferred_on_cpus, struct seam_error *err)
{
	bool defers = s->mode.stack == MODE_FP_DEFER;
	struct seam_attr attr = attr_sideband(s);
	int r;

	if (defers && !deferred_on_cpus)
		attr.flags |= SEAM_ATTR_DEFER_OUTPUT;
	/* The CPU-wide event has them; one record of each is enough. */
	if (deferred_on_cpus)
		attr.flags &= ~(SEAM_ATTR_KSYMBOL | SEAM_ATTR_BPF_EVENT);
	r = session_compose_dummy(s, STREAM_SIDEBAND, attr, err);
	if (r >= 0 && deferred_on_cpus)
		r = session_compose_dummy(s, STREAM_DEFERRED, session_deferred_attr(s), err);
	return r;
}
