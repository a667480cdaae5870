// SPDX-License-Identifier: MIT
/*
 * tar_read.c: reads a tar, inside zstd or not. Of pax headers the name and the size are taken. What
 * a zstd frame may ask for in memory is bounded by the library (128 MiB of window).
 *
 * The input may be hostile, a pipe, or endless. Invariants: tar->at counts every byte of tar that
 * was unpacked, and reading ends at the bound (tar_bound); `stop` is asked at least each WAIT_MS
 * and each ASK_EVERY bytes, so that a signal ends even an archive that unpacks to zeros for ever.
 * Links, devices and sparse files are given to the caller by type, and never opened here.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "archive/block.h"
#include "archive/tar.h"

#define CHUNK (1u << 17)
/* A pax header holds names of one file; 64 KiB is far more than any path. */
#define PAX_MAX (1u << 16)
#define ASK_EVERY (1u << 20) /* bytes of tar between two questions whether to stop */
#define WAIT_MS 50           /* for more of a pipe, between two such questions */

struct tar_reader {
	int fd;
	const char *name;
	ZSTD_DCtx *context; /* NULL: not compressed */
	bool started;
	unsigned char in[CHUNK];
	ZSTD_inBuffer input;
	/* What of `in` was not used yet. */
	uint64_t at;   /* bytes of tar that were read */
	uint64_t most; /* of these; 0: any number */
	bool (*stop)(void);
	uint64_t asked; /* where stop was asked last */
	uint64_t left;  /* of the entry, without padding */
	unsigned padding;
};

/* The descriptor stays the caller's; name is for messages. -ENOMEM. */
int tar_open(struct tar_reader **ret, int fd, const char *name)
{
	struct tar_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->fd = fd;
	r->name = name;
	r->input.src = r->in;
	*ret = r;
	return 0;
}

/* stop: asked whether to give up; -EINTR then. */
void tar_stop(struct tar_reader *r, bool (*stop)(void))
{
	r->stop = stop;
}

/* No more than so many bytes of tar are unpacked, headers included. */
void tar_bound(struct tar_reader *r, uint64_t most)
{
	r->most = most;
}

void tar_reader_free(struct tar_reader *r)
{
	if (r)
		ZSTD_freeDCtx(r->context);
	free(r);
}

/* -EBADMSG always, with the place in the tar. */
static int __attribute__((format(printf, 3, 4)))
tar_damaged(const struct tar_reader *r, struct seam_error *err, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return seam_error_set(err, EBADMSG, r->name, r->at, "archive", "%s", text);
}

/* Reads more input: 1, or 0 at its end. It waits for the first writer of a FIFO, and for more of
 * it. */
static int tar_fill(struct tar_reader *r, struct seam_error *err)
{
	struct pollfd more = { .fd = r->fd, .events = POLLIN };
	ssize_t n = -1;

	if (r->input.pos < r->input.size)
		return 1;
	do {
		if (r->stop && r->stop())
			return -EINTR;
		errno = EAGAIN;
		if (poll(&more, 1, WAIT_MS) > 0)
			n = read(r->fd, r->in, sizeof(r->in));
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return seam_error_set(err, errno, r->name, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	r->input.size = (size_t)n;
	r->input.pos = 0;
	return n > 0;
}

/* Looks at the first bytes, which tell whether zstd is round the tar (its magic number, RFC
 * 8878). */
static int tar_start(struct tar_reader *r, struct seam_error *err)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	int more = tar_fill(r, err);

	r->started = true;
	if (more <= 0)
		return more < 0 ? more : tar_damaged(r, err, "it is empty");
	if (r->input.size < 4 || memcmp(r->in, magic, 4))
		return 0;
	r->context = ZSTD_createDCtx();
	return r->context ? 0 : -ENOMEM;
}

/* Whether the caller wants to stop. A few bytes of input may unpack to any number, so this counts
 * bytes of tar. */
static bool tar_is_stopped(struct tar_reader *r)
{
	if (!r->stop || r->at - r->asked < ASK_EVERY)
		return false;
	r->asked = r->at;
	return r->stop();
}

/* Bytes of the tar itself: exactly n, or an error. */
/* At the end of the input the loop goes on as long as the decompressor gives something. */
static int tar_bytes(struct tar_reader *r, void *to, size_t n, struct seam_error *err)
{
	ZSTD_outBuffer out = { to, n, 0 };
	int more = 1;

	if (!r->started)
		more = tar_start(r, err);
	while (more >= 0 && out.pos < n) {
		size_t was = out.pos, take;

		if (r->most && r->at > r->most)
			return seam_error_set(err, EFBIG, r->name, r->at, "archive",
			                      "more than may be unpacked there (TMPDIR chooses the "
			                      "place)");
		more = tar_is_stopped(r) ? -EINTR : tar_fill(r, err);
		if (more < 0)
			break;
		if (r->context) {
			take = ZSTD_decompressStream(r->context, &out, &r->input);
			if (ZSTD_getErrorCode(take) == ZSTD_error_memory_allocation)
				return -ENOMEM;
			if (ZSTD_isError(take))
				return tar_damaged(r, err, "%s", ZSTD_getErrorName(take));
		} else if (more) {
			take = r->input.size - r->input.pos;
			take = take < n - out.pos ? take : n - out.pos;
			memcpy((char *)to + out.pos, r->in + r->input.pos, take);
			out.pos += take;
			r->input.pos += take;
		}
		r->at += out.pos - was;
		/* At the end of the input the decompressor may still hold bytes. */
		if (!more && out.pos == was)
			return tar_damaged(r, err, "it is cut short");
	}
	return more < 0 ? more : 0;
}

/* Octal digits, blanks around; -EBADMSG for anything else (a size in base 256 is of no file we
 * take). */
static int tar_octal(const char *text, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < n && text[i] == ' ')
		i++;
	if (i == n || text[i] < '0' || text[i] > '7')
		return -EBADMSG;
	for (; i < n && text[i] >= '0' && text[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(text[i] - '0');
	for (; i < n; i++)
		if (text[i] && text[i] != ' ')
			return -EBADMSG;
	*ret = v;
	return 0;
}

/* A block of zeros ends the archive. What follows is not read. */
static bool tar_is_end(const char *block)
{
	for (size_t i = 0; i < BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

/* The checksum is the sum of the header's bytes, its own field taken as blanks. */
static bool tar_sum_fits(const char *block)
{
	uint64_t sum = 0, is = 0;

	if (tar_octal(block + BLOCK_SUM, BLOCK_SUM_SIZE, &sum) < 0)
		return false;
	for (unsigned i = 0; i < BLOCK; i++)
		is += i >= BLOCK_SUM && i < BLOCK_SUM + BLOCK_SUM_SIZE ? ' '
		                                                       : (unsigned char)block[i];
	return is == sum;
}

/* Passes over what is left of the entry, and its padding to a whole block. */
static int tar_skip(struct tar_reader *r, struct seam_error *err)
{
	unsigned char waste[4096];
	int n;

	while ((n = tar_read(r, waste, sizeof(waste), err)) > 0)
		;
	if (n >= 0 && r->padding)
		n = tar_bytes(r, waste, r->padding, err);
	r->padding = 0;
	return n;
}

/* One block: 1, 0 for the end's. The fields are those of POSIX ustar: the name may be in two parts,
 * prefix and name. -EBADMSG: it is no header. */
static int tar_header(struct tar_reader *r, struct tar_entry *ret, struct seam_error *err)
{
	char block[BLOCK];
	size_t n = 0;
	int rc = tar_bytes(r, block, BLOCK, err);

	if (rc < 0)
		return rc;
	if (tar_is_end(block))
		return 0;
	if (!tar_sum_fits(block) || tar_octal(block + BLOCK_SIZE, BLOCK_SIZE_SIZE, &ret->size) < 0)
		return tar_damaged(r, err, "no header of a tar entry");
	if (!memcmp(block + BLOCK_MAGIC, "ustar", 6) && block[BLOCK_PREFIX]) {
		n = strnlen(block + BLOCK_PREFIX, BLOCK_PREFIX_SIZE);
		memcpy(ret->name, block + BLOCK_PREFIX, n);
		ret->name[n++] = '/';
	}
	memcpy(ret->name + n, block, BLOCK_NAME_SIZE);
	ret->name[n + strnlen(block, BLOCK_NAME_SIZE)] = 0;
	/* Types NUL and 7 are old spellings of a plain file. */
	ret->type = block[BLOCK_TYPE] && block[BLOCK_TYPE] != '7' ? block[BLOCK_TYPE] : '0';
	r->left = ret->size;
	r->padding = (unsigned)(-ret->size % BLOCK);
	return 1;
}

/* What a pax header says of the next entry. */
struct pax {
	char name[TAR_NAME_MAX];
	bool has_name, has_size;
	uint64_t size;
};

/* Takes one record of a pax header, KEY=VALUE; only path and size are of interest. -EBADMSG: the
 * value cannot be used. */
static int tar_pax_record(struct tar_reader *r, const char *key, const char *end, struct pax *pax,
                          struct seam_error *err)
{
	size_t n = (size_t)(end - key);
	char *stop;

	if (n > 5 && !memcmp(key, "path=", 5)) {
		if (n - 5 >= sizeof(pax->name) || memchr(key, 0, n))
			return tar_damaged(r, err, "a name is too long, or holds a NUL");
		memcpy(pax->name, key + 5, n - 5);
		pax->name[n - 5] = 0;
		pax->has_name = true;
	} else if (n > 5 && n < 25 && !memcmp(key, "size=", 5)) {
		pax->size = strtoull(key + 5, &stop, 10);
		if (stop != end || key[5] < '0' || key[5] > '9')
			return tar_damaged(r, err, "a pax size is no number");
		pax->has_size = true;
	}
	return 0;
}

/* Records are "LENGTH KEY=VALUE\n", the length of all of that. */
static int tar_pax(struct tar_reader *r, uint64_t size, struct pax *pax, struct seam_error *err)
{
	char *text, *at, *key;
	int rc;

	if (size > PAX_MAX)
		return tar_damaged(r, err, "a pax header is too large");
	text = calloc(1, size + 1);
	if (!text)
		return -ENOMEM;
	rc = tar_bytes(r, text, size, err);
	/* tar_skip passes the padding only. */
	r->left = 0;
	for (at = text; rc >= 0 && at < text + size;) {
		unsigned long long n = strtoull(at, &key, 10);

		if (*at < '0' || *at > '9' || *key != ' ' || n > (size_t)(text + size - at) ||
		    at + n < key + 2 || at[n - 1] != '\n') {
			rc = tar_damaged(r, err, "a pax header makes no sense");
			break;
		}
		rc = tar_pax_record(r, key + 1, at + n - 1, pax, err);
		at += n;
	}
	free(text);
	return rc < 0 ? rc : tar_skip(r, err);
}

/* The name and the size of a pax header replace those of the entry behind it. The entry's content
 * is read with tar_read. */
int tar_next(struct tar_reader *r, struct tar_entry *ret, struct seam_error *err)
{
	/* Large for the stack. */
	struct pax *pax = calloc(1, sizeof(*pax));
	int rc = pax ? tar_skip(r, err) : -ENOMEM;

	if (rc >= 0)
		rc = tar_header(r, ret, err);
	/* 'g' holds for all entries behind it, and nothing of it matters here. */
	while (rc > 0 && (ret->type == 'x' || ret->type == 'g')) {
		bool global = ret->type == 'g';

		if (global && ret->size > PAX_MAX)
			rc = tar_damaged(r, err, "a pax header is too large");
		else
			rc = global ? tar_skip(r, err) : tar_pax(r, ret->size, pax, err);
		if (rc >= 0)
			rc = tar_header(r, ret, err);
		if (rc == 0)
			rc = tar_damaged(r, err, "it ends behind a pax header");
	}
	if (rc > 0 && pax->has_name)
		memcpy(ret->name, pax->name, sizeof(ret->name));
	if (rc > 0 && pax->has_size) {
		ret->size = r->left = pax->size;
		r->padding = (unsigned)(-pax->size % BLOCK);
	}
	free(pax);
	return rc;
}

/* Up to n bytes of the entry's content: how many; 0: its end; -errno. */
int tar_read(struct tar_reader *r, void *to, size_t n, struct seam_error *err)
{
	int rc;

	n = n < r->left ? n : r->left;
	n = n < CHUNK ? n : CHUNK;
	rc = n ? tar_bytes(r, to, n, err) : 0;
	if (rc < 0)
		return rc;
	r->left -= n;
	return (int)n;
}
