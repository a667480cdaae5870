// SPDX-License-Identifier: MIT
/*
 * elided.c: see elided.h. Knows how demangled names are written, and operators that look like
 * brackets.
 *
 * "std::vector<int, std::allocator<int>>::push_back(int&&)" becomes
 * "std::vector<...>::push_back(...)": on a narrow screen the function's own name is what tells it
 * from others. Names are hostile; one whose brackets do not match is left as it is.
 */
#include "profile/elided.h"

#include <string.h>

#include "base/shown.h"

#include <ctype.h>

#define ELLIPSIS "\xe2\x80\xa6"
/* Brackets that may be open at once; deeper names stay whole. */
#define DEPTH_MAX 64
#define IN_SIGNS 3 /* columns of " (" and ")" */
#define IN_LEAST 9 /* columns in which what is in brackets is to be known, with these */
#define IN_ROOM 36 /* columns of which a quarter is left to it behind a name that does not fit */

/* What an identifier is made of. */
static bool elided_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* How many characters at `at` are an operator's own name ("<<=", "->", "()"), when `start` to `at`
 * ends with the word operator; else 0. */
static size_t elided_operator(const char *start, const char *at)
{
	static const char word[] = "operator";
	static const char *const names[] = { "<<=", ">>=", "<=>", "->*", "<<", ">>", "<=",
		                             ">=",  "->",  "()",  "[]",  "<",  ">" };
	size_t n = sizeof(word) - 1, have = (size_t)(at - start);

	/* The word must not be the end of a longer one ("my_operator"). */
	if (have < n || memcmp(at - n, word, n) || (have > n && elided_word(at[-(ptrdiff_t)n - 1])))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(at, names[i], strlen(names[i])))
			return strlen(names[i]);
	return 0;
}

/* Brackets that are a part of the name itself: "(anonymous namespace)", "<T as Trait>::f" at the
 * beginning of a component, "{lambda(int)#1}". */
static bool elided_keeps(const char *name, const char *at)
{
	bool begins = at == name || (at - name >= 2 && at[-1] == ':' && at[-2] == ':');

	return (*at == '<' && begins) || !strncmp(at, "(anonymous namespace)", 21) ||
	       (*at == '(' && begins);
}

/* The bracket that closes this one. */
static char elided_close(char open)
{
	return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : ']';
}

/* The place behind the bracket that closes the one at `at`; NULL: there is none, or too many are
 * open at once. */
static const char *elided_skip(const char *name, const char *at)
{
	char open[DEPTH_MAX];
	size_t n = 0;

	for (; *at; at++) {
		size_t op = elided_operator(name, at);

		if (op) {
			at += op - 1;
			continue;
		}
		if (*at == '-' && at[1] == '>') {
			at++;
			continue;
		}
		if (*at == '<' || *at == '(' || *at == '{' || *at == '[') {
			if (n == DEPTH_MAX)
				return NULL;
			open[n++] = elided_close(*at);
		} else if (*at == '>' || *at == ')' || *at == '}' || *at == ']') {
			if (!n || open[--n] != *at)
				return NULL;
			if (!n)
				return at + 1;
		}
	}
	return NULL;
}

/* Walks over the name once. Brackets that stay are looked into no further, so the work is bounded
 * by twice the name's length. */
void elided_put(struct buf *to, const char *name)
{
	const char *at = name;
	size_t before = to->n;

	while (*at) {
		size_t op = elided_operator(name, at);
		const char *end = NULL;

		if (op) {
			buf_put(to, at, op);
			at += op;
			continue;
		}
		if (*at == '<' || *at == '(' || *at == '{')
			end = elided_skip(name, at);
		else if (*at == '>' || *at == ')' || *at == '}')
			goto whole;
		else {
			buf_put(to, at++, 1);
			continue;
		}
		if (!end)
			goto whole;
		/* Up to three characters with its brackets, an ellipsis would save nothing. */
		if (*at == '{' || elided_keeps(name, at) || end - at <= 3) {
			buf_put(to, at, (size_t)(end - at));
		} else {
			buf_put(to, at, 1);
			buf_put_text(to, ELLIPSIS);
			buf_put(to, end - 1, 1);
		}
		at = end;
	}
	return;
whole:
	to->n = before;
	buf_put_text(to, name);
}

void elided_fit(struct buf *to, const char *text, size_t room, size_t end)
{
	struct buf less = { 0 };

	if (shown_columns(text, strlen(text)) > room) {
		elided_put(&less, text);
		text = buf_text(&less);
	}
	shown_cut(to, text, room, end);
	to->failed |= less.failed;
	buf_free(&less);
}

/* What " (IN)" may take of so many columns when the name takes `wide` of them, and both do not fit:
 * what the name leaves, else a part of a wide screen, else nothing. */
static size_t elided_room_in(size_t room, size_t wide, size_t n)
{
	size_t least = n < IN_LEAST ? n : IN_LEAST;

	if (wide + n <= room)
		return n;
	if (wide + least <= room)
		return room - wide;
	return room < IN_ROOM ? 0 : n < room / 4 ? n : room / 4;
}

/* Both are cut each by itself: brackets around the second are no arguments. */
void elided_fit_in(struct buf *to, const char *name, const char *in, size_t room, size_t end)
{
	size_t wide = shown_columns(name, strlen(name));
	size_t n = in ? shown_columns(in, strlen(in)) + IN_SIGNS : 0;
	struct buf less = { 0 };

	if (wide + n > room) {
		elided_put(&less, name);
		name = buf_text(&less);
		wide = shown_columns(name, less.n);
	}
	n = elided_room_in(room, wide, n);
	shown_cut(to, name, room - n, end);
	if (n) {
		buf_put_text(to, " (");
		shown_cut(to, in, n - IN_SIGNS, 0);
		buf_put_text(to, ")");
	}
	to->failed |= less.failed;
	buf_free(&less);
}
