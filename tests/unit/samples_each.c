// SPDX-License-Identifier: MIT
/*
 * samples_each.c: the one way in which samples are read, on a small recording that is written here:
 * order, filters, threads, records on demand, a damaged and a compressed file, a stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <seam/writer.h>

#include "abi/encode.h"
#include "samples/sample_index.h"
#include "samples/samples.h"
#include "samples/stream_items.h"

#define TYPE                                                                           \
	(SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CALLCHAIN | \
	 SEAM_SAMPLE_ADDR | SEAM_SAMPLE_CPU | SEAM_SAMPLE_PERIOD)
#define SAMPLES 6000u
#define CPUS 3u
#define FIRST 1000000u

/* What sample i of the file is. CPUs are written in turns of 50, so that time goes back between
 * them; every fifth hit elsewhere than where its callchain begins. */
static uint32_t cpu_of(uint32_t i)
{
	return i / 50 % CPUS;
}

static uint64_t time_of(uint32_t i)
{
	return FIRST + (i / (50 * CPUS) * 50 + i % 50) * 10 + cpu_of(i);
}

static uint64_t ip_of(uint32_t i)
{
	return 0x401000 + i % 7 * 16 + (i % 5 == 0);
}

static void put_sample(struct buf *out, const struct seam_attr *attr, uint32_t i)
{
	uint64_t chain[] = { SEAM_CONTEXT_USER, 0x401000 + i % 7 * 16, 0x402000 + i % 3 };
	const struct seam_sample s = { .ip = ip_of(i),
		                       .addr = 0x9000 + i,
		                       .period = 100 + i % 11,
		                       .callchain = encode_words(chain, 3),
		                       .id = { .has = TYPE,
		                               .pid = 70,
		                               .tid = 70 + i % 4,
		                               .time_ns = time_of(i),
		                               .cpu = cpu_of(i) } };

	assert_int_equal(encode_sample(out, attr, SEAM_MISC_USER, &s), 0);
}

static int write_bytes(const struct seam_attr *attr, const struct buf *bytes, bool compressed,
                       bool pipe)
{
	struct seam_writer_opts how = { .sz = sizeof(how),
		                        .pipe = pipe,
		                        .compress_level = compressed };
	int fd = memfd_create("samples", MFD_CLOEXEC);
	struct seam_events *events;
	struct seam_writer *writer;
	uint64_t id = 1;
	char path[64];

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(seam_events_new(&events), 0);
	assert_true(seam_events_add(events, attr, "event", &id, 1, NULL) >= 0);
	assert_int_equal(seam_writer_open(&writer, path, events, &how, NULL), 0);
	assert_int_equal(seam_writer_write(writer, bytes->bytes, bytes->n, NULL), 0);
	assert_int_equal(seam_writer_close(writer, NULL), 0);
	seam_events_free(events);
	return fd;
}

static int write_file(bool compressed, bool pipe)
{
	const struct seam_attr attr = { .sample_type = TYPE, .type = 1, .sample_period = 1 };
	struct buf out = { 0 };
	int fd;

	for (uint32_t i = 0; i < SAMPLES; i++)
		put_sample(&out, &attr, i);
	fd = write_bytes(&attr, &out, compressed, pipe);
	buf_free(&out);
	return fd;
}

struct made {
	int fd;
	struct seam_reader *reader;
	struct recording *rec;
};

static struct made open_file(bool compressed)
{
	struct made m = { .fd = write_file(compressed, false) };
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", m.fd);
	assert_int_equal(seam_reader_open(&m.reader, path, NULL, NULL), 0);
	assert_int_equal(recording_open(&m.rec, m.reader, NULL, NULL), 0);
	m.rec->stable = !compressed; /* a small file's bytes last anyhow */
	return m;
}

static void close_file(struct made *m)
{
	recording_close(m->rec);
	seam_reader_close(m->reader);
	close(m->fd);
}

/* ---- what was given ---- */

struct seen {
	atomic_uint n, decoded, sum;
	uint32_t threads;
	bool by_time;
	uint64_t last_time, last_index;
	struct sample_counts counts;
};

static int seen_start(void *ctx, void **ret)
{
	((struct seen *)ctx)->threads++;
	*ret = ctx;
	return 0;
}

/* Is it sample i of the file, whole? */
static void expect_sample(const struct sample *s, uint32_t i)
{
	const struct callchain chain = sample_callchain(s);

	assert_int_equal(s->id.time_ns, time_of(i));
	assert_int_equal(s->id.cpu, cpu_of(i));
	assert_int_equal(s->id.tid, 70 + i % 4);
	assert_int_equal(s->period, 100 + i % 11);
	assert_int_equal(s->state, SEAM_STITCH_IMMEDIATE);
	assert_int_equal(chain.ip, ip_of(i));
	assert_int_equal(chain.kernel.n, 0);
	assert_int_equal(chain.user.n, 2);
	assert_int_equal(seam_u64s_at(&chain.user, 0), 0x401000 + i % 7 * 16);
	assert_int_equal(seam_u64s_at(&chain.user, 1), 0x402000 + i % 3);
	if (s->decoded)
		assert_int_equal(s->decoded->sample.addr, 0x9000 + i);
}

static int seen_sample(void *ctx, const struct sample *s, struct buf *out)
{
	uint32_t i = (uint32_t)s->index - 1; /* the first record is number 1 */
	struct seen *seen = ctx;

	assert_true(i < SAMPLES);
	expect_sample(s, i);
	atomic_fetch_add(&seen->n, 1);
	atomic_fetch_add(&seen->sum, i);
	atomic_fetch_add(&seen->decoded, !!s->decoded);
	if (seen->threads != 1)
		return 0;
	if (seen->n > 1 && seen->by_time)
		assert_true(s->id.time_ns >= seen->last_time);
	else if (seen->n > 1)
		assert_true(i > seen->last_index);
	seen->last_time = s->id.time_ns;
	seen->last_index = i;
	return out ? buf_put(out, &i, sizeof(i)) : 0;
}

static int seen_end(void *ctx, const struct sample_counts *counts, const struct unwound *unwound)
{
	struct seen *seen = ctx;

	assert_null(unwound);
	seen->counts.taken += counts->taken;
	seen->counts.not_taken += counts->not_taken;
	seen->counts.stitch.samples += counts->stitch.samples;
	return 0;
}

static int each(struct recording *rec, struct samples_opts opts, struct seen *seen)
{
	const struct samples_consumer consumer = {
		.start = seen_start, .sample = seen_sample, .end = seen_end, .ctx = seen
	};

	opts.sz = sizeof(opts);
	*seen = (struct seen){ .by_time = opts.order == SAMPLES_BY_TIME };
	return samples_each(rec, &opts, &consumer, NULL);
}

/* Whole in both orders, with and without records, by any number of threads, of bytes that last and
 * of those that do not. */
static void all_are_given_once(void **state)
{
	static const unsigned threads[] = { 1, 2, 5 };

	for (unsigned how = 0; how < 24; how++) {
		struct made m = open_file(how & 1);
		struct samples_opts opts = { .order = how & 2 ? SAMPLES_BY_TIME : SAMPLES_BY_FILE,
			                     .needs = how & 4 ? SAMPLES_RECORD : 0,
			                     .threads = threads[how / 8] };
		struct seen seen;

		assert_int_equal(each(m.rec, opts, &seen), 0);
		assert_int_equal(seen.n, SAMPLES);
		assert_int_equal(seen.sum, SAMPLES * (SAMPLES - 1) / 2);
		assert_int_equal(seen.decoded, how & 4 ? SAMPLES : 0);
		assert_int_equal(seen.counts.taken, SAMPLES);
		if (how & 2 || (how & 1 && how & 4)) /* nobody writes; its bytes do not last */
			assert_int_equal(seen.threads, 1);
		else
			assert_int_equal(seen.threads, opts.threads);
		close_file(&m);
	}
}

/* ---- filters ---- */

struct asked {
	atomic_uint n;
	uint32_t cpu;
};

static bool takes_cpu(void *ctx, const struct seam_event *event, const struct seam_id *id,
                      const char *comm)
{
	struct asked *asked = ctx;

	atomic_fetch_add(&asked->n, 1);
	assert_non_null(event);
	assert_int_equal(id->pid, 70);
	return id->cpu == asked->cpu;
}

static void filters_are_asked_once_for_each_task(void **state)
{
	const struct proc_span times[] = { { FIRST + 100, FIRST + 199 },
		                           { FIRST + 5000, FIRST + 5099 } };
	struct asked asked = { .cpu = 1 };
	struct made m = open_file(false);
	struct samples_opts opts = { .filter = { .takes = takes_cpu, .ctx = &asked },
		                     .threads = 1 };
	struct seen seen;
	unsigned expected = 0;

	assert_int_equal(each(m.rec, opts, &seen), 0);
	assert_int_equal(seen.n, SAMPLES / CPUS);
	assert_int_equal(asked.n, 4 * CPUS); /* four threads on each CPU */
	assert_int_equal(seen.counts.not_taken, SAMPLES - SAMPLES / CPUS);
	assert_int_equal(seen.counts.stitch.samples, SAMPLES);
	opts.filter.times = times;
	opts.filter.n_times = 2;
	opts.needs = SAMPLES_RECORD;
	for (uint32_t i = 0; i < SAMPLES; i++)
		for (unsigned k = 0; k < 2; k++)
			expected += cpu_of(i) == 1 && time_of(i) >= times[k].from_ns &&
			            time_of(i) <= times[k].to_ns;
	for (opts.order = SAMPLES_BY_FILE; opts.order <= SAMPLES_BY_TIME; opts.order++) {
		assert_int_equal(each(m.rec, opts, &seen), 0);
		assert_int_equal(seen.n, expected);
		assert_int_equal(seen.decoded, expected); /* and no other */
	}
	assert_true(expected > 5);
	close_file(&m);
}

/* ---- records beside samples ---- */

static int letter_sample(void *ctx, const struct sample *s, struct buf *out)
{
	return buf_put_text(ctx, s->id.cpu ? "S" : "s");
}

static int letter_beside(void *ctx, const struct seam_decoded *decoded, struct buf *out)
{
	assert_int_equal(decoded->record->type, SEAM_RECORD_COMM);
	return buf_put_text(ctx, decoded->comm.comm);
}

/* By time, and of one time as in the file, whether samples come as entries or as records. */
static void records_beside_stand_where_they_belong(void **state)
{
	const struct seam_attr attr = {
		.sample_type = TYPE, .flags = SEAM_ATTR_SAMPLE_ID_ALL, .type = 1, .sample_period = 1
	};
	const struct {
		const char *comm; /* NULL: a sample */
		uint32_t i;
	} all[] = { { NULL, 50 }, { "a", 0 }, { NULL, 0 }, { "b", 0 }, { "c", 51 }, { NULL, 51 } };
	struct buf out = { 0 }, letters;
	struct seam_reader *reader;
	struct recording *rec;
	char path[64];
	int fd;

	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		const struct seam_comm comm = { .pid = 70, .tid = 70, .comm = all[k].comm };
		const struct seam_id id = {
			.has = TYPE, .pid = 70, .tid = 70, .time_ns = time_of(all[k].i)
		};

		if (all[k].comm)
			assert_int_equal(encode_comm(&out, &attr, 0, &comm, &id), 0);
		else
			put_sample(&out, &attr, all[k].i);
	}
	fd = write_bytes(&attr, &out, false, false);
	buf_free(&out);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(seam_reader_open(&reader, path, NULL, NULL), 0);
	assert_int_equal(recording_open(&rec, reader, NULL, NULL), 0);
	for (unsigned how = 0; how < 4; how++) {
		const struct samples_opts opts = { .sz = sizeof(opts),
			                           .order = SAMPLES_BY_TIME,
			                           .needs = how & 1 ? SAMPLES_RECORD : 0,
			                           .beside = SAMPLES_BESIDE_TASKS };
		const struct samples_consumer consumer = { .sample = letter_sample,
			                                   .beside = letter_beside,
			                                   .ctx = &letters };

		letters = (struct buf){ 0 };
		rec->stable = how < 2;
		assert_int_equal(samples_each(rec, &opts, &consumer, NULL), 0);
		assert_string_equal(buf_text(&letters), "asbScS");
		buf_free(&letters);
	}
	recording_close(rec);
	seam_reader_close(reader);
	close(fd);
}

/* ---- broken files and streams ---- */

static void a_damaged_file_gives_what_is_sound(void **state)
{
	int fd = write_file(false, false);
	uint64_t most = UINT64_MAX, word;
	struct seam_reader *reader;
	struct recording *rec;
	struct seen seen;
	char path[64];
	off_t at = 0;

	/* The callchain of one sample says that it is longer than its record. */
	for (off_t i = 0; !at && pread(fd, &word, 8, i) == 8; i += 8)
		at = word == time_of(777) ? i : 0;
	assert_true(at > 0);
	for (off_t i = at; i < at + 80; i += 8)
		if (pread(fd, &word, 8, i) == 8 && word == 3)
			assert_int_equal(pwrite(fd, &most, 8, i), 8);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(seam_reader_open(&reader, path, NULL, NULL), 0);
	assert_int_equal(recording_open(&rec, reader, NULL, NULL), 0);
	assert_int_equal(rec->counts.undecoded_samples, 1);
	for (unsigned how = 0; how < 4; how++) {
		const struct samples_opts opts = { .order = how & 1 ? SAMPLES_BY_TIME
			                                            : SAMPLES_BY_FILE,
			                           .needs = how & 2 ? SAMPLES_RECORD : 0 };

		assert_int_equal(each(rec, opts, &seen), 0);
		assert_int_equal(seen.n, SAMPLES - 1);
		assert_int_equal(seen.sum, SAMPLES * (SAMPLES - 1) / 2 - 777);
	}
	assert_null(sample_index_find(rec->index, 778));
	assert_int_equal(sample_index_find(rec->index, 779)->index, 779);
	recording_close(rec);
	seam_reader_close(reader);
	close(fd);
}

static int stream_began(void *ctx, struct recording *rec)
{
	return 0;
}

static int stream_learned(void *ctx, const struct seam_record *record)
{
	return 0;
}

static int stream_sample(void *ctx, const struct sample *s)
{
	struct seen *seen = ctx;

	assert_non_null(s->decoded);
	for (uint32_t i = 0; i < SAMPLES;
	     i++) /* of its event and features there are records, too */
		if (s->decoded->sample.addr == 0x9000 + i)
			expect_sample(s, i);
	assert_true(s->id.time_ns >= seen->last_time);
	seen->last_time = s->id.time_ns;
	seen->n++;
	return 0;
}

static int stream_rounded(void *ctx)
{
	return 0;
}

static void a_stream_gives_the_same(void **state)
{
	int fd = write_file(false, true);
	struct asked asked = { .cpu = 2 };
	struct samples_opts opts = { .sz = sizeof(opts),
		                     .filter = { .takes = takes_cpu, .ctx = &asked } };
	struct seen seen = { 0 };
	const struct stream_handler handler = { .start = stream_began,
		                                .learn = stream_learned,
		                                .each = stream_sample,
		                                .round = stream_rounded,
		                                .ctx = &seen };
	struct stream_counts counts;
	struct recording *rec = NULL;
	struct seam_reader *reader;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(seam_reader_open(&reader, path, NULL, NULL), 0);
	assert_int_equal(stream_items(&rec, reader, &opts, &handler, &counts, NULL), 0);
	assert_int_equal(seen.n, SAMPLES / CPUS);
	recording_close(rec);
	seam_reader_close(reader);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_given_once),
		cmocka_unit_test(filters_are_asked_once_for_each_task),
		cmocka_unit_test(records_beside_stand_where_they_belong),
		cmocka_unit_test(a_damaged_file_gives_what_is_sound),
		cmocka_unit_test(a_stream_gives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
