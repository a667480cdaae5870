/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_reading.h: an answer in progress. clickhouse_counts.c fills what was counted,
 * clickhouse_read.c its stacks and frames.
 */
#ifndef SEAM_STORE_CLICKHOUSE_READING_H
#define SEAM_STORE_CLICKHOUSE_READING_H

#include "base/pool.h"
#include "store/clickhouse/clickhouse.h"

/* The key of rows of an answer: what profile_key has of it. */
struct clickhouse_row_key {
	uint32_t event;       /* of the profile */
	uint32_t comm, label; /* strings of the profile */
	uint32_t slice;
};

/* What is counted apart: ids in keys and stacks. */
struct clickhouse_pair {
	uint32_t key, stack;
};

struct clickhouse_sum {
	uint64_t samples, weight;
};

/* A stack: its frames are numbers of `frames`, leaf first, from `first` on. */
struct clickhouse_chain {
	bool known;
	uint32_t state; /* of the profile */
	size_t first;
	uint32_t n;
	uint32_t node; /* of the profile; PROFILE_FAILED: not made yet */
};

struct clickhouse_reading {
	struct clickhouse *c;
	const struct store_query *q;
	struct profile *into;
	struct store_found *found;
	struct seam_error *err;
	struct http_answer answer; /* to the last statement */
	size_t n_by;
	struct buf where;    /* the condition of the query, with its time */
	struct buf services; /* that it lets through, as a list for IN; empty: too many, or none */
	uint64_t counts;     /* that its rows have, one for each stack of a row; at most */
	struct buf text;
	struct pool keys;            /* struct clickhouse_row_key */
	struct pool stacks;          /* CLICKHOUSE_STACK bytes */
	struct pool pairs;           /* struct clickhouse_pair */
	struct clickhouse_sum *sums; /* by pair, from 0 */
	size_t n_sums, sums_capacity;
	struct clickhouse_chain *chains; /* by stack */
	struct pool frames;              /* uint64_t: hashes */
	uint32_t *path;                  /* of chains */
	size_t n_path, path_capacity;
	size_t *frames_at; /* by frame: its place in the answer, plus 1; 0: not there */
	uint32_t *made;    /* by frame: the profile's; 0: not yet */
};

/* Asks, and takes the answer, which stays until something else is asked. The statement is given
 * up. -EBADMSG. */
int clickhouse_ask(struct clickhouse_reading *r, struct buf *sql,
                   int (*take)(struct clickhouse_reading *r, struct cursor *c));
/* Fills found, where and services. */
int clickhouse_read_windows(struct clickhouse_reading *r);
/* Fills keys, stacks, pairs and sums. */
int clickhouse_read_counts(struct clickhouse_reading *r);

#endif
