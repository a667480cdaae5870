// SPDX-License-Identifier: MIT
// symbol.c: names of this process's own code, of a kernel by a list of its symbols, of JIT code by
// a perf map; and that nothing is named by a file that is not the recorded one.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbol.h"
#include "tree.h"

static char dir[64];

static struct symbol_object *object_of(struct symbol_cache *cache, enum symbol_kind kind,
                                       const char *path, uint32_t pid)
{
	struct symbol_key key = { .kind = kind, .path = path, .pid = pid };
	struct symbol_object *object, *again;

	assert_int_equal(symbol_object(cache, &key, &object), 0);
	assert_int_equal(symbol_object(cache, &key, &again), 0);
	assert_ptr_equal(object, again);
	return object;
}

static void check(struct symbol_object *object, const struct symbol_place *place, uint64_t addr,
                  const char *name, uint64_t offset)
{
	struct symbol s;
	int r = symbol_resolve(object, place, addr, &s);

	if (!name) {
		assert_int_equal(r, 0);
		assert_null(s.name);
		assert_int_equal(s.id, SYMBOL_NO_ID);
		return;
	}
	assert_int_equal(r, 1);
	assert_string_equal(s.name, name);
	assert_int_equal(s.addr - s.start, offset);
}

/* Where an address of this process is mapped, and from what. */
static struct symbol_place own_place(const void *addr, char path[512])
{
	struct symbol_place place = { 0 };
	unsigned long long start, end, pgoff;
	char line[1024];
	FILE *f = fopen("/proc/self/maps", "r");

	assert_non_null(f);
	path[0] = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %511s", &start, &end, &pgoff, path) <
		    3)
			continue;
		if ((uintptr_t)addr >= start && (uintptr_t)addr < end) {
			place = (struct symbol_place){ start, end, pgoff };
			break;
		}
	}
	fclose(f);
	assert_true(place.end > 0);
	return place;
}

static void test_own_code(void **state)
{
	struct symbol_cache *cache;
	char path[512];
	struct symbol_place place = own_place((void *)(uintptr_t)test_own_code, path);
	struct symbol_object *object;

	assert_int_equal(symbol_new(&cache, NULL), 0);
	object = object_of(cache, SYMBOL_KIND_FILE, path, 0);
	assert_int_equal(symbol_object_count(object), 0); /* not opened yet */
	check(object, &place, (uintptr_t)test_own_code + 3, "test_own_code", 3);
	check(object, &place, (uintptr_t)own_place, "own_place", 0);
	assert_int_equal(symbol_object_state(object), SYMBOL_NAMED);
	assert_string_equal(symbol_object_reason(object), "");
	assert_string_equal(symbol_object_name(object), path);
	assert_string_equal(symbol_object_short_name(object), strrchr(path, '/') + 1);
	assert_int_equal(symbol_objects(cache), 1);
	assert_ptr_equal(symbol_object_at(cache, 0), object);
	assert_null(symbol_object_at(cache, 1));
	symbol_free(cache);
	symbol_free(NULL);
}

/* The dynamic loader knows its functions' names, too. */
static void test_own_libc(void **state)
{
	static const char *const names[] = { "malloc", "qsort", "printf", "getenv", "fopen" };
	struct symbol_cache *cache;
	char path[512];

	symbol_new(&cache, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *libc = dlopen("libc.so.6", RTLD_NOW), *function = dlsym(libc, names[i]);
		struct symbol_place place = own_place(function, path);

		check(object_of(cache, SYMBOL_KIND_FILE, path, 0), &place, (uintptr_t)function,
		      names[i], 0);
		dlclose(libc);
	}
	symbol_free(cache);
}

static void test_wrong_file(void **state)
{
	struct symbol_opts opts = { .sz = sizeof(opts), .foreign = true };
	struct symbol_place place = { 0x1000, 0x9000, 0x1000 };
	struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .path = "/proc/self/exe" };
	struct symbol_object *object;
	struct symbol_cache *cache;
	struct symbol s;

	symbol_new(&cache, NULL);
	key.build_id.size = 20;
	key.build_id.bytes[0] = 0x77;
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, 0x2000, &s), 0);
	assert_int_equal(s.state, SYMBOL_OTHER_BUILD_ID);
	assert_int_equal(symbol_object_state(object), SYMBOL_OTHER_BUILD_ID);
	assert_non_null(strstr(symbol_object_reason(object), "7700000000"));
	object = object_of(cache, SYMBOL_KIND_FILE, "/not/there", 0);
	assert_int_equal(symbol_resolve(object, &place, 0x2000, &s), 0);
	assert_int_equal(s.state, SYMBOL_NO_FILE);
	assert_non_null(strstr(symbol_object_reason(object), "/not/there"));
	object = object_of(cache, SYMBOL_KIND_STACK, "[stack]", 0);
	symbol_resolve(object, &place, 0x2000, &s);
	assert_int_equal(s.state, SYMBOL_NOT_CODE);
	symbol_free(cache);
	/* made elsewhere and without a build-id: this machine's file of that name proves nothing */
	symbol_new(&cache, &opts);
	object = object_of(cache, SYMBOL_KIND_FILE, "/proc/self/exe", 0);
	symbol_resolve(object, &place, 0x2000, &s);
	assert_int_equal(s.state, SYMBOL_NO_FILE);
	symbol_free(cache);
}

static void test_perf_map(void **state)
{
	struct symbol_opts opts = { .sz = sizeof(opts), .map_dir = dir };
	struct symbol_place place = { 0x1000, 0x9000, 0 };
	struct symbol_object *object, *linked;
	struct symbol_cache *cache;
	char command[512];

	tree_put_text(dir, "perf-4000000001.map",
	              "1000 100 first one\n"
	              "0x1200 0x40 _ZN1a1bEv\n"
	              "nonsense\n"
	              "1300 0 empty\n"
	              "ffffffffffffff00 200 wraps\n"
	              "10000000000000000 1 too long\n"
	              "1400 10\n"
	              "\n"
	              "1040 20 compiled again\n"
	              "1500 10 last");
	snprintf(command, sizeof(command), "ln -s perf-4000000001.map %s/perf-4000000002.map", dir);
	assert_int_equal(system(command), 0);
	symbol_new(&cache, &opts);
	object = object_of(cache, SYMBOL_KIND_ANON, "//anon", 4000000001u);
	check(object, &place, 0x1000, "first one", 0);
	check(object, &place, 0x1041, "compiled again", 1);
	check(object, &place, 0x1060, "first one", 0x60);
	check(object, &place, 0x1100, NULL, 0);
	check(object, &place, 0x123f, "a::b", 0x3f);
	check(object, &place, 0x1300, NULL, 0);
	check(object, &place, 0x150f, "last", 15);
	assert_int_equal(symbol_object_bad_lines(object), 5);
	assert_string_equal(symbol_object_name(object), "/tmp/perf-4000000001.map");
	linked = object_of(cache, SYMBOL_KIND_ANON, "//anon", 4000000002u);
	assert_ptr_not_equal(object, linked);
	check(linked, &place, 0x1000, NULL, 0); /* a link in /tmp is not followed */
	assert_int_equal(symbol_object_state(linked), SYMBOL_NO_FILE);
	if (geteuid() == 0) {
		snprintf(command, sizeof(command),
		         "cp %s/perf-4000000001.map %s/perf-4000000003.map && "
		         "chown 12345 %s/perf-4000000003.map",
		         dir, dir, dir);
		assert_int_equal(system(command), 0);
		object = object_of(cache, SYMBOL_KIND_ANON, "//anon", 4000000003u);
		check(object, &place, 0x1000, NULL, 0); /* a stranger's */
		assert_non_null(strstr(symbol_object_reason(object), "owner"));
	}
	symbol_free(cache);
}

#define LIST                                      \
	"ffffffff81000000 T _text\n"              \
	"ffffffff81000000 T startup_64\n"         \
	"ffffffff81000100 t local_one\n"          \
	"ffffffff81000200 T do_syscall_64\n"      \
	"ffffffff81000300 D some_data\n"          \
	"ffffffff81001000 T _etext\n"             \
	"not a line\n"                            \
	"ffffffffc0000000 t ext4_read\t[ext4]\n"  \
	"ffffffffc0000080 T ext4_write\t[ext4]\n" \
	"ffffffffc0008000 t vf_x\t[virtio_fs]\n"

static void test_kernel_list(void **state)
{
	const uint64_t text = 0xffffffff81000000, moved = text + 0x6200000;
	struct symbol_place place = { text, text + 0x1000, text },
	                    far = { moved, moved + 0x1000, moved };
	struct symbol_place ext4 = { 0xffffffffc0000000, 0xffffffffc0001000, 0 };
	char path[128];
	struct symbol_opts opts = { .sz = sizeof(opts), .foreign = true, .kallsyms = path };
	struct symbol_object *kernel, *module;
	struct symbol_cache *cache;

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	tree_put_text(dir, "kallsyms", LIST);
	symbol_new(&cache, &opts);
	kernel = object_of(cache, SYMBOL_KIND_KERNEL, "[kernel.kallsyms]", 0);
	check(kernel, &place, text + 0x150, "local_one", 0x50);
	check(kernel, &place, text + 0x350, "do_syscall_64", 0x150);
	/* recorded on a boot that had put the kernel elsewhere */
	check(kernel, &far, moved + 0x150, "local_one", 0x50);
	check(kernel, &place, text - 1, NULL, 0);
	check(kernel, &place, 0xffffffffc0000010, NULL, 0);
	module = object_of(cache, SYMBOL_KIND_MODULE, "/lib/modules/6/kernel/ext4.ko.xz", 0);
	assert_string_equal(symbol_object_name(module), "[ext4]");
	check(module, &ext4, 0xffffffffc0000090, "ext4_write", 0x10);
	check(module, &ext4, 0xffffffffc0008000, NULL, 0);
	module = object_of(cache, SYMBOL_KIND_MODULE, "/lib/virtio-fs.ko", 0);
	assert_string_equal(symbol_object_name(module), "[virtio_fs]");
	check(module, &ext4, 0xffffffffc0008003, "vf_x", 3);
	symbol_free(cache);

	tree_put_text(dir, "kallsyms", "0000000000000000 T _text\n0000000000000000 T do_exit\n");
	symbol_new(&cache, &opts);
	kernel = object_of(cache, SYMBOL_KIND_KERNEL, "[kernel.kallsyms]", 0);
	check(kernel, &place, text + 0x150, NULL, 0);
	assert_int_equal(symbol_object_state(kernel), SYMBOL_HIDDEN);
	symbol_free(cache);
}

/* Another kernel's recording must not be named by this machine's list. */
static void test_other_kernel(void **state)
{
	struct symbol_place place = { 0xffffffff81000000, 0xffffffff82000000, 0 };
	struct symbol_opts opts = { .sz = sizeof(opts) };
	struct symbol_key key = { .kind = SYMBOL_KIND_KERNEL,
		                  .path = "[kernel.kallsyms]",
		                  .build_id = { .size = 20, .bytes = { 9, 9 } } };
	struct symbol_object *object;
	struct symbol_cache *cache;
	struct symbol s;

	opts.kernel_build_id = key.build_id;
	symbol_new(&cache, &opts);
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, 0xffffffff81000100, &s), 0);
	assert_true(s.state == SYMBOL_OTHER_BUILD_ID || s.state == SYMBOL_NO_FILE);
	assert_non_null(strstr(symbol_object_reason(object), "0909"));
	object = object_of(cache, SYMBOL_KIND_MODULE, "[ext4]", 0);
	assert_int_equal(symbol_resolve(object, &place, 0xffffffff81000100, &s), 0);
	assert_true(s.state != SYMBOL_NAMED && s.state != SYMBOL_OUTSIDE);
	object = object_of(cache, SYMBOL_KIND_VDSO, "[vdso]", 0);
	assert_int_equal(symbol_resolve(object, &place, 0xffffffff81000100, &s), 0);
	assert_int_equal(s.state, SYMBOL_OTHER_BUILD_ID);
	symbol_free(cache);
}

/* What an archive keeps of a kernel that does not run here: by its build-id, wherever that boot had
 * put it. */
static void test_kept_kernel(void **state)
{
	const uint64_t text = 0xffffffff81000000, moved = text + 0x6200000,
	               base = 0xffffffffa0100000;
	struct symbol_place place = { moved, moved + 0x1000, moved };
	struct symbol_place ext4 = { base, base + 0x1000, 0 };
	struct symbol_opts opts = { .sz = sizeof(opts), .foreign = true };
	struct symbol_key key = { .kind = SYMBOL_KIND_KERNEL,
		                  .path = "[kernel.kallsyms]",
		                  .build_id = { .size = 20, .bytes = { 9, 9 } } };
	const char *of = ".build-id/09/09000000000000000000000000000000000000";
	struct symbol_object *object;
	struct symbol_cache *cache;
	char command[600], name[128];

	snprintf(command, sizeof(command), "mkdir -p %s/%s", dir, of);
	assert_int_equal(system(command), 0);
	snprintf(name, sizeof(name), "%s/kallsyms", of);
	tree_put_text(dir, name, LIST);
	opts.kernel_build_id = key.build_id;
	opts.search.buildid_dir = dir;
	symbol_new(&cache, &opts);
	symbol_object(cache, &key, &object);
	check(object, &place, moved + 0x150, "local_one", 0x50);
	assert_non_null(strstr(symbol_object_source(object), "kallsyms"));
	/* where that boot had the module is not known: no names */
	check(object_of(cache, SYMBOL_KIND_MODULE, "[ext4]", 0), &ext4, base + 0x90, NULL, 0);
	symbol_free(cache);
	snprintf(name, sizeof(name), "%s/modules", of);
	tree_put_text(dir, name,
	              "ext4x 1 0 - Live 0xffffffffc0001000\n"
	              "ext4 999424 1 - Live 0xffffffffc0000000 (E)\n");
	symbol_new(&cache, &opts);
	check(object_of(cache, SYMBOL_KIND_MODULE, "[ext4]", 0), &ext4, base + 0x90, "ext4_write",
	      0x10);
	check(object_of(cache, SYMBOL_KIND_MODULE, "[virtio_fs]", 0), &ext4, base + 0x90, NULL, 0);
	key.build_id.bytes[2] = 1; /* of another kernel nothing is kept */
	symbol_object(cache, &key, &object);
	check(object, &place, moved + 0x150, NULL, 0);
	symbol_free(cache);
}

/* For a shell: writes the source of a relocatable file with a build-id note, as a module is. */
static const char module_source[] =
        "printf '.section .note.gnu.build-id,\"a\",@note\\n.long 4,20,3\\n.asciz \"GNU\"\\n"
        ".byte 0xab,0xcd,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18\\n"
        ".text\\n.zero 64\\n.globl made_op\\n.type made_op,@function\\nmade_op: .zero 32\\n"
        ".size made_op,32\\n' >m.s";

static struct symbol_key module_key(const char *name)
{
	return (struct symbol_key){
		.kind = SYMBOL_KIND_MODULE,
		.path = name,
		.build_id = { .size = 20, .bytes = { 0xab, 0xcd, 1,  2,  3,  4,  5,  6,  7,  8,
		                                     9,    10,   11, 12, 13, 14, 15, 16, 17, 18 } }
	};
}

/* A module's file in the cache, by the build-id that the recording has of "[name]". */
static void test_kept_module_file(void **state)
{
	struct symbol_opts opts = { .sz = sizeof(opts), .foreign = true };
	struct symbol_key key = module_key("[made]");
	struct symbol_place place = { 0xffffffffc0000000, 0xffffffffc0010000, 0 };
	struct symbol_object *object;
	struct symbol_cache *cache;
	struct symbol s;
	char command[1200];

	snprintf(command, sizeof(command),
	         "cd %s && mkdir -p .build-id/ab/cd0102030405060708090a0b0c0d0e0f101112 && "
	         "%s && cc -c -o "
	         ".build-id/ab/cd0102030405060708090a0b0c0d0e0f101112/elf m.s 2>/dev/null",
	         dir, module_source);
	if (system(command))
		skip();
	opts.search.buildid_dir = dir;
	symbol_new(&cache, &opts);
	symbol_object(cache, &key, &object);
	check(object, &place, place.start + 64 + 5, "made_op", 5);
	key.build_id.bytes[19]++;
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, place.start + 69, &s), 0);
	assert_int_equal(s.state, SYMBOL_NO_FILE);
	symbol_free(cache);
}

/* The same where the release's modules.dep says, under root; and what is there is another build. */
static void test_module_by_name(void **state)
{
	struct symbol_opts opts = { .sz = sizeof(opts), .foreign = true };
	struct symbol_key key = module_key("[made_mod]");
	struct symbol_place place = { 0xffffffffc0000000, 0xffffffffc0010000, 0 };
	struct symbol_object *object;
	struct symbol_cache *cache;
	char command[1400], root[96];
	struct symbol s;

	snprintf(root, sizeof(root), "%s/root", dir);
	snprintf(command, sizeof(command),
	         "cd %s && mkdir -p root/lib/modules/6.1-made/kernel/drivers && cd "
	         "root/lib/modules/6.1-made && "
	         "%s && cc -c -o kernel/drivers/made-mod.ko m.s "
	         "2>/dev/null && "
	         "printf 'kernel/drivers/made.ko:\\nkernel/drivers/made-mod.ko: "
	         "kernel/drivers/made.ko\\n"
	         "../../../out.ko:\\n' >modules.dep && cp kernel/drivers/made-mod.ko "
	         "../../../out.ko",
	         dir, module_source);
	if (system(command))
		skip();
	opts.search.root = root;
	opts.search.kernel_release = "6.1-made";
	symbol_new(&cache, &opts);
	symbol_object(cache, &key, &object);
	check(object, &place, place.start + 64 + 5, "made_op", 5);
	assert_non_null(strstr(symbol_object_source(object), "made-mod.ko"));
	key.path = "[made]"; /* is listed and not there; and must not be taken for made_mod */
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, place.start + 69, &s), 0);
	key.path = "[out]"; /* its line leads out of the directory */
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, place.start + 69, &s), 0);
	key.path = "[made_mod]";
	key.build_id.bytes[19]++;
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, place.start + 69, &s), 0);
	assert_int_not_equal(s.state, SYMBOL_NAMED);
	key.build_id.size = 0; /* below a root that was given a file counts as it is */
	symbol_object(cache, &key, &object);
	check(object, &place, place.start + 64 + 5, "made_op", 5);
	symbol_free(cache);

	opts.search.kernel_release = "../modules/6.1-made";
	symbol_new(&cache, &opts);
	symbol_object(cache, &key, &object);
	assert_int_equal(symbol_resolve(object, &place, place.start + 69, &s), 0);
	symbol_free(cache);
}

static void test_running_kernel(void **state)
{
	struct symbol_place place = { 0 };
	unsigned long long addr = 0;
	struct symbol_cache *cache;
	char line[256], name[128];
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %127s", &addr, name) == 2 && !strcmp(name, "schedule"))
			break;
		addr = 0;
	}
	if (f)
		fclose(f);
	if (!addr)
		skip();
	symbol_new(&cache, NULL);
	place.start = addr & ~0xffffffULL;
	place.end = place.start + 0x2000000;
	check(object_of(cache, SYMBOL_KIND_KERNEL, "[kernel.kallsyms]", 0), &place, addr + 1,
	      "schedule", 1);
	symbol_free(cache);
}

static void test_vdso(void **state)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);
	struct symbol_cache *cache;
	struct symbol_place place, low;
	char path[512];
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = vdso ? dlsym(vdso, "__vdso_gettimeofday") : NULL;

	if (!base || !function)
		skip();
	place = own_place((void *)base, path);
	low = (struct symbol_place){ 0xf7f00000, 0xf7f02000, 0 };
	symbol_new(&cache, NULL);
	check(object_of(cache, SYMBOL_KIND_VDSO, "[vdso]", 0), &place, (uintptr_t)function,
	      "gettimeofday", 0);
	/* the vdso of a 32-bit process is another */
	check(object_of(cache, SYMBOL_KIND_VDSO, "[vdso]", 0), &low,
	      (uintptr_t)function - place.start + low.start, NULL, 0);
	symbol_free(cache);
	dlclose(vdso);
}

static void test_bpf(void **state)
{
	struct symbol_place place = { 0xffffffffc0100000, 0xffffffffc0100080, 0 };
	struct symbol_cache *cache;
	struct symbol s;

	symbol_new(&cache, NULL);
	assert_int_equal(symbol_resolve(object_of(cache, SYMBOL_KIND_BPF, "bpf_prog_12_x", 0),
	                                &place, place.start + 5, &s),
	                 1);
	assert_string_equal(s.name, "bpf_prog_12_x");
	assert_int_equal(s.addr - s.start, 5);
	assert_int_equal(s.size, 0x80);
	symbol_free(cache);
}

/* ---- threads ---- */

enum {
	THREADS = 8,
	ADDRESSES = 2000
};

struct job {
	struct symbol_cache *cache;
	const char *path;
	struct symbol_place place;
	uint32_t ids[ADDRESSES];
	const char *names[ADDRESSES];
};

static void *run_job(void *arg)
{
	struct job *job = arg;
	struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .path = job->path };
	struct symbol_object *object;
	struct symbol s;

	symbol_object(job->cache, &key, &object);
	for (size_t i = 0; i < ADDRESSES; i++) {
		uint64_t n = job->place.end - job->place.start;

		symbol_resolve(object, &job->place, job->place.start + i * (n / ADDRESSES), &s);
		job->ids[i] = s.id;
		job->names[i] = s.name;
	}
	return NULL;
}

static void test_threads(void **state)
{
	static struct job jobs[THREADS];
	pthread_t threads[THREADS];
	struct symbol_cache *cache;
	char path[512];
	struct symbol_place place;
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	size_t named = 0;

	place = own_place(dlsym(libc, "qsort"), path);
	symbol_new(&cache, NULL);
	for (size_t i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){ .cache = cache, .path = path, .place = place };
		assert_int_equal(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ADDRESSES; i++) {
		named += jobs[0].ids[i] != SYMBOL_NO_ID;
		for (size_t k = 1; k < THREADS; k++) {
			assert_int_equal(jobs[0].ids[i], jobs[k].ids[i]);
			assert_ptr_equal(jobs[0].names[i], jobs[k].names[i]);
		}
	}
	assert_true(named > 100);
	symbol_free(cache);
	dlclose(libc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_code),       cmocka_unit_test(test_own_libc),
		cmocka_unit_test(test_wrong_file),     cmocka_unit_test(test_perf_map),
		cmocka_unit_test(test_kernel_list),    cmocka_unit_test(test_other_kernel),
		cmocka_unit_test(test_kept_kernel),    cmocka_unit_test(test_kept_module_file),
		cmocka_unit_test(test_module_by_name), cmocka_unit_test(test_running_kernel),
		cmocka_unit_test(test_vdso),           cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_threads),
	};
	char command[128];
	int r;

	strcpy(dir, "/tmp/seam-symbol-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) ? 1 : r;
}
