// SPDX-License-Identifier: MIT
// profiled.c: see profiled.h.
#include "input/profiled.h"

/* The steps that every command takes with a recording: the first pass, then the filter, which needs
 * to know events and times, then counting and naming. */
int profiled_load(const struct infile *in, const struct naming *naming,
                  const struct profiled_opts *opts, struct recording **rec, struct load *ret,
                  struct seam_error *err)
{
	/* What an archive fits is told by the objects of the recording. */
	const bool states = opts->load.frames == LOAD_FRAMES_NONE && opts->filter &&
	                    !sample_filter_any(opts->filter) && !naming->archive.dir[0];
	const struct progress progress = opts->progress.report ? opts->progress : infile_progress();
	const struct recording_opts learn = { .sz = sizeof(learn),
		                              .progress = progress,
		                              .first_bytes = opts->first_bytes,
		                              .symbols = &naming->symbols,
		                              .names = opts->names,
		                              .once = true,
		                              .innermost = opts->load.frames != LOAD_FRAMES_ALL,
		                              .no_stacks = opts->load.frames == LOAD_FRAMES_NONE,
		                              .states = states,
		                              .threads = opts->load.threads,
		                              .no_bytes =
		                                      !(opts->load.keep & PROFILE_KEEP_CGROUP) };
	struct load_opts load = opts->load;
	int r = recording_open(rec, in->reader, &learn, err);

	load.sz = sizeof(load);
	load.symbols = &naming->symbols;
	if (states)
		load.keep = 0; /* no row tells of more than its state */
	load.native = naming->native;
	load.progress = progress;
	load.early |= opts->names;
	if (r >= 0 && opts->filter) {
		r = sample_filter_prepare(opts->filter, opts->cmd, *rec);
		load.filter = sample_filter_samples(opts->filter);
	}
	if (r >= 0)
		r = load_recording(ret, *rec, &load, err);
	infile_progress_end();
	return r;
}
