/* SPDX-License-Identifier: MIT */
/*
 * view_screen.h: what the unit tests of view/ share: a small profile, a screen in memory that holds
 * what a person would see, and keys. Included behind cmocka.h.
 */
#ifndef SEAM_TESTS_VIEW_SCREEN_H
#define SEAM_TESTS_VIEW_SCREEN_H

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "view/compare.h"
#include "view/view.h"

#define ROWS 14
#define COLUMNS 80

static inline uint32_t frame(struct profile *p, const char *object, const char *symbol,
                             unsigned kind)
{
	struct profile_frame f = { .address = strlen(symbol), .kind = kind };

	f.object = profile_object(p, object, NULL);
	f.symbol = profile_string(p, symbol);
	return profile_frame(p, &f);
}

static inline void add(struct profile *p, uint32_t event, const char *comm,
                       const char *const *stack, uint64_t weight)
{
	struct profile_key key = { .event = event,
		                   .task = profile_task(p, profile_string(p, comm), 1, 1) };

	for (; *stack; stack++) {
		bool kernel = !strncmp(*stack, "k_", 2);

		key.node = profile_node(p, key.node,
		                        frame(p, kernel ? "[kernel.kallsyms]" : "/usr/bin/work",
		                              *stack, kernel ? PROFILE_KERNEL : PROFILE_USER));
	}
	assert_int_equal(profile_add(p, &key, 1, weight), 0);
}

#define STACK(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static inline struct profile *made(void)
{
	const struct profile_state state = { .name = "whole", .text = "whole", .whole = true };
	struct profile *p, *canonical;
	uint32_t cycles, faults;

	assert_int_equal(profile_new(&p, 0), 0);
	cycles = profile_event(p, "cycles");
	profile_event(p, "alignment-faults"); /* without samples */
	faults = profile_event(p, "page-faults");
	profile_set_state(p, 0, &state);
	add(p, cycles, "work",
	    STACK("main", "parse", "std::map<int, std::string>::find(int const&)"), 50);
	add(p, cycles, "work", STACK("main", "parse"), 10);
	add(p, cycles, "work", STACK("main", "write_all", "k_write", "k_copy"), 30);
	add(p, cycles, "other\n\033[2J", STACK("main", "parse", "parse"), 10);
	add(p, faults, "work", STACK("main", "fault_here"), 1);
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

static inline int annotated(void *ctx, const struct view_function *f, int stop, struct buf *out)
{
	(void)ctx;
	(void)stop;
	return buf_printf(out, "%s of %s\n\tret\n", f->symbol, f->object);
}

struct screen {
	char row[ROWS][COLUMNS * 4 + 1];
	unsigned style[ROWS]; /* of what was put last */
};

/* Overwrites columns of a row. What stands there has no wide characters but an ellipsis. */
static inline void put(void *ctx, unsigned row, unsigned column, unsigned style, const char *text)
{
	struct screen *s = ctx;
	size_t have = shown_columns(s->row[row], strlen(s->row[row]));

	assert_true(row < ROWS);
	assert_true(column + shown_columns(text, strlen(text)) <= COLUMNS);
	for (; have < column; have++)
		strcat(s->row[row], " ");
	s->row[row][column < strlen(s->row[row]) ? column : strlen(s->row[row])] = 0;
	strcat(s->row[row], text);
	s->style[row] = style;
}

struct test {
	struct profile *profile;
	struct view *view;
	struct screen screen;
};

static inline void draw(struct test *t)
{
	const struct view_screen s = { ROWS, COLUMNS, &t->screen, put };

	memset(&t->screen, 0, sizeof(t->screen));
	while (view_poll_fd(t->view) >= 0)
		assert_int_equal(view_finish(t->view), 0);
	view_draw(t->view, &s);
}

/* aside_rows: as view_opts has it. */
static inline void start_from(struct test *t, size_t aside_rows)
{
	static const enum rollup_column columns[] = { ROLLUP_COMM, ROLLUP_OBJECT, ROLLUP_SYMBOL };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "perf.data",
		                  .columns = columns,
		                  .n_columns = 3,
		                  .account = "5 samples: all whole\nsecond line\n",
		                  .annotate = annotated,
		                  .aside_rows = aside_rows };

	t->profile = made();
	opts.profile = t->profile;
	assert_int_equal(view_new(&t->view, &opts), 0);
	draw(t);
}

static inline void start(struct test *t)
{
	start_from(t, 0);
}

static inline void end(struct test *t)
{
	view_free(t->view);
	profile_free(t->profile);
}

static inline void keys(struct test *t, const char *text)
{
	for (; *text; text++)
		assert_int_equal(view_key(t->view, *text), 0);
	draw(t);
}

static inline void key(struct test *t, int k)
{
	assert_int_equal(view_key(t->view, k), 0);
	draw(t);
}

/* Whether a row of the screen begins with a text, after blanks. */
static inline void row_is(struct test *t, unsigned row, const char *text)
{
	const char *have = t->screen.row[row] + strspn(t->screen.row[row], " ");

	if (strncmp(have, text, strlen(text)))
		fail_msg("row %u is '%s', not '%s'", row, have, text);
}

static inline void row_has(struct test *t, unsigned row, const char *text)
{
	if (!strstr(t->screen.row[row], text))
		fail_msg("row %u is '%s', without '%s'", row, t->screen.row[row], text);
}

/* Other samples of the same program: parse has more, write_all is gone, main calls something
 * new. */
static inline struct profile *made_later(void)
{
	struct profile *p, *canonical;
	uint32_t cycles;

	assert_int_equal(profile_new(&p, 0), 0);
	profile_event(p, "page-faults");
	cycles = profile_event(p, "cycles");
	add(p, cycles, "work", STACK("main", "new_one"), 10);
	add(p, cycles, "work", STACK("main", "parse"), 90);
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

static inline void renew(struct test *t, struct profile *p, const char *title)
{
	struct view_news news = {
		.profile = p, .owned = true, .title = strdup(title), .account = strdup("later\n")
	};

	assert_int_equal(view_renew(t->view, &news), 0);
	assert_null(news.profile);
	draw(t);
}

#endif
