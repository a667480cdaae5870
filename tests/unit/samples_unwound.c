// SPDX-License-Identifier: MIT
// samples_unwound.c: which code may be walked by its frame pointer: what was made at run time, in
// memory without a file; never a file's code of which nothing is known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "samples/unwound.h"

#define PID 7
#define CODE 0x7000000000ULL
#define CODE_SIZE 0x10000ULL
#define STACK 0x7fff00000000ULL

/* A process that maps its code from a path, and a stack of three frames linked by frame
 * pointers. */
struct scene {
	struct proc_table *procs;
	struct tables *tables;
	struct unwound *u;
	struct seam_stitched sample;
	uint64_t stack[16];
	uint64_t regs[3];
};

static void scene_map(struct scene *s, const char *path)
{
	const struct seam_record record = { .type = SEAM_RECORD_MMAP, .misc = SEAM_MISC_USER };
	const struct seam_decoded mapped = {
		.record = &record,
		.id = { .has = SEAM_SAMPLE_TIME, .time_ns = 1 },
		.mmap = { .pid = PID,
		          .tid = PID,
		          .addr = CODE,
		          .len = CODE_SIZE,
		          .filename = path },
	};

	assert_int_equal(proc_new(&s->procs, &(struct proc_opts){ .sz = sizeof(struct proc_opts) }),
	                 0);
	assert_true(proc_learn(s->procs, &mapped) >= 0);
	assert_int_equal(proc_seal(s->procs), 0);
}

static void scene_open(struct scene *s, const char *path)
{
	*s = (struct scene){ 0 };
	scene_map(s, path);
	assert_int_equal(tables_new(&s->tables,
	                            &(struct tables_opts){ .sz = sizeof(struct tables_opts),
	                                                   .no_cache = true }),
	                 0);
	assert_int_equal(unwound_new(&s->u, &(struct unwound_opts){ .procs = s->procs,
	                                                            .tables = s->tables,
	                                                            .machine = FRAMETAB_X86_64 }),
	                 0);
	s->stack[2] = STACK + 8 * 6; /* the caller's frame pointer, and where it goes on */
	s->stack[3] = CODE + 0x200;
	s->stack[6] = 0; /* the outermost frame */
	s->stack[7] = CODE + 0x300;
	s->regs[0] = STACK + 8 * 2; /* bp, sp, ip */
	s->regs[1] = STACK;
	s->regs[2] = CODE + 0x100;
	s->sample = (struct seam_stitched){
		.state = SEAM_STITCH_STACK_COPY,
		.misc = SEAM_MISC_USER,
		.sample = { .id = { .has = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		                    .pid = PID,
		                    .tid = PID,
		                    .time_ns = 2 },
		            .ip = CODE + 0x100,
		            .regs_user = { .abi = 2,
		                           .mask = 1 << 6 | 1 << 7 | 1 << 8,
		                           .values = { (const void *)s->regs, 3, false } },
		            .stack_user = { (const void *)s->stack, sizeof(s->stack) },
		            .stack_user_size = sizeof(s->stack) },
	};
}

static void scene_close(struct scene *s)
{
	unwound_free(s->u);
	tables_free(s->tables);
	proc_free(s->procs);
}

static int scene_walk(struct scene *s)
{
	return unwound_sample(s->u, proc_space(s->procs, PID, 2), &s->sample);
}

static void made_code_is_guessed(void **state)
{
	struct scene s;

	scene_open(&s, "//anon");
	assert_int_equal(scene_walk(&s), 1);
	assert_int_equal(s.sample.user.n, 3);
	assert_int_equal(seam_u64s_at(&s.sample.user, 1) & WALK_ADDRESS, CODE + 0x200);
	assert_true(seam_u64s_at(&s.sample.user, 1) & WALK_GUESSED);
	assert_int_equal(unwound_count(s.u)->guessed_frames, 2);
	scene_close(&s);
}

/* Of a file that is not there nothing is known: its code may use the frame pointer for anything. */
static void a_file_is_not_guessed(void **state)
{
	size_t n = 0;
	struct scene s;

	scene_open(&s, "/nonexistent/program");
	assert_int_equal(scene_walk(&s), 1);
	assert_int_equal(s.sample.user.n, 1);
	assert_int_equal(unwound_last(s.u)->end, WALK_NO_INFO);
	assert_int_equal(unwound_count(s.u)->guessed_frames, 0);
	assert_string_equal(unwound_missing(s.u, &n)->object->path, "/nonexistent/program");
	assert_int_equal(n, 1);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_code_is_guessed),
		cmocka_unit_test(a_file_is_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
