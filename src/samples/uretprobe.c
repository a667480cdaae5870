// SPDX-License-Identifier: MIT
// uretprobe.c: see uretprobe.h.
#include "samples/uretprobe.h"

#include <string.h>

#include "unwind/walk.h"

/* The kernel's trampoline page is a special mapping of this name. */
bool uretprobe_took(const struct proc_mapping *m)
{
	return m && m->object->kind == PROC_KIND_UPROBES && !strcmp(m->object->path, "[uprobes]");
}

bool uretprobe_in_stack(const struct proc_table *procs, uint32_t space,
                        const struct seam_u64s *user)
{
	/* The innermost address is where execution stopped: in the trampoline itself, perhaps. */
	for (uint64_t i = 1; i < user->n; i++)
		if (uretprobe_took(
		            proc_space_find(procs, space, seam_u64s_at(user, i) & WALK_ADDRESS)))
			return true;
	return false;
}
