// SPDX-License-Identifier: MIT
// fuzz_frametab.c: bytes as a table from a cache; once as they are, once with magic, size and
// checksum made right.
#include "unwind_check.h"

static void open_table(const uint8_t *data, size_t size, const void *blob)
{
	struct seam_error err = { 0 };
	struct frametab t;

	if (frametab_open(&t, blob, size, &err) >= 0)
		check_table(&t, data, size);
	else
		check_demand(err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frametab_header h;
	uint8_t *blob = aligned_alloc(8, (size + 15) & ~(size_t)7);

	check_demand(blob);
	if (size)
		memcpy(blob, data, size);
	open_table(data, size, blob);
	if (size >= sizeof(h)) {
		memcpy(&h, blob, sizeof(h));
		h.magic = FRAMETAB_MAGIC;
		h.version = FRAMETAB_VERSION;
		h.size = (uint32_t)size;
		h.checksum = map_hash_bytes(blob + sizeof(h), size - sizeof(h), h.text_start);
		memcpy(blob, &h, sizeof(h));
		open_table(data, size, blob);
	}
	free(blob);
	return 0;
}
