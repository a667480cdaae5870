// SPDX-License-Identifier: MIT
// recording.c: see recording.h. Knows the passes over a file; what a record teaches is
// first_pass.c's.
//
// Invariant: a run holds only records that the reader delivered and found sound, so its headers are
// walked again without asking the reader.
#include "samples/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cpus.h"
#include "perfdata/feature.h"
#include "perfdata/window.h"
#include "samples/kernel_names.h"
#include "samples/kernel_trap.h"
#include "samples/first_pass.h"
#include "samples/sample_index.h"
#include "samples/walk_result.h"
#include "symbol/symbol.h"

#define PROGRESS_EVERY 65536u /* records */

/* Walks the records of a run: start with *at = 0 and *i = 0; true and *ret until the end. The
 * record's bytes stay as long as the recording. */
static bool recording_run_next(const struct recording_run *run, size_t *at, uint32_t *i,
                               struct seam_record *ret)
{
	uint32_t type;
	uint16_t misc, size;

	if (*i >= run->records)
		return false;
	/* perf_event_header: type, misc, size. */
	memcpy(&type, run->bytes + *at, 4);
	memcpy(&misc, run->bytes + *at + 4, 2);
	memcpy(&size, run->bytes + *at + 6, 2);
	if (run->swap) {
		type = __builtin_bswap32(type);
		misc = __builtin_bswap16(misc);
		size = __builtin_bswap16(size);
	}
	*ret = (struct seam_record){
		.type = type,
		.misc = misc,
		.swap = run->swap,
		.stable = true,
		.size = size,
		.offset = run->one_offset ? run->offset : run->offset + *at,
		.index = run->first_index + *i,
		.bytes = run->bytes + *at,
	};
	*at += size;
	(*i)++;
	/* Asks for the headers of the next records, supposing that they are as long as this one; if
	 * not, only the hint is wasted. */
	__builtin_prefetch(run->bytes + *at + size);
	__builtin_prefetch(run->bytes + *at + 3 * (size_t)size);
	return true;
}

/* Tells how far the reading is, by bytes. */
static void recording_progress(const struct recording *rec, const struct progress *progress)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	if (progress && progress->report && seam_reader_info(rec->reader, &info) >= 0)
		progress->report(progress->ctx, "reading", info.position, info.file_size);
}

/* Whether what was asked for of a file has been read. */
static bool recording_read_enough(const struct recording *rec, uint64_t first_bytes)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	return first_bytes && seam_reader_info(rec->reader, &info) >= 0 &&
	       info.position >= first_bytes;
}

/* Ascending. */
static int recording_time_order(const void *pa, const void *pb)
{
	const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Compares what the header says of the machine with the one we are on. */
static bool recording_is_foreign(struct seam_reader *reader)
{
	const char *host = seam_reader_feature_string(reader, SEAM_FEATURE_HOSTNAME);
	const char *release = seam_reader_feature_string(reader, SEAM_FEATURE_OSRELEASE);
	struct utsname here;

	if (uname(&here) < 0)
		return false;
	return (host && strcmp(host, here.nodename)) || (release && strcmp(release, here.release));
}

/* Whether the path is that of a module of a kernel of that release. */
static bool recording_module_is_of(const char *path, const char *release)
{
	const char *at = strstr(path, "/lib/modules/");
	size_t n = strlen(release);

	/* Where / and /usr are merged, the directory has two names. */
	if (!at || (at != path && strncmp(path, "/usr/lib/", strlen("/usr/lib/")) != 0))
		return false;
	at += strlen("/lib/modules/");
	return !strncmp(at, release, n) && at[n] == '/';
}

/* Used where the kernel's build-id was not recorded. */
bool recording_says_kernel(const struct recording *rec)
{
	const char *release =
	        rec->reader ? seam_reader_feature_string(rec->reader, SEAM_FEATURE_OSRELEASE)
	                    : NULL;
	struct utsname here;

	if (uname(&here) < 0)
		return false;
	if (release)
		return !strcmp(release, here.release);
	for (size_t i = 0; i < proc_mappings(rec->procs); i++) {
		const struct proc_object *o = proc_mapping_at(rec->procs, i)->object;

		if (o->kind == PROC_KIND_MODULE && recording_module_is_of(o->path, here.release))
			return true;
	}
	return false;
}

/* Ends the first pass: gives the process table and the stitcher what stands in the header, and
 * seals both. */
static int recording_seal(struct first_pass *l, const struct symbol_opts *symbols)
{
	struct recording *rec = l->rec;
	struct seam_bytes ids;
	struct seam_reader_info info = { .sz = sizeof(info) };
	int r;

	/* No sample has a time. */
	if (!rec->last_ns)
		rec->first_ns = 0;
	if (rec->n_kernel_changes)
		qsort(rec->kernel_changes, rec->n_kernel_changes, sizeof(uint64_t),
		      recording_time_order);
	kernel_code_seal(&rec->kernel_code);
	contexts_seal(&rec->contexts);
	r = seam_reader_info(rec->reader, &info);
	if (r >= 0 && seam_reader_feature(rec->reader, SEAM_FEATURE_BUILD_ID, &ids) > 0)
		r = first_pass_build_ids(rec, ids.bytes, ids.n, info.swapped);
	if (r >= 0)
		r = sample_index_settle(rec->index);
	if (r >= 0)
		r = seam_stitch_events(rec->stitch, rec->events);
	if (r >= 0)
		r = seam_stitch_seal(rec->stitch);
	recording_know_machine(rec);
	if (r >= 0)
		r = jit_learn(&l->jit, rec, symbols);
	return r < 0 ? r : proc_seal(rec->procs);
}

/* Does what else is to be done with one of the few records that are neither samples nor deferred
 * records, before it is learned. */
static int recording_few(struct recording *rec, const struct symbol_opts *symbols,
                         const struct seam_record *record, bool *names)
{
	if (*names && kernel_names_asks(record))
		*names = !kernel_names_begin(rec, symbols, record);
	/* In a stream events come as records; the stitcher must know them before their samples. */
	return record->type == SEAM_RECORD_HEADER_ATTR
	               ? seam_stitch_events(rec->stitch, rec->events)
	               : 0;
}

/* The first pass: gives every record to those that learn from it, then seals. -errno, and err says
 * at which record. */
static int recording_learn(struct first_pass *l, const struct recording_opts *opts,
                           struct seam_error *err)
{
	const struct progress *progress = opts ? &opts->progress : NULL;
	struct recording *rec = l->rec;
	bool names = opts && opts->names;
	struct seam_record record;
	int r = seam_stitch_events(rec->stitch, rec->events);

	while (r >= 0 && (r = seam_reader_next(rec->reader, &record, err)) > 0) {
		if (record.type != SEAM_RECORD_SAMPLE &&
		    record.type != SEAM_RECORD_CALLCHAIN_DEFERRED)
			r = recording_few(rec, opts ? opts->symbols : NULL, &record, &names);
		if (r >= 0)
			r = first_pass_record(l, &record);
		if (r < 0)
			return seam_error_set(err, -r, NULL, record.offset,
			                      seam_record_name(record.type), "%s", strerror(-r));
		if (record.index % PROGRESS_EVERY)
			continue;
		recording_progress(rec, progress);
		if (progress && progress_stopped(progress))
			return -ECANCELED;
		if (opts && recording_read_enough(rec, opts->first_bytes))
			break;
	}
	if (r < 0)
		return r;
	r = recording_seal(l, opts ? opts->symbols : NULL);
	if (r < 0)
		return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	return 0;
}

/* Makes a recording that has learned nothing yet; the reader stays the caller's. -ENOMEM. */
static int recording_new(struct recording **ret, struct seam_reader *reader,
                         const struct proc_opts *procs)
{
	struct recording *rec = calloc(1, sizeof(*rec));
	int r;

	if (!rec)
		return -ENOMEM;
	rec->reader = reader;
	rec->events = seam_reader_events(reader);
	rec->stable = true;
	rec->first_ns = UINT64_MAX;
	file_identity_of(rec, &rec->identity);
	r = proc_new(&rec->procs, procs);
	if (r >= 0)
		r = seam_stitch_new(&rec->stitch, &(struct seam_stitch_opts){
		                                          .sz = sizeof(struct seam_stitch_opts) });
	if (r < 0) {
		recording_close(rec);
		return r;
	}
	*ret = rec;
	return 0;
}

/* Whether what is mapped will tell nothing: there are events, and no stack of theirs is walked, nor
 * was by the recorder. */
static bool recording_no_spaces(const struct recording *rec)
{
	size_t n = seam_events_count(rec->events);
	bool any = !n; /* events come in the stream, and may be of any kind */

	for (size_t i = 0; i < n; i++) {
		const struct seam_attr *attr = &seam_events_at(rec->events, i)->attr;

		any |= attr->sample_type & SEAM_SAMPLE_STACK_USER || walk_result_said(attr);
	}
	return !any;
}

/* Whether all that counting needs is learned in the first pass. */
static bool recording_no_bytes(const struct recording *rec)
{
	size_t n = seam_events_count(rec->events);
	bool any = !n; /* as above */

	for (size_t i = 0; i < n; i++)
		any |= seam_events_at(rec->events, i)->attr.sample_type &
		       (SEAM_SAMPLE_STACK_USER | SEAM_SAMPLE_BRANCH_STACK | SEAM_SAMPLE_READ);
	return !any;
}

/* Whether a second CPU is to be used. Where few words of callchains are kept, there is nothing for
 * it to do. */
static bool recording_has_threads(const struct recording_opts *opts)
{
	if (opts && (opts->innermost || opts->no_stacks || opts->states))
		return false;
	return cpus_for(opts ? opts->threads : 0) > 1;
}

/* Callchains are looked up beside the reading of records. */
static void recording_beside(struct recording *rec)
{
	rec->index->relay.wanted = true;
	stitch_beside(rec->stitch);
}

/* opts may be NULL. On failure nothing is left open. */
int recording_open(struct recording **ret, struct seam_reader *reader,
                   const struct recording_opts *opts, struct seam_error *err)
{
	struct first_pass l = { 0 };
	int r = recording_new(&l.rec, reader,
	                      &(struct proc_opts){ .sz = sizeof(struct proc_opts) });

	if (r < 0)
		return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	if (opts && opts->no_bytes && recording_no_bytes(l.rec))
		window_once(reader);
	l.once = opts && opts->once;
	l.rec->index = sample_index_new(opts && opts->innermost);
	if (l.rec->index)
		l.rec->index->no_stacks = opts && opts->no_stacks;
	if (l.rec->index && recording_has_threads(opts))
		recording_beside(l.rec);
	if (l.rec->index && window_large(reader))
		first_pass_large(&l);
	if (l.rec->index && opts && opts->states) {
		l.rec->index->tally.on = true;
		l.rec->no_spaces = recording_no_spaces(l.rec);
	}
	r = l.rec->index ? recording_learn(&l, opts, err)
	                 : seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "%s",
	                                  strerror(ENOMEM));
	first_pass_free(&l);
	if (r < 0) {
		recording_close(l.rec);
		return r;
	}
	*ret = l.rec;
	return 0;
}

/* A recording that is read once, as it comes: it has no index, and its records are learned in
 * order. */
int recording_stream(struct recording **ret, struct seam_reader *reader)
{
	const struct proc_opts procs = { .sz = sizeof(procs), .in_order = true };
	int r = recording_new(ret, reader, &procs);

	if (r >= 0)
		(*ret)->in_order = true;
	return r;
}

/* Compares the recording's machine with this one. In a stream that is possible only when its first
 * records were read. */
void recording_know_machine(struct recording *rec)
{
	rec->foreign = recording_is_foreign(rec->reader);
}

void recording_close(struct recording *rec)
{
	if (!rec)
		return;
	kernel_reader_free(rec->running);
	kernel_trap_free(rec->trap);
	sample_index_free(rec->index);
	seam_stitch_free(rec->stitch);
	proc_free(rec->procs);
	free(rec->runs);
	free(rec->kernel_changes);
	kernel_code_free(&rec->kernel_code);
	map_free(&rec->began);
	contexts_free(&rec->contexts);
	file_identity_free(&rec->file_identity);
	free(rec);
}

/* What must be added to times of the recording for nanoseconds since 1970; 0: it does not say. */
uint64_t recording_epoch(const struct recording *rec)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct feature_clock_data clock;
	struct seam_bytes bytes;

	if (seam_reader_info(rec->reader, &info) < 0 ||
	    seam_reader_feature(rec->reader, SEAM_FEATURE_CLOCK_DATA, &bytes) <= 0 ||
	    feature_clock_data(&bytes, info.swapped, &clock) < 0)
		return 0;
	return clock.wall_clock_ns - clock.clockid_time_ns;
}

/* When a process began, in ns since 1970; 0: before the recording, or not known. */
uint64_t recording_began(const void *recording, uint32_t pid)
{
	const struct recording *rec = recording;
	uint64_t began = 0, epoch;

	if (!map_get(&rec->began, pid, &began))
		return 0;
	epoch = recording_epoch(rec);
	return epoch ? began + epoch : 0;
}

/* The user of a process, as the recorder saw it. Users of another machine mean nothing here. */
bool recording_owner(const void *recording, uint32_t pid, uint32_t *ret)
{
	const struct recording *rec = recording;
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_bytes bytes;

	return rec->reader && !rec->foreign && seam_reader_info(rec->reader, &info) >= 0 &&
	       seam_reader_feature(rec->reader, FEATURE_OWNERS, &bytes) > 0 &&
	       feature_owner(&bytes, info.swapped, pid, ret) > 0;
}

/* Whether anything of the recording is missing. */
bool recording_damaged(const struct recording *rec)
{
	return rec->counts.undecoded || seam_reader_damaged(rec->reader);
}

/* How many samples were written twice. */
uint64_t recording_copies(const struct recording *rec)
{
	return stitch_copies(rec->stitch);
}

/* Walks over the records in memory, without the reader. */
static int recording_each_run(struct recording *rec,
                              int (*each)(void *ctx, const struct seam_record *record), void *ctx)
{
	size_t looked_at = 0;
	int r = 0;

	for (size_t i = 0; i < rec->n_runs && r >= 0; i++) {
		struct seam_record record;
		uint32_t n = 0;
		size_t at = 0;

		recording_looked_at(rec, &looked_at, rec->runs[i].n);
		while (r >= 0 && recording_run_next(&rec->runs[i], &at, &n, &record))
			r = each(ctx, &record);
	}
	return r;
}

/* Where the bytes of records stay in memory, the file is not read again; otherwise it is read a
 * second time. */
int recording_each(struct recording *rec, int (*each)(void *ctx, const struct seam_record *record),
                   void *ctx, struct seam_error *err)
{
	struct seam_record record;
	int r;

	if (rec->stable)
		return recording_each_run(rec, each, ctx);
	r = seam_reader_rewind(rec->reader);
	if (r < 0)
		return seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
		                      "cannot be read a second time: %s", strerror(-r));
	while ((r = seam_reader_next(rec->reader, &record, err)) > 0) {
		/* These are not the kernel's: the first pass took what they say. */
		if (record.type >= SEAM_RECORD_USER_FIRST)
			continue;
		r = each(ctx, &record);
		if (r < 0)
			break;
	}
	return r;
}

/* How many kernel changes stand before (or at) a time. */
static uint32_t recording_kernel_epoch(const struct recording *rec, uint64_t time_ns)
{
	size_t low = 0, high = rec->n_kernel_changes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rec->kernel_changes[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* The kernel's space at a time; narrows *span to the time in which it stays the same. */
uint32_t recording_kernel_span(const struct recording *rec, uint64_t time_ns,
                               struct proc_span *span)
{
	uint32_t epoch = recording_kernel_epoch(rec, time_ns);

	if (epoch && rec->kernel_changes[epoch - 1] > span->from_ns)
		span->from_ns = rec->kernel_changes[epoch - 1];
	if (epoch < rec->n_kernel_changes && rec->kernel_changes[epoch] - 1 < span->to_ns)
		span->to_ns = rec->kernel_changes[epoch] - 1;
	return RECORDING_KERNEL | epoch;
}

/* The time at which the mappings of a user part are looked up. */
static uint64_t recording_user_time(const struct seam_stitched *sample, uint64_t time_ns)
{
	return sample->deferred_time_ns && sample->sample.id.has & SEAM_SAMPLE_TIME
	               ? sample->deferred_time_ns
	               : time_ns;
}

/* The spaces of both parts of a sample: the user part's is that of the time at which it was
 * taken. */
void recording_spaces(const struct recording *rec, const struct seam_stitched *sample,
                      uint64_t time_ns, uint32_t *user_space, uint32_t *kernel_space)
{
	*user_space =
	        proc_space(rec->procs, sample->sample.id.pid, recording_user_time(sample, time_ns));
	*kernel_space = RECORDING_KERNEL | recording_kernel_epoch(rec, time_ns);
}
