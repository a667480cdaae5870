// SPDX-License-Identifier: MIT
// runtime.c: see runtime.h. The table's rows are those of runtimes.def.
#include "abi/runtime.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *name, *object, *label, *prefix, *separator;
} kinds[RUNTIMES] = {
#define RUNTIME(number, id, name, label, prefix, separator) \
	[number] = { #name, "[" #name "]", label, prefix, separator },
#include "abi/runtimes.def"
};

const char *runtime_name(enum runtime_kind kind)
{
	return kind < RUNTIMES ? kinds[kind].name : NULL;
}

const char *runtime_label(enum runtime_kind kind)
{
	return runtime_name(kind) ? kinds[kind].label : "a runtime";
}

const char *runtime_prefix(enum runtime_kind kind)
{
	return runtime_name(kind) ? kinds[kind].prefix : "";
}

const char *runtime_separator(enum runtime_kind kind)
{
	return runtime_name(kind) ? kinds[kind].separator : "";
}

const char *runtime_object_name(enum runtime_kind kind)
{
	return runtime_name(kind) ? kinds[kind].object : "[runtime]";
}

enum runtime_kind runtime_of_name(const char *name, size_t n)
{
	for (unsigned k = 0; k < RUNTIMES; k++)
		if (kinds[k].name && strlen(kinds[k].name) == n && !memcmp(kinds[k].name, name, n))
			return (enum runtime_kind)k;
	return RUNTIME_NO_KIND;
}

enum runtime_kind runtime_of_function(const char *name)
{
	for (unsigned k = 0; k < RUNTIMES; k++)
		if (kinds[k].name && !strncmp(name, kinds[k].prefix, strlen(kinds[k].prefix)))
			return (enum runtime_kind)k;
	return RUNTIME_NO_KIND;
}

/* Behind what stands in brackets there ("<class:Foo>", "{closure:f():12}"), if it is closed and
 * begins with a letter, as no operator does. */
static const char *runtime_skip(const char *at)
{
	bool opens = (*at == '<' || *at == '{') && isalpha((unsigned char)at[1]);
	const char *end = opens ? strchr(at, *at == '<' ? '>' : '}') : NULL;

	return end ? end : at;
}

/* A "::" belongs to the function. */
const char *runtime_function_file(const char *name)
{
	enum runtime_kind kind = runtime_of_function(name);

	if (!kind)
		return NULL;
	for (const char *at = name + strlen(runtime_prefix(kind)); *at; at++) {
		at = runtime_skip(at);
		if (*at != ':')
			continue;
		if (at[1] != ':')
			return at[1] ? at + 1 : NULL;
		at++;
	}
	return NULL;
}
