// SPDX-License-Identifier: MIT
/* vet.c: see vet.h. Knows what libtraceevent does with each kind of argument, and what it does not
 * check there: lengths and counts that come from the data, recursion as deep as the text nests,
 * indices. */
#include "tracepoint/vet.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tracepoint/grammar.h"

/* ---- before parsing: size, grammar of the fields, nesting, operators ---- */

/* Of the print format's language. */
static bool vet_is_operator(char c)
{
	return c && strchr("-?:+*/%<>&|=!~^.[(", c);
}

/* The print format behind "print fmt:": brackets and operators outside of strings. libtraceevent's
 * parser and printer recurse with each of them, and bound nothing. */
static const char *vet_print(const char *at, const char *end)
{
	unsigned depth = 0, operators[VET_DEPTH + 1] = { 0 };
	char quote = 0;

	for (; at < end; at++) {
		if (quote && *at == '\\') {
			at++;
		} else if (quote) {
			quote = *at == quote ? 0 : quote;
		} else if (*at == '"' || *at == '\'') {
			quote = *at;
		} else if (*at == ',') {
			/* Each argument has its own count. */
			operators[depth] = 0;
		} else if (strchr(")]}", *at)) {
			depth -= depth > 0;
		}
		if (quote)
			continue;
		if (vet_is_operator(*at) && ++operators[depth] > VET_OPERATORS)
			return "its print format has too many operators in one argument";
		if (strchr("([{", *at)) {
			if (++depth > VET_DEPTH)
				return "its print format is nested too deeply";
			operators[depth] = 0;
		}
	}
	return quote ? "a string of its print format does not end" : NULL;
}

/* NULL: the text may be parsed; else why not. VET_TEXT bounds what parsing can cost. */
const char *vet_text(const char *text, size_t n)
{
	const char *print;

	if (n > VET_TEXT)
		return "its format is too long";
	for (size_t i = 0; i < n; i++) {
		if (!text[i] || (unsigned char)text[i] > 126)
			return "its format is not text";
	}
	print = memmem(text, n, "print fmt:", 10);
	if (!print)
		return "its format has no print format";
	if (!grammar_fields(text, (size_t)(print - text)))
		return "its fields are not declared as Linux declares them";
	return vet_print(print + 10, text + n);
}

/* ---- after parsing ---- */

/* Constants are checked as they are used: a number of at most five digits, so that no sum of them
 * overflows. */
static bool vet_is_small_constant(const struct tep_print_arg *arg)
{
	const char *at = arg->type == TEP_PRINT_ATOM ? arg->atom.atom : NULL;

	return at && *at && strspn(at, "0123456789") == strlen(at) && strlen(at) <= 5 &&
	       (strlen(at) < 5 || strcmp(at, "65535") <= 0);
}

/* What may say how many elements there are: a constant, the length of a dynamic field, or a field
 * whose value vet_raw_count looks at for each sample. */
static bool vet_is_count(const struct tep_print_arg *arg)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return arg && (vet_is_small_constant(arg) || arg->type == TEP_PRINT_DYNAMIC_ARRAY_LEN ||
	               arg->type == TEP_PRINT_FIELD);
}

static const char *vet_args(const struct tep_print_arg *arg);

/* Whether an array is printed from a field, or from what a dynamic field points to. */
static bool vet_is_array(const struct tep_print_arg *arg)
{
	return arg && (arg->type == TEP_PRINT_FIELD ||
	               (arg->type == TEP_PRINT_DYNAMIC_ARRAY && !arg->dynarray.index));
}

/* An index may be a small constant only. */
static const char *vet_op(const struct tep_print_arg *arg)
{
	const char *why;

	if (!arg->op.op)
		return "an operator of its print format is missing";
	if (arg->op.op[0] == '[')
		return arg->op.right && vet_is_small_constant(arg->op.right) &&
		                       (arg->op.left->type == TEP_PRINT_FIELD ||
		                        arg->op.left->type == TEP_PRINT_DYNAMIC_ARRAY)
		               ? NULL
		               : "its print format computes an index";
	why = arg->op.left ? vet_args(arg->op.left) : NULL;
	return why ? why : arg->op.right ? vet_args(arg->op.right) : NULL;
}

/* Why an argument of a print format must not be given to libtraceevent; NULL: it may. What is not
 * known is refused. */
static const char *vet_arg(const struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_NULL:
	case TEP_PRINT_ATOM:
	case TEP_PRINT_FIELD:
	case TEP_PRINT_STRING:
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return NULL;
	case TEP_PRINT_FLAGS:
		return arg->flags.field ? vet_args(arg->flags.field) : "flags of nothing";
	case TEP_PRINT_SYMBOL:
		return arg->symbol.field ? vet_args(arg->symbol.field) : "names of nothing";
	case TEP_PRINT_TYPE:
		return arg->typecast.item ? vet_args(arg->typecast.item) : "a cast of nothing";
	case TEP_PRINT_OP:
		return vet_op(arg);
	case TEP_PRINT_DYNAMIC_ARRAY:
		return !arg->dynarray.index || vet_is_small_constant(arg->dynarray.index)
		               ? NULL
		               : "its print format computes an index";
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return vet_is_array(arg->hex.field) && vet_is_count(arg->hex.size)
		               ? NULL
		               : "its print format computes a length";
	case TEP_PRINT_INT_ARRAY:
		return vet_is_array(arg->int_array.field) && vet_is_count(arg->int_array.count) &&
		                       arg->int_array.el_size &&
		                       vet_is_small_constant(arg->int_array.el_size) &&
		                       strlen(arg->int_array.el_size->atom.atom) == 1
		               ? NULL
		               : "its print format computes a length";
	default:
		return "its print format calls what is not known";
	}
}

/* A list of arguments. How deep each of them nests was bounded before parsing, by vet_print. */
static const char *vet_args(const struct tep_print_arg *arg)
{
	const char *why = NULL;
	unsigned n = 0;

	for (; arg && !why; arg = arg->next)
		why = ++n > VET_ARGUMENTS ? "its print format has too many arguments"
		                          : vet_arg(arg);
	return why;
}

/* Checks the widths in a print format: at most three digits, and '*' only where it counts bytes of
 * a field (%*pbl, %.*s). */
static const char *vet_directives(const char *format)
{
	for (; *format; format++) {
		size_t digits;

		if (*format != '%')
			continue;
		format++;
		format += strspn(format, "-+ #0.");
		if (*format == '*' && format[1] != 'p')
			return "its print format takes a width from the data";
		for (unsigned i = 0; i < 2; i++) { /* width, precision */
			digits = strspn(format, "0123456789");
			if (digits > 3)
				return "a width in its print format is too large";
			format += digits;
			format += *format == '.';
		}
		if (!*format)
			break;
	}
	return NULL;
}

/* Numbers of the text: offsets, sizes and lengths of arrays. */
static const char *vet_fields(const struct tep_format_field *field)
{
	for (; field; field = field->next) {
		if (field->offset < 0 || field->size < 0 || (unsigned)field->offset > VET_RAW ||
		    (unsigned)field->size > VET_RAW)
			return "a field of it lies outside of any record";
		if (field->elementsize > VET_RAW || field->arraylen > VET_RAW)
			return "an array of it is too long";
	}
	return NULL;
}

/* Why even the fields cannot be shown; NULL: they can. */
const char *vet_event(const struct tep_event *event)
{
	const char *why = vet_fields(event->format.common_fields);

	if (!why)
		why = vet_fields(event->format.fields);
	if (!why && event->flags & (TEP_EVENT_FL_ISBPRINT | TEP_EVENT_FL_ISFTRACE))
		why = "it is one of ftrace's own";
	return why;
}

/* NULL: the print format may be used. Otherwise the fields are shown one by one. */
const char *vet_format(const struct tep_event *event)
{
	const char *why = event->print_fmt.format ? vet_directives(event->print_fmt.format)
	                                          : "it has no print format";

	return why ? why : vet_args(event->print_fmt.args);
}

/* ---- a sample ---- */

/* vet_raw_fields has shown that the field lies in the data. */
static uint64_t vet_field_value(const struct tep_format_field *field, const unsigned char *raw)
{
	return tep_read_number(field->event->tep, raw + field->offset, field->size);
}

/* Checks that all fields of a sample, and what dynamic fields point to, lie within its raw data;
 * NULL if so, else the reason. */
static const char *vet_raw_fields(const struct tep_format_field *field, const unsigned char *raw,
                                  size_t n)
{
	for (; field; field = field->next) {
		uint64_t at, length;

		if ((size_t)field->offset > n || (size_t)field->size > n - (size_t)field->offset)
			return "its raw data are shorter than its fields";
		if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		if (field->size != 4 && field->size != 2)
			return "a dynamic field of it has an odd size";
		at = vet_field_value(field, raw);
		/* A dynamic field is u32: offset in the low half, length in the high half. Relative
		 * ones count from behind the field. */
		length = field->size == 4 ? at >> 16 : 0;
		at &= 0xffff;
		if (field->flags & TEP_FIELD_IS_RELATIVE)
			at += (uint64_t)field->offset + (uint64_t)field->size;
		if (at > n || length > n - at)
			return "a dynamic field of it lies outside of its raw data";
	}
	return NULL;
}

/* Counts that are fields. */
static const char *vet_raw_count(const struct tep_print_arg *count, const unsigned char *raw)
{
	while (count->type == TEP_PRINT_TYPE)
		count = count->typecast.item;
	if (count->type != TEP_PRINT_FIELD)
		return NULL;
	if (!count->field.field || count->field.field->flags & TEP_FIELD_IS_ARRAY ||
	    vet_field_value(count->field.field, raw) > VET_COUNT)
		return "it counts more elements than a record can hold";
	return NULL;
}

/* Checks the counts that the print format takes from fields of this sample; NULL if they are sound,
 * else the reason. */
static const char *vet_raw_args(const struct tep_print_arg *arg, const unsigned char *raw)
{
	const char *why = NULL;

	for (; arg && !why; arg = arg->next) {
		if (arg->type == TEP_PRINT_HEX || arg->type == TEP_PRINT_HEX_STR)
			why = vet_raw_count(arg->hex.size, raw);
		else if (arg->type == TEP_PRINT_INT_ARRAY)
			why = vet_raw_count(arg->int_array.count, raw);
		else if (arg->type == TEP_PRINT_FLAGS)
			why = vet_raw_args(arg->flags.field, raw);
		else if (arg->type == TEP_PRINT_SYMBOL)
			why = vet_raw_args(arg->symbol.field, raw);
		else if (arg->type == TEP_PRINT_TYPE)
			why = vet_raw_args(arg->typecast.item, raw);
		else if (arg->type == TEP_PRINT_OP && arg->op.op[0] != '[') {
			why = vet_raw_args(arg->op.left, raw);
			if (!why)
				why = vet_raw_args(arg->op.right, raw);
		}
	}
	return why;
}

/* NULL: the sample may be printed; else why not. */
const char *vet_raw(const struct tep_event *event, const unsigned char *raw, size_t n)
{
	const char *why = n > VET_RAW ? "its raw data are too long" : NULL;

	if (!why)
		why = vet_raw_fields(event->format.common_fields, raw, n);
	if (!why)
		why = vet_raw_fields(event->format.fields, raw, n);
	if (why || event->flags & (int)(TEP_EVENT_FL_PRINTRAW | TEP_EVENT_FL_FAILED))
		return why;
	return vet_raw_args(event->print_fmt.args, raw);
}
