// SPDX-License-Identifier: MIT
// speedscope.c: speedscope's own file format: a profile per thread and event, its stacks in order of
// time. The format gives a sample a weight and no time: equal stacks in a row are one sample of it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/json.h"
#include "export/export.h"
#include "export/threads.h"

struct speedscope {
	const struct profile *p;
	struct export_out *out;
	struct json j;
	struct intern
	        functions; /* (name, file or object) -> id; a frame of speedscope is a function */
	struct intern texts;
	uint32_t *of_frame; /* frame -> function */
	uint32_t *path;     /* frames of one stack, innermost first */
};

/* Speedscope tells functions apart by their place in the table: each must stand there once. */
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

/* Outermost frame first. */
static void speedscope_stack(struct speedscope *s, uint32_t node)
{
	size_t depth = 0;

	for (; node != PROFILE_ROOT; node = profile_node_at(s->p, node)->parent)
		s->path[depth++] = profile_node_at(s->p, node)->frame;
	json_open(&s->j, '[');
	while (depth)
		json_u64(&s->j, s->of_frame[s->path[--depth]] - 1);
	json_close(&s->j, ']');
}

static const struct profile_sample *speedscope_at(const struct speedscope *s,
                                                  const struct threads *t, size_t i)
{
	return profile_sample_at(s->p, t->samples[i]);
}

/* The end of the run of equal stacks that begins at i, and its weight. */
static size_t speedscope_run(const struct speedscope *s, const struct threads *t, size_t i,
                             size_t end, uint64_t *weight)
{
	uint32_t node = speedscope_at(s, t, i)->key.node;

	for (*weight = 0; i < end && speedscope_at(s, t, i)->key.node == node; i++)
		*weight += speedscope_at(s, t, i)->weight;
	return i;
}

static int speedscope_samples(struct speedscope *s, const struct threads *t,
                              const struct threads_thread *thread)
{
	size_t end = thread->first + thread->count;
	uint64_t weight;
	int r = 0;

	json_key(&s->j, "samples");
	json_open(&s->j, '[');
	for (size_t i = thread->first; i < end && r >= 0;) {
		speedscope_stack(s, speedscope_at(s, t, i)->key.node);
		i = speedscope_run(s, t, i, end, &weight);
		r = export_step(s->out);
	}
	json_close(&s->j, ']');
	json_key(&s->j, "weights");
	json_open(&s->j, '[');
	for (size_t i = thread->first; i < end && r >= 0;) {
		i = speedscope_run(s, t, i, end, &weight);
		json_u64(&s->j, weight);
		r = export_step(s->out);
	}
	json_close(&s->j, ']');
	return r;
}

static int speedscope_thread(struct speedscope *s, const struct threads *t,
                             const struct threads_thread *thread)
{
	const char *unit = export_unit(s->p, thread->event);
	struct buf name = { 0 };
	uint64_t total = 0;
	int r;

	for (size_t i = 0; i < thread->count; i++)
		total += speedscope_at(s, t, thread->first + i)->weight;
	threads_name(s->p, thread, &name);
	json_open(&s->j, '{');
	json_key(&s->j, "type");
	json_string(&s->j, "sampled");
	json_key(&s->j, "name");
	json_bytes(&s->j, buf_text(&name), name.n);
	json_key(&s->j, "unit");
	json_string(&s->j, unit[0] == 'n' ? unit : "none");
	json_key(&s->j, "startValue");
	json_u64(&s->j, 0);
	json_key(&s->j, "endValue");
	json_u64(&s->j, total);
	r = name.failed ? -ENOMEM : speedscope_samples(s, t, thread);
	json_close(&s->j, '}');
	buf_free(&name);
	return r;
}

static int speedscope_write(struct speedscope *s, const struct threads *t)
{
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
	for (size_t i = 0; i < t->n && r >= 0; i++)
		r = speedscope_thread(s, t, &t->threads[i]);
	json_close(&s->j, ']');
	json_close(&s->j, '}');
	buf_put(&s->out->buf, "\n", 1);
	return r < 0 ? r : export_flush(s->out);
}

int export_speedscope(const struct profile *p, const struct export_opts *opts,
                      struct export_out *out)
{
	struct speedscope s = { .p = p, .out = out, .j = { .out = &out->buf } };
	struct threads threads = { 0 };
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
