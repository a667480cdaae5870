// SPDX-License-Identifier: MIT
// walk_end.c: why a walk ended, in words. Knows no walk.
#include "unwind/walk.h"

const char *walk_end_name(enum walk_end end)
{
	static const char *const names[WALK_ENDS] = {
		[WALK_COMPLETE] = "complete",
		[WALK_TRUNCATED] = "truncated",
		[WALK_NO_INFO] = "no_unwind_info",
		[WALK_BAD_RULE] = "bad_rule",
		[WALK_BAD_MEMORY] = "bad_memory",
		[WALK_BELOW_SP] = "below_sp",
		[WALK_OTHER_STACK] = "other_stack",
		[WALK_NO_PROGRESS] = "no_progress",
		[WALK_LIMIT] = "limit",
	};

	return end < WALK_ENDS ? names[end] : "unknown";
}

const char *walk_end_text(enum walk_end end)
{
	static const char *const texts[WALK_ENDS] = {
		[WALK_COMPLETE] = "complete",
		[WALK_TRUNCATED] = "cut off: the stack copy ended",
		[WALK_NO_INFO] = "cut off: no unwind information",
		[WALK_BAD_RULE] = "cut off: a rule that cannot be applied",
		[WALK_BAD_MEMORY] = "cut off: an address that is not stack",
		[WALK_BELOW_SP] =
		        "cut off: a rule reads below the stack pointer, which is not copied",
		[WALK_OTHER_STACK] = "cut off: a signal handler on a stack of its own",
		[WALK_NO_PROGRESS] = "cut off: the stack turns back on itself",
		[WALK_LIMIT] = "cut off: more frames than the limit",
	};

	return end < WALK_ENDS ? texts[end] : "unknown";
}
