// SPDX-License-Identifier: MIT
// recorder_parts.c: what a recorder joins, one by one: events of time off the CPU, tables of what
// is mapped.
#include "recorder_records.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_dir.h"
#include "recorder/bpf_known.h"
#include "recorder/bpf_table.h"
#include "recorder/offcpu.h"

/* ---- offcpu ---- */

static size_t count_away(const struct event_list *events)
{
	size_t n = 0;

	for (size_t i = 0; i < events->n; i++) {
		const struct event *e = &events->at[i];

		if (e->from_source) {
			assert_true(e->has_rate && e->attr.sample_period == 1);
			assert_int_equal(strncmp(e->name, "offcpu-", 7), 0);
			n++;
		}
	}
	return n;
}

static void nobody_asked_for_time_off_the_cpu(void **state)
{
	struct event_list events = { 0 };
	struct recorder_opts o = { .sz = sizeof(o), .events = &events };

	assert_int_equal(offcpu_settle(&o, NULL), 0);
	assert_int_equal(events.n, 0);
	assert_false(o.session.sample_period);
}

static void each_reason_is_an_event(void **state)
{
	struct event_list events = { 0 };
	struct recorder_opts o = { .sz = sizeof(o), .events = &events, .away_ns = 500000 };

	assert_int_equal(offcpu_settle(&o, NULL), 0);
	assert_int_equal(count_away(&events), 4);
	assert_int_equal(events.n, 5);
	assert_false(events.at[0].from_source);
	assert_true(events.at[0].is_default && o.away_ns == 500000);
	assert_false(o.session.sample_period);
	event_list_free(&events);
}

static void wall_counts_the_clock(void **state)
{
	struct event_list events = { 0 };
	struct recorder_opts o = { .sz = sizeof(o), .events = &events, .wall = true };

	assert_int_equal(offcpu_settle(&o, NULL), 0);
	assert_true(o.away_ns == OFFCPU_NS_DEFAULT && o.session.sample_period);
	assert_string_equal(events.at[0].name, "cpu-clock");
	assert_int_equal(count_away(&events), 4);
	event_list_free(&events);
}

static void events_that_were_asked_for_stay_first(void **state)
{
	struct event_list events = { 0 };
	struct recorder_opts o = { .sz = sizeof(o), .events = &events, .away_ns = 1 };

	assert_int_equal(event_list_parse(&events, "page-faults,task-clock", NULL, NULL), 0);
	assert_int_equal(offcpu_settle(&o, NULL), 0);
	assert_int_equal(events.n, 6);
	assert_string_equal(events.at[0].name, "page-faults");
	assert_string_equal(events.at[1].name, "task-clock");
	event_list_free(&events);
}

/* ---- tables ---- */

/* The mapping of this program's code, as the follower would ask for it. */
static bool own_code(struct kwalk_ask *ask, char *path, size_t n)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4400], self[1024], mode[8];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	unsigned long start, end, offset, inode;
	bool found = false;

	assert_non_null(f);
	assert_true(length > 0);
	self[length] = 0;
	while (!found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu", &start, &end, mode, &offset, &inode) ==
		            5 &&
		    mode[2] == 'x' && strstr(line, self)) {
			snprintf(path, n, "%s", self);
			*ask = (struct kwalk_ask){ .pid = getpid(),
				                   .path = path,
				                   .pgoff = offset,
				                   .size = end - start,
				                   .inode = inode };
			found = true;
		}
	}
	fclose(f);
	return found;
}

static struct tables *new_tables(void)
{
	struct tables_opts opts = { .sz = sizeof(opts), .cache_dir = dir };
	struct tables *tables;

	assert_int_equal(tables_new(&tables, &opts), 0);
	return tables;
}

static void a_mapped_file_has_its_table(void **state)
{
	struct tables *tables = new_tables();
	struct kwalk_table first = { 0 }, again = { 0 }, once = { 0 };
	struct kwalk_ask ask;
	struct bpf_table *t;
	char path[1024];

	assert_true(own_code(&ask, path, sizeof(path)));
	assert_int_equal(bpf_table_new(&t, tables), 0);
	bpf_table_get(t, &ask, &first);
	assert_non_null(first.blob);
	assert_false(first.may_guess);
	bpf_table_get(t, &ask, &again);
	assert_ptr_equal(again.blob, first.blob);
	assert_true(again.vaddr == first.vaddr);
	bpf_table_once(tables, &ask, &once);
	assert_ptr_equal(once.blob, first.blob);
	bpf_table_free(t);
	tables_free(tables);
}

/* The file at the path is not the one that was mapped. */
static void another_file_gives_no_table(void **state)
{
	struct tables *tables = new_tables();
	struct kwalk_table table = { 0 };
	struct kwalk_ask ask;
	struct bpf_table *t;
	char path[1024];

	assert_true(own_code(&ask, path, sizeof(path)));
	ask.inode++;
	assert_int_equal(bpf_table_new(&t, tables), 0);
	bpf_table_get(t, &ask, &table);
	assert_null(table.blob);
	assert_false(table.may_guess);
	bpf_table_free(t);
	tables_free(tables);
}

static void a_wrong_build_id_gives_no_table(void **state)
{
	struct tables *tables = new_tables();
	struct kwalk_table table = { 0 };
	struct kwalk_ask ask;
	struct bpf_table *t;
	char path[1024];

	assert_true(own_code(&ask, path, sizeof(path)));
	ask.build_id_size = 20;
	memset(ask.build_id, 0x5a, sizeof(ask.build_id));
	assert_int_equal(bpf_table_new(&t, tables), 0);
	bpf_table_get(t, &ask, &table);
	assert_null(table.blob);
	bpf_table_free(t);
	tables_free(tables);
}

static void memory_without_a_file_may_be_guessed(void **state)
{
	struct tables *tables = new_tables();
	struct kwalk_ask ask = { .pid = getpid(), .path = "//anon", .size = 4096 };
	struct kwalk_table anon = { 0 }, none = { 0 };
	struct bpf_table *t;

	assert_int_equal(bpf_table_new(&t, tables), 0);
	bpf_table_get(t, &ask, &anon);
	assert_null(anon.blob);
	assert_true(anon.may_guess);
	ask.path = "/nonexistent";
	bpf_table_get(t, &ask, &none);
	assert_null(none.blob);
	assert_false(none.may_guess);
	bpf_table_free(t);
	bpf_table_free(NULL);
	tables_free(tables);
}

/* ---- answers that were given ---- */

#define NOW 1000000000ull

/* Where a path leads depends on who asks; what a file is, on its build-id; and nothing is believed
 * for ever. */
static void an_answer_holds_for_its_question(void **state)
{
	const struct bpf_where here = { 1, 2, 3 };
	const struct bpf_where others[] = { { 9, 2, 3 }, { 1, 9, 3 }, { 1, 2, 9 }, { 0, 0, 0 } };
	struct kwalk_ask ask = { .pid = 7, .path = "/a", .build_id_size = 20, .build_id = { 1 } };
	const struct tables_object object = { 0 }, newer = { 0 };
	struct bpf_known k = { 0 };

	bpf_known_init(&k);
	assert_null(bpf_known_find(&k, &ask, &here, NOW, NULL));
	bpf_known_put(&k, &ask, &here, NOW, &object);
	ask.pid = 8;
	assert_ptr_equal(bpf_known_find(&k, &ask, &here, NOW, NULL), &object);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_null(bpf_known_find(&k, &ask, &others[i], NOW, NULL));
	ask.build_id[19] = 1;
	assert_null(bpf_known_find(&k, &ask, &here, NOW, NULL));
	ask.build_id[19] = 0;
	ask.path = "/b";
	assert_null(bpf_known_find(&k, &ask, &here, NOW, NULL));
	ask.path = "/a";
	assert_null(bpf_known_find(&k, &ask, &here, NOW + BPF_KNOWN_NS, NULL));
	bpf_known_put(&k, &ask, &here, NOW + BPF_KNOWN_NS, &newer);
	assert_ptr_equal(bpf_known_find(&k, &ask, &here, NOW + BPF_KNOWN_NS, NULL), &newer);
	assert_int_equal(k.n, 1);
	bpf_known_free(&k);
}

/* As many programs as there may be in months. */
static void answers_are_bounded(void **state)
{
	const struct bpf_where here = { 1, 2, 3 };
	const struct tables_object object = { 0 };
	struct bpf_known k = { 0 };
	char path[32];
	struct kwalk_ask ask = { .path = path, .build_id_size = 20 };

	bpf_known_init(&k);
	for (unsigned i = 0; i < 3 * BPF_KNOWN_MAX; i++) {
		snprintf(path, sizeof(path), "/tmp/%u", i);
		bpf_known_put(&k, &ask, &here, NOW, &object);
		assert_true(k.n <= BPF_KNOWN_MAX);
		assert_ptr_equal(bpf_known_find(&k, &ask, &here, NOW, NULL), &object);
	}
	bpf_known_free(&k);
}

/* This process is somewhere; a process that is not there is nowhere. */
static void a_process_is_somewhere(void **state)
{
	struct bpf_known k = { 0 };
	struct bpf_where here, again, none;

	bpf_known_init(&k);
	here = bpf_known_where(&k, getpid(), NOW);
	again = bpf_known_where(&k, getpid(), NOW + BPF_KNOWN_NS);
	none = bpf_known_where(&k, INT32_MAX, NOW);
	assert_true(here.space && here.root);
	assert_memory_equal(&here, &again, sizeof(here));
	assert_false(none.space || none.device || none.root);
	bpf_known_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_asked_for_time_off_the_cpu),
		cmocka_unit_test(each_reason_is_an_event),
		cmocka_unit_test(wall_counts_the_clock),
		cmocka_unit_test(events_that_were_asked_for_stay_first),
		cmocka_unit_test(a_mapped_file_has_its_table),
		cmocka_unit_test(another_file_gives_no_table),
		cmocka_unit_test(a_wrong_build_id_gives_no_table),
		cmocka_unit_test(memory_without_a_file_may_be_guessed),
		cmocka_unit_test(an_answer_holds_for_its_question),
		cmocka_unit_test(answers_are_bounded),
		cmocka_unit_test(a_process_is_somewhere),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
