/* SPDX-License-Identifier: MIT */
/*
 * file_identity.h: whether the file that is at a path now is the one that was recorded there.
 *
 * A build-id answers that. Of a mapping without one, a recording says the inode and the time; a
 * file that has another inode, or that changed after it was first mapped, may be a program that was
 * built anew: it gives neither names nor frames, unless the recording also kept what was in it
 * (feature FILES) and that is the same now. Without that a change of the inode alone (rights,
 * links) is refused, too: whoever writes to a file can put its old time back. Invariant: times err
 * to the late side only by what is stated in file_identity.c, and never refuse a file for being
 * old.
 */
#ifndef SEAM_SAMPLES_FILE_IDENTITY_H
#define SEAM_SAMPLES_FILE_IDENTITY_H

#include <seam/record.h>

#include "base/buf.h"
#include "base/map.h"
#include "image/image.h"

struct recording; /* recording.h */

struct file_identity {
	struct map by_path; /* hash -> position in files + 1 */
	struct buf files;
};

/* Learns what an MMAP or MMAP2 record of a process says about its file. -ENOMEM. */
int file_identity_learn(struct file_identity *v, const struct seam_decoded *d);
void file_identity_free(struct file_identity *v);

/* Fills ret for image_search.file_identity. It is valid as long as the recording. */
void file_identity_of(const struct recording *rec, struct image_identity *ret);

#endif
