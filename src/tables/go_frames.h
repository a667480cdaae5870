/* SPDX-License-Identifier: MIT */
/*
 * go_frames.h: unwind information for a program of Go that was stripped of it. Go's own table of
 * functions says at each address how far the stack pointer is from the return address; that is all
 * that the .debug_frame says which Go's linker writes where it may.
 */
#ifndef SEAM_TABLES_GO_FRAMES_H
#define SEAM_TABLES_GO_FRAMES_H

#include "base/buf.h"
#include "image/image.h"

/* Puts a .debug_frame of all functions in Go's table into ret (cleared first; in this machine's
 * byte order). x86_64 only. -ENOENT: no such table, or another machine. -EBADMSG: a damaged one.
 * -ENOMEM. */
int go_frames_make(struct image *image, struct buf *ret);

#endif
