// SPDX-License-Identifier: MIT
// script_fields.c: the names of what seam script prints (-F). Knows nothing of how it is printed.
#include <errno.h>
#include <string.h>

#include "cli/script_text.h"

static const struct {
	const char *name;
	unsigned bit;
} names[] = {
	{ "comm", SCRIPT_COMM },   { "pid", SCRIPT_PID },         { "tid", SCRIPT_TID },
	{ "cpu", SCRIPT_CPU },     { "time", SCRIPT_TIME },       { "period", SCRIPT_PERIOD },
	{ "event", SCRIPT_EVENT }, { "addr", SCRIPT_ADDR },       { "ip", SCRIPT_IP },
	{ "sym", SCRIPT_SYM },     { "symoff", SCRIPT_SYMOFF },   { "dso", SCRIPT_DSO },
	{ "state", SCRIPT_STATE }, { "srcline", SCRIPT_SRCLINE },
};

const char *script_field_names(void)
{
	return "comm,pid,tid,cpu,time,period,event,addr,ip,sym,symoff,dso,srcline,state";
}

int script_fields(const char *text, unsigned *fields, const char **bad, int *n)
{
	const char *colon = strchr(text, ':'); /* perf's "hw:", "sw:" ...: one list for all here */
	unsigned set = *fields;
	bool first = true;

	if (colon)
		text = colon + 1;
	for (; *text; text += *text == ',') {
		char sign = *text == '+' || *text == '-' ? *text : 0;
		size_t len, i;

		text += sign != 0;
		if (first && !sign)
			set = 0;
		first = false;
		len = strcspn(text, ",");
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strlen(names[i].name) == len && !memcmp(names[i].name, text, len))
				break;
		if (i == sizeof(names) / sizeof(names[0])) {
			*bad = text;
			*n = (int)len;
			return -EINVAL;
		}
		set = sign == '-' ? set & ~names[i].bit : set | names[i].bit;
		text += len;
	}
	*fields = set;
	return 0;
}
