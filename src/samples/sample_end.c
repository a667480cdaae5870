// SPDX-License-Identifier: MIT
// sample_end.c: see sample_end.h. Which ends tell of a part that is missing: all of a walk but the
// outermost frame, and what abi/stack_ends.def calls CUT.
#include "samples/sample_end.h"

#include <string.h>

_Static_assert(WALK_COMPLETE == 0 && (int)WALK_ENDS <= (int)SAMPLE_END_RESULT &&
                       (int)SAMPLE_END_RESULT + (int)WALK_RESULT_KINDS <= (int)SAMPLE_END_STACK &&
                       (int)SAMPLE_END_STACK + (int)STACK_ENDS <= (int)SAMPLE_ENDS,
               "the ranges do not overlap");

/* Of a sample whose event's copies were walked before they were written. */
static sample_end sample_end_recorded(const struct seam_event *event, uint16_t misc)
{
	struct walk_result result;

	if (!walk_result_get(&event->attr, misc, &result) || result.kind == WALK_RESULT_NO_STACK)
		return 0;
	if (result.kind == WALK_RESULT_WALKED)
		return (sample_end)(SAMPLE_END_WALK + result.end);
	return (sample_end)(SAMPLE_END_RESULT + result.kind);
}

/* Why the user part ended; 0: it is whole, or nothing is said of it. A walk of this run wins over
 * what was recorded. */
sample_end sample_end_of(const struct seam_event *event, const struct walk *walk, uint16_t misc,
                         uint16_t deferred_misc)
{
	enum stack_end end = stack_end_of(misc);

	if (walk)
		return (sample_end)(SAMPLE_END_WALK + walk->end);
	if (walk_result_said(&event->attr))
		return sample_end_recorded(event, misc);
	if (end == STACK_END_DEFERRED)
		end = stack_end_of(deferred_misc);
	return stack_end_is_cut(end) ? (sample_end)(SAMPLE_END_STACK + end) : 0;
}

/* The name for JSON and -F state. */
const char *sample_end_name(sample_end end)
{
	if (end >= SAMPLE_END_STACK)
		return stack_end_name((enum stack_end)(end - SAMPLE_END_STACK));
	if (end >= SAMPLE_END_RESULT)
		return walk_result_name(
		        &(struct walk_result){ .kind = end - (unsigned)SAMPLE_END_RESULT });
	return walk_end_name((enum walk_end)end);
}

/* That a stack is cut off is said by whoever shows the text. */
const char *sample_end_text(sample_end end)
{
	static const char cut[] = "cut off: ", none[] = "none: ";
	const char *text =
	        end >= SAMPLE_END_STACK ? stack_end_text((enum stack_end)(end - SAMPLE_END_STACK))
	        : end >= SAMPLE_END_RESULT
	                ? walk_result_kind_text((enum walk_result_kind)(end - SAMPLE_END_RESULT))
	                : walk_end_text((enum walk_end)end);

	if (!strncmp(text, cut, strlen(cut)))
		return text + strlen(cut);
	return text + (strncmp(text, none, strlen(none)) ? 0 : strlen(none));
}

/* Whether it ended because it had as many frames as there is room for. */
bool sample_end_is_limit(sample_end end)
{
	return end == SAMPLE_END_WALK + WALK_LIMIT || end == SAMPLE_END_STACK + STACK_END_LIMIT;
}
