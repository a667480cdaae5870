// SPDX-License-Identifier: MIT
/*
 * record_say.c: words and figures only. Invariant: a loss is always said, unless -q asked for
 * silence; a figure that is not known is not shown as 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/record_say.h"
#include "report/report.h"

/* Decimal units, as perf has them. */
static const char *say_bytes(uint64_t v, char *text, size_t n)
{
	if (v < 100000)
		snprintf(text, n, "%.1f kB", (double)v / 1e3);
	else
		snprintf(text, n, "%.1f MB", (double)v / 1e6);
	return text;
}

/* For the log of the recorder: one message, or at the level of attrs a text of many lines. */
void record_say_log(void *ctx, int level, const char *text)
{
	const struct cmd *cmd = ctx;

	if (level < LOG_ATTRS) {
		cmd_error(cmd, "%s", text);
		return;
	}
	for (int n; *text; text += n + (text[n] == '\n')) {
		n = (int)strcspn(text, "\n");
		cmd_print(stderr, "%.*s\n", n, text);
	}
}

/* For the recorder: how far it is, on one line of a terminal, which the last call clears. */
void record_say_progress(void *ctx, size_t done, size_t of)
{
	const struct cmd *cmd = ctx;

	if (!isatty(STDERR_FILENO))
		return;
	if (of)
		cmd_print(stderr, "\rseam %s: reading unwind tables: %zu of %zu processes",
		          cmd->name, done, of);
	else
		cmd_print(stderr, "\r\033[K");
}

/* Says which perf will not be able to read the file. */
static void record_say_readers(const struct record_opts *o, const struct cmd *cmd,
                               const struct session *session)
{
	const struct seam_events *events = session_events(session);
	uint64_t flags = 0;

	for (size_t i = 0; i < seam_events_count(events); i++)
		flags |= seam_events_at(events, i)->attr.flags;
	if (flags & (SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT))
		cmd_print(
		        stderr,
		        "seam %s: perf older than 6.19 reads the file only after seam convert%s\n",
		        cmd->name,
		        strcmp(o->output, "-")
		                ? ", if a stack was deferred or the recorder is killed"
		                : "");
	if (o->compress_level)
		cmd_print(stderr,
		          "seam %s: perf older than 6.16 does not read a compressed file (-z), and "
		          "none reads one whose recorder was killed: seam recover makes it "
		          "readable\n",
		          cmd->name);
}

/* Says nothing with -q. With -v it also says how many events, tasks and rings are open. */
void record_say_mode(const struct record_opts *o, const struct cmd *cmd,
                     const struct session *session)
{
	const struct mode *mode = session_mode(session);
	struct session_counts counts = { .sz = sizeof(counts) };
	char text[400];

	if (o->quiet)
		return;
	cmd_print(stderr, "seam %s: %s\n", cmd->name, mode_line(mode, text, sizeof(text)));
	record_say_readers(o, cmd, session);
	if (!o->rec.command && !o->duration_ms && !o->rec.session.n_pids)
		cmd_print(stderr, "seam %s: the whole system is recorded until Ctrl-C\n",
		          cmd->name);
	if (!o->verbose)
		return;
	if (mode->stack == MODE_FP_DEFER && o->rec.grace_ms == UINT32_MAX)
		cmd_print(stderr,
		          "seam %s: no grace period: only tasks that sleep are read at the end\n",
		          cmd->name);
	else if (mode->stack == MODE_FP_DEFER)
		cmd_print(stderr,
		          "seam %s: grace period: when sampling ends, tasks that are still in the "
		          "kernel have %u ms to answer\n",
		          cmd->name, o->rec.grace_ms ? o->rec.grace_ms : SESSION_GRACE_MS_DEFAULT);
	session_counts(session, &counts);
	cmd_print(stderr,
	          "seam %s: %zu events, %zu tasks, %zu rings of %zu pages, %zu files open\n",
	          cmd->name, counts.n_events, counts.n_tasks, counts.n_rings, counts.ring_pages,
	          counts.n_fds);
}

/* Anybody may choose the name of a process, so it is escaped: no control characters reach the
 * terminal. */
static void record_say_denied(const struct cmd *cmd, const struct synth_counts *counts)
{
	uint64_t named = counts->denied < SYNTH_DENIED ? counts->denied : SYNTH_DENIED;

	cmd_print(stderr, "seam %s: %" PRIu64 " %s may not be looked into (", cmd->name,
	          counts->denied, counts->denied == 1 ? "process" : "processes");
	for (uint64_t i = 0; i < named; i++) {
		cmd_print(stderr, "%s%s %d", i ? ", " : "", counts->denied_first[i].comm,
		          (int)counts->denied_first[i].pid);
	}
	cmd_print(stderr,
	          "%s): no names for %s user functions; root, or CAP_SYS_PTRACE, may look\n",
	          counts->denied > named ? " ..." : "", counts->denied == 1 ? "its" : "their");
}

/* Says how many processes could not be read; with -v also what was written of those that ran
 * already, and in what time (ns). */
void record_say_synth(const struct record_opts *o, const struct cmd *cmd,
                      const struct synth_counts *counts, uint64_t ns)
{
	if (!o->quiet && counts->denied)
		record_say_denied(cmd, counts);
	if (o->quiet || !o->verbose)
		return;
	cmd_print(stderr,
	          "seam %s: already running: %" PRIu64 " processes, %" PRIu64 " threads, %" PRIu64
	          " mappings, %" PRIu64 " of %" PRIu64 " files with build-id; %" PRIu64
	          " ended meanwhile; %" PRIu64 " modules, %" PRIu64 " BPF functions; %.1f ms\n",
	          cmd->name, counts->processes, counts->threads, counts->mappings,
	          counts->build_ids, counts->files, counts->gone, counts->modules, counts->bpf,
	          (double)ns / 1e6);
	if (!counts->kernel)
		cmd_print(stderr,
		          "seam %s: the kernel's addresses are hidden (kernel.kptr_restrict): no "
		          "kernel mapping is written\n",
		          cmd->name);
}

/* Says what each ring lost, as far as the rings tell. */
static void record_say_rings(const struct session *session)
{
	char a[32], b[32];

	for (size_t i = 0; i < session_rings(session); i++) {
		const struct ring *ring = session_ring(session, i);
		const struct ring_counts *c = &ring->counts;

		if (!c->lost && !c->lost_samples && !c->bad_bytes)
			continue;
		cmd_print(stderr, "  CPU %d: %s records lost, ring filled up to %" PRIu64 " %%",
		          ring->cpu, report_number(c->lost + c->lost_samples, a, sizeof(a)),
		          ring->size ? c->peak_bytes * 100 / ring->size : 0);
		if (c->bad_bytes)
			cmd_print(stderr, ", %s bytes unsound",
			          report_number(c->bad_bytes, b, sizeof(b)));
		fputc('\n', stderr);
	}
}

/* If samples were lost because rings were full, it says how to lose less. */
void record_say_end(const struct record_opts *o, const struct session *session, uint64_t samples,
                    uint64_t unwritten, const struct bpf_stacks_lost *lost, uint64_t bytes)
{
	struct session_counts c = { .sz = sizeof(c) };
	char a[32], size[32], sum[32];
	uint64_t n, cut;

	if (o->quiet)
		return;
	session_counts(session, &c);
	n = c.total.lost + c.total.lost_samples;
	/* The kernel's own count, where it keeps one: a record of a loss may never have been
	 * written. */
	if (c.lost_kernel_known && c.lost_kernel > n)
		n = c.lost_kernel;
	n += lost->room;
	cut = c.total.cut + lost->cut;
	cmd_print(stderr, "[ seam record: %s samples, %s in %s; %s lost",
	          report_number(samples, a, sizeof(a)), say_bytes(bytes, size, sizeof(size)),
	          strcmp(o->output, "-") ? o->output : "standard output",
	          report_number(n + lost->skipped + cut, sum, sizeof(sum)));
	if (unwritten)
		cmd_print(stderr, ", %s not written", report_number(unwritten, a, sizeof(a)));
	cmd_print(stderr, " ]\n");
	if (n) {
		record_say_rings(session);
		if (c.lost_deferred)
			cmd_print(stderr, "  %s of them stacks that the kernel had deferred\n",
			          report_number(c.lost_deferred, a, sizeof(a)));
		cmd_print(stderr, "  larger rings (-m %zu) or a lower frequency (-F) lose less\n",
		          c.ring_pages * 4);
	}
	if (cut)
		cmd_print(stderr,
		          "  %s records that waited in the rings are left out: the machine was too "
		          "busy to read them within a second\n",
		          report_number(cut, a, sizeof(a)));
	if (o->verbose)
		cmd_print(stderr,
		          "seam record: %" PRIu64 " records, %" PRIu64 " deferred stacks, %" PRIu64
		          " rounds, %" PRIu64 " wake-ups\n",
		          c.total.records, c.total.deferred, c.rounds, c.wakeups);
}
