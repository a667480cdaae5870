// SPDX-License-Identifier: MIT
// recorder_datafile.c: the file that a recorder writes, from made records; and its name.
#include "recorder_records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seam/reader.h>

#include "cache_dir.h"
#include "capture/buildid.h"
#include "recorder/datafile.h"
#include "recorder/output.h"

static char path[96], old[96];

static struct datafile_opts opts(void)
{
	static const char *const words[] = { "seam", "record", "a b" };

	snprintf(path, sizeof(path), "%s/perf.data", dir);
	snprintf(old, sizeof(old), "%s/perf.data.old", dir);
	return (struct datafile_opts){
		.path = path, .program = "seam test", .words = words, .n_words = 3
	};
}

static void put_text(const char *to, const char *text)
{
	FILE *f = fopen(to, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_text(const char *from, const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(from, "r");

	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, expected);
}

/* How many records of a type the file has; -1: it cannot be read. */
static int count(uint32_t type)
{
	struct seam_reader *reader;
	struct seam_record record;
	int n = 0;

	if (seam_reader_open(&reader, path, NULL, NULL) < 0)
		return -1;
	while (seam_reader_next(reader, &record, NULL) > 0)
		n += record.type == type;
	seam_reader_close(reader);
	return n;
}

static bool has_feature(unsigned feature)
{
	struct seam_reader *reader;
	struct seam_bytes bytes = { 0 };
	int r;

	assert_int_equal(seam_reader_open(&reader, path, NULL, NULL), 0);
	r = seam_reader_feature(reader, feature, &bytes);
	seam_reader_close(reader);
	return r >= 0 && bytes.n;
}

static void records_and_head_are_in_the_file(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct buf in = { 0 };
	struct datafile d;

	assert_int_equal(datafile_open(&d, &o, events, NULL), 0);
	assert_int_equal(d.time_at, 32);
	put_comm(&in, 10, 1, "a");
	put_sample(&in, 10, 9);
	put_sample(&in, 10, 5);
	assert_int_equal(give(datafile_write, &d, &in), 0);
	assert_int_equal(d.samples, 2);
	assert_int_equal(d.safe_samples, 0);
	assert_true(d.first_ns == 5 && d.last_ns == 9);
	assert_int_equal(datafile_flush(&d), 0);
	assert_int_equal(d.safe_samples, 2);
	assert_int_equal(datafile_close(&d, NULL), 0);
	assert_null(d.writer);
	assert_true(d.bytes > 200 && d.bytes == datafile_bytes(&d));
	datafile_free(&d);
	assert_int_equal(count(SEAM_RECORD_SAMPLE), 2);
	assert_int_equal(count(SEAM_RECORD_COMM), 1);
	assert_true(has_feature(SEAM_FEATURE_HOSTNAME));
	assert_true(has_feature(SEAM_FEATURE_CMDLINE));
	assert_true(has_feature(SEAM_FEATURE_SAMPLE_TIME));
	assert_false(has_feature(SEAM_FEATURE_BUILD_ID));
	unlink(path);
	seam_events_free(events);
	buf_free(&in);
}

/* Where the kernel gives no build-ids the header has those of the files that were mapped. */
static void build_ids_are_of_files_that_were_mapped(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct buf in = { 0 };
	struct datafile d;
	uint8_t id[BUILDID_MAX];
	char self[256];
	int fd;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = 0;
	o.keep_files = true;
	assert_int_equal(datafile_open(&d, &o, events, NULL), 0);
	put_mmap(&in, SEAM_MISC_USER, 10, 1, self);
	put_mmap(&in, SEAM_MISC_USER, 10, 2, self);
	put_mmap(&in, SEAM_MISC_USER, 10, 3, "//anon");
	assert_int_equal(give(datafile_write, &d, &in), 0);
	assert_int_equal(d.user_files.n, 2); /* number 0 is none */
	assert_int_equal(datafile_close(&d, NULL), 0);
	datafile_free(&d);
	fd = open(self, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(has_feature(SEAM_FEATURE_BUILD_ID), buildid_from_fd(fd, id) > 0);
	close(fd);
	unlink(path);
	seam_events_free(events);
	buf_free(&in);
}

/* Code made at run time is believed by its owner: whose the process is, is asked while it lives. */
static void owners_of_made_code_are_kept(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct buf in = { 0 };
	struct datafile d;
	uint64_t user;

	assert_int_equal(datafile_open(&d, &o, events, NULL), 0);
	put_mmap(&in, SEAM_MISC_USER, (uint32_t)getpid(), 1, "//anon");
	put_mmap(&in, SEAM_MISC_USER, 1, 1, "/bin/true");
	assert_int_equal(give(datafile_write, &d, &in), 0);
	assert_int_equal(d.owners.n, 1);
	assert_true(map_get(&d.owners, (uint32_t)getpid(), &user) && user == geteuid());
	assert_int_equal(datafile_close(&d, NULL), 0);
	datafile_free(&d);
	unlink(path);
	seam_events_free(events);
	buf_free(&in);
}

static void an_older_file_moves_and_comes_back(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct datafile d;

	put_text(path, "before");
	assert_int_equal(datafile_open(&d, &o, events, NULL), 0);
	assert_text(old, "before");
	datafile_abandon(&d);
	assert_text(path, "before");
	assert_int_equal(access(old, F_OK), -1);
	datafile_abandon(&d); /* a second time is nothing */
	assert_text(path, "before");
	datafile_free(&d);
	unlink(path);
	seam_events_free(events);
}

static void without_an_older_file_nothing_stays(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct datafile d;

	assert_int_equal(datafile_open(&d, &o, events, NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	datafile_abandon(&d);
	assert_int_equal(access(path, F_OK), -1);
	datafile_free(&d);
	seam_events_free(events);
}

/* An empty file, and what is no regular file, is written over: nothing is lost by it. */
static void only_files_with_something_in_them_move(void **state)
{
	struct datafile_opts o = opts();
	struct output out;

	put_text(o.path, "");
	assert_int_equal(output_rotate(&out, o.path), 0);
	assert_null(out.old);
	assert_int_equal(access(path, F_OK), 0);
	output_free(&out);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(output_rotate(&out, o.path), 0);
	assert_null(out.old);
	output_abandon(&out);
	assert_int_equal(access(path, F_OK), 0);
	output_free(&out);
	unlink(path);
	assert_int_equal(output_rotate(&out, "-"), 0);
	assert_null(out.old);
	output_abandon(&out);
}

static void what_cannot_be_opened_is_said(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct seam_error err = { 0 };
	struct datafile d;

	o.path = "/nonexistent/perf.data";
	assert_int_equal(datafile_open(&d, &o, events, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/perf.data"));
	assert_null(d.writer);
	datafile_free(&d);
	seam_events_free(events);
}

/* A full disk: the error stays, nothing is taken any more, and nothing is said to be safe. */
static void after_an_error_nothing_is_taken(void **state)
{
	struct seam_events *events = test_events();
	struct datafile_opts o = opts();
	struct buf in = { 0 }, more = { 0 };
	struct datafile d;
	int r = 0;

	if (access("/dev/full", W_OK) < 0)
		skip();
	o.path = "/dev/full";
	r = datafile_open(&d, &o, events, NULL);
	if (!r) {
		for (int i = 0; i < 2000; i++)
			put_sample(&in, 10, 1);
		for (int i = 0; i < 20 && !r; i++) {
			r = datafile_write(&d, in.bytes, in.n);
			if (!r)
				r = datafile_flush(&d);
		}
		assert_int_equal(r, -ENOSPC);
		assert_int_equal(d.err.code, ENOSPC);
		put_sample(&more, 10, 2);
		assert_int_equal(give(datafile_write, &d, &more), -ENOSPC);
		assert_int_equal(datafile_flush(&d), -ENOSPC);
		assert_int_equal(d.safe_samples, 0);
		datafile_close(&d, NULL);
	} else {
		assert_int_equal(r, -ENOSPC);
	}
	datafile_free(&d);
	buf_free(&in);
	buf_free(&more);
	seam_events_free(events);
}

static void times_of_events_that_differ_have_no_place(void **state)
{
	struct seam_events *events = test_events();
	struct seam_attr other = test_attr;
	const uint64_t id = TEST_ID + 1;

	assert_int_equal(datafile_time_at(events), 32);
	other.sample_type &= ~(uint64_t)SEAM_SAMPLE_TIME;
	assert_true(seam_events_add(events, &other, "other", &id, 1, NULL) >= 0);
	assert_int_equal(datafile_time_at(events), 0);
	seam_events_free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_and_head_are_in_the_file),
		cmocka_unit_test(build_ids_are_of_files_that_were_mapped),
		cmocka_unit_test(owners_of_made_code_are_kept),
		cmocka_unit_test(an_older_file_moves_and_comes_back),
		cmocka_unit_test(without_an_older_file_nothing_stays),
		cmocka_unit_test(only_files_with_something_in_them_move),
		cmocka_unit_test(what_cannot_be_opened_is_said),
		cmocka_unit_test(after_an_error_nothing_is_taken),
		cmocka_unit_test(times_of_events_that_differ_have_no_place),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
