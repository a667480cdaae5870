// SPDX-License-Identifier: MIT
/* sqlite_query.c: see sqlite.h: statements, and what SQLite says of failures. All statements pass
 * here, so all errors look alike. */
#include "store/sqlite.h"

#include <errno.h>
#include <string.h>

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

/* ?1 and ?2 are the ends of the query's span. SQLite has signed numbers only. */
void sqlite_bind_span(sqlite3_stmt *statement, const struct store_query *q)
{
	sqlite3_bind_int64(statement, 1, q->from_ns > INT64_MAX ? INT64_MAX : (int64_t)q->from_ns);
	sqlite3_bind_int64(statement, 2, q->to_ns > INT64_MAX ? INT64_MAX : (int64_t)q->to_ns);
}
