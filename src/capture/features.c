// SPDX-License-Identifier: MIT
/*
 * features.c: the table of attr features: how each is probed, what taking it out of an attr means,
 * and the way down when a real event is refused. The rows about permissions and the machine are in
 * probe.c.
 *
 * A row of attr bits is probed by opening a harmless event with these bits. The kernel refuses bits
 * that it does not know with EINVAL, and bits in a part of the attr that is longer than its own
 * with E2BIG. So the answer is of the running kernel, with whatever its distribution brought back
 * from newer ones.
 *
 * Invariant: a feature is switched off only when its own probe was refused. The rows stand newest
 * kernel first, so that the newest of what is missing goes first.
 */
#include "capture/features.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/probe.h"

#define BRANCH_COUNTERS (1ULL << 19) // PERF_SAMPLE_BRANCH_COUNTERS
#define BRANCH_USER_ANY 9            // PERF_SAMPLE_BRANCH_USER | ANY

struct feature_def {
	const char *name, *text;
	const char *off;   // "switching off ...": attr features only
	const char *since; // the Linux that brought it
	uint64_t flags;    // attr bits that ask for it
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch;
	int (*probe)(struct features *, struct feature_result *); // rows that are no attr bit
	unsigned needs; // 1 + the row that its probe looks at; 0: none
};

static const struct feature_def feature_defs[FEATURES] = {
	[FEATURE_DEFER] = { "defer_callchain", "deferred user callchains",
	                    "deferred callchain support", "6.19",
	                    SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT },
	[FEATURE_INHERIT_READ] = { "inherit_sample_read", "counter values in inherited samples",
	                           "inherit: children are not followed, as the event reads "
	                           "counters",
	                           "6.12", SEAM_ATTR_INHERIT, SEAM_SAMPLE_READ },
	[FEATURE_BRANCH_COUNTERS] = { "branch_counters", "event counts in branch stacks",
	                              "branch counters", "6.8", 0, 0, 0, BRANCH_COUNTERS },
	[FEATURE_READ_LOST] = { "read_lost", "the kernel's count of lost samples",
	                        "PERF_FORMAT_LOST support", "6.0", 0, 0, SEAM_FORMAT_LOST },
	[FEATURE_REMOVE_ON_EXEC] = { "remove_on_exec", "events that end at exec", "remove_on_exec",
	                             "5.13", SEAM_ATTR_REMOVE_ON_EXEC },
	[FEATURE_WEIGHT_STRUCT] = { "weight_struct", "several weights in a sample",
	                            "weight struct support", "5.12", 0, SEAM_SAMPLE_WEIGHT_STRUCT },
	[FEATURE_BUILD_ID] = { "build_id", "build-ids in mmap records", "build_id", "5.12",
	                       SEAM_ATTR_BUILD_ID },
	[FEATURE_DATA_PAGE_SIZE] = { "page_size", "page sizes of data and code",
	                             "data and code page size", "5.11", 0,
	                             SEAM_SAMPLE_DATA_PAGE_SIZE | SEAM_SAMPLE_CODE_PAGE_SIZE },
	[FEATURE_TEXT_POKE] = { "text_poke", "records of kernel code that changes", "text_poke",
	                        "5.8", SEAM_ATTR_TEXT_POKE },
	[FEATURE_CGROUP] = { "cgroup", "control groups of samples", "cgroup", "5.7",
	                     SEAM_ATTR_CGROUP, SEAM_SAMPLE_CGROUP },
	[FEATURE_AUX_OUTPUT] = { "aux_output", "samples into the AUX area", "aux_output", "5.4",
	                         SEAM_ATTR_AUX_OUTPUT },
	[FEATURE_BPF_EVENT] = { "bpf_event", "records of BPF programs", "bpf_event", "5.1",
	                        SEAM_ATTR_BPF_EVENT },
	[FEATURE_KSYMBOL] = { "ksymbol", "records of new kernel symbols", "ksymbol", "5.1",
	                      SEAM_ATTR_KSYMBOL },
	[FEATURE_PHYS_ADDR] = { "phys_addr", "physical addresses of data", "phys_addr", "4.14", 0,
	                        SEAM_SAMPLE_PHYS_ADDR },
	[FEATURE_NAMESPACES] = { "namespaces", "records of namespaces", "namespaces", "4.12",
	                         SEAM_ATTR_NAMESPACES },
	[FEATURE_WRITE_BACKWARD] = { "write_backward", "rings that overwrite", "write_backward",
	                             "4.7", SEAM_ATTR_WRITE_BACKWARD },
	[FEATURE_MAX_STACK] = { "sample_max_stack", "a depth for callchains", "sample_max_stack",
	                        "4.8" },
	[FEATURE_CONTEXT_SWITCH] = { "context_switch", "records of context switches",
	                             "context_switch", "4.3", SEAM_ATTR_CONTEXT_SWITCH },
	[FEATURE_CLOCKID] = { "clockid", "a chosen clock", "use_clockid", "4.1",
	                      SEAM_ATTR_USE_CLOCKID },
	[FEATURE_COMM_EXEC] = { "comm_exec", "exec told apart from other renames", "comm_exec",
	                        "3.16", SEAM_ATTR_COMM_EXEC },
	[FEATURE_MMAP2] = { "mmap2", "inodes and protection in mmap records", "mmap2", "3.16",
	                    SEAM_ATTR_MMAP2 },
	[FEATURE_CLOEXEC] = { "cloexec", "descriptors closed on exec", "cloexec flag", "3.14" },
	[FEATURE_IDENTIFIER] = { "sample_identifier", "event ids at a fixed place",
	                         "sample identifier", "3.12", 0, SEAM_SAMPLE_IDENTIFIER },
	[FEATURE_EXCLUDE_CALLCHAIN] = { "exclude_callchain", "callchains of one side only",
	                                "exclude_callchain_user, exclude_callchain_kernel", "3.7",
	                                SEAM_ATTR_EXCLUDE_CALLCHAIN_USER |
	                                        SEAM_ATTR_EXCLUDE_CALLCHAIN_KERNEL },
	[FEATURE_EXCLUDE_GUEST] = { "exclude_guest", "guests left out",
	                            "exclude_guest, exclude_host", "3.2",
	                            SEAM_ATTR_EXCLUDE_GUEST | SEAM_ATTR_EXCLUDE_HOST },
	[FEATURE_SAMPLE_ID_ALL] = { "sample_id_all", "time and thread on every record",
	                            "sample_id_all", "2.6.38", SEAM_ATTR_SAMPLE_ID_ALL },

	[FEATURE_OPEN] = { "perf_event_open", "perf events", .probe = probe_open },
	[FEATURE_SOFTWARE_CLOCK] = { "cpu_clock", "sampling by clock (cpu-clock)",
	                             .probe = probe_software_clock },
	[FEATURE_HARDWARE] = { "hardware", "hardware counters (cycles)", .probe = probe_hardware },
	[FEATURE_PRECISE] = { "precise", "precise sampling of cycles", .probe = probe_precise,
	                      .needs = 1 + FEATURE_HARDWARE },
	[FEATURE_BRANCH_STACK] = { "branch_stack", "branch stacks (LBR)",
	                           .probe = probe_branch_stack, .needs = 1 + FEATURE_HARDWARE },
	[FEATURE_KERNEL] = { "kernel", "kernel stacks", .probe = probe_kernel },
	[FEATURE_SYSTEM_WIDE] = { "system_wide", "all processes of the system",
	                          .probe = probe_system_wide },
	[FEATURE_TRACEPOINTS] = { "tracepoints", "tracepoints by name",
	                          .probe = probe_tracepoints },
	[FEATURE_MLOCK] = { "mlock", "default rings within the mlock limit", .probe = probe_mlock },
	[FEATURE_KALLSYMS] = { "kallsyms", "names of kernel functions", .probe = probe_kallsyms },
	[FEATURE_DEFERS] = { "defers", "user stacks really deferred on this machine",
	                     .probe = probe_defers, .needs = 1 + FEATURE_DEFER },
	[FEATURE_BPF] = { "bpf", "BPF programs", .probe = probe_bpf },
	[FEATURE_BTF] = { "btf", "type information of the kernel (BTF)", .probe = probe_btf },
	[FEATURE_LIVE] = { "bpf_stacks", "user stacks by unwind tables in the kernel",
	                   .probe = probe_live },
	[FEATURE_LIVE_DEFER] = { "bpf_deferral", "and deferred where a page is not in memory",
	                         .probe = probe_live_defer },
	[FEATURE_COUNTERS] = { "counters", "all hardware counters free", .probe = probe_counters,
	                       .needs = 1 + FEATURE_HARDWARE },
};

const char *features_name(enum feature f)
{
	return feature_defs[f].name;
}

const char *features_text(enum feature f)
{
	return feature_defs[f].text;
}

/* kernel: NULL is the running one; tests play others. Nothing is probed yet. */
void features_init(struct features *f, const struct kernel *kernel)
{
	*f = (struct features){ .kernel = kernel ? *kernel : kernel_running };
}

/* The sizes of attr in the kernel's header: PERF_ATTR_SIZE_VER5 is the least that is used here, the
 * later ones each brought one of these fields. An old kernel takes a longer attr only if what it
 * does not know is 0; the shortest that fits asks for the least. */
uint32_t features_attr_size(const struct seam_attr *attr)
{
	if (attr && attr->config4)
		return 144;
	if (attr && attr->config3)
		return 136;
	if (attr && attr->sig_data)
		return 128;
	if (attr && (attr->aux_sample_size || attr->aux_action))
		return 120;
	return FEATURES_ATTR_SIZE_LEAST;
}

/* Asks the kernel to open a harmless event with the feature's bits: 0 or -errno. Nothing is sampled
 * by it. */
static int features_probe_attr(struct features *f, enum feature which)
{
	const struct feature_def *d = &feature_defs[which];
	struct seam_attr attr = probe_harmless();
	uint64_t flags = d->flags;

	// Of two bits that exclude each other one is enough: they came with the same kernel.
	if (which == FEATURE_EXCLUDE_GUEST)
		flags = SEAM_ATTR_EXCLUDE_GUEST;
	if (which == FEATURE_EXCLUDE_CALLCHAIN)
		flags = SEAM_ATTR_EXCLUDE_CALLCHAIN_USER;
	attr.flags |= flags;
	attr.sample_type |= d->sample_type;
	attr.read_format |= d->read_format;
	if (which == FEATURE_CLOCKID)
		attr.clockid = 1; // CLOCK_MONOTONIC
	if (which == FEATURE_MMAP2 || which == FEATURE_BUILD_ID)
		attr.flags |= SEAM_ATTR_MMAP | SEAM_ATTR_MMAP2;
	if (which == FEATURE_COMM_EXEC)
		attr.flags |= SEAM_ATTR_COMM;
	if (d->branch) {
		attr.sample_type |= SEAM_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = d->branch | BRANCH_USER_ANY;
	}
	return probe_try(f, &attr, 0, -1);
}

/* O_CLOEXEC came as a flag of the call, not as a bit of the attr. */
static int features_probe_cloexec(struct features *f)
{
	struct seam_attr attr = probe_harmless();
	int fd = f->kernel.open(f->kernel.ctx, &attr, 0, -1, -1, KERNEL_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		f->kernel.close(f->kernel.ctx, fd);
	return fd < 0 ? fd : 0;
}

// Old kernels did not check the field, so the sysctl that came with it is asked instead.
static int features_probe_max_stack(struct features *f)
{
	long long depth;
	int r = kernel_number(&f->kernel, "/proc/sys/kernel/perf_event_max_stack", &depth);

	return r == -ENOENT ? -EINVAL : r;
}

/* Turns a probe's errno into yes, no or unknown, with a reason and a remedy in words. Only EINVAL
 * and E2BIG mean that the kernel does not know the bits. */
static void features_judge(struct feature_result *r, const struct feature_def *d, int error)
{
	r->error = -error;
	if (!error || error == -EOPNOTSUPP) {
		// EOPNOTSUPP: the kernel knows it, the software clock cannot do it.
		r->state = FEATURE_YES;
		r->error = 0;
		return;
	}
	if (error == -EINVAL || error == -E2BIG) {
		r->state = FEATURE_NO;
		snprintf(r->reason, sizeof(r->reason), "this kernel refuses it (%s)",
		         strerror(-error));
		snprintf(r->remedy, sizeof(r->remedy), "Linux %s or newer", d->since);
		return;
	}
	r->state = FEATURE_UNKNOWN;
	if (error == -EACCES || error == -EPERM) {
		snprintf(r->reason, sizeof(r->reason), "not allowed (%s)", strerror(-error));
		snprintf(r->remedy, sizeof(r->remedy),
		         "run as root or with CAP_PERFMON, or lower kernel.perf_event_paranoid");
	} else {
		snprintf(r->reason, sizeof(r->reason), "the probe failed: %s", strerror(-error));
	}
}

/* Each row is probed once. A row that cannot be known has state FEATURE_UNKNOWN and a reason. */
const struct feature_result *features_get(struct features *f, enum feature which)
{
	struct feature_result *r = &f->at[which];
	int error;

	if (r->state != FEATURE_UNKNOWN || r->reason[0])
		return r;
	if (feature_defs[which].needs)
		features_get(f, (enum feature)(feature_defs[which].needs - 1));
	if (feature_defs[which].probe) {
		feature_defs[which].probe(f, r);
		return r;
	}
	// If the harmless event itself is refused, no row can be tried.
	if (which != FEATURE_CLOEXEC && which != FEATURE_MAX_STACK) {
		struct seam_attr attr = probe_harmless();

		error = probe_try(f, &attr, 0, -1);
		if (error) {
			r->error = -error;
			snprintf(r->reason, sizeof(r->reason),
			         "cannot be asked: perf_event_open fails (%s)", strerror(-error));
			return r;
		}
	}
	error = which == FEATURE_CLOEXEC     ? features_probe_cloexec(f)
	        : which == FEATURE_MAX_STACK ? features_probe_max_stack(f)
	                                     : features_probe_attr(f, which);
	features_judge(r, &feature_defs[which], error);
	return r;
}

/* Fills the table for `seam check`. Each row costs one or two system calls; FEATURE_LIVE loads
 * programs. */
void features_probe_all(struct features *f)
{
	for (int i = 0; i < FEATURES; i++)
		features_get(f, (enum feature)i);
}

/* Whether anything at all can be sampled: the software clock is there where perf events are. */
bool features_can_record(struct features *f)
{
	return features_has(f, FEATURE_SOFTWARE_CLOCK);
}

/* Whether the refused attr could have been refused because of this row. */
static bool features_used(enum feature which, const struct seam_attr *attr,
                          unsigned long open_flags)
{
	const struct feature_def *d = &feature_defs[which];

	switch (which) {
	case FEATURE_INHERIT_READ:
		return attr->flags & SEAM_ATTR_INHERIT && attr->sample_type & SEAM_SAMPLE_READ;
	case FEATURE_MAX_STACK:
		return attr->sample_max_stack != 0;
	case FEATURE_CLOEXEC:
		return open_flags & KERNEL_FLAG_FD_CLOEXEC;
	default:
		return attr->flags & d->flags || attr->sample_type & d->sample_type ||
		       attr->read_format & d->read_format || attr->branch_sample_type & d->branch;
	}
}

/* Removes what a feature adds to the attr and to the flags of opening. Where an older way exists
 * (ID for IDENTIFIER, WEIGHT for WEIGHT_STRUCT), it takes the feature's place. */
static void features_take_out(enum feature which, struct seam_attr *attr, unsigned long *open_flags)
{
	const struct feature_def *d = &feature_defs[which];

	switch (which) {
	case FEATURE_INHERIT_READ:
		if (attr->sample_type & SEAM_SAMPLE_READ)
			attr->flags &= ~SEAM_ATTR_INHERIT;
		return;
	case FEATURE_MAX_STACK:
		attr->sample_max_stack = 0;
		return;
	case FEATURE_CLOEXEC:
		if (open_flags)
			*open_flags &= ~KERNEL_FLAG_FD_CLOEXEC;
		return;
	case FEATURE_IDENTIFIER:
		if (attr->sample_type & SEAM_SAMPLE_IDENTIFIER)
			attr->sample_type |= SEAM_SAMPLE_ID;
		break;
	case FEATURE_WEIGHT_STRUCT:
		if (attr->sample_type & SEAM_SAMPLE_WEIGHT_STRUCT)
			attr->sample_type |= SEAM_SAMPLE_WEIGHT;
		break;
	case FEATURE_CLOCKID:
		attr->clockid = 0;
		break;
	default:
		break;
	}
	attr->flags &= ~d->flags;
	attr->sample_type &= ~d->sample_type;
	attr->read_format &= ~d->read_format;
	attr->branch_sample_type &= ~d->branch;
}

/* Takes out all that was switched off. Idempotent, so that each attr is stripped before each
 * try. */
void features_strip(const struct features *f, struct seam_attr *attr, unsigned long *open_flags)
{
	for (int i = 0; i < FEATURE_ATTR_END; i++)
		if (f->off[i])
			features_take_out((enum feature)i, attr, open_flags);
}

/*
 * To be called when an attr was refused with -error (error is a positive errno). True: this kernel
 * lacks something that the attr uses, which is now switched off (and logged as "switching off
 * ..."), so strip the attr and try again. False: the kernel has everything that the attr asks for.
 */
static bool features_fall_back(struct features *f, const struct seam_attr *attr,
                               unsigned long open_flags, int error, const struct log *log)
{
	if (error != EINVAL && error != E2BIG)
		return false;
	/* One row at a time, in the table's order: an attr may use several new features of which
	 * the kernel has some. */
	for (int i = 0; i < FEATURE_ATTR_END; i++) {
		enum feature which = (enum feature)i;

		if (f->off[i] || !features_used(which, attr, open_flags))
			continue;
		if (features_get(f, which)->state != FEATURE_NO)
			continue;
		f->off[i] = true;
		log_line(log, LOG_ATTRS, "switching off %s", feature_defs[i].off);
		return true;
	}
	return false;
}

/* Each refused try switches at most one feature off, after its own probe, so the loop ends when
 * nothing is left to switch off. */
int features_open(struct features *f, struct seam_attr *attr, pid_t pid, int cpu, int group_fd,
                  const struct log *log)
{
	for (;;) {
		unsigned long flags = KERNEL_FLAG_FD_CLOEXEC;
		int fd;

		features_strip(f, attr, &flags);
		attr->size = features_attr_size(attr);
		log_attr(log, attr);
		log_line(log, LOG_ATTRS,
		         "sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags %#lx", (int)pid,
		         cpu, group_fd, flags);
		fd = f->kernel.open(f->kernel.ctx, attr, pid, cpu, group_fd, flags);
		if (fd >= 0)
			return fd;
		log_line(log, LOG_ATTRS, "sys_perf_event_open failed, error %d", fd);
		if (!features_fall_back(f, attr, flags, -fd, log))
			return fd;
	}
}
