// SPDX-License-Identifier: MIT
// sample.c: the parts of a sample's callchain, which may be words by number.
#include "samples/hit.h"
#include "samples/samples_parts.h"

/* Words by number come from the base; a sample of a stream has its words with it. */
struct seam_u64s sample_kernel(const struct sample *s)
{
	return s->kernel_number ? stacks_base_words(s->base, s->kernel_number) : s->kernel;
}

struct seam_u64s sample_user(const struct sample *s)
{
	return s->user_number ? stacks_base_words(s->base, s->user_number) : s->user;
}

/* Where a chain begins, of a sample that hit there; 0: it does not say. */
static uint64_t sample_begins(const struct callchain *chain)
{
	uint64_t ip;

	if (!hit_known(chain->event))
		return 0;
	if (hit_chain(&chain->kernel, &ip))
		return ip;
	return !chain->kernel.n && chain->user.n ? seam_u64s_at(&chain->user, 0) : 0;
}

/* Both parts with what naming needs. ip is 0 where neither the sample nor its chain says where it
 * hit. */
struct callchain sample_callchain(const struct sample *s)
{
	struct callchain chain = { .event = s->event,
		                   .ip = s->ip,
		                   .misc = s->misc,
		                   .deferred_misc = s->deferred_misc,
		                   .state = s->state,
		                   .kernel = sample_kernel(s),
		                   .user = sample_user(s) };

	if (!s->apart)
		chain.ip = sample_begins(&chain);
	return chain;
}
