// SPDX-License-Identifier: MIT
// kernel_names.c: see kernel_names.h.
#include "samples/kernel_names.h"

#include <string.h>

#include "base/cpus.h"
#include "base/cursor.h"
#include "perfdata/feature.h"
#include "tables/kernel_disk.h"
#include "abi/record.h"

/* Whether any event counts in the kernel: else no kernel address is in the samples. */
bool kernel_names_wanted(const struct recording *rec)
{
	for (size_t i = 0; i < seam_events_count(rec->events); i++)
		if (!(seam_events_at(rec->events, i)->attr.flags & SEAM_ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

#define KERNEL "[kernel.kallsyms]"

/* The kernel's build-id, as the header says it; size 0: it does not. */
static void kernel_header_kernel(const struct recording *rec, struct image_build_id *ret)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct feature_build_id id;
	struct seam_bytes bytes;
	struct cursor c;

	*ret = (struct image_build_id){ 0 };
	if (seam_reader_info(rec->reader, &info) < 0 ||
	    seam_reader_feature(rec->reader, SEAM_FEATURE_BUILD_ID, &bytes) <= 0)
		return;
	c = cursor_of(bytes.bytes, bytes.n, info.swapped);
	while (!ret->size && feature_next_build_id(&c, &id) > 0) {
		if (strcmp(id.filename, KERNEL) || id.size > sizeof(ret->bytes))
			continue;
		ret->size = (uint8_t)id.size;
		memcpy(ret->bytes, id.build_id, id.size);
	}
}

/* Begins only if the names will be used: some event counts in the kernel, there is another CPU for
 * the thread, and the user gave no list. */
bool kernel_names_begin(struct recording *rec, const struct symbol_opts *symbols,
                        const struct seam_record *record)
{
	struct kernel_storage keep = symbols ? symbols->keep : (struct kernel_storage){ 0 };
	struct image_build_id kernel = { 0 };
	struct seam_decoded d;

	if ((record->misc & SEAM_MISC_CPUMODE_MASK) != SEAM_MISC_KERNEL ||
	    record_decode(rec->events, record, &d, NULL) < 0 ||
	    strncmp(d.mmap.filename, KERNEL, strlen(KERNEL)))
		return false;
	if (cpus_usable() == 1 || (symbols && symbols->kallsyms) || !kernel_names_wanted(rec))
		return true;
	if (!keep.get)
		keep = kernel_disk();
	kernel_header_kernel(rec, &kernel);
	if (d.mmap.has_build_id) {
		kernel.size = d.mmap.build_id_size;
		memcpy(kernel.bytes, d.mmap.build_id, sizeof(kernel.bytes));
	}
	if (kernel.size) /* that there is no memory says who needs it */
		kernel_reader_start(&rec->running, &kernel, &keep);
	return true;
}
