// SPDX-License-Identifier: MIT
// walked_sample.c: see walked_sample.h.
#include "samples/walked_sample.h"

#include <errno.h>

#include "abi/encode.h"
#include "unwind/frametab.h"

#define X86_SP 7u  /* PERF_REG_X86_SP */
#define X86_IP 8u  /* PERF_REG_X86_IP */
#define ARM_SP 31u /* PERF_REG_ARM64_SP */
#define ARM_PC 32u /* PERF_REG_ARM64_PC */

/* Readers of other programs see an event with callchains. What says that its samples were unwound
 * is that the size of the copy stays. */
struct seam_attr walked_sample_attr(const struct seam_attr *in)
{
	struct seam_attr attr = *in;

	if (!(attr.sample_type & SEAM_SAMPLE_STACK_USER))
		return attr;
	attr.sample_type &= ~(SEAM_SAMPLE_REGS_USER | SEAM_SAMPLE_STACK_USER);
	attr.sample_type |= SEAM_SAMPLE_CALLCHAIN;
	attr.flags &= ~SEAM_ATTR_EXCLUDE_CALLCHAIN_USER;
	attr.sample_regs_user = 0; /* sample_stack_user stays: see walk_result.h */
	return attr;
}

/* A register by perf's number: values stand in the order of the mask's bits. 0: it was not
 * recorded. */
static uint64_t walked_sample_register(const struct seam_sample *s, unsigned bit)
{
	uint64_t below = s->regs_user.mask & ((1ULL << bit) - 1);
	uint64_t at = (uint64_t)__builtin_popcountll(below);

	if (!s->regs_user.abi || !(s->regs_user.mask >> bit & 1) || at >= s->regs_user.values.n)
		return 0;
	return seam_u64s_at(&s->regs_user.values, at);
}

uint64_t walked_sample_user_ip(uint32_t machine, const struct seam_sample *s)
{
	return walked_sample_register(s, machine == FRAMETAB_AARCH64 ? ARM_PC : X86_IP);
}

uint64_t walked_sample_user_sp(uint32_t machine, const struct seam_sample *s)
{
	return walked_sample_register(s, machine == FRAMETAB_AARCH64 ? ARM_SP : X86_SP);
}

/* The markers of contexts are perf's, so that other readers take the parts for what they are. */
int walked_sample_put(struct buf *out, struct buf *chain, const struct seam_attr *attr,
                      uint16_t misc, const struct seam_sample *s, const uint64_t *user, size_t n)
{
	struct seam_sample sample = *s;

	buf_clear(chain);
	for (uint64_t i = 0; i < s->callchain.n; i++)
		buf_put_u64(chain, seam_u64s_at(&s->callchain, i));
	if (n) {
		buf_put_u64(chain, SEAM_CONTEXT_USER);
		buf_put(chain, user, n * sizeof(*user));
	}
	if (chain->failed)
		return -ENOMEM;
	sample.callchain = encode_words((const uint64_t *)(const void *)chain->bytes, chain->n / 8);
	return encode_sample(out, attr, misc, &sample);
}
