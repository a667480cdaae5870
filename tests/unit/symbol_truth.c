// SPDX-License-Identifier: MIT
// symbol_truth.c: names of thousands of addresses of this machine's own programs, against nm,
// objdump and c++filt. Needs binutils; skips without.
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "symbol/symbol.h"

#define BASE 0x7f1200000000ULL /* where the tests pretend that objects are loaded */

struct truth {
	uint64_t start, size;
	char name[2048];
};

struct truths {
	struct truth *all;
	size_t n, capacity;
};

static struct truth *truths_add(struct truths *t)
{
	if (t->n == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 4096;
		t->all = realloc(t->all, t->capacity * sizeof(*t->all));
		assert_non_null(t->all);
	}
	return &t->all[t->n++];
}

static int by_start(const void *a, const void *b)
{
	const struct truth *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_nm(struct truths *t, const char *options, const char *path)
{
	char command[4096], line[4096], type;
	unsigned long long start, size;
	FILE *f;

	snprintf(command, sizeof(command), "nm %s -S --defined-only '%s' 2>/dev/null", options,
	         path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct truth one;

		if (sscanf(line, "%llx %llx %c %2047s", &start, &size, &type, one.name) != 4 ||
		    !strchr("tTwWi", type) || !size ||
		    start < 4096) /* an offset in a thread's data */
			continue;
		one.start = start;
		one.size = size;
		one.name[strcspn(one.name, "@")] = 0;
		*truths_add(t) = one;
	}
	pclose(f);
	qsort(t->all, t->n, sizeof(*t->all), by_start);
}

/* The executable mapping that the loader would make of an object. */
static struct symbol_place place_of(const char *path)
{
	struct image *image;
	struct symbol_place place = { 0 };

	assert_int_equal(image_open(&image, path, NULL), 0);
	for (size_t i = 0; i < image_segments(image); i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (!s->executable)
			continue;
		place.pgoff = s->offset & ~0xfffULL;
		place.start = BASE + (s->vaddr & ~0xfffULL);
		place.end = BASE + s->vaddr + s->memory_size;
		break;
	}
	image_close(image);
	assert_true(place.end > place.start);
	return place;
}

/* One name of nm's at this start. */
static bool is_named(const struct truths *t, uint64_t start, const char *name)
{
	struct truth key = { .start = start };
	const struct truth *hit = bsearch(&key, t->all, t->n, sizeof(key), by_start);

	if (!hit)
		return false;
	while (hit > t->all && hit[-1].start == start)
		hit--;
	for (; hit < t->all + t->n && hit->start == start; hit++) {
		if (!strcmp(hit->name, name))
			return true;
	}
	return false;
}

static struct symbol_object *object_of(struct symbol_cache *cache, const char *path)
{
	struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .path = path };
	struct symbol_object *object;

	assert_int_equal(symbol_object(cache, &key, &object), 0);
	return object;
}

static void compare(const char *path, const char *nm_options, size_t least)
{
	struct symbol_opts opts = { .sz = sizeof(opts),
		                    .search = { .debug_dirs = (const char *const[]){ NULL } } };
	struct symbol_place place;
	struct symbol_cache *cache;
	struct truths t = { 0 };
	struct timespec from, to;
	struct symbol s;
	size_t asked = 0;

	if (access(path, R_OK) < 0) {
		print_message("%s: not here\n", path);
		return;
	}
	read_nm(&t, nm_options, path);
	place = place_of(path);
	assert_int_equal(symbol_new(&cache, &opts), 0);
	struct symbol_object *object = object_of(cache, path);

	clock_gettime(CLOCK_MONOTONIC, &from);
	symbol_resolve(object, &place, place.start, &s);
	clock_gettime(CLOCK_MONOTONIC, &to);
	for (size_t i = 0; i < t.n; i += 1 + t.n / 5000) {
		const struct truth *one = &t.all[i];
		const uint64_t at[] = { one->start, one->start + one->size / 2,
			                one->start + one->size - 1 };

		for (size_t k = 0; k < 3; k++) {
			if (symbol_resolve(object, &place, BASE + at[k], &s) != 1)
				fail_msg("%s: 0x%llx: %s, nm says %s", path,
				         (unsigned long long)at[k], symbol_state_name(s.state),
				         one->name);
			assert_int_equal(s.addr, at[k]);
			assert_true(s.start <= at[k] && at[k] - s.start < s.size);
			/* another symbol only where one begins later and still holds the address */
			if (s.start < one->start || !is_named(&t, s.start, s.raw))
				fail_msg("%s: 0x%llx: %s+0x%llx, nm says %s", path,
				         (unsigned long long)at[k], s.raw,
				         (unsigned long long)(at[k] - s.start), one->name);
			asked++;
		}
	}
	print_message("%s: %zu symbols loaded in %.1f ms, %zu addresses as nm says\n", path,
	              symbol_object_count(object),
	              (double)(to.tv_sec - from.tv_sec) * 1e3 +
	                      (double)(to.tv_nsec - from.tv_nsec) / 1e6,
	              asked);
	assert_true(asked >= least);
	symbol_free(cache);
	free(t.all);
}

static char self[4000]; /* this program, which has a .symtab */

static void test_nm(void **state)
{
	compare(self, "", 100);
	compare("/usr/bin/python3", "-D", 1000);
	compare("/usr/bin/python3.11", "-D", 1000);
	compare("/lib/x86_64-linux-gnu/libc.so.6", "-D", 1000);
	compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "-D", 1000);
	compare("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "-D", 10);
	compare("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "-D", 1000);
}

/* objdump decodes the PLT on its own: "0000000000001030 <free@plt>:". */
static void test_plt(void **state)
{
	char command[4200];
	const char *path = "/usr/bin/python3.11";
	struct symbol_opts opts = { .sz = sizeof(opts) };
	struct symbol_place place;
	struct symbol_cache *cache;
	char line[4096], name[2048];
	unsigned long long start;
	struct symbol s;
	size_t asked = 0;
	FILE *f;

	if (access(path, R_OK) < 0)
		path = self;
	place = place_of(path);
	snprintf(command, sizeof(command),
	         "objdump -d -j .plt -j .plt.sec -j .plt.got --no-show-raw-insn '%s' 2>/dev/null",
	         path);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(symbol_new(&cache, &opts), 0);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx <%2047[^>]>:", &start, name) != 2 || !strstr(name, "@plt") ||
		    strstr(name, "-0x"))
			continue;
		assert_int_equal(symbol_resolve(object_of(cache, path), &place, BASE + start + 6,
		                                &s),
		                 1);
		assert_string_equal(s.raw, name);
		asked++;
	}
	pclose(f);
	symbol_free(cache);
	print_message("%s: %zu PLT entries as objdump says\n", path, asked);
	assert_true(asked > 0);
}

/* c++filt -i: std::string, not what it stands for; -p: without parameters. */
static void test_cxxfilt(void **state)
{
	const char *path = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
	char command[256], mangled[4096], plain[65536], want[65536];
	FILE *names, *raw;
	size_t asked = 0;

	if (access(path, R_OK) < 0)
		skip();
	for (int parameters = 0; parameters < 2; parameters++) {
		snprintf(command, sizeof(command),
		         "nm -D --defined-only '%s' | sed 's/.* //; s/@.*//' | grep ^_Z%s", path,
		         parameters ? " | c++filt -i" : " | c++filt -i -p");
		names = popen(command, "r");
		*strrchr(command, '|') = 0;
		raw = popen(command, "r");
		while (fgets(mangled, sizeof(mangled), raw) && fgets(want, sizeof(want), names)) {
			char *got;

			mangled[strcspn(mangled, "\n")] = 0;
			want[strcspn(want, "\n")] = 0;
			got = symbol_demangle(mangled, parameters);
			snprintf(plain, sizeof(plain), "%s", got ? got : mangled);
			assert_string_equal(plain, want);
			free(got);
			asked++;
		}
		pclose(raw);
		pclose(names);
	}
	print_message("%zu names as c++filt says\n", asked);
	assert_true(asked > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nm),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_cxxfilt),
	};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	if (system("nm --version >/dev/null 2>&1 && objdump --version >/dev/null 2>&1 && "
	           "c++filt --version >/dev/null 2>&1")) {
		printf("binutils are not here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
