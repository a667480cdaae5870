// SPDX-License-Identifier: MIT
/*
 * pack.c: see pack.h. Knows which files stand for an object of each kind. Which list, map or vdso
 * that is follows from what names the object on this machine.
 *
 * An archive is made on the machine that can name everything, to be read where nothing is there.
 * Invariants: each name is in the archive once; a file that claims a build-id which another file
 * has taken goes under its path; nothing that a stranger could have put at a path is taken for a
 * trusted file.
 */
#include "convert/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "convert/pack_kernel.h"
#include "convert/pack_parts.h"

/* The directory of an object in the archive: by build-id, else that of its path. -ENAMETOOLONG. */
static int pack_dir(const struct image_build_id *id, const char *path, char *ret, size_t n)
{
	char hex[IMAGE_BUILD_ID_HEX];
	const char *slash = strrchr(path, '/');
	int length;

	if (id->size >= 2) {
		image_build_id_hex(id, hex);
		length = snprintf(ret, n, ".build-id/%.2s/%s", hex, hex + 2);
	} else {
		length = snprintf(ret, n, PACK_FILES "%.*s", slash ? (int)(slash - path) : 0, path);
	}
	return length < 0 || (size_t)length >= n ? -ENAMETOOLONG : 0;
}

/* Counts and reports an object that the archive will lack. Always 0: that is no failure. */
static int pack_missing(struct pack *b, struct symbol_object *object, const char *why)
{
	const char *reason = symbol_object_reason(object);

	b->counts->missing++;
	if (b->opts->missing)
		b->opts->missing(b->opts->ctx, symbol_object_name(object), *why ? why : reason);
	return 0;
}

/* ---- ELF files ---- */

/* The debug file goes under its build-id if it will be looked for by that, else to where the
 * object's debuglink leads. -ENAMETOOLONG, -errno of writing; 0. */
static int pack_put_debug(struct pack *b, const char *dir, struct image *image, struct image *debug)
{
	struct image_build_id id = { 0 }, debug_id = { 0 };
	const char *slash = strrchr(image_path(debug), '/');
	char name[TAR_NAME_MAX];
	int length, r;

	image_build_id(image, &id);
	image_build_id(debug, &debug_id);
	if (!strncmp(dir, ".build-id", 9) && image_build_id_equal(&id, &debug_id))
		length = snprintf(name, sizeof(name), "%s/debug", dir);
	else
		length = snprintf(name, sizeof(name), "%s/.debug/%s", dir,
		                  slash ? slash + 1 : image_path(debug));
	if (length < 0 || (size_t)length >= sizeof(name))
		return -ENAMETOOLONG;
	r = pack_put_file(b, name, image_path(debug), true);
	b->counts->debug_files += r > 0;
	/* What the debug file's own skeletons lead to goes beside it. */
	return r <= 0 ? r : pack_split(b, name, debug);
}

/* What dwz moved out of a file is asked for by its build-id only. */
static int pack_put_alt(struct pack *b, struct image *of)
{
	struct image_build_id id = { 0 };
	char name[TAR_NAME_MAX], dir[128];
	struct image *alt;
	int r = 0;

	if (image_find_alt(&alt, of, b->opts->search, NULL) < 0)
		return 0;
	if (image_build_id(alt, &id) > 0 && pack_dir(&id, "", dir, sizeof(dir)) >= 0) {
		snprintf(name, sizeof(name), "%s/debug", dir);
		r = pack_put_file(b, name, image_path(alt), true);
		b->counts->debug_files += r > 0;
	}
	image_close(alt);
	return r;
}

/* Whether two open files have the same bytes. */
static bool pack_same_bytes(int a, int b)
{
	unsigned char x[1 << 14], y[1 << 14];
	struct stat st_a, st_b;
	ssize_t n, m;
	off_t at = 0;

	if (fstat(a, &st_a) < 0 || fstat(b, &st_b) < 0 || st_a.st_size != st_b.st_size)
		return false;
	do {
		n = pread(a, x, sizeof(x), at);
		m = pread(b, y, sizeof(y), at);
		at += n;
	} while (n > 0 && n == m && !memcmp(x, y, (size_t)n));
	return !n && !m;
}

/*
 * Whether the archive has, under this name, a file that holds other bytes than this image, or may:
 * a build-id is what its file claims. Notes the path of the first one that comes under a name.
 */
static bool pack_is_another(struct pack *b, const char *name, const struct image *image)
{
	uint64_t *slot = map_slot(&b->elfs, map_hash_bytes(name, strlen(name), 0), NULL);
	const char *path = image_path(image);
	bool another;
	int fd;

	if (!slot)
		return false;
	/* The first file under this name: it may be written. */
	if (!*slot) {
		*slot = b->paths.n + 1;
		buf_put(&b->paths, path, strlen(path) + 1);
		return false;
	}
	if (b->paths.failed || !strcmp((const char *)b->paths.bytes + *slot - 1, path))
		return false;
	/* Not blocking: what was a file may be a FIFO by now. */
	fd = open((const char *)b->paths.bytes + *slot - 1,
	          O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	another = fd < 0 || !pack_same_bytes(fd, image_fd(image));
	if (fd >= 0)
		close(fd);
	return another;
}

/* The path at which image_find looks for it below a root: without the kernel's mark of a file that
 * was deleted. */
static int pack_by_path(const char *path, char *dir, size_t n_dir, char *name, size_t n_name)
{
	static const struct image_build_id none;
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), cut = sizeof(deleted) - 1;
	int length;

	n -= n > cut && !strcmp(path + n - cut, deleted) ? cut : 0;
	length = snprintf(name, n_name, PACK_FILES "%.*s", (int)n, path);
	if (length < 0 || (size_t)length >= n_name)
		return -ENAMETOOLONG;
	return pack_dir(&none, path, dir, n_dir);
}

/*
 * Where an image goes, and the directory for what belongs to it: by build-id; without one, or where
 * another file has taken that place, by path, which is where it is looked for first. -EEXIST: that
 * place is taken, and it has no path either.
 */
static int pack_place(struct pack *b, const struct symbol_key *key, struct image *image, char *dir,
                      size_t n_dir, char *name, size_t n_name)
{
	int r = pack_dir(&key->build_id, key->path, dir, n_dir);

	if (r < 0)
		return r;
	if (key->build_id.size >= 2) {
		snprintf(name, n_name, "%s/%s", dir, image_is_debug(image) ? "debug" : "elf");
		if (!pack_is_another(b, name, image))
			return 0;
		if (key->path[0] != '/' || !tar_name_is_plain(key->path + 1))
			return -EEXIST;
	}
	return pack_by_path(key->path, dir, n_dir, name, n_name);
}

/* An image that was found for an object, and what belongs to it. */
static int pack_put_image(struct pack *b, struct symbol_object *object, struct image *image)
{
	const struct symbol_key *key = symbol_object_key(object);
	char dir[TAR_NAME_MAX - 64], name[TAR_NAME_MAX];
	struct image *debug;
	int r = pack_place(b, key, image, dir, sizeof(dir), name, sizeof(name));

	if (r == -EEXIST)
		return pack_missing(b, object, "another file with its build-id is in the archive");
	if (r < 0)
		return pack_failed(b, r, key->path);
	r = pack_put_file(b, name, image_path(image), true);
	b->counts->objects += r > 0;
	if (r > 0)
		r = pack_split(b, name, image);
	if (r >= 0)
		r = pack_put_alt(b, image);
	if (r < 0 || image_is_debug(image) ||
	    image_find_debug(&debug, image, b->opts->search, NULL) < 0)
		return r;
	r = pack_put_debug(b, dir, image, debug);
	if (r >= 0)
		r = pack_put_alt(b, debug);
	image_close(debug);
	return r;
}

/* Nobody but root or this user can have written it. */
static bool pack_is_trusted(const struct image *image)
{
	struct stat st;

	return fstat(image_fd(image), &st) == 0 && (!st.st_uid || st.st_uid == geteuid()) &&
	       !(st.st_mode & 022);
}

/* Packs an ELF file. Of files that claim the same build-id, trusted ones come first, in the first
 * round; others, and what is missing, come in the second. */
static int pack_elf(struct pack *b, struct symbol_object *object)
{
	const struct symbol_key *key = symbol_object_key(object);
	struct seam_error why = { 0 };
	struct image *image;
	int r = -ENOENT;

	if (b->opts->foreign && !key->build_id.size && !b->opts->search->root)
		snprintf(why.text, sizeof(why.text), "recorded elsewhere, without a build-id");
	else if (!key->build_id.size && (key->path[0] != '/' || !tar_name_is_plain(key->path + 1)))
		snprintf(why.text, sizeof(why.text),
		         "neither a build-id nor a path to file it under");
	else
		r = image_find(&image, key->path, &key->build_id, b->opts->search, NULL, &why);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return b->trusted ? 0 : pack_missing(b, object, why.text);
	if (b->trusted == pack_is_trusted(image))
		r = pack_put_image(b, object, image);
	image_close(image);
	return r;
}

/* ---- the kernel, the vdso, JIT code ---- */

/* Packs the kernel's list of symbols and its modules, and its vmlinux if one is found. 0, also if
 * nothing is found, which is reported; else an error. */
static int pack_kernel(struct pack *b, struct symbol_object *object)
{
	const struct symbol_key *key = symbol_object_key(object);
	struct buf list = { 0 }, modules = { 0 };
	char dir[128], name[160];
	struct image *image;
	int r = 0, got = 0;

	/* By two hex digits a directory is made, so fewer make no name. */
	if (key->build_id.size < 2)
		return pack_missing(b, object, "recorded without a build-id");
	pack_dir(&key->build_id, "", dir, sizeof(dir));
	/* The list is of the running boot, so the modules' addresses go with it. */
	if (pack_kernel_lists(b->symbols, object, &list, &modules) > 0) {
		snprintf(name, sizeof(name), "%s/kallsyms", dir);
		got = r = pack_put_bytes(b, name, list.bytes, list.n);
		snprintf(name, sizeof(name), "%s/modules", dir);
		if (r >= 0 && modules.n)
			r = pack_put_bytes(b, name, modules.bytes, modules.n);
	}
	buf_free(&list);
	buf_free(&modules);
	if (r >= 0 &&
	    image_find(&image, key->path, &key->build_id, b->opts->search, NULL, NULL) >= 0) {
		r = pack_put_image(b, object, image);
		image_close(image);
		return r;
	}
	b->counts->objects += got > 0;
	return r < 0 ? r : got ? 0 : pack_missing(b, object, "");
}

/* Packs the module's file. If there is none, the kernel's list (pack_kernel) has its symbols, and
 * that is all there is. */
static int pack_module(struct pack *b, struct symbol_object *object)
{
	const struct symbol_key *key = symbol_object_key(object);
	struct image *image;
	int r;

	if ((!key->build_id.size && b->opts->foreign && !b->opts->search->root) ||
	    image_find(&image, key->path, &key->build_id, b->opts->search, NULL, NULL) < 0)
		/* Names that came from the kernel's list are in the archive with it. */
		return pack_is_list(symbol_object_source(object)) ? 0 : pack_missing(b, object, "");
	r = pack_put_image(b, object, image);
	image_close(image);
	return r;
}

/* The kernel's build-id stands for the vdso's where that was not recorded. */
static const struct image_build_id *pack_vdso_id(struct pack *b, const struct symbol_key *key)
{
	struct symbol_object *o;

	if (key->build_id.size)
		return &key->build_id;
	for (size_t i = 0; (o = symbol_object_at(b->symbols, i)); i++)
		if (symbol_object_key(o)->kind == SYMBOL_KIND_KERNEL)
			return &symbol_object_key(o)->build_id;
	return &key->build_id;
}

/* Packs the vdso: the file that named it, or this machine's own if that did. */
static int pack_vdso(struct pack *b, struct symbol_object *object)
{
	const struct image_build_id *id = pack_vdso_id(b, symbol_object_key(object));
	const char *source = symbol_object_source(object);
	const unsigned char *bytes;
	char dir[128], name[160];
	size_t n;
	int r;

	if (symbol_object_state(object) != SYMBOL_NAMED)
		return pack_missing(b, object, "");
	if (id->size < 2)
		return pack_missing(b, object,
		                    "neither its build-id nor the kernel's was recorded");
	pack_dir(id, "", dir, sizeof(dir));
	snprintf(name, sizeof(name), "%s/vdso", dir);
	if (source[0] == '/')
		r = pack_put_file(b, name, source, false);
	else
		r = image_own_vdso(&bytes, &n) > 0 ? pack_put_bytes(b, name, bytes, n) : 0;
	b->counts->objects += r > 0;
	return r;
}

/* Packs the perf map or the jitdump that named code of a process. */
static int pack_jit(struct pack *b, struct symbol_object *object)
{
	const char *source = symbol_object_source(object);
	size_t n = strlen(source);
	uint32_t pid = symbol_object_key(object)->pid;
	char name[64];
	int r;

	if (!n)
		return pack_missing(b, object, "");
	/* The ending of the file that symbol/ read tells which of the two it was. */
	if (n > 5 && !strcmp(source + n - 5, ".dump"))
		snprintf(name, sizeof(name), PACK_MAPS "/jit-%u.dump", pid);
	else
		snprintf(name, sizeof(name), PACK_MAPS "/perf-%u.map", pid);
	r = pack_put_file(b, name, source, false);
	b->counts->objects += r > 0;
	return r;
}

/* ---- all ---- */

/* Looks up one address in the object: only then is it known what names it. The address is one that
 * no mapping has; only loading matters. */
static int pack_ask(struct symbol_object *object)
{
	struct symbol symbol;
	int r = symbol_resolve(object,
	                       &(struct symbol_place){ .end = 1ULL << 40, .start = 1ULL << 39 },
	                       1ULL << 39, &symbol);

	return r < 0 ? r : 0;
}

/* Code of a jitdump is named by the same dump as the process's other code, so that is packed. */
static int pack_jit_code(struct pack *b, struct symbol_object *object)
{
	struct symbol_key key = { .kind = SYMBOL_KIND_ANON,
		                  .path = "//anon",
		                  .pid = symbol_object_key(object)->pid };
	struct symbol_object *whole;
	int r = symbol_object(b->symbols, &key, &whole);

	if (r >= 0)
		r = pack_ask(whole);
	return r < 0 ? r : pack_jit(b, whole);
}

/* Packs what names and unwinds an object, by its kind. What is missing is reported through
 * opts->missing, and is no error. */
static int pack_object(struct pack *b, struct symbol_object *object)
{
	switch (symbol_object_key(object)->kind) {
	case SYMBOL_KIND_FILE:
		return pack_elf(b, object);
	case SYMBOL_KIND_MODULE:
		return pack_module(b, object);
	case SYMBOL_KIND_KERNEL:
		return pack_kernel(b, object);
	case SYMBOL_KIND_VDSO:
		return pack_vdso(b, object);
	case SYMBOL_KIND_ANON:
		return pack_jit(b, object);
	case SYMBOL_KIND_JIT:
		return pack_jit_code(b, object);
	default: /* the recording itself has the name, or there is none */
		return 0;
	}
}

/* Goes over ELF files twice: of files that claim the same build-id, those that root or this user
 * owns come first. The index is written last, when it is known what is there. */
int pack_write(struct tar_writer *tar, struct symbol_cache *symbols, const struct pack_opts *opts,
               struct pack_counts *ret, struct seam_error *err)
{
	struct pack b = { .tar = tar, .symbols = symbols, .opts = opts, .counts = ret, .err = err };
	size_t n = symbol_objects(symbols);
	int r = 0;

	*ret = (struct pack_counts){ 0 };
	buf_printf(&b.index, "seam archive %d\n", PACK_VERSION);
	/* ELF files need no question: they are found by path or build-id. */
	for (size_t i = 0; i < n && r >= 0; i++)
		if (symbol_object_key(symbol_object_at(symbols, i))->kind != SYMBOL_KIND_FILE)
			r = pack_ask(symbol_object_at(symbols, i));
	for (size_t i = 0; i < 2 * n && r >= 0; i++) {
		struct symbol_object *object = symbol_object_at(symbols, i % n);

		if (opts->progress.report)
			opts->progress.report(opts->progress.ctx, "archiving", i, 2 * n);
		b.trusted = i < n;
		if (b.trusted || symbol_object_key(object)->kind == SYMBOL_KIND_FILE)
			r = pack_object(&b, object);
	}
	if (r >= 0 && opts->sources)
		r = pack_sources(&b, opts->sources);
	if (r >= 0 && b.index.failed)
		r = -ENOMEM;
	if (r >= 0)
		r = tar_put(tar, PACK_INDEX, b.index.bytes, b.index.n);
	if (r < 0 && (!err || !err->code))
		pack_failed(&b, r, NULL);
	map_free(&b.names);
	map_free(&b.elfs);
	buf_free(&b.paths);
	buf_free(&b.index);
	return r < 0 ? r : 0;
}

/* Objects are only entered; pack_write asks them for names. */
/* Enters the objects of all executable mappings of a recording among the symbols. -ENOMEM. */
int pack_all(struct symbol_cache *symbols, const struct recording *rec)
{
	int r = 0;

	for (size_t i = 0; i < proc_mappings(rec->procs) && r >= 0; i++) {
		const struct proc_mapping *m = proc_mapping_at(rec->procs, i);
		struct symbol_key key = { .kind = (enum symbol_kind)m->object->kind,
			                  .path = m->object->path,
			                  .pid = m->object->pid };
		struct symbol_object *object;

		if (m->data)
			continue;
		key.build_id.size = m->object->build_id_size;
		memcpy(key.build_id.bytes, m->object->build_id, sizeof(key.build_id.bytes));
		r = symbol_object(symbols, &key, &object);
	}
	return r;
}
