// SPDX-License-Identifier: MIT
// script_fields.c: the names of what seam script prints (-F). Knows nothing of how it is printed.
#include <errno.h>
#include <string.h>

#include "script/script_text.h"

static const struct {
	const char *name;
	unsigned bit;
} names[] = {
	{ "comm", SCRIPT_COMM },
	{ "pid", SCRIPT_PID },
	{ "tid", SCRIPT_TID },
	{ "cpu", SCRIPT_CPU },
	{ "misc", SCRIPT_MISC },
	{ "time", SCRIPT_TIME },
	{ "period", SCRIPT_PERIOD },
	{ "event", SCRIPT_EVENT },
	{ "trace", SCRIPT_TRACE },
	{ "addr", SCRIPT_ADDR },
	{ "data_src", SCRIPT_DATA_SRC },
	{ "weight", SCRIPT_WEIGHT },
	{ "ins_lat", SCRIPT_INS_LAT },
	{ "retire_lat", SCRIPT_RETIRE_LAT },
	{ "cgroup", SCRIPT_CGROUP },
	{ "ip", SCRIPT_IP },
	{ "sym", SCRIPT_SYM },
	{ "symoff", SCRIPT_SYMOFF },
	{ "dso", SCRIPT_DSO },
	{ "srcline", SCRIPT_SRCLINE },
	{ "iregs", SCRIPT_IREGS },
	{ "uregs", SCRIPT_UREGS },
	{ "brstack", SCRIPT_BRSTACK },
	{ "phys_addr", SCRIPT_PHYS_ADDR },
	{ "data_page_size", SCRIPT_DATA_PAGE },
	{ "code_page_size", SCRIPT_CODE_PAGE },
	{ "state", SCRIPT_STATE },
	{ "label", SCRIPT_LABEL },
};

/* All names, as they may stand in a list. */
const char *script_field_names(void)
{
	return "comm,pid,tid,cpu,misc,time,period,event,trace,addr,data_src,weight,ins_lat,"
	       "retire_lat,cgroup,ip,sym,symoff,dso,srcline,iregs,uregs,brstack,phys_addr,"
	       "data_page_size,code_page_size,state,label";
}

/* A list that begins with neither '+' nor '-' replaces what was picked before. A name with '-' is
 * taken out, one with '+' or without a sign is put in. -EINVAL: *bad and *n say which word is none
 * of the names. */
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
