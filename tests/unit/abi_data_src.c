// SPDX-License-Identifier: MIT
// abi_data_src.c: where a memory access was answered from, in words. The first seven are what perf
// 7.3.4 prints of tests/data/public's perf.data.weight_struct (Intel) and of a software event; the
// others have bits that those have not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/data_src.h"

static void says(uint64_t v, const char *text)
{
	struct buf out = { 0 };

	assert_int_equal(data_src_text(v, &out), 0);
	assert_string_equal(buf_text(&out), text);
	buf_free(&out);
}

static void test_words(void **state)
{
	(void)state;
	says(0x11868100242, "|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
	says(0x10668100842, "|OP LOAD|LVL L3 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
	says(0x1026a100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A");
	says(0x10268100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
	says(0x10650100842, "|OP LOAD|LVL L3 hit|SNP None|TLB L2 miss|LCK No|BLK  N/A");
	says(0x10468100442, "|OP LOAD|LVL L2 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
	says(0x1e05080021, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A");
}

static void test_other_bits(void **state)
{
	(void)state;
	says(0, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	says(UINT64_C(4) | 4 << 5 | 1 << 12,
	     "|OP STORE|LVL Local RAM miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	says(UINT64_C(6) << 40, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  Data Addr");
	says(UINT64_C(1) << 38 | 1u << 23,
	     "|OP N/A|LVL N/A|SNP HitM or Fwd|TLB N/A|LCK No|BLK  N/A");
	says(UINT64_C(7) << 33 | 2 << 5,
	     "|OP N/A|LVL Unknown level 7 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	says(UINT64_MAX >> 18, "|OP N/A or LOAD or STORE or PFETCH or EXEC|LVL L1 or LFB/MAB or L2 "
	                       "or L3 or Local RAM or "
	                       "Remote RAM (1 hop) or Remote RAM (2 hops) or Remote Cache (1 hop) "
	                       "or Remote Cache (2 hops) or "
	                       "I/O or Uncached hit|SNP N/A or None or Hit or Miss or HitM or Fwd "
	                       "or Peer|TLB N/A or L1 or L2 "
	                       "or Walker or Fault hit miss|LCK N/A|BLK  N/A");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_other_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
