// SPDX-License-Identifier: MIT
// capture_features.c: the probes and the way down, against kernels of several ages and manners that
// the test plays: what an old kernel refuses, in which order it is given up, and what is said.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "capture/event_fit.h"
#include "capture/features.h"
#include "capture/mode.h"

// A kernel: which bits it knows, what it answers otherwise.
struct played {
	uint64_t flags, sample_type, read_format;
	bool no_cloexec, no_inherit_read, no_max_stack_file, has_pmu, privileged;
	int refuses; // every open fails with it
	int defers;
	long long paranoid;
	char kallsyms[128];
	unsigned opens, closes;
};

#define NEW_FLAGS ((1ULL << 40) - 1)
#define NEW_SAMPLES ((1ULL << 25) - 1)

static int played_open(void *ctx, const struct seam_attr *attr, pid_t pid, int cpu, int group_fd,
                       unsigned long flags)
{
	struct played *k = ctx;

	if (k->refuses)
		return -k->refuses;
	if (attr->flags & ~k->flags || attr->sample_type & ~k->sample_type ||
	    attr->read_format & ~k->read_format || (flags && k->no_cloexec))
		return -EINVAL;
	if (k->no_inherit_read && attr->flags & SEAM_ATTR_INHERIT &&
	    attr->sample_type & SEAM_SAMPLE_READ)
		return -EINVAL;
	if (!k->privileged && pid == -1 && k->paranoid > 0)
		return -EACCES;
	if (!k->privileged && !(attr->flags & SEAM_ATTR_EXCLUDE_KERNEL) && k->paranoid > 1)
		return -EACCES;
	if (attr->type != SEAM_TYPE_SOFTWARE && !k->has_pmu)
		return -ENOENT;
	if (attr->type == SEAM_TYPE_SOFTWARE && attr->sample_type & SEAM_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	if (attr->flags >> SEAM_ATTR_PRECISE_IP_SHIFT & 2)
		return -EOPNOTSUPP;
	k->opens++;
	return 1000;
}

static int played_close(void *ctx, int fd)
{
	assert_int_equal(fd, 1000);
	((struct played *)ctx)->closes++;
	return 0;
}

static int played_text(void *ctx, const char *path, char *text, size_t n)
{
	struct played *k = ctx;

	if (strstr(path, "perf_event_paranoid"))
		return snprintf(text, n, "%lld", k->paranoid);
	if (strstr(path, "perf_event_max_stack") && !k->no_max_stack_file)
		return snprintf(text, n, "127");
	if (strstr(path, "cpu/online"))
		return snprintf(text, n, "0-3");
	if (strstr(path, "kallsyms"))
		return snprintf(text, n, "%s", k->kallsyms);
	return -ENOENT;
}

static int played_capable(void *ctx, int number)
{
	return ((struct played *)ctx)->privileged;
}

static int played_defers(void *ctx)
{
	return ((struct played *)ctx)->defers;
}

static struct kernel play(struct played *k)
{
	return (struct kernel){ .open = played_open,
		                .close = played_close,
		                .text = played_text,
		                .capable = played_capable,
		                .defers = played_defers,
		                .ctx = k };
}

static const struct played newest = {
	.flags = NEW_FLAGS,
	.sample_type = NEW_SAMPLES,
	.read_format = 31,
	.defers = 1,
	.privileged = true,
	.paranoid = 2,
	.has_pmu = true,
	.kallsyms = "ffffffff81000000 T _text",
};

struct lines {
	char text[65536];
};

static void keep(void *ctx, int level, const char *text)
{
	struct lines *l = ctx;
	size_t n = strlen(l->text);

	snprintf(l->text + n, sizeof(l->text) - n, "%s\n", text);
}

// All that a rich recording asks for.
static struct seam_attr rich(void)
{
	return (struct seam_attr){
		.type = SEAM_TYPE_SOFTWARE,
		.sample_period = 4000,
		.sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_CALLCHAIN |
		               SEAM_SAMPLE_READ | SEAM_SAMPLE_IDENTIFIER |
		               SEAM_SAMPLE_WEIGHT_STRUCT | SEAM_SAMPLE_CGROUP,
		.read_format = SEAM_FORMAT_ID | SEAM_FORMAT_LOST,
		.flags = SEAM_ATTR_DISABLED | SEAM_ATTR_INHERIT | SEAM_ATTR_MMAP | SEAM_ATTR_COMM |
		         SEAM_ATTR_TASK | SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_MMAP2 |
		         SEAM_ATTR_COMM_EXEC | SEAM_ATTR_USE_CLOCKID | SEAM_ATTR_KSYMBOL |
		         SEAM_ATTR_BPF_EVENT | SEAM_ATTR_CGROUP | SEAM_ATTR_BUILD_ID |
		         SEAM_ATTR_EXCLUDE_GUEST | SEAM_ATTR_DEFER_CALLCHAIN,
		.clockid = 1,
		.sample_max_stack = 64,
	};
}

static int go_down(struct played *k, struct features *f, struct seam_attr *attr, struct lines *said)
{
	struct kernel kernel = play(k);
	struct log log = { .line = keep, .ctx = said, .level = LOG_ATTRS };
	int fd;

	said->text[0] = '\0';
	features_init(f, &kernel);
	fd = features_open(f, attr, 0, -1, -1, &log);
	if (fd >= 0)
		kernel.close(kernel.ctx, fd);
	assert_int_equal(k->opens, k->closes);
	return fd;
}

// The lines "switching off ..." in the order in which they were said, joined by "; ".
static const char *steps(const struct lines *said, char *out, size_t n)
{
	const char *at = said->text;
	size_t used = 0;

	out[0] = '\0';
	while ((at = strstr(at, "switching off "))) {
		at += strlen("switching off ");
		used += (size_t)snprintf(out + used, n - used, "%s%.*s", used ? "; " : "",
		                         (int)strcspn(at, "\n"), at);
	}
	return out;
}

static void a_new_kernel_keeps_all(void **state)
{
	struct played k = newest;
	struct seam_attr attr = rich(), want = attr;
	struct features f;
	struct lines said;

	assert_int_equal(go_down(&k, &f, &attr, &said), 1000);
	want.size = 112;
	assert_memory_equal(&attr, &want, sizeof(attr));
	assert_null(strstr(said.text, "switching off"));
	assert_non_null(strstr(said.text, "  defer_callchain                  1\n"));
}

static void linux_6_18_lacks_deferral_only(void **state)
{
	struct played k = newest;
	struct seam_attr attr = rich();
	struct features f;
	struct lines said;
	char text[1024];
	const char *failed, *off;

	k.flags = SEAM_ATTR_DEFER_CALLCHAIN - 1;
	assert_int_equal(go_down(&k, &f, &attr, &said), 1000);
	assert_string_equal(steps(&said, text, sizeof(text)), "deferred callchain support");
	assert_int_equal(attr.flags, rich().flags & ~SEAM_ATTR_DEFER_CALLCHAIN);
	assert_int_equal(attr.sample_type, rich().sample_type);
	failed = strstr(said.text, "sys_perf_event_open failed, error -22\n");
	off = strstr(said.text, "switching off");
	assert_true(failed && off && failed < off);
	assert_int_equal(features_get(&f, FEATURE_DEFERS)->state, FEATURE_NO);
	assert_non_null(strstr(features_get(&f, FEATURE_DEFERS)->remedy, "6.19"));
}

static void linux_5_10_goes_newest_first(void **state)
{
	struct played k = newest;
	struct seam_attr attr = rich();
	struct features f;
	struct lines said;
	char text[1024];

	k.flags = SEAM_ATTR_BUILD_ID - 1;
	k.sample_type = SEAM_SAMPLE_DATA_PAGE_SIZE - 1;
	k.read_format = 15;
	k.no_inherit_read = true;
	assert_int_equal(go_down(&k, &f, &attr, &said), 1000);
	assert_string_equal(
	        steps(&said, text, sizeof(text)),
	        "deferred callchain support; inherit: children are not followed, as the "
	        "event reads counters; PERF_FORMAT_LOST support; weight struct support; "
	        "build_id");
	assert_int_equal(attr.sample_type,
	                 (rich().sample_type & ~SEAM_SAMPLE_WEIGHT_STRUCT) | SEAM_SAMPLE_WEIGHT);
	assert_true(attr.flags & SEAM_ATTR_CGROUP);
}

static void linux_3_10_keeps_what_it_has(void **state)
{
	struct played k = newest;
	struct seam_attr attr = rich();
	struct features f;
	struct lines said;
	char text[1024];

	k.flags = SEAM_ATTR_MMAP2 - 1;
	k.sample_type = SEAM_SAMPLE_IDENTIFIER - 1;
	k.read_format = 15;
	k.no_inherit_read = k.no_max_stack_file = k.no_cloexec = true;
	assert_int_equal(go_down(&k, &f, &attr, &said), 1000);
	assert_string_equal(
	        steps(&said, text, sizeof(text)),
	        "deferred callchain support; inherit: children are not followed, as the event "
	        "reads counters; PERF_FORMAT_LOST support; weight struct support; build_id; "
	        "cgroup; "
	        "bpf_event; ksymbol; sample_max_stack; use_clockid; comm_exec; mmap2; cloexec "
	        "flag; "
	        "sample identifier");
	// The id is still asked for, and the guests are still left out.
	assert_true(attr.sample_type & SEAM_SAMPLE_ID);
	assert_true(attr.flags & SEAM_ATTR_EXCLUDE_GUEST && attr.flags & SEAM_ATTR_SAMPLE_ID_ALL);
	assert_int_equal(attr.clockid, 0);
}

static void another_error_gives_nothing_up(void **state)
{
	static const int errors[] = { EACCES, EPERM, ENOENT, EMFILE, ESRCH, EBUSY };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct played k = newest;
		struct seam_attr attr = rich();
		struct features f;
		struct lines said;

		k.refuses = errors[i];
		assert_int_equal(go_down(&k, &f, &attr, &said), -errors[i]);
		assert_null(strstr(said.text, "switching off"));
		assert_int_equal(attr.flags, rich().flags);
	}
}

// EINVAL for a reason that is not in the table must not cost what the kernel has.
static void einval_of_its_own_gives_nothing_up(void **state)
{
	struct played k = newest;
	struct seam_attr attr = rich();
	struct features f;
	struct lines said;

	attr.read_format |= 1ULL << 20;
	assert_int_equal(go_down(&k, &f, &attr, &said), -EINVAL);
	assert_null(strstr(said.text, "switching off"));
	assert_int_equal(attr.flags, rich().flags);
}

static void accepted_bits_are_not_deferral(void **state)
{
	struct played k = newest;
	struct kernel kernel = play(&k);
	struct features f;

	k.defers = 0;
	features_init(&f, &kernel);
	assert_int_equal(features_get(&f, FEATURE_DEFER)->state, FEATURE_YES);
	assert_int_equal(features_get(&f, FEATURE_DEFERS)->state, FEATURE_NO);
	assert_non_null(strstr(features_get(&f, FEATURE_DEFERS)->reason, "was not deferred"));

	k.defers = -EPERM;
	features_init(&f, &kernel);
	assert_int_equal(features_get(&f, FEATURE_DEFERS)->state, FEATURE_UNKNOWN);
}

static void a_user_without_privileges_is_told(void **state)
{
	struct played k = newest;
	struct kernel kernel = play(&k);
	struct features f;

	k.privileged = false;
	strcpy(k.kallsyms, "0000000000000000 T _text\n0000000000000000 T _stext");
	features_init(&f, &kernel);
	features_probe_all(&f);
	assert_true(features_can_record(&f));
	assert_int_equal(f.at[FEATURE_KERNEL].state, FEATURE_NO);
	assert_non_null(strstr(f.at[FEATURE_KERNEL].reason, "kernel.perf_event_paranoid is 2"));
	assert_non_null(strstr(f.at[FEATURE_KERNEL].remedy, "perf_event_paranoid=1"));
	assert_int_equal(f.at[FEATURE_SYSTEM_WIDE].state, FEATURE_NO);
	assert_non_null(strstr(f.at[FEATURE_SYSTEM_WIDE].remedy, "perf_event_paranoid=0"));
	assert_int_equal(f.at[FEATURE_KALLSYMS].state, FEATURE_NO);
	assert_int_equal(f.at[FEATURE_BPF].state, FEATURE_NO);
	// Every "no" says why.
	for (int i = 0; i < FEATURES; i++)
		if (f.at[i].state != FEATURE_YES && !f.at[i].reason[0])
			fail_msg("%s: no reason", features_name((enum feature)i));
}

static void seccomp_is_not_called_paranoia(void **state)
{
	struct played k = newest;
	struct kernel kernel = play(&k);
	struct features f;

	k.refuses = EPERM;
	features_init(&f, &kernel);
	features_probe_all(&f);
	assert_false(features_can_record(&f));
	assert_non_null(strstr(f.at[FEATURE_OPEN].reason, "seccomp"));
	// What could not be asked is unknown, not missing: nothing would be switched off.
	assert_int_equal(f.at[FEATURE_DEFER].state, FEATURE_UNKNOWN);
	assert_int_equal(f.at[FEATURE_DEFERS].state, FEATURE_NO);

	k.refuses = ENOSYS;
	features_init(&f, &kernel);
	assert_non_null(strstr(features_get(&f, FEATURE_OPEN)->reason, "no perf_event_open"));
}

static void the_pmu_is_asked(void **state)
{
	struct played k = newest;
	struct kernel kernel = play(&k);
	struct features f;

	features_init(&f, &kernel);
	assert_int_equal(features_get(&f, FEATURE_HARDWARE)->state, FEATURE_YES);
	assert_int_equal(features_get(&f, FEATURE_PRECISE)->value, 1);
	k.has_pmu = false;
	features_init(&f, &kernel);
	assert_non_null(strstr(features_get(&f, FEATURE_HARDWARE)->reason, "no PMU"));
}

// Names and leaders of a list, "a>0 b>0": what is left of it on a machine with or without PMU.
static void fits(bool has_pmu, const char *events, const char *left, size_t said)
{
	struct played k = newest;
	struct kernel kernel = play(&k);
	struct lines lines = { "" };
	struct log log = { .line = keep, .ctx = &lines };
	struct event_list list = { 0 };
	struct features f;
	char text[400] = "";

	k.has_pmu = has_pmu;
	features_init(&f, &kernel);
	assert_int_equal(event_list_parse(&list, events, NULL, NULL), 0);
	assert_int_equal(event_list_fit(&list, &f, &log), said);
	for (size_t i = 0; i < list.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s>%u", i ? " " : "",
		         list.at[i].name, list.at[i].leader);
	assert_string_equal(text, left);
	for (const char *at = lines.text; said; said--, at = strchr(at, '\n') + 1)
		assert_non_null(strstr(at, "is left out: this machine's PMU does not have it\n"));
	event_list_free(&list);
}

static void what_no_pmu_has_is_left_out(void **state)
{
	fits(true, "cycles,instructions,cpu-clock", "cycles>0 instructions>1 cpu-clock>2", 0);
	fits(false, "cycles,instructions,cpu-clock", "cycles>0 cpu-clock>1", 1);
	fits(false, "cpu-clock:u,r1a8:k,L1-dcache-loads,cycles:P", "cpu-clock:u>0 cycles:P>1", 2);
	fits(false, "cs,{instructions,cycles,branches,faults},cpu-clock",
	     "cs>0 cycles>1 faults>1 cpu-clock>3", 2);
	// One must be left; then the session says why it cannot be opened.
	fits(false, "{instructions,branches}", "instructions>0 branches>0", 0);
}

static void sizes_are_the_least_that_hold(void **state)
{
	struct seam_attr attr = { 0 };

	assert_int_equal(features_attr_size(&attr), 112);
	attr.aux_sample_size = 1;
	assert_int_equal(features_attr_size(&attr), 120);
	attr.sig_data = 1;
	assert_int_equal(features_attr_size(&attr), 128);
	attr.config3 = 1;
	assert_int_equal(features_attr_size(&attr), 136);
	attr.config4 = 1;
	assert_int_equal(features_attr_size(&attr), 144);
}

static void cpu_lists(void **state)
{
	static const struct {
		const char *text;
		int n, last;
	} good[] = { { "0", 1, 0 }, { "0-3", 4, 3 }, { "8,0-3,2", 5, 8 }, { "65535", 1, 65535 } };
	static const char *const bad[] = { "",   ",",  "1,",    "a",   "3-1",
		                           "1-", "-1", "65536", "1 2", "0-3x" };
	int *cpus;

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(kernel_cpu_list(good[i].text, &cpus), good[i].n);
		assert_int_equal(cpus[good[i].n - 1], good[i].last);
		free(cpus);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (kernel_cpu_list(bad[i], &cpus) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
}

static void the_mode_is_one_line(void **state)
{
	struct mode m = { .stack = MODE_FP, .reason = MODE_NO_KERNEL };
	char text[512];

	assert_string_equal(mode_line(&m, text, sizeof(text)),
	                    "user stacks: frame pointers, at once: this kernel does not defer "
	                    "(needs Linux 6.19, x86_64)");
	m = (struct mode){ .stack = MODE_FP_DEFER, .per_task = true };
	assert_string_equal(mode_line(&m, text, sizeof(text)),
	                    "user stacks: frame pointers, deferred by the kernel");
	assert_string_equal(mode_option(&m), "fp,defer");
	m.deferred = MODE_DEFERRED_TASK;
	assert_non_null(strstr(mode_line(&m, text, sizeof(text)), "lost when it exits"));
	assert_null(strchr(text, '\n'));
	/* What would name functions of Python is said behind any way. */
	for (int stack = MODE_FP; stack <= MODE_STACK; stack++) {
		m = (struct mode){ .stack = (enum mode_stack)stack,
			           .runtimes = MODE_RUNTIMES_NO_BPF };
		assert_non_null(strstr(mode_line(&m, text, sizeof(text)), "; no functions of"));
		assert_non_null(strstr(text, "PYTHONPERFSUPPORT=1"));
		assert_non_null(strstr(text, "CAP_BPF"));
		assert_null(strchr(text, '\n'));
		m.runtimes = MODE_RUNTIMES_OTHER;
		assert_non_null(strstr(mode_line(&m, text, sizeof(text)), "dwarf,defer has them"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_kernel_keeps_all),
		cmocka_unit_test(linux_6_18_lacks_deferral_only),
		cmocka_unit_test(linux_5_10_goes_newest_first),
		cmocka_unit_test(linux_3_10_keeps_what_it_has),
		cmocka_unit_test(another_error_gives_nothing_up),
		cmocka_unit_test(einval_of_its_own_gives_nothing_up),
		cmocka_unit_test(accepted_bits_are_not_deferral),
		cmocka_unit_test(a_user_without_privileges_is_told),
		cmocka_unit_test(seccomp_is_not_called_paranoia),
		cmocka_unit_test(the_pmu_is_asked),
		cmocka_unit_test(what_no_pmu_has_is_left_out),
		cmocka_unit_test(sizes_are_the_least_that_hold),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(the_mode_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
