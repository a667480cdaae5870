// SPDX-License-Identifier: MIT
// fed_view.c: see fed_view.h. What is read within a moment is shown at once.
#include "cli/fed_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "input/unpacked.h"

/* Of a file that is larger, the first part is shown before the rest is read. */
#define FED_LARGE (32ull << 20)
#define FED_FIRST_MOST (16ull << 20)

#define FED_BEGIN_MS 150 /* what is read within this is shown at once */
#define FED_LEAVE_MS 300 /* how long reading may go on when nobody looks any more */

static void fed_view_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	char text[80];

	if (total)
		snprintf(text, sizeof(text), "%s %d %%", step,
		         (int)(100.0 * (double)done / (double)total));
	else if (done)
		snprintf(text, sizeof(text), "%s %llu", step, (unsigned long long)done);
	else
		snprintf(text, sizeof(text), "%s", step);
	feed_state(ctx, text);
}

static bool fed_view_stopped(void *ctx)
{
	return feed_stopped(ctx);
}

struct progress fed_view_progress(struct feed *f)
{
	return (struct progress){ fed_view_report, fed_view_stopped, f };
}

bool fed_view_first(const struct infile *in, const struct naming *naming,
                    const struct profiled_opts *all, struct fed_first *ret)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct profiled_opts opts = *all;
	struct seam_error err = { 0 };
	int rc;

	*ret = (struct fed_first){ 0 };
	/* Of a filter's "10%-20%" a part of the file knows nothing. */
	if (sample_filter_any(all->filter) || seam_reader_info(in->reader, &info) < 0 ||
	    info.file_size < FED_LARGE)
		return false;
	opts.first_bytes =
	        info.file_size / 16 < FED_FIRST_MOST ? info.file_size / 16 : FED_FIRST_MOST;
	ret->percent = 100.0 * (double)opts.first_bytes / (double)info.file_size;
	rc = profiled_load(in, naming, &opts, &ret->rec, &ret->load, &err);
	return rc >= 0 && profile_n_events(ret->load.profile);
}

void fed_view_first_end(const struct infile *in, struct fed_first *f)
{
	recording_close(f->rec);
	f->rec = NULL;
	seam_reader_rewind(in->reader);
}

/* What a thread that nobody waits for is in the middle of, the end of the program ends. */
static void fed_view_leave_now(void)
{
	fflush(stdout);
	unpacked_remove();
	_exit(EXIT_SUCCESS);
}

/* What cannot be read or shown leaves the terminal as it is. */
int fed_view(struct view_opts *opts, bool color, int (*work)(void *ctx, struct feed *f), void *ctx)
{
	struct feed *f;
	int rc = feed_new(&f), result;

	if (rc < 0)
		return rc;
	rc = feed_start(f, work, ctx);
	if (rc >= 0) {
		opts->feed = f;
		feed_wait(f, FED_BEGIN_MS);
		if (!feed_ended(f, &result) || result == FEED_STAYS)
			rc = view_terminal(opts, color);
		/* -ENOTTY: the text needs all of it. */
		if (rc != -ENOTTY && !feed_end_within(f, FED_LEAVE_MS))
			fed_view_leave_now();
		feed_join(f);
	}
	feed_free(f);
	return rc;
}
