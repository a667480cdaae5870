// SPDX-License-Identifier: MIT
// fuzz_jitdump.c: any bytes as a jitdump. Checks besides crashes: what is found of lines is a line
// of a file, inside the code, the same twice, and known of code alone or of code by its number,
// never both. scripts/fuzz runs it, tests/unit/symbol_corpus.c the corpus as an ordinary test.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/jitdump.h"
#include "symbol/jitlines.h"
#include "symbol/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_row(const struct jitlines *l, int found, uint32_t row)
{
	if (found < 0)
		return;
	if (row >= jitlines_rows(l) || !jitlines_row(l, row).line || !*jitlines_row(l, row).file)
		abort();
}

static void fuzz_code(const struct jitlines *l, const struct jitlines *again,
                      const struct jitdump_code *code)
{
	const uint64_t size = code->told.size, offsets[] = { 0, 1, size / 2, size - 1, size };
	uint32_t row = 0, row_again = 0;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		int in = jitlines_find_in(l, code->told.number, offsets[i], &row), at;

		fuzz_row(l, in, row);
		if (in >= 0 && (offsets[i] >= size || !code->ambiguous))
			abort();
		at = jitlines_find(l, code->told.start + offsets[i], &row);
		fuzz_row(l, at, row);
		if (at >= 0 && offsets[i] < size && code->ambiguous)
			abort();
		if (at != jitlines_find(again, code->told.start + offsets[i], &row_again) ||
		    (at >= 0 && row != row_again))
			abort();
	}
}

/* What is told of unwinding lies in the file. */
static void fuzz_frames(const struct jitdump *d, const struct jitdump_code *code)
{
	if (code->frames && (code->frames < d->bytes || code->frames > d->bytes + d->n ||
	                     code->n_frames > (size_t)(d->bytes + d->n - code->frames)))
		abort();
}

static void fuzz_lines(const uint8_t *data, size_t size)
{
	struct jitlines *l, *again;
	struct jitdump d;

	if (jitlines_of(&l, data, size) < 0)
		return;
	if (jitlines_of(&again, data, size) < 0 || jitdump_read(&d, data, size) < 0)
		abort();
	for (size_t i = 0; i < d.codes.n / sizeof(struct jitdump_code); i++) {
		fuzz_code(l, again, (const struct jitdump_code *)(const void *)d.codes.bytes + i);
		fuzz_frames(&d, (const struct jitdump_code *)(const void *)d.codes.bytes + i);
	}
	jitdump_free(&d);
	jitlines_free(again);
	jitlines_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_object object = { 0 };
	int r = jitdump_take(&object, data, size);

	if (r >= 0 && table_seal(&object.table) < 0)
		abort();
	table_free(&object.table);
	fuzz_lines(data, size);
	return 0;
}
