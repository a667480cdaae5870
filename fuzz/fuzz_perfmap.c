// SPDX-License-Identifier: MIT
// fuzz_perfmap.c: any bytes as a JIT's map of names (/tmp/perf-PID.map). Checks besides crashes:
// every name that is found holds the address, and its text ends. scripts/fuzz runs it,
// tests/unit/symbol_corpus.c the corpus as an ordinary test.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at both ends of every symbol and of every piece. */
static void fuzz_table(struct table *table)
{
	if (table_seal(table) < 0)
		abort();
	for (size_t i = 1; i < table->n_pieces; i++)
		if (table->pieces[i - 1].start >= table->pieces[i].start)
			abort();
	for (size_t i = 0; i < 4 * table->n; i++) {
		const struct table_symbol *s = &table->symbols[i / 4];
		struct table_found found;
		const uint64_t resolver[] = { s->start, s->start - 1, s->end, s->end - 1 };
		uint64_t addr = resolver[i % 4];

		if (!table_find(table, addr, &found))
			continue;
		if (addr < found.start || addr >= found.end)
			abort();
		if (strlen(table_name(table, found.name)) >= table->names.n)
			abort();
	}
	table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_object object = { 0 };
	struct buf text = { 0 };

	buf_put(&text, data, size);
	if (perfmap_text(&object, &text) < 0)
		abort();
	buf_free(&text);
	fuzz_table(&object.table);
	return 0;
}
