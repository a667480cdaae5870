/* SPDX-License-Identifier: MIT */
/*
 * input.h: where the bytes come from: a mapped file, the caller's memory, or a stream.
 *
 * A regular file is mapped once, whole, at the size it has when it is opened: `bytes` and `size` do
 * not change. When somebody cuts the file while it is mapped, touching the pages behind its new end
 * raises SIGBUS; input_shrunk asks for that (the reader does so for every 16 MiB it advances and
 * stops before the cut), which makes the window small but cannot close it. Files that
 * cannot be mapped are read as streams.
 */
#ifndef SEAM_PERFDATA_INPUT_H
#define SEAM_PERFDATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/error.h>

struct input {
	const unsigned char *bytes; /* NULL: a stream */
	uint64_t size;              /* of bytes */
	int fd;                     /* -1: none */
	bool own_fd, mapped;
	/* of a file: its last write when it was opened, since the epoch; else 0 */
	uint64_t written_ns;
};

int input_open(struct input *ret, const char *path, struct seam_error *err);
/* fd stays the caller's. */
int input_open_fd(struct input *ret, int fd, const char *name, struct seam_error *err);
void input_close(struct input *in);
/* As read(2), but never interrupted: bytes read, 0 at the end, or -errno. */
ssize_t input_read(const struct input *in, void *bytes, size_t n);
/* True when a mapped file is now shorter than size; *now is its length. */
bool input_shrunk(const struct input *in, uint64_t *now);

/* n bytes of a mapped input are to be read next: maps them at once, which is cheaper than page by
 * page. */
void input_populate(const unsigned char *bytes, size_t n);

#endif
