// SPDX-License-Identifier: MIT
// sframe.c: reads SFrame: a header, function descriptors, frame row entries (FREs) of a few bytes each.
// Invariant: a function whose rows do not all lie in the section is skipped whole and counted. Only the default
// frame types are understood; a "flexible" V3 function is skipped, for its CFA may need registers that SFrame names anew.
#include "unwind/sframe.h"

#include <string.h>

#include "base/cursor.h"

enum {
	ABI_AARCH64_LE = 2,
	ABI_AMD64_LE = 3
};

#define SFRAME_MAGIC 0xdee2
#define SFRAME_PCREL 4u     /* header flag: start addresses count from their own field */
#define SFRAME_FIXED_NONE 0 /* header's fixed offsets: none */

struct sframe {
	struct rows *rows;
	const struct compile_input *in;
	const struct compile_section *section;
	uint8_t version, flags;
	int8_t fixed_fp, fixed_ra;
	uint32_t n_functions, n_fres, fres_bytes;
	uint64_t functions_at, fres_at; /* offsets in the section */
};

struct sframe_function {
	uint64_t start, size;
	uint64_t fres_at; /* offset in the section */
	uint32_t n;
	uint8_t info, rep_size;
	bool is_signal, is_flexible;
};

static bool sframe_header(struct sframe *f, struct cursor *c)
{
	uint8_t abi, aux;
	uint32_t functions, fres;
	uint64_t base;

	if (cursor_u16(c) != SFRAME_MAGIC)
		return false;
	f->version = cursor_u8(c);
	f->flags = cursor_u8(c);
	abi = cursor_u8(c);
	f->fixed_fp = (int8_t)cursor_u8(c);
	f->fixed_ra = (int8_t)cursor_u8(c);
	aux = cursor_u8(c);
	f->n_functions = cursor_u32(c);
	f->n_fres = cursor_u32(c);
	f->fres_bytes = cursor_u32(c);
	functions = cursor_u32(c);
	fres = cursor_u32(c);
	base = cursor_offset(c) + aux;
	f->functions_at = base + functions;
	f->fres_at = base + fres;
	if (c->failed || (f->version != 2 && f->version != 3))
		return false;
	return f->in->machine == FRAMETAB_X86_64 ? abi == ABI_AMD64_LE : abi == ABI_AARCH64_LE;
}

/* Version 2: 20 bytes hold all. */
static bool sframe_function_v2(const struct sframe *f, uint32_t i, struct sframe_function *ret)
{
	struct cursor c = cursor_of(f->section->bytes, f->section->n, f->in->swap);
	uint64_t at = f->functions_at + (uint64_t)i * 20;
	int32_t start;

	if (!cursor_seek(&c, at))
		return false;
	start = (int32_t)cursor_u32(&c);
	ret->start =
	        f->section->address + (f->flags & SFRAME_PCREL ? at : 0) + (uint64_t)(int64_t)start;
	ret->size = cursor_u32(&c);
	ret->fres_at = f->fres_at + cursor_u32(&c);
	ret->n = cursor_u32(&c);
	ret->info = cursor_u8(&c);
	ret->rep_size = cursor_u8(&c);
	ret->is_signal = ret->is_flexible = false;
	return !c.failed;
}

/* Version 3: an index entry of 16 bytes, and 5 bytes in front of the rows. */
static bool sframe_function_v3(const struct sframe *f, uint32_t i, struct sframe_function *ret)
{
	struct cursor c = cursor_of(f->section->bytes, f->section->n, f->in->swap);
	uint64_t at = f->functions_at + (uint64_t)i * 16;
	uint64_t start;

	if (!cursor_seek(&c, at))
		return false;
	start = cursor_u64(&c);
	ret->start = f->section->address + (f->flags & SFRAME_PCREL ? at : 0) + start;
	ret->size = cursor_u32(&c);
	at = f->fres_at + cursor_u32(&c);
	if (c.failed || !cursor_seek(&c, at))
		return false;
	ret->n = cursor_u16(&c);
	ret->info = cursor_u8(&c);
	ret->is_flexible = (cursor_u8(&c) & 0x1f) != 0;
	ret->rep_size = cursor_u8(&c);
	ret->is_signal = ret->info & 0x80;
	ret->fres_at = cursor_offset(&c);
	return !c.failed;
}

static int32_t sframe_word(struct cursor *c, unsigned size_code)
{
	switch (size_code) {
	case 0:
		return (int8_t)cursor_u8(c);
	case 1:
		return (int16_t)cursor_u16(c);
	default:
		return (int32_t)cursor_u32(c);
	}
}

/* One FRE's info and words -> a rule. */
static bool sframe_rule(const struct sframe *f, struct cursor *c, const struct sframe_function *fn,
                        struct rows_rule *ret)
{
	uint8_t info = cursor_u8(c);
	unsigned count = info >> 1 & 15, size = info >> 5 & 3;
	bool x86 = f->in->machine == FRAMETAB_X86_64;
	int32_t words[3] = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (count > 3 || size > 2)
		return false;
	for (unsigned i = 0; i < count; i++)
		words[i] = sframe_word(c, size);
	if (fn->is_signal)
		ret->rule.flags |= FRAMETAB_SIGNAL_FRAME;
	if (!count) { /* the outermost frame */
		ret->rule.cfa = FRAMETAB_CFA_SP;
		ret->rule.ra = FRAMETAB_AT_UNDEFINED;
		return !c->failed;
	}
	ret->rule.cfa = info & 1 ? FRAMETAB_CFA_SP : FRAMETAB_CFA_FP;
	ret->rule.cfa_off = words[0];
	if (info & 0x80)
		ret->rule.flags |= FRAMETAB_MANGLED_RA;
	if (x86) {
		ret->rule.ra = FRAMETAB_AT_CFA;
		ret->rule.ra_off = f->fixed_ra != SFRAME_FIXED_NONE ? f->fixed_ra : -8;
		if (count > 1) {
			ret->rule.fp = FRAMETAB_AT_CFA;
			ret->rule.fp_off = words[1];
		}
	} else {
		if (count > 1) {
			ret->rule.ra = FRAMETAB_AT_CFA;
			ret->rule.ra_off = words[1];
		}
		if (count > 2) {
			ret->rule.fp = FRAMETAB_AT_CFA;
			ret->rule.fp_off = words[2];
		}
	}
	if (f->fixed_fp != SFRAME_FIXED_NONE) {
		ret->rule.fp = FRAMETAB_AT_CFA;
		ret->rule.fp_off = f->fixed_fp;
	}
	return !c->failed;
}

static uint32_t sframe_address(struct cursor *c, unsigned type)
{
	return type == 0 ? cursor_u8(c) : type == 1 ? cursor_u16(c) : cursor_u32(c);
}

/* pctype "mask": the rows repeat every rep_size bytes (a PLT). */
static void sframe_repeat(struct sframe *f, const struct sframe_function *fn,
                          const uint32_t *starts, const struct rows_rule *rules, uint32_t n)
{
	for (uint64_t block = 0; block < fn->size; block += fn->rep_size) {
		for (uint32_t i = 0; i < n; i++)
			rows_add(f->rows, fn->start + block + starts[i], &rules[i]);
	}
}

static bool sframe_rows(struct sframe *f, const struct sframe_function *fn)
{
	struct cursor c = cursor_of(f->section->bytes, f->section->n, f->in->swap);
	unsigned type = fn->info & 15;
	bool repeats = fn->info & 16;
	uint32_t starts[16], last = 0;
	struct rows_rule rules[16], rule;

	if (fn->is_flexible || type > 2 || !cursor_seek(&c, fn->fres_at))
		return false;
	if (repeats && (!fn->rep_size || fn->n > 16))
		return false;
	for (uint32_t i = 0; i < fn->n; i++) {
		uint32_t start = sframe_address(&c, type);

		if (!sframe_rule(f, &c, fn, &rule) || start < last)
			return false;
		last = start;
		if (repeats) {
			starts[i] = start;
			rules[i] = rule;
		} else {
			rows_add(f->rows, fn->start + start, &rule);
		}
	}
	if (repeats)
		sframe_repeat(f, fn, starts, rules, fn->n);
	return true;
}

void sframe_compile(struct rows *rows, const struct compile_input *in,
                    const struct compile_section *section)
{
	struct sframe f = { .rows = rows, .in = in, .section = section };
	struct cursor c = cursor_of(section->bytes, section->n, in->swap);
	size_t entry;

	if (!sframe_header(&f, &c)) {
		rows->skipped++;
		return;
	}
	entry = f.version == 2 ? 20 : 16;
	if (f.functions_at > section->n || f.n_functions > (section->n - f.functions_at) / entry) {
		rows->skipped++;
		return;
	}
	for (uint32_t i = 0; i < f.n_functions && !rows->failed; i++) {
		struct sframe_function fn;

		if (!(f.version == 2 ? sframe_function_v2(&f, i, &fn)
		                     : sframe_function_v3(&f, i, &fn))) {
			rows->skipped++;
			continue;
		}
		if (fn.size > UINT64_MAX - fn.start ||
		    !rows_begin(rows, fn.start, fn.start + fn.size))
			continue;
		if (sframe_rows(&f, &fn))
			rows_end(rows);
		else
			rows_cancel(rows);
	}
}
