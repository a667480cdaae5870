// SPDX-License-Identifier: MIT
// event.c: event lists against what they must become, and against the sentence that a wrong
// one must get. sysfs and tracefs are a tree that the test makes.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "event/event.h"
#include "tree.h"

static char root[64];
static struct event_roots roots = { .sysfs = root, .tracefs = root };

static void put(const char *path, const char *text)
{
	tree_put_text(root, path, text);
}

static int make_tree(void **state)
{
	strcpy(root, "/tmp/seam-event-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	put("bus/event_source/devices/cpu/type", "4\n");
	put("bus/event_source/devices/cpu/format/event", "config:0-7,32-35\n");
	put("bus/event_source/devices/cpu/format/umask", "config:8-15\n");
	put("bus/event_source/devices/cpu/format/edge", "config:18\n");
	put("bus/event_source/devices/cpu/format/ldlat", "config1:0-15\n");
	put("bus/event_source/devices/cpu/format/wide", "config2:0-63\n");
	put("bus/event_source/devices/cpu/format/broken", "config9:0-3\n");
	put("bus/event_source/devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put("bus/event_source/devices/uncore_imc_0/type", "14\n");
	put("bus/event_source/devices/uncore_imc_0/cpumask", "0,8\n");
	put("bus/event_source/devices/uncore_imc_0/format/event", "config:0-7\n");
	put("events/sched/sched_switch/id", "321\n");
	put("events/sched/sched_waking/id", "322\n");
	put("events/sched/enable", "0\n");
	put("events/irq/softirq_entry/id", "400\n");
	return 0;
}

static int remove_tree(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

struct expect {
	const char *text, *name;
	uint32_t type;
	uint64_t config;
	uint64_t flags;
	uint64_t period;
};

#define U (SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV)
#define K (SEAM_ATTR_EXCLUDE_USER | SEAM_ATTR_EXCLUDE_HV)
#define P(n) ((uint64_t)(n) << SEAM_ATTR_PRECISE_IP_SHIFT)

static const struct expect expects[] = {
	{ "cpu-clock", "cpu-clock", 1, 0 },
	{ "task-clock", "task-clock", 1, 1 },
	{ "page-faults", "page-faults", 1, 2 },
	{ "faults", "faults", 1, 2 },
	{ "cs", "cs", 1, 3 },
	{ "context-switches", "context-switches", 1, 3 },
	{ "migrations", "migrations", 1, 4 },
	{ "cpu-migrations", "cpu-migrations", 1, 4 },
	{ "minor-faults", "minor-faults", 1, 5 },
	{ "major-faults", "major-faults", 1, 6 },
	{ "alignment-faults", "alignment-faults", 1, 7 },
	{ "emulation-faults", "emulation-faults", 1, 8 },
	{ "dummy", "dummy", 1, 9 },
	{ "bpf-output", "bpf-output", 1, 10 },
	{ "cgroup-switches", "cgroup-switches", 1, 11 },
	{ "cycles", "cycles", 0, 0 },
	{ "cpu-cycles", "cpu-cycles", 0, 0 },
	{ "instructions:u", "instructions:u", 0, 1, U },
	{ "cache-references", "cache-references", 0, 2 },
	{ "cache-misses:k", "cache-misses:k", 0, 3, K },
	{ "branches", "branches", 0, 4 },
	{ "branch-instructions", "branch-instructions", 0, 4 },
	{ "branch-misses", "branch-misses", 0, 5 },
	{ "bus-cycles", "bus-cycles", 0, 6 },
	{ "stalled-cycles-frontend", "stalled-cycles-frontend", 0, 7 },
	{ "stalled-cycles-backend", "stalled-cycles-backend", 0, 8 },
	{ "ref-cycles", "ref-cycles", 0, 9 },
	{ "cycles:pp", "cycles:pp", 0, 0, P(2) },
	{ "cycles:uppp", "cycles:uppp", 0, 0, U | P(3) },
	{ "cycles:uk", "cycles:uk", 0, 0, SEAM_ATTR_EXCLUDE_HV },
	{ "cycles:G", "cycles:G", 0, 0, SEAM_ATTR_EXCLUDE_HOST },
	{ "cycles:HI", "cycles:HI", 0, 0, SEAM_ATTR_EXCLUDE_GUEST | SEAM_ATTR_EXCLUDE_IDLE },
	{ "cycles:GH", "cycles:GH", 0, 0, 0 },
	{ "cycles:De", "cycles:De", 0, 0, SEAM_ATTR_PINNED | SEAM_ATTR_EXCLUSIVE },
	{ "L1-dcache-loads", "L1-dcache-loads", 3, 0x00000 },
	{ "L1-dcache-load-misses", "L1-dcache-load-misses", 3, 0x10000 },
	{ "L1-dcache-stores", "L1-dcache-stores", 3, 0x00100 },
	{ "L1-icache-load-misses", "L1-icache-load-misses", 3, 0x10001 },
	{ "LLC-store-misses", "LLC-store-misses", 3, 0x10102 },
	{ "dTLB-prefetches", "dTLB-prefetches", 3, 0x00203 },
	{ "iTLB-load-misses", "iTLB-load-misses", 3, 0x10004 },
	{ "branch-loads", "branch-loads", 3, 0x00005 },
	{ "node-load-misses", "node-load-misses", 3, 0x10006 },
	{ "r1a8", "r1a8", 4, 0x1a8 },
	{ "rFF:u", "rFF:u", 4, 0xff, U },
	{ "cpu-clock/freq=2000/", "cpu-clock/freq=2000/", 1, 0, SEAM_ATTR_FREQ, 2000 },
	{ "cpu-clock/period=500,name=tick/u", "tick", 1, 0, U, 500 },
	{ "cpu/event=0x3c,umask=0x1/", "cpu/event=0x3c,umask=0x1/", 4, 0x13c },
	{ "cpu/event=0xabc/", "cpu/event=0xabc/", 4, 0xa000000bc },
	{ "cpu/event=1,edge/k", "cpu/event=1,edge/k", 4, 0x40001, K },
	{ "cpu/config=0x1234,period=7/", "cpu/config=0x1234,period=7/", 4, 0x1234, 0, 7 },
	{ "cpu/mem-loads/", "cpu/mem-loads/", 4, 0x1cd },
	{ "uncore_imc_0/event=4/", "uncore_imc_0/event=4/", 14, 4 },
	{ "sched:sched_switch", "sched:sched_switch", 2, 321 },
	{ "sched:sched_switch:u", "sched:sched_switch:u", 2, 321, U },
	{ "sched:sched_waking/period=3/", "sched:sched_waking/period=3/", 2, 322, 0, 3 },
};

static void parses_each(void **state)
{
	for (size_t i = 0; i < sizeof(expects) / sizeof(expects[0]); i++) {
		const struct expect *x = &expects[i];
		struct event_list list = { 0 };
		struct seam_error err = { 0 };

		if (event_list_parse(&list, x->text, &roots, &err) < 0)
			fail_msg("%s: %s", x->text, err.text);
		if (list.n != 1 || strcmp(list.at[0].name, x->name) ||
		    list.at[0].attr.type != x->type || list.at[0].attr.config != x->config ||
		    list.at[0].attr.flags != x->flags || list.at[0].attr.sample_period != x->period)
			fail_msg(
			        "%s: %zu events, '%s' type %u config %#llx flags %#llx period %llu",
			        x->text, list.n, list.at[0].name, list.at[0].attr.type,
			        (unsigned long long)list.at[0].attr.config,
			        (unsigned long long)list.at[0].attr.flags,
			        (unsigned long long)list.at[0].attr.sample_period);
		event_list_free(&list);
	}
}

static const struct {
	const char *text;
	int error;
	const char *says;
} wrongs[] = {
	{ "", -EINVAL, "name is missing" },
	{ "cycles,", -EINVAL, "name is missing" },
	{ ",cycles", -EINVAL, "name is missing" },
	{ "cylces", -ENOENT, "unknown event 'cylces'; did you mean 'cycles'?" },
	{ "pagefaults", -ENOENT, "did you mean 'page-faults'?" },
	{ "L1-dcache-load-mises", -ENOENT, "did you mean 'L1-dcache-load-misses'?" },
	{ "quite-another-thing-altogether", -ENOENT, "known are software" },
	{ "iTLB-stores", -ENOENT, "unknown event" },
	{ "cycles:x", -EINVAL, "unknown modifier 'x'" },
	{ "cycles:pppp", -EINVAL, "at most three" },
	{ "cycles/freq=0/", -EINVAL, "above 0" },
	{ "cycles/freq=x/", -EINVAL, "above 0" },
	{ "cycles/freq=1,period=1/", -EINVAL, "either freq= or period=" },
	{ "cycles/freq=1", -EINVAL, "second '/'" },
	{ "cycles/colour=red/", -EINVAL, "unknown term 'colour'" },
	{ "cycles/call-graph=lbr/", -EINVAL, "no, fp, fp,defer or dwarf" },
	{ "cycles/max-stack=70000/", -EINVAL, "1 to 65535" },
	{ "cpu/nothing=1/", -ENOENT, "neither an event nor a format" },
	{ "cpu/umask=0x100/", -EINVAL, "too large for the field" },
	{ "cpu/umask=big/", -EINVAL, "not a number" },
	{ "cpu/broken=1/", -EINVAL, "not understood" },
	{ "../x/event=1/", -ENOENT, "unknown event" },
	{ "cpu/../type/", -ENOENT, "neither" },
	{ "gpu/event=1/", -ENOENT, "unknown event 'gpu'" },
	{ "sched:sched_swich", -ENOENT, "unknown tracepoint 'sched:sched_swich'" },
	{ "sched:no_*", -ENOENT, "unknown tracepoint" },
	{ "..:x", -EINVAL, "not a tracepoint's name" },
	{ "{cycles", -EINVAL, "'}' is missing" },
	{ "{cycles,{cycles}}", -EINVAL, "'}' is missing" },
	{ "{}", -EINVAL, "name is missing" },
	{ "{cycles}x", -EINVAL, "comma is missing" },
	{ "r10000000000000000", -ENOENT, "unknown event" },
};

static void refuses_with_a_sentence(void **state)
{
	struct event_list list = { 0 };
	struct seam_error err;

	assert_int_equal(event_list_parse(&list, "cpu-clock", &roots, NULL), 0);
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		int r;

		memset(&err, 0, sizeof(err));
		r = event_list_parse(&list, wrongs[i].text, &roots, &err);
		if (r != wrongs[i].error || !strstr(err.text, wrongs[i].says))
			fail_msg("'%s': %d, '%s'", wrongs[i].text, r, err.text);
		// What stood in the list before stands there still, and nothing else.
		assert_int_equal(list.n, 1);
	}
	event_list_free(&list);
}

static void groups_share_a_leader(void **state)
{
	struct event_list list = { 0 };

	assert_int_equal(event_list_parse(&list,
	                                  "faults,{cpu-clock,cs:u,cpu/event=1,umask=2/}:Sk,cycles",
	                                  &roots, NULL),
	                 0);
	assert_int_equal(list.n, 5);
	assert_int_equal(list.at[0].leader, 0);
	assert_int_equal(list.at[1].leader, 1);
	assert_int_equal(list.at[2].leader, 1);
	assert_int_equal(list.at[3].leader, 1);
	assert_int_equal(list.at[4].leader, 4);
	assert_false(list.at[0].sample_read);
	assert_true(list.at[1].sample_read && list.at[2].sample_read && list.at[3].sample_read);
	assert_int_equal(list.at[1].attr.flags, K);
	assert_int_equal(list.at[3].attr.config, 0x201);
	assert_int_equal(list.at[4].attr.flags, 0);
	event_list_free(&list);
}

static void wildcards_bring_each(void **state)
{
	struct event_list list = { 0 };

	assert_int_equal(event_list_parse(&list, "sched:sched_*:u,*:softirq_entry", &roots, NULL),
	                 0);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.at[0].name, "sched:sched_switch:u");
	assert_string_equal(list.at[1].name, "sched:sched_waking:u");
	assert_string_equal(list.at[2].name, "irq:softirq_entry");
	assert_int_equal(list.at[2].attr.config, 400);
	event_list_free(&list);
}

static void terms_reach_their_words(void **state)
{
	struct event_list list = { 0 };

	assert_int_equal(event_list_parse(&list,
	                                  "cpu/ldlat=30,wide=0xffffffffffffffff/,"
	                                  "cycles/call-graph=fp,defer,max-stack=20/,"
	                                  "cycles/call-graph='fp,defer'/,cycles/call-graph=no/,"
	                                  "uncore_imc_0//,cycles:P",
	                                  &roots, NULL),
	                 0);
	assert_int_equal(list.n, 6);
	assert_int_equal(list.at[0].attr.config1, 30);
	assert_true(list.at[0].attr.config2 == UINT64_MAX);
	assert_int_equal(list.at[1].callchain, EVENT_CALLCHAIN_DEFER);
	assert_int_equal(list.at[1].max_stack, 20);
	assert_int_equal(list.at[2].callchain, EVENT_CALLCHAIN_DEFER);
	assert_int_equal(list.at[3].callchain, EVENT_CALLCHAIN_NO);
	assert_string_equal(list.at[4].cpus, "0,8");
	assert_true(list.at[5].precise_max);
	event_list_free(&list);
}

static void every_known_event_parses(void **state)
{
	char name[64];
	const char *kind;
	size_t i = 0, n = 0;

	while (event_known(&i, name, sizeof(name), &kind)) {
		struct event_list list = { 0 };

		assert_int_equal(event_list_parse(&list, name, &roots, NULL), 0);
		event_list_free(&list);
		n++;
	}
	assert_true(n > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_each),
		cmocka_unit_test(refuses_with_a_sentence),
		cmocka_unit_test(groups_share_a_leader),
		cmocka_unit_test(wildcards_bring_each),
		cmocka_unit_test(terms_reach_their_words),
		cmocka_unit_test(every_known_event_parses),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
