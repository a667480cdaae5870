// SPDX-License-Identifier: MIT
// clickhouse_sql.c: see clickhouse.h: statements, inserts, and the bytes of RowBinary.
#include "store/clickhouse/clickhouse.h"

#include <errno.h>
#include <string.h>

#include "base/leb.h"
#include "store/stacks/blocks.h"

/* A text of harmless characters stands between quotes; any other one by its bytes' numbers, so that
 * no rule of quoting matters. */
void clickhouse_sql_text(struct buf *sql, const char *text)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                               "0123456789_.:/@+= -";

	if (!text[strspn(text, harmless)]) {
		buf_printf(sql, "'%s'", text);
		return;
	}
	buf_put_text(sql, "unhex('");
	for (; *text; text++)
		buf_printf(sql, "%02X", (unsigned char)*text);
	buf_put_text(sql, "')");
}

void clickhouse_sql_table(const struct clickhouse *c, struct buf *sql, const char *table)
{
	buf_printf(sql, "%s%s", c->database, table);
}

/* The statement is the body: it may be longer than a URL. The server answers when it is done, so
 * that a failure half-way has its status. */
int clickhouse_query(struct clickhouse *c, struct buf *sql, struct http_answer *ret,
                     struct seam_error *err)
{
	/* Old servers have LowCardinality for those who ask for it. Rows of one key are of one
	 * time, and so in one partition: FINAL need not look for them in the others. All that is
	 * asked for is in the key, so it may be looked at before rows are compared. What a
	 * statement inserts the next one reads, so on a cluster it waits for the other servers. A
	 * statement may name many frames. */
	static const char *const paths[] = {
		"/?wait_end_of_query=1",
		"/?wait_end_of_query=1&insert_distributed_sync=1"
		"&allow_experimental_low_cardinality_type=1",
		"/?wait_end_of_query=1&insert_distributed_sync=1"
		"&do_not_merge_across_partitions_select_final=1"
		"&optimize_move_to_prewhere_if_final=1&max_query_size=16000000",
	};
	const unsigned age = !c->server ? 0 : c->server < CLICKHOUSE_MODERN ? 1 : 2;
	const struct http_request q = { .path = paths[age],
		                        .content_type = "text/plain",
		                        .body = sql->bytes,
		                        .n = sql->n,
		                        .most = CLICKHOUSE_ANSWER };

	*ret = (struct http_answer){ 0 };
	return sql->failed ? -ENOMEM : http_post(c->http, &q, ret, err);
}

int clickhouse_do(struct clickhouse *c, struct buf *sql, struct seam_error *err)
{
	struct http_answer answer;
	int r = clickhouse_query(c, sql, &answer, err);

	http_answer_free(&answer);
	buf_free(sql);
	return r;
}

/* A token lets servers that know it drop a batch that they had, before any merge. */
int clickhouse_insert(struct clickhouse *c, const char *what, const char *token,
                      const struct buf *rows, struct seam_error *err)
{
	struct buf sql = { 0 }, path = { 0 };
	struct http_answer answer = { 0 };
	int r = rows->failed ? -ENOMEM : 0;

	if (r < 0 || !rows->n)
		return r;
	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, what);
	if (token && c->server >= CLICKHOUSE_MODERN)
		buf_printf(&sql, " SETTINGS insert_deduplication_token = '%s'", token);
	buf_put_text(&sql, " FORMAT RowBinary");
	buf_put_text(&path, "/?query=");
	http_escape(&path, buf_text(&sql));
	if (sql.failed || path.failed) {
		r = -ENOMEM;
	} else {
		const struct http_request q = {
			.path = buf_text(&path), .body = rows->bytes, .n = rows->n, .gzip = true
		};

		r = http_post(c->http, &q, &answer, err);
	}
	http_answer_free(&answer);
	buf_free(&sql);
	buf_free(&path);
	return r;
}

void clickhouse_put_text(struct buf *row, const char *text)
{
	size_t n = strnlen(text, BLOCKS_STRING_MAX);

	blocks_put_number(row, n);
	buf_put(row, text, n);
}

/* Copies into room, which gives the text its NUL. */
const char *clickhouse_text(struct cursor *c, struct buf *room)
{
	uint64_t n = leb_unsigned(c);
	const unsigned char *bytes = cursor_bytes(c, n);

	buf_clear(room);
	if (bytes && (n > BLOCKS_BYTES_MAX || memchr(bytes, 0, n)))
		cursor_fail(c);
	else if (bytes)
		buf_put(room, bytes, n);
	return buf_text(room);
}

int clickhouse_bad(const struct clickhouse *c, struct seam_error *err)
{
	return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, NULL,
	                      "%s: the server's answer makes no sense", c->remote.origin);
}

/* The statement is given up. */
int clickhouse_is(struct clickhouse *c, struct buf *sql, struct seam_error *err)
{
	struct http_answer answer;
	int r = clickhouse_query(c, sql, &answer, err);

	if (r >= 0)
		r = answer.body.n && answer.body.bytes[0] != '0';
	http_answer_free(&answer);
	buf_free(sql);
	return r;
}

/* Runs, or says, a statement. */
int clickhouse_make(struct clickhouse *c, const struct store_init *o, struct buf *sql,
                    struct seam_error *err)
{
	if (!sql->failed && o->say)
		o->say(o->ctx, buf_text(sql));
	if (!o->only_say)
		return clickhouse_do(c, sql, err);
	buf_free(sql);
	return 0;
}
