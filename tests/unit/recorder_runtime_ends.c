// SPDX-License-Identifier: MIT
// recorder_runtime_ends.c: stacks whose outermost frame is in code that a runtime made, told from
// all others, whatever the processes do meanwhile.
#include "recorder_records.h"

#include <sys/mman.h>

#include "recorder/runtime_ends.h"
#include "runtimes/runtime_flags.h"

#define CODE 0x7f0000000000u

static void map(struct buf *out, uint32_t pid, uint64_t time_ns, uint64_t addr, const char *path)
{
	struct seam_mmap mmap = { .pid = pid,
		                  .tid = pid,
		                  .addr = addr,
		                  .len = 0x1000,
		                  .prot = PROT_READ | PROT_EXEC,
		                  .filename = path };
	struct seam_id id = test_id(pid, time_ns);

	assert_int_equal(encode_mmap2(out, &test_attr, 0, &mmap, &id), 0);
}

static void sample(struct buf *out, uint32_t pid, uint64_t outermost, uint64_t before)
{
	const uint64_t chain[] = { SEAM_CONTEXT_USER, 0x401000, before, outermost };
	struct seam_sample s = { .id = test_id(pid, 9), .callchain = encode_words(chain, 4) };

	assert_int_equal(encode_sample(out, &test_attr, SEAM_MISC_USER, &s), 0);
}

static void deferred(struct buf *out, uint32_t pid, uint64_t outermost)
{
	const uint64_t chain[] = { SEAM_CONTEXT_USER, 0x401000, outermost };
	struct seam_callchain_deferred d = { .cookie = 1, .ips = encode_words(chain, 3) };
	struct seam_id id = test_id(pid, 9);

	assert_int_equal(encode_deferred(out, &test_attr, SEAM_MISC_USER, &d, &id), 0);
}

/* Looks at all records, and says how many stacks ended in code of a runtime that maps this file. */
static uint64_t look(struct runtime_ends *r, struct buf *in, const char *path)
{
	const struct runtime_flags *flags = runtime_flags_of_path(path);

	assert_non_null(flags);
	runtime_ends_look(r, in->bytes, in->n);
	buf_clear(in);
	return r->ended ? r->ended[runtime_flags_number(flags)] : 0;
}

static void begin(struct runtime_ends *r)
{
	*r = (struct runtime_ends){ .events = test_events() };
}

static void end(struct runtime_ends *r, struct buf *in)
{
	seam_events_free((struct seam_events *)r->events);
	runtime_ends_free(r);
	buf_free(in);
}

#define JAVA "/usr/lib/jvm/lib/server/libjvm.so"
#define ERLANG "/usr/lib/erlang/bin/beam.smp"

static void the_outermost_frame_counts(void **state)
{
	struct runtime_ends r;
	struct buf in = { 0 };

	begin(&r);
	sample(&in, 10, CODE + 8, 0x401000); /* nothing is known of the process */
	assert_int_equal(look(&r, &in, JAVA), 0);
	map(&in, 10, 1, 0x400000, JAVA);
	map(&in, 10, 2, CODE, "//anon");
	map(&in, 10, 3, CODE + 0x1000, "//anon");
	sample(&in, 10, CODE + 8, 0x401000);
	sample(&in, 10, 0x402000, CODE + 8);                   /* it goes on */
	sample(&in, 10, CODE + 0x2000, 0x401000);              /* a call at the very end */
	sample(&in, 10, CODE, 0x401000);                       /* a call in front of it */
	sample(&in, 10, CODE + 0x2001, 0x401000);              /* behind it */
	sample(&in, 11, CODE + 8, 0x401000);                   /* another process */
	sample(&in, 10, UINT64_MAX - 4095, 0x401000);          /* the kernel's */
	sample(&in, 10, CODE + 8, SEAM_CONTEXT_USER_DEFERRED); /* a cookie, by chance */
	assert_int_equal(look(&r, &in, JAVA), 2);
	deferred(&in, 10, CODE + 8);
	assert_int_equal(look(&r, &in, JAVA), 3);
	assert_int_equal(r.samples, 9);
	end(&r, &in);
}

static void processes_begin_and_change(void **state)
{
	struct seam_comm comm = { .pid = 10, .tid = 10, .comm = "sh", .exec = true };
	struct seam_id id = test_id(10, 20);
	struct runtime_ends r;
	struct buf in = { 0 };

	begin(&r);
	map(&in, 10, 1, 0x400000, JAVA);
	map(&in, 10, 2, CODE, "//anon");
	put_task(&in, SEAM_RECORD_FORK, 12, 10, 3);
	put_task(&in, SEAM_RECORD_FORK, 10, 10, 3); /* a thread */
	sample(&in, 12, CODE + 8, 0x401000);
	sample(&in, 10, CODE + 8, 0x401000);
	assert_int_equal(look(&r, &in, JAVA), 2);
	assert_int_equal(encode_comm(&in, &test_attr, SEAM_MISC_COMM_EXEC, &comm, &id), 0);
	sample(&in, 10, CODE + 8, 0x401000);
	sample(&in, 12, CODE + 8, 0x401000);
	assert_int_equal(look(&r, &in, JAVA), 3); /* the child runs on */
	/* A fork that comes late, of before what is known: what was mapped since stays. */
	map(&in, 13, 30, 0x400000, JAVA);
	map(&in, 13, 31, CODE, "//anon");
	put_task(&in, SEAM_RECORD_FORK, 13, 1, 29);
	sample(&in, 13, CODE + 8, 0x401000);
	assert_int_equal(look(&r, &in, JAVA), 4);
	end(&r, &in);
}

/* Where one flag does both, a process that writes a dump has it already. */
static void what_has_its_flag_is_let_be(void **state)
{
	struct runtime_ends r;
	struct buf in = { 0 };

	begin(&r);
	map(&in, 10, 1, 0x400000, ERLANG);
	map(&in, 10, 2, CODE, "//anon");
	sample(&in, 10, CODE + 8, 0x401000);
	assert_int_equal(look(&r, &in, ERLANG), 1);
	map(&in, 10, 3, 0x500000, "/tmp/jit-10.dump");
	sample(&in, 10, CODE + 8, 0x401000);
	assert_int_equal(look(&r, &in, ERLANG), 1);
	end(&r, &in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outermost_frame_counts),
		cmocka_unit_test(processes_begin_and_change),
		cmocka_unit_test(what_has_its_flag_is_let_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
