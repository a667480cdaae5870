// SPDX-License-Identifier: MIT
/*
 * series.c: see series.h.
 *
 * A series is a set of labels: what a fleet is searched by. Some come from the agent for all rows
 * (host, region), some from the program, some from the control group's path. Rows of a window are
 * given to series by number.
 */
#include "fleet/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "profile/origin.h"

/* Digits of a build-id that tell versions apart for people. */
#define VERSION_DIGITS 12u

static const char *series_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "checkout" of "checkout.service"; a unit's kind says nothing of what it does. A container's or
 * the program's name stands in where there is no such unit. */
static int series_service(struct labels *l)
{
	const char *unit = labels_get(l, "unit"), *container = labels_get(l, "container");
	const char *exe = labels_get(l, "exe"), *dot;
	char name[256];

	if (unit && (dot = strrchr(unit, '.')) && !strcmp(dot, ".service") &&
	    (size_t)(dot - unit) < sizeof(name)) {
		memcpy(name, unit, (size_t)(dot - unit));
		name[dot - unit] = 0;
		return labels_set(l, "service", name);
	}
	return labels_set(l, "service", container ? container : exe ? series_base(exe) : NULL);
}

/* The labels that the program's file has. */
static int series_program(struct labels *l, const struct profile *p, uint32_t object)
{
	const struct profile_object *o = profile_object_at(p, object);
	const char *id = o->build_id ? profile_text(p, o->build_id) : NULL;
	char version[VERSION_DIGITS + 1] = "";
	int r = labels_set(l, "exe", profile_text(p, o->path));

	if (r >= 0 && id) {
		r = labels_set(l, "build_id", id);
		strncat(version, id, VERSION_DIGITS);
	}
	return r < 0 ? r : labels_set(l, "version", version);
}

/* A number as a label. */
static int series_number(struct labels *l, const char *key, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return labels_set(l, key, text);
}

/* The labels that come of the process and of rules. What rules alone are to see goes again. */
static int series_process(struct labels *l, const struct profile_task *t, const char *path,
                          const struct series_processes *processes)
{
	const struct series_processes none = { 0 }, *p = processes ? processes : &none;
	const char *key, *value;
	size_t at = 0;
	int r = 0;

	if (p->labels)
		r = p->labels(p->ctx, t->pid, path, l);
	else if (path)
		r = labels_set_cgroup(l, path);
	if (r >= 0 && p->pid)
		r = series_number(l, "pid", t->pid);
	if (r >= 0 && p->tid)
		r = series_number(l, "tid", t->tid);
	if (r >= 0)
		r = rules_apply(p->rules, l);
	if (r >= 0)
		r = labels_set(l, "cgroup", NULL);
	while (r >= 0 && labels_next(l, &at, &key, &value)) {
		char name[LABELS_VALUE_MAX];

		if (strncmp(key, "env.", 4) != 0)
			continue;
		snprintf(name, sizeof(name), "%s", key);
		r = labels_set(l, name, NULL);
		at = 0;
	}
	return r;
}

/* Takes over what all series have. */
static int series_all(struct labels *l, const struct labels *all)
{
	const char *key, *value;
	size_t at = 0;
	int r = 0;

	while (all && r >= 0 && labels_next(all, &at, &key, &value))
		r = labels_set(l, key, value);
	return r;
}

/* All labels of a task in a control group (PROFILE_NOT_KEPT, 0: not known). -ENOMEM, -E2BIG. */
static int series_labels(struct labels *l, const struct profile *p, uint32_t task, uint32_t cgroup,
                         const struct labels *all, const struct series_processes *processes)
{
	const char *path = cgroup && cgroup != PROFILE_NOT_KEPT ? profile_text(p, cgroup) : NULL;
	uint32_t program = origin_program_of(profile_origin_of(p), task);
	/* First, so that rules see them; and last, because they win. */
	int r = series_all(l, all);

	if (r >= 0)
		r = labels_set(l, "comm", profile_text(p, profile_task_at(p, task)->comm));
	if (r >= 0 && program)
		r = series_program(l, p, program);
	if (r >= 0)
		r = series_process(l, profile_task_at(p, task), path, processes);
	if (r >= 0)
		r = series_all(l, all);
	if (r >= 0 && !labels_get(l, "service"))
		r = series_service(l);
	return r;
}

/* Labels are made once per task and group: windows have thousands of rows and some tens of
 * tasks. */
struct series_work {
	struct intern labels; /* bytes of labels -> index + 1 */
	struct map whose;     /* task << 32 | cgroup -> the same */
};

/* Finds the series of a row, by task and control group. -ENOMEM. */
static int series_of(struct series_work *w, const struct profile *p, const struct profile_row *row,
                     const struct labels *all, const struct series_processes *processes,
                     uint32_t *ret)
{
	uint64_t *slot = map_slot(&w->whose, (uint64_t)row->key.task << 32 | row->key.cgroup, NULL);
	struct labels l = { 0 };
	int r = slot ? 0 : -ENOMEM;

	if (r >= 0 && !*slot) {
		uint32_t id;

		r = series_labels(&l, p, row->key.task, row->key.cgroup, all, processes);
		id = r < 0 ? INTERN_FAILED : intern_bytes(&w->labels, l.bytes.bytes, l.bytes.n);
		if (r >= 0 && id == INTERN_FAILED)
			r = -ENOMEM;
		*slot = id;
	}
	*ret = slot ? (uint32_t)*slot - 1 : 0;
	labels_free(&l);
	return r;
}

/* Equal labels are one series, in the order in which rows have them. The arrays are the caller's,
 * to be freed with series_free. */
int series_split(struct series *ret, const struct profile *p, const struct labels *all,
                 const struct series_processes *processes)
{
	struct series_work w = { 0 };
	struct series s = { .of_row = calloc(profile_n_rows(p) + 1, sizeof(*s.of_row)) };
	int r = s.of_row ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++)
		r = series_of(&w, p, profile_row_at(p, i), all, processes, &s.of_row[i]);
	s.labels = calloc(w.labels.n + 1, sizeof(*s.labels));
	if (!s.labels)
		r = -ENOMEM;
	for (uint32_t id = 1; id < w.labels.n && r >= 0; id++, s.n++)
		r = labels_take(&s.labels[s.n], intern_get(&w.labels, id),
		                intern_length(&w.labels, id));
	intern_free(&w.labels);
	map_free(&w.whose);
	if (r < 0)
		series_free(&s);
	else
		*ret = s;
	return r;
}

void series_free(struct series *s)
{
	for (size_t i = 0; i < s->n; i++)
		labels_free(&s->labels[i]);
	free(s->labels);
	free(s->of_row);
	*s = (struct series){ 0 };
}
