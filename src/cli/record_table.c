// SPDX-License-Identifier: MIT
/*
 * record_table.c: see record_table.h. A file is only asked for its table when it is the one that was mapped: its build-id agrees, or
 * for one without, its inode.
 */
#include "cli/record_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/buildid.h"
#include "image/image.h"
#include "proc/object.h"

/* Where the file that was mapped can be read: by its name, or by that in the process's own file system. */
static bool record_table_path(const struct kwalk_ask *ask, char *path, size_t n)
{
	struct stat st;

	if ((size_t)snprintf(path, n, "%s", ask->path) < n && stat(path, &st) == 0 &&
	    (!ask->inode || st.st_ino == ask->inode))
		return true;
	return (size_t)snprintf(path, n, "/proc/%d/root%s", (int)ask->pid, ask->path) < n &&
	       stat(path, &st) == 0 && (!ask->inode || st.st_ino == ask->inode);
}

/* By build-id, so that a file that took the other's place is not taken for it; one without is known by its inode. */
static void record_table_file(struct tables *tables, const struct kwalk_ask *ask,
                              const struct tables_object **ret)
{
	struct image_build_id id = { .size = ask->build_id_size };
	char path[4096 + 32];
	int fd;

	if (!record_table_path(ask, path, sizeof(path)))
		return;
	memcpy(id.bytes, ask->build_id, sizeof(id.bytes));
	fd = id.size ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		id.size = (uint8_t)buildid_from_fd(fd, id.bytes);
		close(fd);
	}
	tables_get(tables, path, &id, ret);
}

void record_table(struct tables *tables, const struct kwalk_ask *ask, struct kwalk_table *ret)
{
	enum proc_kind kind = object_kind_user(ask->path);
	const struct tables_object *object = NULL;
	const unsigned char *vdso;
	uint64_t vaddr;
	size_t n;

	if (kind == PROC_KIND_FILE)
		record_table_file(tables, ask, &object);
	else if (kind == PROC_KIND_VDSO && image_own_vdso(&vdso, &n) > 0)
		tables_get_memory(tables, "[vdso]", vdso, n, &object);
	else
		ret->may_guess = kind == PROC_KIND_ANON;
	if (object && object->table &&
	    image_segments_vaddr(object->segments, object->n_segments, ask->pgoff, &vaddr) >= 0) {
		ret->blob = object->table->header;
		ret->vaddr = vaddr;
	}
}
