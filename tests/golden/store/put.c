// SPDX-License-Identifier: MIT
/*
 * put.c: writes windows into a store without sampling, until it is killed, and looks whether they
 * are whole.
 *
 *	put write URL FIRST     windows from number FIRST on, most with sums by frame beside
 *	                        them; says "put N" when one is safe,
 *	                        "forget N" before windows below N go. Compacts, with a clock
 *	                        that is right, a day or a week ahead, sums up by frame, and
 *	                        forgets, by age.
 *	put some URL FIRST N    N windows from number FIRST on, and nothing else
 *	put hostile URL NAME    one window, in which all that has a name is called NAME
 *	put check URL           every window that is there: its samples, all or none of them,
 *	                        and its own count; that sums by frame are those of the
 *	                        stacks. Says "FIRST LAST HOW-MANY", and "broken N" for each
 *	                        that is not whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../window_profile.h"
#include "base/map.h"
#include "fleet/answer.h"
#include "fleet/flat_frames.h"
#include "fleet/sum_up.h"
#include "profile/flat.h"
#include "store/store.h"

#define BEGIN_NS 1790000000000000000ULL
#define SECOND 1000000000ULL
#define EVERY (20 * SECOND)
#define DAY (86400 * SECOND)
#define KEPT 500u /* windows */
#define ROWS 6u
#define SHARED 40u

static void die(const char *what, const struct seam_error *err)
{
	printf("failed: %s: %s\n", what, err->text);
	exit(1);
}

static uint32_t call(struct profile *p, uint32_t from, const char *what, unsigned number)
{
	struct profile_frame f = { .kind = PROFILE_USER };
	char name[40];

	snprintf(name, sizeof(name), "%s%u", what, number);
	f.symbol = profile_string(p, name);
	return profile_node(p, from, profile_frame(p, &f));
}

static uint64_t samples_of(unsigned i)
{
	return 1 + i % 7;
}

/* Window i has samples_of(i) in each of ROWS stacks, all of which have its own function: half of
 * them with callers that others have, too. */
static struct profile *profile_of(unsigned i)
{
	struct profile *p = window_profile();

	for (unsigned row = 0; row < ROWS; row++) {
		struct profile_key key = window_key(p);

		key.node = call(p, PROFILE_ROOT, "main", 0);
		for (unsigned depth = 0; depth < 3; depth++)
			key.node = call(p, key.node, "shared", (i * 7 + row * 3 + depth) % SHARED);
		key.node = call(p, key.node, "w", i);
		key.node = call(p, key.node, "leaf", row);
		profile_add(p, &key, samples_of(i), samples_of(i) * 100);
	}
	return p;
}

static void put(struct store *s, unsigned i)
{
	const struct store_count counts[] = { { "windows", 1 } };
	struct labels labels[2] = { 0 };
	uint32_t series[ROWS];
	struct store_window w = { .instance = "put",
		                  .from_ns = BEGIN_NS + i * EVERY,
		                  .to_ns = BEGIN_NS + (i + 1) * EVERY,
		                  .row_series = series,
		                  .series = labels,
		                  .n_series = 2,
		                  .counts = counts,
		                  .n_counts = 1 };
	struct flat flat = { .says = flat_python_says, .frame = flat_frames_say };
	struct flat_frames frames = { .flat = &flat };
	struct profile *p = profile_of(i);
	struct seam_error err = { 0 };

	flat.ctx = &frames;
	w.flat = i % 11 == 5 ? NULL : &flat;
	for (unsigned row = 0; row < ROWS; row++)
		series[row] = row % 2;
	labels_set(&labels[0], "service", "a");
	labels_set(&labels[1], "service", "b");
	labels_set(&labels[0], "comm", "work");
	labels_set(&labels[1], "comm", "work");
	w.profile = p;
	if (store_put(s, &w, &err) < 0)
		die("put", &err);
	printf("put %u\n", i);
	fflush(stdout);
	flat_frames_free(&frames);
	profile_free(p);
	labels_free(&labels[0]);
	labels_free(&labels[1]);
}

/* Function, file, object, command, state, event, instance, labels and counts. */
static int put_hostile(const char *url, const char *name)
{
	const struct profile_state state = { .name = name, .text = name, .whole = true };
	const struct store_count counts[] = { { name, 1 } };
	struct labels labels = { 0 };
	struct store_window w = { .instance = name,
		                  .from_ns = BEGIN_NS,
		                  .to_ns = BEGIN_NS + EVERY,
		                  .series = &labels,
		                  .n_series = 1,
		                  .counts = counts,
		                  .n_counts = 1 };
	struct profile_frame f = { .kind = PROFILE_USER, .line = 1 };
	struct profile_key key = { .cpu = PROFILE_NOT_KEPT,
		                   .slice = PROFILE_NOT_KEPT,
		                   .cgroup = PROFILE_NOT_KEPT,
		                   .label = PROFILE_NOT_KEPT };
	struct seam_error err = { 0 };
	struct profile *p;
	struct store *s = NULL;

	if (profile_new(&p, 0) < 0 || profile_set_state(p, 0, &state) < 0 ||
	    store_open(&s, url, STORE_WRITE, &err) < 0)
		die("open", &err);
	f.symbol = f.file = profile_string(p, name);
	f.object = profile_object(p, name, name);
	key.event = profile_event(p, name);
	key.task = profile_task(p, profile_string(p, name), 0, 0);
	key.node = profile_node(p, call(p, PROFILE_ROOT, name, 1), profile_frame(p, &f));
	profile_add(p, &key, 5, 500);
	labels_set(&labels, "comm", name);
	labels_set(&labels, "host", name);
	labels_set(&labels, "service", name);
	w.profile = p;
	if (store_put(s, &w, &err) != 1)
		die("put", &err);
	store_close(s);
	profile_free(p);
	labels_free(&labels);
	return 0;
}

/* What an agent does beside, much more often, and at times that are not like its own. */
static void tend(struct store *s, unsigned i)
{
	const uint64_t now = BEGIN_NS + i * EVERY;
	const uint64_t ahead = i % 331 < 3 ? 8 * DAY : i % 97 < 3 ? DAY + SECOND : SECOND;
	const struct store_query ever = { .to_ns = UINT64_MAX };
	struct store_compacted done = { 0 };
	struct store_rolled rolled = { 0 };
	struct seam_error err = { 0 };

	if (i % 7 == 0 && sum_up(s, &ever, now + ahead + 600 * SECOND, 2, &rolled, &err) < 0)
		die("sum up", &err);
	if (i % 5 == 0 && store_compact(s, now + ahead, 0, &done, &err) < 0)
		die("compact", &err);
	if (i % 41 == 40 && i > KEPT) {
		printf("forget %u\n", i - KEPT);
		fflush(stdout);
		if (store_forget(s, now - KEPT * EVERY, 0, &err) < 0)
			die("forget", &err);
	}
}

static _Noreturn void write_all(const char *url, unsigned first)
{
	struct seam_error err = { 0 };
	struct store *s;

	if (store_open(&s, url, STORE_AGENT, &err) < 0)
		die("open", &err);
	for (unsigned i = first;; i++) {
		put(s, i);
		tend(s, i);
	}
}

static int write_some(const char *url, unsigned first, unsigned n)
{
	struct seam_error err = { 0 };
	struct store *s;

	if (store_open(&s, url, STORE_AGENT, &err) < 0)
		die("open", &err);
	for (unsigned i = first; i < first + n; i++)
		put(s, i);
	store_close(s);
	return 0;
}

/* The number in a frame's name, or -1. */
static long window_of(const struct profile *p, uint32_t frame)
{
	const char *name = profile_text(p, profile_frame_at(p, frame)->symbol);

	return name[0] == 'w' && name[1] ? strtol(name + 1, NULL, 10) : -1;
}

/* A table by function, of stacks or of sums, as a number: two that differ have others. */
static uint64_t table_hash(const struct load *load)
{
	const struct rollup_opts opts = { .columns = 1u << ROLLUP_SYMBOL, .flat = load->flat };
	struct rollup t;
	uint64_t hash = 0;

	if (rollup_build(&t, load->profile, &opts) < 0)
		die("table", &(struct seam_error){ .text = "out of memory" });
	for (size_t i = 0; i < t.n; i++) {
		const uint64_t row[] = { t.rows[i].self, t.rows[i].total, t.rows[i].self_samples,
			                 t.rows[i].total_samples };
		const char *name = profile_text(load->profile, t.rows[i].value[ROLLUP_SYMBOL]);

		/* Rows are in no order. */
		hash += map_hash_bytes(row, sizeof(row), map_hash_bytes(name, strlen(name), 0));
	}
	rollup_free(&t);
	return hash;
}

/* Says where sums of parts are not those of the stacks. */
static void check_parts(const char *url)
{
	struct flat flat = { .columns = 1u << ROLLUP_SYMBOL, .says = flat_python_says };
	struct store_query q = { .to_ns = UINT64_MAX };
	struct answer stacks = { 0 }, sums = { 0 };
	struct seam_error err = { 0 };
	struct store *s;

	if (store_open(&s, url, STORE_READ, &err) < 0 || answer_load(&stacks, s, &q, 0, &err) < 0)
		die("read", &err);
	q.flat = &flat;
	if (answer_load(&sums, s, &q, 0, &err) < 0)
		die("read", &err);
	if (table_hash(&stacks.load) != table_hash(&sums.load))
		printf("broken: parts are not what stacks say\n");
	answer_free(&stacks);
	answer_free(&sums);
	flat_free(&flat);
	store_close(s);
}

static int check(const char *url)
{
	const struct store_query q = { .to_ns = UINT64_MAX };
	struct store_found found = { 0 };
	struct seam_error err = { 0 };
	uint64_t *samples = NULL, *weights;
	size_t room = 1u << 20, n = 0, first = SIZE_MAX, last = 0;
	struct profile *p;
	struct store *s;

	if (profile_new(&p, 0) < 0 || store_open(&s, url, STORE_READ, &err) < 0 ||
	    store_read(s, &q, p, &found, &err) < 0)
		die("read", &err);
	samples = calloc(room, sizeof(*samples));
	weights = calloc(room, sizeof(*weights));
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const uint32_t node = profile_node_at(p, row->key.node).parent;
		long w = window_of(p, profile_node_at(p, node).frame);

		if (w < 0 || (size_t)w >= room) {
			printf("broken: a row of no window\n");
			return 1;
		}
		samples[w] += row->samples;
		weights[w] += row->weight;
	}
	for (size_t i = 0; i < room; i++) {
		if (!samples[i])
			continue;
		if (samples[i] != ROWS * samples_of((unsigned)i) || weights[i] != samples[i] * 100)
			printf("broken %zu\n", i);
		first = first == SIZE_MAX ? i : first;
		last = i;
		n++;
	}
	if (store_found_count(&found, "windows") != n)
		printf("broken: %zu windows have samples, %" PRIu64 " are counted\n", n,
		       store_found_count(&found, "windows"));
	if (n && n != last - first + 1)
		printf("broken: %zu windows from %zu to %zu\n", n, first, last);
	check_parts(url);
	printf("%zd %zd %zu\n", n ? (ssize_t)first : -1, n ? (ssize_t)last : -1, n);
	free(samples);
	free(weights);
	store_found_free(&found);
	profile_free(p);
	store_close(s);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		write_all(argv[2], (unsigned)atoi(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "some"))
		return write_some(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]));
	if (argc == 4 && !strcmp(argv[1], "hostile"))
		return put_hostile(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	return 2;
}
