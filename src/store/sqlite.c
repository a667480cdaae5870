// SPDX-License-Identifier: MIT
/*
 * sqlite.c: see sqlite.h. A window is one transaction: whole in the file or not in it.
 *
 * Writer and readers may be several processes. WAL lets readers go on while a window is written;
 * one agent at a time writes (a lock on a file beside the database). The schema: epochs, blocks of
 * their dictionaries, series, windows, and counts per window, series and event.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* How long a statement waits for another writer. */
#define BUSY_MS 10000
/* An epoch's blocks are kept until its last window is forgotten: six hours bound what is kept too
 * long. */
#define EPOCH_NS (6ULL * 3600 * 1000000000)
#define FORGET_AT_ONCE 64 /* windows: so that a reader waits shortly */

static const char schema[] =
        "CREATE TABLE epochs (id INTEGER PRIMARY KEY AUTOINCREMENT, instance TEXT NOT NULL, "
        "from_ns INTEGER NOT NULL);"
        "CREATE INDEX epochs_instance ON epochs (instance);"
        "CREATE TABLE blocks (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, data BLOB NOT NULL);"
        "CREATE TABLE series (id INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, labels BLOB NOT NULL,"
        " UNIQUE (epoch, labels));"
        "CREATE TABLE windows (id INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, from_ns INTEGER NOT "
        "NULL,"
        " to_ns INTEGER NOT NULL, data BLOB NOT NULL);"
        "CREATE INDEX windows_from ON windows (from_ns, epoch);"
        "CREATE INDEX windows_epoch ON windows (epoch);"
        "CREATE TABLE counts (window INTEGER NOT NULL, series INTEGER NOT NULL, event INTEGER NOT "
        "NULL,"
        " samples INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (window, series, event)) "
        "WITHOUT ROWID;";

/* A statement, or several, without values. -errno. */
static int sqlite_do(const struct sqlite_store *s, const char *sql, struct seam_error *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(s, err);
}

/* Runs a statement of up to three numbers, and forgets it; first: of its first row, 0: none. The
 * error is in err, too. */
static int sqlite_run(const struct sqlite_store *s, const char *sql, const int64_t *numbers, int n,
                      int64_t *first, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(s, sql, err);
	int r;

	if (!statement)
		return -err->code;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(statement, i + 1, numbers[i]);
	r = sqlite_step(s, statement, err);
	if (first)
		*first = r > 0 ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return r < 0 ? r : 0;
}

/* ---- opening ---- */

/* A file of its own, because closing any descriptor of the database would end SQLite's locks.
 * Closing the descriptor ends the lock, whatever ends the agent. -EEXIST: somebody else has it. */
static int sqlite_lock(struct sqlite_store *s, struct seam_error *err)
{
	char *path = NULL;
	int r = 0;

	if (asprintf(&path, "%s-agent", s->path) < 0)
		return -ENOMEM;
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		r = seam_error_set(err, errno, path, SEAM_NO_OFFSET, NULL, "%s", strerror(errno));
	else if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		r = seam_error_set(err, EEXIST, s->path, SEAM_NO_OFFSET, NULL,
		                   "another seam agent writes to this store");
	free(path);
	return r;
}

/* Makes the file, for its owner alone: it tells what ran on the machine. SQLite gives its other
 * files the same mode. */
static int sqlite_make_file(const struct sqlite_store *s, struct seam_error *err)
{
	int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 && errno != EEXIST)
		return seam_error_set(err, errno, s->path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	if (fd >= 0)
		close(fd);
	return 0;
}

/* Looks what the database is; a new one is made ours. 1: it is new; 0: it is ours; -errno. */
static int sqlite_check(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t application, form, tables;
	int r = sqlite_run(s, "PRAGMA application_id", NULL, 0, &application, err);

	if (r >= 0)
		r = sqlite_run(s, "PRAGMA user_version", NULL, 0, &form, err);
	if (r >= 0)
		r = sqlite_run(s, "SELECT count(*) FROM sqlite_master", NULL, 0, &tables, err);
	if (r < 0)
		return r;
	if (application == SQLITE_APPLICATION && form > SQLITE_FORM)
		return seam_error_set(err, EPROTO, s->path, SEAM_NO_OFFSET, NULL,
		                      "the store is of version %lld, of a newer seam: this one "
		                      "knows version %d",
		                      (long long)form, SQLITE_FORM);
	if (application == SQLITE_APPLICATION && form == SQLITE_FORM)
		return 0;
	return application || form || tables
	               ? seam_error_set(err, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
	                                "an SQLite database, but no store of "
	                                "seam")
	               : 1;
}

/* In one transaction, so that of two who make it one finds it made. -errno; then nothing was
 * made. */
static int sqlite_make(const struct sqlite_store *s, struct seam_error *err)
{
	char sql[128];
	int r = sqlite_do(
	        s, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	r = sqlite_check(s, err);
	if (r > 0) {
		snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		         SQLITE_APPLICATION, SQLITE_FORM);
		r = sqlite_do(s, schema, err);
		if (r >= 0)
			r = sqlite_do(s, sql, err);
	}
	if (r >= 0)
		return sqlite_do(s, "COMMIT", err);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static void sqlite_close(void *store)
{
	struct sqlite_store *s = store;

	sqlite3_close(s->db);
	if (s->lock >= 0)
		close(s->lock);
	dictionary_free(&s->dictionary);
	free(s->instance);
	free(s->path);
	free(s);
}

/* Opens the database and says how it is to behave: nothing in the file is trusted, and a reader
 * never waits for the writer. */
static int sqlite_open_database(struct sqlite_store *s, struct seam_error *err)
{
	int flags = s->writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	int r;

	if (sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return s->db ? sqlite_fail(s, err) : -ENOMEM;
	/* Extended codes tell what failed in the file system. */
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	/* The database may be a stranger's: its schema may not run code or write to internals. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* A value larger than a block is refused before it is read. */
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, BLOCKS_BYTES_MAX + 1024);
	r = sqlite_check(s, err);
	if (r > 0)
		r = s->writes ? sqlite_make(s, err)
		              : seam_error_set(err, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
		                               "the store is empty");
	if (r >= 0)
		r = sqlite_do(s, "PRAGMA synchronous=FULL; PRAGMA cache_size=-4096", err);
	return r;
}

/* The lock is taken before the database is touched. rest: what follows "sqlite:". */
static int sqlite_open(void **ret, const char *rest, enum store_mode mode, struct seam_error *err)
{
	struct sqlite_store *s = calloc(1, sizeof(*s));
	bool in_memory = !strcmp(rest, ":memory:");
	int r = 0;

	if (!s)
		return -ENOMEM;
	s->lock = -1;
	s->writes = mode != STORE_READ;
	dictionary_start(&s->dictionary);
	s->path = strdup(rest);
	if (!s->path)
		r = -ENOMEM;
	else if (!*rest)
		r = seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                   "a file must be named: sqlite:FILE");
	else if (s->writes && !in_memory)
		r = sqlite_make_file(s, err);
	else if (!in_memory && access(rest, R_OK) < 0)
		r = seam_error_set(err, errno, rest, SEAM_NO_OFFSET, NULL, "%s", strerror(errno));
	if (r >= 0 && mode == STORE_AGENT)
		r = sqlite_lock(s, err);
	if (r >= 0)
		r = sqlite_open_database(s, err);
	if (r < 0) {
		sqlite_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* ---- putting ---- */

/* A window on its way in. */
struct sqlite_putting {
	struct sqlite_store *s;
	const struct store_window *w;
	struct dictionary_map map;
	int64_t window;
	int64_t *series;      /* by index of w->series; 0: not yet asked for */
	struct sqlite_group { /* counts of one series and event */
		uint32_t event, series;
		struct blocks_count *counts;
		size_t n, capacity;
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
	if (ARRAY_ROOM(&g->counts, &g->capacity, g->n + 1) < 0)
		return -ENOMEM;
	g->counts[g->n++] = *count;
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

/* Inserts a row of numbers and, as its last column, bytes. -errno. */
static int sqlite_insert_blob(struct sqlite_putting *p, const char *sql, const int64_t *numbers,
                              int n, const struct buf *data)
{
	sqlite3_stmt *statement = sqlite_prepare(p->s, sql, p->err);
	int r;

	if (!statement)
		return -p->err->code;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(statement, i + 1, numbers[i]);
	sqlite3_bind_blob(statement, n + 1, data->n ? (const void *)data->bytes : "", (int)data->n,
	                  SQLITE_STATIC);
	r = sqlite_step(p->s, statement, p->err);
	sqlite3_finalize(statement);
	return r;
}

/* The number of a series in this epoch, made if it is new. p->series keeps it for the rest of the
 * window. -errno. */
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
	sqlite3_bind_int64(statement, 1, p->s->epoch);
	sqlite3_bind_blob(statement, 2, labels->n ? (const void *)labels->bytes : "",
	                  (int)labels->n, SQLITE_STATIC);
	r = sqlite_step(p->s, statement, p->err);
	if (r > 0)
		p->series[series] = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	if (r)
		return r < 0 ? r : 0;
	r = sqlite_insert_blob(p, "INSERT INTO series (epoch, labels) VALUES (?1, ?2)",
	                       &p->s->epoch, 1, labels);
	p->series[series] = sqlite3_last_insert_rowid(p->s->db);
	return r;
}

/* Writes the counts of one series and event. -errno. */
static int sqlite_put_group(struct sqlite_putting *p, struct sqlite_group *g)
{
	const struct profile *profile = p->w->profile;
	int64_t numbers[4] = { p->window };
	struct buf data = { 0 };
	uint32_t event =
	        dictionary_string(&p->s->dictionary, profile_event_name(profile, g->event));
	int r = event == DICTIONARY_FAILED ? -ENOMEM : sqlite_put_series(p, g->series);

	/* How many samples there are is a column of its own, for lists. */
	for (size_t i = 0; i < g->n; i++)
		numbers[3] += (int64_t)g->counts[i].samples;
	blocks_put_counts(&data, profile_event_unit(profile, g->event), g->counts, g->n);
	numbers[1] = p->series[g->series];
	/* Two events of one name that are counted in different units are two rows. */
	numbers[2] = (int64_t)event << 1 | profile_event_unit(profile, g->event);
	if (r >= 0 && data.failed)
		r = -ENOMEM;
	if (r >= 0)
		r = sqlite_insert_blob(p,
		                       "INSERT INTO counts (window, series, event, samples, data) "
		                       "VALUES (?1, ?2, ?3, ?4, ?5)",
		                       numbers, 4, &data);
	buf_free(&data);
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
			const int64_t numbers[] = { SQLITE_BLOCK_ID(p->s->epoch, kind, first), n };

			r = blocks_pack(&packed, &plain);
			if (r >= 0)
				r = sqlite_insert_blob(
				        p, "INSERT INTO blocks (id, n, data) VALUES (?1, ?2, ?3)",
				        numbers, 2, &packed);
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
		                : sqlite_insert_blob(p,
		                                     "INSERT INTO windows (epoch, from_ns, to_ns, "
		                                     "data) VALUES (?1, ?2, ?3, ?4)",
		                                     numbers, 3, &data);
	p->window = sqlite3_last_insert_rowid(p->s->db);
	buf_free(&data);
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
	return r;
}

/* The next window begins a new one. The old numbers mean nothing there. */
static void sqlite_end_epoch(struct sqlite_store *s)
{
	s->epoch = 0;
	dictionary_free(&s->dictionary);
	dictionary_start(&s->dictionary);
}

/* Begins another epoch where the last one has enough, in things, memory or time. */
static int sqlite_put_epoch(struct sqlite_store *s, const struct store_window *w,
                            struct seam_error *err)
{
	sqlite3_stmt *statement;
	int64_t from_ns;
	int r = 0;

	/* An epoch is one instance's, so that its windows can be told apart. */
	if (s->epoch && (!s->instance || strcmp(s->instance, w->instance) != 0))
		sqlite_end_epoch(s);
	if (s->epoch)
		/* + 1, because 0 stands for no row. */
		r = sqlite_run(s, "SELECT from_ns + 1 FROM epochs WHERE id = ?1", &s->epoch, 1,
		               &from_ns, err);
	if (r < 0)
		return r;
	/* It may have gone meanwhile: store_forget of another. */
	if (s->epoch && (!from_ns || dictionary_full(&s->dictionary) ||
	                 w->from_ns >= (uint64_t)from_ns + EPOCH_NS ||
	                 w->from_ns + EPOCH_NS < (uint64_t)from_ns))
		sqlite_end_epoch(s);
	if (s->epoch)
		return 0;
	free(s->instance);
	s->instance = strdup(w->instance);
	statement = s->instance ? sqlite_prepare(s,
	                                         "INSERT INTO epochs (instance, from_ns) "
	                                         "VALUES (?1, ?2)",
	                                         err)
	                        : NULL;
	if (!statement)
		return s->instance ? -err->code : -ENOMEM;
	sqlite3_bind_text(statement, 1, s->instance, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, (int64_t)w->from_ns);
	r = sqlite_step(s, statement, err);
	sqlite3_finalize(statement);
	s->epoch = r < 0 ? 0 : sqlite3_last_insert_rowid(s->db);
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
	for (size_t i = 0; i < p->n_groups && r >= 0; i++)
		r = sqlite_put_group(p, &p->groups[i]);
	if (r >= 0)
		r = sqlite_put_blocks(p);
	return r < 0 ? r : 1;
}

/* Puts all in one transaction, or nothing. */
static int sqlite_put(void *store, const struct store_window *w, struct seam_error *err)
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
			sqlite_end_epoch(p.s);
		}
	}
	for (size_t i = 0; i < p.n_groups; i++)
		free(p.groups[i].counts);
	free(p.groups);
	map_free(&p.by_series);
	free(p.series);
	dictionary_map_free(&p.map);
	if (r < 0 && err)
		*err = why;
	return r;
}

/* ---- forgetting ---- */

/* Bytes that are in use, without free pages. -errno. */
static int64_t sqlite_bytes(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t pages, free_pages, size;

	if (sqlite_run(s, "PRAGMA page_count", NULL, 0, &pages, err) < 0 ||
	    sqlite_run(s, "PRAGMA freelist_count", NULL, 0, &free_pages, err) < 0 ||
	    sqlite_run(s, "PRAGMA page_size", NULL, 0, &size, err) < 0)
		return -err->code;
	return (pages - free_pages) * size;
}

/* Deletes what no window needs any more: epochs without windows, but for this writer's own. */
static int sqlite_forget_epochs(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t gone[2] = { 0 };
	int r;

	/* One at a time: there are few. */
	for (;;) {
		r = sqlite_run(s,
		               "SELECT id FROM epochs WHERE id <> ?1 AND NOT EXISTS "
		               "(SELECT 1 FROM windows WHERE epoch = epochs.id) LIMIT 1",
		               &s->epoch, 1, &gone[0], err);
		if (r < 0 || !gone[0])
			return r;
		gone[1] = gone[0] + 1;
		/* A block's id has its epoch in its upper bits. */
		r = sqlite_run(s, "DELETE FROM blocks WHERE id >= ?1 << 26 AND id < ?2 << 26", gone,
		               2, NULL, err);
		if (r >= 0)
			r = sqlite_run(s, "DELETE FROM series WHERE epoch = ?1", gone, 1, NULL,
			               err);
		if (r >= 0)
			r = sqlite_run(s, "DELETE FROM epochs WHERE id = ?1", gone, 1, NULL, err);
		if (r < 0)
			return r;
	}
}

/* Deletes the oldest windows, at most FORGET_AT_ONCE of those before a time. How many. */
static int sqlite_forget_some(const struct sqlite_store *s, uint64_t before_ns,
                              struct seam_error *err)
{
	const int64_t numbers[] = { before_ns > INT64_MAX ? INT64_MAX : (int64_t)before_ns,
		                    FORGET_AT_ONCE };
	/* It takes the write lock at once: a transaction that begins by reading could not get it
	 * later. */
	int64_t n;
	int r = sqlite_do(s, "BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	r = sqlite_run(s,
	               "DELETE FROM counts WHERE window IN (SELECT id FROM windows WHERE "
	               "from_ns < ?1 ORDER BY from_ns, id LIMIT ?2)",
	               numbers, 2, NULL, err);
	if (r >= 0)
		r = sqlite_run(s,
		               "DELETE FROM windows WHERE id IN (SELECT id FROM windows WHERE "
		               "from_ns < ?1 ORDER BY from_ns, id LIMIT ?2)",
		               numbers, 2, NULL, err);
	n = r < 0 ? 0 : sqlite3_changes(s->db);
	if (r >= 0 && n)
		r = sqlite_forget_epochs(s, err);
	if (r >= 0)
		r = sqlite_do(s, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r < 0 ? r : (int)n;
}

/* Forgets in small transactions, then gives the pages back to the file system. from_ns: windows
 * before it go; bytes: then the oldest, until the file is that small (0: no bound). How many, or
 * -errno. */
static int64_t sqlite_forget(void *store, uint64_t from_ns, uint64_t bytes, struct seam_error *err)
{
	const struct sqlite_store *s = store;
	struct seam_error why = { 0 };
	int64_t all = 0, now, n;

	while ((n = sqlite_forget_some(s, from_ns, &why)) > 0)
		all += n;
	while (bytes && n >= 0) {
		now = sqlite_bytes(s, &why);
		if (now < 0 || (uint64_t)now <= bytes) {
			n = now < 0 ? now : n;
			break;
		}
		n = sqlite_forget_some(s, UINT64_MAX, &why);
		if (n <= 0)
			break;
		all += n;
	}
	if (n >= 0 && all && sqlite_do(s, "PRAGMA incremental_vacuum", &why) < 0)
		n = -why.code;
	if (n < 0 && err)
		*err = why;
	return n < 0 ? n : all;
}

const struct store_backend sqlite_backend = {
	.scheme = "sqlite",
	.help = "sqlite:FILE (an SQLite database)",
	.open = sqlite_open,
	.close = sqlite_close,
	.put = sqlite_put,
	.forget = sqlite_forget,
	.read = sqlite_read,
	.list = sqlite_list,
};
