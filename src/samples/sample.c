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

	if (!s->apart && !(chain.event->attr.sample_type & SEAM_SAMPLE_IP &&
	                   hit_chain(&chain.kernel, &chain.ip)))
		chain.ip = 0;
	return chain;
}
