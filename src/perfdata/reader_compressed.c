// SPDX-License-Identifier: MIT
// reader_compressed.c: compressed records, unpacked into the reader's inner lane.
//
// A record may begin in one compressed record and end in the next: the part at the end is carried
// over. What was unpacked is kept (READER_KEEP_*) so that records stay where they are and a
// second pass unpacks nothing. Invariant: blocks hold the compressed records of the file from the
// first on, without gaps, until keep_full.
//
// When a part cannot be unpacked, it is not known where records begin in what follows. Only a
// compressed record that starts a new zstd frame and whose content is, from its first to its last
// byte, a chain of known records takes up the thread again.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/array.h"
#include "base/cursor.h"
#include "perfdata/reader_state.h"

/* Frees what was unpacked. Records that were handed out as stable are gone then. */
void reader_free_blocks(struct seam_reader *r)
{
	for (size_t i = 0; i < r->n_blocks; i++)
		if (!r->blocks[i].spooled)
			free(r->blocks[i].bytes);
	for (size_t i = 0; i < r->n_chunks; i++)
		scratch_unmap(r->chunks[i].bytes, r->chunks[i].n);
	scratch_free(&r->spool);
	free(r->chunks);
	free(r->blocks);
	r->blocks = NULL;
	r->n_blocks = 0;
}

/* Adds a chunk for n bytes, and sends the one before out of memory. False: there is no place. A
 * sixteenth of what is free on the disk is left to others. */
static bool reader_add_chunk(struct seam_reader *r, size_t n)
{
	struct reader_chunk c = { .n = n > READER_KEEP_CHUNK ? (n | 0xffff) + 1
		                                             : READER_KEEP_CHUNK };
	struct statvfs fs;

	if (r->n_chunks && r->spool.size + c.n > r->spool_most)
		return false;
	if (ARRAY_ROOM(&r->chunks, &r->chunks_capacity, r->n_chunks + 1) < 0)
		return false;
	c.offset = r->spool.size;
	c.bytes = scratch_block(&r->spool, c.n);
	if (!c.bytes)
		return false;
	if (!r->n_chunks) {
		r->spool_most = READER_KEEP_SPOOLED;
		if (!fstatvfs(r->spool.fd, &fs) &&
		    (uint64_t)fs.f_bavail * fs.f_frsize / 16 * 15 < r->spool_most)
			r->spool_most = (uint64_t)fs.f_bavail * fs.f_frsize / 16 * 15;
	} else {
		scratch_rest(r->chunks[r->n_chunks - 1].bytes, r->chunks[r->n_chunks - 1].n);
	}
	r->chunks[r->n_chunks++] = c;
	return true;
}

/* A part that follows data which could not be unpacked is no record's front. */
int reader_carry(struct seam_reader *r, const unsigned char *bytes, size_t n)
{
	buf_clear(&r->carry);
	if (r->inner_lost) {
		r->tally.skipped_bytes += n;
		return 0;
	}
	return buf_put(&r->carry, bytes, n);
}

/* Puts the bytes of a block into the last chunk, or a new one. False: there is no place. */
static bool reader_spool_block(struct seam_reader *r, struct block *b)
{
	struct reader_chunk *c = r->n_chunks ? &r->chunks[r->n_chunks - 1] : NULL;

	if (!c || c->n - c->used < b->n) {
		if (!reader_add_chunk(r, b->n))
			return false;
		c = &r->chunks[r->n_chunks - 1];
	}
	if (!scratch_put(&r->spool, c->offset + c->used, r->plain.bytes, b->n))
		return false;
	b->bytes = c->bytes + c->used;
	b->spooled = true;
	c->used += (b->n + 7) & ~(size_t)7; /* records stand at words, as in a file */
	c->used = c->used < c->n ? c->used : c->n;
	return true;
}

/* Keeps what was unpacked last as a block's bytes. False: there is no place for them. */
static bool reader_fill_block(struct seam_reader *r, struct block *b)
{
	if (!b->n)
		return true;
	if (r->kept_bytes + b->n > READER_KEEP_HELD && reader_spool_block(r, b))
		return true;
	if (b->n > r->keep_most - r->kept_bytes)
		return false;
	b->bytes = malloc(b->n);
	if (!b->bytes)
		return false;
	memcpy(b->bytes, r->plain.bytes, b->n);
	r->kept_bytes += b->n;
	return true;
}

/* Keeps the unpacked bytes until the reader is closed, if there is room: true, and the last block
 * holds them. */
static bool reader_keep_block(struct seam_reader *r, uint64_t offset)
{
	struct block b = { .offset = offset, .section = r->section, .n = r->plain.n };

	if (r->stream || r->keep_full)
		return false;
	/* Set while it is not sure that the block can be kept: after one that was not, there must
	 * be no other, because blocks have no gaps. */
	r->keep_full = true;
	if (ARRAY_ROOM(&r->blocks, &r->blocks_capacity, r->n_blocks + 1) < 0)
		return false;
	if (!reader_fill_block(r, &b))
		return false;
	r->blocks[r->n_blocks++] = b;
	r->replay = r->n_blocks;
	r->keep_full = false;
	return true;
}

/* The compressed bytes of a record. -EBADMSG: COMPRESSED2 claims more than it has. */
static int reader_payload(const struct seam_reader *r, const struct seam_record *rec,
                          struct seam_bytes *ret)
{
	struct cursor c = cursor_of(rec->bytes + 8, rec->size - 8, r->swap);
	uint64_t n = rec->type == SEAM_RECORD_COMPRESSED2 ? cursor_u64(&c) : cursor_left(&c);
	const unsigned char *bytes = cursor_bytes(&c, n);

	if (c.failed)
		return -EBADMSG;
	*ret = (struct seam_bytes){ bytes, (size_t)n };
	return 0;
}

/* In a second pass: uses the block that the first pass kept. False: it kept none. */
static bool reader_replay_block(struct seam_reader *r, uint64_t offset)
{
	const struct block *b = r->replay < r->n_blocks ? &r->blocks[r->replay] : NULL;

	/* The offset and the section tell whether it is this record's block. */
	if (!b || b->offset != offset || b->section != r->section)
		return false;
	r->replay++;
	buf_clear(&r->carry);
	/* An empty block is one that could not be unpacked, or that gave no whole byte. */
	if (b->n) {
		r->inner_lost = false;
		lane_set(&r->inner, b->bytes, b->n, offset, true, true);
	}
	return true;
}

/* In a second pass, at the first block that was not kept: the zstd stream is unpacked again up to
 * here. zstd's window holds what came before, so unpacking cannot begin in the middle of a frame.
 * Faults were reported in the first pass; here they are passed over. */
static int reader_catch_up(struct seam_reader *r)
{
	const struct section *s = &r->sections[r->section];
	int rc = 0;

	inflate_reset(&r->inflate);
	for (size_t i = 0; i < r->n_blocks && rc != -ENOMEM; i++) {
		struct seam_record rec = { .swap = r->swap };
		struct seam_bytes payload;
		struct cursor c;

		if (r->blocks[i].section != r->section)
			continue;
		rec.bytes = s->bytes + (r->blocks[i].offset - s->base);
		c = cursor_of(rec.bytes, 8, r->swap);
		rec.type = cursor_u32(&c);
		cursor_u16(&c);
		rec.size = cursor_u16(&c);
		buf_clear(&r->plain);
		if (reader_payload(r, &rec, &payload) == 0)
			rc = inflate_more(&r->inflate, payload.bytes, payload.n, &r->plain);
	}
	return rc == -ENOMEM ? rc : 0;
}

/* Whether bytes are records of known types from end to end. Chance data is not. */
static bool reader_is_chain(const struct seam_reader *r, const unsigned char *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, r->swap);

	while (cursor_left(&c)) {
		uint32_t type = cursor_u32(&c);
		uint16_t size;

		cursor_u16(&c);
		size = cursor_u16(&c);
		if (c.failed || size < 8 || !seam_record_name(type) || !cursor_bytes(&c, size - 8))
			return false;
	}
	return n > 0;
}

/* The magic number of a zstd frame (RFC 8878), little-endian. */
static bool reader_starts_frame(const struct seam_bytes *payload)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	return payload->n >= 4 && !memcmp(payload->bytes, magic, 4);
}

/* Tries to go on with this record after a part that could not be unpacked. 1: r->plain holds sound
 * records; 0: not yet; -ENOMEM. */
static int reader_resume(struct seam_reader *r, const struct seam_bytes *payload)
{
	int rc;

	if (!reader_starts_frame(payload))
		return 0;
	inflate_reset(&r->inflate);
	rc = inflate_more(&r->inflate, payload->bytes, payload->n, &r->plain);
	if (rc == -ENOMEM)
		return rc;
	if (rc < 0 || !reader_is_chain(r, r->plain.bytes, r->plain.n))
		return 0;
	r->inner_lost = false;
	return 1;
}

/* From here on unpacked bytes have no known place: counted, and reported once. */
static int reader_lose(struct seam_reader *r, const struct seam_record *rec, const char *reason,
                       struct seam_error *err)
{
	r->tally.skipped_records++;
	r->tally.skipped_bytes += rec->size;
	r->inner_lost = true;
	return damage_add(&r->damage, err, rec->offset, seam_record_name(rec->type),
	                  "%s: from here on %u bytes cannot be unpacked, nor what hangs on them",
	                  reason, rec->size);
}

/* Unpacks a compressed record into r->plain, behind what was carried over from the last one. What
 * cannot be unpacked is counted and reported as damage; only -ENOMEM, or damage with `strict`, is
 * an error. */
static int reader_unpack(struct seam_reader *r, const struct seam_record *rec,
                         struct seam_error *err)
{
	struct seam_bytes payload;
	size_t carried = r->carry.n;
	int rc = reader_payload(r, rec, &payload);

	if (rc < 0)
		return reader_lose(r, rec, "its payload is longer than itself", err);
	r->tally.compressed_bytes += payload.n;
	if (r->inner_lost) {
		rc = reader_resume(r, &payload);
		if (rc < 0)
			return rc;
		if (rc) {
			r->tally.decompressed_bytes += r->plain.n;
			return 0;
		}
		buf_clear(&r->plain);
		r->tally.skipped_records++;
		r->tally.skipped_bytes += rec->size;
		return 0;
	}
	/* The record that began in the last part continues with the first byte of this one. */
	if (buf_put(&r->plain, r->carry.bytes, carried) < 0)
		return -ENOMEM;
	rc = inflate_more(&r->inflate, payload.bytes, payload.n, &r->plain);
	r->tally.decompressed_bytes += r->plain.n - carried;
	if (rc == -ENOMEM)
		return rc;
	return rc < 0 ? reader_lose(r, rec, r->inflate.reason, err) : 0;
}

/* Makes what a compressed record holds the reader's inner lane: from a block that an earlier pass
 * kept, or by unpacking it now. */
int reader_compressed(struct seam_reader *r, const struct seam_record *rec, struct seam_error *err)
{
	int rc;

	if (reader_replay_block(r, rec->offset))
		return 0;
	/* The first compressed record behind the kept ones, in a pass that is not the first. */
	if (r->replay == r->n_blocks && r->keep_full && r->rewound) {
		rc = reader_catch_up(r);
		if (rc < 0)
			return rc;
	}
	r->rewound = false;
	buf_clear(&r->plain);
	rc = reader_unpack(r, rec, err);
	buf_clear(&r->carry);
	if (rc < 0)
		return rc;
	if (reader_keep_block(r, rec->offset)) {
		const struct block *b = &r->blocks[r->n_blocks - 1];

		lane_set(&r->inner, b->bytes, b->n, rec->offset, true, true);
	} else if (r->plain.n) {
		lane_set(&r->inner, r->plain.bytes, r->plain.n, rec->offset, true, false);
	}
	return 0;
}
