// SPDX-License-Identifier: MIT
// Unit tests of the SQLite store: what was put is read, whole, once, and only what was asked for;
// what is hostile, broken or of a newer version is told.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/rollup.h"
#include "store/store.h"
#include "rnd.h"

#define S 1000000000ULL
#define HOSTS 3
#define FUNCTIONS 7

static const struct profile_state states[] = { { .name = "one", .text = "one", .whole = true },
	                                       { .name = "two", .text = "two" } };

static struct profile *profile_of(unsigned keep)
{
	struct profile *p;

	assert_int_equal(profile_new(&p, keep), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(profile_set_state(p, i, &states[i]), 0);
	/* Events keep the order in which they came, which is of no meaning. */
	profile_event_in(p, "faults", PROFILE_COUNT);
	profile_event_in(p, "cpu-clock", PROFILE_NANOSECONDS);
	return p;
}

/* A stack of functions named by their numbers, the outermost first; odd ones in a library. */
static uint32_t stack_of(struct profile *p, const unsigned *functions, unsigned n)
{
	uint32_t node = PROFILE_ROOT;

	for (unsigned i = 0; i < n; i++) {
		char name[32];
		struct profile_frame f = { .kind = functions[i] % 3 ? PROFILE_USER : PROFILE_KERNEL,
			                   .line = functions[i] };

		snprintf(name, sizeof(name), "f%u\n'\"<", functions[i]);
		f.object = functions[i] % 2 ? profile_object(p, "/lib/odd.so", "abcd") : 0;
		f.symbol = functions[i] ? profile_string(p, name) : 0;
		f.file = profile_string(p, "file.c");
		node = profile_node(p, node, profile_frame(p, &f));
	}
	return node;
}

struct sample {
	unsigned host, comm, state, event, depth, function[6];
	uint64_t weight;
};

static struct sample sample_random(void)
{
	struct sample s = { .host = rnd(HOSTS),
		            .comm = rnd(2),
		            .state = rnd(2),
		            .event = rnd(2),
		            .depth = rnd(7),
		            .weight = rnd(2) ? 1000 : rnd(5000) };

	for (unsigned i = 0; i < s.depth; i++)
		s.function[i] = rnd(FUNCTIONS);
	return s;
}

static const char *const comms[] = { "a b", "'; DROP TABLE windows; --" };

/* label: its host as a label, too. */
static void add(struct profile *p, const struct sample *s, bool label)
{
	char host[16];
	struct profile_key key = { .state = s->state,
		                   .cpu = PROFILE_NOT_KEPT,
		                   .slice = PROFILE_NOT_KEPT,
		                   .cgroup = PROFILE_NOT_KEPT,
		                   .label = PROFILE_NOT_KEPT };

	snprintf(host, sizeof(host), "h%u", s->host);
	key.event = profile_event_in(p, s->event ? "cpu-clock" : "faults",
	                             s->event ? PROFILE_NANOSECONDS : PROFILE_COUNT);
	key.task = profile_task(p, profile_string(p, comms[s->comm]), 0, 0);
	key.node = stack_of(p, s->function, s->depth);
	if (label)
		key.label = profile_string(p, host);
	assert_int_equal(profile_add(p, &key, 1, s->weight), 0);
}

/* A window of samples: every row with the series of its host and comm. */
static int put(struct store *store, const char *instance, uint64_t from_ns,
               const struct sample *samples, size_t n, struct seam_error *err)
{
	struct labels labels[HOSTS * 2] = { 0 };
	struct profile *p = profile_of(PROFILE_KEEP_CPU);
	const struct store_count counts[] = { { "lost", n }, { "none", 0 }, { "end.\"'\n", 1 } };
	struct store_window w = { .instance = instance,
		                  .from_ns = from_ns,
		                  .to_ns = from_ns + 10 * S,
		                  .profile = p,
		                  .series = labels,
		                  .n_series = HOSTS * 2,
		                  .counts = counts,
		                  .n_counts = 3 };
	uint32_t *series;
	int r;

	for (unsigned i = 0; i < HOSTS * 2; i++) {
		char host[16];

		snprintf(host, sizeof(host), "h%u", i / 2);
		labels_set(&labels[i], "host", host);
		labels_set(&labels[i], "comm", comms[i % 2]);
	}
	/* CPU stands for the host, so that rows of two hosts are two. */
	for (size_t i = 0; i < n; i++) {
		struct sample s = samples[i];
		struct profile_key key = { .state = s.state, .cpu = s.host };

		key.event = profile_event_in(p, s.event ? "cpu-clock" : "faults",
		                             s.event ? PROFILE_NANOSECONDS : PROFILE_COUNT);
		key.task = profile_task(p, profile_string(p, comms[s.comm]), 0, 0);
		key.node = stack_of(p, s.function, s.depth);
		assert_int_equal(profile_add(p, &key, 1, s.weight), 0);
	}
	series = calloc(profile_n_rows(p) + 1, sizeof(*series));
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const char *comm = profile_text(p, profile_task_at(p, row->key.task)->comm);

		series[i] = row->key.cpu * 2 + (strcmp(comm, comms[1]) == 0);
	}
	w.row_series = series;
	r = store_put(store, &w, err);
	free(series);
	profile_free(p);
	for (unsigned i = 0; i < HOSTS * 2; i++)
		labels_free(&labels[i]);
	return r;
}

/* Both have the same rows, in any order, and names. */
static void same(const struct profile *a, const struct profile *b)
{
	struct profile *x, *y;

	assert_int_equal(profile_canonical(&x, a), 0);
	assert_int_equal(profile_canonical(&y, b), 0);
	assert_int_equal(profile_n_rows(x), profile_n_rows(y));
	assert_int_equal(profile_n_nodes(x), profile_n_nodes(y));
	for (size_t i = 0; i < profile_n_rows(x); i++)
		assert_memory_equal(profile_row_at(x, i), profile_row_at(y, i),
		                    sizeof(struct profile_row));
	for (uint32_t i = 1; i <= profile_n_nodes(x); i++)
		assert_int_equal(profile_node_at(x, i).parent, profile_node_at(y, i).parent);
	for (uint32_t i = 1; i <= profile_n_frames(x); i++) {
		const struct profile_frame *f = profile_frame_at(x, i), *g = profile_frame_at(y, i);

		assert_memory_equal(f, g, sizeof(*f));
		assert_string_equal(profile_text(x, f->symbol), profile_text(y, g->symbol));
	}
	profile_free(x);
	profile_free(y);
}

static struct store *open_memory(void)
{
	struct seam_error err = { 0 };
	struct store *store;
	int r = store_open(&store, "sqlite::memory:", STORE_WRITE, &err);

	if (r == -ENOSYS)
		skip();
	assert_int_equal(r, 0);
	return store;
}

#define WINDOWS 12
#define SAMPLES 40

/* What is read of any span, filter and label is what a plain loop over the samples adds up. */
static void test_read(void **state)
{
	struct store *store = open_memory();
	static struct sample samples[WINDOWS][SAMPLES];
	struct seam_error err = { 0 };

	(void)state;
	for (unsigned w = 0; w < WINDOWS; w++) {
		for (unsigned i = 0; i < SAMPLES; i++)
			samples[w][i] = sample_random();
		/* Two instances take turns, so that there are several epochs. */
		assert_int_equal(put(store, w % 4 == 3 ? "y" : "x", w * 10 * S, samples[w], SAMPLES,
		                     &err),
		                 1);
		assert_int_equal(put(store, w % 4 == 3 ? "y" : "x", w * 10 * S, samples[w], 1,
		                     &err),
		                 0);
	}
	for (unsigned turn = 0; turn < 60; turn++) {
		unsigned from = rnd(WINDOWS), to = rnd(WINDOWS + 1), host = rnd(HOSTS + 1);
		bool by = rnd(2);
		struct profile *got = profile_of(by ? PROFILE_KEEP_LABEL : 0);
		struct profile *wanted = profile_of(by ? PROFILE_KEEP_LABEL : 0);
		struct labels_filter where = { 0 };
		struct store_found found = { 0 };
		struct store_query q = { .from_ns = from * 10 * S,
			                 .to_ns = to * 10 * S,
			                 .where = host < HOSTS ? &where : NULL,
			                 .by = by ? "host" : NULL };
		char text[16];
		size_t at;

		snprintf(text, sizeof(text), "host=h%u", host);
		assert_int_equal(labels_filter_parse(&where, text, &at), 0);
		for (unsigned w = from; w < to; w++)
			for (unsigned i = 0; i < SAMPLES; i++)
				if (host == HOSTS || samples[w][i].host == host)
					add(wanted, &samples[w][i], by);
		assert_int_equal(store_read(store, &q, got, &found, &err), 0);
		same(got, wanted);
		assert_int_equal(found.windows, to > from ? to - from : 0);
		assert_int_equal(store_found_count(&found, "lost"), found.windows * SAMPLES);
		assert_int_equal(store_found_count(&found, "end.\"'\n"), found.windows);
		assert_int_equal(found.held_last_ns, WINDOWS * 10 * S);
		store_found_free(&found);
		labels_filter_free(&where);
		profile_free(got);
		profile_free(wanted);
	}
	store_close(store);
}

/* Of a span, by host. */
static struct profile *read_span(struct store *store, uint64_t from_ns, uint64_t to_ns,
                                 struct store_found *found)
{
	const struct store_query q = { .from_ns = from_ns, .to_ns = to_ns, .by = "host" };
	struct profile *p = profile_of(PROFILE_KEEP_LABEL);
	struct seam_error err = { 0 };

	*found = (struct store_found){ 0 };
	assert_int_equal(store_read(store, &q, p, found, &err), 0);
	return p;
}

#define DAY (86400 * S)

/* Every minute of an hour is what it was, and every ten of a day ago, and every hour of a week ago:
 * with a part of the counts of windows as with all. What is put again is known, and an agent that
 * goes on does so. */
static void test_compact(void **state)
{
	enum {
		MINUTES = 150,
		PER = 3
	};
	static struct sample samples[MINUTES * PER][SAMPLES / 4];
	static const struct {
		uint64_t age_ns, step_ns;
	} steps[] = { { 3600 * S, 60 * S }, { DAY, 600 * S }, { 8 * DAY, 3600 * S } };
	const uint64_t last_ns = MINUTES * 60 * S;
	struct store *store = open_memory();
	struct store_compacted done = { 0 };
	struct seam_error err = { 0 };

	(void)state;
	for (unsigned w = 0; w < MINUTES * PER; w++) {
		for (unsigned i = 0; i < SAMPLES / 4; i++)
			samples[w][i] = sample_random();
		/* Two instances take turns by the hour. */
		assert_int_equal(put(store, w / 180 % 2 ? "y" : "x", w * 20 * S, samples[w],
		                     SAMPLES / 4, &err),
		                 1);
	}
	/* Nothing is old. */
	assert_int_equal(store_compact(store, 0, 0, &done, &err), 0);
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const uint64_t step = steps[i].step_ns;
		struct profile *before[MINUTES], *after;
		struct store_found found_before[MINUTES], found;
		unsigned n = 0;
		int r;

		for (uint64_t at = 0; at < last_ns; at += step, n++)
			before[n] = read_span(store, at, at + step, &found_before[n]);
		done = (struct store_compacted){ 0 };
		while ((r = store_compact(store, last_ns + steps[i].age_ns, 0, &done, &err)) > 0)
			;
		assert_int_equal(r, 0);
		assert_true(done.into < done.windows);
		n = 0;
		for (uint64_t at = 0; at < last_ns; at += step, n++) {
			after = read_span(store, at, at + step, &found);
			same(before[n], after);
			assert_int_equal(store_found_count(&found, "lost"),
			                 store_found_count(&found_before[n], "lost"));
			/* One of the epoch, and those that were put beside it below. */
			if (at < 3600 * S)
				assert_in_range(found.windows, 1, 1 + i);
			store_found_free(&found);
			store_found_free(&found_before[n]);
			profile_free(before[n]);
			profile_free(after);
		}
		for (unsigned w = 0; w < MINUTES * PER; w++)
			assert_int_equal(put(store, w / 180 % 2 ? "y" : "x", w * 20 * S, samples[w],
			                     SAMPLES / 4, &err),
			                 0);
		/* Beside one that is there. */
		assert_int_equal(put(store, "x", 7 * S + i, samples[i], 2, &err), 1);
	}
	store_close(store);
}

/* Of the samples of a profile, those below [folded], and those of the stack that is met often. */
static uint64_t folded_in(const struct profile *p, uint32_t often_depth, uint64_t *often)
{
	uint64_t folded = 0;

	*often = 0;
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const struct profile_node node = profile_node_at(p, row->key.node);
		uint32_t depth = 0;

		if (row->key.node &&
		    !strcmp(profile_text(p, profile_frame_at(p, node.frame)->symbol), "[folded]"))
			folded += row->samples;
		for (uint32_t at = row->key.node; at; at = profile_node_at(p, at).parent)
			depth++;
		*often += depth == often_depth ? row->samples : 0;
	}
	return folded;
}

/* What is folded of 600 stacks, each of which is met once, where a day may take so many bytes. */
static uint64_t folded_where(uint64_t day_bytes)
{
	struct store *store = open_memory();
	struct store_compacted done = { 0 };
	struct seam_error err = { 0 };

	for (unsigned w = 0; w < 150; w++) {
		struct sample samples[4] = { { .event = 1, .weight = 1 } };

		for (unsigned k = 0; k < 4; k++) {
			samples[k] = samples[0];
			samples[k].depth = 6;
			for (unsigned i = 0; i < 6; i++)
				samples[k].function[i] = ((w * 4 + k) >> 2 * i) % 4;
		}
		assert_int_equal(put(store, "agent:x", w * 20 * S, samples, 4, &err), 1);
	}
	assert_int_equal(put(store, "y", 3500 * S, NULL, 0, &err), 1);
	while (store_compact(store, DAY / 2, day_bytes, &done, &err) > 0)
		;
	store_close(store);
	return done.folded;
}

/* No more is folded than needs be, though all stacks are as rare as each other. */
static void test_fold_part(void **state)
{
	uint64_t before = folded_where(1000), parts = 0;

	(void)state;
	assert_true(before > 0);
	for (uint64_t bytes = 20000; bytes <= 80000; bytes += 1000) {
		const uint64_t folded = folded_where(bytes);

		assert_true(folded <= before);
		parts += folded != before;
		before = folded;
	}
	assert_int_equal(before, 0);
	assert_true(parts > 5);
}

/* Too many stacks for a day's bytes: those that were met least lose their innermost functions,
 * which is said; those that are met often, and all sums, stay; imported ones stay whole. */
static void test_fold(void **state)
{
	static const char *const instances[] = { "agent:x", "import:x" };
	const struct sample often = {
		.event = 1, .depth = 6, .function = { 1, 1, 1, 1, 1, 1 }, .weight = 1000
	};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct store *store = open_memory();
		struct store_compacted done = { 0 };
		struct store_listing l = { 0 };
		struct store_found found;
		struct seam_error err = { 0 };
		struct profile *before, *after;
		uint64_t often_before, often_after, folded, samples = 0;

		for (unsigned w = 0; w < 150; w++) {
			struct sample samples_of[SAMPLES];

			for (unsigned k = 0; k < SAMPLES; k++) {
				samples_of[k] = k % 4 ? sample_random() : often;
				samples_of[k].depth -= k % 4 && samples_of[k].depth > 5;
			}
			assert_int_equal(put(store, instances[i], w * 20 * S, samples_of, SAMPLES,
			                     &err),
			                 1);
		}
		assert_int_equal(put(store, "y", 3500 * S, &often, 1, &err), 1);
		before = read_span(store, 0, 3000 * S, &found);
		assert_int_equal(folded_in(before, 6, &often_before), 0);
		store_found_free(&found);
		while (store_compact(store, DAY / 2, 60000, &done, &err) > 0)
			;
		after = read_span(store, 0, 3000 * S, &found);
		folded = folded_in(after, 6, &often_after);
		assert_int_equal(store_found_count(&found, STORE_FOLDED), folded);
		assert_int_equal(done.folded, folded);
		assert_true(i ? !folded : folded > 0);
		assert_int_equal(often_before, often_after);
		if (i)
			same(before, after);
		else
			assert_true(profile_n_nodes(after) < profile_n_nodes(before) / 2);
		for (size_t row = 0; row < profile_n_rows(after); row++)
			samples += profile_row_at(after, row)->samples;
		assert_int_equal(samples, 150 * SAMPLES);
		assert_int_equal(store_list(store, NULL, &l, &err), 0);
		assert_int_equal(l.folded, folded);
		store_listing_free(&l);
		store_found_free(&found);
		profile_free(before);
		profile_free(after);
		store_close(store);
	}
}

static void test_list_and_forget(void **state)
{
	struct store *store = open_memory();
	struct store_listing l = { 0 };
	struct seam_error err = { 0 };
	struct sample samples[SAMPLES];
	uint64_t sum = 0;

	(void)state;
	for (unsigned w = 0; w < WINDOWS; w++) {
		for (unsigned i = 0; i < SAMPLES; i++)
			samples[i] = sample_random();
		assert_int_equal(put(store, w % 2 ? "x" : "y", w * 10 * S, samples, SAMPLES, &err),
		                 1);
	}
	assert_int_equal(store_list(store, NULL, &l, &err), 0);
	assert_int_equal(l.n, HOSTS * 2);
	for (size_t i = 0; i < l.n; i++)
		sum += l.series[i].samples;
	assert_int_equal(sum, WINDOWS * SAMPLES);
	assert_string_equal(labels_get(&l.series[0].labels, "comm"), comms[1]);
	store_listing_free(&l);

	assert_int_equal(store_forget(store, 50 * S, 0, &err), 5);
	assert_int_equal(store_list(store, NULL, &l, &err), 0);
	assert_int_equal(l.windows, WINDOWS - 5);
	assert_int_equal(l.first_ns, 50 * S);
	store_listing_free(&l);
	assert_int_equal(store_forget(store, 0, 1, &err), WINDOWS - 5);
	assert_int_equal(store_list(store, NULL, &l, &err), 0);
	assert_int_equal(l.n, 0);
	store_listing_free(&l);
	/* The writer goes on. */
	assert_int_equal(put(store, "x", 500 * S, samples, SAMPLES, &err), 1);
	assert_int_equal(store_list(store, NULL, &l, &err), 0);
	assert_int_equal(l.windows, 1);
	store_listing_free(&l);
	store_close(store);
}

/* A file of a few windows, as bytes. */
static size_t file_of(const char *path, unsigned char **ret)
{
	struct seam_error err = { 0 };
	struct sample samples[SAMPLES];
	char url[128];
	struct store *store;
	struct stat st;
	int r, fd;

	snprintf(url, sizeof(url), "sqlite:%s", path);
	unlink(path);
	r = store_open(&store, url, STORE_WRITE, &err);
	if (r == -ENOSYS)
		skip();
	assert_int_equal(r, 0);
	for (unsigned w = 0; w < 3; w++) {
		for (unsigned i = 0; i < SAMPLES; i++)
			samples[i] = sample_random();
		assert_int_equal(put(store, "x", w * 10 * S, samples, SAMPLES, &err), 1);
	}
	store_close(store);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	*ret = malloc((size_t)st.st_size);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, *ret, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

static void file_put(const char *path, const unsigned char *bytes, size_t n)
{
	char other[128];
	int fd;

	snprintf(other, sizeof(other), "%s-wal", path);
	unlink(other);
	snprintf(other, sizeof(other), "%s-shm", path);
	unlink(other);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static int read_all(const char *path, struct seam_error *err)
{
	const struct store_query q = { .to_ns = UINT64_MAX };
	struct profile *p = profile_of(0);
	struct store_found found = { 0 };
	struct store *store;
	char url[128];
	int r;

	snprintf(url, sizeof(url), "sqlite:%s", path);
	r = store_open(&store, url, STORE_READ, err);
	if (r >= 0) {
		r = store_read(store, &q, p, &found, err);
		store_close(store);
	}
	store_found_free(&found);
	profile_free(p);
	return r;
}

/* Bytes that are changed anywhere: an answer or an error, and nothing worse. */
static void test_broken(void **state)
{
	char path[] = "/tmp/seam-store-XXXXXX", wal[64];
	unsigned char *bytes, *broken;
	int fd = mkstemp(path), told = 0;
	size_t n;

	(void)state;
	close(fd);
	n = file_of(path, &bytes);
	broken = malloc(n);
	for (unsigned turn = 0; turn < 400; turn++) {
		struct seam_error err = { 0 };

		memcpy(broken, bytes, n);
		for (unsigned k = rnd(8) + 1; k; k--)
			broken[rnd((uint32_t)n)] = (unsigned char)rnd(256);
		file_put(path, broken, turn % 8 ? n : rnd((uint32_t)n));
		if (read_all(path, &err) < 0) {
			told++;
			assert_int_not_equal(err.code, 0);
			assert_string_not_equal(err.text, "");
		}
	}
	assert_true(told > 20);
	/* Of a newer version. */
	memcpy(broken, bytes, n);
	broken[63] = 77; /* user_version */
	file_put(path, broken, n);
	{
		struct seam_error err = { 0 };

		assert_int_equal(read_all(path, &err), -EPROTO);
		assert_non_null(strstr(err.text, "newer"));
	}
	free(bytes);
	free(broken);
	unlink(path);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	unlink(wal);
	snprintf(wal, sizeof(wal), "%s-shm", path);
	unlink(wal);
}

static void test_refuses(void **state)
{
	static const char *const urls[] = { "",
		                            "nothing",
		                            "ftp:x",
		                            "sqlite",
		                            "sqlite:",
		                            "sqlite:/nonexistent/x.db",
		                            "sqlite:/proc/self/stat",
		                            "sqlite:/" };
	struct seam_error err;
	struct store *store;

	(void)state;
	store_close(open_memory());
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
			err = (struct seam_error){ 0 };
			assert_true(store_open(&store, urls[i], mode, &err) < 0);
			assert_string_not_equal(err.text, "");
		}
}

static void test_one_agent(void **state)
{
	char path[] = "/tmp/seam-store-XXXXXX", url[64], other[64];
	struct seam_error err = { 0 };
	struct store *a, *b;
	int fd = mkstemp(path), r;

	(void)state;
	close(fd);
	snprintf(url, sizeof(url), "sqlite:%s", path);
	r = store_open(&a, url, STORE_AGENT, &err);
	if (r == -ENOSYS)
		skip();
	assert_int_equal(r, 0);
	assert_int_equal(store_open(&b, url, STORE_AGENT, &err), -EEXIST);
	assert_int_equal(store_open(&b, url, STORE_WRITE, &err), 0);
	store_close(b);
	store_close(a);
	assert_int_equal(store_open(&b, url, STORE_AGENT, &err), 0);
	store_close(b);
	unlink(path);
	snprintf(other, sizeof(other), "%s-agent", path);
	unlink(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_fold_part),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_list_and_forget),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_one_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
