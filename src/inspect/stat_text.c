// SPDX-License-Identifier: MIT
// stat_text.c: see stat.h: the counts as text.
#include "inspect/stat.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/shown.h"
#include "report/walk_result_text.h"

/* A line of perf report --stats; nothing where the count is 0. */
static void stat_type_text(const struct stat_counts *s, uint64_t type, uint64_t n, struct buf *out)
{
	const char *name = type <= UINT32_MAX ? seam_record_name((uint32_t)type) : NULL;
	char number[32];

	if (!n)
		return;
	snprintf(number, sizeof(number), "type %llu", (unsigned long long)type);
	shown_printf(out, "%20s events: %10llu  (%4.1f%%)\n", name ? name : number,
	             (unsigned long long)n, 100.0 * (double)n / (double)s->total);
}

/* Ascending. */
static int stat_key_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The keys of a map, ascending; the caller frees them. */
static uint64_t *stat_keys(const struct map *m)
{
	uint64_t *keys = malloc((m->n + 1) * sizeof(*keys)), value;
	size_t i = 0, n = 0;

	while (keys && map_next(m, &i, &keys[n], &value))
		n++;
	if (keys)
		qsort(keys, n, sizeof(*keys), stat_key_order);
	return keys;
}

/* The table of perf report --stats; types that have no name stand behind, by number. */
static void stat_types_text(struct stat_counts *s, struct buf *out)
{
	uint64_t *others = stat_keys(&s->other_types);

	buf_put_text(out, "\nAggregated stats:\n");
	shown_printf(out, "%20s events: %10llu\n", "TOTAL", (unsigned long long)s->total);
	for (unsigned i = 0; i < STAT_TYPES; i++)
		stat_type_text(s, i, s->types[i], out);
	for (size_t i = 0; others && i < s->other_types.n; i++) {
		uint64_t n = 0;

		map_get(&s->other_types, others[i], &n);
		stat_type_text(s, others[i], n, out);
	}
	free(others);
}

/* Samples by event. */
static void stat_events_text(const struct stat_counts *s, struct buf *out)
{
	const struct seam_events *events = seam_reader_events(s->reader);

	for (size_t i = 0; i < s->n_by_event; i++) {
		if (s->by_event[i])
			shown_printf(out, "%s stats:\n%20s events: %10llu\n",
			             seam_events_at(events, i)->name, "SAMPLE",
			             (unsigned long long)s->by_event[i]);
	}
}

/* Writes how much was lost, by CPU and by time. */
static void stat_losses_text(const struct stat_losses *l, struct buf *out)
{
	uint64_t *cpus = stat_keys(&l->by_cpu);
	size_t used = STAT_SLOTS;

	if (l->records)
		shown_printf(out, "lost: %llu in %llu records\n", (unsigned long long)l->lost,
		             (unsigned long long)l->records);
	if (l->skipped)
		shown_printf(out,
		             "  of them, %llu samples were skipped by the kernel: a BPF program "
		             "was running on their CPU\n",
		             (unsigned long long)l->skipped);
	if (l->told)
		shown_printf(out, "lost: %llu samples, by the kernel's counts (LOST_SAMPLES)%s\n",
		             (unsigned long long)l->told,
		             l->records ? ": the same losses, counted anew" : "");
	if (l->tasks)
		shown_printf(out,
		             "not followed: %llu tasks or more, of which there are no samples\n",
		             (unsigned long long)l->tasks);
	for (size_t i = 0; cpus && i < l->by_cpu.n; i++) {
		uint64_t n = 0;

		map_get(&l->by_cpu, cpus[i], &n);
		if (cpus[i] == UINT64_MAX)
			shown_printf(out, "  cpu unknown: %llu\n", (unsigned long long)n);
		else
			shown_printf(out, "  cpu %llu: %llu\n", (unsigned long long)cpus[i],
			             (unsigned long long)n);
	}
	free(cpus);
	while (used && !l->slots[used - 1])
		used--;
	for (size_t i = 0; i < used; i++) {
		uint64_t from = l->first_ns + i * l->width_ns;

		if (l->slots[i])
			shown_printf(out, "  from %llu.%06llu s on, %llu ms: %llu\n",
			             (unsigned long long)(from / 1000000000),
			             (unsigned long long)(from / 1000 % 1000000),
			             (unsigned long long)(l->width_ns / 1000000),
			             (unsigned long long)l->slots[i]);
	}
}

/* Writes what became of an interpreter's frames, where there was one. */
static void stat_runtimes_text(const struct stat_counts *s, struct buf *out)
{
	bool any = false;

	for (uint32_t e = RUNTIME_END_COMPLETE; e < RUNTIME_ENDS; e++) {
		if (!s->runtime_ends[e])
			continue;
		if (!any)
			buf_put_text(out, "functions of an interpreter in user stacks:\n");
		any = true;
		shown_printf(out, "%20s stacks: %10llu  %s\n",
		             runtime_end_name((enum runtime_end)e),
		             (unsigned long long)s->runtime_ends[e],
		             runtime_end_text((enum runtime_end)e));
	}
}

/* Writes all counts. Compressed records are counted by the reader, which does not hand them out. */
void stat_text(struct stat_counts *s, struct buf *out)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	seam_reader_info(s->reader, &info);
	s->types[SEAM_RECORD_COMPRESSED] += info.compressed_records - info.compressed2_records;
	s->types[SEAM_RECORD_COMPRESSED2] += info.compressed2_records;
	s->total += info.compressed_records;
	stat_types_text(s, out);
	stat_events_text(s, out);
	if (s->no_event)
		shown_printf(out, "samples of no known event: %llu\n",
		             (unsigned long long)s->no_event);
	stat_stitch_text(&s->stitch, out);
	walk_result_text(&s->unwound, out);
	stat_runtimes_text(s, out);
	if (s->losses.records || s->losses.told || s->losses.tasks)
		stat_losses_text(&s->losses, out);
	if (info.compressed_bytes)
		shown_printf(out, "compressed: %llu bytes from %llu, ratio %.1f\n",
		             (unsigned long long)info.compressed_bytes,
		             (unsigned long long)info.decompressed_bytes,
		             (double)info.decompressed_bytes / (double)info.compressed_bytes);
}
