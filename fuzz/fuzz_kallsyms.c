// SPDX-License-Identifier: MIT
// fuzz_kallsyms.c: any bytes as /proc/kallsyms, of the kernel and of a module. Checks besides
// crashes: every name that is found holds the address. scripts/fuzz runs it,
// tests/unit/symbol_corpus.c the corpus as an ordinary test.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_module(const struct kallsyms *k, const char *module)
{
	struct table table = { 0 };
	uint64_t text;

	if (kallsyms_table(k, module, &table, &text) < 0 || table_seal(&table) < 0)
		abort();
	for (size_t i = 0; i < 3 * table.n; i++) {
		const struct table_symbol *s = &table.symbols[i / 3];
		struct table_found found;
		uint64_t addr = i % 3 == 0 ? s->start : i % 3 == 1 ? s->end - 1 : s->end;

		if (!table_find(&table, addr, &found))
			continue;
		if (addr < found.start || addr >= found.end)
			abort();
		if (strlen(table_name(&table, found.name)) >= table.names.n)
			abort();
	}
	table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms k = { 0 };

	buf_put(&k.text, data, size);
	fuzz_module(&k, NULL);
	fuzz_module(&k, "mod");
	kallsyms_free(&k);
	return 0;
}
