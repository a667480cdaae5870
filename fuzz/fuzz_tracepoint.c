// SPDX-License-Identifier: MIT
/*
 * fuzz_tracepoint.c: a format and raw data that nobody checked, to libtraceevent through vet.c.
 *
 * Input: u8 control (bit 0: big-endian; bit 1: the rest is a whole TRACING_DATA; bit 2: longs of 4
 * bytes), u8 n, n bytes of raw data, then the text of a format, for which a head is made here. The
 * tracepoint's number is 77. Checks besides crashes: a text or a reason, never both or neither; the
 * second time the same. tests/unit/tracepoint_corpus.c runs the corpus as an ordinary test.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "tracepoint/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_put(struct buf *out, uint64_t v, size_t width, bool big)
{
	for (size_t i = 0; i < width; i++) {
		size_t byte = big ? width - 1 - i : i;
		unsigned char b = byte < 8 ? (unsigned char)(v >> byte * 8) : 0;

		buf_put(out, &b, 1);
	}
}

/* TRACING_DATA with one format. */
static void fuzz_head(struct buf *out, uint8_t control, const void *text, size_t n)
{
	bool big = control & 1;

	buf_put(out, "\x17\x08\x44tracing0.6", 14);
	fuzz_put(out, big, 1, big);
	fuzz_put(out, control & 4 ? 4 : 8, 1, big);
	fuzz_put(out, 4096, 4, big);
	buf_put(out, "header_page", 12);
	fuzz_put(out, 0, 8, big);
	buf_put(out, "header_event", 13);
	fuzz_put(out, 0, 8, big);
	fuzz_put(out, 0, 4, big); /* of ftrace */
	fuzz_put(out, 1, 4, big);
	buf_put(out, "fuzz", 5);
	fuzz_put(out, 1, 4, big);
	fuzz_put(out, n, 8, big);
	buf_put(out, text, n);
	fuzz_put(out, 0, 4, big); /* kallsyms */
	fuzz_put(out, 12, 4, big);
	buf_put(out, "0x10 : \"abc\"", 12);
	fuzz_put(out, 0, 8, big); /* command lines */
}

static const char *fuzz_name(void *ctx, uint64_t addr, uint64_t *start)
{
	*start = addr & ~0xfffULL;
	return addr & 1 ? NULL : "function";
}

static void fuzz_text(const struct buf *head, const void *raw, size_t n)
{
	const struct tracepoint_names names = { .find = fuzz_name };
	struct buf out = { 0 }, again = { 0 };
	struct tracepoints *t;
	const char *reason;
	int r;

	if (tracepoint_new(&t, head->bytes, head->n, &names, NULL) < 0)
		abort();
	r = tracepoint_text(t, 77, 0, raw, n, &out, &reason);
	if (r < 0 || (r == 1) != !reason || (!r && out.n))
		abort();
	if (tracepoint_text(t, 77, 0, raw, n, &again, &reason) != r || out.n != again.n ||
	    (out.n && memcmp(out.bytes, again.bytes, out.n)))
		abort();
	tracepoint_free(t);
	buf_free(&out);
	buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, false);
	uint8_t control = cursor_u8(&c);
	size_t n = cursor_u8(&c);
	const unsigned char *raw = cursor_bytes(&c, n);
	struct buf head = { 0 };
	unsigned char *exact;

	if (!raw)
		return 0;
	/* A block of exactly its size, so that a read outside of it is seen. */
	exact = malloc(n ? n : 1);
	if (!exact)
		abort();
	memcpy(exact, raw, n);
	if (control & 2)
		buf_put(&head, c.at, cursor_left(&c));
	else
		fuzz_head(&head, control, c.at, cursor_left(&c));
	fuzz_text(&head, exact, n);
	buf_free(&head);
	free(exact);
	return 0;
}
