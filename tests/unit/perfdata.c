// SPDX-License-Identifier: MIT
/* perfdata.c: what is written is read again, whole and in every form; a disk that fills up leaves a
 * sound file; directories. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/record.h"
#include "abi/encode.h"
#include "base/map.h"
#include "perfdata/reader_state.h"
#include "perfdata/feature.h"
#include "perfdata/writer_flags.h"
#include <seam/reader.h>
#include <seam/writer.h>

static char directory[] = "/tmp/seam-perfdata-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static struct seam_events *two_events(uint64_t config3)
{
	const uint64_t first[] = { 11, 12 }, second[] = { 21 };
	struct seam_attr a = { .type = SEAM_TYPE_SOFTWARE,
		               .size = 144,
		               .sample_period = 1000,
		               .sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP |
		                              SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME |
		                              SEAM_SAMPLE_CALLCHAIN,
		               .flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_DEFER_CALLCHAIN };
	struct seam_attr b = a;
	struct seam_events *events;

	b.config = 9;
	b.config3 = config3;
	b.flags |= SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_DEFER_OUTPUT;
	assert_int_equal(seam_events_new(&events), 0);
	assert_int_equal(seam_events_add(events, &a, "cpu-clock", first, 2, NULL), 0);
	assert_int_equal(seam_events_add(events, &b, "side-band", second, 1, NULL), 1);
	return events;
}

/* Sample i of a file, a function of i alone, so that reading needs nothing to compare with. */
static void put_sample(struct buf *out, const struct seam_events *events, uint64_t i)
{
	uint64_t ips[40];
	struct seam_sample s = { .ip = 0x400000 + i };

	for (uint64_t k = 0; k < 40; k++)
		ips[k] = 0x400000 + i * k;
	s.id = (struct seam_id){ .has = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		                 .pid = 7,
		                 .tid = (uint32_t)(i % 5),
		                 .time_ns = 1000 + i,
		                 .id = i % 3 ? 11 : 21 };
	s.callchain = encode_words(ips, i % 41);
	assert_int_equal(encode_sample(out, &seam_events_at(events, 0)->attr, SEAM_MISC_USER, &s),
	                 0);
}

static void check_sample(const struct seam_events *events, const struct seam_record *r, uint64_t i)
{
	struct seam_decoded d;

	assert_int_equal(r->type, SEAM_RECORD_SAMPLE);
	assert_int_equal(record_decode(events, r, &d, NULL), 0);
	assert_int_equal(d.sample.ip, 0x400000 + i);
	assert_int_equal(d.id.time_ns, 1000 + i);
	assert_int_equal(d.sample.event->index, i % 3 ? 0 : 1);
	assert_int_equal(d.sample.callchain.n, i % 41);
	if (i % 41 > 1)
		assert_int_equal(seam_u64s_at(&d.sample.callchain, i % 41 - 1),
		                 0x400000 + i * (i % 41 - 1));
}

static void write_samples(const char *path, const struct seam_writer_opts *opts, uint64_t n,
                          uint64_t config3)
{
	struct seam_events *events = two_events(config3);
	struct seam_writer *w;
	struct buf b = { 0 };

	assert_int_equal(seam_writer_open(&w, path, events, opts, NULL), 0);
	assert_int_equal(seam_writer_feature_string(w, SEAM_FEATURE_HOSTNAME, "box"), 0);
	for (uint64_t i = 0; i < n; i++) {
		put_sample(&b, events, i);
		if (i % 7 == 0 || i + 1 == n) {
			assert_int_equal(seam_writer_write(w, b.bytes, b.n, NULL), 0);
			buf_clear(&b);
		}
	}
	assert_int_equal(seam_writer_write(w, "short", 5, NULL), -EINVAL);
	assert_int_equal(seam_writer_close(w, NULL), 0);
	buf_free(&b);
	seam_events_free(events);
}

/* Reads all samples; returns how many there are. */
static uint64_t read_samples(struct seam_reader *reader)
{
	struct seam_record r;
	uint64_t i = 0;
	int rc;

	while ((rc = seam_reader_next(reader, &r, NULL)) > 0) {
		if (r.type >= SEAM_RECORD_USER_FIRST)
			continue;
		check_sample(seam_reader_events(reader), &r, i++);
	}
	assert_int_equal(rc, 0);
	return i;
}

/* The same file through a pipe, which a child fills. */
static void read_through_pipe(const char *path, uint64_t n)
{
	struct seam_reader *reader;
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), "cat '%s'", path);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(seam_reader_open_fd(&reader, fileno(f), NULL, NULL, NULL), 0);
	assert_int_equal(read_samples(reader), n);
	assert_false(seam_reader_damaged(reader));
	assert_string_equal(seam_reader_feature_string(reader, SEAM_FEATURE_HOSTNAME), "box");
	assert_int_equal(seam_reader_rewind(reader), -ESPIPE);
	seam_reader_close(reader);
	pclose(f);
}

static void check_file(const char *path, uint64_t n)
{
	struct seam_reader *reader;
	struct seam_error err = { 0 };

	if (seam_reader_open(&reader, path, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(read_samples(reader), n);
	assert_string_equal(seam_events_at(seam_reader_events(reader), 0)->name, "cpu-clock");
	assert_string_equal(seam_events_at(seam_reader_events(reader), 1)->name, "side-band");
	assert_string_equal(seam_reader_feature_string(reader, SEAM_FEATURE_HOSTNAME), "box");
	assert_false(seam_reader_damaged(reader));
	assert_int_equal(seam_reader_rewind(reader), 0);
	assert_int_equal(read_samples(reader), n);
	seam_reader_close(reader);

	read_through_pipe(path, n);
}

static void written_is_read(void **state)
{
	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		for (int level = 0; level < 4; level += 3) {
			for (size_t buffer = 0; buffer < 3000; buffer += 1500) {
				const struct seam_writer_opts opts = { .sz = sizeof(opts),
					                               .pipe = pipe,
					                               .compress_level = level,
					                               .buffer = buffer };
				const char *path = path_of("written");

				write_samples(path, &opts, 20000, (uint64_t)level);
				check_file(path, 20000);
			}
		}
	}
}

static void nothing_is_a_file_too(void **state)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_reader *reader;

	(void)state;
	write_samples(path_of("empty"), NULL, 0, 0);
	assert_int_equal(seam_reader_open(&reader, path_of("empty"), NULL, NULL), 0);
	assert_int_equal(read_samples(reader), 0);
	assert_int_equal(seam_reader_info(reader, &info), 0);
	assert_false(info.unfinished);
	assert_false(seam_reader_damaged(reader));
	seam_reader_close(reader);
}

/* Attrs are as short as they may be, so that older perfs read them: 128 bytes, 136 with config3. */
static void attrs_are_short(void **state)
{
	unsigned char head[24];

	(void)state;
	for (uint64_t config3 = 0; config3 < 2; config3++) {
		FILE *f;

		write_samples(path_of("attr"), NULL, 1, config3);
		f = fopen(path_of("attr"), "rb");
		assert_non_null(f);
		assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
		fclose(f);
		assert_int_equal(head[16], config3 ? 136 + 16 : 128 + 16);
	}
}

/* The recorder dies: what was flushed is there, with names, though data.size is 0. */
/* What the attrs promised and nobody kept is gone from the file: the rest of it is as if it had
 * never been there. */
static void flags_are_taken_back(void **state)
{
	const uint64_t promised = SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT;
	struct seam_events *two = two_events(0), *plain, *events;
	struct buf b = { 0 }, desc = { 0 }, files[2] = { 0 };

	(void)state;
	assert_int_equal(seam_events_new(&plain), 0);
	assert_int_equal(seam_events_new(&events), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct seam_event *e = seam_events_at(two, i);
		struct seam_attr attr = e->attr;

		attr.flags &= ~promised;
		assert_true(seam_events_add(plain, &attr, e->name, e->ids, e->n_ids, NULL) >= 0);
		attr.flags |= promised;
		assert_true(seam_events_add(events, &attr, e->name, e->ids, e->n_ids, NULL) >= 0);
	}
	for (int taken = 0; taken < 2; taken++) {
		const struct seam_events *in = taken ? events : plain;
		struct seam_writer *w;
		char part[4096];
		size_t n;
		FILE *f;

		buf_clear(&b);
		buf_clear(&desc);
		for (uint64_t i = 0; i < 100; i++)
			put_sample(&b, in, i);
		assert_int_equal(feature_put_event_desc(&desc, in), 0);
		assert_int_equal(seam_writer_open(&w, path_of("flags"), in, NULL, NULL), 0);
		assert_int_equal(seam_writer_feature(w, SEAM_FEATURE_EVENT_DESC, desc.bytes,
		                                     desc.n),
		                 0);
		assert_int_equal(seam_writer_write(w, b.bytes, b.n, NULL), 0);
		if (taken)
			writer_clear_flags(w, promised);
		assert_int_equal(seam_writer_close(w, NULL), 0);
		f = fopen(path_of("flags"), "rb");
		assert_non_null(f);
		while ((n = fread(part, 1, sizeof(part), f)) > 0)
			buf_put(&files[taken], part, n);
		fclose(f);
	}
	assert_true(files[0].n > b.n);
	assert_int_equal(files[0].n, files[1].n);
	assert_memory_equal(files[0].bytes, files[1].bytes, files[0].n);
	buf_free(&files[0]);
	buf_free(&files[1]);
	buf_free(&desc);
	buf_free(&b);
	seam_events_free(two);
	seam_events_free(plain);
	seam_events_free(events);
}

static void killed_writer_is_read(void **state)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_events *events = two_events(0);
	struct seam_reader *reader;
	struct seam_writer *w;
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(seam_writer_open(&w, path_of("killed"), events, NULL, NULL), 0);
	for (uint64_t i = 0; i < 100; i++)
		put_sample(&b, events, i);
	assert_int_equal(seam_writer_write(w, b.bytes, b.n, NULL), 0);
	assert_int_equal(seam_writer_bytes(w), b.n);
	assert_int_equal(seam_writer_flush(w, NULL), 0);

	assert_int_equal(seam_reader_open(&reader, path_of("killed"), NULL, NULL), 0);
	assert_int_equal(read_samples(reader), 100);
	assert_int_equal(seam_reader_info(reader, &info), 0);
	assert_true(info.unfinished);
	assert_true(seam_reader_damaged(reader));
	assert_string_equal(seam_events_at(seam_reader_events(reader), 1)->name, "side-band");
	seam_reader_close(reader);
	seam_writer_close(w, NULL);
	buf_free(&b);
	seam_events_free(events);
}

/* A full disk, played by the limit on file sizes, at every length of the last write. */
static void full_disk_leaves_whole_records(void **state)
{
	struct rlimit old, low;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	for (unsigned step = 0; step < 60; step++) {
		const struct seam_writer_opts opts = { .sz = sizeof(opts),
			                               .buffer = 4096,
			                               .compress_level = step % 2 };
		struct seam_events *events = two_events(0);
		struct seam_reader *reader;
		struct seam_writer *w;
		struct seam_error err = { 0 };
		struct buf b = { 0 };
		int rc = 0;

		low = (struct rlimit){ .rlim_cur = 60000 + step * 37, .rlim_max = old.rlim_max };
		setrlimit(RLIMIT_FSIZE, &low);
		assert_int_equal(seam_writer_open(&w, path_of("full"), events, &opts, NULL), 0);
		for (uint64_t i = 0; rc >= 0 && i < 40000; i++) {
			buf_clear(&b);
			put_sample(&b, events, i);
			rc = seam_writer_write(w, b.bytes, b.n, &err);
		}
		assert_int_equal(rc, -EFBIG);
		assert_int_equal(err.code, EFBIG);
		assert_int_equal(seam_writer_write(w, b.bytes, b.n, NULL), -EFBIG);
		assert_int_equal(seam_writer_close(w, NULL), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);

		assert_int_equal(seam_reader_open(&reader, path_of("full"), NULL, NULL), 0);
		assert_true(read_samples(reader) > 100);
		assert_false(seam_reader_damaged(reader));
		seam_reader_close(reader);
		buf_free(&b);
		seam_events_free(events);
	}
}

/* data holds the first third, data.0, data.2 and data.10 the rest, in the order of the numbers. */
static void directories_are_read(void **state)
{
	static const char *const parts[] = { "data.0", "data.2", "data.10" };
	struct seam_events *events = two_events(0);
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_reader *reader;
	char path[160];
	uint64_t i = 300;

	(void)state;
	mkdir(path_of("dir"), 0700);
	write_samples(path_of("dir/data"), NULL, 300, 0);
	for (size_t k = 0; k < 3; k++) {
		struct buf b = { 0 };
		FILE *f;

		snprintf(path, sizeof(path), "%s/dir/%s", directory, parts[k]);
		for (uint64_t end = i + 100; i < end; i++)
			put_sample(&b, events, i);
		f = fopen(path, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(b.bytes, 1, b.n, f), b.n);
		fclose(f);
		buf_free(&b);
	}
	assert_int_equal(seam_reader_open(&reader, path_of("dir"), NULL, NULL), 0);
	assert_int_equal(read_samples(reader), 600);
	assert_int_equal(seam_reader_rewind(reader), 0);
	assert_int_equal(read_samples(reader), 600);
	assert_int_equal(seam_reader_info(reader, &info), 0);
	assert_true(info.is_directory);
	assert_false(seam_reader_damaged(reader));
	seam_reader_close(reader);

	/* What is not a file is told of, the rest is read. */
	assert_int_equal(mkfifo(path_of("dir/data.5"), 0600), 0);
	assert_int_equal(seam_reader_open(&reader, path_of("dir"), NULL, NULL), 0);
	assert_int_equal(read_samples(reader), 600);
	assert_true(seam_reader_damaged(reader));
	seam_reader_close(reader);
	seam_events_free(events);
}

/* Bytes of stable records stay where they are to the end: compressed ones, too. */
static void stable_records_stay(void **state)
{
	const struct seam_writer_opts opts = { .sz = sizeof(opts), .compress_level = 1 };
	struct seam_record *all = calloc(30000, sizeof(*all));
	struct seam_reader *reader;
	size_t n = 0, samples = 0;

	(void)state;
	assert_non_null(all);
	write_samples(path_of("stable"), &opts, 20000, 0);
	assert_int_equal(seam_reader_open(&reader, path_of("stable"), NULL, NULL), 0);
	while (n < 30000 && seam_reader_next(reader, &all[n], NULL) > 0)
		n++;
	for (size_t i = 0; i < n; i++) {
		assert_true(all[i].stable);
		assert_int_equal(all[i].index, i);
		if (all[i].type == SEAM_RECORD_SAMPLE)
			check_sample(seam_reader_events(reader), &all[i], samples++);
	}
	assert_int_equal(samples, 20000);
	seam_reader_close(reader);
	free(all);
}

/* Somebody cuts the file while it is mapped: reading stops before the cut, and says so. */
static void cut_while_reading(void **state)
{
	const struct seam_reader_opts strict = { .sz = sizeof(strict), .strict = true };
	struct seam_reader *reader;
	struct seam_record r;
	struct seam_error err = { 0 };
	uint64_t n = 0;
	int rc;

	(void)state;
	for (int is_strict = 0; is_strict < 2; is_strict++) {
		write_samples(path_of("shrunk"), NULL, 150000, 0);
		rc = seam_reader_open(&reader, path_of("shrunk"), is_strict ? &strict : NULL, NULL);
		assert_int_equal(rc, 0);
		assert_int_equal(seam_reader_next(reader, &r, NULL), 1);
		assert_int_equal(truncate(path_of("shrunk"), 20 << 20), 0);
		for (n = 0; (rc = seam_reader_next(reader, &r, &err)) > 0; n++)
			assert_true(r.offset + r.size <= 20 << 20);
		assert_int_equal(rc, is_strict ? -EBADMSG : 0);
		assert_true(n > 50000);
		assert_true(seam_reader_damaged(reader));
		assert_int_equal(seam_reader_next(reader, &r, NULL), is_strict ? -EBADMSG : 0);
		assert_null(seam_reader_damage(reader, 1));
		seam_reader_close(reader);
	}
	assert_non_null(strstr(err.text, "was cut from"));
}

static uint64_t hash_pass(struct seam_reader *reader, uint64_t *stable)
{
	struct seam_record r;
	uint64_t hash = 0;

	*stable = 0;
	while (seam_reader_next(reader, &r, NULL) > 0) {
		hash = map_hash_bytes(r.bytes, r.size, hash ^ r.index);
		*stable += r.stable;
	}
	return hash;
}

/* One zstd stream whose records straddle its pieces, with little memory to keep what is unpacked:
 * every pass gives the same, whatever was kept. */
static void unpacked_again_is_the_same(void **state)
{
	const char *root = getenv("SEAM_SOURCE_ROOT");
	uint64_t all = 0, want = 0, stable, last = 0;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/data/z_single/perf.data", root ? root : ".");
	for (size_t keep = 4u << 20; keep; keep = keep > 1 ? keep / 4 : 0) {
		struct seam_reader *reader;

		assert_int_equal(seam_reader_open(&reader, path, NULL, NULL), 0);
		reader->keep_most = keep;
		if (!want)
			want = hash_pass(reader, &all);
		else
			assert_int_equal(hash_pass(reader, &stable), want);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(seam_reader_rewind(reader), 0);
			assert_int_equal(hash_pass(reader, &stable), want);
		}
		last = stable;
		assert_true(reader->kept_bytes <= keep);
		assert_false(seam_reader_damaged(reader));
		seam_reader_close(reader);
	}
	assert_true(last < all);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	static const char *const names[] = { "written",     "empty",      "attr",
		                             "killed",      "full",       "stable",
		                             "dir/data",    "dir/data.0", "dir/data.2",
		                             "dir/data.10", "dir/data.5", "shrunk" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	rmdir(path_of("dir"));
	return rmdir(directory);
}

/* A record of a type with its body, a trailer of ID and time (sample_id of two_events: TID, TIME,
 * IDENTIFIER), and bytes behind. */
static void put_record(struct buf *out, uint32_t type, const void *body, size_t n, uint64_t id,
                       size_t behind)
{
	buf_put_u32(out, type);
	buf_put_u16(out, 0);
	buf_put_u16(out, (uint16_t)(8 + n + 24 + behind));
	buf_put(out, body, n);
	buf_put_u64(out, 7);    /* pid, tid */
	buf_put_u64(out, 1234); /* time */
	buf_put_u64(out, id);
	for (size_t i = 0; i < behind; i++)
		buf_put(out, "?", 1);
}

/* perf gives up a file for a record that the kernel made too long, whose size is odd, or whose id
 * is of no event. */
static void records_fit_other_readers(void **state)
{
	unsigned char ksymbol[24] = { [16] = 'b', 'p', 'f' }, bpf[16] = { 1 },
	              poke[24] = { [8] = 3, [10] = 5 };
	struct seam_events *events = two_events(0);
	struct buf in = { 0 };
	struct seam_writer *writer;
	struct seam_reader *reader;
	struct seam_record record;
	const struct {
		uint32_t type, size;
		uint64_t id;
	} expected[] = {
		{ SEAM_RECORD_KSYMBOL, 56, 21 },   { SEAM_RECORD_BPF_EVENT, 48, 11 },
		{ SEAM_RECORD_TEXT_POKE, 56, 12 }, { SEAM_RECORD_COMM, 48, 0 },
		{ SEAM_RECORD_CPU_MAP, 24, 0 },    { SEAM_RECORD_BPF_EVENT, 48, 11 },
	};

	(void)state;
	put_record(&in, SEAM_RECORD_KSYMBOL, ksymbol, sizeof(ksymbol), 21, 32);
	put_record(&in, SEAM_RECORD_BPF_EVENT, bpf, sizeof(bpf), 11, 64);
	put_record(&in, SEAM_RECORD_TEXT_POKE, poke, sizeof(poke), 12, 8);
	put_record(&in, SEAM_RECORD_COMM, "\1\0\0\0\1\0\0\0comm\0\0\0", 16, 99, 0);
	buf_put_u32(&in, SEAM_RECORD_CPU_MAP);
	buf_put_u16(&in, 0);
	buf_put_u16(&in, 20);
	buf_put(&in, "\0\0\2\0\0\0\1\0\0\0\0\0", 12);
	put_record(&in, SEAM_RECORD_BPF_EVENT, bpf, sizeof(bpf), 11, 0);
	assert_int_equal(seam_writer_open(&writer, path_of("fit"), events, NULL, NULL), 0);
	assert_int_equal(seam_writer_write(writer, in.bytes, in.n, NULL), 0);
	assert_int_equal(seam_writer_close(writer, NULL), 0);
	assert_true(seam_reader_open(&reader, path_of("fit"), NULL, NULL) >= 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint64_t id;

		do
			assert_int_equal(seam_reader_next(reader, &record, NULL), 1);
		while (record.type == SEAM_RECORD_EVENT_UPDATE);
		assert_int_equal(record.type, expected[i].type);
		assert_int_equal(record.size, expected[i].size);
		memcpy(&id, record.bytes + record.size - 8, 8);
		if (record.type < SEAM_RECORD_USER_FIRST)
			assert_int_equal(id, expected[i].id);
	}
	assert_int_equal(seam_reader_next(reader, &record, NULL), 0);
	seam_reader_close(reader);
	seam_events_free(events);
	buf_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read),
		cmocka_unit_test(nothing_is_a_file_too),
		cmocka_unit_test(attrs_are_short),
		cmocka_unit_test(flags_are_taken_back),
		cmocka_unit_test(killed_writer_is_read),
		cmocka_unit_test(full_disk_leaves_whole_records),
		cmocka_unit_test(directories_are_read),
		cmocka_unit_test(records_fit_other_readers),
		cmocka_unit_test(stable_records_stay),
		cmocka_unit_test(cut_while_reading),
		cmocka_unit_test(unpacked_again_is_the_same),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
