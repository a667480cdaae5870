// SPDX-License-Identifier: MIT
/*
 * fleet_summed.c: parts of a store's time keep what was judged of frames when they were made. So
 * who judges frames in another way must say so: SUMMED_RULES goes up, and parts that were made
 * before are left aside. Here a made-up list with every kind of frame and name is summed up; what
 * comes out has one digest as long as the rules have one number.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "fleet/flat_frames.h"
#include "store/parts/summing.h"

/* By SUMMED_RULES. A digest here is never changed: where what is summed up is another, the rules
 * have the next number, which has the digest that the test then says. */
static const uint64_t digests[] = { 0, 0x1dae9d0f3a67bcc1, 0xca0fae65ce4010d7 };

_Static_assert(sizeof(digests) / sizeof(*digests) == SUMMED_RULES + 1,
               "each number of rules has its digest");

/* What a name can be to those who judge. */
static const char *const names[] = {
	"",
	"main",
	"?main",
	"[unknown]",
	"?[unknown]",
	"[unknown /usr/lib/libx.so.1+0x1f]",
	"?[unknown /usr/lib/libx.so.1+0x1f]",
	"[unknown x+0xyz]",
	"[unfinished: the process was gone]",
	"[unfinished: cut at 127 frames]",
	"_PyEval_EvalFrameDefault",
	"_PyEval_EvalFrameDefault.cold",
	"_PyEval_EvalFrame",
	"py::main",
	"py:main",
	"node::run",
	"[folded]",
};
static const char *const paths[] = { "/usr/bin/python3.11", "/usr/lib/libx.so.1", "" };

#define NAMES (sizeof(names) / sizeof(*names))
#define PATHS (sizeof(paths) / sizeof(*paths))
#define FRAMES (NAMES * PROFILE_KINDS)

/* Blocks of all names, each the only one of its list. */
struct blocks_made {
	struct buf packed[BLOCKS_NODES];
	uint32_t n[BLOCKS_NODES];
};

static void make_blocks(struct blocks_made *b)
{
	struct buf plain[BLOCKS_NODES] = { 0 };

	/* String 1 is "", then names, then paths. */
	for (size_t i = 0; i < NAMES + PATHS; i++) {
		const char *text = i < NAMES ? names[i] : paths[i - NAMES];

		blocks_put_number(&plain[BLOCKS_STRINGS], strlen(text));
		buf_put(&plain[BLOCKS_STRINGS], text, strlen(text));
	}
	for (size_t i = 0; i < PATHS; i++) {
		blocks_put_number(&plain[BLOCKS_OBJECTS], NAMES + i + 1);
		blocks_put_number(&plain[BLOCKS_OBJECTS], 0);
	}
	for (size_t i = 0; i < FRAMES; i++) {
		/* The first name is of frames that have none. */
		const uint64_t frame[] = {
			i / NAMES, i % (PATHS + 1), i % NAMES ? i % NAMES + 1 : 0, 0, i % 3, 0
		};

		for (size_t k = 0; k < 6; k++)
			blocks_put_number(&plain[BLOCKS_FRAMES], frame[k]);
	}
	b->n[BLOCKS_STRINGS] = NAMES + PATHS;
	b->n[BLOCKS_OBJECTS] = PATHS;
	b->n[BLOCKS_FRAMES] = FRAMES;
	for (int kind = 0; kind < BLOCKS_NODES; kind++) {
		assert_int_equal(blocks_pack(&b->packed[kind], &plain[kind], BLOCKS_QUICK), 0);
		buf_free(&plain[kind]);
	}
}

static int fetch(void *ctx, enum blocks_kind kind, uint32_t id, uint32_t *first, uint32_t *n,
                 const void **bytes, size_t *size)
{
	const struct blocks_made *b = ctx;

	(void)id;
	*first = 1;
	*n = b->n[kind];
	*bytes = b->packed[kind].bytes;
	*size = b->packed[kind].n;
	return 0;
}

/* Every frame outermost, below every kind of outermost frame, and below itself; then what was
 * folded. Counted in two groups, by weights of their own. */
static void make_stacks(struct joined *j)
{
	uint32_t group, outer = 0;

	j->nodes = calloc(FRAMES * (FRAMES / 7 + 4) + 1, sizeof(*j->nodes));
	assert_non_null(j->nodes);
	for (uint32_t frame = 1; frame <= FRAMES; frame++) {
		j->nodes[++j->n] = (struct blocks_node){ 0, frame };
		outer = j->n;
		j->nodes[++j->n] = (struct blocks_node){ outer, frame };
		j->nodes[++j->n] = (struct blocks_node){ outer, BLOCKS_FOLDED };
		for (uint32_t below = 1 + frame % 7; below <= FRAMES; below += 7)
			j->nodes[++j->n] = (struct blocks_node){ outer, below };
	}
	for (group = 1; group <= 2; group++)
		for (uint32_t node = 0; node <= j->n; node++) {
			const struct sums_row row = { group, node, 1 + node % 5,
				                      1 + node % 11 * group };

			assert_int_equal(sums_add(&j->sums, &row), 0);
		}
	assert_int_equal(sums_end(&j->sums), 0);
}

/* Without frames each group has the same samples, and no list of frames. Of other rules there is
 * nothing. */
static void heads_alone(const struct buf *packed)
{
	struct summed all = { 0 }, heads = { 0 };
	unsigned char old[] = { 0, 1, 0 };

	assert_int_equal(summed_open(&all, packed->bytes, packed->n, true), 0);
	assert_int_equal(summed_open(&heads, packed->bytes, packed->n, false), 0);
	assert_int_equal(heads.n, all.n);
	assert_int_equal(heads.frames.n, 0);
	for (size_t i = 0; i < all.n; i++) {
		struct cursor selfs = all.pieces[i].selfs;
		struct summed_value sum = { 0 }, bare = { 0 };
		struct summed_self self = { 0 };
		uint64_t folded = 0;

		while (summed_next_self(&selfs, all.pieces[i].weight, &self)) {
			summed_add(&sum, &self.value);
			if (self.place == SUMMED_FOLDED || self.place == SUMMED_FOLDED_KERNEL)
				folded += self.value.samples;
			if (!self.place)
				bare = self.value;
		}
		assert_int_equal(heads.pieces[i].all.samples, sum.samples);
		assert_int_equal(heads.pieces[i].all.weight, sum.weight);
		assert_int_equal(heads.pieces[i].bare.samples, bare.samples);
		assert_int_equal(heads.pieces[i].bare.weight, bare.weight);
		assert_int_equal(heads.pieces[i].folded, folded);
		assert_int_equal(cursor_left(&heads.pieces[i].selfs), 0);
		assert_int_equal(cursor_left(&heads.pieces[i].totals.places), 0);
	}
	summed_free(&all);
	summed_free(&heads);
	assert_int_equal(summed_open(&all, old, sizeof(old), true), -EPROTO);
	old[0] = 1;
	assert_int_equal(summed_open(&all, old, sizeof(old), true), -EPROTO);
}

/* What is summed up, as the bytes that a store would pack. */
static uint64_t digest_of(struct summing *sums)
{
	struct buf packed = { 0 };
	struct summed opened = { 0 };
	uint64_t digest;

	assert_int_equal(summing_pack(sums, &packed, BLOCKS_QUICK), 0);
	assert_int_equal(packed.bytes[1], SUMMED_RULES);
	assert_int_equal(summed_open(&opened, packed.bytes, packed.n, true), 0);
	digest = map_hash_bytes(opened.plain.bytes, opened.plain.n,
	                        map_hash_bytes(opened.frames.bytes, opened.frames.n, 0));
	summed_free(&opened);
	heads_alone(&packed);
	buf_free(&packed);
	return digest;
}

static void rules_have_their_number(void **state)
{
	static const struct summed_head heads[] = { { 0, 0, 0 }, { 1, 3, 2 }, { 7, 2, 3 } };
	struct flat flat = { .says = flat_python_says, .frame = flat_frames_say };
	struct flat_frames frames = { .flat = &flat };
	struct blocks_made blocks = { 0 };
	struct lookup names_of;
	struct joined list = { 0 };
	struct summing sums = { 0 };
	struct summing_stacks of = { &flat, NULL, &names_of, &list, 1, heads };
	uint64_t digest;

	flat.ctx = &frames;
	assert_int_equal(profile_new(&of.p, 0), 0);
	make_blocks(&blocks);
	lookup_start(&names_of, fetch, &blocks);
	for (uint32_t frame = 1; frame <= FRAMES; frame++)
		assert_int_equal(lookup_need(&names_of, BLOCKS_FRAMES, frame), 0);
	assert_int_equal(lookup_load(&names_of), 0);
	make_stacks(&list);
	assert_int_equal(summing_add_stacks(&sums, &of), 0);
	digest = digest_of(&sums);
	if (digest != digests[SUMMED_RULES])
		fail_msg("what is summed up is another than by rules %d: let SUMMED_RULES "
		         "(store/parts/summed.h) be %d, with the digest %#" PRIx64 " here",
		         SUMMED_RULES, SUMMED_RULES + 1, digest);
	summing_free(&sums);
	joined_free(&list);
	lookup_free(&names_of);
	for (int kind = 0; kind < BLOCKS_NODES; kind++)
		buf_free(&blocks.packed[kind]);
	profile_free(of.p);
	flat_frames_free(&frames);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_have_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
