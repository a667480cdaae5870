/* SPDX-License-Identifier: MIT */
/*
 * writer_flags.h: what the attrs of a file promised and no record made true is taken back when it
 * is closed. Readers that do not know a flag refuse the file, or warn of it.
 */
#ifndef SEAM_PERFDATA_WRITER_FLAGS_H
#define SEAM_PERFDATA_WRITER_FLAGS_H

#include <seam/writer.h>

/* These flags of all attrs (SEAM_ATTR_*) are cleared by seam_writer_close, in the attrs and in
 * EVENT_DESC. A stream has given its attrs away: nothing happens then. */
void writer_clear_flags(struct seam_writer *w, uint64_t flags);

#endif
