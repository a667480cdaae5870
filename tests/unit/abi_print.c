// SPDX-License-Identifier: MIT
/*
 * abi_print.c: records as text, in the words in which perf report -D of 7.3.4 puts such records;
 * scripts/peer-dump compares whole recordings with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <seam/record.h>

#include "abi/encode.h"
#include "abi/print.h"

static const struct seam_attr attr = {
	.sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CALLCHAIN |
	               SEAM_SAMPLE_PERIOD,
	.flags = SEAM_ATTR_BUILD_ID | SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_FREQ,
};

/* Prints the one record of bytes, as if it stood at an offset of perf.data. */
static void printed_at(const struct seam_attr *a, struct buf *bytes, uint64_t offset,
                       const struct print_opts *opts, const char *want)
{
	struct seam_record r = { .bytes = bytes->bytes,
		                 .size = (uint32_t)bytes->n,
		                 .offset = offset };
	struct seam_events *events;
	struct buf out = { 0 };
	const char *text;

	assert_int_equal(seam_events_new(&events), 0);
	assert_int_equal(seam_events_add(events, a, "e", NULL, 0, NULL), 0);
	memcpy(&r.type, bytes->bytes, 4);
	memcpy(&r.misc, bytes->bytes + 4, 2);
	assert_int_equal(print_record(&out, events, &r, opts, NULL), 0);
	text = strstr(buf_text(&out), "\n\n"); /* behind the raw bytes */
	assert_non_null(text);
	assert_string_equal(text + 2, want);
	buf_free(&out);
	buf_free(bytes);
	seam_events_free(events);
}

static void print_deferred_sample(void **state)
{
	uint64_t chain[] = { SEAM_CONTEXT_KERNEL, 0xffffffffb0065c48, SEAM_CONTEXT_USER_DEFERRED,
		             0x300000002 };
	struct seam_sample s = { .id = { .pid = 111, .tid = 111, .time_ns = 6213935618 },
		                 .ip = 0xffffffffb0065c48,
		                 .period = 250000,
		                 .callchain = encode_words(chain, 4) };
	struct buf b = { 0 };

	encode_sample(&b, &attr, 1, &s);
	printed_at(&attr, &b, 0x2dad0, NULL,
	           "6213935618 0x2dad0 [0x50]: PERF_RECORD_SAMPLE(IP, 0x1): 111/111: "
	           "0xffffffffb0065c48 period: 250000 addr: 0\n"
	           "... FP chain: nr:4\n"
	           ".....  0: ffffffffffffff80 (PERF_CONTEXT_KERNEL)\n"
	           ".....  1: ffffffffb0065c48\n"
	           ".....  2: fffffffffffffd80 (PERF_CONTEXT_USER_DEFERRED)\n"
	           ".....  3: 0000000300000002\n"
	           "...... (deferred)\n");
}

static void print_answer(void **state)
{
	uint64_t ip = 0x7f51d08052c0;
	struct seam_id id = { .pid = 111, .tid = 111, .time_ns = 6214133912 };
	struct buf b = { 0 };

	encode_deferred(&b, &attr, 2,
	                &(struct seam_callchain_deferred){ 0x300000002, encode_words(&ip, 1) },
	                &id);
	printed_at(&attr, &b, 0x2dbe0, NULL,
	           "6214133912 0x2dbe0 [0x30]: PERF_RECORD_CALLCHAIN_DEFERRED(IP, 0x2): 111/111: "
	           "0x300000002\n"
	           "... FP chain: nr:1\n"
	           ".....  0: 00007f51d08052c0\n");
}

static void print_maps(void **state)
{
	struct seam_mmap m = { .pid = UINT32_MAX,
		               .addr = 0xffffffff81000000,
		               .len = 0x235b680,
		               .pgoff = 0,
		               .maj = 8,
		               .min = 1,
		               .ino = 99,
		               .ino_generation = 2,
		               .prot = 5,
		               .flags = 2,
		               .filename = "/bin/prog" };
	struct buf b = { 0 };

	encode_mmap2(&b, &attr, 2, &m, NULL);
	printed_at(&attr, &b, 0, NULL,
	           "0 0 [0x68]: PERF_RECORD_MMAP2 -1/0: [0xffffffff81000000(0x235b680) @ 0 08:01 "
	           "99 2]: r-xp /bin/prog\n");
	m.has_build_id = true;
	m.build_id_size = 4;
	memcpy(m.build_id, "\x1f\xe9\x96\x84", 4);
	encode_mmap2(&b, &attr, 2, &m, NULL);
	printed_at(&attr, &b, 0, NULL,
	           "0 0 [0x68]: PERF_RECORD_MMAP2 -1/0: [0xffffffff81000000(0x235b680) @ 0 "
	           "<1fe99684>]: r-xp /bin/prog\n");
	encode_comm(&b, &attr, 0, &(struct seam_comm){ 890, 891, true, "deepmix" },
	            &(struct seam_id){ .time_ns = 5 });
	printed_at(&attr, &b, 0xc4e8, NULL,
	           "5 0xc4e8 [0x28]: PERF_RECORD_COMM exec: deepmix:890/891\n");
}

/* Registers by their names, when the machine is known. */
static void print_registers(void **state)
{
	struct seam_attr a = { .sample_type = SEAM_SAMPLE_REGS_USER, .sample_regs_user = 0x1c0 };
	uint64_t values[] = { 0x7fffcaf81760, 0x7fffcaf816e8, 0x7f37f44e9b57 };
	struct seam_sample s = { .regs_user = { .abi = 2, .values = encode_words(values, 3) } };
	struct buf b = { 0 };

	encode_sample(&b, &a, 2, &s);
	printed_at(&a, &b, 0x350, &(struct print_opts){ .arch = "x86_64" },
	           "0x350 [0x28]: PERF_RECORD_SAMPLE(IP, 0x2): -1/-1: 0 period: 0 addr: 0\n"
	           "... user regs: mask 0x1c0 ABI 64-bit\n"
	           ".... BP    0x00007fffcaf81760\n"
	           ".... SP    0x00007fffcaf816e8\n"
	           ".... IP    0x00007f37f44e9b57\n");
	assert_string_equal(print_reg_name("aarch64", 31), "sp");
	assert_string_equal(print_reg_name("armv7l", 15), "pc");
	assert_string_equal(print_reg_name("s390x", 33), "PC");
	assert_null(print_reg_name("x86_64", 24));
	assert_null(print_reg_name("arm64", 40));
	assert_null(print_reg_name(NULL, 0));
	assert_null(print_reg_name("vax", 0));
}

static void print_branch_stack(void **state)
{
	struct seam_attr a = { .sample_type = SEAM_SAMPLE_BRANCH_STACK };
	uint64_t entries[] = { 1, 2, 1 | 5 << 4,
		               3, 4, 2 | 4 | 1 << 20,
		               5, 6, 8 | 15 << 20 | 1 << 24 | 2 << 26 };
	struct seam_sample s = { .branches = { .n = 3, .entries = encode_words(entries, 9) } };
	struct buf b = { 0 };

	encode_sample(&b, &a, 2, &s);
	printed_at(&a, &b, 0x10, NULL,
	           "0x10 [0x58]: PERF_RECORD_SAMPLE(IP, 0x2): -1/-1: 0 period: 0 addr: 0\n"
	           "... branch stack: nr:3\n"
	           ".....  0: 0000000000000001 -> 0000000000000002 5 cycles M    0  \n"
	           ".....  1: 0000000000000003 -> 0000000000000004 0 cycles  P T 0 COND \n"
	           ".....  2: 0000000000000005 -> 0000000000000006 0 cycles   A  0 FAULT_INST "
	           "SPEC_WRONG_PATH\n");
}

static void print_raw_bytes(void **state)
{
	struct seam_record r = { .type = SEAM_RECORD_FINISHED_INIT,
		                 .size = 24,
		                 .offset = 0x288,
		                 .bytes = (const unsigned char *)"\x52\0\0\0\0\0\x18\0"
		                                                 "some text\x7f......" };
	struct buf out = { 0 };
	struct seam_events *events;

	seam_events_new(&events);
	print_record(&out, events, &r, &(struct print_opts){ .path = "perf.data" }, NULL);
	assert_string_equal(buf_text(&out),
	                    "\n0x288@perf.data [0x18]: event: 82\n"
	                    ".\n"
	                    ". ... raw event: size 24 bytes\n"
	                    ".  0000:  52 00 00 00 00 00 18 00 73 6f 6d 65 20 74 65 78  "
	                    "R.......some tex\n"
	                    ".  0010:  74 7f 2e 2e 2e 2e 2e 2e                          "
	                    "t.......        \n"
	                    "\n"
	                    "-1 -1 0x288 [0x18]: PERF_RECORD_FINISHED_INIT\n");
	buf_free(&out);
	seam_events_free(events);
}

static void print_attr_line(void **state)
{
	struct seam_attr a = { .type = 1,
		               .size = 144,
		               .sample_period = 2000,
		               .sample_type = 0x167,
		               .read_format = 20,
		               .flags = SEAM_ATTR_DISABLED | SEAM_ATTR_FREQ |
		                        2ULL << SEAM_ATTR_PRECISE_IP_SHIFT | SEAM_ATTR_MMAP2 |
		                        SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT };
	struct buf out = { 0 };

	print_attr_fields(&out, &a);
	assert_string_equal(buf_text(&out),
	                    "type = 1 (PERF_TYPE_SOFTWARE), size = 144, config = 0 "
	                    "(PERF_COUNT_SW_CPU_CLOCK), { sample_period, sample_freq } = 2000, "
	                    "sample_type = IP|TID|TIME|CALLCHAIN|ID|PERIOD, read_format = ID|LOST, "
	                    "disabled = 1, freq = 1, precise_ip = 2, mmap2 = 1, "
	                    "defer_callchain = 1, defer_output = 1");
	buf_free(&out);
}

static void print_json_sample(void **state)
{
	uint64_t chain[] = { SEAM_CONTEXT_USER_DEFERRED, 0x300000002 };
	struct seam_sample s = { .id = { .pid = 7, .tid = 8, .time_ns = 9 },
		                 .ip = 0x10,
		                 .period = 11,
		                 .callchain = encode_words(chain, 2) };
	struct seam_record r = { .type = SEAM_RECORD_SAMPLE, .misc = 2, .offset = 16, .index = 3 };
	struct seam_events *events;
	struct buf b = { 0 }, out = { 0 };

	encode_sample(&b, &attr, 2, &s);
	r.bytes = b.bytes;
	r.size = (uint32_t)b.n;
	seam_events_new(&events);
	seam_events_add(events, &attr, "cpu-clock", NULL, 0, NULL);
	assert_int_equal(print_record_json(&out, events, &r, NULL, NULL), 0);
	assert_string_equal(buf_text(&out),
	                    "{\"type\":\"SAMPLE\",\"type_id\":9,\"index\":3,\"offset\":16,"
	                    "\"size\":64,\"misc\":2,\"event\":\"cpu-clock\",\"pid\":7,\"tid\":8,"
	                    "\"time\":9,\"ip\":\"0x10\",\"period\":11,\"callchain\":"
	                    "[\"PERF_CONTEXT_USER_DEFERRED\",{\"cookie\":\"0x300000002\"}]}\n");
	buf_free(&b);
	buf_free(&out);
	seam_events_free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(print_deferred_sample),
		cmocka_unit_test(print_answer),
		cmocka_unit_test(print_maps),
		cmocka_unit_test(print_registers),
		cmocka_unit_test(print_branch_stack),
		cmocka_unit_test(print_raw_bytes),
		cmocka_unit_test(print_attr_line),
		cmocka_unit_test(print_json_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
