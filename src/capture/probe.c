// SPDX-License-Identifier: MIT
/*
 * probe.c: what this user may do and what this machine has: permissions, PMU, limits, files. Every
 * row that can be tried is tried; sysctls only explain a refusal. Does not decide what to do about
 * it: that is session.c's.
 *
 * Each probe_* fills a row of the table of features.c: yes with a value, or no with a reason and a
 * remedy in words. They return 0. A probe that needs another row finds it filled
 * (feature_def.needs).
 *
 * Reasons matter more than the answer: the same EACCES comes from perf_event_paranoid, from a
 * seccomp filter of a container, from lockdown and from a security module. Capabilities and the
 * sysctl tell which of these it can be.
 */
#include "capture/probe.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/bpf/kwalk.h"

// Newer than the headers of older distributions.
#define PROBE_CAP_PERFMON 38
#define PROBE_CAP_BPF 39
#define PROBE_NOT_PARANOID -2 // no such sysctl

#define PROBE_CPU_CLOCK 0 // of SEAM_TYPE_SOFTWARE

/* Opens and closes an event: 0 or -errno. Nothing is counted, as the attr is disabled. */
int probe_try(struct features *f, const struct seam_attr *attr, pid_t pid, int cpu)
{
	int fd = f->kernel.open(f->kernel.ctx, attr, pid, cpu, -1, 0);

	if (fd < 0)
		return fd;
	f->kernel.close(f->kernel.ctx, fd);
	return 0;
}

/* A clock of the calling thread that is never enabled and asks for nothing privileged. The kernel's
 * side is excluded, because counting that is what perf_event_paranoid 2 forbids. */
struct seam_attr probe_harmless(void)
{
	return (struct seam_attr){
		.type = SEAM_TYPE_SOFTWARE,
		.size = FEATURES_ATTR_SIZE_LEAST,
		.config = PROBE_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID,
		.flags = SEAM_ATTR_DISABLED | SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV,
	};
}

// The result of a row that this probe needs, which was probed before (feature_def.needs).
static bool probe_has(const struct features *f, enum feature which)
{
	return f->at[which].state == FEATURE_YES;
}

/* value: of rows that have one, such as the level of precise sampling. */
static int probe_yes(struct feature_result *r, long long value)
{
	r->state = FEATURE_YES;
	r->value = value;
	return 0;
}

/* Fills a row with "no". The reason is the format's; the remedy is taken as it is. */
__attribute__((format(printf, 3, 4))) static int no(struct feature_result *r, const char *remedy,
                                                    const char *fmt, ...)
{
	va_list ap;

	r->state = FEATURE_NO;
	va_start(ap, fmt);
	vsnprintf(r->reason, sizeof(r->reason), fmt, ap);
	va_end(ap);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
	return 0;
}

/* Where the sysctl is not to be seen it explains nothing: as if it were below all levels. */
static long long probe_paranoid(struct features *f)
{
	long long v = PROBE_NOT_PARANOID;

	kernel_number(&f->kernel, "/proc/sys/kernel/perf_event_paranoid", &v);
	return v;
}

/* CAP_SYS_ADMIN stood for CAP_PERFMON before Linux 5.8, and still includes it. */
static bool probe_perfmon(struct features *f)
{
	return f->kernel.capable(f->kernel.ctx, PROBE_CAP_PERFMON) ||
	       f->kernel.capable(f->kernel.ctx, CAP_SYS_ADMIN);
}

// Fills a row that was refused, with who refused it. `most` is the highest paranoid level that
// would allow it.
static int probe_refused(struct features *f, struct feature_result *r, int error, int most)
{
	long long level = probe_paranoid(f);
	char remedy[sizeof(r->remedy)];

	r->error = -error;
	/* The highest level first that fits the facts: no system call, privileged and refused all
	 * the same, allowed by the sysctl and refused all the same, then the sysctl itself. */
	if (error == -ENOSYS)
		return no(r, "a kernel built with CONFIG_PERF_EVENTS",
		          "this kernel has no perf_event_open");
	if ((error == -EACCES || error == -EPERM) && probe_perfmon(f))
		return no(r,
		          "in a container, allow perf_event_open in its seccomp profile; under "
		          "lockdown or a security module, see its log",
		          "refused though privileged (%s): a seccomp filter, a security module or "
		          "a user namespace",
		          strerror(-error));
	if ((error == -EACCES || error == -EPERM) && level <= most)
		return no(r, "in a container, allow perf_event_open in its seccomp profile",
		          "refused though kernel.perf_event_paranoid is %lld (%s): a seccomp "
		          "filter or a security module",
		          level, strerror(-error));
	if (error == -EACCES || error == -EPERM) {
		snprintf(remedy, sizeof(remedy),
		         "run as root or with CAP_PERFMON, or 'sysctl "
		         "kernel.perf_event_paranoid=%d'",
		         most);
		return no(r, remedy,
		          "kernel.perf_event_paranoid is %lld and CAP_PERFMON is missing", level);
	}
	return no(r, "", "%s", strerror(-error));
}

/* Whether perf events are there at all: a dummy event counts nothing, so no PMU can be missing. */
int probe_open(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_harmless();
	int error;

	attr.config = 9; // dummy
	/* 2: the highest perf_event_paranoid at which an unprivileged user may open such an
	 * event. */
	error = probe_try(f, &attr, 0, -1);
	return error ? probe_refused(f, r, error, 2) : probe_yes(r, 0);
}

/* The software clock is what is left where no PMU is: with it a recording is possible. */
int probe_software_clock(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_harmless();
	int error = probe_try(f, &attr, 0, -1);

	return error ? probe_refused(f, r, error, 2) : probe_yes(r, 0);
}

/* CPU cycles, in the same harmless way. */
static struct seam_attr probe_cycles(void)
{
	struct seam_attr attr = probe_harmless();

	attr.type = SEAM_TYPE_HARDWARE;
	attr.config = 0;
	return attr;
}

int probe_hardware(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_cycles();
	int error = probe_try(f, &attr, 0, -1);

	r->error = -error;
	/* The errors of a missing PMU; everything else is a refusal. */
	if (error == -ENOENT || error == -ENODEV || error == -ENXIO || error == -EOPNOTSUPP)
		return no(
		        r,
		        "sampling uses cpu-clock instead; in a VM, let the host give a virtual PMU",
		        "there is no PMU (%s)", strerror(-error));
	return error ? probe_refused(f, r, error, 2) : probe_yes(r, 0);
}

/* The highest level that the PMU takes. 3 needs hardware that says the very instruction. */
int probe_precise(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_cycles();
	int error = 0;

	if (!probe_has(f, FEATURE_HARDWARE))
		return no(r, "", "there is no PMU that could be asked");
	for (uint64_t level = 3; level; level--) {
		attr.flags &= ~(3ULL << SEAM_ATTR_PRECISE_IP_SHIFT);
		attr.flags |= level << SEAM_ATTR_PRECISE_IP_SHIFT;
		error = probe_try(f, &attr, 0, -1);
		if (!error)
			return probe_yes(r, (long long)level);
	}
	r->error = -error;
	return no(r, "", "the PMU has no precise cycles (%s)", strerror(-error));
}

/* Branches need a PMU that keeps them (LBR on Intel, BRBE on arm64). */
int probe_branch_stack(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_cycles();
	int error;

	if (!probe_has(f, FEATURE_HARDWARE))
		return no(r, "", "there is no PMU that could be asked");
	attr.sample_type |= SEAM_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = 9; // user, any
	error = probe_try(f, &attr, 0, -1);
	r->error = -error;
	return error ? no(r, "", "the PMU has no branch stack (%s)", strerror(-error))
	             : probe_yes(r, 0);
}

/* 1: the highest paranoid level that allows kernel events to unprivileged users. */
int probe_kernel(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_harmless();
	int error;

	attr.flags &= ~(SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV);
	error = probe_try(f, &attr, 0, -1);
	return error ? probe_refused(f, r, error, 1) : probe_yes(r, 0);
}

/* An event of all tasks on one CPU. 0: the highest level that allows it. */
int probe_system_wide(struct features *f, struct feature_result *r)
{
	struct seam_attr attr = probe_harmless();
	int *cpus = NULL;
	int n = kernel_cpus_online(&f->kernel, &cpus);
	int error = n < 1 ? -ENODEV : probe_try(f, &attr, -1, cpus[0]);

	free(cpus);
	return error ? probe_refused(f, r, error, 0) : probe_yes(r, 0);
}

/* Whether the ids of tracepoints can be read, at either of the two places of tracefs. */
int probe_tracepoints(struct features *f, struct feature_result *r)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[128], text[64];
	int error = -ENOENT;

	for (size_t i = 0; i < 2; i++) {
		int got;

		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", roots[i]);
		got = f->kernel.text(f->kernel.ctx, path, text, sizeof(text));
		if (got >= 0)
			return probe_yes(r, 0);
		/* A directory that may not be read tells more than one that is not there. */
		if (got != -ENOENT)
			error = got;
	}
	r->error = -error;
	if (error == -EACCES || error == -EPERM)
		return no(r, "run as root, or 'mount -o remount,mode=755 /sys/kernel/tracing'",
		          "tracefs may not be read by this user");
	return no(r, "mount -t tracefs nodev /sys/kernel/tracing",
	          "no tracefs at /sys/kernel/tracing");
}

/* Whether rings of 512 KiB per CPU fit into the memory that this user may lock. value: the limit in
 * KiB. */
int probe_mlock(struct features *f, struct feature_result *r)
{
	long page_kib = sysconf(_SC_PAGESIZE) / 1024;
	long long kib = 0;
	struct rlimit limit;

	/* Who may lock memory without a limit needs no more looks. */
	if (f->kernel.capable(f->kernel.ctx, CAP_IPC_LOCK))
		return probe_yes(r, 0);
	if (kernel_number(&f->kernel, "/proc/sys/kernel/perf_event_mlock_kb", &kib) < 0)
		return no(r, "", "kernel.perf_event_mlock_kb cannot be read");
	/* A ring has one page for its head besides its data. */
	if (kib >= 512 + page_kib)
		return probe_yes(r, kib);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur == RLIM_INFINITY)
		return probe_yes(r, kib);
	r->value = kib;
	return no(r, "sysctl kernel.perf_event_mlock_kb=516, or ulimit -l, or CAP_IPC_LOCK",
	          "kernel.perf_event_mlock_kb is %lld KiB per CPU: rings are smaller than 512 KiB",
	          kib);
}

/* Whether the kernel shows its addresses to this user. Hidden ones are shown as 0. */
int probe_kallsyms(struct features *f, struct feature_result *r)
{
	char text[256];
	long long kptr = 0;
	int error = f->kernel.text(f->kernel.ctx, "/proc/kallsyms", text, sizeof(text));
	const char *at = text;

	if (error < 0) {
		r->error = -error;
		return no(r, "", "/proc/kallsyms cannot be read (%s)", strerror(-error));
	}
	// If addresses are hidden, all are zero. Otherwise only the first symbol may be at 0
	// (per-CPU).
	for (int line = 0; at && *at && line < 8; line++) {
		for (int i = 0; i < 16 && at[i] && at[i] != ' '; i++)
			if (at[i] != '0')
				return probe_yes(r, 0);
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	kernel_number(&f->kernel, "/proc/sys/kernel/kptr_restrict", &kptr);
	return no(r, "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run as root",
	          "kernel addresses are hidden (kernel.kptr_restrict is %lld, "
	          "kernel.perf_event_paranoid is %lld)",
	          kptr, probe_paranoid(f));
}

/* Whether user callchains are really deferred, by a trial sample. */
int probe_defers(struct features *f, struct feature_result *r)
{
	int got;

	if (!probe_has(f, FEATURE_DEFER)) {
		r->error = f->at[FEATURE_DEFER].error;
		return no(r,
		          "Linux 6.19 or newer on x86_64; until then user stacks are taken at once",
		          "this kernel does not know deferral");
	}
	got = f->kernel.defers(f->kernel.ctx);
	if (got > 0)
		return probe_yes(r, 0);
	if (!got)
		return no(r, "x86_64; other architectures accept the bits and take stacks at once",
		          "the kernel accepts the bits, but a real sample was not deferred");
	r->error = -got;
	r->state = FEATURE_UNKNOWN;
	snprintf(r->reason, sizeof(r->reason), "the trial sample could not be taken (%s)",
	         strerror(-got));
	return 0;
}

/* CAP_SYS_ADMIN includes both of the others. */
int probe_bpf(struct features *f, struct feature_result *r)
{
	if (f->kernel.capable(f->kernel.ctx, CAP_SYS_ADMIN))
		return probe_yes(r, 0);
	if (!f->kernel.capable(f->kernel.ctx, PROBE_CAP_BPF))
		return no(r, "run as root, or with CAP_BPF and CAP_PERFMON", "CAP_BPF is missing");
	if (!f->kernel.capable(f->kernel.ctx, PROBE_CAP_PERFMON))
		return no(r, "run as root, or with CAP_BPF and CAP_PERFMON",
		          "CAP_PERFMON is missing");
	return probe_yes(r, 0);
}

/* libbpf needs the kernel's types to find members of structs (bpf/relocate.c). */
int probe_btf(struct features *f, struct feature_result *r)
{
	char text[16];
	int got = f->kernel.text(f->kernel.ctx, "/sys/kernel/btf/vmlinux", text, sizeof(text));

	if (got > 0)
		return probe_yes(r, 0);
	r->error = got < 0 ? -got : ENOENT;
	return no(r, "a kernel built with CONFIG_DEBUG_INFO_BTF", "no /sys/kernel/btf/vmlinux");
}

/* BPF is tried on the running kernel only: a kernel that a test plays has none. */
static bool probe_live_result(struct features *f, struct kwalk_probe *ret)
{
	if (f->kernel.open != kernel_running.open)
		return false;
	kwalk_probe(ret);
	return true;
}

int probe_live(struct features *f, struct feature_result *r)
{
	struct kwalk_probe p;

	if (!probe_live_result(f, &p))
		return no(r, "", "not the running kernel");
	return p.usable ? probe_yes(r, 0) : no(r, p.remedy, "%s", p.reason);
}

int probe_live_defer(struct features *f, struct feature_result *r)
{
	struct kwalk_probe p;

	if (!probe_live_result(f, &p))
		return no(r, "", "not the running kernel");
	return p.defers ? probe_yes(r, 0) : no(r, p.remedy, "%s", p.reason);
}

/* The NMI watchdog takes a counter of every CPU for good, so that groups of all counters fail. */
int probe_counters(struct features *f, struct feature_result *r)
{
	long long watchdog = 0;

	if (!probe_has(f, FEATURE_HARDWARE))
		return no(r, "", "there is no PMU");
	kernel_number(&f->kernel, "/proc/sys/kernel/nmi_watchdog", &watchdog);
	if (watchdog)
		return no(r, "sysctl kernel.nmi_watchdog=0", "the NMI watchdog holds one counter");
	return probe_yes(r, 0);
}

/*
 * Whether opening a tracepoint failed with EINTR because it is a uprobe that tracefs uses already:
 * a uprobe serves tracefs or perf at a time, and the kernel refuses the second one so. name is
 * "system:name", perhaps with modifiers.
 */
static bool probe_uprobe_taken(struct features *f, const char *name, struct feature_result *r)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int system = (int)strcspn(name, ":"), n;
	char path[512], text[16], remedy[sizeof(r->remedy)];

	if (!name[system])
		return false;
	n = (int)strcspn(name + system + 1, ":/");
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/%.*s/%.*s/enable", roots[i], system, name,
		         n, name + system + 1);
		/* Who may not read tracefs, or has it elsewhere, gets the bare errno as its
		 * reason. */
		if (f->kernel.text(f->kernel.ctx, path, text, sizeof(text)) < 1)
			continue;
		if (text[0] == '1')
			snprintf(remedy, sizeof(remedy), "echo 0 > %.180s", path);
		else
			snprintf(remedy, sizeof(remedy), "grep -l 1 %s/instances/*%.120s", roots[i],
			         path + strlen(roots[i]));
		no(r, remedy, "it is enabled already%s, and a uprobe serves either tracefs or perf",
		   text[0] == '1' ? "" : " by another trace");
		return true;
	}
	return false;
}

/* text gets "event 'NAME' cannot be opened: REASON (REMEDY)". Only what can be tried is tried;
 * sysctls explain the rest. */
void features_explain(struct features *f, const struct seam_attr *attr, const char *name, pid_t pid,
                      int cpu, int error, char *text, size_t n)
{
	struct feature_result r = { 0 };
	bool system_wide = pid == -1;
	bool kernel = !(attr->flags & SEAM_ATTR_EXCLUDE_KERNEL);
	bool hardware = attr->type != SEAM_TYPE_SOFTWARE && attr->type != SEAM_TYPE_TRACEPOINT;

	switch (error) {
	case EACCES:
	case EPERM:
		probe_refused(f, &r, -error, system_wide ? 0 : kernel ? 1 : 2);
		if (attr->type == SEAM_TYPE_TRACEPOINT && !probe_perfmon(f))
			no(&r,
			   "run as root or with CAP_PERFMON, or 'sysctl "
			   "kernel.perf_event_paranoid=-1'",
			   "tracepoints need kernel.perf_event_paranoid -1 or CAP_PERFMON");
		/* The paranoid level would allow it, so that the process itself is out of bounds
		 * (ptrace rules). */
		else if (!system_wide && pid > 0 && probe_paranoid(f) <= (kernel ? 1 : 2))
			no(&r, "run as its owner or as root",
			   "process %d may not be traced by this user", (int)pid);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		no(&r, hardware ? "use -e cpu-clock; 'seam check' says what there is" : "",
		   hardware ? "this machine's PMU does not have it"
		            : "this kernel does not have it");
		break;
	case EMFILE:
	case ENFILE:
		no(&r,
		   "raise 'ulimit -n'; every event needs a descriptor for each thread on each CPU",
		   "too many open files");
		break;
	case EBUSY:
		no(&r, "wait for the other user of the PMU, or leave out :D and :e",
		   "the counter is in use");
		break;
	case EINTR:
		if (attr->type != SEAM_TYPE_TRACEPOINT || !probe_uprobe_taken(f, name, &r))
			no(&r, "", "%s", strerror(error));
		break;
	case ESRCH:
		no(&r, "", "no such process or thread: %d", (int)pid);
		break;
	case EINVAL:
		no(&r, "'seam record -vv' shows the attr; 'seam check' says what this kernel has",
		   "the kernel refuses this combination");
		break;
	default:
		no(&r, "", "%s", strerror(error));
		break;
	}
	snprintf(text, n, "event '%s' cannot be opened: %s%s%s%s", name, r.reason,
	         r.remedy[0] ? " (" : "", r.remedy, r.remedy[0] ? ")" : "");
}
