// SPDX-License-Identifier: MIT
/* sqlite_query.c: see sqlite.h: statements, and what SQLite says of failures. All statements pass
 * here, so all errors look alike. */
#include "store/sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of the log that stay: what a writer appends between two looks at it. And how long readers
 * are waited for where they have kept it from beginning anew. */
#define LOG_BYTES (4 << 20)
#define LOG_READERS_MS 2000

/* The errno that is nearest to a code of SQLite. */
static int sqlite_errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return EBADMSG;
	default:
		return EIO;
	}
}

/* Fills err from what SQLite says of its last call, with the system's error behind it. -errno. */
int sqlite_fail(const struct sqlite_store *s, struct seam_error *err)
{
	int code = sqlite3_extended_errcode(s->db), system = sqlite3_system_errno(s->db);

	return seam_error_set(err, sqlite_errno(code), s->path, SEAM_NO_OFFSET, NULL, "%s%s%s",
	                      sqlite3_errmsg(s->db), system && code != SQLITE_OK ? ": " : "",
	                      system && code != SQLITE_OK ? strerror(system) : "");
}

/* NULL: err says why. The caller finalizes it. */
sqlite3_stmt *sqlite_prepare(const struct sqlite_store *s, const char *sql, struct seam_error *err)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) == SQLITE_OK)
		return statement;
	sqlite_fail(s, err);
	return NULL;
}

/* 1: a row; 0: the end; -errno. */
int sqlite_step(const struct sqlite_store *s, sqlite3_stmt *statement, struct seam_error *err)
{
	int code = sqlite3_step(statement);

	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : sqlite_fail(s, err);
}

int sqlite_blob(sqlite3_stmt *statement, int column, const void **bytes, size_t *n)
{
	*bytes = sqlite3_column_blob(statement, column);
	*n = (size_t)sqlite3_column_bytes(statement, column);
	return !*bytes && sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM ? -ENOMEM
	                                                                                : 0;
}

/* ?1 and ?2 are the ends of the query's span. SQLite has signed numbers only. */
void sqlite_bind_span(sqlite3_stmt *statement, const struct store_query *q)
{
	sqlite3_bind_int64(statement, 1, q->from_ns > INT64_MAX ? INT64_MAX : (int64_t)q->from_ns);
	sqlite3_bind_int64(statement, 2, q->to_ns > INT64_MAX ? INT64_MAX : (int64_t)q->to_ns);
}

/* A statement, or several, without values. -errno. */
int sqlite_do(const struct sqlite_store *s, const char *sql, struct seam_error *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(s, err);
}

/* Runs a statement of up to three numbers, and forgets it; first: of its first row, 0: none. The
 * error is in err, too. */
int sqlite_run(const struct sqlite_store *s, const char *sql, const int64_t *numbers, int n,
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

/* Inserts a row of numbers and, as its last column, bytes. -errno. */
int sqlite_insert_blob(const struct sqlite_store *s, const char *sql, const int64_t *numbers, int n,
                       const struct buf *data, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(s, sql, err);
	int r;

	if (!statement)
		return -err->code;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(statement, i + 1, numbers[i]);
	sqlite3_bind_blob(statement, n + 1, data->n ? (const void *)data->bytes : "", (int)data->n,
	                  SQLITE_STATIC);
	r = sqlite_step(s, statement, err);
	sqlite3_finalize(statement);
	return r;
}

/* Begins an epoch. The number is that of the row, which is never given twice. -errno. */
int sqlite_add_epoch(const struct sqlite_store *s, const char *instance, uint64_t from_ns,
                     int64_t names, uint64_t step_ns, int64_t *ret, struct seam_error *err)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(s,
	                       "INSERT INTO epochs (instance, from_ns, names, step_ns) "
	                       "VALUES (?1, ?2, ?3, ?4)",
	                       err);
	int r;

	if (!statement)
		return -err->code;
	sqlite3_bind_text(statement, 1, instance, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, (int64_t)from_ns);
	sqlite3_bind_int64(statement, 3, names);
	sqlite3_bind_int64(statement, 4, (int64_t)step_ns);
	r = sqlite_step(s, statement, err);
	sqlite3_finalize(statement);
	if (r >= 0)
		*ret = sqlite3_last_insert_rowid(s->db);
	return r;
}

/* ---- the log ---- */

/* 0: there is none. */
static int64_t sqlite_log_bytes(const struct sqlite_store *s)
{
	char path[PATH_MAX];
	struct stat st;

	return (size_t)snprintf(path, sizeof(path), "%s-wal", s->path) < sizeof(path) &&
	                       stat(path, &st) >= 0
	               ? st.st_size
	               : 0;
}

/* The log begins anew by itself where no reader needs it. Where one reader follows on another there
 * is always one, and it would grow without end: so where it has grown, writing waits for those that
 * read now; who begins meanwhile needs the database alone. A reader that takes longer is not waited
 * for again before as much has come. */
void sqlite_trim_log(struct sqlite_store *s)
{
	int64_t bytes = sqlite_log_bytes(s);

	if (bytes > s->log_was + LOG_BYTES) {
		sqlite3_busy_timeout(s->db, LOG_READERS_MS);
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		sqlite3_busy_timeout(s->db, SQLITE_BUSY_MS);
		s->log_was = bytes = sqlite_log_bytes(s);
	}
	if (bytes <= LOG_BYTES)
		s->log_was = 0;
}
