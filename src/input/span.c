// SPDX-License-Identifier: MIT
/* span.c: see span.h. Times are digits, not strtod's: nanoseconds of a long uptime do not fit into
 * a double; percentages do. A span is closed: its last nanosecond belongs to it. */
#include "input/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_SECOND 1000000000ULL

static bool span_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes "12.345" from *text into *ns; *text goes behind it. What is later than any clock shows is
 * the end of time. */
static int span_seconds(const char **text, uint64_t *ns)
{
	const char *at = *text;
	uint64_t seconds = 0, fraction = 0, unit = SPAN_SECOND;

	if (!span_is_digit(*at))
		return -EINVAL;
	/* Digits beyond that would overflow; the value is the end of time anyway. */
	for (; span_is_digit(*at); at++)
		if (seconds < UINT64_MAX / SPAN_SECOND)
			seconds = seconds * 10 + (uint64_t)(*at - '0');
	if (*at == '.') {
		for (at++; span_is_digit(*at) && unit > 1; at++) {
			/* Digits behind the ninth are taken and mean nothing. */
			unit /= 10;
			fraction += (uint64_t)(*at - '0') * unit;
		}
		/* A point without a digit. */
		if (unit == SPAN_SECOND)
			return -EINVAL;
	}
	*ns = seconds < UINT64_MAX / SPAN_SECOND ? seconds * SPAN_SECOND + fraction : UINT64_MAX;
	*text = at;
	return 0;
}

/*
 * "1.5,2", "1.5, 2", "1.5," or ",2": up to nine digits behind the point; a side that is left out is
 * open, and one that is later than 2^64 ns is the end of time.
 * 0, or -EINVAL: it is none of these, or ends before it begins.
 */
static int span_parse(const char *text, struct span *ret)
{
	struct span s = { 0, UINT64_MAX };
	bool open = *text == ',';

	if (!open && span_seconds(&text, &s.start_ns) < 0)
		return -EINVAL;
	if (*text++ != ',')
		return -EINVAL;
	text += strspn(text, " ");
	if (*text || open) {
		if (span_seconds(&text, &s.stop_ns) < 0 || *text)
			return -EINVAL;
	}
	if (s.stop_ns < s.start_ns)
		return -EINVAL;
	*ret = s;
	return 0;
}

/* "12.5%" from *text as a part of 1; *text goes behind it. */
static int spans_percent(const char **text, double *ret)
{
	char *end;
	double v;

	if (!span_is_digit(**text))
		return -EINVAL;
	v = strtod(*text, &end);
	if (*end != '%' || !(v >= 0 && v <= 100))
		return -EINVAL;
	*text = end + 1;
	*ret = v / 100;
	return 0;
}

/* "10%-20%", "10%/2" or "10%" (the first of its slices). -EINVAL: the slice would lie behind the
 * end. */
static int spans_part(const char **text, double *begin, double *end)
{
	double first, second;
	unsigned long i = 1;
	char *stop;

	if (spans_percent(text, &first) < 0)
		return -EINVAL;
	if (**text == '-') {
		++*text;
		if (spans_percent(text, &second) < 0 || second <= first)
			return -EINVAL;
		*begin = first;
		*end = second;
		return 0;
	}
	if (**text == '/') {
		if (!span_is_digit(*++*text))
			return -EINVAL;
		i = strtoul(*text, &stop, 10);
		*text = stop;
	}
	/* 1e-9 is for rounding: 33.3333% may have three slices. */
	if (first <= 0 || !i || i > 1 / first + 1e-9)
		return -EINVAL;
	*begin = first * (double)(i - 1);
	*end = first * (double)i;
	return 0;
}

/* A list of parts, separated by commas. They become times when the recording is known. */
static int spans_parse_percent(const char *text, struct spans *s)
{
	s->percent = true;
	text += strspn(text, " ");
	for (;;) {
		if (s->n == SPANS_MAX || spans_part(&text, &s->begins[s->n], &s->ends[s->n]) < 0)
			return -EINVAL;
		s->n++;
		text += strspn(text, " ");
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
		text += strspn(text, " ");
	}
}

/* Reads one of several spans, which are separated by blanks; blanks may also stand behind the comma
 * of a span: "1, 2 3, 4". *text is moved behind it. */
static int spans_take(const char **text, struct span *ret)
{
	size_t n = strcspn(*text, ", ");
	char one[64];

	if ((*text)[n] == ',')
		n++;
	n += strspn(*text + n, " ");
	n += strcspn(*text + n, " ");
	/* No sound span has as many characters. */
	if (n >= sizeof(one))
		return -EINVAL;
	memcpy(one, *text, n);
	one[n] = 0;
	*text += n;
	return span_parse(one, ret);
}

/* Either all are percentages, or none is. -EINVAL, and *ret is as it was. */
int spans_parse(const char *text, struct spans *ret)
{
	struct spans s = { 0 };
	int r = 0;

	if (strchr(text, '%')) {
		r = spans_parse_percent(text, &s);
	} else {
		for (text += strspn(text, " "); r >= 0 && *text; text += strspn(text, " "))
			r = s.n == SPANS_MAX ? -EINVAL : spans_take(&text, &s.at[s.n++]);
		if (!s.n)
			r = -EINVAL;
	}
	if (r >= 0)
		*ret = s;
	return r;
}

int spans_option(const struct cmd *cmd, const char *text, struct spans *ret)
{
	int r = spans_parse(text, ret);

	if (r < 0)
		cmd_error(cmd,
		          "--time: '%s' is no span of time; they are START,STOP in seconds, "
		          "10%%-20%%, 10%%/2",
		          text);
	return r;
}

/* Parts of a recording's time become times of its clock. */
void spans_resolve(struct spans *s, uint64_t first_ns, uint64_t last_ns)
{
	double all = (double)(last_ns - first_ns);

	for (size_t i = 0; s->percent && i < s->n; i++) {
		struct span *at = &s->at[i];

		at->start_ns = first_ns + (uint64_t)(s->begins[i] * all + 0.5);
		at->stop_ns = first_ns + (uint64_t)(s->ends[i] * all + 0.5);
		/* The end of a part belongs to the next one, except for the recording's last
		 * sample. */
		if (at->stop_ns > at->start_ns && at->stop_ns < last_ns)
			at->stop_ns--;
	}
}

bool spans_have(const struct spans *s, uint64_t time_ns)
{
	for (size_t i = 0; i < s->n; i++)
		if (span_has(&s->at[i], time_ns))
			return true;
	return !s->n;
}
