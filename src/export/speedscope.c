// SPDX-License-Identifier: MIT
// speedscope.c: speedscope's own file format: profiles of an event's stacks in order of time. First
// stands one of all threads for each event that has more than one, then one for each thread, the
// heaviest of an event first; the first of these is what speedscope opens with. The format gives a
// sample a weight and no time: equal stacks in a row are one sample of it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/json.h"
#include "export/export.h"
#include "export/threads.h"

/* One file while it is written. */
struct speedscope {
	const struct profile *p;
	struct export_out *out;
	const struct threads *threads;
	struct json j;
	/* (name, file or object) -> id; a frame of speedscope is a function */
	struct intern functions;
	struct intern texts;
	uint32_t *of_frame; /* frame -> function */
	uint32_t *path;     /* frames of one stack, innermost first */
};

/* Speedscope tells functions apart by their place in the table: each must stand there once.
 * -ENOMEM. */
static int speedscope_functions(struct speedscope *s)
{
	struct buf name = { 0 };
	int r = 0;

	for (uint32_t i = 1; i <= profile_n_frames(s->p) && r >= 0; i++) {
		const struct profile_frame *f = profile_frame_at(s->p, i);
		uint32_t path = profile_object_at(s->p, f->object)->path;
		uint32_t key[2];

		buf_clear(&name);
		export_frame_name(s->p, i, &name);
		key[0] = name.failed ? INTERN_FAILED : intern_bytes(&s->texts, name.bytes, name.n);
		key[1] = intern_text(&s->texts, profile_text(s->p, f->file ? f->file : path));
		s->of_frame[i] = intern_bytes(&s->functions, key, sizeof(key));
		if (key[0] == INTERN_FAILED || key[1] == INTERN_FAILED ||
		    s->of_frame[i] == INTERN_FAILED)
			r = -ENOMEM;
	}
	buf_free(&name);
	return r;
}

/* Writes the table of functions that all profiles of the file share. */
static int speedscope_frames(struct speedscope *s)
{
	int r = speedscope_functions(s);

	json_key(&s->j, "frames");
	json_open(&s->j, '[');
	for (uint32_t i = 1; i < s->functions.n && r >= 0; i++) {
		uint32_t key[2];

		memcpy(key, intern_get(&s->functions, i), sizeof(key));
		json_open(&s->j, '{');
		json_key(&s->j, "name");
		json_bytes(&s->j, intern_get(&s->texts, key[0]), intern_length(&s->texts, key[0]));
		if (key[1]) {
			json_key(&s->j, "file");
			json_bytes(&s->j, intern_get(&s->texts, key[1]),
			           intern_length(&s->texts, key[1]));
		}
		json_close(&s->j, '}');
		r = export_step(s->out);
	}
	json_close(&s->j, ']');
	return r;
}

/* Outermost frame first. Writes indices of functions. */
static void speedscope_stack(struct speedscope *s, uint32_t node)
{
	size_t depth = 0;

	for (; node != PROFILE_ROOT; node = profile_node_at(s->p, node).parent)
		s->path[depth++] = profile_node_at(s->p, node).frame;
	json_open(&s->j, '[');
	while (depth)
		json_u64(&s->j, s->of_frame[s->path[--depth]] - 1);
	json_close(&s->j, ']');
}

/* What one profile of the file shows. */
struct speedscope_list {
	const uint32_t *samples; /* the profile's, in order of time */
	size_t n;
	uint64_t weight;
	uint32_t event;
	const struct threads_thread *thread; /* NULL: all threads */
};

/* The i-th sample of a list. */
static const struct profile_sample *speedscope_at(const struct speedscope *s,
                                                  const struct speedscope_list *l, size_t i)
{
	return profile_sample_at(s->p, l->samples[i]);
}

static uint32_t speedscope_node(const struct speedscope *s, const struct speedscope_list *l,
                                size_t i)
{
	return profile_key_of(s->p, speedscope_at(s, l, i))->node;
}

/* The end of the run of equal stacks that begins at i, and its weight. */
static size_t speedscope_run(const struct speedscope *s, const struct speedscope_list *l, size_t i,
                             uint64_t *weight)
{
	uint32_t node = speedscope_node(s, l, i);

	for (*weight = 0; i < l->n && speedscope_node(s, l, i) == node; i++)
		*weight += speedscope_at(s, l, i)->weight;
	return i;
}

/* Writes the stacks of one profile and their weights, as two lists of the same length: both walk
 * over the same runs of equal stacks. */
static int speedscope_samples(struct speedscope *s, const struct speedscope_list *l)
{
	uint64_t weight;
	int r = 0;

	json_key(&s->j, "samples");
	json_open(&s->j, '[');
	for (size_t i = 0; i < l->n && r >= 0;) {
		speedscope_stack(s, speedscope_node(s, l, i));
		i = speedscope_run(s, l, i, &weight);
		r = export_step(s->out);
	}
	json_close(&s->j, ']');
	json_key(&s->j, "weights");
	json_open(&s->j, '[');
	for (size_t i = 0; i < l->n && r >= 0;) {
		i = speedscope_run(s, l, i, &weight);
		json_u64(&s->j, weight);
		r = export_step(s->out);
	}
	json_close(&s->j, ']');
	return r;
}

/* "comm pid/tid", or "all threads"; the event where there are several. */
static void speedscope_name(const struct speedscope *s, const struct speedscope_list *l,
                            struct buf *to)
{
	if (l->thread)
		threads_name(s->p, s->threads, l->thread, to);
	else
		buf_put_text(to, "all threads");
	if (!l->thread && s->threads->several)
		buf_printf(to, " (%s)", profile_event_name(s->p, l->event));
}

/* Writes one profile of the file. Units that speedscope does not know are written as "none". */
static int speedscope_profile(struct speedscope *s, const struct speedscope_list *l)
{
	const char *unit = export_unit(s->p, l->event);
	struct buf name = { 0 };
	int r;

	speedscope_name(s, l, &name);
	json_open(&s->j, '{');
	json_key(&s->j, "type");
	json_string(&s->j, "sampled");
	json_key(&s->j, "name");
	json_bytes(&s->j, buf_text(&name), name.failed ? 0 : name.n);
	json_key(&s->j, "unit");
	json_string(&s->j, unit[0] == 'n' ? unit : "none");
	json_key(&s->j, "startValue");
	json_u64(&s->j, 0);
	json_key(&s->j, "endValue");
	json_u64(&s->j, l->weight);
	r = name.failed ? -ENOMEM : speedscope_samples(s, l);
	json_close(&s->j, '}');
	buf_free(&name);
	return r;
}

/* Orders lists by event, then by weight, the heaviest first. Equal ones stay in the order of their
 * samples, which is that of threads. */
static int speedscope_order(const void *pa, const void *pb)
{
	const struct speedscope_list *a = pa, *b = pb;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->samples < b->samples ? -1 : a->samples > b->samples;
}

/* The threads' lists into ret, sorted. Weights are summed up first: the order needs them. */
static void speedscope_threads(const struct speedscope *s, const struct threads *t,
                               struct speedscope_list *ret)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct threads_thread *thread = &t->threads[i];

		ret[i] = (struct speedscope_list){ .samples = t->samples + thread->first,
			                           .n = thread->count,
			                           .event = thread->event,
			                           .thread = thread };
		for (size_t k = 0; k < ret[i].n; k++)
			ret[i].weight += speedscope_at(s, &ret[i], k)->weight;
	}
	if (t->n)
		qsort(ret, t->n, sizeof(*ret), speedscope_order);
}

/* All threads of an event: all its samples, gathered into samples. -errno. */
static int speedscope_merged(struct speedscope *s, uint32_t event, uint32_t *samples)
{
	struct speedscope_list all = { .samples = samples, .event = event };

	for (size_t i = 0; i < profile_n_samples(s->p); i++) {
		const struct profile_sample *sample = profile_sample_at(s->p, i);

		if (profile_key_of(s->p, sample)->event != event)
			continue;
		samples[all.n++] = (uint32_t)i;
		all.weight += sample->weight;
	}
	return speedscope_profile(s, &all);
}

/* All profiles; *active is which one is to be seen first. -errno. */
static int speedscope_profiles(struct speedscope *s, const struct threads *t, size_t *active)
{
	struct speedscope_list *lists = calloc(t->n + 1, sizeof(*lists));
	uint32_t *samples = calloc(profile_n_samples(s->p) + 1, sizeof(*samples));
	int r = lists && samples ? 0 : -ENOMEM;

	if (r >= 0)
		speedscope_threads(s, t, lists);
	*active = 0;
	/* Lists are sorted by event: this is the first of several of one event. */
	for (size_t i = 0; i + 1 < t->n && r >= 0; i++) {
		if (lists[i].event == lists[i + 1].event &&
		    (!i || lists[i - 1].event != lists[i].event)) {
			r = speedscope_merged(s, lists[i].event, samples);
			++*active;
		}
	}
	for (size_t i = 0; i < t->n && r >= 0; i++)
		r = speedscope_profile(s, &lists[i]);
	free(lists);
	free(samples);
	return r;
}

/* Writes the whole file: functions, profiles, and which of the profiles is shown first. */
static int speedscope_write(struct speedscope *s, const struct threads *t)
{
	size_t active = 0;
	int r;

	json_open(&s->j, '{');
	json_key(&s->j, "$schema");
	json_string(&s->j, "https://www.speedscope.app/file-format-schema.json");
	json_key(&s->j, "exporter");
	json_string(&s->j, "seam");
	json_key(&s->j, "shared");
	json_open(&s->j, '{');
	r = speedscope_frames(s);
	json_close(&s->j, '}');
	json_key(&s->j, "profiles");
	json_open(&s->j, '[');
	if (r >= 0)
		r = speedscope_profiles(s, t, &active);
	json_close(&s->j, ']');
	json_key(&s->j, "activeProfileIndex");
	json_u64(&s->j, active);
	json_close(&s->j, '}');
	buf_put(&s->out->buf, "\n", 1);
	return r < 0 ? r : export_flush(s->out);
}

/* Writes the whole file; the samples must have times and be in their order. -errno. */
int export_speedscope(const struct profile *p, const struct export_opts *opts,
                      struct export_out *out)
{
	struct threads threads = { 0 };
	struct speedscope s = {
		.p = p, .out = out, .threads = &threads, .j = { .out = &out->buf }
	};
	int r = threads_build(&threads, p, opts);

	s.path = calloc(profile_n_nodes(p) + 1, sizeof(*s.path));
	s.of_frame = calloc(profile_n_frames(p) + 1, sizeof(*s.of_frame));
	if (r >= 0)
		r = s.path && s.of_frame ? speedscope_write(&s, &threads) : -ENOMEM;
	intern_free(&s.functions);
	intern_free(&s.texts);
	free(s.of_frame);
	free(s.path);
	threads_free(&threads);
	return r;
}
