/* SPDX-License-Identifier: MIT */
/* feature_text.h: what the two files of features as text share: one feature on its way to be
 * text. */
#ifndef SEAM_PERFDATA_FEATURE_TEXT_H
#define SEAM_PERFDATA_FEATURE_TEXT_H

#include "perfdata/feature.h"

struct text {
	struct cursor c;
	const struct seam_bytes *bytes;
	const struct feature_context *context;
	struct buf *out;
};

typedef void text_feature(struct text *t);

/* The features that say what the machine is; NULL: it is none of them. */
text_feature *feature_text_machine(unsigned feature);

#endif
