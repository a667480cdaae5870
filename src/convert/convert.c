// SPDX-License-Identifier: MIT
// convert.c: see convert.h. Knows what of a record a classic tool may see; order is ordered.c's,
// chains are stitch's and unwound's, features convert_head.c's.
//
// Invariant: attrs are decided before the first record is written, and every sample is encoded by
// the attr that stands in the output.
#include "convert/convert.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <seam/writer.h>

#include "abi/encode.h"
#include "convert/convert_head.h"
#include "samples/walked_sample.h"
#include "samples/called.h"
#include "samples/ordered.h"
#include "samples/walk_result.h"

#define WRITE_AT (64u << 10)
/* Bytes between FINISHED_ROUND records: readers let go of what was before. */
#define ROUND_AT (1u << 20)

struct convert {
	struct recording *rec;
	const struct convert_opts *opts;
	struct convert_result *result;
	struct seam_events *events; /* of the output, same indices */
	struct seam_writer *writer;
	bool unwinds; /* stack copies become chains */
	uint32_t machine;
	struct buf out, chain;
	const struct proc_mapping *early; /* the last one said early, and in which space */
	uint32_t early_space;
	size_t since_round;
	uint64_t first_ns, last_ns;
	struct seam_error *err;
};

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

static bool convert_in_time(const struct convert *c, const struct batch_item *item)
{
	const struct convert_opts *o = c->opts;

	if (!o->take_time || !(item->decoded.id.has & SEAM_SAMPLE_TIME))
		return true;
	return o->take_time(o->take_ctx, item->decoded.id.time_ns);
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
static struct seam_u64s convert_chain(struct convert *c, const struct seam_stitched *s, uint64_t n)
{
	uint64_t marker = convert_ip_marker(s->misc);
	const struct callchain whole = callchain_of(s);
	uint64_t mask = called_marks(&whole) ? WALK_ADDRESS : UINT64_MAX;

	buf_clear(&c->chain);
	for (uint64_t i = 0; i < s->kernel.n; i++)
		buf_put_u64(&c->chain, seam_u64s_at(&s->kernel, i));
	if (n)
		buf_put_u64(&c->chain, SEAM_CONTEXT_USER);
	for (uint64_t i = 0; i < n; i++)
		buf_put_u64(&c->chain, seam_u64s_at(&s->user, i) & mask);
	if (!s->kernel.n && !s->user.n && marker &&
	    s->sample.event->attr.sample_type & SEAM_SAMPLE_IP) {
		buf_put_u64(&c->chain, marker);
		buf_put_u64(&c->chain, s->sample.ip);
	}
	return (struct seam_u64s){ .bytes = c->chain.bytes, .n = c->chain.n / 8 };
}

/* Whether the chain as recorded is already what a classic tool expects. */
static bool convert_chain_is_classic(const struct convert *c, const struct batch_item *item)
{
	switch (item->sample.state) {
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
static void convert_count(struct convert *c, const struct seam_stitched *s)
{
	c->result->samples++;
	switch (s->state) {
	case SEAM_STITCH_STITCHED:
	case SEAM_STITCH_STITCHED_EARLIER:
		c->result->merged++;
		break;
	case SEAM_STITCH_STACK_COPY:
		if (!c->unwinds)
			break;
		if (s->user.n)
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
static struct walk_result convert_walk_result(const struct convert *c,
                                              const struct batch_item *item)
{
	const struct seam_sample *s = &item->decoded.sample;
	const struct walk *walk = item->walk;

	if (walk)
		return walk_result_of_walk(walk, s, walked_sample_user_sp(c->machine, s),
		                           !proc_space_find(c->rec->procs, item->user_space,
		                                            walk->end_pc));
	switch (item->sample.state) {
	case SEAM_STITCH_STACK_COPY:
		return (struct walk_result){ .kind = WALK_RESULT_NO_REGISTERS };
	case SEAM_STITCH_KERNEL_ONLY:
	case SEAM_STITCH_NO_CALLCHAIN:
		return (struct walk_result){ .kind = s->regs_user.abi ? WALK_RESULT_NO_REGISTERS
			                                              : WALK_RESULT_NO_STACK };
	default:
		return (struct walk_result){ 0 };
	}
}

/* The misc of the sample in the output. It says how the walk ended if the stack copy is not carried
 * over. */
static uint16_t convert_misc(const struct convert *c, const struct batch_item *item,
                             const struct seam_attr *to, bool cut)
{
	struct walk_result result;

	if (to->sample_type & SEAM_SAMPLE_STACK_USER ||
	    !(item->decoded.sample.event->attr.sample_type & SEAM_SAMPLE_STACK_USER))
		return item->record.misc;
	result = convert_walk_result(c, item);
	if (cut)
		result = (struct walk_result){ .kind = WALK_RESULT_WALKED, .end = WALK_LIMIT };
	return walk_result_put(to, item->record.misc, &result);
}

static int convert_put(struct convert *c, const struct batch_item *item, const struct seam_attr *to,
                       uint64_t n, bool cut)
{
	struct seam_sample sample = item->sample.sample;

	sample.callchain = convert_chain(c, &item->sample, n);
	return c->chain.failed
	               ? -ENOMEM
	               : encode_sample(&c->out, to, convert_misc(c, item, to, cut), &sample);
}

/* Appends the sample in the form that the output's attr has. A chain that would make the record too
 * large loses its outermost frames, 64 at a time, and is counted as cut. */
static int convert_encode(struct convert *c, const struct batch_item *item)
{
	const struct seam_stitched *s = &item->sample;
	const struct seam_event *from = s->sample.event;
	const struct seam_attr *to = &seam_events_at(c->events, from->index)->attr;
	uint64_t n = item->walk ? walk_result_keeps(item->walk) : s->user.n;
	int r;

	if (convert_chain_is_classic(c, item)) {
		if (to->sample_type == from->attr.sample_type)
			return buf_put(&c->out, item->record.bytes, item->record.size);
		return encode_sample(&c->out, to, convert_misc(c, item, to, false), &s->sample);
	}
	r = convert_put(c, item, to, n, false);
	if (r != -E2BIG)
		return r;
	/* The innermost frames are the ones to keep; each word is 8 of the 65,528 bytes. */
	c->result->cut++;
	while (r == -E2BIG && n) {
		n -= n < 64 ? n : 64;
		r = convert_put(c, item, to, n, true);
	}
	return r;
}

/*
 * A user part is walked when the task returns to user space. What it runs through may have been
 * mapped after the sample: an exec maps the program after the sample in its system call. A classic
 * tool looks at the mappings of the sample's time. So such a mapping is written a second time, in
 * front of the sample. This is safe: only addresses at which nothing else is mapped get one.
 */
static int convert_early_mapping(struct convert *c, const struct seam_stitched *s, uint64_t addr,
                                 uint32_t before, uint32_t after)
{
	const struct seam_event *from = s->sample.event;
	const struct proc_mapping *m = proc_space_find(c->rec->procs, after, addr);
	struct seam_mmap mmap = { .pid = s->sample.id.pid, .tid = s->sample.id.tid };

	if (!m || proc_space_find(c->rec->procs, before, addr) ||
	    (c->early == m && c->early_space == before))
		return 0;
	c->early = m;
	c->early_space = before;
	mmap.addr = m->start;
	mmap.len = m->end - m->start;
	mmap.pgoff = m->pgoff;
	mmap.has_prot = true;
	mmap.prot = PROT_READ | PROT_EXEC;
	mmap.flags = MAP_PRIVATE;
	mmap.filename = m->object->path;
	mmap.has_build_id = m->object->build_id_size;
	mmap.build_id_size = m->object->build_id_size;
	memcpy(mmap.build_id, m->object->build_id, sizeof(mmap.build_id));
	c->result->mappings++;
	return encode_mmap2(&c->out, &seam_events_at(c->events, from->index)->attr, SEAM_MISC_USER,
	                    &mmap, &s->sample.id);
}

static int convert_early_mappings(struct convert *c, const struct batch_item *item)
{
	const struct seam_stitched *s = &item->sample;
	uint32_t before, after;
	int r = 0;

	if (s->state != SEAM_STITCH_STITCHED)
		return 0;
	before = proc_space(c->rec->procs, s->sample.id.pid, proc_time(&item->decoded));
	after = proc_space(c->rec->procs, s->sample.id.pid, s->deferred_time_ns);
	for (uint64_t i = 0; before != after && i < s->user.n && r >= 0; i++)
		r = convert_early_mapping(c, s, seam_u64s_at(&s->user, i), before, after);
	return r;
}

static bool convert_takes(const struct convert *c, const struct batch_item *item)
{
	const struct seam_id *id = &item->decoded.id;

	if (!convert_in_time(c, item))
		return false;
	return !c->opts->take ||
	       c->opts->take(c->opts->take_ctx, &item->sample,
	                     proc_comm(c->rec->procs, id->pid, id->tid, proc_time(&item->decoded)));
}

static int convert_sample(struct convert *c, const struct batch_item *item)
{
	uint64_t t = item->decoded.id.time_ns;

	if (!convert_takes(c, item)) {
		c->result->not_taken++;
		return 0;
	}
	if (item->decoded.id.has & SEAM_SAMPLE_TIME) {
		c->first_ns = !c->last_ns || t < c->first_ns ? t : c->first_ns;
		c->last_ns = t > c->last_ns ? t : c->last_ns;
	}
	convert_count(c, &item->sample);
	if (convert_early_mappings(c, item) < 0)
		return -ENOMEM;
	return convert_encode(c, item);
}

static int convert_item(void *ctx, const struct batch_item *item)
{
	struct convert *c = ctx;
	int r = 0;

	if (item->record.type == SEAM_RECORD_SAMPLE)
		r = convert_sample(c, item);
	else if (convert_is_context(item->record.type) || convert_in_time(c, item))
		r = buf_put(&c->out, item->record.bytes, item->record.size);
	return r < 0 ? r : convert_step(c);
}

/* Writes all records in order of time, because classic tools expect it; what describes the events
 * stands in front. */
static int convert_records(struct convert *c)
{
	struct ordered_opts order = {
		.sz = sizeof(order),
		.all = true,
		.keep_stacks = !c->unwinds,
		.tables = c->opts->tables,
		.progress = c->opts->progress,
	};
	int r = convert_head_records(c->rec, &c->out, c->result, c->err);

	if (r >= 0)
		r = convert_flush(c);
	if (r >= 0)
		r = ordered_each(c->rec, &order, convert_item, c, c->err);
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
	if (r >= 0)
		c.unwinds = convert_head_unwinds(rec, opts, &c.machine);
	if (r >= 0)
		r = convert_head_events(rec, opts, &c.events, &why);
	if (r >= 0)
		r = convert_write(&c, path);
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
