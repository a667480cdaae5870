/* SPDX-License-Identifier: MIT */
/* habit.h: what to use in place of options that perf's users type out of habit and that seam does
 * not have. */
#ifndef SEAM_CMD_HABIT_H
#define SEAM_CMD_HABIT_H

#include <stddef.h>

/* For the option `name` (of n bytes, without dashes) of the command; NULL: it is nobody's habit. */
const char *habit_instead(const char *command, const char *name, size_t n);

#endif
