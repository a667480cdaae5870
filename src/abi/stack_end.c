// SPDX-License-Identifier: MIT
// stack_end.c: see stack_end.h.
#include "abi/stack_end.h"

static const struct {
	const char *name, *text;
} ends[STACK_ENDS] = {
	[STACK_END_NOT_SAID] = { "not_said", "end not said" },
	[STACK_END_COMPLETE] = { "complete", "whole" },
	[STACK_END_FAULT] = { "fault", "cut off: a page was not in memory" },
	[STACK_END_NO_MAPPING] = { "no_mapping", "cut off: nothing known was mapped there" },
	[STACK_END_NO_TABLE] = { "no_table", "cut off: no unwind information" },
	[STACK_END_NO_RULE] = { "no_rule", "cut off: code that its unwind information leaves out" },
	[STACK_END_BAD_RULE] = { "bad_rule", "cut off: a rule that cannot be applied" },
	[STACK_END_NO_PROGRESS] = { "no_progress", "cut off: the stack turns back on itself" },
	[STACK_END_LIMIT] = { "limit", "cut off: more frames than the limit" },
	[STACK_END_EXEC] = { "exec", "none: the program was being replaced" },
	[STACK_END_EXITED] = { "exited", "cut off: the task was on its way out" },
	[STACK_END_COMPAT] = { "compat", "cut off: 32-bit code" },
	[STACK_END_NO_USER] = { "no_user", "none: a thread of the kernel" },
	[STACK_END_DEFERRED] = { "deferred", "deferred" },
	[STACK_END_GONE] = { "gone", "none: in its exit the task had given up its memory" },
	[STACK_END_WATCHED] = { "watched", "cut off: a uretprobe took the return address" },
};

const char *stack_end_name(enum stack_end end)
{
	return end < STACK_ENDS && ends[end].name ? ends[end].name : "unknown";
}

const char *stack_end_text(enum stack_end end)
{
	return end < STACK_ENDS && ends[end].text
	               ? ends[end].text
	               : "cut off: for a reason that this version does not know";
}
