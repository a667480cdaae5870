// SPDX-License-Identifier: MIT
/*
 * grammar.c: see grammar.h. A recursive descent of bounded depth that builds nothing: it only says
 * whether a text is one that Linux could have written. libtraceevent parses the text afterwards,
 * and must not be given others: its parser was not made for hostile input. Whatever is not known is
 * refused: then fields are shown without the print format.
 *
 * Invariant: time is linear in the text but for names of fields, each of which is looked for among
 * the fields; no read goes beyond `end`.
 */
#include "tracepoint/grammar.h"

#include <ctype.h>
#include <string.h>

#define DEPTH 48 /* of expressions; Linux 6.18: 14 */

enum token {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_OPERATOR,
	TOKEN_BAD,
};

/* The text from `at` on, and the token in front of it, which is the one that rules look at. */
struct grammar {
	const char *at, *end;
	enum token token;
	const char *text; /* of the token */
	size_t n;
	unsigned depth;
	const char *fields, *fields_end; /* what REC-> may name */
};

/* ---- tokens ---- */

/* Letters, digits and the characters in `more`. */
static const char *grammar_scan_while(const char *at, const char *end, const char *more)
{
	while (at < end && (isalnum((unsigned char)*at) || (*at && strchr(more, *at))))
		at++;
	return at;
}

/* The end of a string, or NULL. Only escapes that the kernel writes. */
static const char *grammar_scan_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"' && *at != '\n'; at++) {
		if (*at == '\\' && (++at == end || !strchr("nt\"\\'", *at)))
			return NULL;
	}
	return at < end && *at == '"' ? at + 1 : NULL;
}

/* The operators of two characters first: "<<" is not "<" twice. */
static const char *grammar_scan_operator(const char *at, const char *end)
{
	static const char *const two[] = { "->", "<<", ">>", "&&", "||", "==", "!=", "<=", ">=" };

	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		if (end - at >= 2 && !memcmp(at, two[i], 2))
			return at + 2;
	return strchr("+-*/%&|^~!<>?:,(){}[]", *at) ? at + 1 : NULL;
}

/* Reads the next token. What cannot be one becomes TOKEN_BAD, which no rule takes, so that the
 * whole text is refused. */
static void grammar_next(struct grammar *g)
{
	const char *to;

	while (g->at < g->end && strchr(" \t\n", *g->at))
		g->at++;
	g->text = g->at;
	if (g->at == g->end) {
		g->token = TOKEN_END;
		g->n = 0;
		return;
	}
	if (isdigit((unsigned char)*g->at)) {
		g->token = TOKEN_NUMBER;
		/* No number that the kernel writes is longer. */
		to = grammar_scan_while(g->at, g->end, "");
		to = to - g->at > 24 ? NULL : to;
	} else if (isalpha((unsigned char)*g->at) || *g->at == '_') {
		g->token = TOKEN_NAME;
		to = grammar_scan_while(g->at, g->end, "_");
	} else if (*g->at == '"') {
		g->token = TOKEN_STRING;
		to = grammar_scan_string(g->at, g->end);
	} else {
		g->token = TOKEN_OPERATOR;
		to = grammar_scan_operator(g->at, g->end);
	}
	if (!to)
		g->token = TOKEN_BAD;
	g->n = to ? (size_t)(to - g->at) : 0;
	g->at = to ? to : g->end;
}

/* The token is this text; a string that says the same is none. */
static bool grammar_is(const struct grammar *g, const char *text)
{
	return g->token != TOKEN_STRING && g->n == strlen(text) && !memcmp(g->text, text, g->n);
}

/* The same, and goes on to the next. */
static bool grammar_take(struct grammar *g, const char *text)
{
	bool r = g->token >= TOKEN_NAME && g->token < TOKEN_BAD && grammar_is(g, text);

	if (r)
		grammar_next(g);
	return r;
}

/* Goes on only if the token is of that kind. */
static bool grammar_take_token(struct grammar *g, enum token token)
{
	bool r = g->token == token;

	if (r)
		grammar_next(g);
	return r;
}

/* ---- expressions ---- */

static bool grammar_expression(struct grammar *g);

/* A name that the list of fields declares: " name;" or " name[". */
static bool grammar_take_field(struct grammar *g)
{
	const char *at = g->fields;

	if (g->token != TOKEN_NAME)
		return false;
	while ((at = memmem(at, (size_t)(g->fields_end - at), g->text, g->n))) {
		bool begins = at > g->fields && (at[-1] == ' ' || at[-1] == '*');
		const char *behind = at + g->n;

		if (begins && behind < g->fields_end && (*behind == ';' || *behind == '[')) {
			grammar_next(g);
			return true;
		}
		at++;
	}
	return false;
}

/* The words of which casts consist; names that end with _t are types. */
static bool grammar_is_type_word(const struct grammar *g)
{
	static const char *const words[] = { "unsigned", "signed", "long",   "int",    "short",
		                             "char",     "void",   "const",  "struct", "u8",
		                             "u16",      "u32",    "u64",    "s8",     "s16",
		                             "s32",      "s64",    "__u8",   "__u16",  "__u32",
		                             "__u64",    "__s8",   "__s16",  "__s32",  "__s64",
		                             "bool",     "__le16", "__le32", "__le64", "__be16",
		                             "uint",     "ulong",  "__be32", "__be64" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (grammar_is(g, words[i]))
			return true;
	return g->token == TOKEN_NAME && g->n > 2 && !memcmp(g->text + g->n - 2, "_t", 2);
}

/* Reads what stands behind the '(' of a cast: "unsigned long *)". */
static bool grammar_take_type(struct grammar *g)
{
	unsigned n = 0;

	while (grammar_is_type_word(g)) {
		grammar_next(g);
		n++;
	}
	while (n && n < 8 && grammar_take(g, "*"))
		n++;
	return n && n < 8 && grammar_take(g, ")");
}

/* "KVM_EXIT_" "IO" */
static bool grammar_take_strings(struct grammar *g)
{
	bool r = false;

	while (grammar_take_token(g, TOKEN_STRING))
		r = true;
	return r;
}

/* Reads what stands behind "__print_symbolic(" and the like: ", { 1, \"one\" }, ..." up to its
 * ')'. */
static bool grammar_take_pairs(struct grammar *g)
{
	unsigned n = 0;

	for (; grammar_take(g, ","); n++) {
		if (!grammar_take(g, "{") || !grammar_expression(g) || !grammar_take(g, ",") ||
		    !(grammar_take_strings(g) || grammar_expression(g)) || !grammar_take(g, "}"))
			return false;
	}
	return n && grammar_take(g, ")");
}

/* Functions by their arguments: f a field, e an expression, s a string, p pairs, t a type. */
static const char *grammar_function_arguments(const struct grammar *g)
{
	static const char *const functions[][2] = {
		{ "__print_flags", "esp" },
		{ "__print_symbolic", "ep" },
		{ "__print_hex", "ee" },
		{ "__print_hex_str", "ee" },
		{ "__print_array", "eee" },
		{ "__get_str", "f" },
		{ "__get_rel_str", "f" },
		{ "__get_bitmask", "f" },
		{ "__get_rel_bitmask", "f" },
		{ "__get_cpumask", "f" },
		{ "__get_rel_cpumask", "f" },
		{ "__get_dynamic_array", "f" },
		{ "__get_rel_dynamic_array", "f" },
		{ "__get_dynamic_array_len", "f" },
		{ "__get_rel_dynamic_array_len", "f" },
		{ "sizeof", "t" },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (grammar_is(g, functions[i][0]))
			return functions[i][1];
	return NULL;
}

/* A call of one of the kernel's print helpers, with the arguments that it must have. False: it is
 * none of those, or its arguments are others. */
static bool grammar_take_call(struct grammar *g)
{
	const char *args = grammar_function_arguments(g);

	if (!args)
		return false;
	grammar_next(g);
	if (!grammar_take(g, "("))
		return false;
	for (const char *a = args; *a; a++) {
		if (*a == 'p')
			return grammar_take_pairs(g);
		if (*a == 't')
			return grammar_take_type(g);
		if (a > args && !grammar_take(g, ","))
			return false;
		if (*a == 'f'   ? !grammar_take_field(g)
		    : *a == 's' ? !grammar_take_token(g, TOKEN_STRING)
		                : !grammar_expression(g))
			return false;
	}
	return grammar_take(g, ")");
}

static bool grammar_unary(struct grammar *g);

/* "(unsigned long)x" or "(a + b)". */
static bool grammar_parenthesis(struct grammar *g)
{
	if (grammar_is_type_word(g))
		return grammar_take_type(g) && grammar_unary(g);
	return grammar_expression(g) && grammar_take(g, ")");
}

/* An operand: sign, literal, parenthesis or cast, REC->field or call, with indices behind it. Depth
 * is limited, because this recurses as the text nests. */
static bool grammar_unary(struct grammar *g)
{
	bool r;

	if (++g->depth > DEPTH)
		return false;
	if (grammar_take(g, "-") || grammar_take(g, "!") || grammar_take(g, "~"))
		r = grammar_unary(g);
	else if (g->token == TOKEN_NUMBER || g->token == TOKEN_STRING)
		r = grammar_take_token(g, g->token);
	else if (grammar_take(g, "("))
		r = grammar_parenthesis(g);
	else if (grammar_take(g, "REC"))
		r = grammar_take(g, "->") && grammar_take_field(g);
	else
		r = grammar_take_call(g);
	while (r && grammar_take(g, "["))
		r = grammar_expression(g) && grammar_take(g, "]");
	g->depth--;
	return r;
}

/* Precedence does not matter: nothing is computed. */
static bool grammar_take_binary(struct grammar *g)
{
	static const char *const operators[] = {
		"+",  "-",  "*",  "/",  "%",  "&", "|", "^",  "<<",
		">>", "&&", "||", "==", "!=", "<", ">", "<=", ">="
	};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (grammar_take(g, operators[i]))
			return true;
	return false;
}

/* Unary operands with operators between them, then perhaps ?: with two more. */
static bool grammar_expression(struct grammar *g)
{
	bool r;

	if (++g->depth > DEPTH)
		return false;
	r = grammar_unary(g);
	while (r && grammar_take_binary(g))
		r = grammar_unary(g);
	if (r && grammar_take(g, "?"))
		r = grammar_expression(g) && grammar_take(g, ":") && grammar_expression(g);
	g->depth--;
	return r;
}

/* The text behind "print fmt:": a string and its arguments. fields: where REC-> names are looked
 * up. */
bool grammar_print(const char *text, size_t n, const char *fields, size_t fields_n)
{
	struct grammar g = { .at = text, .end = text + n };
	unsigned arguments = 0;

	g.fields = fields;
	g.fields_end = fields + fields_n;
	grammar_next(&g);
	if (!grammar_take_strings(&g))
		return false;
	for (; grammar_take(&g, ","); arguments++)
		if (!grammar_expression(&g))
			return false;
	return g.token == TOKEN_END;
}

/* ---- fields ---- */

/* A line that begins so: *ret is what follows, *at the next line. */
static bool grammar_take_line(const char **at, const char *end, const char *begin, const char **ret)
{
	size_t n = strlen(begin);
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));

	if (!newline || (size_t)(newline - *at) < n || memcmp(*at, begin, n))
		return false;
	*ret = *at + n;
	*at = newline + 1;
	return true;
}

/* "12;" and *at behind it. At most five digits. */
static bool grammar_take_number(const char **at, const char *end, const char *label)
{
	size_t n = strlen(label), digits = 0;

	if ((size_t)(end - *at) <= n || memcmp(*at, label, n))
		return false;
	for (*at += n; *at < end && isdigit((unsigned char)**at); ++*at)
		digits++;
	if (!digits || digits > 5 || *at == end || **at != ';')
		return false;
	++*at;
	return true;
}

/* "unsigned char name[8];": words, stars, then one bracket with a number, a name or nothing. */
static bool grammar_take_declaration(const char **at, const char *end)
{
	unsigned words = 0;

	for (;;) {
		const char *to = grammar_scan_while(*at, end, "_");

		if (to == *at || isdigit((unsigned char)**at))
			return false;
		words++;
		for (*at = to; *at < end && (**at == ' ' || **at == '*');)
			++*at;
		if (*at == end)
			return false;
		if (**at == '[') {
			*at = grammar_scan_while(*at + 1, end, "_");
			if (*at == end || **at != ']')
				return false;
			++*at;
			if (*at < end && **at == ' ') { /* "__data_loc char[] name" */
				++*at;
				continue;
			}
		}
		if (*at < end && **at == ';') {
			++*at;
			return words >= 2 && words < 12;
		}
	}
}

/* Reads what stands behind "\tfield:". */
static bool grammar_is_field(const char *at, const char *end)
{
	if (!grammar_take_declaration(&at, end) || !grammar_take_number(&at, end, "\toffset:") ||
	    !grammar_take_number(&at, end, "\tsize:"))
		return false;
	if (at < end && *at == '\t' && !grammar_take_number(&at, end, "\tsigned:"))
		return false;
	return at < end && *at == '\n';
}

/* True only for a text of exactly the kernel's form: name, ID, and 1 to 512 fields, each on a line
 * of its own. */
bool grammar_fields(const char *text, size_t n)
{
	const char *at = text, *end = text + n, *line;
	unsigned fields = 0, empty = 0;

	if (!grammar_take_line(&at, end, "name: ", &line) ||
	    grammar_scan_while(line, end, "_") + 1 != at || line + 1 == at ||
	    isdigit((unsigned char)*line))
		return false;
	if (!grammar_take_line(&at, end, "ID: ", &line) || !isdigit((unsigned char)*line) ||
	    strspn(line, "0123456789") > 5 || line + strspn(line, "0123456789") + 1 != at)
		return false;
	if (!grammar_take_line(&at, end, "format:", &line) || line + 1 != at)
		return false;
	while (at < end) {
		if (grammar_take_line(&at, end, "\tfield:", &line)) {
			if (!grammar_is_field(line, end) || ++fields > 512)
				return false;
		} else if (!grammar_take_line(&at, end, "", &line) || line + 1 != at ||
		           ++empty > 2) {
			return false; /* one empty line behind the common fields, one behind all */
		}
	}
	return fields > 0;
}
