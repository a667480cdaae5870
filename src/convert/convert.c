// SPDX-License-Identifier: MIT
/*
 * convert.c: see convert.h. Knows what of a record a classic tool may see; order is samples.c's,
 * chains are stitch's and unwound's, features convert_head.c's.
 *
 * Invariant: attrs are decided before the first record is written, and every sample is encoded by
 * the attr that stands in the output.
 *
 * perf 6.1 and others know neither deferred records nor seam's marks, and look addresses up among
 * the mappings of the sample's time. So every sample is written with its whole chain, records are
 * in order of time, and what a classic reader would stumble over is left out and counted. The
 * output has this machine's byte order: recordings of the other one are refused.
 */
#include "convert/convert.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <seam/writer.h>

#include "abi/encode.h"
#include "abi/runtime_code.h"
#include "convert/convert_head.h"
#include "convert/convert_names.h"
#include "samples/walked_sample.h"
#include "samples/called.h"
#include "samples/loop_fold.h"
#include "samples/samples.h"
#include "samples/walk_result.h"

/* Records gather until so many bytes are there. */
#define WRITE_AT (64u << 10)
/* Bytes between FINISHED_ROUND records: readers let go of what was before. */
#define ROUND_AT (1u << 20)

/* One conversion. result is the caller's summary; chain is room for one sample's chain. */
struct convert {
	struct recording *rec;
	const struct convert_opts *opts;
	struct convert_result *result;
	struct seam_events *events; /* of the output, same indices */
	struct seam_writer *writer;
	bool unwinds; /* stack copies become chains */
	uint32_t machine;
	struct convert_names *names; /* NULL: there are no functions of interpreters */
	struct loop_fold fold;
	struct buf out, chain;
	const struct proc_mapping *early; /* the last one said early, and in which space */
	uint32_t early_space;
	size_t since_round;
	uint64_t first_ns, last_ns;
	struct seam_error *err;
};

/* Gives the gathered records to the writer. -errno. */
static int convert_flush(struct convert *c)
{
	int r;

	if (c->out.failed)
		return -ENOMEM;
	r = c->out.n ? seam_writer_write(c->writer, c->out.bytes, c->out.n, c->err) : 0;
	c->since_round += c->out.n;
	buf_clear(&c->out);
	return r;
}

/* Called between records. What was written until now is in order of time; from time to time a
 * FINISHED_ROUND says so. */
static int convert_step(struct convert *c)
{
	int r = 0;

	if (c->out.n >= WRITE_AT)
		r = convert_flush(c);
	if (r >= 0 && c->since_round >= ROUND_AT) {
		c->since_round = 0;
		r = encode_end(&c->out, encode_begin(&c->out, SEAM_RECORD_FINISHED_ROUND, 0));
	}
	return r;
}

/* Whether a record beside samples is of a time that is wanted, or of no time. Filters by process or
 * event do not apply to such records. */
static bool convert_in_time(const struct convert *c, const struct seam_id *id)
{
	const struct samples_filter times = { .times = c->opts->filter.times,
		                              .n_times = c->opts->filter.n_times };

	return !(id->has & SEAM_SAMPLE_TIME) || samples_filter_takes(&times, NULL, id, NULL);
}

/* Records that say which process and which mapping is what: they hold beyond their own time, so
 * they are never left out. */
static bool convert_is_context(uint32_t type)
{
	switch (type) {
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
	case SEAM_RECORD_NAMESPACES:
	case SEAM_RECORD_KSYMBOL:
	case SEAM_RECORD_BPF_EVENT:
	case SEAM_RECORD_CGROUP:
	case SEAM_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

/* The marker in front of an ip whose sample has no chain to say where it was; 0: not known. */
static uint64_t convert_ip_marker(uint16_t misc)
{
	switch (misc & SEAM_MISC_CPUMODE_MASK) {
	case SEAM_MISC_KERNEL:
		return SEAM_CONTEXT_KERNEL;
	case SEAM_MISC_USER:
		return SEAM_CONTEXT_USER;
	case SEAM_MISC_HYPERVISOR:
		return SEAM_CONTEXT_HV;
	case SEAM_MISC_GUEST_KERNEL:
		return SEAM_CONTEXT_GUEST_KERNEL;
	case SEAM_MISC_GUEST_USER:
		return SEAM_CONTEXT_GUEST_USER;
	default:
		return 0;
	}
}

/* Joins the kernel part, the marker and the first n user addresses into one chain. Where a sample
 * has neither part, its ip is the chain. */
static struct seam_u64s convert_chain(struct convert *c, const struct callchain *s, uint64_t n)
{
	/* A marker without an ip says nothing, so it is written only with one. */
	uint64_t marker = convert_ip_marker(s->misc);
	/* Addresses that the walker found carry marks in their two highest bits: classic readers
	 * take them as they are. */
	uint64_t mask = called_marks(s) ? WALK_ADDRESS : UINT64_MAX;

	buf_clear(&c->chain);
	for (uint64_t i = 0; i < s->kernel.n; i++)
		buf_put_u64(&c->chain, seam_u64s_at(&s->kernel, i));
	if (n)
		buf_put_u64(&c->chain, SEAM_CONTEXT_USER);
	for (uint64_t i = 0; i < n; i++)
		buf_put_u64(&c->chain,
		            convert_names_address(c->names, seam_u64s_at(&s->user, i) & mask));
	/* A sample without a chain would have no frame in a tool that looks at chains only. */
	if (!s->kernel.n && !s->user.n && marker && s->event->attr.sample_type & SEAM_SAMPLE_IP) {
		buf_put_u64(&c->chain, marker);
		buf_put_u64(&c->chain, s->ip);
	}
	return (struct seam_u64s){ .bytes = c->chain.bytes, .n = c->chain.n / 8 };
}

/* Whether the chain as recorded is already what a classic tool expects. */
/* If so, the record is copied byte by byte. */
static bool convert_chain_is_classic(const struct convert *c, const struct sample *s)
{
	const struct seam_u64s user = sample_user(s);

	if (c->names && convert_names_in(&user))
		return false;
	switch (s->state) {
	case SEAM_STITCH_STACK_COPY:
		return !c->unwinds;
	case SEAM_STITCH_IMMEDIATE:
	case SEAM_STITCH_KERNEL_ONLY:
	case SEAM_STITCH_NO_CALLCHAIN:
		return true;
	default:
		return false;
	}
}

/* Counts what became of the sample's user part, for the summary that the user gets. */
static void convert_count(struct convert *c, const struct sample *s)
{
	const struct seam_u64s user = sample_user(s);

	c->result->samples++;
	switch (s->state) {
	case SEAM_STITCH_STITCHED:
	case SEAM_STITCH_STITCHED_EARLIER:
		c->result->merged++;
		break;
	case SEAM_STITCH_STACK_COPY:
		if (!c->unwinds)
			break;
		if (user.n)
			c->result->unwound++;
		else
			c->result->unfinished++;
		break;
	case SEAM_STITCH_IMMEDIATE:
	case SEAM_STITCH_KERNEL_ONLY:
	case SEAM_STITCH_NO_CALLCHAIN:
		break;
	default:
		c->result->unfinished++;
	}
}

/* How the walk over the sample's stack copy ended, as a recorder that unwinds would have written
 * it. */
static struct walk_result convert_walk_result(const struct convert *c, const struct sample *s)
{
	const struct seam_sample *sample = &s->decoded->sample;
	const struct walk *walk = s->walk;

	/* Nothing is mapped at the address where the walk ended: then the walk was right to end
	 * there. */
	if (walk)
		return walk_result_of_walk(walk, sample, walked_sample_user_sp(c->machine, sample),
		                           !proc_space_find(c->rec->procs, s->user_space,
		                                            walk->end_pc));
	/* A stack copy that was not walked: there were no registers to begin with. */
	switch (s->state) {
	case SEAM_STITCH_STACK_COPY:
		return (struct walk_result){ .kind = WALK_RESULT_NO_REGISTERS };
	case SEAM_STITCH_KERNEL_ONLY:
	case SEAM_STITCH_NO_CALLCHAIN:
		return (struct walk_result){ .kind = sample->regs_user.abi
			                                     ? WALK_RESULT_NO_REGISTERS
			                                     : WALK_RESULT_NO_STACK };
	default:
		return (struct walk_result){ 0 };
	}
}

/* The misc of the sample in the output. It says how the walk ended if the stack copy is not carried
 * over. */
static uint16_t convert_misc(const struct convert *c, const struct sample *s,
                             const struct seam_attr *to, bool cut)
{
	struct walk_result result;

	if (to->sample_type & SEAM_SAMPLE_STACK_USER ||
	    !(s->event->attr.sample_type & SEAM_SAMPLE_STACK_USER))
		/* The output keeps the stack copy, or there was none: the reader can see for
		 * itself. */
		return s->misc;
	result = convert_walk_result(c, s);
	if (cut)
		result = (struct walk_result){ .kind = WALK_RESULT_WALKED, .end = WALK_LIMIT };
	return walk_result_put(to, s->misc, &result);
}

/* Appends one encoded sample with the first n user frames. -E2BIG: it is too long. */
static int convert_put(struct convert *c, const struct sample *s, const struct callchain *chain,
                       const struct seam_attr *to, uint64_t n, bool cut)
{
	struct seam_sample sample = s->decoded->sample;

	sample.callchain = convert_chain(c, chain, n);
	/* Classic tools give the cost to ip. The interpreter's loop ran this function. */
	if (c->names && !chain->kernel.n && n && runtime_code_is(seam_u64s_at(&chain->user, 0)))
		sample.ip = convert_names_address(c->names, seam_u64s_at(&chain->user, 0));
	return c->chain.failed ? -ENOMEM
	                       : encode_sample(&c->out, to, convert_misc(c, s, to, cut), &sample);
}

/* Appends the sample in the form that the output's attr has. A chain that would make the record too
 * large loses its outermost frames, 64 at a time, and is counted as cut. */
static int convert_encode(struct convert *c, const struct sample *s)
{
	const struct seam_record *record = s->decoded->record;
	const struct seam_event *from = s->event;
	const struct seam_attr *to = &seam_events_at(c->events, from->index)->attr;
	struct callchain chain = sample_callchain(s);
	uint64_t n;
	int r = 0;

	/* Only the attr's fields may differ. */
	if (convert_chain_is_classic(c, s)) {
		if (to->sample_type == from->attr.sample_type)
			return buf_put(&c->out, record->bytes, record->size);
		return encode_sample(&c->out, to, convert_misc(c, s, to, false),
		                     &s->decoded->sample);
	}
	if (c->names && !c->opts->native)
		r = loop_fold(&c->fold, s->user_space, &chain);
	if (r < 0)
		return r;
	n = s->walk ? walk_result_keeps(s->walk) : chain.user.n;
	r = convert_put(c, s, &chain, to, n, false);
	if (r != -E2BIG)
		return r;
	/* The innermost frames are the ones to keep; each word is 8 of the 65,528 bytes. */
	c->result->cut++;
	while (r == -E2BIG && n) {
		n -= n < 64 ? n : 64;
		r = convert_put(c, s, &chain, to, n, true);
	}
	return r;
}

/*
 * A user part is walked when the task returns to user space. What it runs through may have been
 * mapped after the sample: an exec maps the program after the sample in its system call. A classic
 * tool looks at the mappings of the sample's time. So such a mapping is written a second time, in
 * front of the sample. This is safe: only addresses at which nothing else is mapped get one.
 */
static int convert_early_mapping(struct convert *c, const struct sample *s, uint64_t addr,
                                 uint32_t before, uint32_t after)
{
	const struct seam_event *from = s->event;
	const struct proc_mapping *m = proc_space_find(c->rec->procs, after, addr);
	struct seam_mmap mmap = { .pid = s->id.pid, .tid = s->id.tid };

	/* The same mapping is not written twice in a row. */
	if (!m || proc_space_find(c->rec->procs, before, addr) ||
	    (c->early == m && c->early_space == before))
		return 0;
	c->early = m;
	c->early_space = before;
	mmap.addr = m->start;
	mmap.len = m->end - m->start;
	mmap.pgoff = m->pgoff;
	/* What is not known of the mapping is filled with what executable mappings mostly have. */
	mmap.has_prot = true;
	mmap.prot = PROT_READ | PROT_EXEC;
	mmap.flags = MAP_PRIVATE;
	mmap.filename = m->object->path;
	mmap.has_build_id = m->object->build_id_size;
	mmap.build_id_size = m->object->build_id_size;
	memcpy(mmap.build_id, m->object->build_id, sizeof(mmap.build_id));
	c->result->mappings++;
	return encode_mmap2(&c->out, &seam_events_at(c->events, from->index)->attr, SEAM_MISC_USER,
	                    &mmap, &s->decoded->sample.id);
}

/* Does so for all addresses of the sample's user part. Only a part that was taken later than the
 * sample can need it. */
static int convert_early_mappings(struct convert *c, const struct sample *s)
{
	const struct seam_u64s user = sample_user(s);
	uint32_t before, after;
	int r = 0;

	if (s->state != SEAM_STITCH_STITCHED)
		return 0;
	/* The mappings at the sample, and those at the return to user space. Where nothing changed
	 * between, the two numbers are equal. */
	before = proc_space(c->rec->procs, s->id.pid, s->proc_ns);
	after = proc_space(c->rec->procs, s->id.pid, s->deferred_time_ns);
	for (uint64_t i = 0; before != after && i < user.n && r >= 0; i++)
		r = convert_early_mapping(c, s, seam_u64s_at(&user, i), before, after);
	return r;
}

/* In front of the first sample with functions of an interpreter a process gets the mapping of their
 * file. */
static int convert_names_mapping(struct convert *c, const struct sample *s)
{
	const struct seam_u64s user = sample_user(s);

	if (!c->names || !convert_names_in(&user))
		return 0;
	return convert_names_map(c->names, &c->out,
	                         &seam_events_at(c->events, s->event->index)->attr,
	                         &s->decoded->sample.id);
}

/* For samples_each: one sample, in order of time. */
static int convert_sample(void *ctx, const struct sample *s, struct buf *out)
{
	struct convert *c = ctx;
	int r;

	(void)out;
	convert_count(c, s);
	r = convert_early_mappings(c, s);
	if (r >= 0)
		r = convert_names_mapping(c, s);
	if (r >= 0)
		r = convert_encode(c, s);
	return r < 0 ? r : convert_step(c);
}

/* One record that is no sample. Records of mappings and tasks always pass. */
static int convert_beside(void *ctx, const struct seam_decoded *decoded, struct buf *out)
{
	const struct seam_record *record = decoded->record;
	struct convert *c = ctx;
	int r = 0;

	(void)out;
	/* Names of interpreters' functions are in a file. */
	if (c->names && record->type == SEAM_RECORD_KSYMBOL &&
	    runtime_code_is(decoded->ksymbol.addr))
		return 0;
	if (c->names)
		convert_names_beside(c->names, decoded);
	if (convert_is_context(record->type) || convert_in_time(c, &decoded->id))
		r = buf_put(&c->out, record->bytes, record->size);
	return r < 0 ? r : convert_step(c);
}

/* Called once, behind the last record. */
static int convert_end(void *ctx, const struct sample_counts *counts, const struct unwound *unwound)
{
	struct convert *c = ctx;

	(void)unwound;
	c->result->not_taken = counts->not_taken;
	c->first_ns = counts->first_ns;
	c->last_ns = counts->last_ns;
	return 0;
}

/* Writes the records that describe the recording, then all others in order of time. -errno. */
static int convert_records(struct convert *c)
{
	const struct samples_opts samples = {
		.sz = sizeof(samples),
		.filter = c->opts->filter,
		.order = SAMPLES_BY_TIME,
		.needs = SAMPLES_RECORD | SAMPLES_CALLS | (c->unwinds ? SAMPLES_COPIES : 0),
		.beside = SAMPLES_BESIDE_ALL,
		.tables = c->opts->tables,
		.progress = c->opts->progress,
	};
	const struct samples_consumer consumer = {
		.sample = convert_sample, .beside = convert_beside, .end = convert_end, .ctx = c
	};
	int r = convert_head_records(c->rec, &c->out, c->result, c->err);

	if (r >= 0)
		r = convert_flush(c);
	if (r >= 0)
		r = samples_each(c->rec, &samples, &consumer, c->err);
	if (r >= 0)
		r = convert_flush(c);
	return r;
}

/* Writes the whole output. The writer is closed in any case, and its error is returned if nothing
 * failed before. */
static int convert_write(struct convert *c, const char *path)
{
	const struct seam_writer_opts w = { .sz = sizeof(w),
		                            .pipe = c->opts->pipe,
		                            .compress_level = c->opts->compress_level,
		                            .compress_v1 = true,
		                            .fd = c->opts->fd };
	bool stream = w.pipe || !strcmp(path, "-");
	int r = seam_writer_open(&c->writer, path, c->events, &w, c->err), closed;

	if (r < 0)
		return r;
	/* In a stream what describes the recording stands in front; in a file behind. */
	if (stream)
		r = convert_head_features(c->rec, c->events, c->writer, true, 0, 0, c->result,
		                          c->err);
	if (r >= 0)
		r = convert_records(c);
	if (r >= 0 && !stream)
		r = convert_head_features(c->rec, c->events, c->writer, false, c->first_ns,
		                          c->last_ns, c->result, c->err);
	closed = seam_writer_close(c->writer, r < 0 ? NULL : c->err);
	return r < 0 ? r : closed;
}

/* *ret is filled only on success. err gets the first error, with the file that it is about. */
int convert_recording(struct convert_result *ret, struct recording *rec, const char *path,
                      const struct convert_opts *opts, struct seam_error *err)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct convert_result result = { 0 };
	struct seam_error why = { 0 };
	struct convert c = { .rec = rec, .opts = opts, .result = &result, .err = &why };
	int r = seam_reader_info(rec->reader, &info);

	if (r >= 0 && info.swapped)
		return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
		                      "a recording of the other byte order cannot be converted");
	c.fold.procs = rec->procs;
	if (r >= 0)
		c.unwinds = convert_head_unwinds(rec, opts, &c.machine);
	if (r >= 0)
		r = convert_head_events(rec, opts, &c.events, &why);
	if (r >= 0)
		r = convert_names_new(&c.names, rec, opts, &result.unwritten, &why);
	result.names = convert_names_count(c.names);
	if (r >= 0)
		r = convert_write(&c, path);
	convert_names_free(c.names);
	loop_fold_free(&c.fold);
	seam_events_free(c.events);
	buf_free(&c.out);
	buf_free(&c.chain);
	if (r >= 0)
		*ret = result;
	else if (why.code && err)
		*err = why;
	else
		seam_error_set(err, -r, path, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	return r;
}
