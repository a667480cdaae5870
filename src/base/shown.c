// SPDX-License-Identifier: MIT
/*
 * shown.c: see shown.h. Knows which characters are dangerous to show, and printf's conversions as
 * far as they say what an argument is.
 *
 * Names are chosen by whoever made the program or the recording. Printed as they are, an escape
 * sequence could rewrite what stands on the terminal, and a newline could fake a row. Here are
 * three parts: escapes, columns of what was escaped, and a printf whose strings are escaped.
 */
#include "base/shown.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/shown_width.h"
#include "base/utf8.h"

/* Ranges, first and last, of characters that are not shown as they are: controls, characters
 * without width, and those that set the direction of text. */
static const uint32_t hidden[][2] = {
	{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x61c, 0x61c },
	{ 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f },
	{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

bool shown_hides(uint32_t c)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c >= hidden[i][0] && c <= hidden[i][1])
			return true;
	return false;
}

/* Whether a backslash in front of these n bytes would look like one of our escapes. Any other
 * (App\Kernel) stays single. */
static bool shown_misleads(const unsigned char *p, size_t n)
{
	static const char letters[] = "\\nrtxuU";
	static const size_t digits[] = { 0, 0, 0, 0, 2, 4, 8 };
	const char *at = n && *p ? strchr(letters, *p) : NULL;
	size_t wanted = at ? digits[at - letters] : 0;

	if (n && (*p < 0x20 || *p >= 0x7f)) /* may become an escape itself */
		return true;
	if (!at || n <= wanted)
		return false;
	for (size_t i = 1; i <= wanted; i++)
		if (!strchr("0123456789abcdef", p[i]) || !p[i])
			return false;
	return true;
}

/* Printable ASCII. */
static bool shown_is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* The number of bytes from p on that stay as they are: up to the first that is not plain ASCII, or
 * a backslash that must be doubled. */
static size_t shown_run(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && shown_is_plain(p[i]) &&
	       (p[i] != '\\' || !shown_misleads(p + i + 1, n - i - 1)))
		i++;
	return i;
}

/* Appends a byte that must not be shown as it is, in the form of an escape of C. */
static void shown_byte(struct buf *to, unsigned char c)
{
	switch (c) {
	case '\\':
		buf_put(to, "\\\\", 2);
		break;
	case '\n':
		buf_put(to, "\\n", 2);
		break;
	case '\r':
		buf_put(to, "\\r", 2);
		break;
	case '\t':
		buf_put(to, "\\t", 2);
		break;
	default:
		buf_printf(to, "\\x%02x", c);
	}
}

/* Writes the character at p, escaped if it must be. Returns how many of the n bytes it takes. */
static size_t shown_character(struct buf *to, const unsigned char *p, size_t n)
{
	size_t len = utf8_sequence(p, n);
	uint32_t c;

	if (len < 2) {
		shown_byte(to, *p);
		return 1;
	}
	c = utf8_character(p, len);
	if (!shown_hides(c))
		buf_put(to, p, len);
	else
		buf_printf(to, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
	return len;
}

/* Plain text is copied in runs; only what a terminal could misunderstand is escaped. */
int shown_put(struct buf *to, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	while (n) {
		size_t run = shown_run(p, n);

		if (run)
			buf_put(to, p, run);
		p += run;
		n -= run;
		if (n) {
			run = shown_character(to, p, n);
			p += run;
			n -= run;
		}
	}
	return to->failed ? -ENOMEM : 0;
}

int shown_put_text(struct buf *to, const char *text)
{
	return shown_put(to, text, strlen(text));
}

/* Most names need no escape and cost one pass. */
size_t shown_length(const char *text)
{
	size_t n = strlen(text);
	struct buf b = { 0 };

	if (shown_run((const unsigned char *)text, n) == n)
		return n;
	shown_put(&b, text, n);
	n = b.n;
	buf_free(&b);
	return n;
}

/* ---- columns ---- */

/* The bytes of the character at p, and its columns. */
static size_t shown_step(const unsigned char *p, size_t n, size_t *columns)
{
	size_t len = utf8_sequence(p, n);
	uint32_t c = len > 1 ? utf8_character(p, len) : *p;

	*columns = shown_width(c);
	return len ? len : 1;
}

size_t shown_columns(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t sum = 0, columns;

	while (n) {
		size_t len = shown_step(p, n, &columns);

		sum += columns;
		p += len;
		n -= len;
	}
	return sum;
}

/* The bytes at the beginning of text that fit into so many columns: whole characters. */
static size_t shown_fits(const char *text, size_t n, size_t room)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0, columns;

	while (at < n) {
		size_t len = shown_step(p + at, n - at, &columns);

		if (columns > room)
			break;
		room -= columns;
		at += len;
	}
	return at;
}

/* The bytes at the end of text that fit into so many columns. */
static size_t shown_fits_back(const char *text, size_t n, size_t room)
{
	size_t at = n, columns = 0;

	while (at) {
		size_t from = at - 1;

		/* Back to the byte with which the character begins. */
		while (from && ((unsigned char)text[from] & 0xc0) == 0x80)
			from--;
		shown_step((const unsigned char *)text + from, at - from, &columns);
		if (columns > room)
			break;
		room -= columns;
		at = from;
	}
	return n - at;
}

#define CUT_BOTH 12 /* columns in which a beginning and an end are both worth to be read */

/* If the last `end` bytes are too long themselves, only their own end stays. Where end is 0, a
 * third of the room is for the end of the text. */
void shown_cut(struct buf *to, const char *text, size_t room, size_t end)
{
	size_t n = strlen(text), from = n - (end < n ? end : n), left;

	if (shown_columns(text, n) <= room) {
		buf_put(to, text, n);
		return;
	}
	if (!room)
		return;
	if (!end && room >= CUT_BOTH)
		from = n - shown_fits_back(text, n, room / 3);
	/* The ellipsis takes one column. */
	left = shown_columns(text + from, n - from);
	if (left > room - 1) {
		from = n - shown_fits_back(text, n, room - 1);
		left = room - 1;
	}
	buf_put(to, text, shown_fits(text, from, room - 1 - left));
	buf_put_text(to, "\xe2\x80\xa6");
	buf_put(to, text + from, n - from);
}

/* ---- printf ---- */

/* A conversion: "%-*.3llu". Width and precision that were arguments are numbers here. */
struct shown_spec {
	char flags[8];
	size_t n_flags;
	int width, precision; /* -1: not given */
	char length[3];       /* "", "hh", "h", "l", "ll", "z", "j", "t" */
	char conversion;
};

/* A va_list in a struct, so that a function can take arguments from it for its caller. */
struct shown_args {
	va_list ap;
};

/* Bounded, so that no format can overflow it. */
static int shown_digits(const char **p)
{
	int v = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		v = v < 100000 ? v * 10 + (**p - '0') : v;
	return v;
}

/* A number, or '*' for the next argument. */
static int shown_number(const char **p, struct shown_args *args)
{
	if (**p != '*')
		return shown_digits(p);
	(*p)++;
	return va_arg(args->ap, int);
}

/* More flags than there is room for are dropped; there are five kinds. */
static const char *shown_flags(struct shown_spec *s, const char *p)
{
	while (*p && strchr("-+ #0", *p)) {
		if (s->n_flags + 1 < sizeof(s->flags))
			s->flags[s->n_flags++] = *p;
		p++;
	}
	return p;
}

/* The length modifiers: l, ll, z and so on. */
static const char *shown_length_of(struct shown_spec *s, const char *p)
{
	size_t n = 0;

	for (; *p && strchr("hlzjt", *p); p++)
		if (n + 1 < sizeof(s->length))
			s->length[n++] = *p;
	return p;
}

/* Reads a conversion, fmt being behind its '%'. Returns where it ends. */
static const char *shown_spec(struct shown_spec *s, const char *fmt, struct shown_args *args)
{
	*s = (struct shown_spec){ .precision = -1 };
	fmt = shown_flags(s, fmt);
	s->width = shown_number(&fmt, args);
	if (*fmt == '.') {
		fmt++;
		s->precision = shown_number(&fmt, args);
	}
	fmt = shown_length_of(s, fmt);
	s->conversion = *fmt;
	return fmt + (*fmt != 0);
}

static void shown_pad(struct buf *to, size_t n)
{
	for (; n; n--)
		buf_put(to, " ", 1);
}

/* Width and precision count bytes: the precision of the text as it was, the width of what is
 * written. */
static void shown_string(struct buf *to, const struct shown_spec *s, const char *text)
{
	bool left = memchr(s->flags, '-', s->n_flags) || s->width < 0;
	size_t width = s->width < 0 ? (size_t) - (long)s->width : (size_t)s->width, n;
	struct buf b = { 0 };

	if (!text)
		text = "(null)";
	n = s->precision >= 0 ? strnlen(text, (size_t)s->precision) : strlen(text);
	shown_put(&b, text, n);
	to->failed |= b.failed;
	if (!left && width > b.n)
		shown_pad(to, width - b.n);
	buf_put(to, b.bytes, b.n);
	if (left && width > b.n)
		shown_pad(to, width - b.n);
	buf_free(&b);
}

/* Writes the conversion as a format for printf, with width and precision as numbers. */
static void shown_format(const struct shown_spec *s, char *to, size_t n)
{
	char precision[16] = "";

	if (s->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", s->precision);
	snprintf(to, n, "%%%s%s%.0d%s%s%c", s->width < 0 ? "-" : "", s->flags, abs(s->width),
	         precision, s->length, s->conversion);
}

/* The argument's type is what the length modifier says; all of one size are passed alike. */
static void shown_integer(struct buf *to, const struct shown_spec *s, const char *f,
                          struct shown_args *args)
{
	if (!strcmp(s->length, "l"))
		buf_printf(to, f, va_arg(args->ap, long));
	else if (!strcmp(s->length, "ll"))
		buf_printf(to, f, va_arg(args->ap, long long));
	else if (*s->length == 'j')
		buf_printf(to, f, va_arg(args->ap, intmax_t));
	else if (*s->length == 'z' || *s->length == 't')
		buf_printf(to, f, va_arg(args->ap, size_t));
	else
		buf_printf(to, f, va_arg(args->ap, int));
}

/* Takes a conversion's argument and writes it: strings escaped, numbers as printf does. */
static void shown_argument(struct buf *to, const struct shown_spec *s, struct shown_args *args)
{
	char f[64], c;

	shown_format(s, f, sizeof(f));
	switch (s->conversion) {
	case 's':
		shown_string(to, s, va_arg(args->ap, const char *));
		break;
	case 'c':
		c = (char)va_arg(args->ap, int);
		shown_string(to, s, (const char[]){ c, 0 });
		break;
	case '%':
		buf_put(to, "%", 1);
		break;
	case 'e':
	case 'f':
	case 'g':
		buf_printf(to, f, va_arg(args->ap, double));
		break;
	case 'p':
		buf_printf(to, f, va_arg(args->ap, void *));
		break;
	default:
		shown_integer(to, s, f, args);
	}
}

/* Text between the conversions is the program's own and is not escaped. */
int shown_vprintf(struct buf *to, const char *fmt, va_list ap)
{
	struct shown_args args;
	struct shown_spec s;

	/* The caller's list must not be moved. */
	va_copy(args.ap, ap);
	for (;;) {
		size_t run = strcspn(fmt, "%");

		buf_put(to, fmt, run);
		if (!fmt[run])
			break;
		fmt = shown_spec(&s, fmt + run + 1, &args);
		shown_argument(to, &s, &args);
	}
	va_end(args.ap);
	return to->failed ? -ENOMEM : 0;
}

int shown_printf(struct buf *to, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = shown_vprintf(to, fmt, ap);
	va_end(ap);
	return r;
}
