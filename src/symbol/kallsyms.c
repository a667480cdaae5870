// SPDX-License-Identifier: MIT
/*
 * kallsyms.c: see kallsyms.h. A line is "ADDRESS TYPE NAME" and, for modules, "\t[MODULE]". Only
 * text symbols are taken. They have no size: each reaches to the next.
 *
 * The text is read anew for each module that is asked for: a table of all modules would cost more
 * than the few that a recording has. KASLR: addresses are those of the running boot.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A kernel with all its modules has some ten megabytes; a file given by the user may be
 * anything. */
#define KALLSYMS_MAX (256u << 20)
#define LAST_SYMBOL_BYTES 4096u /* given to the last symbol of a module, as nobody says more */

/* Reads until the end, because files in /proc and /sys do not tell their size. -EFBIG: longer than
 * limit. */
int kallsyms_slurp(const char *path, size_t limit, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r = 0;
	ssize_t n = 1;
	void *to;

	if (fd < 0)
		return -errno;
	/* A pipe or terminal would block, so the file is opened not blocking. */
	while (n > 0 && ret->n <= limit) {
		to = buf_reserve(ret, 1 << 18);
		n = to ? read(fd, to, 1 << 18) : 0;
		if (n > 0)
			ret->n += (size_t)n;
	}
	if (n < 0)
		r = -errno;
	else if (ret->failed)
		r = -ENOMEM;
	else if (ret->n > limit)
		r = -EFBIG;
	close(fd);
	return r;
}

void kallsyms_free(struct kallsyms *k)
{
	buf_free(&k->text);
	free(k->path);
	*k = (struct kallsyms){ 0 };
}

/* One line. Texts point into what was read. */
struct line {
	uint64_t addr;
	char type;
	const char *name;
	size_t n;
	const char *module; /* NULL: the kernel itself */
	size_t n_module;
};

/* The value of a digit, in lower case; negative: it is none. */
static int kallsyms_hex_digit(char c)
{
	unsigned digit = (unsigned char)c - (unsigned)'0',
	         letter = (unsigned char)c - (unsigned)'a';

	return digit < 10 ? (int)digit : letter < 6 ? (int)letter + 10 : -1;
}

#define EACH_BYTE 0x0101010101010101U

/* Reads eight digits at once, because each of a hundred thousand lines has 16. False: one of them
 * is no digit. */
static bool kallsyms_hex_eight(const char *at, uint64_t *value)
{
	uint64_t text, digits, letters;

	memcpy(&text, at, sizeof(text));
	/* The first digit becomes the most significant byte. */
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		text = __builtin_bswap64(text);
	/* A digit's low four bits, and 9 more for letters, whose bit 6 is set. */
	digits = (text & 0x0f * EACH_BYTE) + (text >> 6 & EACH_BYTE) * 9;
	letters = (digits + 6 * EACH_BYTE) >> 4 & EACH_BYTE;
	/* Check: written out again, the value must give the same digits. */
	if (digits & 0xf0 * EACH_BYTE ||
	    digits + '0' * EACH_BYTE + letters * ('a' - '0' - 10) != text)
		return false;
	/* The eight nibbles move together, in three steps. */
	digits = (digits | digits >> 4) & 0x00ff00ff00ff00ff;
	digits = (digits | digits >> 8) & 0x0000ffff0000ffff;
	digits = (digits | digits >> 16) & 0xffffffff;
	*value = *value << 32 | digits;
	return true;
}

/* Reads what a module's line has behind the name: "\t[MODULE]"; the name ends there. The kernel's
 * own lines, which are nearly all, are not searched for it. */
static void kallsyms_line_module(struct line *line, const char *end)
{
	size_t all = line->n, n = 0;
	const char *at;

	while (n < all && line->name[n] != '\t' && line->name[n] != ' ')
		n++;
	line->n = n;
	at = memchr(line->name + n, '[', all - n);
	if (at) {
		line->module = at + 1;
		line->n_module = (size_t)(end - 1 - line->module);
	}
}

/* Takes one line; false: it makes no sense. */
static bool kallsyms_line_parse(const char *at, const char *end, struct line *ret)
{
	const char *p = at;
	uint64_t addr = 0;

	if (end - at >= 16 && kallsyms_hex_eight(at, &addr) && kallsyms_hex_eight(at + 8, &addr))
		p += 16;
	else
		addr = 0;
	for (; p < end && *p != ' '; p++) {
		int digit = kallsyms_hex_digit(*p);

		if (digit < 0 || p - at >= 16)
			return false;
		addr = addr << 4 | (unsigned)digit;
	}
	if (p == at || end - p < 4 || p[2] != ' ')
		return false;
	*ret = (struct line){
		.addr = addr, .type = p[1], .name = p + 3, .n = (size_t)(end - p) - 3
	};
	if (end[-1] == ']')
		kallsyms_line_module(ret, end);
	return ret->n > 0;
}

/* The next line of the text; *at moves behind it. */
static bool kallsyms_line_next(const struct kallsyms *k, size_t *at, struct line *ret)
{
	const char *text = (const char *)k->text.bytes;

	while (*at < k->text.n) {
		const char *from = text + *at, *newline = memchr(from, '\n', k->text.n - *at),
		           *end = newline ? newline : text + k->text.n;

		*at = (size_t)(end - text) + 1;
		if (kallsyms_line_parse(from, end, ret))
			return true;
	}
	return false;
}

/* Reads the whole file. That it cannot be read is kept in k->error; only -ENOMEM is returned. */
int kallsyms_read(struct kallsyms *k, const char *path)
{
	struct line line;
	size_t at = 0;

	k->path = strdup(path);
	if (!k->path)
		return -ENOMEM;
	k->error = kallsyms_slurp(path, KALLSYMS_MAX, &k->text);
	if (k->error == -ENOMEM)
		return -ENOMEM;
	/* Without the right to see them, all addresses are 0. */
	k->hidden = true;
	while (k->hidden && kallsyms_line_next(k, &at, &line))
		k->hidden = !line.addr;
	return 0;
}

static bool kallsyms_line_is(const struct line *line, const char *name)
{
	return line->n == strlen(name) && !memcmp(line->name, name, line->n);
}

/* Whether a line is of this module (NULL: the kernel). kallsyms writes '_' where file names may
 * have '-'. NULL takes the kernel's own. */
static bool kallsyms_line_of(const struct line *line, const char *module)
{
	if (!module)
		return !line->module;
	return line->module && line->n_module == strlen(module) &&
	       !memcmp(line->module, module, line->n_module);
}

/* Text, also weak. Data and absolute symbols name no code. */
static bool kallsyms_is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Its size is not known: table_seal ends it where the next one begins, or at the limit. */
static int kallsyms_line_put(struct table *table, const struct line *line)
{
	struct table_symbol symbol = { .start = line->addr, .end = line->addr };

	symbol.limit = line->addr > UINT64_MAX - LAST_SYMBOL_BYTES ? UINT64_MAX
	                                                           : line->addr + LAST_SYMBOL_BYTES;
	symbol.bind = line->type == 'T'   ? TABLE_GLOBAL
	              : line->type == 't' ? TABLE_LOCAL
	                                  : TABLE_WEAK;
	return table_put(table, &symbol, line->name, line->n, "");
}

/* One pass over the text; the names are copied into the table. Addresses of 0 are left out: they
 * are what the kernel shows to those who may not know. */
int kallsyms_table(const struct kallsyms *k, const char *module, struct table *table,
                   uint64_t *ret_text)
{
	uint64_t text = 0, etext = 0;
	struct line line;
	size_t at = 0;
	int r = 0;

	while (!r && kallsyms_line_next(k, &at, &line)) {
		if (!line.addr || !kallsyms_line_of(&line, module))
			continue;
		if (!module && kallsyms_line_is(&line, "_text"))
			text = line.addr;
		if (!module && kallsyms_line_is(&line, "_etext"))
			etext = line.addr;
		if (kallsyms_is_text(line.type))
			r = kallsyms_line_put(table, &line);
	}
	/* Inside the kernel's text a symbol ends only where the next one begins. */
	for (size_t i = 0; !module && i < table->n; i++) {
		if (table->symbols[i].start >= text && table->symbols[i].start < etext)
			table->symbols[i].limit = etext;
	}
	if (ret_text)
		*ret_text = text;
	return r;
}

/* Where the kernel's _text is; -ENOENT: the list does not say. */
int kallsyms_text(const struct kallsyms *k, uint64_t *ret)
{
	struct line line;
	size_t at = 0;

	while (kallsyms_line_next(k, &at, &line)) {
		if (!line.addr || !kallsyms_line_of(&line, NULL) ||
		    !kallsyms_line_is(&line, "_text"))
			continue;
		*ret = line.addr;
		return 0;
	}
	return -ENOENT;
}
