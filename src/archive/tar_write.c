// SPDX-License-Identifier: MIT
/*
 * tar_write.c: writes a tar inside zstd. Owners and times are left out: equal files give equal
 * bytes. Names are those that unpack.c takes, so whatever is written can be read again.
 *
 * The stream is one zstd frame with a checksum, closed by tar_finish: an archive without its end is
 * noticed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "archive/block.h"
#include "archive/tar.h"

#define CHUNK (1u << 17)
/* Much faster than the disk, and not much larger than the higher levels. */
#define LEVEL 3
/* Deeper paths would cost the reader a descriptor walk each. */
#define DEPTH_MAX 64u

struct tar_writer {
	int fd;
	ZSTD_CCtx *context;
	unsigned char in[CHUNK], out[CHUNK];
};

int tar_create(struct tar_writer **ret, int fd)
{
	struct tar_writer *w = calloc(1, sizeof(*w));

	if (w)
		w->context = ZSTD_createCCtx();
	if (!w || !w->context) {
		tar_writer_free(w);
		return -ENOMEM;
	}
	w->fd = fd;
	ZSTD_CCtx_setParameter(w->context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->context, ZSTD_c_checksumFlag, 1);
	*ret = w;
	return 0;
}

void tar_writer_free(struct tar_writer *w)
{
	if (w)
		ZSTD_freeCCtx(w->context);
	free(w);
}

/* Reading and writing share this rule, so that every archive that is written can be unpacked. A
 * name is relative, has no "..", no empty part and no control character. */
bool tar_name_is_plain(const char *name)
{
	unsigned depth = 0;

	if (strlen(name) >= TAR_NAME_MAX)
		return false;
	for (const char *at = name;; at++) {
		size_t n = strcspn(at, "/");

		if (!n || n > 255 || ++depth > DEPTH_MAX || (n == 1 && at[0] == '.') ||
		    (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)at[i] < ' ' || at[i] == 127)
				return false;
		at += n;
		if (!*at)
			return true;
	}
}

/* write(2) until all is written. */
static int tar_write(int fd, const unsigned char *bytes, size_t n)
{
	while (n) {
		ssize_t put = write(fd, bytes, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		bytes += put;
		n -= (size_t)put;
	}
	return 0;
}

/* Gives bytes to the compressor, and what it gives back to the file. end: closes the frame. */
static int tar_compress(struct tar_writer *w, const void *bytes, size_t n, bool end)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left = 1;
	int r = 0;

	while (r >= 0 && (in.pos < in.size || (end && left))) {
		ZSTD_outBuffer out = { w->out, sizeof(w->out), 0 };

		left = ZSTD_compressStream2(w->context, &out, &in,
		                            end ? ZSTD_e_end : ZSTD_e_continue);
		r = ZSTD_isError(left) ? -ENOMEM : tar_write(w->fd, w->out, out.pos);
	}
	return r;
}

/* Zeros up to a whole block. */
static int tar_pad(struct tar_writer *w, uint64_t size)
{
	static const unsigned char zeros[BLOCK];

	return size % BLOCK ? tar_compress(w, zeros, BLOCK - size % BLOCK, false) : 0;
}

/* Writes the 512 bytes of an entry's header. Owner, group and time are 0, so that the same files
 * make the same archive. */
static int tar_put_block(struct tar_writer *w, const char *name, uint64_t size, char type)
{
	char block[BLOCK] = { 0 }, sum_text[16];
	unsigned sum = 0;

	memcpy(block, name, strnlen(name, BLOCK_NAME_SIZE));
	memcpy(block + BLOCK_MODE, "0000644", 8);
	memcpy(block + BLOCK_UID, "0000000", 8);
	memcpy(block + BLOCK_GID, "0000000", 8);
	snprintf(block + BLOCK_SIZE, BLOCK_SIZE_SIZE, "%011llo", (unsigned long long)size);
	memcpy(block + BLOCK_MTIME, "00000000000", 12);
	memset(block + BLOCK_SUM, ' ', BLOCK_SUM_SIZE);
	block[BLOCK_TYPE] = type;
	memcpy(block + BLOCK_MAGIC, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(sum_text, sizeof(sum_text), "%06o", sum & 0777777);
	memcpy(block + BLOCK_SUM, sum_text, 7);
	return tar_compress(w, block, BLOCK, false);
}

/* A pax record says its own length, digits and all: "30 path=...\n". Its length may grow by a digit
 * when it counts itself, so it is computed until it stays the same. */
static int tar_put_long_name(struct tar_writer *w, const char *name)
{
	char record[TAR_NAME_MAX + 32];
	size_t rest = strlen(" path=\n") + strlen(name), n = rest + 1;
	int r;

	for (size_t was = 0; n != was;) {
		was = n;
		n = rest + (size_t)snprintf(NULL, 0, "%zu", was);
	}
	snprintf(record, sizeof(record), "%zu path=%s\n", n, name);
	r = tar_put_block(w, "pax", n, 'x');
	if (r >= 0)
		r = tar_compress(w, record, n, false);
	return r < 0 ? r : tar_pad(w, n);
}

/* The header of a plain file. -EINVAL: no plain name; -EFBIG: the field for the size has 11 octal
 * digits. */
static int tar_put_head(struct tar_writer *w, const char *name, uint64_t size)
{
	int r = 0;

	if (!tar_name_is_plain(name))
		return -EINVAL;
	if (size > TAR_FILE_MAX)
		return -EFBIG;
	if (strlen(name) > BLOCK_NAME_SIZE)
		r = tar_put_long_name(w, name);
	return r < 0 ? r : tar_put_block(w, name, size, '0');
}

int tar_put(struct tar_writer *w, const char *name, const void *bytes, size_t n)
{
	int r = tar_put_head(w, name, n);

	if (r >= 0)
		r = tar_compress(w, bytes, n, false);
	return r < 0 ? r : tar_pad(w, n);
}

/* Writes exactly as many bytes as the header says, also if the file grows meanwhile. */
int tar_put_file(struct tar_writer *w, const char *name, int fd)
{
	uint64_t left;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	left = (uint64_t)st.st_size;
	r = tar_put_head(w, name, left);
	while (r >= 0 && left) {
		ssize_t n = read(fd, w->in, left < CHUNK ? left : CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		/* The file became shorter than its header says: the archive is of no use.
		 * -ESTALE. */
		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		r = tar_compress(w, w->in, (size_t)n, false);
		left -= (uint64_t)n;
	}
	return r < 0 ? r : tar_pad(w, (uint64_t)st.st_size);
}

/* Two blocks of zeros end a tar. */
int tar_finish(struct tar_writer *w)
{
	static const unsigned char end[2 * BLOCK];

	return tar_compress(w, end, sizeof(end), true);
}
