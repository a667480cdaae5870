/* SPDX-License-Identifier: MIT */
/* events.h: an order of the events of a profile that does not depend on which of them was met
 * first. */
#ifndef SEAM_PROFILE_EVENTS_H
#define SEAM_PROFILE_EVENTS_H

#include "profile/flat.h"

/* Numbers the events of a filled profile by their names, then by their units; what is told of its
 * stacks beside it (NULL: nothing) follows. For an answer, whose origin says nothing of events.
 * -ENOMEM. */
int events_sort(struct profile *p, struct flat *flat);

#endif
