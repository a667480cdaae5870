// SPDX-License-Identifier: MIT
/*
 * sframe.c: reads SFrame: a header, function descriptors, frame row entries (FREs) of a few bytes
 * each.
 *
 * SFrame says for each address where the CFA, the return address and the frame pointer are, and no
 * more. Versions 2 and 3 are read: 3 has 64-bit addresses and a "flexible" type of rows. What a row
 * cannot say (other registers) is unknown in the table, not unchanged.
 *
 * Invariant: a function whose rows do not all lie in the section, or say what is not understood, is
 * skipped whole and counted.
 */
#include "unwind/sframe.h"

#include <string.h>

#include "base/cursor.h"

enum {
	ABI_AARCH64_LE = 2,
	ABI_AMD64_LE = 3
};

enum {
	FDE_DEFAULT,
	FDE_FLEXIBLE
};

#define SFRAME_MAGIC 0xdee2
#define SFRAME_PCREL 4u           /* header flag: start addresses count from their own field */
#define SFRAME_FIXED_NONE 0       /* header's fixed offsets: none */
#define SFRAME_REPEATS (1u << 20) /* rows of all PLTs: of 100,000 entries and more */

struct sframe {
	struct rows *rows;
	const struct compile_input *in;
	const struct compile_section *section;
	uint8_t version, flags;
	int8_t fixed_fp, fixed_ra;
	uint32_t n_functions, n_fres, fres_bytes;
	uint64_t functions_at, fres_at; /* offsets in the section */
	/* Functions may point at the same rows and repeat them, so there is a limit for all of them
	 * together. */
	uint64_t fres_left, repeats_left;
};

struct sframe_function {
	uint64_t start, size;
	uint64_t fres_at; /* offset in the section */
	uint32_t n;
	uint8_t info, rep_size;
	bool is_signal, is_flexible;
};

/* Reads the section's header into *f. False: no SFrame of version 2 or 3, or of another machine. */
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
	/* Places count from the end of the header and what follows it (auxiliary header). */
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
	uint8_t type;

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
	type = cursor_u8(&c) & 0x1f;
	ret->is_flexible = type == FDE_FLEXIBLE;
	ret->rep_size = cursor_u8(&c);
	ret->is_signal = ret->info & 0x80;
	ret->fres_at = cursor_offset(&c);
	return !c.failed && type <= FDE_FLEXIBLE;
}

#define WORDS_MAX 6u

/* The data words of one row: signed offsets, and control words, which are unsigned. */
struct sframe_words {
	uint32_t raw[WORDS_MAX];
	unsigned n, size; /* size: 0, 1, 2 for 1, 2, 4 bytes */
	unsigned at;      /* the next one */
};

/* How many words, and how long each, stands in the row's info byte. */
static bool sframe_words_read(struct cursor *c, uint8_t info, struct sframe_words *ret)
{
	*ret = (struct sframe_words){ .n = info >> 1 & 15, .size = info >> 5 & 3 };
	if (ret->n > WORDS_MAX || ret->size > 2)
		return false;
	for (unsigned i = 0; i < ret->n; i++)
		ret->raw[i] = ret->size == 0   ? cursor_u8(c)
		              : ret->size == 1 ? cursor_u16(c)
		                               : cursor_u32(c);
	return !c->failed;
}

/* What is missing reads as 0. */
static uint32_t sframe_control(struct sframe_words *w)
{
	return w->at < w->n ? w->raw[w->at++] : 0;
}

/* Sign-extended from its size. */
static int32_t sframe_offset(struct sframe_words *w)
{
	uint32_t v = sframe_control(w);

	return w->size == 0 ? (int8_t)v : w->size == 1 ? (int16_t)v : (int32_t)v;
}

/* A row of the default type: the CFA's offset, then (aarch64) the return address's, then the frame
 * pointer's. */
static void sframe_default(const struct sframe *f, bool base_is_sp, struct sframe_words *w,
                           struct frametab_rule *r)
{
	bool x86 = f->in->machine == FRAMETAB_X86_64;
	int32_t off;

	r->cfa = base_is_sp ? FRAMETAB_CFA_SP : FRAMETAB_CFA_FP;
	r->cfa_off = sframe_offset(w);
	if (!x86 && w->at < w->n) {
		off = sframe_offset(w);
		if (off || f->version == 2) { /* version 3: 0 leaves it where it is */
			r->ra = FRAMETAB_AT_CFA;
			r->ra_off = off;
		}
	}
	if (w->at < w->n) {
		r->fp = FRAMETAB_AT_CFA;
		r->fp_off = sframe_offset(w);
	}
}

/* Control words of a flexible row: bit 0: from a register, bit 1: read there, from bit 3 on: which
 * register. */
#define CONTROL_REG 1u
#define CONTROL_DEREF 2u
#define CONTROL_NUMBER(v) ((v) >> 3)

static bool sframe_flexible_cfa(struct sframe_words *w, unsigned sp, unsigned fp,
                                struct frametab_rule *r)
{
	uint32_t control = sframe_control(w), number = CONTROL_NUMBER(control);
	bool deref = control & CONTROL_DEREF;

	if (!(control & CONTROL_REG) || number > 31 || w->at == w->n)
		return false;
	r->cfa_off = sframe_offset(w);
	if (number == sp) {
		r->cfa = deref ? FRAMETAB_CFA_DEREF_SP : FRAMETAB_CFA_SP;
	} else if (number == fp) {
		r->cfa = deref ? FRAMETAB_CFA_DEREF_FP : FRAMETAB_CFA_FP;
	} else {
		r->cfa = deref ? FRAMETAB_CFA_DEREF_REG : FRAMETAB_CFA_REG;
		r->cfa_reg = (uint8_t)number;
	}
	return true;
}

/* Where the return address or the frame pointer is; a control word of 0, or none: where it is by
 * default. */
static bool sframe_flexible_at(struct sframe_words *w, unsigned sp, unsigned fp, uint8_t *at,
                               int32_t *off)
{
	uint32_t control = sframe_control(w), number = CONTROL_NUMBER(control);

	if (!control)
		return true;
	if (w->at == w->n)
		return false;
	*off = sframe_offset(w);
	if (control == CONTROL_DEREF) {
		*at = FRAMETAB_AT_CFA;
	} else if (control & CONTROL_REG && control & CONTROL_DEREF && number == sp) {
		*at = FRAMETAB_AT_SP;
	} else if (control & CONTROL_REG && control & CONTROL_DEREF && number == fp) {
		*at = FRAMETAB_AT_FP;
	} else if (control & CONTROL_REG && !(control & CONTROL_DEREF) && !*off && number <= 31) {
		*at = FRAMETAB_AT_REG;
		*off = (int32_t)number;
	} else {
		return false;
	}
	return true;
}

static bool sframe_flexible(const struct sframe *f, struct sframe_words *w, struct frametab_rule *r)
{
	bool x86 = f->in->machine == FRAMETAB_X86_64;
	unsigned sp = x86 ? 7 : 31, fp = x86 ? 6 : 29;

	return sframe_flexible_cfa(w, sp, fp, r) &&
	       sframe_flexible_at(w, sp, fp, &r->ra, &r->ra_off) &&
	       sframe_flexible_at(w, sp, fp, &r->fp, &r->fp_off);
}

/* SFrame does not follow callee-saved registers but the frame pointer: any of them may hold another
 * value by now. */
static void sframe_saves_unknown(const struct sframe *f, struct rows_rule *ret)
{
	unsigned n = frametab_saved_count(f->in->machine);

	ret->rule.saved = (uint16_t)((1u << n) - 1);
	for (unsigned i = 0; i < n; i++)
		ret->saves[i] = FRAMETAB_SAVE_UNKNOWN;
}

/* One FRE's info and words -> a rule. */
static bool sframe_rule(const struct sframe *f, struct cursor *c, const struct sframe_function *fn,
                        struct rows_rule *ret)
{
	uint8_t info = cursor_u8(c);
	struct frametab_rule *r = &ret->rule;
	struct sframe_words w;

	memset(ret, 0, sizeof(*ret));
	if (!sframe_words_read(c, info, &w))
		return false;
	if (fn->is_signal)
		r->flags |= FRAMETAB_SIGNAL_FRAME;
	if (info & 0x80)
		r->flags |= FRAMETAB_MANGLED_RA;
	if (!w.n) { /* the outermost frame */
		r->cfa = FRAMETAB_CFA_SP;
		r->ra = FRAMETAB_AT_UNDEFINED;
		return true;
	}
	sframe_saves_unknown(f, ret);
	if (f->in->machine == FRAMETAB_X86_64) {
		r->ra = FRAMETAB_AT_CFA;
		r->ra_off = f->fixed_ra != SFRAME_FIXED_NONE ? f->fixed_ra : -8;
	}
	if (f->fixed_fp != SFRAME_FIXED_NONE) {
		r->fp = FRAMETAB_AT_CFA;
		r->fp_off = f->fixed_fp;
	}
	if (fn->is_flexible)
		return sframe_flexible(f, &w, r);
	if (w.n > 3)
		return false;
	sframe_default(f, info & 1, &w, r);
	return true;
}

/* As in cfi_program.c: a slot that was on the stack and is below sp now was popped. */
static void sframe_pops(struct frametab_rule *r, bool *pushed)
{
	if (r->fp != FRAMETAB_AT_CFA)
		return;
	if (r->cfa != FRAMETAB_CFA_SP || (int64_t)r->cfa_off + r->fp_off >= 0) {
		*pushed = true;
	} else if (*pushed) {
		r->fp = FRAMETAB_AT_SAME;
		r->fp_off = 0;
	}
}

static uint32_t sframe_address(struct cursor *c, unsigned type)
{
	return type == 0 ? cursor_u8(c) : type == 1 ? cursor_u16(c) : cursor_u32(c);
}

/* fn->size comes from the file: without a budget one entry could ask for billions of rows. */
static bool sframe_may_repeat(struct sframe *f, const struct sframe_function *fn)
{
	uint64_t rows;

	if (!fn->rep_size || fn->n > 16)
		return false;
	rows = (fn->size / fn->rep_size + 1) * fn->n;
	if (rows > f->repeats_left)
		return false;
	f->repeats_left -= rows;
	return true;
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

/* Adds the rows of one function. False: a row is unsound or not understood; the caller drops the
 * whole function. */
static bool sframe_rows(struct sframe *f, const struct sframe_function *fn)
{
	struct cursor c = cursor_of(f->section->bytes, f->section->n, f->in->swap);
	unsigned type = fn->info & 15;
	bool repeats = fn->info & 16;
	uint32_t starts[16], last = 0;
	struct rows_rule rules[16], rule;
	bool pushed = false;

	if (type > 2 || !cursor_seek(&c, fn->fres_at))
		return false;
	if (fn->n > f->fres_left)
		return false;
	f->fres_left -= fn->n;
	if (repeats && !sframe_may_repeat(f, fn))
		return false;
	/* A row's start is its offset from the function's, and ascends. */
	for (uint32_t i = 0; i < fn->n; i++) {
		uint32_t start = sframe_address(&c, type);

		if (!sframe_rule(f, &c, fn, &rule) || start < last)
			return false;
		last = start;
		sframe_pops(&rule.rule, &pushed);
		if (repeats) {
			starts[i] = start;
			rules[i] = rule;
		} else {
			rows_add(f->rows, fn->start + start, &rule);
		}
	}
	if (!repeats)
		return true;
	/* GNU ld (2.44, 2.47) states that an entry of .plt.got begins with a word pushed, which is
	 * not so. */
	if (f->in->machine == FRAMETAB_X86_64 && fn->n && !starts[0] &&
	    (rules[0].rule.cfa != FRAMETAB_CFA_SP || rules[0].rule.cfa_off != 8))
		return false;
	sframe_repeat(f, fn, starts, rules, fn->n);
	return true;
}

/* The budgets in struct sframe bound the work: functions may point at the same rows, and a small
 * section could otherwise make a huge table. */
void sframe_compile(struct rows *rows, const struct compile_input *in,
                    const struct compile_section *section)
{
	struct sframe f = { .rows = rows,
		            .in = in,
		            .section = section,
		            .fres_left = section->n, /* each takes at least two bytes */
		            .repeats_left = SFRAME_REPEATS };
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
