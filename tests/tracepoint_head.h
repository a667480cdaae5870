/* SPDX-License-Identifier: MIT */
/* tracepoint_head.h: TRACING_DATA around formats, in either byte order. For tests only. */
#ifndef SEAM_TESTS_TRACEPOINT_HEAD_H
#define SEAM_TESTS_TRACEPOINT_HEAD_H

#include <string.h>

#include "base/buf.h"

static inline void head_put(struct buf *out, uint64_t v, size_t width, bool big)
{
	for (size_t i = 0; i < width; i++)
		buf_put(out,
		        &(unsigned char){ (unsigned char)(v >> 8 * (big ? width - 1 - i : i)) }, 1);
}

/* One system with these formats, and printk_formats. */
static inline void head_of(struct buf *out, bool big, unsigned long_size, const char *const *texts,
                           size_t n, const char *printk)
{
	buf_put(out, "\x17\x08\x44tracing0.6", 14);
	head_put(out, big, 1, big);
	head_put(out, long_size, 1, big);
	head_put(out, 4096, 4, big);
	buf_put(out, "header_page", 12);
	head_put(out, 5, 8, big);
	buf_put_text(out, "page\n");
	buf_put(out, "header_event", 13);
	head_put(out, 0, 8, big);
	head_put(out, 0, 4, big);
	head_put(out, 1, 4, big);
	buf_put(out, "test", 5);
	head_put(out, n, 4, big);
	for (size_t i = 0; i < n; i++) {
		head_put(out, strlen(texts[i]), 8, big);
		buf_put_text(out, texts[i]);
	}
	head_put(out, 0, 4, big);
	head_put(out, strlen(printk), 4, big);
	buf_put_text(out, printk);
	head_put(out, 0, 8, big);
}

#endif
