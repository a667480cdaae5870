// SPDX-License-Identifier: MIT
// ordered.c: see ordered.h. Knows which records are wanted and what becomes of them in order; the
// ordering itself is perfdata's.
#include "pipeline/ordered.h"

#include <errno.h>
#include <string.h>

#include "perfdata/order.h"
#include "pipeline/unwound.h"

struct ordered {
	struct recording *rec;
	const struct ordered_opts *opts;
	struct order *order;
	int (*each)(void *ctx, const struct ordered_item *item);
	void *ctx;
	uint64_t pushed, popped;
	struct tables *tables;
	struct unwound *unwound; /* NULL: no sample has a stack copy */
};

static bool ordered_wants(const struct ordered_opts *o, uint32_t type)
{
	switch (type) {
	case SEAM_RECORD_SAMPLE:
		return true;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return o->answers;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		return o->mmaps || o->all;
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		return o->tasks || o->all;
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		return o->losses || o->all;
	default:
		return o->all;
	}
}

static int ordered_push(void *ctx, const struct seam_record *record)
{
	struct ordered *o = ctx;
	struct seam_decoded d;
	int r;

	if (!ordered_wants(o->opts, record->type))
		return 0;
	r = seam_record_decode(o->rec->events, record, &d, NULL);
	if (r < 0) /* was counted in the first pass */
		return r == -ENOMEM ? r : 0;
	o->pushed++;
	return order_push(o->order, d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : 0, record);
}

/* 1, or -ENOMEM. */
static int ordered_unwind(struct ordered *o, struct ordered_item *item)
{
	uint32_t user, kernel;
	int r;

	if (!o->unwound)
		return 1;
	recording_spaces(o->rec, &item->sample, proc_time(&item->decoded), &user, &kernel);
	r = unwound_sample(o->unwound, user, &item->sample);
	if (r > 0)
		item->walk = unwound_last(o->unwound);
	return r < 0 ? r : 1;
}

static int ordered_unwind_start(struct ordered *o)
{
	struct unwound_opts opts = { .sz = sizeof(opts) };
	int r;

	if (o->opts->keep_stacks || !unwound_opts_of(o->rec, &opts))
		return 0;
	opts.sure = o->opts->sure;
	r = tables_new(&o->tables, o->opts->tables);
	opts.tables = o->tables;
	return r < 0 ? r : unwound_new(&o->unwound, &opts);
}

static int ordered_deliver(struct ordered *o, struct ordered_item *item)
{
	int r = seam_record_decode(o->rec->events, &item->record, &item->decoded, NULL);

	item->walk = NULL;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (item->record.type == SEAM_RECORD_SAMPLE) {
		r = seam_stitch_resolve(o->rec->stitch, &item->decoded, NULL, &item->sample);
		if (r > 0)
			r = ordered_unwind(o, item);
		if (r <= 0)
			return r;
	}
	return o->each(o->ctx, item);
}

static int ordered_drain(struct ordered *o)
{
	const struct progress *progress = &o->opts->progress;
	struct ordered_item item = { 0 };
	int r;

	while ((r = order_pop(o->order, &item.record, &item.time_ns)) > 0) {
		r = ordered_deliver(o, &item);
		if (r)
			return r;
		if (++o->popped % 65536 == 0 && progress->report)
			progress->report(progress->ctx, "writing", o->popped, o->pushed);
	}
	return r;
}

int ordered_each(struct recording *rec, const struct ordered_opts *opts,
                 int (*each)(void *ctx, const struct ordered_item *item), void *ctx,
                 struct seam_error *err)
{
	struct ordered o = { .rec = rec, .opts = opts, .each = each, .ctx = ctx };
	int r = order_new(&o.order, &(struct order_opts){ .sort = true });

	if (r >= 0)
		r = ordered_unwind_start(&o);
	if (r >= 0)
		r = recording_each(rec, ordered_push, &o, err);
	if (r >= 0)
		r = order_finish(o.order);
	if (r >= 0)
		r = ordered_drain(&o);
	if (r < 0 && (!err || !err->code))
		seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	order_free(o.order);
	unwound_free(o.unwound);
	tables_free(o.tables);
	return r;
}
