// SPDX-License-Identifier: MIT
// terms.c: what stands behind an event's name: "/period=1000,name=x/" and ":u". perf's own
// terms are known here; a PMU's are asked of pmu.c.
#include "event/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MOST 64

/* ---- modifiers ---- */

/*
 * u k h: count only in user space, the kernel, the hypervisor. G H: only in guests, on the host. p:
 * ask for so much precision, P: for the most there is. I: not while idle. S: samples hold the
 * counts of the group. D: always on the PMU. e: nothing else on it. W: a group that may be split.
 * -EINVAL: a modifier that is not known, or p more than three times.
 */
int terms_modifiers(struct event_parser *p, const char *text, struct modifiers *m)
{
	for (; *text; text++) {
		switch (*text) {
		case 'u':
			m->user = true;
			break;
		case 'k':
			m->kernel = true;
			break;
		case 'h':
			m->hv = true;
			break;
		case 'G':
			m->guest = true;
			break;
		case 'H':
			m->host = true;
			break;
		case 'p':
			m->precise++;
			break;
		case 'P':
			m->precise_max = true;
			break;
		case 'I':
			m->idle = true;
			break;
		case 'S':
			m->read = true;
			break;
		case 'D':
			m->pinned = true;
			break;
		case 'W':
			m->weak = true;
			break;
		case 'e':
			m->exclusive = true;
			break;
		default:
			return event_fail(
			        p, EINVAL,
			        "'%s': unknown modifier '%c'; there are u k h G H p P I S "
			        "D W e",
			        p->item, *text);
		}
	}
	if (m->precise > 3)
		return event_fail(p, EINVAL, "'%s': at most three times the modifier p", p->item);
	return 0;
}

/* Sets in the event's attr what the modifiers ask for. As soon as one of u, k, h is given, the
 * others are excluded. */
void terms_apply(struct event *e, const struct modifiers *m)
{
	uint64_t *flags = &e->attr.flags;

	/* Attr says what is left out, modifiers what is wanted. */
	if (m->user || m->kernel || m->hv) {
		e->exclude_given = true;
		*flags |= m->user ? 0 : SEAM_ATTR_EXCLUDE_USER;
		*flags |= m->kernel ? 0 : SEAM_ATTR_EXCLUDE_KERNEL;
		*flags |= m->hv ? 0 : SEAM_ATTR_EXCLUDE_HV;
	}
	e->guest_given |= m->guest || m->host;
	/* Both together want both: nothing is left out. */
	if (m->guest && !m->host)
		*flags |= SEAM_ATTR_EXCLUDE_HOST;
	if (m->host && !m->guest)
		*flags |= SEAM_ATTR_EXCLUDE_GUEST;
	if (m->idle)
		*flags |= SEAM_ATTR_EXCLUDE_IDLE;
	if (m->pinned)
		*flags |= SEAM_ATTR_PINNED;
	if (m->exclusive)
		*flags |= SEAM_ATTR_EXCLUSIVE;
	/* The group's modifiers came first: the event's own p replaces theirs. */
	if (m->precise) {
		*flags &= ~(3ULL << SEAM_ATTR_PRECISE_IP_SHIFT);
		*flags |= (uint64_t)m->precise << SEAM_ATTR_PRECISE_IP_SHIFT;
	}
	e->precise_max |= m->precise_max;
	e->sample_read |= m->read;
	e->weak |= m->weak;
}

/* ---- terms ---- */

/* "fp,defer" comes here as one value: terms_split has put it together. */
static int terms_callchain(struct event_parser *p, struct event *e, const char *value)
{
	if (value && (!strcmp(value, "no") || !strcmp(value, "none")))
		e->callchain = EVENT_CALLCHAIN_NO;
	else if (value && !strcmp(value, "fp"))
		e->callchain = EVENT_CALLCHAIN_FP;
	else if (value && !strcmp(value, "fp,defer"))
		e->callchain = EVENT_CALLCHAIN_DEFER;
	else if (value && !strcmp(value, "dwarf"))
		e->callchain = EVENT_CALLCHAIN_DWARF;
	else
		return event_fail(p, EINVAL, "'%s': call-graph= takes no, fp, fp,defer or dwarf",
		                  p->item);
	return 0;
}

/* One of freq= and period=, because both stand in the same word of attr. */
static int terms_rate(struct event_parser *p, struct event *e, const struct event_term *t)
{
	bool freq = !strcmp(t->name, "freq");
	uint64_t v;

	if (!t->value || !event_number(t->value, &v) || !v)
		return event_fail(p, EINVAL, "'%s': %s= needs a number above 0", p->item, t->name);
	if (e->has_rate)
		return event_fail(p, EINVAL, "'%s': either freq= or period=, and once", p->item);
	e->has_rate = true;
	e->attr.sample_period = v;
	e->attr.flags |= freq ? SEAM_ATTR_FREQ : 0;
	return 0;
}

/* config= and its siblings: a word of attr as it is. */
static int terms_config(struct event_parser *p, uint64_t *word, const struct event_term *t)
{
	if (!t->value || !event_number(t->value, word))
		return event_fail(p, EINVAL, "'%s': %s= needs a number", p->item, t->name);
	return 0;
}

/* Applies a term if it is one of perf's own: 1; 0: it is not. They come before a PMU's fields of
 * the same name, such as config. */
static int terms_own(struct event_parser *p, struct event *e, const struct event_term *t)
{
	static const char *const words[] = { "config", "config1", "config2", "config3" };
	uint64_t *const at[] = { &e->attr.config, &e->attr.config1, &e->attr.config2,
		                 &e->attr.config3 };
	uint64_t v;
	int r;

	for (size_t i = 0; i < 4; i++) {
		if (strcmp(t->name, words[i]))
			continue;
		r = terms_config(p, at[i], t);
		return r < 0 ? r : 1;
	}
	if (!strcmp(t->name, "freq") || !strcmp(t->name, "period")) {
		r = terms_rate(p, e, t);
		return r < 0 ? r : 1;
	}
	if (!strcmp(t->name, "call-graph")) {
		r = terms_callchain(p, e, t->value);
		return r < 0 ? r : 1;
	}
	if (!strcmp(t->name, "max-stack")) {
		if (!t->value || !event_number(t->value, &v) || !v || v > UINT16_MAX)
			return event_fail(p, EINVAL, "'%s': max-stack= needs 1 to 65535", p->item);
		e->max_stack = (uint16_t)v;
		return 1;
	}
	if (!strcmp(t->name, "name")) {
		if (!t->value || !t->value[0] || strlen(t->value) > EVENT_NAME_MOST)
			return event_fail(p, EINVAL, "'%s': name= needs a name", p->item);
		free(e->name);
		e->name = strdup(t->value);
		return e->name ? 1 : event_fail(p, ENOMEM, "out of memory");
	}
	return 0;
}

// Splits "a=1,b,c='x,y'" in place. A bare "defer" behind call-graph=fp belongs to it.
static int terms_split(struct event_parser *p, char *text, struct event_term *terms)
{
	int n = 0;

	/* Quotes hold commas together; the first '=' outside of them divides name and value. */
	while (*text) {
		char *eq = NULL, quote = 0, *start = text;

		for (; *text && (quote || *text != ','); text++) {
			if (quote && *text == quote)
				quote = 0;
			else if (!quote && (*text == '\'' || *text == '"'))
				quote = *text;
			else if (!quote && !eq && *text == '=')
				eq = text;
		}
		/* perf writes call-graph=fp,defer without quotes: that comma belongs to the
		 * value. */
		if (n && !strcmp(terms[n - 1].name, "call-graph") && terms[n - 1].value &&
		    !strcmp(terms[n - 1].value, "fp") && !strncmp(start, "defer", 5) &&
		    text == start + 5) {
			terms[n - 1].value = "fp,defer";
			text += *text == ',';
			continue;
		}
		if (n == TERMS_MOST)
			return event_fail(p, EINVAL, "'%s': too many terms", p->item);
		if (*text)
			*text++ = '\0';
		terms[n++] = (struct event_term){ .name = start };
		if (!eq)
			continue;
		*eq++ = '\0';
		/* Quotes are taken off only where they hold the whole value. */
		if ((*eq == '\'' || *eq == '"') && eq[1] && eq[strlen(eq) - 1] == *eq) {
			eq++;
			eq[strlen(eq) - 1] = '\0';
		}
		terms[n - 1].value = eq;
	}
	return n;
}

/* pmu NULL: a symbolic event or a tracepoint, which takes perf's own terms only. Terms are applied
 * in their order. -errno: the first that is wrong, in words in p->err. */
int terms_parse(struct event_parser *p, struct event *e, char *text, const char *pmu)
{
	struct event_term terms[TERMS_MOST];
	int n = terms_split(p, text, terms);

	for (int i = 0; i < n; i++) {
		int r = terms_own(p, e, &terms[i]);

		if (r == 0 && pmu)
			r = pmu_term(p->roots, pmu, &terms[i], e, p->err);
		else if (r == 0)
			r = event_fail(p, EINVAL,
			               "'%s': unknown term '%s'; there are freq= period= "
			               "call-graph= max-stack= name= config= config1= config2= "
			               "config3=",
			               p->item, terms[i].name);
		if (r < 0)
			return r;
	}
	return n < 0 ? n : 0;
}
