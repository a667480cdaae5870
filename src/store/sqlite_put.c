// SPDX-License-Identifier: MIT
/*
 * sqlite_put.c: see sqlite.h. A window is one transaction: whole in the file or not in it. After
 * one that failed the writer begins new names, as what its dictionary says is in the file is not.
 */
#include "store/sqlite_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/parts/sqlite_beside.h"

/* An epoch is compacted when it has ended: until then its windows are short. */
#define EPOCH_NS (3600ULL * 1000000000)
/* Names are kept until the last window that has some of them is forgotten: a day bounds what is
 * kept too long. */
#define NAMES_NS (24ULL * 3600 * 1000000000)

/* A window on its way in. */
struct sqlite_putting {
	struct sqlite_store *s;
	const struct store_window *w;
	struct dictionary_map map;
	int64_t window;
	int64_t *series;      /* by index of w->series; 0: not yet asked for */
	struct sqlite_group { /* counts of one series and event */
		uint32_t event, series;
		struct counted_group counted;
		size_t capacity;
	} * groups;
	size_t n_groups, groups_capacity;
	struct map by_series;                /* series << 32 | event -> index of groups, plus 1 */
	uint32_t states[PROFILE_STATES_MAX]; /* their names' strings */
	struct seam_error *err;
};

/* The group of a series and event, made if it is new. NULL: out of memory. Pointers to earlier ones
 * are no longer valid. */
static struct sqlite_group *sqlite_group_of(struct sqlite_putting *p, uint32_t series,
                                            uint32_t event)
{
	uint64_t *slot = map_slot(&p->by_series, (uint64_t)series << 32 | event, NULL);

	if (!slot)
		return NULL;
	if (!*slot) {
		if (ARRAY_ROOM(&p->groups, &p->groups_capacity, p->n_groups + 1) < 0)
			return NULL;
		p->groups[p->n_groups] = (struct sqlite_group){ .event = event, .series = series };
		*slot = ++p->n_groups;
	}
	return &p->groups[*slot - 1];
}

/* -ENOMEM. */
static int sqlite_group_add(struct sqlite_group *g, const struct blocks_count *count)
{
	if (ARRAY_ROOM(&g->counted.counts, &g->capacity, g->counted.n + 1) < 0)
		return -ENOMEM;
	g->counted.counts[g->counted.n++] = *count;
	return 0;
}

/* The string of a state's name, looked up once per window. */
static uint32_t sqlite_state(struct sqlite_putting *p, uint32_t state)
{
	if (!p->states[state])
		p->states[state] = dictionary_string(&p->s->dictionary,
		                                     profile_state_at(p->w->profile, state)->name);
	return p->states[state];
}

/* Sorts the rows into groups, with the store's numbers. */
static int sqlite_group_rows(struct sqlite_putting *p)
{
	const struct store_window *w = p->w;
	int r = dictionary_add(&p->s->dictionary, &p->map);

	for (size_t i = 0; i < profile_n_rows(w->profile) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(w->profile, i);
		uint32_t series = w->row_series ? w->row_series[i] : 0;
		const struct blocks_count count = {
			.node = p->map.nodes[row->key.node],
			.state = sqlite_state(p, row->key.state),
			.samples = row->samples,
			.weight = row->weight,
		};
		struct sqlite_group *g = sqlite_group_of(p, series, row->key.event);

		r = g && count.state != DICTIONARY_FAILED ? sqlite_group_add(g, &count) : -ENOMEM;
	}
	return r;
}

/* The number of a series among these names, made if it is new. p->series keeps it for the rest of
 * the window. -errno. */
static int sqlite_put_series(struct sqlite_putting *p, uint32_t series)
{
	const struct buf *labels = &p->w->series[series].bytes;
	sqlite3_stmt *statement;
	int r;

	if (p->series[series])
		return 0;
	statement = sqlite_prepare(p->s, "SELECT id FROM series WHERE epoch = ?1 AND labels = ?2",
	                           p->err);
	if (!statement)
		return -p->err->code;
	sqlite3_bind_int64(statement, 1, p->s->names);
	sqlite3_bind_blob(statement, 2, labels->n ? (const void *)labels->bytes : "",
	                  (int)labels->n, SQLITE_STATIC);
	r = sqlite_step(p->s, statement, p->err);
	if (r > 0)
		p->series[series] = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	if (r)
		return r < 0 ? r : 0;
	r = sqlite_insert_blob(p->s, "INSERT INTO series (epoch, labels) VALUES (?1, ?2)",
	                       &p->s->names, 1, labels, p->err);
	p->series[series] = sqlite3_last_insert_rowid(p->s->db);
	return r;
}

/* Finds the store's numbers of a group's series and event. -errno. */
static int sqlite_number_group(struct sqlite_putting *p, struct sqlite_group *g)
{
	const struct profile *profile = p->w->profile;
	const uint32_t event =
	        dictionary_string(&p->s->dictionary, profile_event_name(profile, g->event));
	int r = event == DICTIONARY_FAILED ? -ENOMEM : sqlite_put_series(p, g->series);

	g->counted.series = (uint64_t)p->series[g->series];
	/* Two events of one name that are counted in different units are two groups. */
	g->counted.event = (uint64_t)event << 1 | profile_event_unit(profile, g->event);
	return r;
}

/* Writes the counts of all groups. -errno. */
static int sqlite_put_groups(struct sqlite_putting *p)
{
	struct counted_group *groups = calloc(p->n_groups + 1, sizeof(*groups));
	int r = groups ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->n_groups && r >= 0; i++) {
		r = sqlite_number_group(p, &p->groups[i]);
		groups[i] = p->groups[i].counted;
	}
	if (r >= 0)
		r = sqlite_put_counts(p->s, p->window, groups, p->n_groups, BLOCKS_QUICK, p->err);
	free(groups);
	return r;
}

/* Writes what the window brought into each list. -errno. */
static int sqlite_put_blocks(struct sqlite_putting *p)
{
	int r = 0;

	for (int kind = 0; kind < BLOCKS_KINDS && r >= 0; kind++) {
		struct buf plain = { 0 }, packed = { 0 };
		uint32_t first, n;

		r = dictionary_block(&p->s->dictionary, kind, &first, &n, &plain);
		if (r > 0) {
			const int64_t list = kind == BLOCKS_NODES ? p->s->epoch : p->s->names;
			const int64_t numbers[] = { SQLITE_BLOCK_ID(list, kind, first), n };

			r = blocks_pack(&packed, &plain, BLOCKS_QUICK);
			if (r >= 0)
				r = sqlite_insert_blob(
				        p->s,
				        "INSERT INTO blocks (id, n, data) VALUES (?1, ?2, ?3)",
				        numbers, 2, &packed, p->err);
		}
		buf_free(&plain);
		buf_free(&packed);
	}
	return r;
}

/* The window itself, with its counts: pairs of a name's string and a value. */
static int sqlite_put_window(struct sqlite_putting *p)
{
	const int64_t numbers[] = { p->s->epoch, (int64_t)p->w->from_ns, (int64_t)p->w->to_ns };
	struct buf data = { 0 };
	int r = 0;

	for (size_t i = 0; i < p->w->n_counts && r >= 0; i++) {
		uint32_t name;

		if (!p->w->counts[i].value)
			continue;
		name = dictionary_string(&p->s->dictionary, p->w->counts[i].name);
		r = name == DICTIONARY_FAILED ? -ENOMEM : 0;
		blocks_put_number(&data, name);
		blocks_put_number(&data, p->w->counts[i].value);
	}
	if (r >= 0)
		r = data.failed ? -ENOMEM
		                : sqlite_insert_blob(p->s,
		                                     "INSERT INTO windows (epoch, from_ns, to_ns, "
		                                     "data) VALUES (?1, ?2, ?3, ?4)",
		                                     numbers, 3, &data, p->err);
	p->window = sqlite3_last_insert_rowid(p->s->db);
	buf_free(&data);
	return r;
}

/* Of what a row is, by the store's numbers, which all are known. */
static struct summed_head sqlite_head(struct sqlite_putting *p, size_t i)
{
	const struct profile *profile = p->w->profile;
	const struct profile_key *key = &profile_row_at(profile, i)->key;
	const uint32_t series = p->w->row_series ? p->w->row_series[i] : 0;
	const uint32_t event =
	        dictionary_string(&p->s->dictionary, profile_event_name(profile, key->event));

	return (struct summed_head){ (uint64_t)p->series[series],
		                     (uint64_t)event << 1 | profile_event_unit(profile, key->event),
		                     p->states[key->state] };
}

/* Writes what the window's frames have beside it. -errno. */
static int sqlite_put_sums(struct sqlite_putting *p)
{
	struct summed_head *heads = calloc(profile_n_rows(p->w->profile) + 1, sizeof(*heads));
	const struct summing_profile of = { p->w->flat, p->w->profile, p->map.frames, heads };
	struct summing sums = { 0 };
	int r = heads ? 0 : -ENOMEM;

	for (size_t i = 0; heads && i < profile_n_rows(p->w->profile); i++)
		heads[i] = sqlite_head(p, i);
	if (r >= 0)
		r = summing_add_profile(&sums, &of);
	if (r >= 0)
		r = sqlite_put_beside(p->s, p->window, p->w->from_ns, &sums, p->err);
	summing_free(&sums);
	free(heads);
	return r;
}

/* Whether a window that was compacted is made of one that begins then. -errno. */
static int sqlite_has_merged(const struct sqlite_store *s, const struct store_window *w,
                             struct seam_error *err)
{
	const int64_t ends[] = { (int64_t)w->from_ns - (int64_t)SQLITE_STEP_MOST_NS,
		                 (int64_t)w->from_ns };
	sqlite3_stmt *statement =
	        sqlite_prepare(s,
	                       "SELECT windows.from_ns, begins FROM windows JOIN epochs ON "
	                       "epochs.id = windows.epoch WHERE begins <> x'' AND "
	                       "windows.from_ns > ?1 AND windows.from_ns <= ?2 AND "
	                       "epochs.instance = ?3",
	                       err);
	int r = statement ? 0 : -err->code;

	if (!statement)
		return r;
	sqlite3_bind_int64(statement, 1, ends[0]);
	sqlite3_bind_int64(statement, 2, ends[1]);
	sqlite3_bind_text(statement, 3, w->instance, -1, SQLITE_STATIC);
	while ((r = sqlite_step(s, statement, err)) > 0) {
		uint64_t at = (uint64_t)sqlite3_column_int64(statement, 0);
		const void *bytes;
		struct cursor c;
		size_t n;

		r = sqlite_blob(statement, 1, &bytes, &n);
		if (r < 0)
			break;
		r = 1;
		c = cursor_of(bytes, n, false);
		while (at != w->from_ns && cursor_left(&c))
			at += leb_unsigned(&c);
		if (at == w->from_ns)
			break;
	}
	sqlite3_finalize(statement);
	return r;
}

/* 1: a window of this instance that begins then is there. A recording that is put a second time
 * must not count twice. 0: there is none; -errno. */
static int sqlite_has(const struct sqlite_store *s, const struct store_window *w,
                      struct seam_error *err)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(s,
	                       "SELECT 1 FROM windows JOIN epochs ON epochs.id = windows.epoch "
	                       "WHERE windows.from_ns = ?1 AND epochs.instance = ?2",
	                       err);
	int r;

	if (!statement)
		return -err->code;
	sqlite3_bind_int64(statement, 1, (int64_t)w->from_ns);
	sqlite3_bind_text(statement, 2, w->instance, -1, SQLITE_STATIC);
	r = sqlite_step(s, statement, err);
	sqlite3_finalize(statement);
	return r ? r : sqlite_has_merged(s, w, err);
}

/* Ends the list of nodes, and the names with it if they, too, have enough; the next window begins
 * new ones. */
static void sqlite_end_epoch(struct sqlite_store *s, bool names)
{
	s->epoch = 0;
	dictionary_next(&s->dictionary);
	if (names) {
		s->names = 0;
		dictionary_free(&s->dictionary);
		dictionary_start(&s->dictionary);
	}
}

static bool sqlite_apart(uint64_t a, uint64_t b, uint64_t most)
{
	return a > b ? a - b >= most : b - a >= most;
}

/* Ends what has enough, in things, memory or time, or is there no more. -errno. */
static int sqlite_end_what_is_full(struct sqlite_store *s, const struct store_window *w,
                                   struct seam_error *err)
{
	int64_t there = 0;
	int r = 0;

	/* An epoch is one instance's, so that its windows can be told apart. */
	if (s->names && (!s->instance || strcmp(s->instance, w->instance) != 0))
		sqlite_end_epoch(s, true);
	if (s->names && (dictionary_names_full(&s->dictionary) ||
	                 sqlite_apart(w->from_ns, s->names_from_ns, NAMES_NS)))
		sqlite_end_epoch(s, true);
	if (s->epoch && (dictionary_full(&s->dictionary) ||
	                 sqlite_apart(w->from_ns, s->epoch_from_ns, EPOCH_NS)))
		sqlite_end_epoch(s, false);
	/* They may have gone meanwhile: store_forget or store_compact of another. */
	if (s->epoch) {
		r = sqlite_run(s, "SELECT id FROM epochs WHERE id = ?1", &s->epoch, 1, &there, err);
		if (r >= 0 && !there)
			sqlite_end_epoch(s, false);
	}
	if (r >= 0 && s->names) {
		r = sqlite_run(s, "SELECT id FROM epochs WHERE names = ?1 LIMIT 1", &s->names, 1,
		               &there, err);
		if (r >= 0 && !there)
			sqlite_end_epoch(s, true);
	}
	return r;
}

/* Begins another epoch where the last one has ended. -errno. */
static int sqlite_put_epoch(struct sqlite_store *s, const struct store_window *w,
                            struct seam_error *err)
{
	int r = sqlite_end_what_is_full(s, w, err);

	if (r < 0 || s->epoch)
		return r;
	if (!s->names) {
		free(s->instance);
		s->instance = strdup(w->instance);
		s->names_from_ns = w->from_ns;
		if (!s->instance)
			return -ENOMEM;
	}
	r = sqlite_add_epoch(s, s->instance, w->from_ns, s->names, 0, &s->epoch, err);
	s->epoch_from_ns = w->from_ns;
	if (r >= 0 && !s->names)
		s->names = s->epoch;
	return r;
}

/* 1: it was put; 0: it is there already; -errno. */
static int sqlite_put_all(struct sqlite_putting *p)
{
	int r = sqlite_has(p->s, p->w, p->err);

	if (r)
		return r < 0 ? r : 0;
	r = sqlite_put_epoch(p->s, p->w, p->err);
	if (r >= 0)
		r = sqlite_group_rows(p);
	if (r >= 0)
		/* Window first: its number is in all counts. Blocks last: all of the above may
		 * bring new strings. */
		r = sqlite_put_window(p);
	if (r >= 0)
		r = sqlite_put_groups(p);
	if (r >= 0 && p->w->flat)
		r = sqlite_put_sums(p);
	if (r >= 0)
		r = sqlite_put_blocks(p);
	return r < 0 ? r : 1;
}

/* Puts all in one transaction, or nothing. */
int sqlite_put(void *store, const struct store_window *w, struct seam_error *err)
{
	struct seam_error why = { 0 };
	struct sqlite_putting p = { .s = store, .w = w, .err = &why };
	/* SQLite's integers have a sign. */
	int r = w->from_ns > INT64_MAX || w->to_ns > INT64_MAX
	                ? -ERANGE
	                : dictionary_map_start(&p.map, w->profile);

	p.series = calloc(w->n_series + 1, sizeof(*p.series));
	if (r >= 0 && !p.series)
		r = -ENOMEM;
	if (r >= 0)
		r = sqlite_do(p.s, "BEGIN IMMEDIATE", &why);
	if (r >= 0) {
		r = sqlite_put_all(&p);
		if (r >= 0 && sqlite_do(p.s, "COMMIT", &why) < 0)
			r = -why.code;
		if (r < 0) {
			sqlite3_exec(p.s->db, "ROLLBACK", NULL, NULL, NULL);
			/* What the dictionary says is in the file is not. */
			sqlite_end_epoch(p.s, true);
		}
	}
	if (r > 0)
		sqlite_trim_log(p.s);
	for (size_t i = 0; i < p.n_groups; i++)
		free(p.groups[i].counted.counts);
	free(p.groups);
	map_free(&p.by_series);
	free(p.series);
	dictionary_map_free(&p.map);
	if (r < 0 && err)
		*err = why;
	return r;
}
