// SPDX-License-Identifier: MIT
/*
 * kernel.c: names of the kernel and its modules. The running machine's lists are used only if it
 * runs the kernel that was recorded: their build-ids are equal, or none was recorded and something
 * else in the recording says so.
 *
 * The order in which names are looked for: the running kernel's list; a list that was kept for the
 * recorded kernel; a vmlinux. The first that has names is used, and its place goes to
 * object->source. The kernel moves at each boot (KASLR), so `reference`, its own _text, turns
 * addresses of the recording into those of the table.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kernel_cache.h"
#include "symbol/object.h"
#include "symbol/kernel_reader.h"

#define MODULES_MAX (16u << 20)

/* The list, read once for all objects. NULL: out of memory. */
static struct kallsyms *kernel_kallsyms(struct symbol_cache *cache)
{
	const char *path = cache->opts.kallsyms ? cache->opts.kallsyms : "/proc/kallsyms";
	int r = 0;

	pthread_mutex_lock(&cache->kallsyms_lock);
	if (!cache->kallsyms_loaded)
		r = kallsyms_read(&cache->kallsyms, path);
	cache->kallsyms_loaded = true;
	pthread_mutex_unlock(&cache->kallsyms_lock);
	return r < 0 ? NULL : &cache->kallsyms;
}

/* Whether this is an address at which kernels lie that do not choose a place at boot (x86_64,
 * aarch64, i386, arm). It does not tell one kernel from another. */
static bool kernel_is_link_address(uint64_t text)
{
	static const uint64_t usual[] = { 0xffffffff81000000, 0xffff800080000000,
		                          0xffff800008000000, 0xffff800010000000,
		                          0xffff000008080000, 0xffff200008080000,
		                          0xc1000000,         0xc0100000,
		                          0xc0008000 };

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (text == usual[i])
			return true;
	return false;
}

/* Whether the recorded kernel lay where the running one has chosen to lie at this boot. */
static bool kernel_is_where_running(struct symbol_cache *cache)
{
	uint64_t text = cache->opts.kernel_text, running;
	struct kallsyms *k = text && !kernel_is_link_address(text) ? kernel_kallsyms(cache) : NULL;

	return k && !k->error && !k->hidden && kallsyms_text(k, &running) >= 0 && running == text;
}

/* Whether this machine runs the kernel that was recorded. If not, the object gets the reason. */
static bool kernel_is_running(struct symbol_object *object, const struct image_build_id *recorded,
                              const char *notes)
{
	char is[IMAGE_BUILD_ID_HEX], was[IMAGE_BUILD_ID_HEX];
	struct image_build_id running;

	/* No build-id: an old recording, or one of a kernel that does not tell. */
	if (!recorded->size) {
		if (object->cache->opts.foreign)
			object_reason(object, SYMBOL_NO_FILE,
			              "%s: recorded elsewhere, without a build-id", object->name);
		/* A recording that says nothing of its kernel is believed only if the kernel lay at
		 * the same random place. */
		if (object->cache->opts.foreign || !object->cache->opts.kernel_not_said ||
		    kernel_is_where_running(object->cache))
			return !object->cache->opts.foreign;
		object_reason(
		        object, SYMBOL_NO_FILE,
		        "%s: nothing in the recording says which kernel it was, so it gets no "
		        "names of this machine's",
		        object->name);
		return false;
	}
	kernel_id_read(notes, &running);
	if (image_build_id_equal(&running, recorded))
		return true;
	object_reason(object, running.size ? SYMBOL_OTHER_BUILD_ID : SYMBOL_NO_FILE,
	              "%s: recorded with build-id %s, %s is %s", object->name,
	              image_build_id_hex(recorded, was),
	              running.size ? "this machine's" : "which this machine has not:",
	              running.size ? image_build_id_hex(&running, is) : "unknown");
	return false;
}

/* Fills the table from a list; module NULL: the kernel. 1: done, 0: no names there. */
static int kernel_use_list(struct symbol_object *object, const struct kallsyms *k,
                           const char *module)
{
	int r;

	if (k->error || k->hidden) {
		object_reason(object, k->error ? SYMBOL_NO_FILE : SYMBOL_HIDDEN, "%s: %s", k->path,
		              k->error ? strerror(-k->error)
		                       : "addresses are hidden (kernel.kptr_restrict, "
		                         "CAP_SYSLOG)");
		return 0;
	}
	/* reference: _text of the list, which the recording's own is compared with. */
	r = kallsyms_table(k, module, &object->table, &object->reference);
	if (r < 0)
		return r;
	if (!object->table.n) {
		object_reason(object, SYMBOL_NO_SYMBOLS, "%s: nothing of %s in it", k->path,
		              object->name);
		return 0;
	}
	buf_put_text(&object->source, k->path);
	object->state = SYMBOL_NAMED;
	return 1;
}

/* The list of the running machine, or the one that the user gave. */
static int kernel_use_kallsyms(struct symbol_object *object, const char *module)
{
	struct kallsyms *k = kernel_kallsyms(object->cache);

	return k ? kernel_use_list(object, k, module) : -ENOMEM;
}

/* As kernel_use_kallsyms, but of the table that was kept at this boot, if one was. */
static int kernel_use_running_kernel(struct symbol_object *object)
{
	const struct symbol_opts *opts = &object->cache->opts;
	char name[KERNEL_CACHE_NAME];
	struct kernel_kept kept;
	int r = 0;

	if (opts->kallsyms || !opts->keep.get || !kernel_cache_name(name))
		return kernel_use_kallsyms(object, NULL);
	/* A thread may have read the table meanwhile. */
	if (opts->running)
		kernel_reader_take(opts->running, object);
	pthread_mutex_lock(&object->cache->kallsyms_lock);
	if (!object->table.n && opts->keep.get(opts->keep.ctx, name, &kept) > 0)
		kernel_cache_decode(&object->table, &object->reference, &kept);
	pthread_mutex_unlock(&object->cache->kallsyms_lock);
	if (object->table.n) {
		buf_put_text(&object->source, "/proc/kallsyms");
		object->state = SYMBOL_NAMED;
		r = 1;
	} else {
		r = kernel_use_kallsyms(object, NULL);
		/* It was made now, so object_keep will write it to the cache. */
		object->unkept = r > 0;
	}
	return r;
}

/* Writes the table to the cache, under the name of this boot. A failure costs only time. */
void kernel_keep(struct symbol_object *object)
{
	const struct kernel_storage *keep = &object->cache->opts.keep;
	struct buf bytes = { 0 };
	char name[KERNEL_CACHE_NAME];

	if (kernel_cache_name(name) &&
	    kernel_cache_encode(&object->table, object->reference, &bytes) >= 0) {
		pthread_mutex_lock(&object->cache->kallsyms_lock);
		keep->put(keep->ctx, name, bytes.bytes, bytes.n);
		pthread_mutex_unlock(&object->cache->kallsyms_lock);
	}
	buf_free(&bytes);
}

/* Names from the list of the recorded kernel that an archive, or perf's cache, has. 1: done, 0: no
 * names there. */
static int kernel_use_kept_list(struct symbol_object *object, const struct image_build_id *kernel,
                                const char *module)
{
	struct kallsyms k = { 0 };
	char path[4096];
	int r;

	if (image_kept_path(&object->cache->opts.search, kernel, "kallsyms", path, sizeof(path)) <
	    0)
		return 0;
	r = kallsyms_read(&k, path);
	if (r >= 0 && !k.error)
		r = kernel_use_list(object, &k, module);
	kallsyms_free(&k);
	return r;
}

/* A vmlinux given by the user, or found by its build-id. 1: done, 0: none. A failure is told only
 * for a vmlinux that was asked for by name. */
static int kernel_use_vmlinux(struct symbol_object *object, const struct image_build_id *recorded)
{
	const struct image_search *search = &object->cache->opts.search;
	struct seam_error err = { 0 };
	struct image *image;
	int r = image_find(&image, object->path, recorded, search, NULL, &err);

	if (r < 0) {
		if (search->vmlinux)
			object_reason(object, r == -ESTALE ? SYMBOL_OTHER_BUILD_ID : SYMBOL_NO_FILE,
			              "%s", err.text);
		return r == -ENOMEM ? r : 0;
	}
	r = elffile_symbols(object, image);
	if (image_symbol_value(image, "_text", &object->reference) < 0)
		object->reference = 0;
	if (r == 0 && object->state == SYMBOL_NAMED)
		r = 1;
	image_close(image);
	return r;
}

/* Finds the kernel's names. That there are none is a state with a reason; only -ENOMEM is an
 * error. */
int kernel_load(struct symbol_object *object)
{
	struct symbol_cache *cache = object->cache;
	const struct image_build_id *recorded =
	        object->key.build_id.size ? &object->key.build_id : &cache->opts.kernel_build_id;
	int r = 0;

	object->terms = OBJECT_ADDRESS;
	if (cache->opts.kallsyms || kernel_is_running(object, recorded, "/sys/kernel/notes"))
		r = kernel_use_running_kernel(object);
	if (r == 0)
		r = kernel_use_kept_list(object, recorded, NULL);
	if (r == 0)
		r = kernel_use_vmlinux(object, recorded);
	return r < 0 ? r : 0;
}

/* Where a kernel has a module, by its list of them (/proc/modules); 0: not loaded, or hidden. The
 * list has the address behind " 0x", as the sixth word. */
static uint64_t kernel_module_base(const char *list, const char *name)
{
	struct buf text = { 0 };
	size_t n = strlen(name);
	uint64_t base = 0;
	const char *line, *at;

	if (kallsyms_slurp(list, MODULES_MAX, &text) < 0) {
		buf_free(&text);
		return 0;
	}
	for (line = buf_text(&text); line && *line; line = *line ? line + 1 : line) {
		const char *end = strchrnul(line, '\n');

		at = memmem(line, (size_t)(end - line), " 0x", 3);
		if (!strncmp(line, name, n) && line[n] == ' ' && at)
			base = strtoull(at + 1, NULL, 16);
		line = end;
	}
	buf_free(&text);
	return base;
}

/* The running kernel's module, if it is the recorded one. */
static int kernel_use_running_module(struct symbol_object *object, const char *name)
{
	struct symbol_cache *cache = object->cache;
	struct buf notes = { 0 };
	/* With a list of the user's, no question is asked: it is believed. */
	bool given = cache->opts.kallsyms != NULL, running = given;
	int r;

	if (!given && object->key.build_id.size) {
		buf_printf(&notes, "/sys/module/%s/notes/.note.gnu.build-id", name);
		running = kernel_is_running(object, &object->key.build_id, buf_text(&notes));
	} else if (!given) {
		running = kernel_is_running(object, &cache->opts.kernel_build_id,
		                            "/sys/kernel/notes");
	}
	buf_free(&notes);
	if (!running)
		return 0;
	r = kernel_use_kallsyms(object, name);
	if (r <= 0)
		return r;
	/* A module that was loaded again lies elsewhere, so its addresses count from its begin. A
	 * list that the user gave is of the recorded boot, so its addresses hold as they are. */
	object->shift = given ? 0 : kernel_module_base("/proc/modules", name);
	object->terms = object->shift ? OBJECT_PLACE : OBJECT_ADDRESS;
	return 1;
}

/* Names a module from a kept list. The list is of another boot: it is of use only if the module's
 * place in that boot is known. */
static int kernel_use_kept_module(struct symbol_object *object, const char *name)
{
	const struct symbol_opts *opts = &object->cache->opts;
	char path[4096];
	uint64_t base;
	int r;

	if (image_kept_path(&opts->search, &opts->kernel_build_id, "modules", path, sizeof(path)) <
	    0)
		return 0;
	base = kernel_module_base(path, name);
	r = base ? kernel_use_kept_list(object, &opts->kernel_build_id, name) : 0;
	if (r <= 0)
		return r;
	object->shift = base;
	object->terms = OBJECT_PLACE;
	return 1;
}

/* The build-id by which the module's file is found: the recorded one, or that of the running
 * kernel's module if that kernel is the recorded one. */
struct image_build_id kernel_module_id(const struct symbol_object *object)
{
	const struct symbol_cache *cache = object->cache;
	struct image_build_id id = object->key.build_id, running;
	struct buf notes = { 0 };
	char name[256];

	if (id.size || cache->opts.search.root || !cache->opts.kernel_build_id.size)
		return id;
	kernel_id_running(&running);
	if (!image_build_id_equal(&running, &cache->opts.kernel_build_id))
		return id;
	object_module_name(object->path, name, sizeof(name));
	buf_printf(&notes, "/sys/module/%s/notes/.note.gnu.build-id", name);
	kernel_id_read(buf_text(&notes), &id);
	buf_free(&notes);
	return id;
}

/* Finds names of a kernel module in this order: the running kernel, if it is the recorded one; a
 * list of symbols that was kept; the module's file. Finding none leaves the state as it is; only
 * -ENOMEM is a failure. */
int module_load(struct symbol_object *object)
{
	struct symbol_cache *cache = object->cache;
	struct image_build_id id;
	char name[256];
	struct image *image;
	int r;

	object_module_name(object->path, name, sizeof(name));
	r = kernel_use_running_module(object, name);
	if (r == 0)
		r = kernel_use_kept_module(object, name);
	if (r)
		return r < 0 ? r : 0;
	/* A kernel's modules have no build-ids of their own in old recordings. */
	id = kernel_module_id(object);
	/* By its path alone a module is taken only on the machine that recorded it. */
	if (!id.size && !cache->opts.search.root && (object->path[0] != '/' || cache->opts.foreign))
		return 0;
	r = image_find(&image, object->path, &id, &cache->opts.search, NULL, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	object->terms = OBJECT_PLACE; /* .text is what a module's mapping begins with */
	r = elffile_symbols(object, image);
	image_close(image);
	return r;
}
