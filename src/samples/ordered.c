// SPDX-License-Identifier: MIT
// ordered.c: see ordered.h. Knows which records are wanted and what becomes of them in order; the
// ordering itself is perfdata's, the threads of ordered_text are ordered_text.c's.
#include "samples/ordered.h"

#include <errno.h>
#include <string.h>

#include "abi/record.h"
#include "abi/events.h"
#include "samples/ordered_parts.h"

static bool ordered_wants(const struct ordered_opts *o, uint32_t type)
{
	switch (type) {
	case SEAM_RECORD_SAMPLE:
		return true;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return o->deferred;
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
	if (record->type == SEAM_RECORD_SAMPLE) { /* what cannot be decoded is left out later */
		o->pushed++;
		return order_push(o->order, events_sample_time(o->rec->events, record), record);
	}
	r = record_decode(o->rec->events, record, &d, NULL);
	if (r < 0) /* was counted in the first pass */
		return r == -ENOMEM ? r : 0;
	o->pushed++;
	return order_push(o->order, d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : 0, record);
}

int ordered_batch(struct ordered *o, struct batch *ret)
{
	struct unwound_opts opts = { .sz = sizeof(opts) };
	int r;

	*ret = (struct batch){ .rec = o->rec };
	if (o->opts->keep_stacks || !unwound_opts_of(o->rec, &opts))
		return 0;
	r = o->tables ? 0 : unwound_tables(o->rec, o->opts->tables, &o->tables);
	opts.tables = o->tables;
	return r < 0 ? r : unwound_new(&ret->unwound, &opts);
}

static void ordered_progress(struct ordered *o)
{
	const struct progress *progress = &o->opts->progress;

	if (++o->popped % 65536 == 0 && progress->report)
		progress->report(progress->ctx, "writing", o->popped, o->pushed);
}

int ordered_next(struct ordered *o, struct seam_record *ret)
{
	int r = order_pop(o->order, ret, NULL);

	if (r > 0)
		ordered_progress(o);
	return r;
}

int ordered_next_note(struct ordered *o, const struct sample_entry **ret)
{
	int r = index_order_next(&o->index, ret);

	if (r > 0)
		ordered_progress(o);
	return r;
}

int ordered_start(struct ordered *o, struct recording *rec, const struct ordered_opts *opts,
                  struct seam_error *err)
{
	int r;

	*o = (struct ordered){ .rec = rec, .opts = opts, .noted = opts->noted && rec->index };
	if (o->noted) {
		r = index_order_start(&o->index, rec->index);
		o->pushed = o->index.index;
		return r;
	}
	r = order_new(&o->order, &(struct order_opts){ .sort = true });
	if (r >= 0)
		r = recording_each(rec, ordered_push, o, err);
	return r < 0 ? r : order_finish(o->order);
}

int ordered_end(struct ordered *o, int r, struct seam_error *err)
{
	if (r < 0 && (!err || !err->code))
		seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	order_free(o->order);
	index_order_free(&o->index);
	tables_free(o->tables);
	return r;
}

static int ordered_drain(struct ordered *o, struct batch *batch)
{
	struct seam_record record;
	int r;

	while ((r = ordered_next(o, &record)) > 0) {
		r = batch_add(batch, &record);
		if (!r && !record.stable) /* its bytes last until the next one comes */
			r = batch_run(batch);
		if (r)
			return r;
	}
	return r < 0 ? r : batch_run(batch);
}

int ordered_each(struct recording *rec, const struct ordered_opts *opts,
                 int (*each)(void *ctx, const struct batch_item *item), void *ctx,
                 struct seam_error *err)
{
	struct batch batch = { 0 };
	struct ordered o;
	int r = ordered_start(&o, rec, opts, err);

	if (r >= 0)
		r = ordered_batch(&o, &batch);
	batch.each = each;
	batch.ctx = ctx;
	if (r >= 0)
		r = ordered_drain(&o, &batch);
	unwound_free(batch.unwound);
	return ordered_end(&o, r, err);
}
