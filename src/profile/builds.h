/* SPDX-License-Identifier: MIT */
/*
 * builds.h: objects of several profiles that are compared: which of them are the same, and which
 * build of each the profiles have.
 *
 * Objects at the same path are the same, and so are those of the same name, in whichever
 * directories they lie: two builds of a program are seldom at the same place. A function without a
 * name is known by where it begins, which means the same function in one build only: between two
 * of them nothing tells which is which.
 */
#ifndef SEAM_PROFILE_BUILDS_H
#define SEAM_PROFILE_BUILDS_H

#include "base/buf.h"
#include "base/intern.h"
#include "profile/profile.h"

/* Zero-initialise to start. */
struct builds {
	struct intern objects; /* names: object_name */
	struct intern ids;     /* build-ids */
	struct buf of;         /* uint32_t by object: its build-id; 0: none yet; BUILDS_SEVERAL */
	struct intern paths;
	struct buf at;       /* struct builds_at by path */
	uint32_t n_profiles; /* that were added */
};
#define BUILDS_SEVERAL UINT32_MAX /* or one that is not known */

/* Takes note of a profile's objects. -ENOMEM. */
int builds_add(struct builds *b, const struct profile *p);
/* Removes from a profile the names that do not mean the same in all of them: such a function has no
 * name then. The profile is replaced by a new one. -ENOMEM. */
int builds_fold(struct profile **p, struct builds *b);
/* What the object at a path is known by in every profile that was added: its path, if all of them
 * have an object there, or else its name. It points into path. */
const char *builds_known(struct builds *b, const char *path);
void builds_free(struct builds *b);

#endif
