// SPDX-License-Identifier: MIT
// Unit tests of base/labels.h and base/when.h: sets, filters, control groups, times.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/labels.h"
#include "base/when.h"

static void test_set(void **state)
{
	struct labels l = { 0 }, copy = { 0 };
	struct buf out = { 0 };
	char key[16], longest[2 * LABELS_VALUE_MAX];
	int r = 0;

	(void)state;
	assert_int_equal(labels_set(&l, "service", "checkout"), 0);
	assert_int_equal(labels_set(&l, "host", "web-7"), 0);
	assert_int_equal(labels_set(&l, "zone", "a"), 0);
	assert_int_equal(labels_set(&l, "host", "web-19 is longer"), 0);
	assert_int_equal(labels_set(&l, "zone", ""), 0);
	assert_null(labels_get(&l, "zone"));
	assert_string_equal(labels_get(&l, "host"), "web-19 is longer");
	assert_memory_equal(l.bytes.bytes, "host\0web-19 is longer\0service\0checkout", l.bytes.n);
	assert_int_equal(labels_take(&copy, l.bytes.bytes, l.bytes.n), 0);
	assert_int_equal(labels_order(&l, &copy), 0);
	labels_values(&l, "service,zone,host", &out);
	assert_string_equal(buf_text(&out), "checkout, -, web-19 is longer");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(labels_set(&l, "host", longest), 0);
	assert_int_equal(strlen(labels_get(&l, "host")), LABELS_VALUE_MAX);
	for (unsigned i = 0; i < 2 * LABELS_MAX && r >= 0; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		r = labels_set(&l, key, "v");
	}
	assert_int_equal(r, -E2BIG);
	labels_free(&l);
	labels_free(&copy);
	buf_free(&out);
}

static void test_take_refuses(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} bad[] = { { "a", 1 },     { "a\0b", 3 },         { "a\0", 2 },
		    { "a\0\0", 3 }, { "b\0x\0a\0y\0", 8 }, { "a\0x\0a\0y\0", 8 },
		    { "\0x\0", 3 } };
	struct labels l = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(labels_take(&l, bad[i].bytes, bad[i].n), -EBADMSG);
	assert_int_equal(labels_take(&l, NULL, 0), 0);
	labels_free(&l);
}

static bool matches(const struct labels *l, const char *where)
{
	struct labels_filter f = { 0 };
	size_t at;
	bool yes;

	assert_int_equal(labels_filter_parse(&f, where, &at), 0);
	yes = labels_match(&f, l);
	labels_filter_free(&f);
	return yes;
}

static void test_filter(void **state)
{
	static const char *const bad[] = { "service", "=x", "a=", "a=b,,c=d", ",a=b", "a=b,c" };
	struct labels_filter f = { 0 };
	struct labels l = { 0 };
	size_t at;

	(void)state;
	labels_set(&l, "service", "a,b=c\\");
	labels_set(&l, "host", "web-7");
	assert_true(matches(&l, "host=web-7"));
	assert_true(matches(&l, "host=web-1,host=web-7"));
	assert_false(matches(&l, "host=web-7,service=x"));
	assert_false(matches(&l, "zone=a"));
	assert_true(matches(&l, "host=web-7,service=a\\,b=c\\\\"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(labels_filter_parse(&f, bad[i], &at), -EINVAL);
		labels_filter_free(&f);
	}
	labels_free(&l);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "11111111-2222-3333-4444-55555555abcd"

static void test_cgroup(void **state)
{
	static const struct {
		const char *path, *unit, *container, *pod;
	} cases[] = {
		{ "/system.slice/nginx.service", "nginx.service", NULL, NULL },
		{ "/user.slice/user-0.slice/session-1.scope", "session-1.scope", NULL, NULL },
		{ "/docker/" ID, NULL, "0123456789ab", NULL },
		{ "/system.slice/docker-" ID ".scope", "docker-" ID ".scope", "0123456789ab",
		  NULL },
		{ "/kubepods/burstable/pod" POD "/" ID, NULL, "0123456789ab", POD },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod11111111_2222_3333_4444_55555555abcd.slice/"
		  "cri-containerd-" ID ".scope",
		  "cri-containerd-" ID ".scope", "0123456789ab", POD },
		{ "/docker/x" ID, NULL, NULL, NULL },
		{ "/", NULL, NULL, NULL },
		{ "", NULL, NULL, NULL },
		{ "pod", NULL, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct labels l = { 0 };
		const char *keys[] = { "unit", "container", "pod" };
		const char *wanted[] = { cases[i].unit, cases[i].container, cases[i].pod };

		assert_int_equal(labels_set_cgroup(&l, cases[i].path), 0);
		for (size_t k = 0; k < 3; k++) {
			const char *got = labels_get(&l, keys[k]);

			if (wanted[k])
				assert_string_equal(got ? got : "", wanted[k]);
			else
				assert_null(got);
		}
		labels_free(&l);
	}
}

static void test_when(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds;
	} good[] = {
		{ "now", 1795000000 },
		{ "-1h", 1795000000 - 3600 },
		{ "-1h30m", 1795000000 - 5400 },
		{ "-90", 1795000000 - 90 },
		{ "-2w", 1795000000 - 14 * 86400 },
		{ "-9999w", 0 },
		{ "@17", 17 },
		{ "1970-01-01", 0 },
		{ "2026-11-20T14:02Z", 1795183320 },
		{ "2026-11-20T14:02:05Z", 1795183325 },
		{ "2026-11-20T14:02+01:00", 1795183320 - 3600 },
		{ "2026-11-20T14:02-0230", 1795183320 + 9000 },
		{ "2026-11-20 14:02", 1795183320 },
		{ "2024-02-29", 1709164800 },
		/* 1795000000 is 2026-11-18 11:06:40. */
		{ "11:06", 1794999960 },
		{ "11:06:41", 1795000001 - 86400 },
		{ "23:59", 1795046340 - 86400 },
	};
	static const char *const bad[] = { "",
		                           "later",
		                           "-",
		                           "-1y",
		                           "1h",
		                           "25:00",
		                           "12:60",
		                           "2026-02-29",
		                           "12",
		                           "2026-13-01",
		                           "2026-11-20T",
		                           "2026-11-20T14:02X",
		                           "@",
		                           "2026-11-20T1402",
		                           "14:02Zx",
		                           "-h",
		                           "@1x",
		                           "2026",
		                           "2026-11-20Z1" };
	uint64_t got, ns;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(when_parse(good[i].text, 1795000000000000000, &got), 0);
		assert_int_equal(got / 1000000000, good[i].seconds);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(when_parse(bad[i], 1795000000000000000, &got), -EINVAL);
	assert_int_equal(when_parse_duration("1h30m", &ns), 0);
	assert_int_equal(ns / 1000000000, 5400);
	assert_int_equal(when_parse_duration("10", &ns), 0);
	assert_int_equal(ns / 1000000000, 10);
	assert_int_equal(when_parse_duration("1s50ms", &ns), 0);
	assert_int_equal(ns, 1050000000);
	assert_int_equal(when_parse_duration("0", &ns), 0);
	assert_int_equal(when_parse_duration("999999999w", &ns), -EINVAL);
	assert_int_equal(when_parse_duration("1h30", &ns), -EINVAL);
}

/* A value of the set itself, which moves, and more room than there was. */
static void a_value_of_its_own(void **state)
{
	struct labels l = { 0 };
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(labels_set(&l, "m", text), 0);
	assert_int_equal(labels_set(&l, "a", labels_get(&l, "m")), 0);
	assert_int_equal(labels_set(&l, "z", labels_get(&l, "m")), 0);
	for (const char *key = "amz"; *key; key++)
		assert_string_equal(labels_get(&l, (char[]){ *key, 0 }), text);
	labels_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_of_its_own), cmocka_unit_test(test_set),
		cmocka_unit_test(test_take_refuses),  cmocka_unit_test(test_filter),
		cmocka_unit_test(test_cgroup),        cmocka_unit_test(test_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
