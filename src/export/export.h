/* SPDX-License-Identifier: MIT */
/*
 * export.h: a finished profile in the form of another tool: one file and one row of formats.def per
 * format.
 *
 * A writer gets a profile that nothing changes any more and appends to an export_out, which hands
 * the bytes on in pieces. Equal profiles (profile_canonical) give equal bytes: no clock, no path of
 * this machine, no order of threads is in them.
 */
#ifndef SEAM_EXPORT_EXPORT_H
#define SEAM_EXPORT_EXPORT_H

#include "base/buf.h"
#include "profile/profile.h"

struct export_out {
	/* what was not handed on yet; a writer puts into it and calls export_step */
	struct buf buf;
	int (*write)(void *ctx, const void *bytes, size_t n); /* 0 or negative */
	void *ctx;
};

struct export_opts {
	size_t sz;
	uint32_t event; /* only this one; 0: all, or the first where the format holds one only */
	bool annotate;  /* folded: "_[k]" behind kernel functions, "_[i]" behind inlined ones */
};

struct export_format {
	const char *name;
	const char *extension; /* how the name of such a file ends */
	const char *summary;   /* one line, for help */
	unsigned keep;         /* PROFILE_KEEP_* that it shows */
	bool one_event;        /* has no place for a second event */
	bool binary;           /* not to be written to a terminal */
	bool labels;           /* has a place for whom threads worked (labels.h) */
	bool lines;            /* shows lines of source */
	int (*write)(const struct profile *p, const struct export_opts *opts,
	             struct export_out *out);
};

extern const struct export_format export_formats[]; /* ends with name NULL */

const struct export_format *export_find(const char *name);
/* The format whose extension a file's name ends with, the longest of them; NULL: none. */
const struct export_format *export_by_extension(const char *path);

/* Hands on what has gathered: when it is much, or (flush) all. -ENOMEM, or what write said. */
int export_step(struct export_out *out);
int export_flush(struct export_out *out);

/* The event that a format with room for one shows: opts->event, else the first that has samples. */
uint32_t export_event(const struct profile *p, const struct export_opts *opts);
/* Whether a row's or sample's event is to be shown. */
bool export_wants(const struct export_opts *opts, uint32_t event);
/* "nanoseconds" where the event's weights are time, "count" else. */
const char *export_unit(const struct profile *p, uint32_t event);
const char *export_unit_name(enum profile_unit unit);
/* A weight for people: "2.84 s", "312.50 ms", "12345". */
void export_amount(enum profile_unit unit, double weight, struct buf *to);

/*
 * What a person reads: the function, or where it is not known the object that it is in:
 * "[libc.so.6]", "[unknown]". Appended to to; the bytes may be anything but NUL.
 */
void export_frame_name(const struct profile *p, uint32_t frame, struct buf *to);
const char *export_base_name(const char *path);

/* A writer for each format. */
#define FORMAT(name, ...)                                                          \
	int export_##name(const struct profile *p, const struct export_opts *opts, \
	                  struct export_out *out);
#include "export/formats.def"

#endif
