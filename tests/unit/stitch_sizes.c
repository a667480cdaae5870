// SPDX-License-Identifier: MIT
// stitch_sizes.c: structs that cross libseam's border keep to the size that their caller set, in
// both directions.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <seam/seam.h>

#include "base/sized.h"

/* A caller that was compiled when the counts ended behind `samples`, and what lies behind its
 * struct. */
struct small {
	struct {
		size_t sz;
		uint64_t samples;
	} counts;
	uint64_t guard[64];
};

static struct small small_new(void)
{
	struct small s = { .counts.sz = sizeof(s.counts) };

	memset(s.guard, 0xa5, sizeof(s.guard));
	return s;
}

static void assert_guarded(const struct small *s)
{
	for (size_t i = 0; i < sizeof(s->guard) / 8; i++)
		assert_int_equal(s->guard[i], 0xa5a5a5a5a5a5a5a5);
}

static void adds_within_the_smaller(void **state)
{
	struct small to = small_new(), from = small_new();
	struct seam_stitch_counts whole = { .sz = sizeof(whole), .samples = 5, .lost = 7 };

	to.counts.samples = 2;
	from.counts.samples = 3;
	assert_int_equal(seam_stitch_counts_add((void *)&to, (void *)&from), 0);
	assert_int_equal(to.counts.samples, 5);
	assert_int_equal(seam_stitch_counts_add((void *)&to, &whole), 0);
	assert_int_equal(to.counts.samples, 10);
	assert_int_equal(to.counts.sz, sizeof(to.counts));
	assert_guarded(&to);
	assert_int_equal(seam_stitch_counts_add(&whole, (void *)&from), 0);
	assert_int_equal(whole.samples, 8);
	assert_int_equal(whole.lost, 7);
	whole.sz = 0;
	assert_int_equal(seam_stitch_counts_add(&whole, (void *)&from), -EINVAL);
	assert_int_equal(whole.samples, 8);
}

static void larger_counts_are_zeroed(void **state)
{
	struct {
		struct seam_stitch_counts counts;
		uint64_t newer[2];
	} c = { .counts.sz = sizeof(c), .newer = { 1, 2 } };
	struct seam_stitch *st = NULL;

	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	assert_int_equal(seam_stitch_counts(st, &c.counts), 0);
	assert_int_equal(c.newer[0] | c.newer[1], 0);
	assert_int_equal(c.counts.sz, sizeof(c));
	c.counts.sz = 0;
	assert_int_equal(seam_stitch_counts(st, &c.counts), -EINVAL);
	seam_stitch_free(st);
}

/* A file of one sample without a callchain: resolve counts it in a struct that knows of no more
 * than `samples`. */
static void resolves_into_the_smaller(void **state)
{
	const struct seam_record record = { .type = SEAM_RECORD_SAMPLE, .stable = true };
	struct seam_decoded d = { .sz = sizeof(d), .record = &record };
	struct small counts = small_new();
	struct seam_stitch *st = NULL;
	struct seam_stitched out = { .sz = sizeof(out) };

	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	assert_int_equal(seam_stitch_learn(st, &d, NULL), 0);
	assert_int_equal(seam_stitch_seal(st), 0);
	assert_int_equal(seam_stitch_resolve(st, &d, (void *)&counts, &out), 1);
	assert_int_equal(counts.counts.samples, 1);
	assert_guarded(&counts);
	counts.counts.sz = 0;
	assert_int_equal(seam_stitch_resolve(st, &d, (void *)&counts, &out), -EINVAL);
	seam_stitch_free(st);
}

/* A sample (ip, tid, time, callchain of one user address) of the only event of a set, and room for
 * structs that are larger or smaller than this library's. */
struct given {
	struct seam_events *events;
	uint64_t words[8];
	struct seam_record record;
	union {
		size_t sz;
		struct seam_decoded decoded;
		struct seam_stitched stitched;
		unsigned char bytes[2048];
	} to;
};

static void given_start(struct given *g)
{
	const struct seam_attr attr = { .type = SEAM_TYPE_SOFTWARE,
		                        .size = SEAM_ATTR_SIZE,
		                        .sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID |
		                                       SEAM_SAMPLE_TIME | SEAM_SAMPLE_CALLCHAIN,
		                        .flags = SEAM_ATTR_SAMPLE_ID_ALL };

	*g = (struct given){
		.words = { 0, 0x1000, 7ULL << 32 | 6, 77, 2, SEAM_CONTEXT_USER, 0x1000 },
		.record = { .type = SEAM_RECORD_SAMPLE,
		            .misc = SEAM_MISC_USER,
		            .stable = true,
		            .size = 56,
		            .bytes = (unsigned char *)g->words },
	};
	assert_int_equal(seam_events_new(&g->events), 0);
	assert_int_equal(seam_events_add(g->events, &attr, "event", NULL, 0, NULL), 0);
}

/* Room for a struct of sz bytes, and 0xa5 in it and behind it. */
static void given_size(struct given *g, size_t sz)
{
	memset(&g->to, 0xa5, sizeof(g->to));
	g->to.sz = sz;
}

static void assert_bytes(const struct given *g, size_t from, size_t to, unsigned char byte)
{
	for (size_t i = from; i < to; i++)
		assert_int_equal(g->to.bytes[i], byte);
}

static void assert_all(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(((const unsigned char *)bytes)[i], 0);
}

/* For whom seam_sample ended sooner. */
#define OLDER_DECODED (offsetof(struct seam_decoded, sample.regs_intr))

static void decodes_as_far_as_the_size(void **state)
{
	struct given g;
	struct seam_error err = { 0 };

	given_start(&g);
	given_size(&g, OLDER_DECODED);
	assert_int_equal(seam_record_decode(g.events, &g.record, &g.to.decoded, &err), 0);
	assert_int_equal(g.to.sz, OLDER_DECODED);
	assert_int_equal(g.to.decoded.sample.id.tid, 7);
	assert_int_equal(g.to.decoded.sample.callchain.n, 2);
	assert_bytes(&g, OLDER_DECODED, sizeof(g.to), 0xa5);

	given_size(&g, sizeof(struct seam_decoded) + 40);
	assert_int_equal(seam_record_decode(g.events, &g.record, &g.to.decoded, &err), 0);
	assert_int_equal(g.to.sz, sizeof(struct seam_decoded) + 40);
	assert_int_equal(g.to.decoded.id.time_ns, 77);
	assert_bytes(&g, sizeof(struct seam_decoded), sizeof(struct seam_decoded) + 40, 0);
	assert_bytes(&g, sizeof(struct seam_decoded) + 40, sizeof(g.to), 0xa5);

	/* What is reserved is 0, also where something else stood. */
	given_size(&g, sizeof(struct seam_decoded));
	assert_int_equal(seam_record_decode(g.events, &g.record, &g.to.decoded, &err), 0);
	assert_int_equal(g.to.sz, sizeof(struct seam_decoded));
	assert_all(g.to.decoded.sample.reserved, sizeof(g.to.decoded.sample.reserved));
	assert_all(&g.to.decoded.id.reserved, sizeof(g.to.decoded.id.reserved));
	assert_all(&g.to.decoded.id.reserved_cpu, sizeof(g.to.decoded.id.reserved_cpu));
	assert_all(&g.to.decoded.sample.id.reserved, sizeof(g.to.decoded.sample.id.reserved));
	assert_all(&g.to.decoded.sample.read.reserved, 8);
	assert_all(&g.to.decoded.sample.regs_user.reserved, 8);
	assert_all(g.to.decoded.sample.branches.reserved, 16);

	given_size(&g, 0);
	assert_int_equal(seam_record_decode(g.events, &g.record, &g.to.decoded, &err), -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_bytes(&g, sizeof(size_t), sizeof(g.to), 0xa5);

	/* A failure says it within the size, too. */
	g.record.size = 16;
	given_size(&g, OLDER_DECODED);
	assert_int_equal(seam_record_decode(g.events, &g.record, &g.to.decoded, &err), -EBADMSG);
	assert_ptr_equal(g.to.decoded.record, &g.record);
	assert_bytes(&g, OLDER_DECODED, sizeof(g.to), 0xa5);
	seam_events_free(g.events);
}

/* The record as a caller has it who knows no member behind the chain of a sample; what stands
 * behind it is no part of it. */
static void given_older(struct given *g, struct given *older)
{
	given_size(older, OLDER_DECODED);
	assert_int_equal(seam_record_decode(g->events, &g->record, &older->to.decoded, NULL), 0);
}

#define OLDER_STITCHED (offsetof(struct seam_stitched, deferred_time_ns))

static void assert_stitched(const struct given *g, size_t sz)
{
	const size_t known = sizeof(struct seam_stitched);

	assert_int_equal(g->to.sz, sz);
	assert_int_equal(g->to.stitched.state, SEAM_STITCH_IMMEDIATE);
	assert_int_equal(g->to.stitched.sample.id.tid, 7);
	assert_int_equal(g->to.stitched.user.n, 1);
	assert_int_equal(seam_u64s_at(&g->to.stitched.user, 0), 0x1000);
	assert_bytes(g, sz < known ? sz : known, sz, 0);
	assert_bytes(g, sz, sizeof(g->to), 0xa5);
}

static const size_t stitched_sizes[] = { OLDER_STITCHED, sizeof(struct seam_stitched),
	                                 sizeof(struct seam_stitched) + 24 };

static void resolves_as_far_as_the_size(void **state)
{
	struct given g, older = { 0 };
	struct seam_stitch *st = NULL;

	given_start(&g);
	given_older(&g, &older);
	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	assert_int_equal(seam_stitch_learn(st, &older.to.decoded, NULL), 0);
	assert_int_equal(seam_stitch_seal(st), 0);
	for (size_t i = 0; i < 3; i++) {
		given_size(&g, stitched_sizes[i]);
		assert_int_equal(seam_stitch_resolve(st, &older.to.decoded, NULL, &g.to.stitched),
		                 1);
		assert_stitched(&g, stitched_sizes[i]);
		assert_all(g.to.stitched.sample.reserved, sizeof(g.to.stitched.sample.reserved));
	}
	given_size(&g, 0);
	assert_int_equal(seam_stitch_resolve(st, &older.to.decoded, NULL, &g.to.stitched), -EINVAL);
	assert_bytes(&g, sizeof(size_t), sizeof(g.to), 0xa5);
	given_size(&g, sizeof(struct seam_stitched));
	older.to.sz = 0;
	assert_int_equal(seam_stitch_resolve(st, &older.to.decoded, NULL, &g.to.stitched), -EINVAL);
	assert_bytes(&g, sizeof(size_t), sizeof(g.to), 0xa5);
	seam_stitch_free(st);
	seam_events_free(g.events);
}

static void next_gives_as_far_as_the_size(void **state)
{
	struct given g, older = { 0 };
	struct seam_error err = { 0 };

	given_start(&g);
	given_older(&g, &older);
	for (size_t i = 0; i < 3; i++) {
		struct seam_stitch *st = NULL;

		assert_int_equal(seam_stitch_new(&st, NULL), 0);
		assert_int_equal(seam_stitch_feed(st, &older.to.decoded, NULL), 0);
		assert_int_equal(seam_stitch_finish(st), 0);
		given_size(&g, 0);
		assert_int_equal(seam_stitch_next(st, &g.to.stitched), -EINVAL);
		given_size(&g, stitched_sizes[i]);
		assert_int_equal(seam_stitch_next(st, &g.to.stitched), 1);
		assert_stitched(&g, stitched_sizes[i]);
		given_size(&g, stitched_sizes[i]);
		assert_int_equal(seam_stitch_next(st, &g.to.stitched), 0);
		assert_bytes(&g, sizeof(size_t), sizeof(g.to), 0xa5);
		seam_stitch_free(st);
	}
	older.to.sz = 0;
	for (int learn = 0; learn < 2; learn++) {
		struct seam_stitch *st = NULL;

		assert_int_equal(seam_stitch_new(&st, NULL), 0);
		assert_int_equal((learn ? seam_stitch_learn
		                        : seam_stitch_feed)(st, &older.to.decoded, &err),
		                 -EINVAL);
		assert_int_equal(err.code, EINVAL);
		seam_stitch_free(st);
	}
	seam_events_free(g.events);
}

/* Structs that stand in others do not grow: these are their sizes for ever. */
static void nested_structs_keep_their_size(void **state)
{
	assert_int_equal(sizeof(struct seam_attr), 256);
	assert_int_equal(sizeof(struct seam_record), 56);
	assert_int_equal(sizeof(struct seam_id), 56);
	assert_int_equal(sizeof(struct seam_read), 64);
	assert_int_equal(sizeof(struct seam_regs), 48);
	assert_int_equal(sizeof(struct seam_branch_stack), 88);
	assert_int_equal(sizeof(struct seam_u64s), 24);
	assert_int_equal(sizeof(struct seam_bytes), 16);
	assert_int_equal(sizeof(struct seam_sample), 544);
	assert_int_equal(sizeof(struct seam_decoded),
	                 offsetof(struct seam_decoded, sample) + sizeof(struct seam_sample));
}

static void unknown_options_are_refused(void **state)
{
	struct {
		struct seam_stitch_opts opts;
		uint64_t newer;
	} o = { .opts.sz = sizeof(o) };
	struct {
		struct seam_reader_opts opts;
		uint64_t newer;
	} ro = { .opts.sz = sizeof(ro), .newer = 1 };
	struct {
		struct seam_writer_opts opts;
		uint64_t newer;
	} wo = { .opts.sz = sizeof(wo), .newer = 1 };
	struct seam_stitch *st = NULL;
	struct seam_reader *reader = NULL;
	struct seam_writer *writer = NULL;
	struct seam_error err = { 0 };

	assert_int_equal(seam_stitch_new(&st, &o.opts), 0); /* larger, but nothing is set there */
	seam_stitch_free(st);
	o.newer = 1;
	assert_int_equal(seam_stitch_new(&st, &o.opts), -E2BIG);
	o.opts.sz = 0;
	assert_int_equal(seam_stitch_new(&st, &o.opts), -EINVAL);
	assert_int_equal(seam_reader_open_memory(&reader, "", 0, NULL, &ro.opts, &err), -E2BIG);
	assert_int_equal(err.code, E2BIG);
	assert_int_equal(seam_writer_open(&writer, "/nowhere/file", NULL, &wo.opts, &err), -E2BIG);
	assert_null(reader);
	assert_null(writer);
}

static void sized_copies_what_both_know(void **state)
{
	struct {
		size_t sz;
		uint64_t a, b;
	} from = { sizeof(from), 1, 2 }, to = { 0 };

	from.sz = sizeof(from.sz) + sizeof(from.a);
	assert_int_equal(sized_take(&to, sizeof(to), &from), 0);
	assert_int_equal(to.a, 1);
	assert_int_equal(to.b, 0);
	to.sz = sizeof(to);
	assert_int_equal(sized_give(&to, &from, sizeof(from.sz) + sizeof(from.a)), 0);
	assert_int_equal(to.sz, sizeof(to));
	assert_int_equal(to.b, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_within_the_smaller),
		cmocka_unit_test(larger_counts_are_zeroed),
		cmocka_unit_test(resolves_into_the_smaller),
		cmocka_unit_test(decodes_as_far_as_the_size),
		cmocka_unit_test(resolves_as_far_as_the_size),
		cmocka_unit_test(next_gives_as_far_as_the_size),
		cmocka_unit_test(nested_structs_keep_their_size),
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(sized_copies_what_both_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
