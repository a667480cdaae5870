/* SPDX-License-Identifier: MIT */
/*
 * builds.h: which build of each object several profiles have. A function without a name is known by
 * where it begins, which means the same function in one build only: between two of them nothing
 * tells which is which.
 */
#ifndef SEAM_PROFILE_BUILDS_H
#define SEAM_PROFILE_BUILDS_H

#include "base/buf.h"
#include "base/intern.h"
#include "profile/profile.h"

/* Zero-initialise to start. */
struct builds {
	struct intern objects; /* last components of paths */
	struct intern ids;     /* build-ids */
	struct buf of;         /* uint32_t by object: its build-id; 0: none yet; BUILDS_SEVERAL */
};
#define BUILDS_SEVERAL UINT32_MAX /* or one that is not known */

/* Takes note of a profile's objects. -ENOMEM. */
int builds_add(struct builds *b, const struct profile *p);
/* Removes from a profile the names that do not mean the same in all of them: such a function has no
 * name then. The profile is replaced by a new one. -ENOMEM. */
int builds_fold(struct profile **p, struct builds *b);
void builds_free(struct builds *b);

#endif
