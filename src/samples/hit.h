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

#include "abi/runtime_code.h"
#include "samples/callchain.h"

/* Whether the sample hit at another place than where its callchain begins, or its callchain has no
 * address at all. */
bool hit_apart(const struct callchain *chain);
/* The steps of hit_apart, for callers that have only parts of a sample. This one gives the
 * innermost address of a part of a chain; false: it has markers alone. */
static inline bool hit_chain(const struct seam_u64s *part, uint64_t *ret)
{
	for (uint64_t i = 0; i < part->n; i++) {
		*ret = seam_u64s_at(part, i);
		if (*ret < SEAM_CONTEXT_MAX)
			return true;
	}
	return false;
}
/* Cuts both parts of a chain behind its innermost address. */
static inline void hit_cut(struct seam_u64s *kernel, struct seam_u64s *user)
{
	for (uint64_t i = 0; i < kernel->n; i++) {
		if (seam_u64s_at(kernel, i) < SEAM_CONTEXT_MAX) {
			kernel->n = i + 1;
			user->n = 0;
			return;
		}
	}
	if (user->n)
		user->n = 1;
}
/* Whether the part in front of the user part begins with a user address. Addresses in front of the
 * first marker have the mode of the record's header. */
static inline bool hit_user_first(const struct seam_u64s *kernel, uint16_t misc)
{
	return kernel->n && (misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER &&
	       seam_u64s_at(kernel, 0) < SEAM_CONTEXT_MAX;
}
static inline bool hit_known(const struct seam_event *event)
{
	return event && event->attr.sample_type & SEAM_SAMPLE_IP;
}
/* Compares a known ip with the innermost address of the chain. A tool that has no ip to tell writes
 * 0, or a header without a mode. The ip of a function that is interpreted is its interpreter's. */
static inline bool hit_elsewhere(uint64_t ip, uint16_t misc, uint64_t chain)
{
	return ip != chain && ip && !runtime_code_is(chain) &&
	       (misc & SEAM_MISC_CPUMODE_MASK) != SEAM_MISC_CPUMODE_UNKNOWN;
}

#endif
