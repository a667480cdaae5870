// SPDX-License-Identifier: MIT
// runtimes_perl.c: which version of Perl an object is, and which call of its loop runs which subs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "runtimes/kinds.h"
#include "runtimes/perl.h"

/* ---- objects ---- */

struct made_perl {
	uint64_t ops;         /* bytes of PL_opargs */
	uint16_t interpreter; /* size of it; 0: a build without threads */
	const char *without;  /* a symbol that it does not have */
};

static const struct {
	const char *name;
	uint64_t address, bytes;
} made_symbols[] = {
	{ "Perl_runops_standard", 0x11000, 76 },
	{ "Perl_call_sv", 0x12000, 1809 },
	{ "Perl_eval_sv", 0x13000, 1331 },
	{ "Perl_amagic_call", 0x14000, 7219 },
	{ "perl_run", 0x16000, 1171 },
	{ "PL_curstackinfo", 0x40000, 8 },
	{ "PL_curcop", 0x40008, 8 },
	{ "PL_op", 0x40010, 8 },
	{ "PL_runops", 0x40018, 8 },
	{ "PL_top_env", 0x40020, 8 },
	{ "PL_main_start", 0x40028, 8 },
};

static int made_symbol(void *ctx, const char *name, uint64_t *ret, uint64_t *size)
{
	const struct made_perl *m = ctx;
	uint64_t bytes = 0;

	*ret = 0;
	if (m->without && !strcmp(name, m->without))
		return -ENOENT;
	if (!strcmp(name, "PL_opargs")) {
		*ret = 0x30000;
		bytes = m->ops;
	} else if (!strcmp(name, "PL_thr_key") && m->interpreter) {
		*ret = 0x50000;
	} else if (!strcmp(name, "PL_interp_size") && m->interpreter) {
		*ret = 0x30800;
	}
	for (size_t i = 0; i < sizeof(made_symbols) / sizeof(made_symbols[0]); i++) {
		if (!strcmp(name, made_symbols[i].name) && (i < 5 || !m->interpreter)) {
			*ret = made_symbols[i].address;
			bytes = made_symbols[i].bytes;
		}
	}
	if (size)
		*size = bytes;
	return *ret ? 0 : -ENOENT;
}

static int made_read(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct made_perl *m = ctx;

	if (address != 0x30800 || n != sizeof(m->interpreter))
		return -EFAULT;
	memcpy(to, &m->interpreter, n);
	return 0;
}

static int made_functions(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end),
                          void *arg)
{
	(void)ctx;
	each(arg, 0x11000, 0x11100);
	each(arg, 0x10000, 0x10100);
	return each(arg, 0x18000, 0x19000);
}

static int found(struct made_perl m, struct runtime_object *o, struct perl_layout *l)
{
	const struct runtime_source source = {
		.ctx = &m, .symbol = made_symbol, .read = made_read, .functions = made_functions
	};
	int r = kinds_find(o, &source);

	memcpy(l, o->layout, sizeof(*l));
	return r;
}

/* A version is told by its ops. */
static void test_versions(void **state)
{
	static const struct {
		unsigned ops, version, entersub;
	} versions[] = { { 414, 0x0524, 184 }, { 422, 0x0528, 187 }, { 426, 0x052a, 191 } };
	struct runtime_object o;
	struct perl_layout l;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(found((struct made_perl){ versions[i].ops * 4, 3768, NULL }, &o,
		                       &l),
		                 0);
		assert_int_equal(o.kind, RUNTIME_PERL);
		assert_int_equal(o.known, 1);
		assert_int_equal(l.version, versions[i].version);
		assert_int_equal(l.op_entersub, versions[i].entersub);
		assert_int_equal(l.threaded, 1);
		assert_int_equal(o.address[PERL_KEY], 0x50000);
		assert_int_equal(o.address[PERL_LOOP], 0x11000);
		assert_int_equal(l.loop_bytes, 76);
		assert_int_equal(l.run_bytes, 1171);
		assert_int_equal(o.address[PERL_LOOP] + l.text, 0x10000);
		assert_int_equal(l.text_bytes, 0x9000);
	}
}

/* Without threads variables stand where others have an interpreter. */
static void test_single(void **state)
{
	struct runtime_object o;
	struct perl_layout l;

	(void)state;
	assert_int_equal(found((struct made_perl){ 414 * 4, 0, NULL }, &o, &l), 0);
	assert_int_equal(l.threaded, 0);
	assert_int_equal(o.address[PERL_KEY], 0);
	assert_int_equal(o.address[PERL_LOOP] + l.stacks, 0x40000);
	assert_int_equal(o.address[PERL_LOOP] + l.cop, 0x40008);
	assert_int_equal(o.address[PERL_LOOP] + l.main, 0x40028);
	assert_int_equal(found((struct made_perl){ 414 * 4, 0, "PL_curcop" }, &o, &l), -ENOTSUP);
}

/* Other versions, builds for debugging, and what is no Perl. */
static void test_others(void **state)
{
	struct runtime_object o = { .kind = RUNTIME_NO_KIND };
	struct perl_layout l;

	(void)state;
	assert_int_equal(found((struct made_perl){ 418 * 4, 3768, NULL }, &o, &l), -ENOTSUP);
	assert_int_equal(o.kind, RUNTIME_PERL);
	assert_int_equal(o.known, 0);
	assert_int_equal(found((struct made_perl){ 414 * 4, 3776, NULL }, &o, &l), -ENOTSUP);
	assert_int_equal(found((struct made_perl){ 414 * 4, 3768, "perl_run" }, &o, &l), -ENOTSUP);
	assert_int_equal(found((struct made_perl){ 0, 3768, "PL_opargs" }, &o, &l), -ENOENT);
	assert_int_equal(found((struct made_perl){ 414 * 4, 3768, "Perl_runops_standard" }, &o, &l),
	                 -ENOENT);
}

/* ---- calls of the loop ---- */

/* A text of frames, the innermost first: a letter is a function; M, C, I, O and D are what stands
 * for a call of the loop (enum perl_call); m, c, i and o with a number are loops that were met. */
static size_t frames_of(struct runtime_frame *to, const char *text)
{
	static const char by[] = "MCIOD", met[] = "mcio";
	size_t n = 0;

	for (; *text; text++) {
		const char *call = strchr(by, *text), *loop = strchr(met, *text);

		if (*text == ' ')
			continue;
		to[n] = (struct runtime_frame){ .key = (uint64_t)(unsigned char)*text,
			                        .native = RUNTIME_FRAME_NOWHERE,
			                        .what = RUNTIME_FRAME_CODE };
		if (call) {
			to[n].key = (uint64_t)(call - by);
			to[n].what = RUNTIME_FRAME_LOOP;
		} else if (loop) {
			to[n].key = (uint64_t)(loop - met);
			to[n].what = RUNTIME_FRAME_MET;
			to[n].native = (uint16_t)(*++text - '0');
		}
		n++;
	}
	return n;
}

/* What is put into which native frame: functions, and behind them the number. */
static void matches(const char *text, const char *want)
{
	struct runtime_frame frames[64];
	size_t n = frames_of(frames, text), at = 0;
	char got[64];

	if (!perl_match(frames, &n)) {
		assert_null(want);
		return;
	}
	for (size_t i = 0; i < n; i++)
		got[at++] = frames[i].what == RUNTIME_FRAME_LOOP ? (char)('0' + frames[i].native)
		                                                 : (char)frames[i].key;
	got[at] = 0;
	assert_non_null(want);
	assert_string_equal(got, want);
}

static void test_match(void **state)
{
	(void)state;
	matches("", "");
	matches("fpM m3", "fp3");
	matches("gCfpM c2 m7", "g2fp7");
	matches("gOfpM o2 m7", "g2fp7");
	/* no main program runs: one is compiled, or a thread begins with a sub */
	matches("gCpM c2", "g2");
	matches("pM", "");
	matches("gCfpM", "");
	/* a sub that is being entered, and one that is left already */
	matches("hCgCfpM c2 m7", "g2fp7");
	matches("gfpM c2 m7", "gfp7");
	matches("hCgCfpM m7", NULL);
	matches("pM c1 c2 m7", NULL);
}

static void test_match_blocks(void **state)
{
	(void)state;
	/* a block for whose elements another function is between two calls */
	matches("gOfpM m7", "fp7");
	matches("hCgOfpM c2 m7", "h2gfp7");
	matches("hCgOfpM c2 o4 m7", "h2g4fp7");
	matches("hOgOfpM o4 m7", "g4fp7");
	/* a sort whose block is a part of the function; what it calls last returns to nothing */
	matches("IfpM i4 m7", "4fp7");
	matches("gDIfpM i4 m7", "g4fp7");
	matches("gDIfpM c2 i4 m7", "g24fp7");
	matches("hCgDIfpM c2 i4 m7", "h2g4fp7");
	matches("hDgDIfpM c2 i4 m7", NULL);
	/* deferred blocks are in nobody's contexts; beside another block they are not told apart */
	matches("gfpM i4 m7", "gfp7");
	matches("IfpM i2 i4 m7", NULL);
	/* functions of another kind call the loop */
	matches("gOfpM i4 m7", "fp7");
	/* two main programs */
	matches("fpM m3 m7", NULL);
}

/* ---- calls that the recorder meets ---- */

/* Native frames, the innermost first: where the pc is, and whether exceptions jump to a place in
 * the frame. Frame i ends at 0x1010 + i * 16; the jumps before the frames are contexts. */
struct made_native {
	uint64_t ip;
	bool jump;
};

/* Whether what is met by jumps is what frames_of makes of the text. */
static void meets(const struct made_native *natives, size_t n_natives, const char *text)
{
	uint64_t ips[16], sps[17] = { 0x1000 };
	struct runtime_frame frames[64], want[64];
	struct runtime_object o;
	struct perl_layout l;
	size_t n = frames_of(frames, "gCfpM"), n_want = frames_of(want, text);

	assert_int_equal(found((struct made_perl){ 414 * 4, 3768, NULL }, &o, &l), 0);
	for (size_t i = 0; i < n_natives; i++) {
		ips[i] = natives[i].ip;
		sps[i + 1] = sps[i] + 16;
		if (natives[i].jump)
			frames[n++] = (struct runtime_frame){ .key = sps[i] + 8,
				                              .what = RUNTIME_FRAME_JUMP };
	}
	while (n < 40)
		frames[n++] =
		        (struct runtime_frame){ .key = UINT64_MAX, .what = RUNTIME_FRAME_JUMP };
	kinds_meet(&o, frames, &n, &(struct runtime_natives){ ips, sps, n_natives });
	assert_int_equal(n, n_want);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(frames[i].what, want[i].what);
		assert_int_equal(frames[i].key, want[i].key);
		if (want[i].what == RUNTIME_FRAME_MET)
			assert_int_equal(frames[i].native, want[i].native);
	}
}

static void test_meet(void **state)
{
	/* a library, entersub, the loop, call_sv, ..., the loop, perl_run, main */
	static const struct made_native plain[] = {
		{ 0x900000, false }, { 0x18010, false }, { 0x11016, false }, { 0x12364, true },
		{ 0x18020, false },  { 0x11016, false }, { 0x16010, true },  { 0x10000, true },
	};
	/* a sort, a block of List::Util, and a loop that goes on with the contexts outwards */
	static const struct made_native blocks[] = {
		{ 0x11016, false }, { 0x18010, false }, { 0x11016, false }, { 0x700000, false },
		{ 0x11016, false }, { 0x18030, true },  { 0x11016, false }, { 0x16010, true },
	};
	/* behind the last byte of perl_run; and a frame that is no call, where execution stopped */
	static const struct made_native edges[] = {
		{ 0x11000, false },
		{ 0x16000 + 1171, false },
	};
	static const struct made_native beside[] = {
		{ 0x11000 + 76, false },
		{ 0x16010, false },
	};

	(void)state;
	meets(plain, 8, "gCfpM c2 m5");
	meets(blocks, 8, "gCfpM i0 o2 m6");
	meets(edges, 2, "gCfpM m0");
	meets(beside, 2, "gCfpM");
}

/* Without room nothing may look as if it were all. */
static void test_meet_no_room(void **state)
{
	const uint64_t ips[] = { 0x11016, 0x12364, 0x11016, 0x16010 };
	const uint64_t sps[] = { 0x1000, 0x1010, 0x1020, 0x1030, 0x1040 };
	struct runtime_frame frames[64];
	struct runtime_object o;
	struct perl_layout l;
	size_t n = frames_of(frames, "gCfpM");

	(void)state;
	assert_int_equal(found((struct made_perl){ 414 * 4, 3768, NULL }, &o, &l), 0);
	frames[n++] = (struct runtime_frame){ .key = UINT64_MAX, .what = RUNTIME_FRAME_JUMP };
	kinds_meet(&o, frames, &n, &(struct runtime_natives){ ips, sps, 4 });
	assert_int_equal(n, 6);
	assert_int_equal(frames[5].what, RUNTIME_FRAME_JUMP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),     cmocka_unit_test(test_single),
		cmocka_unit_test(test_others),       cmocka_unit_test(test_match),
		cmocka_unit_test(test_match_blocks), cmocka_unit_test(test_meet),
		cmocka_unit_test(test_meet_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
