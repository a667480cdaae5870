// SPDX-License-Identifier: MIT
/*
 * export.c: what the writers of all formats share: handing bytes on, names of frames.
 *
 * A format is one function, a row of formats.def. It gets a finished profile and writes into
 * out->buf, which export_step hands on when it is full: so a file may be larger than memory.
 * Invariant: nothing here opens a file, and equal profiles give equal bytes.
 */
#include "export/export.h"

#include <errno.h>
#include <string.h>

/* Bytes that gather before they are handed on. */
#define STEP_AT (256u << 10)

/* Hands on what has gathered. -ENOMEM, or what writing returned. */
int export_flush(struct export_out *out)
{
	int r = out->buf.failed ? -ENOMEM : 0;

	if (r >= 0 && out->buf.n)
		r = out->write(out->ctx, out->buf.bytes, out->buf.n);
	buf_clear(&out->buf);
	return r;
}

/* The same, if there is much of it. Called between records of the format. */
int export_step(struct export_out *out)
{
	if (out->buf.failed)
		return -ENOMEM;
	return out->buf.n >= STEP_AT ? export_flush(out) : 0;
}

/* The event of formats that have one: the one that was asked for, else the first that has rows. */
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

/* Whether an event's rows are to be written. */
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

/* A weight as people read it: "1.25 s", or a count. */
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

/* A path's last part. "[kernel.kallsyms]" and the like stay. */
const char *export_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && path[0] != '[' ? slash + 1 : path;
}

/* Appends a frame's name. A frame without a symbol is called by its object in brackets. */
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
