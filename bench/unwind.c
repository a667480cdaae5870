// SPDX-License-Identifier: MIT
/*
 * unwind.c: making tables, and walking by them.
 *
 *	bench_unwind [FILE...]    .eh_frame of large objects (those that are there, or FILEs) into tables: MB/s, sizes
 *	bench_unwind PERF.DATA    every stack copy of a recording walked on one thread, beside copying the same bytes
 *
 * Of each figure the best of three runs, in CPU time of the one thread that works: other load does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seam/reader.h>

#include "image/image.h"
#include "pipeline/batch.h"
#include "pipeline/recording.h"
#include "pipeline/unwound.h"
#include "unwind/compile.h"

#define RUNS 3

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- tables ---- */

static bool bench_table(const char *path)
{
	struct compile_input in = { 0 };
	struct image_section eh;
	struct frametab table;
	struct buf blob = { 0 };
	struct image *image;
	double best = 1e9, checked = 1e9, text = 0;

	if (image_open(&image, path, NULL) < 0)
		return false;
	if (image_section(image, ".eh_frame", &eh) < 0 || !eh.bytes) {
		image_close(image);
		return false;
	}
	in.machine = image_machine(image);
	in.eh_frame = (struct compile_section){ eh.bytes, eh.n, eh.vaddr };
	for (size_t i = 0; i < image_segments(image) && in.n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (!s->executable)
			continue;
		in.ranges[in.n_ranges++] =
		        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
		text += (double)s->memory_size / 1e6;
	}
	for (int i = 0; i < RUNS; i++) {
		double start = now(), made;

		if (compile_table(&in, &blob, NULL) < 0)
			break;
		made = now();
		if (frametab_open(&table, blob.bytes, blob.n, NULL) < 0)
			break;
		best = made - start < best ? made - start : best;
		checked = now() - made < checked ? now() - made : checked;
	}
	printf("%-28.28s %7.2f MB .eh_frame  %7.1f ms  %6.1f MB/s  check %5.1f ms  %8.0f rows  %5u "
	       "rules  "
	       "table %5.2f MB = %6.0f bytes a MB of text, %.2f a row\n",
	       strrchr(path, '/') ? strrchr(path, '/') + 1 : path, (double)eh.n / 1e6, best * 1e3,
	       (double)eh.n / 1e6 / best, checked * 1e3, (double)table.header->n_rows,
	       table.header->n_rules, (double)blob.n / 1e6, (double)blob.n / text,
	       (double)blob.n / table.header->n_rows);
	buf_free(&blob);
	image_close(image);
	return true;
}

/* ---- walks ---- */

struct bench_walk {
	struct recording *rec;
	struct unwound *unwound;
	unsigned char *copy; /* where stacks are copied to; NULL: they are walked */
	uint64_t samples, bytes;
	struct batch batch;
};

static int bench_item(void *ctx, const struct batch_item *item)
{
	const struct seam_bytes *stack = &item->decoded.sample.stack_user;
	struct bench_walk *b = ctx;

	b->samples++;
	b->bytes += stack->n;
	if (b->copy)
		memcpy(b->copy, stack->bytes, stack->n);
	return 0;
}

static int bench_record(void *ctx, const struct seam_record *record)
{
	struct bench_walk *b = ctx;
	int r = record->type == SEAM_RECORD_SAMPLE ? batch_add(&b->batch, record) : 0;

	return r >= 0 && !record->stable ? batch_run(&b->batch) : r;
}

static void bench_once(struct bench_walk *b)
{
	b->samples = b->bytes = 0;
	b->batch = (struct batch){
		.rec = b->rec, .unwound = b->unwound, .each = bench_item, .ctx = b
	};
	if (recording_each(b->rec, bench_record, b, NULL) < 0 || batch_run(&b->batch) < 0)
		exit(1);
}

static double bench_pass(struct bench_walk *b)
{
	double best = 1e9;

	for (int i = 0; i < RUNS; i++) {
		double start = now();

		bench_once(b);
		best = now() - start < best ? now() - start : best;
	}
	return best;
}

static bool bench_walks(const char *path)
{
	struct unwound_opts o = { .sz = sizeof(o) };
	struct tables_opts t = { .sz = sizeof(t) };
	struct bench_walk b = { 0 };
	struct seam_reader *reader;
	double first, decode, copy, walk, frames;
	struct unwound *unwound;

	if (seam_reader_open(&reader, path, NULL, NULL) < 0)
		return false;
	if (recording_open(&b.rec, reader, NULL, NULL) < 0 || !unwound_opts_of(b.rec, &o) ||
	    tables_new(&o.tables, &t) < 0 || unwound_new(&unwound, &o) < 0)
		return false;
	b.unwound = unwound;
	first = now();
	bench_once(&b);
	first = now() - first;
	walk = bench_pass(&b);
	frames = (double)unwound_count(unwound)->frames / (RUNS + 1);
	b.unwound = NULL;
	decode = bench_pass(&b);
	b.copy = malloc(1 << 16);
	copy = bench_pass(&b);
	printf("%s: %.0f samples, %.1f frames and %.0f bytes each\n", path, (double)b.samples,
	       frames / (double)b.samples, (double)b.bytes / (double)b.samples);
	printf("  first pass, tables from the cache %8.1f ms\n", first * 1e3);
	printf("  decode and stitch                 %8.1f ns a sample\n",
	       decode / (double)b.samples * 1e9);
	printf("  copy the stack, beside            %8.1f ns a sample  %6.2f ns a frame\n",
	       (copy - decode) / (double)b.samples * 1e9, (copy - decode) / frames * 1e9);
	printf("  walk it, beside                   %8.1f ns a sample  %6.2f ns a frame  %.0f "
	       "samples/s\n",
	       (walk - decode) / (double)b.samples * 1e9, (walk - decode) / frames * 1e9,
	       (double)b.samples / (walk - decode));
	free(b.copy);
	unwound_free(unwound);
	tables_free(o.tables);
	recording_close(b.rec);
	seam_reader_close(reader);
	return true;
}

int main(int argc, char **argv)
{
	static const char *const objects[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
		"/usr/lib/gcc/x86_64-linux-gnu/14/cc1",
		"/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1",
		"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/lib/x86_64-linux-gnu/libclang-cpp.so.14",
	};

	for (int i = 1; i < argc; i++)
		if (!bench_walks(argv[i]) && !bench_table(argv[i]))
			fprintf(stderr,
			        "%s: neither an object with .eh_frame nor a recording with stack "
			        "copies\n",
			        argv[i]);
	for (size_t i = 0; argc < 2 && i < sizeof(objects) / sizeof(objects[0]); i++)
		bench_table(objects[i]);
	return 0;
}
