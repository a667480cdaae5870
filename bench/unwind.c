// SPDX-License-Identifier: MIT
/*
 * unwind.c: making tables, and walking by them.
 *
 *	bench_unwind [FILE...]    .eh_frame of large objects (those that are there, or FILEs) into
 *	                          tables: MB/s, sizes
 *	bench_unwind PERF.DATA    every stack copy of a recording walked on one thread, beside
 *	                          copying the same bytes
 *	    -t THREADS            tables by that many threads too, in turn with one (2)
 *	    -n ROUNDS             of each figure the best of so many (5)
 *	    -j MB                 one object of so many MB of .eh_frame, made of these, again and
 *	                          again; nothing else
 *
 * In CPU time of all threads that work, where real time is not said: other load does not count.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seam/reader.h>

#include "image/image.h"
#include "samples/samples.h"
#include "samples/recording.h"
#include "samples/unwound.h"
#include "unwind/compile.h"

#define RUNS 3

static unsigned threads = 2, rounds = 5;

static double now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void)
{
	return now_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- tables ---- */

struct made {
	double cpu, real;
};

static void bench_least(struct made *best, double cpu, double real)
{
	best->cpu = cpu < best->cpu ? cpu : best->cpu;
	best->real = real < best->real ? real : best->real;
}

/* One table, by so many threads. False: there is none. */
static bool bench_make(struct compile_input *in, unsigned n, struct buf *blob, struct made *best)
{
	double cpu = now(), real = now_of(CLOCK_MONOTONIC);

	in->threads = n;
	buf_free(blob);
	if (compile_table(in, blob, NULL) < 0)
		return false;
	bench_least(best, now() - cpu, now_of(CLOCK_MONOTONIC) - real);
	return true;
}

static void bench_tables(const char *name, struct compile_input *in)
{
	struct made one = { 1e9, 1e9 }, all = { 1e9, 1e9 }, check = { 1e9, 1e9 };
	double mb = (double)in->eh_frame.n / 1e6, text = 0;
	struct buf blob = { 0 }, same = { 0 };
	struct frametab table;

	for (size_t i = 0; i < in->n_ranges; i++)
		text += (double)(in->ranges[i].end - in->ranges[i].start) / 1e6;
	for (unsigned i = 0; i < rounds; i++) {
		double start;

		if (!bench_make(in, 1, &blob, &one) || !bench_make(in, threads, &same, &all))
			return;
		start = now();
		if (frametab_open(&table, blob.bytes, blob.n, NULL) < 0)
			return;
		bench_least(&check, now() - start, 0);
	}
	printf("%-28.28s %7.2f MB .eh_frame  %7.1f ms  %6.1f MB/s  check %5.1f ms  %8.0f rows  %5u "
	       "rules  table %5.2f MB = %6.0f bytes a MB of text, %.2f a row\n",
	       name, mb, one.cpu * 1e3, mb / one.cpu, check.cpu * 1e3, (double)table.header->n_rows,
	       table.header->n_rules, (double)blob.n / 1e6, (double)blob.n / text,
	       (double)blob.n / table.header->n_rows);
	printf("%*s real: 1 thread %7.1f ms  %6.1f MB/s; %2u threads %7.1f ms  %6.1f MB/s  %.2f "
	       "times; "
	       "CPU %7.1f ms; %s table\n",
	       28, "", one.real * 1e3, mb / one.real, threads, all.real * 1e3, mb / all.real,
	       one.real / all.real, all.cpu * 1e3,
	       blob.n == same.n && !memcmp(blob.bytes, same.bytes, blob.n) ? "the same"
	                                                                   : "ANOTHER");
	buf_free(&blob);
	buf_free(&same);
}

/* What an image has; false: nothing. */
static bool bench_input(struct image *image, struct compile_input *in)
{
	struct image_section eh;

	if (image_section(image, ".eh_frame", &eh) < 0 || !eh.bytes)
		return false;
	*in = (struct compile_input){ .machine = image_machine(image),
		                      .eh_frame = { eh.bytes, eh.n, eh.vaddr } };
	for (size_t i = 0; i < image_segments(image) && in->n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (s->executable)
			in->ranges[in->n_ranges++] =
			        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
	}
	return in->n_ranges > 0;
}

static bool bench_table(const char *path)
{
	struct compile_input in;
	struct image *image;
	bool ok;

	if (image_open(&image, path, NULL) < 0)
		return false;
	ok = bench_input(image, &in);
	if (ok)
		bench_tables(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, &in);
	image_close(image);
	return ok;
}

/* ---- one large object of several ---- */

#define JOINED_AT 0x10000u

/* Puts a section behind those before it, its functions behind theirs: pointers are relative, of 32
 * bits (Debian's are). */
static void bench_join(struct buf *eh, uint64_t *text, const struct compile_input *in)
{
	uint64_t low = in->ranges[0].start, high = in->ranges[in->n_ranges - 1].end;
	size_t at = eh->n, end = at + in->eh_frame.n;
	uint32_t length, id, start;
	uint64_t shift;

	buf_put(eh, in->eh_frame.bytes, in->eh_frame.n);
	shift = (*text - low) - (JOINED_AT + at - in->eh_frame.address);
	for (; !eh->failed && end - at >= 12; at += 4 + length) {
		memcpy(&length, eh->bytes + at, 4);
		if (length > end - at - 4)
			break;
		memcpy(&id, eh->bytes + at + 4, 4);
		memcpy(&start, eh->bytes + at + 8, 4);
		start += (uint32_t)shift;
		if (length && id)
			memcpy(eh->bytes + at + 8, &start, 4);
	}
	eh->n -= eh->n & 3;
	*text += (high - low + 0xfff) & ~(uint64_t)0xfff;
}

static void bench_joined(char **paths, size_t n_paths, double mb)
{
	uint64_t text = JOINED_AT + ((uint64_t)(mb * 2e6) & ~(uint64_t)0xfff), text_start = text;
	struct compile_input in, all = { .n_ranges = 1 };
	struct buf eh = { 0 };
	struct image *image;
	char name[64];
	size_t had = 1;

	for (size_t i = 0; (double)eh.n < mb * 1e6 && !eh.failed && had; i++) {
		had = i % n_paths ? had : 0;
		if (image_open(&image, paths[i % n_paths], NULL) < 0)
			continue;
		if (bench_input(image, &in) && in.machine == FRAMETAB_X86_64) {
			bench_join(&eh, &text, &in);
			had++;
		} else {
			had += had > 0;
		}
		image_close(image);
	}
	snprintf(name, sizeof(name), "joined, text %.0f MB", (double)(text - text_start) / 1e6);
	all.machine = FRAMETAB_X86_64;
	all.eh_frame = (struct compile_section){ eh.bytes, eh.n, JOINED_AT };
	all.ranges[0] = (struct compile_range){ text_start, text };
	bench_tables(name, &all);
	buf_free(&eh);
}

/* ---- walks ---- */

struct bench_walk {
	struct recording *rec;
	struct tables *tables;
	bool walks;
	unsigned char *copy; /* where stacks are copied to; NULL: they are walked, or left alone */
	uint64_t samples, bytes, frames;
};

static int bench_sample(void *ctx, const struct sample *sample, struct buf *out)
{
	const struct seam_bytes *stack = &sample->decoded->sample.stack_user;
	struct bench_walk *b = ctx;

	(void)out;
	b->samples++;
	b->bytes += stack->n;
	b->frames += sample->walk ? sample->walk->n : 0;
	if (b->copy)
		memcpy(b->copy, stack->bytes, stack->n);
	return 0;
}

static void bench_once(struct bench_walk *b)
{
	const struct samples_opts opts = { .sz = sizeof(opts),
		                           .needs =
		                                   SAMPLES_RECORD | (b->walks ? SAMPLES_COPIES : 0),
		                           .threads = 1,
		                           .kept = &b->tables };
	const struct samples_consumer consumer = { .sample = bench_sample, .ctx = b };

	b->samples = b->bytes = b->frames = 0;
	if (samples_each(b->rec, &opts, &consumer, NULL) < 0)
		exit(1);
	tables_free(b->tables);
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
	struct bench_walk b = { 0 };
	struct seam_reader *reader;
	double first, decode, copy, walk, frames;

	if (seam_reader_open(&reader, path, NULL, NULL) < 0)
		return false;
	if (recording_open(&b.rec, reader, NULL, NULL) < 0 || !unwound_opts_of(b.rec, &o))
		return false;
	b.walks = true;
	first = now();
	bench_once(&b);
	first = now() - first;
	walk = bench_pass(&b);
	frames = (double)b.frames;
	b.walks = false;
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
	char **paths = (char **)(uintptr_t)objects;
	size_t n = sizeof(objects) / sizeof(objects[0]);
	double joined = 0;

	for (int option; (option = getopt(argc, argv, "t:n:j:")) != -1;) {
		if (option == 't')
			threads = (unsigned)atoi(optarg);
		else if (option == 'n')
			rounds = (unsigned)atoi(optarg);
		else if (option == 'j')
			joined = atof(optarg);
		else
			return 2;
	}
	if (optind < argc) {
		paths = argv + optind;
		n = (size_t)(argc - optind);
	}
	if (joined > 0)
		bench_joined(paths, n, joined);
	for (size_t i = 0; joined <= 0 && i < n; i++)
		if (!bench_walks(paths[i]) && !bench_table(paths[i]) && optind < argc)
			fprintf(stderr,
			        "%s: neither an object with .eh_frame nor a recording with stack "
			        "copies\n",
			        paths[i]);
	return 0;
}
