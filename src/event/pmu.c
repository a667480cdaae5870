// SPDX-License-Identifier: MIT
/*
 * pmu.c: events that a PMU describes in sysfs.
 *
 * type            its number, for attr.type
 * cpumask         on which CPUs it counts (uncore units)
 * format/NAME     which bits of which config word a term sets: "config:0-7,32-35"
 * events/NAME     an event of that name, as terms: "event=0x3c,umask=0x0"
 *
 * Invariant: a value that does not fit its field is refused, never cut.
 */
#include "event/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PMU_TEXT 1024 /* bytes: the files are one line each; more is cut */

/* The path of a PMU's directory, or of a file in it; sub and name may be NULL. -EINVAL: a name that
 * is no file's; -ENAMETOOLONG. */
static int pmu_path(const struct event_roots *roots, const char *pmu, const char *sub,
                    const char *name, char *path, size_t n)
{
	int got = snprintf(path, n, "%s/bus/event_source/devices/%s%s%s%s%s",
	                   roots && roots->sysfs ? roots->sysfs : "/sys", pmu, sub ? "/" : "",
	                   sub ? sub : "", name ? "/" : "", name ? name : "");

	// Names come from the command line: they must not walk out of the directory.
	if (strchr(pmu, '/') || pmu[0] == '.' || (name && (strchr(name, '/') || name[0] == '.')))
		return -EINVAL;
	return got < 0 || (size_t)got >= n ? -ENAMETOOLONG : 0;
}

/* Reads a small file of a PMU's directory into text, without the end of its line. 0 or -errno; text
 * longer than PMU_TEXT is cut. */
static int pmu_read(const struct event_roots *roots, const char *pmu, const char *sub,
                    const char *name, char text[PMU_TEXT])
{
	char path[512];
	int r = pmu_path(roots, pmu, sub, name, path, sizeof(path));
	ssize_t n;
	int fd;

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, PMU_TEXT - 1);
	r = n < 0 ? -errno : 0;
	close(fd);
	if (r < 0)
		return r;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	return 0;
}

/* A PMU is a directory with a type. */
bool pmu_exists(const struct event_roots *roots, const char *pmu)
{
	char path[512];
	struct stat st;

	return !pmu_path(roots, pmu, "type", NULL, path, sizeof(path)) && !stat(path, &st);
}

/* Every item with a PMU begins here; pmu_term then sets its terms. */
int pmu_begin(const struct event_roots *roots, const char *pmu, struct event *event,
              struct seam_error *err)
{
	char text[PMU_TEXT];
	uint64_t type;
	int r = pmu_read(roots, pmu, "type", NULL, text);

	/* A type is a small number that the kernel gave; anything else there is no PMU. */
	if (r < 0 || !event_number(text, &type) || type > UINT32_MAX)
		return seam_error_set(err, ENOENT, NULL, SEAM_NO_OFFSET, NULL,
		                      "unknown PMU '%s': /sys/bus/event_source/devices has none "
		                      "of that name",
		                      pmu);
	event->attr.type = (uint32_t)type;
	/* A unit outside of the cores is counted on one CPU of each package: the kernel says on
	 * which. */
	if (!pmu_read(roots, pmu, "cpumask", NULL, text) && text[0]) {
		event->cpus = strdup(text);
		if (!event->cpus)
			return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL,
			                      "out of memory");
	}
	return 0;
}

/* NULL: a format of a newer kernel, with a word that attr does not have. */
static uint64_t *pmu_word(struct seam_attr *attr, const char *name, size_t n)
{
	static const char *const names[] = { "config", "config1", "config2", "config3", "config4" };
	uint64_t *const words[] = { &attr->config, &attr->config1, &attr->config2, &attr->config3,
		                    &attr->config4 };

	for (size_t i = 0; i < 5; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], name, n))
			return words[i];
	return NULL;
}

// Puts the low bits of *value into bits first..last of *word and shifts them out.
static void pmu_bits(uint64_t *word, unsigned first, unsigned last, uint64_t *value)
{
	unsigned n = last - first + 1;
	uint64_t mask = n == 64 ? UINT64_MAX : (1ULL << n) - 1;

	*word = (*word & ~(mask << first)) | (*value & mask) << first;
	*value = n == 64 ? 0 : *value >> n;
}

// A field as format/ has it: "config:0-7,32-35".
static int pmu_field(struct seam_attr *attr, const char *format, uint64_t value)
{
	const char *colon = strchr(format, ':');
	uint64_t *word = colon ? pmu_word(attr, format, (size_t)(colon - format)) : NULL;
	const char *at = colon ? colon + 1 : NULL;
	char *end;

	if (!word)
		return -EINVAL;
	do {
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			return -EINVAL;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last > 63)
			return -EINVAL;
		pmu_bits(word, (unsigned)first, (unsigned)last, &value);
		at = end + 1;
	} while (*end == ',');
	if (*end)
		return -EINVAL;
	/* Bits that are left did not fit. */
	return value ? -ERANGE : 0;
}

/* Puts the value into the bits that the PMU's format/ gives to this name. No value means 1. */
static int pmu_set(const struct event_roots *roots, const char *pmu, const char *name,
                   const char *value, struct event *event, struct seam_error *err)
{
	char format[PMU_TEXT];
	uint64_t v = 1;
	int r = pmu_read(roots, pmu, "format", name, format);

	if (r < 0)
		return seam_error_set(err, ENOENT, NULL, SEAM_NO_OFFSET, NULL,
		                      "'%s': neither an event nor a format field of the PMU '%s'",
		                      name, pmu);
	if (value && !event_number(value, &v))
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s/%s=%s/: the value is not a number", pmu, name, value);
	r = pmu_field(&event->attr, format, v);
	if (r == -ERANGE)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s/%s=%s/: too large for the field (%s)", pmu, name,
		                      value ? value : "1", format);
	if (r < 0)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s/%s/: the kernel's format '%s' is not understood", pmu,
		                      name, format);
	return 0;
}

/* An event of events/ is itself a list of terms; where it leaves a value to the user ("ldlat=?"),
 * that is not set here. */
int pmu_term(const struct event_roots *roots, const char *pmu, const struct event_term *term,
             struct event *event, struct seam_error *err)
{
	char alias[PMU_TEXT], *save = NULL;

	/* A name in events/ is an event, any other a field of format/. */
	if (pmu_read(roots, pmu, "events", term->name, alias) < 0)
		return pmu_set(roots, pmu, term->name, term->value, event, err);
	for (char *part = strtok_r(alias, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(part, '=');
		const char *value = eq ? eq + 1 : NULL;
		int r;

		if (eq)
			*eq = '\0';
		// "ldlat=?": the value is the user's to give.
		if (value && !strcmp(value, "?"))
			continue;
		r = pmu_set(roots, pmu, part, value, event, err);
		if (r < 0)
			return r;
	}
	return 0;
}
