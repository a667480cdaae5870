// SPDX-License-Identifier: MIT
/*
 * event_fit.c: see event_fit.h. Asks the kernel for each hardware event once, for the calling
 * thread. Only a clear "there is no such event" counts: every other answer is the session's to
 * understand.
 */
#include "capture/event_fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe.h"

/* Cycles have their own way down, to cpu-clock (session_open.c). */
static bool fit_is_cycles(const struct event *e)
{
	return e->attr.type == SEAM_TYPE_HARDWARE && !e->attr.config;
}

/* Only events that the PMU decodes can be missing. 0, -1: of this thread, on any CPU. */
static bool fit_is_absent(const struct event *e, struct features *features)
{
	struct seam_attr attr = probe_harmless();
	int error;

	if (fit_is_cycles(e) ||
	    (e->attr.type != SEAM_TYPE_HARDWARE && e->attr.type != SEAM_TYPE_HW_CACHE &&
	     e->attr.type != SEAM_TYPE_RAW))
		return false;
	attr.type = e->attr.type;
	attr.config = e->attr.config;
	error = probe_try(features, &attr, 0, -1);
	/* How drivers of PMUs say that there is no such event. EINVAL could be the fault of another
	 * field. */
	return error == -ENOENT || error == -ENODEV || error == -ENXIO;
}

/* Removes an event. The indexes of leaders are kept right, and the first remaining event of a group
 * leads it. */
static void fit_take_out(struct event_list *list, size_t out)
{
	uint32_t heir = UINT32_MAX;

	/* The caller has taken care that no index of the removed one is needed after this. */
	free(list->at[out].name);
	free(list->at[out].cpus);
	for (size_t i = 0; i < list->n; i++) {
		struct event *e = &list->at[i];

		if (i == out || e->leader != out)
			continue;
		if (heir == UINT32_MAX)
			heir = (uint32_t)i;
		e->leader = heir;
	}
	/* All indexes behind the gap move up by one. */
	for (size_t i = 0; i < list->n; i++)
		list->at[i].leader -= list->at[i].leader > out;
	memmove(list->at + out, list->at + out + 1, (list->n - out - 1) * sizeof(*list->at));
	list->n--;
}

/* If no event would be left, all stay, and opening them tells the user what is wrong. */
size_t event_list_fit(struct event_list *list, struct features *features, const struct log *log)
{
	bool *absent = calloc(list->n + 1, sizeof(*absent));
	size_t n = 0, all = list->n;

	for (size_t i = 0; absent && i < all; i++)
		n += absent[i] = fit_is_absent(&list->at[i], features);
	if (n == all)
		n = 0; /* the session says what is wrong */
	/* Backwards, so that indexes which are still to come stay right. */
	for (size_t i = all; n && i-- > 0;) {
		if (!absent[i])
			continue;
		log_line(log, LOG_PLAIN,
		         "event '%s' is left out: this machine's PMU does not have it",
		         list->at[i].name);
		fit_take_out(list, i);
	}
	free(absent);
	return n;
}
