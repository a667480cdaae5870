// SPDX-License-Identifier: MIT
/*
 * sqlite.c: see sqlite.h: opening, the schema, and what it was in older versions.
 *
 * Writer and readers may be several processes. WAL lets readers go on while a window is written;
 * one agent at a time writes (a lock on a file beside the database).
 */
#include "store/sqlite_counts.h"
#include "store/sqlite_hours.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* What version 1 had, which version 2 adds to. */
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
        "CREATE TABLE counts (window INTEGER NOT NULL, series INTEGER NOT NULL, event INTEGER NOT "
        "NULL,"
        " samples INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (window, series, event)) "
        "WITHOUT ROWID;";

/* From version 1 to 2: epochs share names, and are compacted (sqlite.h). */
static const char schema_2[] =
        "ALTER TABLE epochs ADD COLUMN names INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE epochs ADD COLUMN step_ns INTEGER NOT NULL DEFAULT 0;"
        "UPDATE epochs SET names = id;"
        "CREATE INDEX epochs_names ON epochs (names);"
        /* An epoch that says nothing else has its own names; a seam of version 1 that is still
         * running makes such. */
        "CREATE TRIGGER epochs_own_names AFTER INSERT ON epochs WHEN new.names = 0 BEGIN "
        "UPDATE epochs SET names = new.id WHERE id = new.id; END;"
        "ALTER TABLE windows ADD COLUMN begins BLOB NOT NULL DEFAULT x'';"
        "CREATE INDEX windows_merged ON windows (from_ns) WHERE begins <> x'';"
        "DROP INDEX IF EXISTS windows_epoch;"
        "CREATE INDEX windows_epoch_from ON windows (epoch, from_ns);";

/* From version 2 to 3: stacks are folded. */
static const char schema_3[] = "ALTER TABLE epochs ADD COLUMN folded INTEGER NOT NULL DEFAULT 0;";

/* From version 3 to 4: all counts of a window together. A seam of before that is still running
 * would let windows go without them, and merge windows as if they had none. */
static const char schema_4[] =
        "CREATE TABLE counted (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
        "CREATE TRIGGER windows_counted BEFORE DELETE ON windows WHEN EXISTS (SELECT 1 FROM "
        "counted WHERE " SQLITE_PIECES_OF(
                "old.id") ") BEGIN SELECT RAISE(ABORT, "
                          "'the store is of a newer seam: its counts are elsewhere'); END;";

/* Who may only read a store of an older version sees it as one of this. */
static const char views_1[] = "CREATE TEMP VIEW epochs AS SELECT *, id AS names, 0 AS step_ns, "
                              "0 AS folded FROM main.epochs;"
                              "CREATE TEMP VIEW windows AS SELECT *, x'' AS begins FROM "
                              "main.windows;";
static const char views_2[] = "CREATE TEMP VIEW epochs AS SELECT *, 0 AS folded FROM main.epochs;";
static const char views_3[] = "CREATE TEMP VIEW counted AS SELECT 0 AS id, x'' AS data WHERE 0;";

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

/* What is no file cannot be a store, and opening a pipe would wait for who writes to it. -errno. */
static int sqlite_may_be_store(const char *path, struct seam_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return seam_error_set(err, S_ISDIR(st.st_mode) ? EISDIR : EBADMSG, path, SEAM_NO_OFFSET,
	                      NULL, "%s", S_ISDIR(st.st_mode) ? strerror(EISDIR) : "is no file");
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

/* Looks what the database is. 1: it is new; 0: it is ours, of version *form; -errno. */
static int sqlite_check(const struct sqlite_store *s, int64_t *form, struct seam_error *err)
{
	int64_t application, tables;
	int r = sqlite_run(s, "PRAGMA application_id", NULL, 0, &application, err);

	if (r >= 0)
		r = sqlite_run(s, "PRAGMA user_version", NULL, 0, form, err);
	if (r >= 0)
		r = sqlite_run(s, "SELECT count(*) FROM sqlite_master", NULL, 0, &tables, err);
	if (r < 0)
		return r;
	if (application == SQLITE_APPLICATION && *form > SQLITE_FORM)
		return seam_error_set(err, EPROTO, s->path, SEAM_NO_OFFSET, NULL,
		                      "the store is of version %lld, of a newer seam: this one "
		                      "knows version %d",
		                      (long long)*form, SQLITE_FORM);
	if (application == SQLITE_APPLICATION && *form >= 1)
		return 0;
	return application || *form || tables
	               ? seam_error_set(err, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
	                                "an SQLite database, but no store of "
	                                "seam")
	               : 1;
}

/* Makes a new database a store, or brings one of an older version to this one. In one transaction,
 * so that of two who do it one finds it done. -errno; then all is as it was. */
static int sqlite_make(const struct sqlite_store *s, struct seam_error *err)
{
	char sql[128];
	int64_t form = 0;
	int r = sqlite_do(
	        s, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	r = sqlite_check(s, &form, err);
	if (r > 0) {
		r = sqlite_do(s, schema, err);
		form = 1;
	}
	if (r >= 0 && form < SQLITE_FORM) {
		snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		         SQLITE_APPLICATION, SQLITE_FORM);
		r = form < 2 ? sqlite_do(s, schema_2, err) : 0;
		if (r >= 0 && form < 3)
			r = sqlite_do(s, schema_3, err);
		if (r >= 0)
			r = sqlite_do(s, schema_4, err);
		if (r >= 0)
			r = sqlite_do(s, sql, err);
	}
	if (r >= 0)
		return sqlite_do(s, "COMMIT", err);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* Lets a reader see a store of an older version as one of this. -errno. */
static int sqlite_view_as_new(const struct sqlite_store *s, int64_t form, struct seam_error *err)
{
	int r = sqlite_do(s, views_3, err);

	return r < 0 || form > 2 ? r : sqlite_do(s, form == 1 ? views_1 : views_2, err);
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

/* Takes a file as what it was last, as nobody writes to it, and needs no file beside it. Such a
 * path is a URI. -errno. */
static int sqlite_open_fixed(struct sqlite_store *s, struct seam_error *err)
{
	struct buf uri = { 0 };
	int r;

	buf_put_text(&uri, "file:");
	for (const char *at = s->path; *at; at++)
		if (strchr("%?#", *at))
			buf_printf(&uri, "%%%02x", (unsigned)*at);
		else
			buf_put(&uri, at, 1);
	buf_put_text(&uri, "?immutable=1");
	sqlite3_close(s->db);
	s->db = NULL;
	r = uri.failed
	            ? SQLITE_NOMEM
	            : sqlite3_open_v2(buf_text(&uri), &s->db,
	                              SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
	                              NULL);
	buf_free(&uri);
	s->fixed = true;
	return r == SQLITE_OK ? 0 : s->db ? sqlite_fail(s, err) : -ENOMEM;
}

/* Whether the log has anything that the database has not. */
static bool sqlite_has_log(const struct sqlite_store *s)
{
	char path[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s-wal", s->path) >= sizeof(path))
		return true;
	return stat(path, &st) >= 0 ? st.st_size > 0 : errno != ENOENT;
}

/* Says how the database is to behave: nothing in the file is trusted, and a reader never waits for
 * the writer. */
static void sqlite_set(const struct sqlite_store *s)
{
	/* Extended codes tell what failed in the file system. */
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, SQLITE_BUSY_MS);
	/* The database may be a stranger's: its schema may not run code or write to internals. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* A value larger than a block is refused before it is read. */
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, BLOCKS_BYTES_MAX + 1024);
}

/* Looks at the database. SQLite makes files beside it to read it; who may not make them gets what
 * it was when its last writer ended. As sqlite_check. */
static int sqlite_look(struct sqlite_store *s, int64_t *form, struct seam_error *err)
{
	int r = sqlite_check(s, form, err);
	const int code = r < 0 ? sqlite3_errcode(s->db) & 0xff : SQLITE_OK;

	if (s->writes || (code != SQLITE_READONLY && code != SQLITE_CANTOPEN) ||
	    access(s->path, R_OK) < 0)
		return r;
	if (sqlite_has_log(s))
		return seam_error_set(err, EACCES, s->path, SEAM_NO_OFFSET, NULL,
		                      "what was put last is in its log, which only those can read "
		                      "who may write to the directory");
	if (stat(s->path, &s->was) < 0)
		return r;
	r = sqlite_open_fixed(s, err);
	if (r < 0)
		return r;
	sqlite_set(s);
	return sqlite_check(s, form, err);
}

/* Opens the database. -errno. */
static int sqlite_open_database(struct sqlite_store *s, struct seam_error *err)
{
	int flags = s->writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	int64_t form = 0;
	int r;

	if (sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return s->db ? sqlite_fail(s, err) : -ENOMEM;
	sqlite_set(s);
	r = sqlite_look(s, &form, err);
	if (r > 0 && !s->writes)
		r = seam_error_set(err, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
		                   "the store is empty");
	else if (r >= 0 && form < SQLITE_FORM)
		r = s->writes ? sqlite_make(s, err) : sqlite_view_as_new(s, form, err);
	if (r >= 0)
		r = sqlite_do(s,
		              "PRAGMA synchronous=FULL; PRAGMA cache_size=-4096; PRAGMA "
		              "journal_size_limit=4194304",
		              err);
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
	else if ((mode == STORE_WRITE || mode == STORE_AGENT) && !in_memory)
		r = sqlite_make_file(s, err);
	else if (!in_memory && access(rest, R_OK) < 0)
		r = seam_error_set(err, errno, rest, SEAM_NO_OFFSET, NULL, "%s", strerror(errno));
	if (r >= 0 && !in_memory)
		r = sqlite_may_be_store(rest, err);
	if (r >= 0 && (mode == STORE_AGENT || mode == STORE_COMPACT))
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

/* ---- answers ---- */

/* What was read without locks is an answer if nobody wrote to the file meanwhile. r, or -errno. */
static int sqlite_unchanged(const struct sqlite_store *s, int r, struct seam_error *err)
{
	struct stat now;

	if (r < 0 || !s->fixed)
		return r;
	if (stat(s->path, &now) >= 0 && now.st_ino == s->was.st_ino &&
	    now.st_size == s->was.st_size && now.st_mtim.tv_sec == s->was.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == s->was.st_mtim.tv_nsec)
		return r;
	return seam_error_set(err, EAGAIN, s->path, SEAM_NO_OFFSET, NULL,
	                      "somebody wrote to the store while it was read");
}

static int sqlite_answer(void *store, const struct store_query *q, struct profile *into,
                         struct store_found *ret, struct seam_error *err)
{
	return sqlite_unchanged(store, sqlite_read(store, q, into, ret, err), err);
}

static int sqlite_answer_list(void *store, const struct store_query *q, struct store_listing *ret,
                              struct seam_error *err)
{
	return sqlite_unchanged(store, sqlite_list(store, q, ret, err), err);
}

static int sqlite_answer_functions(void *store, const struct store_query *q, unsigned limit,
                                   struct store_functions *ret, struct seam_error *err)
{
	return sqlite_unchanged(store, sqlite_functions(store, q, limit, ret, err), err);
}

const struct store_backend sqlite_backend = {
	.scheme = "sqlite",
	.help = "sqlite:FILE (an SQLite database)",
	.open = sqlite_open,
	.close = sqlite_close,
	.put = sqlite_put,
	.forget = sqlite_forget,
	.compact = sqlite_compact,
	.read = sqlite_answer,
	.list = sqlite_answer_list,
	.roll_up = sqlite_roll_up,
	.functions = sqlite_answer_functions,
};
