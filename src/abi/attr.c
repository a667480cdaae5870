// SPDX-License-Identifier: MIT
/*
 * attr.c: perf_event_attr, as each kernel since 2.6.31 has written it, in one struct.
 *
 * Invariant: nothing behind n bytes, nor behind the size that the attr states for itself, is looked
 * at; what is not there is 0. It does not judge the values.
 *
 * The kernel's struct grew field by field, and files keep the size that their writer knew. So an
 * attr of any age decodes to the same struct seam_attr, and an attr of a newer kernel loses only
 * the fields that seam has no name for. Bit-fields of a big-endian writer are put where this
 * machine has them.
 */
#include <seam/record.h>

#include <errno.h>

#include "base/cursor.h"

/* C bit-fields fill a word from its least bit on little-endian machines, from its most on others.
 * Returns the lowest `bits` bits of v in reverse order. */
static uint64_t attr_reverse(uint64_t v, unsigned bits)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}

/* Returns the word of flags with each bit where a little-endian kernel puts it, so that SEAM_ATTR_*
 * masks hold for recordings of every machine. */
static uint64_t attr_flags(uint64_t v, bool big_endian)
{
	const uint64_t low = 1ULL << SEAM_ATTR_PRECISE_IP_SHIFT, both = low | low << 1;

	if (!big_endian)
		return v;
	v = attr_reverse(v, 64);
	/* precise_ip is the one field of two bits. Reversing the word has put it in its place, but
	 * has also swapped its two bits. */
	return (v & ~both) | (v & low) << 1 | (v >> 1 & low);
}

/* Reads the fields in the order in which the ABI grew. A field behind the end of an older, shorter
 * attr reads as 0, so callers need not know which kernel wrote it. */
int seam_attr_decode(const void *bytes, size_t n, bool swap, struct seam_attr *ret,
                     struct seam_error *err)
{
	/* swap says that the file's byte order is not ours. Ours is known at compile time, so the
	 * two together tell whether the file was written by a big-endian machine. */
	bool big_endian = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	struct cursor c = cursor_of(bytes, n, swap);
	struct seam_attr a = { 0 };

	if (n < SEAM_ATTR_SIZE_MIN)
		return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, "attr",
		                      "%zu bytes, need %u", n, SEAM_ATTR_SIZE_MIN);
	a.type = cursor_u32(&c);
	a.size = cursor_u32(&c);
	/* A size of 0, or one below the smallest attr, is no bound: old writers left the field
	 * empty. */
	if (a.size >= SEAM_ATTR_SIZE_MIN && a.size < n)
		c.end = c.start + a.size;
	/* From here on a read past the end gives 0: an older, shorter attr. */
	a.config = cursor_u64(&c);
	a.sample_period = cursor_u64(&c);
	a.sample_type = cursor_u64(&c);
	a.read_format = cursor_u64(&c);
	a.flags = attr_flags(cursor_u64(&c), big_endian);
	a.wakeup = cursor_u32(&c);
	a.bp_type = cursor_u32(&c);
	a.config1 = cursor_u64(&c);
	a.config2 = cursor_u64(&c);
	a.branch_sample_type = cursor_u64(&c);
	a.sample_regs_user = cursor_u64(&c);
	a.sample_stack_user = cursor_u32(&c);
	a.clockid = (int32_t)cursor_u32(&c);
	a.sample_regs_intr = cursor_u64(&c);
	a.aux_watermark = cursor_u32(&c);
	a.sample_max_stack = cursor_u16(&c);
	a.reserved_2 = cursor_u16(&c);
	a.aux_sample_size = cursor_u32(&c);
	a.aux_action = cursor_u32(&c);
	if (big_endian) /* bit-fields too: start_paused, pause, resume */
		a.aux_action = (uint32_t)attr_reverse(a.aux_action, 32);
	a.sig_data = cursor_u64(&c);
	a.config3 = cursor_u64(&c);
	a.config4 = cursor_u64(&c);
	*ret = a;
	return 0;
}
