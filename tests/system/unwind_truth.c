// SPDX-License-Identifier: MIT
/*
 * unwind_truth.c: seam's walker beside libdw's on the same registers and stack bytes.
 *
 *	system_unwind_truth FILE [SHOW]    every sample of a perf.data with stack copies; prints one
 *	                                   JSON object,
 *	                                   and the first SHOW differences on stderr
 *	system_unwind_truth --pid PID      every thread of a stopped process by seam: "TID END PC PC
 *	                                   ..." a line
 *
 * libdw is used as perf uses it: modules are reported as they are met, memory is the stack copy.
 * Knows nothing of what is expected; tests/system/unwind_truth.py does. Without arguments: 77,
 * there is nothing to compare.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seam/reader.h>

#include "abi/record.h"
#include "base/buf.h"
#include "base/map.h"
#include "image/image.h"
#include "libdw/peer.h"
#include "samples/recording.h"
#include "samples/unwound.h"

/* ---- a file ---- */
/* ---- a file ---- */

struct truth {
	struct recording *rec;
	struct unwound *unwound;
	struct peer peer;
	unsigned show;
	uint64_t samples, unusable, both_equal, both_differ, ours_only, theirs_only, neither,
	        peer_complete;
	uint64_t end[WALK_ENDS];
	uint64_t neither_prefix; /* neither complete, and one stack begins with the other */
	uint64_t frames, guessed;
	uint64_t cut_equal;  /* seam truncated, libdw stopped at the same frame */
	uint64_t peer_short; /* of both_differ: libdw ended without an error where seam went on */
	uint64_t peer_guess; /* of both_differ: libdw went by frame pointer where there is a rule */
	uint64_t stale; /* inside execve: the pc is the old program's, the mappings the new one's */
};

static const char *truth_object(struct truth *t, uint32_t space, uint64_t pc, uint64_t *offset)
{
	const struct proc_mapping *m = proc_space_find(t->rec->procs, space, pc);

	*offset = m ? pc - m->start + m->pgoff : pc;
	return m ? m->object->path : "?";
}

static void truth_print(struct truth *t, uint32_t space, const char *what, uint64_t time_ns,
                        const uint64_t *ours, size_t n)
{
	struct peer *p = &t->peer;
	uint64_t offset;

	fprintf(stderr, "%s at %" PRIu64 ": seam %s, %zu frames, libdw %zu (%s)\n", what, time_ns,
	        walk_end_name(unwound_last(t->unwound)->end), n, p->n, dwfl_errmsg(-1));
	for (size_t i = 0; i < n || i < p->n; i++) {
		const char *path = truth_object(t, space, i < n ? ours[i] : p->frames[i], &offset);

		if (i + 2 < n && i + 2 < p->n && ours[i] == p->frames[i] &&
		    ours[i + 1] == p->frames[i + 1])
			continue;
		fprintf(stderr, "  #%-3zu %16" PRIx64 " %16" PRIx64 "  %s+%#" PRIx64 "\n", i,
		        i < n ? ours[i] : 0, i < p->n ? p->frames[i] : 0, path, offset);
	}
}

static uint64_t truth_register(const struct seam_sample *s, unsigned bit)
{
	unsigned at = 0;

	for (unsigned i = 0; i < bit; i++)
		at += s->regs_user.mask >> i & 1;
	return s->regs_user.mask >> bit & 1 ? seam_u64s_at(&s->regs_user.values, at) : 0;
}

static bool truth_peer(struct truth *t, uint32_t pid, uint32_t space, const struct seam_sample *s)
{
	/* DWARF 0-16 -> PERF_REG_X86_* */
	static const unsigned bits[PEER_REGISTERS] = { 0,  3,  2,  1,  4,  5,  6,  7, 16,
		                                       17, 18, 19, 20, 21, 22, 23, 8 };
	struct peer_sample p = {
		.pid = pid, .space = space, .stack = s->stack_user.bytes, .n_stack = s->stack_user.n
	};

	for (unsigned i = 0; i < PEER_REGISTERS; i++)
		p.registers[i] = truth_register(s, bits[i]);
	p.start = p.registers[7];
	return peer_walk(&t->peer, &p);
}

/* Why two complete stacks differ, as far as libdw's side tells. */
static void truth_explain(struct truth *t, const uint64_t *ours, size_t n)
{
	enum peer_why why = peer_why(&t->peer, ours, n);

	t->both_differ++;
	t->peer_short += why == PEER_STOPS;
	t->peer_guess += why == PEER_GUESSES;
}

static void truth_compare(struct truth *t, uint32_t space, const struct seam_stitched *s,
                          bool theirs, uint64_t time_ns)
{
	const struct walk *walk = unwound_last(t->unwound);
	bool ours = walk->end == WALK_COMPLETE, equal;
	size_t n = (size_t)s->user.n, common;
	uint64_t frames[WALK_FRAMES_MAX];
	const char *what = NULL;

	for (size_t i = 0; i < n; i++)
		frames[i] = seam_u64s_at(&s->user, i) & WALK_ADDRESS;
	common = n < t->peer.n ? n : t->peer.n;
	equal = !memcmp(frames, t->peer.frames, common * 8);
	if (walk->end == WALK_TRUNCATED) { /* libdw takes the copy's end for the stack's */
		t->cut_equal += equal && n == t->peer.n;
		theirs = false;
		what = equal ? NULL : "different up to the end of the copy";
	}
	if (walk->end == WALK_NO_INFO && !proc_space_find(t->rec->procs, space, frames[0])) {
		t->stale++;
		return;
	}
	t->samples++;
	t->end[walk->end]++;
	t->frames += n;
	t->guessed += walk->n_sure < walk->n;
	t->peer_complete += theirs;
	if (ours && theirs) {
		if (equal && n == t->peer.n)
			t->both_equal++;
		else
			truth_explain(t, frames, n);
		what = equal && n == t->peer.n ? NULL : "different";
	} else if (ours) {
		t->ours_only++;
	} else if (theirs) {
		t->theirs_only++;
		what = "libdw alone complete";
	} else if (walk->end != WALK_TRUNCATED) {
		t->neither++;
		t->neither_prefix += equal;
		what = "neither complete";
	}
	if (what && t->show) {
		t->show--;
		truth_print(t, space, what, time_ns, frames, n);
	}
}

static int truth_record(void *ctx, const struct seam_record *record)
{
	struct truth *t = ctx;
	struct seam_stitched s = { .sz = sizeof(s) };
	struct seam_decoded d;
	uint32_t user, kernel;
	bool theirs;
	int r;

	if (record->type != SEAM_RECORD_SAMPLE ||
	    record_decode(t->rec->events, record, &d, NULL) < 0 ||
	    seam_stitch_resolve(t->rec->stitch, &d, NULL, &s) <= 0)
		return 0;
	recording_spaces(t->rec, &s, proc_time(&d), &user, &kernel);
	r = unwound_sample(t->unwound, user, &s);
	if (r <= 0) {
		t->unusable += s.state == SEAM_STITCH_STACK_COPY;
		return r;
	}
	theirs = truth_peer(t, d.id.pid, user, &d.sample);
	truth_compare(t, user, &s, theirs, proc_time(&d));
	return 0;
}

static int truth_file(const char *path, unsigned show)
{
	struct truth t = { .show = show };
	struct unwound_opts o = { .sz = sizeof(o) };
	struct seam_error err = { 0 };
	struct seam_reader *reader;
	uint64_t sum;

	if (seam_reader_open(&reader, path, NULL, &err) < 0 ||
	    recording_open(&t.rec, reader, NULL, &err) < 0) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return 1;
	}
	if (!unwound_opts_of(t.rec, &o)) {
		fprintf(stderr, "%s: no stack copies\n", path);
		return 1;
	}
	if (tables_new(&o.tables, &(struct tables_opts){ .sz = sizeof(struct tables_opts),
	                                                 .no_cache = true }) < 0 ||
	    unwound_new(&t.unwound, &o) < 0)
		return 1;
	peer_open(&t.peer, t.rec->procs, o.tables);
	if (recording_each(t.rec, truth_record, &t, &err) < 0)
		return 1;
	peer_free(&t.peer);
	sum = t.both_equal + t.both_differ;
	printf("{\"samples\": %" PRIu64 ", \"frames\": %" PRIu64, t.samples, t.frames);
	for (int i = 0; i < WALK_ENDS; i++)
		printf(", \"%s\": %" PRIu64, walk_end_name(i), t.end[i]);
	printf(", \"unusable\": %" PRIu64 ", \"guessed\": %" PRIu64 ", \"peer_complete\": %" PRIu64
	       ", \"both\": %" PRIu64 ", \"equal\": %" PRIu64 ", \"differ\": %" PRIu64
	       ", \"ours_only\": %" PRIu64 ", \"peer_only\": %" PRIu64 ", \"neither\": %" PRIu64
	       ", \"neither_prefix\": %" PRIu64 ", \"cut_equal\": %" PRIu64
	       ", \"peer_short\": %" PRIu64 ", \"peer_guess\": %" PRIu64 ", \"stale\": %" PRIu64
	       "}\n",
	       t.unusable, t.guessed, t.peer_complete, sum, t.both_equal, t.both_differ,
	       t.ours_only, t.theirs_only, t.neither, t.neither_prefix, t.cut_equal, t.peer_short,
	       t.peer_guess, t.stale);
	unwound_free(t.unwound);
	tables_free(o.tables);
	recording_close(t.rec);
	seam_reader_close(reader);
	return 0;
}

/* ---- a stopped process ---- */

struct live_mapping {
	uint64_t start, end, pgoff;
	char path[512];
};

struct live {
	pid_t pid;
	struct tables *tables;
	struct live_mapping mappings[2048];
	size_t n;
};

static int live_read(void *ctx, uint64_t address, uint64_t *ret)
{
	const struct live *l = ctx;
	struct iovec to = { ret, 8 }, from = { (void *)(uintptr_t)address, 8 };

	return process_vm_readv(l->pid, &to, 1, &from, 1, 0) == 8 ? 0 : -EFAULT;
}

static int live_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	struct live *l = ctx;
	const struct tables_object *object = NULL;
	const unsigned char *vdso;
	uint64_t vaddr;
	size_t n;

	*ret = (struct walk_place){ 0 };
	for (size_t i = 0; i < l->n; i++) {
		const struct live_mapping *m = &l->mappings[i];

		if (pc < m->start || pc >= m->end)
			continue;
		if (!strcmp(m->path, "[vdso]") && image_own_vdso(&vdso, &n) > 0)
			tables_get_memory(l->tables, "[vdso]", vdso, n, &object);
		else if (m->path[0] == '/')
			tables_get(l->tables, m->path, NULL, &object);
		ret->may_guess = !m->path[0];
		if (object && object->table &&
		    image_segments_mapped(object->segments, object->n_segments, m->pgoff,
		                          m->end - m->start, &vaddr) >= 0) {
			ret->table = object->table;
			ret->rule = frametab_find(ret->table, pc - m->start + vaddr);
		}
		return 0;
	}
	return -ENOENT;
}

static int live_maps(struct live *l)
{
	char path[64], line[1024], perms[8];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", l->pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (l->n < 2048 && fgets(line, sizeof(line), f)) {
		struct live_mapping *m = &l->mappings[l->n];

		m->path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511s", &m->start,
		           &m->end, perms, &m->pgoff, m->path) >= 4 &&
		    perms[2] == 'x')
			l->n++;
	}
	fclose(f);
	return 0;
}

static int live_thread(struct live *l, pid_t tid)
{
	struct walk_options options = { .machine = FRAMETAB_X86_64, .max_frames = WALK_FRAMES_MAX };
	struct walk_memory memory = { .ctx = l, .read = live_read, .find = live_find };
	struct user_regs_struct u;
	uint64_t frames[WALK_FRAMES_MAX];
	struct walk walk;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ||
	    waitpid(tid, &status, __WALL) < 0 || ptrace(PTRACE_GETREGS, tid, 0, &u) < 0)
		return -errno;
	walk_stack(&options, &memory,
	           &(struct walk_registers){ .value = { u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi,
	                                                u.rbp, u.rsp, u.r8, u.r9, u.r10, u.r11,
	                                                u.r12, u.r13, u.r14, u.r15, u.rip },
	                                     .known = (1 << 17) - 1 },
	           frames, &walk);
	printf("%d %s", tid, walk_end_name(walk.end));
	for (size_t i = 0; i < walk.n; i++)
		printf(" %" PRIx64, frames[i]);
	printf("\n");
	return ptrace(PTRACE_DETACH, tid, 0, 0) < 0 ? -errno : 0;
}

static int truth_live(pid_t pid)
{
	static struct live l;
	struct dirent *entry;
	char path[64];
	int r = 0;
	DIR *d;

	l.pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d || live_maps(&l) < 0 ||
	    tables_new(&l.tables, &(struct tables_opts){ .sz = sizeof(struct tables_opts),
	                                                 .no_cache = true }) < 0)
		return 1;
	while (r >= 0 && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			r = live_thread(&l, atoi(entry->d_name));
	closedir(d);
	tables_free(l.tables);
	if (r < 0)
		fprintf(stderr, "%d: %s\n", pid, strerror(-r));
	return r < 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--pid"))
		return truth_live(atoi(argv[2]));
	if (argc >= 2)
		return truth_file(argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 0);
	fprintf(stderr, "a tool of tests/system/unwind_truth.py\n");
	return 77;
}
