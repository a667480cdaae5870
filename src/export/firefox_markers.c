// SPDX-License-Identifier: MIT
/*
 * firefox_markers.c: for whom threads worked, as markers of the Firefox Profiler: a span of time
 * for each run of a thread's samples that have the same labels. Where a profile keeps no labels,
 * the table is empty.
 */
#include <errno.h>
#include <string.h>

#include "export/firefox.h"
#include "export/labels.h"

/* Runs of samples: the first of each, and the one behind its last. */
struct markers {
	const struct profile *p;
	const struct threads *t;
	const struct threads_thread *thread;
	struct buf runs;  /* size_t, in pairs */
	struct buf texts; /* of the runs, each with a NUL */
	double interval;
};

static const struct profile_sample *markers_at(const struct markers *m, size_t i)
{
	return profile_sample_at(m->p, m->t->samples[m->thread->first + i]);
}

static const struct profile_key *markers_key(const struct markers *m, size_t i)
{
	return profile_key_of(m->p, markers_at(m, i));
}

/* Finds the runs, and what each is called. -ENOMEM. */
static int markers_find(struct markers *m)
{
	size_t run[2];
	int r = 0;

	for (size_t i = 0; i < m->thread->count && r >= 0; i = run[1]) {
		struct buf text = { 0 };

		run[0] = i;
		for (run[1] = i + 1; run[1] < m->thread->count; run[1]++)
			if (!labels_equal(markers_key(m, i), markers_key(m, run[1])))
				break;
		r = labels_text(m->p, markers_key(m, i), &text);
		if (r >= 0 && text.n) {
			buf_put(&m->texts, buf_text(&text), text.n + 1);
			buf_put(&m->runs, run, sizeof(run));
		}
		buf_free(&text);
		if (m->texts.failed || m->runs.failed)
			r = -ENOMEM;
	}
	return r;
}

/* Milliseconds since the first sample. */
static double markers_ms(const struct firefox *f, uint64_t time_ns)
{
	return (double)(time_ns - f->start_ns) / 1e6;
}

/* A column of times: of the first samples, or when the last ones end. */
static void markers_times(struct firefox *f, const struct markers *m, const char *column, bool end)
{
	const size_t *runs = (const void *)m->runs.bytes;

	firefox_open(f, column, '[');
	for (size_t i = 0; i < m->runs.n / sizeof(*runs); i += 2)
		json_double(&f->j,
		            end ? markers_ms(f, markers_at(m, runs[i + 1] - 1)->time_ns) +
		                            m->interval
		                : markers_ms(f, markers_at(m, runs[i])->time_ns),
		            6);
	json_close(&f->j, ']');
}

/* Writes the table. -ENOMEM. */
static int markers_write(struct firefox *f, const struct markers *m)
{
	size_t n = m->runs.n / (2 * sizeof(size_t));
	const char *text = (const char *)m->texts.bytes;
	uint32_t name = n ? firefox_string(f, "labels", 6) : 0;

	if (name == INTERN_FAILED)
		return -ENOMEM;
	firefox_open(f, "markers", '{');
	firefox_u64(f, "length", n);
	firefox_same(f, "category", n, "0");
	firefox_open(f, "data", '[');
	for (size_t i = 0; i < n; i++, text += strlen(text) + 1) {
		json_open(&f->j, '{');
		firefox_text(f, "type", "Labels");
		firefox_text(f, "labels", text);
		json_close(&f->j, '}');
	}
	json_close(&f->j, ']');
	markers_times(f, m, "endTime", true);
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, name);
	json_close(&f->j, ']');
	firefox_same(f, "phase", n, "1"); /* an interval */
	markers_times(f, m, "startTime", false);
	json_close(&f->j, '}');
	return 0;
}

int firefox_markers(struct firefox *f, const struct threads *t, const struct threads_thread *thread,
                    double interval)
{
	struct markers m = { .p = f->p, .t = t, .thread = thread, .interval = interval };
	int r = profile_keeps(f->p) & LABELS_KEPT ? markers_find(&m) : 0;

	if (r >= 0)
		r = markers_write(f, &m);
	buf_free(&m.runs);
	buf_free(&m.texts);
	return r;
}

/* How the Profiler shows them: in the marker chart and table, and in the timeline. */
void firefox_marker_schema(struct firefox *f)
{
	static const char *const shown[] = { "marker-chart", "marker-table", "timeline-overview" };

	firefox_open(f, "markerSchema", '[');
	if (profile_keeps(f->p) & LABELS_KEPT) {
		json_open(&f->j, '{');
		firefox_text(f, "name", "Labels");
		firefox_text(f, "tooltipLabel", "{marker.data.labels}");
		firefox_text(f, "tableLabel", "{marker.data.labels}");
		firefox_text(f, "chartLabel", "{marker.data.labels}");
		firefox_open(f, "display", '[');
		for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
			json_string(&f->j, shown[i]);
		json_close(&f->j, ']');
		firefox_open(f, "fields", '[');
		json_open(&f->j, '{');
		firefox_text(f, "key", "labels");
		firefox_text(f, "label", "Labels");
		firefox_text(f, "format", "string");
		json_close(&f->j, '}');
		json_close(&f->j, ']');
		json_close(&f->j, '}');
	}
	json_close(&f->j, ']');
}
