// SPDX-License-Identifier: MIT
/* kernel_id.c: the build-ids that the running kernel and its modules tell of themselves, in sysfs.
 * Both are ELF notes. */
#include "symbol/object.h"

#define NOTES_MAX (1u << 20)

/* *ret is empty if the file is not there, or says nothing. */
void kernel_id_read(const char *path, struct image_build_id *ret)
{
	struct buf notes = { 0 };

	*ret = (struct image_build_id){ 0 };
	if (kallsyms_slurp(path, NOTES_MAX, &notes) == 0)
		image_build_id_of_notes(notes.bytes, notes.n, false, ret);
	buf_free(&notes);
}

void kernel_id_running(struct image_build_id *ret)
{
	kernel_id_read("/sys/kernel/notes", ret);
}
