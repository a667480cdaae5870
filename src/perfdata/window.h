/* SPDX-License-Identifier: MIT */
/*
 * window.h: how much of a mapped recording is in this process's memory at a time.
 *
 * The pages of a file that were looked at stay mapped, so reading a file of any size from front to
 * back would hold all of it. Of a large one only a window is kept: what lies behind the reader is
 * given back to the kernel, which keeps it in its cache as long as there is room. Bytes of stable
 * records may still be read at any time: their pages come back.
 */
#ifndef SEAM_PERFDATA_WINDOW_H
#define SEAM_PERFDATA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include <seam/reader.h>

/* Files up to this size are held whole: nothing is gained that would be felt. */
#define WINDOW_LARGE (128u << 20)
/* Bytes of records that a reader of a large file looks at before it calls window_forget. */
#define WINDOW_STEP (16u << 20)
/* Bytes that the kernel maps around one that is looked at. */
#define WINDOW_AROUND (64u << 10)

/* Whether it is a file of which only a window is held. What is kept of its records for long should
 * be copied then. Of a compressed one that is known when more was unpacked than is held. */
bool window_large(const struct seam_reader *reader);
/* Records will be read once, and borrowed no longer than until the next one: what is unpacked of
 * compressed ones is not kept. To be called before the first record. */
void window_once(struct seam_reader *reader);
/* Whether bytes lie in the mapped file. */
bool window_has(const struct seam_reader *reader, const unsigned char *bytes);
/* Gives all pages of a large file back. Any thread may call it, also while others read. */
void window_forget(const struct seam_reader *reader);
/* Gives back n bytes of a mapped file from here on, as far as they are whole pages. */
void window_drop(const unsigned char *bytes, size_t n);

#endif
