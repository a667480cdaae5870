// SPDX-License-Identifier: MIT
// fields.c: see fields.h. The lists are the program's own: they are trusted, and tested as a whole.
#include "abi/fields.h"

#include <seam/record.h>

/* By type. Types between the kernel's and perf's own have no list, and read as "". */
static const char *const fields_lists[] = {
#define RECORD(id, symbol, name, least, decoder, printer, fields) [id] = fields,
#include "abi/records.def"
};

const char *fields_of(uint32_t type)
{
	if (type >= sizeof(fields_lists) / sizeof(*fields_lists) || !fields_lists[type])
		return "";
	return fields_lists[type];
}

/* A field is `name:kindWIDTH`, `name:*kindWIDTH` when it repeats to the record's end, and
 * `name:n{...}` for a counted group, whose own list is left in ret->group. A list without a colon
 * or a closing brace would run on: all lists stand in records.def. */
bool fields_next(const char **at, struct field *ret)
{
	const char *p = *at;

	while (*p == ' ')
		p++;
	if (!*p || *p == '}')
		return false;
	*ret = (struct field){ .name = p };
	while (*p != ':')
		p++;
	ret->name_n = (size_t)(p++ - ret->name);
	ret->repeated = *p == '*';
	p += ret->repeated;
	ret->kind = *p++;
	while (*p >= '0' && *p <= '9')
		ret->width = ret->width * 10 + (unsigned)(*p++ - '0');
	if (*p == '{') {
		ret->group = ++p;
		while (*p++ != '}')
			;
	}
	*at = p;
	return true;
}
