// SPDX-License-Identifier: MIT
/*
 * debugfile.c: where the file of an object, and its separate debug file, are.
 *
 * Places: the path itself; .build-id/xx/rest.debug below the debug directories; the cache by
 * build-id; the name in .gnu_debuglink, beside the object and below the debug directories;
 * debuginfod, where the caller gives a way to fetch.
 *
 * Invariant: a candidate counts only when it proves to be the right one, by build-id or by the CRC
 * of the debuglink. Paths and names come from recordings and from files: only regular files are
 * read.
 */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "image/elf.h"

#define DELETED " (deleted)" /* the kernel's mark on the path of an unlinked file */

static const char *const default_dirs[] = { "/usr/lib/debug", NULL };
static const struct image_search default_search;

static const char *const *debugfile_dirs_of(const struct image_search *search)
{
	return search->debug_dirs ? search->debug_dirs : default_dirs;
}

static const char *debugfile_root_of(const struct image_search *search)
{
	return search->root ? search->root : "";
}

/* Whether other places are to be tried after this error. Not after -ENOMEM, which says nothing of
 * the file. */
static bool debugfile_goes_on(int r)
{
	return r < 0 && r != -ENOMEM;
}

/* Opens path and keeps it only if its build-id is want's, where want has one. -ESTALE: the file has
 * another build-id, which *ret_found then says. */
static int debugfile_try_image(struct image **ret, const char *path,
                               const struct image_build_id *want, struct image_build_id *ret_found,
                               struct seam_error *err)
{
	struct image_build_id found = { 0 };
	char is[IMAGE_BUILD_ID_HEX], was[IMAGE_BUILD_ID_HEX];
	struct image *image;
	int r = image_open(&image, path, err);

	if (r < 0)
		return r;
	image_build_id(image, &found);
	if (want && want->size && !image_build_id_equal(&found, want)) {
		image_close(image);
		if (ret_found)
			*ret_found = found;
		return seam_error_set(err, ESTALE, path, SEAM_NO_OFFSET, NULL,
		                      "its build-id is %s, recorded was %s",
		                      found.size ? image_build_id_hex(&found, is) : "missing",
		                      image_build_id_hex(want, was));
	}
	*ret = image;
	return 0;
}

/* debugfile_try_image for a path that is composed. Paths may be of any length. */
static int __attribute__((format(printf, 5, 6)))
try_printf(struct image **ret, const struct image_build_id *want, struct image_build_id *ret_found,
           struct seam_error *err, const char *fmt, ...)
{
	struct buf path = { 0 };
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vprintf(&path, fmt, ap);
	va_end(ap);
	r = r < 0 ? -ENOMEM : debugfile_try_image(ret, buf_text(&path), want, ret_found, err);
	buf_free(&path);
	return r;
}

/* Tries the places where files lie by build-id: in the debug directories with this ending, in the
 * cache under this name. */
static int debugfile_try_build_id(struct image **ret, const struct image_build_id *want,
                                  const struct image_search *search, const char *ending,
                                  const char *cache_name)
{
	char hex[IMAGE_BUILD_ID_HEX];
	const char *const *dir;
	int r = -ENOENT;

	if (want->size < 2)
		return -ENOENT;
	image_build_id_hex(want, hex);
	for (dir = debugfile_dirs_of(search); debugfile_goes_on(r) && *dir; dir++)
		r = try_printf(ret, want, NULL, NULL, "%s%s/.build-id/%.2s/%s%s",
		               debugfile_root_of(search), *dir, hex, hex + 2, ending);
	if (debugfile_goes_on(r) && search->buildid_dir)
		r = try_printf(ret, want, NULL, NULL, "%s/.build-id/%.2s/%s/%s",
		               search->buildid_dir, hex, hex + 2, cache_name);
	return r;
}

/* The path of what is kept beside an object under this build-id, such as its vdso. -ENOENT,
 * -ENAMETOOLONG. */
int image_kept_path(const struct image_search *search, const struct image_build_id *id,
                    const char *name, char *path, size_t n)
{
	char hex[IMAGE_BUILD_ID_HEX];
	int length;

	if (!search->buildid_dir || id->size < 2)
		return -ENOENT;
	image_build_id_hex(id, hex);
	length = snprintf(path, n, "%s/.build-id/%.2s/%s/%s", search->buildid_dir, hex, hex + 2,
	                  name);
	return length < 0 || (size_t)length >= n ? -ENAMETOOLONG : 0;
}

/* What was fetched is checked like any other candidate. */
static int debugfile_try_fetch(struct image **ret, const struct image_build_id *id,
                               const struct image_search *search, bool debug)
{
	char path[4096];

	if (!search->fetch || !id->size ||
	    search->fetch->fetch(search->fetch->ctx, id, debug, path, sizeof(path)) < 0)
		return -ENOENT;
	return debugfile_try_image(ret, path, id, NULL, NULL);
}

/* Tries the places where distributions, and those who build their own, put the kernel. Without a
 * build-id only the file that the user named is taken, because a release does not say which build
 * it was. */
static int debugfile_try_vmlinux(struct image **ret, const struct image_build_id *want,
                                 const struct image_search *search,
                                 struct image_build_id *ret_found, struct seam_error *err)
{
	static const struct place {
		const char *before, *after; /* the release */
		bool debug_dir, plain;
	} places[] = {
		{ "/boot/vmlinux-", "", true, true },
		{ "/lib/modules/", "/vmlinux", true, true },
		{ "/lib/modules/", "/build/vmlinux", false, true },
		{ "/vmlinux-", "", true, false },
	};
	const char *release = search->kernel_release;
	int r = -ENOENT;

	if (search->vmlinux)
		r = debugfile_try_image(ret, search->vmlinux, want, ret_found, err);
	else
		seam_error_set(err, ENOENT, "vmlinux", SEAM_NO_OFFSET, NULL,
		               "none of the recorded kernel was found");
	/* A release is used as the name of a directory, so it must not lead out of its parent. */
	if (r >= 0 || !want || !want->size || !release || strchr(release, '/'))
		return r;
	for (size_t i = 0; debugfile_goes_on(r) && i < sizeof(places) / sizeof(*places); i++) {
		const struct place *p = &places[i];

		if (p->plain)
			r = try_printf(ret, want, NULL, NULL, "%s%s%s%s", debugfile_root_of(search),
			               p->before, release, p->after);
		for (const char *const *dir = debugfile_dirs_of(search);
		     p->debug_dir && debugfile_goes_on(r) && *dir; dir++)
			r = try_printf(ret, want, NULL, NULL, "%s%s%s%s%s",
			               debugfile_root_of(search), *dir, p->before, release,
			               p->after);
	}
	return r;
}

/* Where no build-id was recorded: asks the caller whether the file is the one that was recorded. */
static int debugfile_file_identity_for(struct image **image, const char *path,
                                       const struct image_search *search, struct seam_error *err)
{
	const struct image_identity *file_identity = search->root ? NULL : search->file_identity;
	struct stat st;
	int r;

	/* Below a root whoever made it vouches for the files (see debugfile_may_speak_of). */
	if (!file_identity || fstat((*image)->fd, &st) < 0)
		return 0;
	r = file_identity->file_identity(file_identity->ctx, *image, path, &st, err);
	if (r < 0) {
		image_close(*image);
		*image = NULL;
	}
	return r;
}

/* Tries a module of which only the name is known ("[ext4]"). Its file is accepted only by build-id,
 * or below a root, whose maker vouches for it. */
static int debugfile_try_module(struct image **ret, const char *name,
                                const struct image_build_id *want,
                                const struct image_search *search, struct image_build_id *ret_found,
                                struct seam_error *err)
{
	struct buf path = { 0 };
	int r = (want && want->size) || search->root ? module_path(&path, search, name) : -ENOENT;

	if (r >= 0)
		r = try_printf(ret, want, ret_found, err, "%s%s", debugfile_root_of(search),
		               buf_text(&path));
	else
		seam_error_set(err, ENOENT, name, SEAM_NO_OFFSET, NULL,
		               "no file of that module was found");
	buf_free(&path);
	return r;
}

/* Looks by build-id alone, at all places where files are kept by it. */
static int debugfile_find_by_id(struct image **ret, const struct image_build_id *want,
                                const struct image_search *search, bool kernel)
{
	int r = debugfile_try_build_id(ret, want, search, "", "elf");

	if (debugfile_goes_on(r))
		r = debugfile_try_build_id(ret, want, search, ".debug", "debug");
	if (debugfile_goes_on(r))
		r = debugfile_try_fetch(ret, want, search, false);
	if (debugfile_goes_on(r) && kernel)
		r = debugfile_try_fetch(ret, want, search, true);
	return r;
}

/* Tries the path itself before the places where files lie by build-id, so that the usual case opens
 * one file. What the error says is what was wrong at the path. */
int image_find(struct image **ret, const char *path, const struct image_build_id *want,
               const struct image_search *search, struct image_build_id *ret_found,
               struct seam_error *err)
{
	size_t n = strlen(path), cut = strlen(DELETED);
	bool deleted = n > cut && !strcmp(path + n - cut, DELETED);
	bool known = want && want->size, kernel = !strncmp(path, "[kernel.", 8);
	int r;

	if (!search)
		search = &default_search;
	/* What is at a deleted file's path now is another file, unless the build-id says no. */
	if (kernel)
		r = debugfile_try_vmlinux(ret, want, search, ret_found, err);
	else if (path[0] == '[')
		r = debugfile_try_module(ret, path, want, search, ret_found, err);
	else if (path[0] != '/' || (deleted && !known))
		r = seam_error_set(err, ENOENT, path, SEAM_NO_OFFSET, NULL, "%s",
		                   deleted ? "it was deleted before it was recorded"
		                           : "not a path from the root");
	else
		r = try_printf(ret, want, ret_found, err, "%s%.*s", debugfile_root_of(search),
		               (int)(deleted ? n - cut : n), path);
	if (r >= 0 && !known && !kernel)
		r = debugfile_file_identity_for(ret, path, search, err);
	if (debugfile_goes_on(r) && known) {
		int by_id = debugfile_find_by_id(ret, want, search, kernel);

		r = debugfile_goes_on(by_id) ? r
		                             : by_id; /* what was wrong with the file at the path */
	}
	return r;
}

bool image_is_proven(const char *path, const struct image_build_id *want,
                     const struct image_search *search)
{
	const struct image_identity *by = search ? search->file_identity : NULL;

	return (want && want->size) || (by && by->knows && by->knows(by->ctx, path));
}

/* ---- debuglink ---- */

/* What .gnu_debuglink says, and of which object. */
struct link {
	const char *name;
	uint32_t crc;
	struct image_build_id object_id;
	dev_t device; /* of the object itself, which is not its own debug file */
	ino_t inode;
};

/*
 * Whether a file may be believed about another one that it only lies near to. Anybody can write a
 * build-id and a CRC, and many can write to the directory. So the file must belong to root, to this
 * user, or to the owner of the other file. Below a root (--symfs) whoever named the root vouches
 * for all files.
 */
static bool debugfile_may_speak_of(const struct image *file, const struct image *of,
                                   const struct image_search *search)
{
	struct stat st, of_st;

	if (search->root)
		return true;
	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return false;
	return !st.st_uid || st.st_uid == geteuid() ||
	       (of->fd >= 0 && !fstat(of->fd, &of_st) && of_st.st_uid == st.st_uid);
}

/* The CRC is that of zlib and xz, over the whole file. */
static int debugfile_file_crc(const char *path, uint32_t *ret)
{
	unsigned char *bytes = malloc(1 << 16);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint32_t crc = 0;
	ssize_t n = -1;

	while (bytes && fd >= 0 && (n = read(fd, bytes, 1 << 16)) > 0)
		crc = lzma_crc32(bytes, (size_t)n, crc);
	if (fd >= 0)
		close(fd);
	free(bytes);
	*ret = crc;
	return n < 0 ? -EIO : 0;
}

/* Opens the file that a debuglink may mean. -ESTALE: it is another one, by build-id, or by its CRC
 * where either of the two files has no build-id. */
static int debugfile_try_link(struct image **ret, const struct link *link, const char *path)
{
	struct image_build_id id = { 0 };
	struct image *image;
	struct stat st;
	uint32_t crc;
	int r;

	/* An object that is not stripped may be found as its own debug file. */
	if (stat(path, &st) < 0 || (st.st_dev == link->device && st.st_ino == link->inode))
		return -ENOENT;
	r = image_open(&image, path, NULL);
	if (r < 0)
		return r;
	image_build_id(image, &id);
	if (id.size && link->object_id.size)
		r = image_build_id_equal(&id, &link->object_id) ? 0 : -ESTALE;
	else
		r = debugfile_file_crc(path, &crc) < 0 || crc != link->crc ? -ESTALE : 0;
	if (r < 0)
		image_close(image);
	else
		*ret = image;
	return r;
}

/* Tries a debug file beside the object, where others may write. -EPERM: it belongs to a
 * stranger. */
static int debugfile_try_beside(struct image **ret, struct image *object, const struct link *link,
                                const char *path, const struct image_search *search)
{
	int r = debugfile_try_link(ret, link, path);

	if (r < 0 || debugfile_may_speak_of(*ret, object, search))
		return r;
	image_close(*ret);
	return -EPERM;
}

/* Tries the places of a debuglink: next to the object, in .debug beside it, and under the debug
 * directories. dir: the object's directory, with root in front of it. */
static int debugfile_try_link_dirs(struct image **ret, struct image *object,
                                   const struct link *link, const char *dir,
                                   const struct image_search *search)
{
	static const char *const beside[] = { "", "/.debug" };
	const char *root = debugfile_root_of(search);
	size_t n_root = strlen(root);
	/* Debug directories hold the tree of the system: /usr/lib/debug/usr/bin/ls.debug. */
	const char *inside = strncmp(dir, root, n_root) ? dir : dir + n_root;
	struct buf path = { 0 };
	int r = -ENOENT, refused = 0;

	for (size_t i = 0; debugfile_goes_on(r) && i < 2; i++) {
		buf_clear(&path);
		buf_printf(&path, "%s%s/%s", dir, beside[i], link->name);
		r = debugfile_try_beside(ret, object, link, buf_text(&path), search);
		refused = r == -EPERM ? r : refused;
	}
	for (const char *const *d = debugfile_dirs_of(search); debugfile_goes_on(r) && *d; d++) {
		buf_clear(&path);
		buf_printf(&path, "%s%s%s/%s", root, *d, inside, link->name);
		r = debugfile_try_link(ret, link, buf_text(&path));
	}
	buf_free(&path);
	return debugfile_goes_on(r) && refused ? refused : r;
}

/* Looks for the debug file in the directories that belong to the object's directory, as its path
 * spells it and with all links resolved. -EPERM: the only one found may have been written by a
 * stranger. */
static int debugfile_find_linked(struct image **ret, struct image *object, const struct link *link,
                                 const struct image_search *search)
{
	char *dir = strdup(image_path(object)), *real = realpath(image_path(object), NULL);
	char *slash = dir ? strrchr(dir, '/') : NULL;
	int r = dir ? -ENOENT : -ENOMEM, refused;

	if (slash) {
		*slash = 0;
		r = debugfile_try_link_dirs(ret, object, link, dir, search);
	}
	/* /lib -> /usr/lib: the debug file may be filed under the other name. */
	slash = real ? strrchr(real, '/') : NULL;
	refused = r == -EPERM ? r : 0;
	if (debugfile_goes_on(r) && slash) {
		*slash = 0;
		r = debugfile_try_link_dirs(ret, object, link, real, search);
	}
	if (debugfile_goes_on(r) && refused)
		r = refused;
	free(dir);
	free(real);
	return r;
}

/* Reads the section .gnu_debuglink, and the object's identity, by which its debug file is told.
 * -ENOENT: no such section; -EBADMSG: damaged, or the name holds a '/'. */
static int debugfile_read_link(struct image *object, struct link *ret)
{
	struct image_section section;
	struct cursor c;
	struct stat st;
	int r = image_section(object, ".gnu_debuglink", &section);

	if (r < 0)
		return r;
	c = cursor_of(section.bytes, section.n,
	              image_is_big_endian(object) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	*ret = (struct link){ .name = cursor_string(&c) };
	/* The name is padded to 4 bytes; the CRC stands behind it. */
	cursor_seek(&c, (cursor_offset(&c) + 3) & ~(size_t)3);
	ret->crc = cursor_u32(&c);
	if (c.failed || !*ret->name || strchr(ret->name, '/'))
		return -EBADMSG;
	image_build_id(object, &ret->object_id);
	if (object->fd >= 0 && !fstat(object->fd, &st)) {
		ret->device = st.st_dev;
		ret->inode = st.st_ino;
	}
	return 0;
}

/* At its own path below the debug directories, as kernel modules are. */
static int debugfile_try_beneath(struct image **ret, struct image *object,
                                 const struct image_build_id *id, const struct image_search *search)
{
	static const char *const endings[] = { "", ".debug" };
	const char *root = debugfile_root_of(search), *path = image_path(object);
	size_t n_root = strlen(root), n = strlen(path);
	int r = -ENOENT;

	if (!strncmp(path, root, n_root)) {
		path += n_root;
		n -= n_root;
	}
	/* Modules are packed as files, their debug files are not. */
	if (n > 3 && !strcmp(path + n - 3, ".xz"))
		n -= 3;
	for (const char *const *dir = debugfile_dirs_of(search);
	     debugfile_goes_on(r) && path[0] == '/' && *dir; dir++)
		for (size_t i = 0; debugfile_goes_on(r) && i < 2; i++)
			r = try_printf(ret, id, NULL, NULL, "%s%s%.*s%s", root, *dir, (int)n, path,
			               endings[i]);
	return r;
}

/* Looks by build-id first. Below a root, which somebody put together, it looks beside the object
 * first: of two objects with one build-id only one can have its debug file filed by that. */
int image_find_debug(struct image **ret, struct image *object, const struct image_search *search,
                     struct seam_error *err)
{
	struct image_build_id id = { 0 };
	struct link link;
	bool linked = debugfile_read_link(object, &link) == 0;
	int r = -ENOENT, refused = 0;

	if (!search)
		search = &default_search;
	if (linked && search->root)
		r = debugfile_find_linked(ret, object, &link, search);
	if (debugfile_goes_on(r) && image_build_id(object, &id) > 0)
		r = debugfile_try_build_id(ret, &id, search, ".debug", "debug");
	if (debugfile_goes_on(r) && id.size)
		r = debugfile_try_beneath(ret, object, &id, search);
	if (debugfile_goes_on(r) && linked)
		r = debugfile_find_linked(ret, object, &link, search);
	refused = r == -EPERM;
	if (debugfile_goes_on(r))
		r = debugfile_try_fetch(ret, &id, search, true);
	if (r == -ENOMEM)
		return seam_error_set(err, ENOMEM, image_path(object), SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(ENOMEM));
	if (r < 0 && refused)
		return seam_error_set(err, EPERM, image_path(object), SEAM_NO_OFFSET, NULL,
		                      "the owner of the debug file beside it is neither root, nor "
		                      "you, nor the object's");
	if (r < 0)
		return seam_error_set(err, ENOENT, image_path(object), SEAM_NO_OFFSET, NULL,
		                      "no separate debug file was found");
	return 0;
}

/* ---- dwz ---- */

/* At its path: from the root, or from the directory of the file that names it. */
static int debugfile_try_alt_path(struct image **ret, struct image *debug, const char *name,
                                  const struct image_build_id *id,
                                  const struct image_search *search)
{
	char *real = name[0] == '/' ? NULL : realpath(image_path(debug), NULL);
	char *slash = real ? strrchr(real, '/') : NULL;
	int r = -ENOENT;

	if (name[0] == '/')
		r = try_printf(ret, id, NULL, NULL, "%s%s", debugfile_root_of(search), name);
	else if (slash)
		r = try_printf(ret, id, NULL, NULL, "%.*s/%s", (int)(slash - real), real, name);
	free(real);
	if (r >= 0 && !debugfile_may_speak_of(*ret, debug, search)) {
		image_close(*ret);
		return -EPERM;
	}
	return r;
}

/* dwz moves what several debug files share into one more file, which .gnu_debugaltlink names. The
 * link holds the file's name and its build-id; no file with another build-id is taken. */
int image_find_alt(struct image **ret, struct image *debug, const struct image_search *search,
                   struct seam_error *err)
{
	struct image_build_id id = { 0 };
	struct image_section section;
	const char *name;
	struct cursor c;
	size_t n;
	int r = image_section(debug, ".gnu_debugaltlink", &section);

	if (!search)
		search = &default_search;
	if (r < 0)
		return seam_error_set(err, -r, image_path(debug), SEAM_NO_OFFSET,
		                      ".gnu_debugaltlink", "there is none");
	c = cursor_of(section.bytes, section.n, false);
	name = cursor_string(&c);
	n = cursor_left(&c);
	if (c.failed || !name || !*name || !n)
		return seam_error_set(err, EBADMSG, image_path(debug), SEAM_NO_OFFSET,
		                      ".gnu_debugaltlink", "damaged");
	id.size = n < IMAGE_BUILD_ID_MAX ? (uint8_t)n : IMAGE_BUILD_ID_MAX;
	memcpy(id.bytes, cursor_bytes(&c, id.size), id.size);
	r = debugfile_try_build_id(ret, &id, search, ".debug", "debug");
	if (r < 0)
		r = debugfile_try_alt_path(ret, debug, name, &id, search);
	if (r < 0)
		r = debugfile_try_fetch(ret, &id, search, true);
	if (r < 0)
		return seam_error_set(err, ENOENT, image_path(debug), SEAM_NO_OFFSET,
		                      ".gnu_debugaltlink", "%s was not found", name);
	return 0;
}

/* .gnu_debugdata holds symbols of a stripped object, as a small ELF file packed by xz. */
int image_open_debugdata(struct image **ret, struct image *object, struct seam_error *err)
{
	struct image_section section;
	struct buf bytes = { 0 };
	int r = image_section(object, ".gnu_debugdata", &section);

	if (r == 0)
		r = unxz(section.bytes, section.n, ELF_UNPACKED_MAX, &bytes);
	if (r == 0)
		r = image_open_memory(ret, bytes.bytes, bytes.n, image_path(object), err);
	else
		r = seam_error_set(err, r == -E2BIG ? EBADMSG : -r, image_path(object),
		                   SEAM_NO_OFFSET, ".gnu_debugdata", "%s",
		                   r == -ENOENT ? "there is none" : "cannot be unpacked");
	buf_free(&bytes);
	return r;
}
