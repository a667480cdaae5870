// SPDX-License-Identifier: MIT
// linetab.c: see linetab.h. The header of a table is linetab_head.c's; here its program is run.
#include "dwarf/linetab.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "dwarf/leb.h"
#include "dwarf/linetab_head.h"

struct program {
	struct linetab_head head;
	struct cursor *c;
	struct linetab *to;
	uint64_t addr, file;
	uint32_t line;
	size_t first; /* row of the sequence that is being made */
	bool strange;
};

static size_t program_n(const struct program *p)
{
	return p->to->rows.n / sizeof(struct linetab_row);
}

static void program_reset(struct program *p)
{
	p->addr = 0;
	p->file = p->line = 1;
	p->first = program_n(p);
}

static void program_row(struct program *p, uint32_t file)
{
	struct linetab_row row = { p->addr, file, p->line };
	const struct linetab_row *rows = (const void *)p->to->rows.bytes;
	size_t n = program_n(p);

	if (n > p->first && rows[n - 1].addr > p->addr)
		p->strange = true;
	buf_put(&p->to->rows, &row, sizeof(row));
}

static void program_copy(struct program *p)
{
	if (p->file >= LINETAB_END || (!p->file && p->head.version < 5))
		p->strange = true;
	program_row(p, (uint32_t)p->file);
}

/* A sequence at 0 is of code that the linker left out. */
static void program_end_sequence(struct program *p)
{
	struct linetab_sequence sequence = { .first = p->first };

	program_row(p, LINETAB_END);
	if (p->to->rows.failed)
		return;
	sequence.n = program_n(p) - p->first;
	sequence.start =
	        ((const struct linetab_row *)(const void *)p->to->rows.bytes)[p->first].addr;
	if (sequence.start && sequence.start < p->addr)
		buf_put(&p->to->sequences, &sequence, sizeof(sequence));
	else
		p->to->rows.n = p->first * sizeof(struct linetab_row);
	program_reset(p);
}

static void program_extended(struct program *p)
{
	uint64_t n = leb_unsigned(p->c);
	const unsigned char *bytes = cursor_bytes(p->c, n);
	struct cursor c = cursor_of(bytes, n, p->c->swap);

	if (!bytes || !n) {
		p->strange = true;
		return;
	}
	switch (cursor_u8(&c)) {
	case DW_LNE_end_sequence:
		program_end_sequence(p);
		break;
	case DW_LNE_set_address:
		p->strange |= n != 5 && n != 9;
		p->addr = n == 5 ? cursor_u32(&c) : cursor_u64(&c);
		break;
	case DW_LNE_set_discriminator:
		break;
	default:
		p->strange = true;
	}
}

static void program_standard(struct program *p, uint8_t op)
{
	switch (op) {
	case 0:
		program_extended(p);
		break;
	case DW_LNS_copy:
		program_copy(p);
		break;
	case DW_LNS_advance_pc:
		p->addr += leb_unsigned(p->c) * p->head.step;
		break;
	case DW_LNS_advance_line:
		p->line += (uint32_t)leb_signed(p->c);
		break;
	case DW_LNS_set_file:
		p->file = leb_unsigned(p->c);
		break;
	case DW_LNS_set_column:
	case DW_LNS_set_isa:
		leb_unsigned(p->c);
		break;
	case DW_LNS_const_add_pc:
		p->addr +=
		        (uint64_t)((255 - p->head.opcode_base) / p->head.line_range) * p->head.step;
		break;
	case DW_LNS_fixed_advance_pc:
		p->addr += cursor_u16(p->c);
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	default:
		p->strange = true;
	}
}

static int program_run(struct program *p)
{
	program_reset(p);
	while (cursor_left(p->c) && !p->strange) {
		uint8_t op = cursor_u8(p->c);

		if (op < p->head.opcode_base) {
			program_standard(p, op);
			continue;
		}
		op = (uint8_t)(op - p->head.opcode_base);
		p->addr += (uint64_t)(op / p->head.line_range) * p->head.step;
		p->line += (uint32_t)(p->head.line_base + op % p->head.line_range);
		program_copy(p);
	}
	if (p->to->rows.failed || p->to->sequences.failed)
		return -ENOMEM;
	return p->strange || p->c->failed || program_n(p) != p->first ? -ENOTSUP : 0;
}

static int sequence_order(const void *pa, const void *pb)
{
	const struct linetab_sequence *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* In order, if none begins before another has ended. */
static int linetab_sort(struct linetab *rows)
{
	struct linetab_sequence *s = (void *)rows->sequences.bytes;
	const struct linetab_row *row = (const void *)rows->rows.bytes;
	size_t n = rows->sequences.n / sizeof(*s);

	if (n)
		qsort(s, n, sizeof(*s), sequence_order);
	for (size_t i = 1; i < n; i++)
		if (row[s[i - 1].first + s[i - 1].n - 1].addr > s[i].start)
			return -ENOTSUP;
	return 0;
}

int linetab_read(struct linetab *ret, const struct sections *sections, uint64_t offset,
                 const char *comp_dir)
{
	struct cursor c = sections->line;
	struct program p = { .c = &c, .to = ret };
	int r;

	cursor_seek(&c, offset);
	r = linetab_head_read(&p.head, &c, sections, comp_dir, ret);
	if (r >= 0)
		r = program_run(&p);
	if (r >= 0)
		r = linetab_sort(ret);
	if (r < 0)
		linetab_free(ret);
	return r;
}

void linetab_free(struct linetab *rows)
{
	buf_free(&rows->rows);
	buf_free(&rows->sequences);
	buf_free(&rows->files);
	buf_free(&rows->dirs);
}

const struct linetab_row *linetab_find(const struct linetab *rows, uint64_t addr)
{
	const struct linetab_sequence *s = (const void *)rows->sequences.bytes;
	const struct linetab_row *row = (const void *)rows->rows.bytes;
	size_t low = 0, high = rows->sequences.n / sizeof(*s);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	s += low - 1;
	row += s->first;
	for (low = 1, high = s->n; low < high;) { /* the first one that begins behind addr */
		size_t middle = low + (high - low) / 2;

		if (row[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return row[low - 1].file == LINETAB_END ? NULL : &row[low - 1];
}

struct linetab_file *linetab_file(const struct linetab *rows, uint64_t number)
{
	struct linetab_file *files = (void *)rows->files.bytes;

	return number < rows->files.n / sizeof(*files) ? &files[number] : NULL;
}
