/* SPDX-License-Identifier: MIT */
/*
 * reader_state.h: what an open reader holds. For the files reader*.c only.
 */
#ifndef SEAM_PERFDATA_READER_STATE_H
#define SEAM_PERFDATA_READER_STATE_H

#include "base/buf.h"
#include "base/scratch.h"
#include "perfdata/ahead.h"
#include "perfdata/damage.h"
#include "perfdata/header.h"
#include "perfdata/inflate.h"
#include "perfdata/input.h"
#include "perfdata/meta.h"
#include <seam/reader.h>

/* A stream's window: some 16 of the largest records. */
#define READER_WINDOW (1u << 20)
/* How far a lane goes into a mapped file before its length is asked for again. */
#define READER_STEP (16u << 20)
/* What is behind the reader is looked at for a while, by threads that are behind it
 * (base/relay.h). */
#define READER_BEHIND (6 << 20)
/* Decompressed records that are kept until close, so that their bytes may be borrowed: so many in
 * memory, then in a file without a name (base/scratch.h), in chunks; where there is no place for
 * that, in memory again, up to READER_KEEP. */
#define READER_KEEP_HELD (32u << 20)
#define READER_KEEP_SPOOLED (16ULL << 30)
#define READER_KEEP_CHUNK (4u << 20)
#define READER_KEEP (512u << 20)
/* Largest payload of a TRACING_DATA record that is kept, and the most that may stand before the
 * data of a file that comes as a stream. */
#define READER_TRACING_DATA (64u << 20)
#define READER_PEEK 4096u /* bytes in which to tell whether records follow */
#define READER_STREAM_HEAD (64u << 20)
/* Files of a directory recording: one per ring, so per CPU. */
#define READER_SECTIONS 65536

/* Bytes at hand. at <= end, always. */
struct lane {
	const unsigned char *at, *end, *origin;
	uint64_t base; /* offset in the file of origin; of every record here when fixed */
	bool fixed;
	bool stable;
};

/* A mapped span of records: the data of the file, or one data.N. */
struct section {
	const unsigned char *bytes;
	uint64_t size, base;
	struct input input; /* of a data.N */
};

/* What one compressed record gave, with what was left over from the one before in front. */
struct block {
	uint64_t offset; /* of the compressed record */
	size_t section, n;
	unsigned char *bytes;
	bool spooled; /* they lie in a chunk */
};

/* A piece of the file of unpacked records. */
struct reader_chunk {
	unsigned char *bytes;
	uint64_t offset; /* in the file */
	size_t n, used;
};

/* What one pass over the records found. */
struct tally {
	uint64_t skipped_records, skipped_bytes, truncated_bytes;
	uint64_t compressed_records, compressed2_records, compressed_bytes, decompressed_bytes;
};

struct seam_reader {
	char *name;
	struct input input;
	struct header header;
	struct meta meta;
	struct damage damage;
	size_t damage_at_open; /* entries from the header */
	uint64_t damage_total_at_open;
	bool swap, stream, directory, unfinished, cut;
	uint64_t data_size;
	uint64_t parts_size; /* of a directory's data.N */

	struct section *sections; /* not for a stream */
	size_t n_sections, sections_capacity, section;
	const unsigned char *visible; /* how far the outer lane may go by now */
	const unsigned char *dropped; /* pages of the section up to here were given back */
	struct ahead ahead;           /* maps what comes behind that */
	bool section_cut;             /* nothing behind the outer lane may be touched */

	unsigned char *window; /* of a stream */
	uint64_t stream_left;  /* bytes of its data section to come; UINT64_MAX: to the end */
	bool stream_end, stream_behind;
	struct buf held; /* the record in front of a payload, or what stood behind the data */

	struct lane outer, inner;
	struct inflate inflate;
	struct buf plain, carry; /* unpacked bytes; the part of a record at their end */
	bool inner_lost;         /* it is not known where the next unpacked record begins */
	struct block *blocks;
	size_t n_blocks, blocks_capacity, replay;
	size_t kept_bytes, keep_most; /* READER_KEEP; in memory */
	struct scratch spool;
	uint64_t spool_most; /* READER_KEEP_SPOOLED, or what the disk has room for */
	struct reader_chunk *chunks;
	size_t n_chunks, chunks_capacity;
	bool keep_full;
	bool rewound; /* and no block was unpacked since */

	uint64_t records;
	uint64_t learned; /* records below this index have been taken in by meta */
	struct tally tally, final;
	bool complete; /* a pass has reached the end: `final` holds, later passes are quiet */
	bool quiet;
	int failed;
};

static inline uint64_t lane_offset(const struct lane *l)
{
	return l->base + (l->fixed ? 0 : (uint64_t)(l->at - l->origin));
}

static inline size_t lane_left(const struct lane *l)
{
	return (size_t)(l->end - l->at);
}

static inline void lane_set(struct lane *l, const unsigned char *bytes, size_t n, uint64_t base,
                            bool fixed, bool stable)
{
	*l = (struct lane){ .at = bytes,
		            .end = bytes ? bytes + n : bytes,
		            .origin = bytes,
		            .base = base,
		            .fixed = fixed,
		            .stable = stable };
}

/* reader.c */
void reader_enter_section(struct seam_reader *r, size_t i);

/* reader_compressed.c */
int reader_compressed(struct seam_reader *r, const struct seam_record *rec, struct seam_error *err);
/* The inner lane ends inside a record: keeps that part for the next compressed record. */
int reader_carry(struct seam_reader *r, const unsigned char *bytes, size_t n);
void reader_free_blocks(struct seam_reader *r);

/* reader_stream.c */
int reader_open_stream(struct seam_reader *r, struct seam_error *err);
/* Reads the features, which stand behind the data of a file that is read as a stream. 0, or
 * -errno. */
int reader_stream_behind(struct seam_reader *r, struct seam_error *err);

#endif
