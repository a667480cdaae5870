// SPDX-License-Identifier: MIT
// export.c: the table of formats, and what their writers share: handing bytes on, names of frames.
#include "export/export.h"

#include <errno.h>
#include <string.h>

#define STEP_AT (256u << 10)

// A line each: clang-format 14 would put them in columns.
// clang-format off
#define TASKS (PROFILE_KEEP_PID | PROFILE_KEEP_TID)
const struct export_format export_formats[] = {
	{ "folded", "a line per stack, for flamegraph.pl and inferno",
	  0, true, false, export_folded },
	{ "pprof", "gzip'd protobuf, for pprof and what reads its profiles",
	  TASKS | PROFILE_KEEP_PROGRAM, false, true, export_pprof },
	{ "firefox", "processed profile, for profiler.firefox.com",
	  TASKS | PROFILE_KEEP_SAMPLES, false, false, export_firefox },
	{ "speedscope", "for speedscope.app; threads in order of time",
	  TASKS | PROFILE_KEEP_SAMPLES, false, false, export_speedscope },
	{ "callgrind", "for callgrind_annotate and KCachegrind",
	  0, false, false, export_callgrind },
	{ "json", "all of the profile: tasks, frames, stacks, rows",
	  TASKS | PROFILE_KEEP_CPU, false, false, export_json },
	{ "perfetto", "protobuf trace, for ui.perfetto.dev and trace_processor",
	  TASKS | PROFILE_KEEP_CPU | PROFILE_KEEP_SAMPLES, false, true, export_perfetto },
	{ 0 },
};
// clang-format on

int export_flush(struct export_out *out)
{
	int r = out->buf.failed ? -ENOMEM : 0;

	if (r >= 0 && out->buf.n)
		r = out->write(out->ctx, out->buf.bytes, out->buf.n);
	buf_clear(&out->buf);
	return r;
}

int export_step(struct export_out *out)
{
	if (out->buf.failed)
		return -ENOMEM;
	return out->buf.n >= STEP_AT ? export_flush(out) : 0;
}

uint32_t export_event(const struct profile *p, const struct export_opts *opts)
{
	uint32_t first = 0;

	if (opts->event)
		return opts->event;
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		uint32_t event = profile_row_at(p, i)->key.event;

		if (!first || event < first)
			first = event;
	}
	return first ? first : 1;
}

bool export_wants(const struct export_opts *opts, uint32_t event)
{
	return !opts->event || opts->event == event;
}

const char *export_unit(const struct profile *p, uint32_t event)
{
	return export_unit_name(profile_event_unit(p, event));
}

const char *export_unit_name(enum profile_unit unit)
{
	return unit == PROFILE_NANOSECONDS ? "nanoseconds" : "count";
}

void export_amount(enum profile_unit unit, double weight, struct buf *to)
{
	static const struct {
		double ns;
		const char *name;
	} scales[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	if (unit != PROFILE_NANOSECONDS) {
		buf_printf(to, "%.0f", weight);
		return;
	}
	while (i + 1 < sizeof(scales) / sizeof(scales[0]) && weight < scales[i].ns)
		i++;
	buf_printf(to, "%.2f %s", weight / scales[i].ns, scales[i].name);
}

const char *export_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && path[0] != '[' ? slash + 1 : path;
}

void export_frame_name(const struct profile *p, uint32_t frame, struct buf *to)
{
	const struct profile_frame *f = profile_frame_at(p, frame);
	const char *path = profile_text(p, profile_object_at(p, f->object)->path);
	const char *base = export_base_name(path);

	if (f->symbol) {
		buf_put_text(to, profile_text(p, f->symbol));
	} else if (!f->object) {
		buf_put_text(to, "[unknown]");
	} else if (base[0] == '[') {
		buf_put_text(to, base);
	} else {
		buf_put(to, "[", 1);
		buf_put_text(to, base);
		buf_put(to, "]", 1);
	}
}
