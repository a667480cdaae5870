// SPDX-License-Identifier: MIT
/*
 * vdso.c: names of the vdso, which is in no file: this process's own is the same one when the
 * running kernel is the recorded one.
 *
 * The kernel maps the vdso into each process from its own image. A recording of another kernel
 * needs a copy of that kernel's (an archive has one).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbol/object.h"

/* Whether this is the recorded vdso: by its own build-id, else by the kernel's, else because the
 * recording was made here. */
static bool vdso_is_recorded(struct symbol_object *object, const struct image *image)
{
	const struct symbol_opts *opts = &object->cache->opts;
	struct image_build_id id = { 0 }, kernel;

	if (object->key.build_id.size)
		return image_build_id(image, &id) > 0 &&
		       image_build_id_equal(&id, &object->key.build_id);
	if (!opts->kernel_build_id.size)
		return !opts->foreign;
	kernel_id_running(&kernel);
	return image_build_id_equal(&kernel, &opts->kernel_build_id);
}

/* Uses this process's own vdso, if it is the recorded one. */
static int vdso_open_own(struct symbol_object *object, struct image **ret)
{
	const unsigned char *bytes;
	size_t n;

	if (!image_own_vdso(&bytes, &n) || image_open_memory(ret, bytes, n, "[vdso]", NULL) < 0) {
		object_reason(object, SYMBOL_NO_FILE, "[vdso]: this process has none to look into");
		return -ENOENT;
	}
	if (vdso_is_recorded(object, *ret))
		return 0;
	object_reason(object, SYMBOL_OTHER_BUILD_ID,
	              "[vdso]: the running kernel is not the recorded one");
	image_close(*ret);
	return -ESTALE;
}

/* Uses a vdso that was kept, under its own build-id or under that of its kernel. */
static int vdso_open_kept(struct symbol_object *object, struct image **ret)
{
	const struct symbol_opts *opts = &object->cache->opts;
	const struct image_build_id *want = &object->key.build_id;
	struct image_build_id id = { 0 };
	char path[4096];
	int r = image_kept_path(&opts->search, want->size ? want : &opts->kernel_build_id, "vdso",
	                        path, sizeof(path));

	if (r >= 0)
		r = image_open(ret, path, NULL);
	if (r >= 0 && want->size &&
	    (image_build_id(*ret, &id) <= 0 || !image_build_id_equal(&id, want))) {
		image_close(*ret);
		r = -ESTALE;
	}
	return r;
}

/* 0 also if it cannot be had: the object then has a reason. */
int vdso_load(struct symbol_object *object)
{
	struct image *image;
	int r;

	if (vdso_open_own(object, &image) < 0 && vdso_open_kept(object, &image) < 0)
		return 0;
	object->is_64 = image_is_64(image);
	r = elffile_segments(object, image);
	if (r == 0)
		r = elffile_symbols(object, image);
	image_close(image);
	return r;
}
