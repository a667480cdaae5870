// SPDX-License-Identifier: MIT
/*
 * sample_filter.c: see sample_filter.h.
 *
 * Times as parts (10%-20%) and names of events are known only when the recording was opened, so a
 * filter is made in two steps: options, then sample_filter_prepare.
 */
#include "input/sample_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sample_filter_option(struct sample_filter *p, const struct options *o, int id)
{
	switch (id) {
	case SAMPLE_FILTER_TIME:
		p->span = o->arg;
		return spans_option(o->cmd, o->arg, &p->time);
	case SAMPLE_FILTER_EVENT:
		p->events = o->arg;
		return 0;
	default:
		return id_filter_option(&p->take, o, id);
	}
}

/* A list of numbers as text. */
static const char *sample_filter_ranges(const struct buf *ranges, struct buf *text)
{
	struct id_filter_range range;

	for (size_t at = 0; at < ranges->n; at += sizeof(range)) {
		memcpy(&range, ranges->bytes + at, sizeof(range));
		buf_printf(text, "%s%d-%d", at ? "," : "", (int)range.first, (int)range.last);
	}
	return ranges->n ? buf_text(text) : NULL;
}

/* Lists of numbers are written anew, all else is as it was given. */
size_t sample_filter_args(const struct sample_filter *p, const char *without, struct buf texts[3],
                          const char **args)
{
	const struct {
		char letter;
		const char *option, *value;
	} with[] = {
		{ 'c', "--comms", p->take.comms },
		{ 'l', "--label", p->take.labels },
		{ 'p', "--pid", sample_filter_ranges(&p->take.pids, &texts[0]) },
		{ 't', "--tid", sample_filter_ranges(&p->take.tids, &texts[1]) },
		{ 'C', "--cpu", sample_filter_ranges(&p->take.cpus, &texts[2]) },
		{ 'T', "--time", p->span },
		{ 'e', "--event", p->events },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		if (with[i].value && !strchr(without, with[i].letter)) {
			args[n++] = with[i].option;
			args[n++] = with[i].value;
		}
	return n;
}

/* Whether an event's name is this one, perhaps with modifiers behind it: "cycles:u" is "cycles". */
static bool sample_filter_is_event(const char *name, const char *wanted, size_t n)
{
	if (strncmp(name, wanted, n))
		/* The modifiers are those of perf's event parser. */
		return false;
	return !name[n] || (name[n] == ':' && name[n + 1] &&
	                    strspn(name + n + 1, "ukhGHpPSDIWeb") == strlen(name + n + 1));
}

static const char *sample_filter_recorded(const void *ctx, size_t i)
{
	const struct recording *rec = ctx;

	return seam_events_at(rec->events, i)->name;
}

static const char *sample_filter_profiled(const void *ctx, size_t i)
{
	return profile_event_name(ctx, (uint32_t)i + 1);
}

/* A name may hold commas itself ("cpu/event=1,umask=2/"): each list entry is tried as long as it
 * can be. name: that of an event by index, or NULL. How many characters of list were a name; 0:
 * none. */
static size_t sample_filter_mark_event(struct sample_filter *p, const char *list,
                                       const char *(*name)(const void *ctx, size_t i),
                                       const void *ctx)
{
	/* From the longest text down, and only up to a comma. */
	for (size_t len = strlen(list); len; len--) {
		bool found = false;

		if (list[len] && list[len] != ',')
			continue;
		for (size_t i = 0; i < p->n_events; i++) {
			const char *one = name(ctx, i);

			if (one && sample_filter_is_event(one, list, len))
				p->wanted[i] = found = true;
		}
		if (found)
			return len;
	}
	return 0;
}

/* Finds the n events that -e names. -EINVAL after saying that one is none of them, and which
 * command lists them; -ENOMEM. A recording that is followed is looked at again when it grew. */
static int sample_filter_mark(struct sample_filter *p, size_t n,
                              const char *(*name)(const void *ctx, size_t i), const void *ctx,
                              const struct cmd *cmd, const char *where, const char *list)
{
	free(p->wanted);
	p->n_events = n;
	p->wanted = calloc(n + 1, sizeof(*p->wanted));
	if (!p->wanted)
		return -ENOMEM;
	/* The list was checked as it was given; which entry is no event is known only here. */
	for (const char *at = p->events; *at;) {
		size_t used = sample_filter_mark_event(p, at, name, ctx);

		if (!used) {
			cmd_error(cmd, "-e: no event %s is named '%s'; '%s' lists them", where, at,
			          list);
			return -EINVAL;
		}
		at += used + (at[used] == ',');
	}
	return 0;
}

/* Turns times that are parts of the recording into real ones, and finds the events that -e
 * names. */
int sample_filter_prepare(struct sample_filter *p, const struct cmd *cmd,
                          const struct recording *rec)
{
	spans_resolve(&p->time, rec->first_ns, rec->last_ns);
	for (size_t i = 0; i < p->time.n; i++)
		p->times[i] = (struct proc_span){ p->time.at[i].start_ns, p->time.at[i].stop_ns };
	if (!p->events)
		return 0;
	return sample_filter_mark(p, seam_events_count(rec->events), sample_filter_recorded, rec,
	                          cmd, "of the recording", "seam evlist");
}

/* Leaves in an answer the events that -e names. An exit code. */
int sample_filter_answer(struct sample_filter *p, const struct cmd *cmd, struct answer *answer)
{
	const struct profile *profile = answer->load.profile;
	int r;

	if (!p->events || !profile_n_events(profile))
		return EXIT_OK;
	r = sample_filter_mark(p, profile_n_events(profile), sample_filter_profiled, profile, cmd,
	                       "in that time", "seam report");
	if (r == -EINVAL)
		return EXIT_USAGE;
	if (r >= 0)
		r = answer_only_events(answer, p->wanted);
	if (r < 0)
		cmd_error(cmd, "%s", strerror(-r));
	return r < 0 ? EXIT_FAILED : EXIT_OK;
}

/* Whether any option was given that may leave samples out. */
bool sample_filter_any(const struct sample_filter *p)
{
	return sample_filter_any_ids(p) || p->events;
}

bool sample_filter_any_ids(const struct sample_filter *p)
{
	return id_filter_any(&p->take) || p->time.n;
}

/* As samples/ calls it, once per sample. An event that is not known cannot be wanted. */
static bool sample_filter_takes(void *ctx, const struct seam_event *event, const struct seam_id *id,
                                const char *comm)
{
	const struct sample_filter *p = ctx;

	if (p->wanted && !(event && event->index < p->n_events && p->wanted[event->index]))
		return false;
	return id_filter_id(&p->take, id, comm);
}

/* What need not be asked is NULL or 0, so that samples/ passes it over. */
struct samples_filter sample_filter_samples(const struct sample_filter *p)
{
	bool by_whose = p->wanted || id_filter_any(&p->take);

	return (struct samples_filter){ .takes = by_whose ? sample_filter_takes : NULL,
		                        .ctx = (void *)p,
		                        .labels = p->take.labels,
		                        .times = p->times,
		                        .n_times = p->time.n };
}

void sample_filter_free(struct sample_filter *p)
{
	id_filter_free(&p->take);
	free(p->wanted);
	*p = (struct sample_filter){ 0 };
}

/* The event's id in a profile, by its name; 0, after listing those that it has. */
uint32_t sample_filter_profile_event(const struct profile *p, const char *name,
                                     const struct cmd *cmd)
{
	uint32_t event = 0;

	for (uint32_t i = 1; i <= profile_n_events(p); i++)
		if (!strcmp(profile_event_name(p, i), name))
			event = i;
	if (event)
		return event;
	cmd_error(cmd, "--event: the recording has no '%s'; it has:", name);
	for (uint32_t i = 1; i <= profile_n_events(p); i++)
		cmd_error(cmd, "  %s", profile_event_name(p, i));
	return 0;
}
