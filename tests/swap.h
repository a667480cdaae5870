/* SPDX-License-Identifier: MIT */
/*
 * swap.h: turns a native record into the one that a machine of the other byte order would have
 * written, field by field. For tests only. It walks native bytes that the test itself made, by the
 * field lists of records.def and by the attr: it shares no code with the decoder that it tests.
 */
#ifndef SEAM_TESTS_SWAP_H
#define SEAM_TESTS_SWAP_H

#include <seam/record.h>

#include "abi/fields.h"

static inline void swap_bytes(unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		unsigned char b = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = b;
	}
}

/* The native value at p, which is then swapped. */
static inline uint64_t swap_u64(unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	swap_bytes(p, 8);
	return v;
}

static inline uint32_t swap_u32(unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	swap_bytes(p, 4);
	return v;
}

static inline uint16_t swap_u16(unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	swap_bytes(p, 2);
	return v;
}

static inline unsigned char *swap_u64s(unsigned char *p, uint64_t n)
{
	for (; n; n--, p += 8)
		swap_bytes(p, 8);
	return p;
}

/* Bit-fields of these widths, from bit 0 on: a big-endian compiler begins at the word's top. */
static inline void swap_bits(unsigned char *p, const unsigned char *widths, size_t n)
{
	uint64_t v, r = 0;
	unsigned at = 0;

	memcpy(&v, p, 8);
	for (size_t i = 0; i < n; at += widths[i++])
		r |= (v >> at & (~0ULL >> (64 - widths[i]))) << (64 - at - widths[i]);
	memcpy(p, &r, 8);
	swap_bytes(p, 8);
}

static inline void swap_attr(unsigned char *p, size_t n)
{
	static const unsigned char widths[] = { 4, 4, 8, 8, 8, 8, 0, 4, 4, 8, 8, 8,
		                                8, 4, 4, 8, 4, 2, 2, 4, 0, 8, 8, 8 };
	unsigned char flags[63];
	size_t at = 0;

	memset(flags, 1, sizeof(flags));
	flags[SEAM_ATTR_PRECISE_IP_SHIFT] = 2; /* the only field of two bits */
	for (size_t i = 0; i < sizeof(widths) && at < n; i++) {
		unsigned char word[8] = { 0 };

		if (widths[i]) {
			swap_bytes(p + at, widths[i]);
			at += widths[i];
		} else if (at == 40) {
			swap_bits(p + at, flags, sizeof(flags));
			at += 8;
		} else { /* aux_action: 32 bits of fields of one */
			memcpy(word, p + at, 4);
			swap_bits(word, flags + 31, 32); /* lands in the word's first half */
			memcpy(p + at, word, 4);
			at += 4;
		}
	}
}

static inline unsigned char *swap_id(unsigned char *p, uint64_t bits)
{
	static const uint64_t order[] = { SEAM_SAMPLE_TID, SEAM_SAMPLE_TIME,
		                          SEAM_SAMPLE_ID,  SEAM_SAMPLE_STREAM_ID,
		                          SEAM_SAMPLE_CPU, SEAM_SAMPLE_IDENTIFIER };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		bool pair = order[i] == SEAM_SAMPLE_TID || order[i] == SEAM_SAMPLE_CPU;

		if (!(bits & order[i]))
			continue;
		swap_bytes(p, pair ? 4 : 8);
		if (pair)
			swap_bytes(p + 4, 4);
		p += 8;
	}
	return p;
}

static inline unsigned char *swap_branches(unsigned char *p, const struct seam_attr *a)
{
	static const unsigned char widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31 };
	uint64_t n = swap_u64(p);

	p += 8;
	if (a->branch_sample_type & 1ULL << 17)
		p = swap_u64s(p, 1);
	for (uint64_t i = 0; i < n; i++, p += 8) {
		p = swap_u64s(p, 2);
		swap_bits(p, widths, sizeof(widths));
	}
	return a->branch_sample_type & 1ULL << 19 ? swap_u64s(p, n) : p;
}

static inline unsigned char *swap_regs(unsigned char *p, uint64_t mask)
{
	uint64_t abi = swap_u64(p);

	return swap_u64s(p + 8, abi ? (uint64_t)__builtin_popcountll(mask) : 0);
}

static inline unsigned char *swap_read(unsigned char *p, uint64_t format)
{
	uint64_t each = 1 + !!(format & SEAM_FORMAT_ID) + !!(format & SEAM_FORMAT_LOST);
	uint64_t times = (format & 1) + (format >> 1 & 1);

	if (!(format & SEAM_FORMAT_GROUP))
		return swap_u64s(p, each + times);
	each *= swap_u64(p);
	return swap_u64s(p + 8, each + times);
}

static inline void swap_sample(unsigned char *p, const struct seam_attr *a)
{
	static const uint64_t order[] = {
		SEAM_SAMPLE_IDENTIFIER, SEAM_SAMPLE_IP,   SEAM_SAMPLE_TID,
		SEAM_SAMPLE_TIME,       SEAM_SAMPLE_ADDR, SEAM_SAMPLE_ID,
		SEAM_SAMPLE_STREAM_ID,  SEAM_SAMPLE_CPU,  SEAM_SAMPLE_PERIOD,
	};
	uint64_t type = a->sample_type, n;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		bool pair = order[i] == SEAM_SAMPLE_TID || order[i] == SEAM_SAMPLE_CPU;

		if (!(type & order[i]))
			continue;
		swap_bytes(p, pair ? 4 : 8);
		if (pair)
			swap_bytes(p + 4, 4);
		p += 8;
	}
	if (type & SEAM_SAMPLE_READ)
		p = swap_read(p, a->read_format);
	if (type & SEAM_SAMPLE_CALLCHAIN) {
		n = swap_u64(p);
		p = swap_u64s(p + 8, n);
	}
	if (type & SEAM_SAMPLE_RAW) {
		n = swap_u32(p);
		p += 4 + n; /* the tracepoint's own bytes: not the ABI's to swap */
	}
	if (type & SEAM_SAMPLE_BRANCH_STACK)
		p = swap_branches(p, a);
	if (type & SEAM_SAMPLE_REGS_USER)
		p = swap_regs(p, a->sample_regs_user);
	if (type & SEAM_SAMPLE_STACK_USER) {
		n = swap_u64(p);
		p += 8 + n;
		if (n)
			p = swap_u64s(p, 1);
	}
	p = swap_u64s(p, !!(type & (SEAM_SAMPLE_WEIGHT | SEAM_SAMPLE_WEIGHT_STRUCT)) +
	                         !!(type & SEAM_SAMPLE_DATA_SRC) +
	                         !!(type & SEAM_SAMPLE_TRANSACTION));
	if (type & SEAM_SAMPLE_REGS_INTR)
		p = swap_regs(p, a->sample_regs_intr);
	p = swap_u64s(p, !!(type & SEAM_SAMPLE_PHYS_ADDR) + !!(type & SEAM_SAMPLE_CGROUP) +
	                         !!(type & SEAM_SAMPLE_DATA_PAGE_SIZE) +
	                         !!(type & SEAM_SAMPLE_CODE_PAGE_SIZE));
	if (type & SEAM_SAMPLE_AUX)
		swap_bytes(p, 8);
}

/* CPU_MAP's data, and that of an EVENT_UPDATE of type 3. */
static inline void swap_cpus(unsigned char *p)
{
	unsigned type = swap_u16(p), n = type == 2 ? 0 : swap_u16(p + 2), width;

	switch (type) {
	case 0:
		for (p += 4; n; n--, p += 2)
			swap_bytes(p, 2);
		break;
	case 1:
		width = swap_u16(p + 4);
		for (p += width == 8 ? 10 : 6; n; n--, p += width)
			swap_bytes(p, width);
		break;
	default:
		swap_bytes(p + 4, 2);
		swap_bytes(p + 6, 2);
	}
}

static inline unsigned char *swap_fields(unsigned char *p, const unsigned char *end,
                                         const char *list)
{
	struct field f;

	while (fields_next(&list, &f) && p < end) {
		if (f.kind == 'n') {
			for (uint64_t n = swap_u64(p), i = (p += 8, 0); i < n; i++)
				p = swap_fields(p, end, f.group);
		} else if (f.kind == 's') {
			p += f.width ? f.width : strlen((char *)p) + 1;
		} else if (f.kind == 'h') {
			p = f.width ? p + f.width : p + (end - p);
		} else if (f.repeated) {
			for (; p + f.width <= end; p += f.width)
				swap_bytes(p, f.width);
		} else {
			swap_bytes(p, f.width);
			p += f.width;
		}
	}
	return p;
}

/* Swaps a whole native record of n bytes. attr: of its event; NULL: no trailer. */
static inline void swap_record(unsigned char *p, size_t n, const struct seam_attr *attr)
{
	uint64_t trailer = attr && attr->flags & SEAM_ATTR_SAMPLE_ID_ALL ? attr->sample_type : 0;
	uint32_t type = swap_u32(p);
	uint16_t misc = swap_u16(p + 4);
	unsigned char *body = p + 8, *end = p + n;
	uint64_t update;

	swap_bytes(p + 6, 2);
	if (type >= SEAM_RECORD_USER_FIRST || type == SEAM_RECORD_SAMPLE)
		trailer = 0;
	trailer &= SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ID | SEAM_SAMPLE_STREAM_ID |
	           SEAM_SAMPLE_CPU | SEAM_SAMPLE_IDENTIFIER;
	end -= 8 * __builtin_popcountll(trailer);
	swap_id(end, trailer);
	switch (type) {
	case SEAM_RECORD_SAMPLE:
		swap_sample(body, attr);
		break;
	case SEAM_RECORD_HEADER_ATTR:
		memcpy(&update, body, 8); /* type and size */
		swap_attr(body, update >> 32);
		swap_u64s(body + (update >> 32),
		          (uint64_t)(end - body - (ptrdiff_t)(update >> 32)) / 8);
		break;
	case SEAM_RECORD_CPU_MAP:
		swap_cpus(body);
		break;
	case SEAM_RECORD_EVENT_UPDATE:
		update = swap_u64(body);
		swap_u64(body + 8);
		if (update == 1)
			swap_u64(body + 16);
		else if (update == 3)
			swap_cpus(body + 16);
		break;
	case SEAM_RECORD_HEADER_FEATURE:
		swap_u64(body);
		swap_u32(body + 8); /* of a string */
		break;
	default:
		swap_fields(body, end,
		            type == SEAM_RECORD_MMAP2 && misc & SEAM_MISC_MMAP_BUILD_ID
		                    ? "pid:i4 tid:i4 addr:x8 len:x8 pgoff:x8 build_id:h24 prot:x4 "
		                      "flags:x4 filename:s"
		                    : fields_of(type));
	}
}

#endif
