/* SPDX-License-Identifier: MIT */
/*
 * encode.h: values in, records out: the reverse of seam_record_decode, in this machine's byte
 * order.
 *
 * Each function appends one whole record (8-byte header first, size a multiple of 8) to a buf and
 * returns 0, -E2BIG when it would pass 65,528 bytes (nothing is appended then), -EINVAL when the
 * values contradict the attr, or -ENOMEM. `attr` is the event that the record belongs to: it says
 * what a sample holds and which sample_id trailer the others carry; NULL: no trailer.
 */
#ifndef SEAM_ABI_ENCODE_H
#define SEAM_ABI_ENCODE_H

#include <seam/record.h>

#include "base/buf.h"

/* Starts a record and returns its offset in out. Append the body, then call encode_end or
 * encode_end_id with this offset. */
size_t encode_begin(struct buf *out, uint32_t type, uint16_t misc);
/* Pads to 8 and writes the size. */
int encode_end(struct buf *out, size_t start);
/* The same with the trailer that attr asks for. id may be NULL: zeros, as perf's own records
 * have. */
int encode_end_id(struct buf *out, size_t start, const struct seam_attr *attr,
                  const struct seam_id *id);

/* The attr itself (no record header): attr->size bytes, 144 when that is 0. -EINVAL: below 64. */
int encode_attr(struct buf *out, const struct seam_attr *attr);

/* sample->event is not looked at. id.id serves ID and IDENTIFIER. READ takes the words of
 * sample->read as they are. */
int encode_sample(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                  const struct seam_sample *sample);
int encode_deferred(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                    const struct seam_callchain_deferred *deferred, const struct seam_id *id);
/* MMAP, and its MMAP_DATA bit in misc as the caller gives it; has_prot, build-id, ino are
 * dropped. */
int encode_mmap(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                const struct seam_mmap *mmap, const struct seam_id *id);
/* MMAP2; sets or clears the build-id bit of misc by mmap->has_build_id. */
int encode_mmap2(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                 const struct seam_mmap *mmap, const struct seam_id *id);
/* Sets or clears the exec bit of misc by comm->exec. */
int encode_comm(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                const struct seam_comm *comm, const struct seam_id *id);
/* CGROUP; path from the root of the hierarchy. */
int encode_cgroup(struct buf *out, const struct seam_attr *attr, uint64_t cgroup, const char *path,
                  const struct seam_id *id);
/* type: SEAM_RECORD_FORK or SEAM_RECORD_EXIT. */
int encode_task(struct buf *out, const struct seam_attr *attr, uint32_t type, uint16_t misc,
                const struct seam_task *task, const struct seam_id *id);
/* type: SEAM_RECORD_LOST or SEAM_RECORD_LOST_SAMPLES. */
int encode_lost(struct buf *out, const struct seam_attr *attr, uint32_t type, uint16_t misc,
                const struct seam_lost *lost, const struct seam_id *id);
int encode_ksymbol(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                   const struct seam_ksymbol *ksymbol, const struct seam_id *id);

/* Wraps an array of u64 in memory in the form that the encoders take and decoded records have. */
static inline struct seam_u64s encode_words(const uint64_t *words, uint64_t n)
{
	return (struct seam_u64s){ .bytes = (const unsigned char *)words, .n = n };
}

#endif
