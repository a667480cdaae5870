// SPDX-License-Identifier: MIT
/*
 * when.c: see when.h.
 *
 * Local time is the machine's zone (TZ). What is read does not depend on a
 * clock: now is given.
 */
#include "base/when.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000ULL

uint64_t when_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Reads one to `most` digits; -1: there is none. */
static int64_t when_number(const char **text, int most)
{
	int64_t v = 0;
	int n = 0;

	for (; n < most && **text >= '0' && **text <= '9'; n++)
		v = v * 10 + *(*text)++ - '0';
	return n ? v : -1;
}

/* 0: it is no unit. A minute is "m"; "ms" is told apart by the caller. */
static uint64_t when_unit(char c)
{
	switch (c) {
	case 's':
		return SECOND;
	case 'm':
		return 60 * SECOND;
	case 'h':
		return 3600 * SECOND;
	case 'd':
		return 86400 * SECOND;
	case 'w':
		return 7 * 86400 * SECOND;
	default:
		return 0;
	}
}

/* "90", "90s", "1h30m", "500ms": parts are added. A number without a unit is seconds, and stands
 * alone. */
int when_parse_duration(const char *text, uint64_t *ret)
{
	uint64_t sum = 0;

	do {
		int64_t v = when_number(&text, 9);
		bool ms = text[0] == 'm' && text[1] == 's';
		uint64_t unit = ms ? SECOND / 1000 : *text || sum ? when_unit(*text) : SECOND, part;

		if (v < 0 || !unit || __builtin_mul_overflow((uint64_t)v, unit, &part) ||
		    __builtin_add_overflow(sum, part, &sum))
			return -EINVAL;
		text += ms ? 2 : *text != 0;
	} while (*text);
	*ret = sum;
	return 0;
}

/* "14:02" or "14:02:30" into tm; false: it is none. */
static bool when_clock(const char **text, struct tm *tm)
{
	int64_t hour = when_number(text, 2), minute, second = 0;

	if (**text != ':')
		return false;
	++*text;
	minute = when_number(text, 2);
	if (**text == ':') {
		++*text;
		second = when_number(text, 2);
	}
	tm->tm_hour = (int)hour;
	tm->tm_min = (int)minute;
	tm->tm_sec = (int)second;
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

/* "2026-11-20" into tm. */
static bool when_date(const char **text, struct tm *tm)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t year = when_number(text, 4), month, day;
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (year < 1970 || *(*text)++ != '-')
		return false;
	month = when_number(text, 2);
	if (month < 1 || month > 12 || *(*text)++ != '-')
		return false;
	day = when_number(text, 2);
	tm->tm_year = (int)year - 1900;
	tm->tm_mon = (int)month - 1;
	tm->tm_mday = (int)day;
	return day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* "Z", "+01:00", "-0500", or nothing: local time. Seconds east of Greenwich. False: it is no
 * zone. */
static bool when_zone(const char **text, bool *local, int64_t *east)
{
	int64_t hour, minute;
	int sign;

	*local = !**text;
	*east = 0;
	if (!**text)
		return true;
	if (**text == 'Z' || **text == 'z') {
		++*text;
		return true;
	}
	sign = **text == '-' ? -1 : **text == '+' ? 1 : 0;
	++*text;
	hour = sign ? when_number(text, 2) : -1;
	*text += **text == ':';
	minute = when_number(text, 2);
	*east = sign * (hour * 3600 + minute * 60);
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

/* The last time before now at which the clock showed this. */
static int when_today(const char *text, uint64_t now_ns, uint64_t *ret)
{
	time_t now = (time_t)(now_ns / SECOND), at;
	struct tm tm;

	if (!localtime_r(&now, &tm) || !when_clock(&text, &tm) || *text)
		return -EINVAL;
	/* -1: mktime finds out whether summer time holds. */
	tm.tm_isdst = -1;
	at = mktime(&tm);
	if (at > now) {
		tm.tm_mday--;
		tm.tm_isdst = -1;
		at = mktime(&tm);
	}
	*ret = at > 0 ? (uint64_t)at * SECOND : 0;
	return 0;
}

/* A date with or without a time, in a zone or in local time. */
static int when_dated(const char *text, uint64_t *ret)
{
	struct tm tm = { .tm_isdst = -1 };
	int64_t east, at;
	bool local;

	if (!when_date(&text, &tm))
		return -EINVAL;
	if ((*text == 'T' || *text == 't' || *text == ' ') && (text++, !when_clock(&text, &tm)))
		return -EINVAL;
	if (!when_zone(&text, &local, &east) || *text)
		return -EINVAL;
	at = local ? (int64_t)mktime(&tm) : (int64_t)timegm(&tm) - east;
	*ret = at > 0 ? (uint64_t)at * SECOND : 0;
	return 0;
}

/* Tries each form by what stands at the beginning. */
int when_parse(const char *text, uint64_t now_ns, uint64_t *ret)
{
	uint64_t before;
	int64_t v;

	if (!strcmp(text, "now")) {
		*ret = now_ns;
		return 0;
	}
	if (*text == '-') {
		if (when_parse_duration(text + 1, &before) < 0)
			return -EINVAL;
		*ret = before < now_ns ? now_ns - before : 0;
		return 0;
	}
	if (*text == '@') {
		text++;
		v = when_number(&text, 10);
		*ret = v < 0 ? 0 : (uint64_t)v * SECOND;
		return v < 0 || *text ? -EINVAL : 0;
	}
	return strchr(text, '-') || strchr(text, 'T') ? when_dated(text, ret)
	                                              : when_today(text, now_ns, ret);
}

/* Local time, as when_parse reads it. */
const char *when_text(uint64_t ns, char buf[WHEN_TEXT_MAX])
{
	time_t at = (time_t)(ns / SECOND);
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(buf, WHEN_TEXT_MAX, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, WHEN_TEXT_MAX, "@%llu", (unsigned long long)at);
	return buf;
}
