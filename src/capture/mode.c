// SPDX-License-Identifier: MIT
/* mode.c: the one line that says which user stacks a recording has; see mode.h. The session and the
 * recorder fill struct mode; this file only puts it into words. Tests and users read this line, so
 * that its beginning ("user stacks:") stays. */
#include "capture/mode.h"

#include <stdio.h>
#include <string.h>

/* The end of the line: why it is not a better way. */
static const char *mode_why(enum mode_reason reason)
{
	switch (reason) {
	case MODE_ASKED:
		return "as asked";
	case MODE_NO_KERNEL:
		return "this kernel does not defer (needs Linux 6.19, x86_64)";
	case MODE_NO_ARCH:
		return "this kernel accepts deferral but does not do it on this machine (only "
		       "x86_64 does)";
	case MODE_NO_TASK_WORK:
		return "this kernel has no task work for BPF programs (needs Linux 6.18)";
	}
	return "";
}

/* Behind the line: functions of Python are missing, and what would help. */
static const char *mode_runtimes(const struct mode *mode)
{
	switch (mode->runtimes) {
	case MODE_RUNTIMES_OTHER:
		return "; no functions of Python, but where it runs with -X perf (3.12 and later): "
		       "--call-graph dwarf,defer has them all";
	case MODE_RUNTIMES_NO_BPF:
		return "; no functions of Python, but where it runs with -X perf or "
		       "PYTHONPERFSUPPORT=1 (3.12 and later): root, or CAP_BPF and CAP_PERFMON, "
		       "has them all";
	case MODE_RUNTIMES_NOT_SAID:
		break;
	}
	return "";
}

/* The way itself. */
static void mode_stacks(const struct mode *mode, char *text, size_t n)
{
	switch (mode->stack) {
	case MODE_NONE:
		snprintf(text, n, "user stacks: none, as asked");
		break;
	case MODE_FP:
		snprintf(text, n, "user stacks: frame pointers, at once: %s",
		         mode_why(mode->reason));
		break;
	case MODE_FP_DEFER:
		snprintf(text, n, "user stacks: frame pointers, deferred by the kernel%s",
		         mode->per_task && mode->deferred == MODE_DEFERRED_TASK
		                 ? "; a task's last one is lost when it exits (the event on every "
		                   "CPU that would catch it needs CAP_PERFMON or "
		                   "kernel.perf_event_paranoid <= 0)"
		                 : "");
		break;
	case MODE_LIVE:
		snprintf(text, n,
		         "user stacks: %s, walked in the kernel by BPF at once; one ends where a "
		         "page "
		         "is not in memory: %s",
		         mode->by_fp ? "frame pointers" : "unwind tables", mode_why(mode->reason));
		break;
	case MODE_LIVE_DEFER:
		snprintf(text, n,
		         "user stacks: %s, walked in the kernel by BPF at once, deferred where a "
		         "page "
		         "is not in memory",
		         mode->by_fp ? "frame pointers" : "unwind tables");
		break;
	case MODE_STACK:
		snprintf(text, n, "user stacks: copies of %u bytes, %s%s%s", mode->stack_size,
		         mode->unwinds ? "unwound while recording" : "kept in the file",
		         mode->reason == MODE_ASKED ? "" : ": ",
		         mode->reason == MODE_ASKED ? "" : mode_why(mode->reason));
		break;
	}
}

/* n: the size of text. Whoever must know more of the reason asks mode->reason. */
const char *mode_line(const struct mode *mode, char *text, size_t n)
{
	size_t at;

	mode_stacks(mode, text, n);
	at = strlen(text);
	snprintf(text + at, n - at, "%s", mode_runtimes(mode));
	return text;
}

/* The value of --call-graph by which the same stacks would be recorded again. */
const char *mode_option(const struct mode *mode)
{
	switch (mode->stack) {
	case MODE_NONE:
		return "no";
	case MODE_FP:
		return "fp";
	case MODE_FP_DEFER:
		return "fp,defer";
	case MODE_LIVE:
	case MODE_LIVE_DEFER:
		return mode->by_fp ? "fp,defer" : "dwarf,defer";
	case MODE_STACK:
		return "dwarf";
	}
	return "no";
}
