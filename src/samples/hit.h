/* SPDX-License-Identifier: MIT */
/*
 * hit.h: where a sample hit, where that is not the address that its callchain begins with.
 *
 * Mostly it is. Precise events (PEBS, IBS) tell the instruction itself, while the chain begins
 * where the interrupt came, some instructions later; a chain without its kernel part
 * (exclude_callchain_kernel) begins with the user's code though the sample hit the kernel; a
 * guest's chain has markers alone. What a sample costs belongs to where it hit.
 */
#ifndef SEAM_SAMPLES_HIT_H
#define SEAM_SAMPLES_HIT_H

#include "samples/callchain.h"

/* Did it hit elsewhere than where its callchain begins, or has that no address at all? */
bool hit_apart(const struct callchain *chain);
/* Its steps, for who has a sample in parts. The innermost address of a part of a chain; false: it
 * has markers alone. */
static inline bool hit_chain(const struct seam_u64s *part, uint64_t *ret)
{
	for (uint64_t i = 0; i < part->n; i++) {
		*ret = seam_u64s_at(part, i);
		if (*ret < SEAM_CONTEXT_MAX)
			return true;
	}
	return false;
}
/* Does the part before the user's begin with an address of the user's? One in front of any marker
 * is of the header's mode. */
static inline bool hit_user_first(const struct seam_u64s *kernel, uint16_t misc)
{
	return kernel->n && (misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER &&
	       seam_u64s_at(kernel, 0) < SEAM_CONTEXT_MAX;
}
static inline bool hit_known(const struct seam_event *event)
{
	return event && event->attr.sample_type & SEAM_SAMPLE_IP;
}
/* Of a known ip, and the innermost address of its chain. Who has no ip to tell writes 0, or names
 * no mode. */
static inline bool hit_elsewhere(uint64_t ip, uint16_t misc, uint64_t chain)
{
	return ip != chain && ip && (misc & SEAM_MISC_CPUMODE_MASK) != SEAM_MISC_CPUMODE_UNKNOWN;
}

#endif
