/* SPDX-License-Identifier: MIT */
/*
 * features.h: what this kernel, for this user, can do: a table of probes that really call
 * perf_event_open on a harmless attr (a disabled dummy on the calling thread), never a version
 * comparison, with the reason for each "no" and what to do about it.
 *
 * And the way down when a real event is refused: what the kernel lacks is switched off, newest
 * first, one step at a time, each step said. What a probe shows to be there is never switched off.
 */
#ifndef SEAM_CAPTURE_FEATURES_H
#define SEAM_CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/kernel.h"
#include "capture/log.h"

/* In the order in which they are switched off: newest kernel first. The rows that are no attr bit
 * follow behind FEATURE_ATTR_END. */
enum feature {
	FEATURE_DEFER,             /* defer_callchain and defer_output; 6.19 */
	FEATURE_INHERIT_READ,      /* inherit with PERF_SAMPLE_READ; 6.12 */
	FEATURE_BRANCH_COUNTERS,   /* 6.8 */
	FEATURE_READ_LOST,         /* PERF_FORMAT_LOST; 6.0 */
	FEATURE_REMOVE_ON_EXEC,    /* 5.13 */
	FEATURE_WEIGHT_STRUCT,     /* 5.12 */
	FEATURE_BUILD_ID,          /* build-id in MMAP2; 5.12 */
	FEATURE_DATA_PAGE_SIZE,    /* data and code page size; 5.11 */
	FEATURE_TEXT_POKE,         /* 5.8 */
	FEATURE_CGROUP,            /* 5.7 */
	FEATURE_AUX_OUTPUT,        /* 5.4 */
	FEATURE_BPF_EVENT,         /* 5.1 */
	FEATURE_KSYMBOL,           /* 5.1 */
	FEATURE_PHYS_ADDR,         /* 4.14 */
	FEATURE_NAMESPACES,        /* 4.12 */
	FEATURE_WRITE_BACKWARD,    /* 4.7 */
	FEATURE_MAX_STACK,         /* sample_max_stack; 4.8 */
	FEATURE_CONTEXT_SWITCH,    /* 4.3 */
	FEATURE_CLOCKID,           /* use_clockid; 4.1 */
	FEATURE_COMM_EXEC,         /* 3.16 */
	FEATURE_MMAP2,             /* 3.16 */
	FEATURE_CLOEXEC,           /* PERF_FLAG_FD_CLOEXEC; 3.14 */
	FEATURE_IDENTIFIER,        /* PERF_SAMPLE_IDENTIFIER; 3.12 */
	FEATURE_EXCLUDE_CALLCHAIN, /* exclude_callchain_user/kernel; 3.7 */
	FEATURE_EXCLUDE_GUEST,     /* exclude_guest, exclude_host; 3.2 */
	FEATURE_SAMPLE_ID_ALL,     /* 2.6.38 */
	FEATURE_ATTR_END,

	FEATURE_OPEN = FEATURE_ATTR_END, /* any event at all */
	FEATURE_SOFTWARE_CLOCK,          /* cpu-clock */
	FEATURE_HARDWARE,                /* a PMU with cycles */
	FEATURE_PRECISE,                 /* precise_ip > 0; .value is the highest level */
	FEATURE_BRANCH_STACK,
	FEATURE_KERNEL,      /* kernel frames are allowed */
	FEATURE_SYSTEM_WIDE, /* every process of a CPU */
	FEATURE_TRACEPOINTS, /* tracefs is there and readable */
	FEATURE_MLOCK,       /* the default ring may be mapped without CAP_IPC_LOCK; .value KiB */
	FEATURE_KALLSYMS,    /* kernel addresses are shown (kptr_restrict) */
	FEATURE_DEFERS,      /* the kernel defers user stacks *and* the architecture really does */
	FEATURE_BPF,         /* BPF programs may be loaded */
	FEATURE_BTF,         /* /sys/kernel/btf/vmlinux */
	FEATURE_LIVE,        /* BPF programs walk user stacks by unwind tables (bpf/kwalk.h) */
	FEATURE_LIVE_DEFER,  /* and defer where a page is not in memory */
	FEATURE_COUNTERS,    /* all counters are free: the NMI watchdog takes one */
	FEATURES,
};

enum feature_state {
	FEATURE_UNKNOWN, /* not probed, or not to be known on this machine */
	FEATURE_NO,
	FEATURE_YES,
};

struct feature_result {
	enum feature_state state;
	int error;        /* errno of the probe that failed, positive; 0 */
	long long value;  /* where the row has one: a level, KiB; else 0 */
	char reason[160]; /* of a "no" or an "unknown": one sentence, lower case; "" for yes */
	char remedy[200]; /* what a person can do; "" when nothing can be done */
};

struct features {
	struct kernel kernel;
	struct feature_result at[FEATURES];
	bool off[FEATURE_ATTR_END]; /* switched off by features_fall_back */
};

/* "defer_callchain" (stable, for JSON); "deferred user callchains" (for people). */
const char *features_name(enum feature f);
const char *features_text(enum feature f);

/* kernel NULL: the running one. Probes nothing yet. */
void features_init(struct features *f, const struct kernel *kernel);
/* The result of one row, probed on first use. */
const struct feature_result *features_get(struct features *f, enum feature which);
static inline bool features_has(struct features *f, enum feature which)
{
	return features_get(f, which)->state == FEATURE_YES;
}
/* Probes every row. */
void features_probe_all(struct features *f);
/* perf_event_open as the sampling events do it is possible at all (with cpu-clock, of one's own
 * processes). */
bool features_can_record(struct features *f);

#define FEATURES_ATTR_SIZE_LEAST 112u
/* The least of the sizes that the ABI's attr has had that holds what attr says (NULL: nothing
 * special). Old readers refuse attrs that are larger than they know. */
uint32_t features_attr_size(const struct seam_attr *attr);
/* Takes out of attr (and of *open_flags, may be NULL) what is off. */
void features_strip(const struct features *f, struct seam_attr *attr, unsigned long *open_flags);
/*
 * Opens attr, without what the kernel lacks; *attr and f->off say what was really used. Every try
 * is logged. A file descriptor, or -errno of the last try.
 */
int features_open(struct features *f, struct seam_attr *attr, pid_t pid, int cpu, int group_fd,
                  const struct log *log);
/* Why perf_event_open of attr fails with -error and what to do, in one sentence for people. */
void features_explain(struct features *f, const struct seam_attr *attr, const char *name, pid_t pid,
                      int cpu, int error, char *text, size_t n);

#endif
