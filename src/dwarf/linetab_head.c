// SPDX-License-Identifier: MIT
// linetab_head.c: see linetab_head.h. Two forms: lists that end with an empty name (DWARF 2 to 4), and lists that say what
// their columns are (5).
#include "dwarf/linetab_head.h"

#include <dwarf.h>
#include <errno.h>

#include "dwarf/leb.h"

#define COLUMNS_MAX 8u

struct column {
	uint64_t type, form;
};

struct columns {
	struct column at[COLUMNS_MAX];
	unsigned n;
};

static int head_add_dir(struct linetab *to, const char *name)
{
	return buf_put(&to->dirs, &name, sizeof(name));
}

/* -ENOTSUP: there is no such directory. */
static int head_add_file(struct linetab *to, const char *name, uint64_t dir)
{
	const char *const *dirs = (const void *)to->dirs.bytes;
	struct linetab_file file = { .name = name };

	if (!name || dir >= to->dirs.n / sizeof(*dirs))
		return -ENOTSUP;
	file.dir = dirs[dir];
	return buf_put(&to->files, &file, sizeof(file));
}

static int head_lists(struct cursor *c, const char *comp_dir, struct linetab *to)
{
	const char *name;
	int r = head_add_dir(to, comp_dir);

	while (r >= 0 && (name = cursor_string(c)) && *name)
		r = head_add_dir(to, name);
	if (r >= 0)
		r = head_add_file(to, "???", 0); /* they are counted from 1 */
	while (r >= 0 && (name = cursor_string(c)) && *name) {
		r = head_add_file(to, name, leb_unsigned(c));
		leb_unsigned(c);
		leb_unsigned(c);
	}
	return r;
}

static int head_columns(struct cursor *c, struct columns *ret)
{
	ret->n = cursor_u8(c);
	if (ret->n > COLUMNS_MAX)
		return -ENOTSUP;
	for (unsigned i = 0; i < ret->n; i++) {
		ret->at[i].type = leb_unsigned(c);
		ret->at[i].form = leb_unsigned(c);
	}
	return 0;
}

static uint64_t head_offset(const struct linetab_head *head, struct cursor *c)
{
	return head->wide ? cursor_u64(c) : cursor_u32(c);
}

/* One value: a text or a number. -ENOTSUP: of a form that is not known here. */
static int head_value(const struct linetab_head *head, struct cursor *c, const struct sections *s,
                      uint64_t form, const char **text, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*text = cursor_string(c);
		return 0;
	case DW_FORM_line_strp:
		*text = sections_text(&s->line_str, head_offset(head, c));
		return 0;
	case DW_FORM_strp:
		*text = sections_text(&s->str, head_offset(head, c));
		return 0;
	case DW_FORM_udata:
		*number = leb_unsigned(c);
		return 0;
	case DW_FORM_data1:
		*number = cursor_u8(c);
		return 0;
	case DW_FORM_data2:
		*number = cursor_u16(c);
		return 0;
	case DW_FORM_data16:
		cursor_bytes(c, 16);
		return 0;
	default:
		return -ENOTSUP;
	}
}

static int head_row(const struct linetab_head *head, struct cursor *c, const struct sections *s,
                    const struct columns *columns, const char **name, uint64_t *dir)
{
	int r = 0;

	*name = NULL;
	*dir = 0;
	for (unsigned i = 0; i < columns->n && r >= 0; i++) {
		uint64_t number = 0, type = columns->at[i].type;
		const char *text = NULL;

		r = head_value(head, c, s, columns->at[i].form, &text, &number);
		if (type == DW_LNCT_path)
			*name = text;
		else if (type == DW_LNCT_directory_index)
			*dir = number;
	}
	return r >= 0 && (!*name || c->failed) ? -ENOTSUP : r;
}

static int head_tables(const struct linetab_head *head, struct cursor *c, const struct sections *s,
                       struct linetab *to)
{
	struct columns columns;
	int r = 0;

	for (int files = 0; files < 2 && r >= 0; files++) {
		uint64_t n, dir;
		const char *name;

		r = head_columns(c, &columns);
		n = leb_unsigned(c);
		for (uint64_t i = 0; i < n && r >= 0; i++) {
			r = head_row(head, c, s, &columns, &name, &dir);
			if (r >= 0)
				r = files ? head_add_file(to, name, dir) : head_add_dir(to, name);
		}
	}
	return r;
}

/* The lengths of opcodes that are known must be those that they are known by. */
static bool head_opcodes_are_known(const struct linetab_head *head, struct cursor *c)
{
	static const uint8_t known[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	size_t n = (size_t)head->opcode_base - 1;
	const unsigned char *lengths = cursor_bytes(c, n);

	return lengths && n <= sizeof(known) && !memcmp(lengths, known, n);
}

static int head_fixed(struct linetab_head *head, struct cursor *c)
{
	uint64_t n = cursor_u32(c);

	head->wide = n == UINT32_MAX;
	if (head->wide)
		n = cursor_u64(c);
	if (c->failed || n > cursor_left(c))
		return -ENOTSUP;
	c->end = c->at + n;
	head->version = cursor_u16(c);
	if (head->version < 2 || head->version > 5)
		return -ENOTSUP;
	if (head->version == 5) {
		cursor_u8(c);          /* the size of addresses: each says its own */
		if (cursor_u8(c) != 0) /* segments */
			return -ENOTSUP;
	}
	return 0;
}

int linetab_head_read(struct linetab_head *ret, struct cursor *c, const struct sections *sections,
                      const char *comp_dir, struct linetab *to)
{
	const unsigned char *begin;
	uint64_t n;
	int r = head_fixed(ret, c);

	if (r < 0)
		return r;
	n = head_offset(ret, c);
	begin = c->at + (n < cursor_left(c) ? n : cursor_left(c));
	ret->step = cursor_u8(c);
	if (ret->version >= 4 && cursor_u8(c) != 1) /* several operations in one instruction */
		return -ENOTSUP;
	cursor_u8(c); /* whether statements begin at first */
	ret->line_base = (int8_t)cursor_u8(c);
	ret->line_range = cursor_u8(c);
	ret->opcode_base = cursor_u8(c);
	if (!ret->line_range || !ret->opcode_base || !head_opcodes_are_known(ret, c))
		return -ENOTSUP;
	r = ret->version == 5 ? head_tables(ret, c, sections, to) : head_lists(c, comp_dir, to);
	if (r >= 0 && (c->failed || c->at > begin))
		r = -ENOTSUP;
	c->at = begin;
	return r;
}
