// SPDX-License-Identifier: MIT
// Unit tests of view/fold: lines of a tree that is far too large to be made, and of a pane of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "view_screen.h"
#include "view/fold.h"

/* Each node has two children, down to a depth at which there are more nodes than there is memory
 * for. A node's name is whether it is a second child. */
#define LEVELS 200
struct endless {
	struct fold fold;
	uint32_t level[200000];
	unsigned grown;
};

static int grow(void *ctx, uint32_t node)
{
	struct endless *e = ctx;
	struct fold *f = &e->fold;
	uint32_t child = (uint32_t)f->n;

	e->grown++;
	if (e->level[node] < LEVELS) {
		assert_int_equal(fold_more(f, f->n + 2), 0);
		for (uint32_t i = 0; i < 2; i++) {
			f->nodes[child + i] = (struct fold_node){ .parent = node, .name = i };
			e->level[child + i] = e->level[node] + 1;
		}
		f->nodes[child].next_sibling = child + 1;
		f->nodes[node].first_child = child;
	}
	f->nodes[node].grown = true;
	return 0;
}

/* Only first children, down to where the way ends, lead to something. */
static bool leads(const void *ctx, uint32_t node)
{
	const struct endless *e = ctx;

	for (uint32_t at = node; at; at = e->fold.nodes[at].parent)
		if (e->fold.nodes[at].name)
			return false;
	return e->level[node] < LEVELS;
}

static struct endless *endless_new(void)
{
	struct endless *e = calloc(1, sizeof(*e));

	assert_int_equal(fold_new(&e->fold, 1, 2), 0);
	e->fold.grow = grow;
	e->fold.leads = leads;
	e->fold.ctx = e;
	assert_int_equal(fold_grow(&e->fold, 0), 0);
	fold_list(&e->fold, 0);
	return e;
}

static void endless_free(struct endless *e)
{
	fold_free(&e->fold);
	free(e);
}

static void opening_all_makes_what_is_looked_at(void **state)
{
	struct endless *e = endless_new();
	struct fold *f = &e->fold;
	size_t at = 0, n;

	(void)state;
	assert_int_equal(f->n_lines, 2);
	assert_int_equal(f->next.node, 0);
	assert_true(fold_key(f, &at, 'E'));
	assert_int_equal(at, 0);
	assert_int_equal(f->n_lines, FOLD_AHEAD);
	assert_true(f->next.node);
	assert_true(e->grown <= FOLD_AHEAD + 1);
	for (size_t i = 1; i < f->n_lines; i++) {
		uint32_t up = f->nodes[f->lines[i].node].parent;

		/* Depth first: behind its parent, or behind all that is below its sibling. */
		assert_true(f->lines[i - 1].node == up || f->nodes[f->lines[i].node].name == 1);
	}
	n = e->grown;
	fold_reach(f, NULL, 5 * FOLD_AHEAD);
	assert_int_equal(f->n_lines, 5 * FOLD_AHEAD);
	assert_true(e->grown <= n + 4 * FOLD_AHEAD + 1);
	/* A branch that is closed on the way stays so, and what was opened below it, too. */
	n = f->n;
	at = 1000;
	assert_true(fold_key(f, &at, '-'));
	assert_int_equal(f->n_lines, 1000 + FOLD_AHEAD);
	assert_true(fold_key(f, &at, 'C'));
	assert_int_equal(at, 0);
	assert_int_equal(f->n_lines, 2);
	assert_int_equal(f->next.node, 0);
	endless_free(e);
}

static void a_row_far_down_is_sought(void **state)
{
	struct endless *e = endless_new();
	struct fold *f = &e->fold;
	size_t at = 1;
	uint32_t second = f->lines[1].node;

	(void)state;
	/* What is open above the second node has more lines than can be made. */
	assert_true(fold_key(f, &at, 'E'));
	assert_int_equal(f->sought, second);
	assert_int_equal(at, 1);
	fold_reach(f, &at, 3 * FOLD_AHEAD);
	assert_int_equal(f->sought, second);
	/* Another key, and it is not sought any more. */
	assert_true(fold_key(f, &at, 'e'));
	assert_int_equal(f->sought, 0);
	/* One that is near enough is found. */
	assert_true(fold_key(f, &at, 'C'));
	at = 1;
	f->nodes[f->lines[0].node].grown = true;
	f->nodes[f->lines[0].node].first_child = 0;
	assert_true(fold_key(f, &at, 'E'));
	assert_int_equal(f->sought, 0);
	assert_int_equal(fold_at(f, at), second);
	endless_free(e);
}

static void a_filter_enters_what_leads_to_something(void **state)
{
	struct endless *e = endless_new();
	struct fold *f = &e->fold;
	uint32_t deepest;
	size_t at = 0;

	(void)state;
	f->passes[1] = true;
	fold_filter(f, true, &at);
	/* One second child beside each node of the way, and nothing below those. */
	assert_int_equal(f->n_lines, LEVELS);
	assert_int_equal(f->next.node, 0);
	assert_true(e->grown <= LEVELS + 1);
	/* Without the filter the way to what was found is open, and nothing else. */
	deepest = fold_at(f, at);
	fold_filter(f, false, &at);
	assert_int_equal(at, LEVELS);
	assert_int_equal(fold_at(f, at), deepest);
	fold_reach(f, NULL, 3 * LEVELS);
	assert_int_equal(f->n_lines, 2 * LEVELS);
	assert_int_equal(f->next.node, 0);
	endless_free(e);
}

static bool same(const void *other, uint32_t its, const void *ctx, uint32_t node)
{
	const struct endless *a = other, *b = ctx;

	return a->fold.nodes[its].name == b->fold.nodes[node].name;
}

/* Of a tree that is all open, what is closed; nothing else is made for that. */
static void what_differs_is_carried_to_another_tree(void **state)
{
	struct endless *a = endless_new(), *b = endless_new();
	size_t at = 0;
	uint32_t here;

	(void)state;
	b->fold.same = same;
	assert_true(fold_key(&a->fold, &at, 'E'));
	at = 2;
	assert_true(fold_key(&a->fold, &at, '-'));
	here = fold_carry(&b->fold, &a->fold, fold_at(&a->fold, at));
	assert_true(here);
	assert_true(b->grown <= 4);
	fold_list(&b->fold, 0);
	assert_int_equal(fold_at(&b->fold, at), here);
	assert_int_equal(b->fold.n_lines, FOLD_AHEAD);
	for (size_t i = 0; i < at + 50; i++)
		assert_int_equal(b->fold.lines[i].depth, a->fold.lines[i].depth);
	assert_false(b->fold.open[here]);
	endless_free(a);
	endless_free(b);
}

/* ---- a pane: so many lines that they are made in steps ---- */

#define WIDE 40

/* main calls WIDE functions, each of them WIDE others, and so on: 65,641 nodes below main. */
static struct profile *wide(void)
{
	struct profile *p, *canonical;
	uint32_t cycles;

	assert_int_equal(profile_new(&p, 0), 0);
	cycles = profile_event(p, "cycles");
	for (unsigned i = 0; i < WIDE * WIDE * WIDE; i++) {
		char name[3][16];

		for (unsigned k = 0, n = i; k < 3; k++, n /= WIDE)
			snprintf(name[k], sizeof(name[k]), "f%u_%u", k, n % WIDE);
		add(p, cycles, "work", STACK("main", name[0], name[1], name[2]), 1);
	}
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

/* aside_rows: 1: steps are short. */
static void start_wide(struct test *t, size_t aside_rows)
{
	static const enum rollup_column columns[] = { ROLLUP_SYMBOL };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .title = "perf.data",
		                  .columns = columns,
		                  .n_columns = 1,
		                  .aside_rows = aside_rows };

	t->profile = wide();
	opts.profile = t->profile;
	assert_int_equal(view_new(&t->view, &opts), 0);
	draw(t);
	keys(t, "2");
}

#define LINES "/65641"

static void press(struct test *t, const char *text)
{
	const struct view_screen s = { ROWS, COLUMNS, &t->screen, put };

	for (; *text; text++)
		assert_int_equal(view_key(t->view, *text), 0);
	memset(&t->screen, 0, sizeof(t->screen));
	view_draw(t->view, &s);
}

static void the_end_of_a_long_list_is_come_to_in_steps(void **state)
{
	struct test t;

	(void)state;
	start_wide(&t, 1);
	keys(&t, "E");
	row_has(&t, ROWS - 1, "1/256+");
	keys(&t, "jjj");
	row_has(&t, ROWS - 1, "4/2");
	press(&t, "G");
	assert_true(view_makes(t.view));
	row_has(&t, 0, "lines, Esc: no more]");
	assert_true(view_poll_fd(t.view) >= 0);
	assert_int_equal(view_finish(t.view), 0);
	assert_true(view_makes(t.view));
	/* Left half way, the cursor is as far as it came. */
	press(&t, "\033");
	assert_int_equal(view_finish(t.view), 0);
	assert_false(view_makes(t.view));
	press(&t, "");
	row_has(&t, ROWS - 1, "+");
	press(&t, "g");
	row_has(&t, ROWS - 1, " 1/");
	/* Keys that come meanwhile are done at the end. */
	press(&t, "Gk");
	draw(&t);
	row_has(&t, ROWS - 1, "65640" LINES);
	/* What leaves does not wait. */
	press(&t, "CEG");
	assert_true(view_makes(t.view));
	assert_int_equal(view_key(t.view, 'q'), 1);
	end(&t);
}

static void all_lines_are_made_for_a_file_and_for_marks(void **state)
{
	char path[] = "/tmp/seam_view_fold_XXXXXX", line[64];
	int fd = mkstemp(path);
	size_t n = 0;
	struct test t;
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	start_wide(&t, 1);
	snprintf(line, sizeof(line), "Ew%s\n", path);
	keys(&t, line);
	row_has(&t, ROWS - 1, "written");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strchr(line, '\n') != NULL;
	fclose(f);
	unlink(path);
	assert_int_equal(n, 65641 + 1); /* and the heading */
	keys(&t, "GmC");
	row_has(&t, ROWS - 1, "1/1");
	keys(&t, "EnNn");
	row_has(&t, ROWS - 1, LINES);
	end(&t);
}

/* Each function of the last level is below each of the two above it. */
static void a_filter_lists_what_passes_and_goes_on(void **state)
{
	struct test t;

	(void)state;
	start_wide(&t, 0);
	keys(&t, "/f2_39\n");
	row_has(&t, ROWS - 1, "1/256+");
	row_has(&t, 3, "f2_39");
	keys(&t, "G");
	row_has(&t, ROWS - 1, "1600/1600");
	/* Without the filter, what was found is where it is in the tree. */
	key(&t, VIEW_KEY_ESCAPE);
	row_has(&t, ROWS - 1, "/121");
	row_has(&t, 3 + ROWS - 5, "f2_39");
	keys(&t, "C");
	row_has(&t, ROWS - 1, "1/1");
	/* Behind all that is opened the cursor's row comes again. */
	key(&t, VIEW_KEY_ENTER);
	keys(&t, "GE");
	row_has(&t, 3 + ROWS - 5, "f0_9 (work)");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_all_makes_what_is_looked_at),
		cmocka_unit_test(a_row_far_down_is_sought),
		cmocka_unit_test(a_filter_enters_what_leads_to_something),
		cmocka_unit_test(what_differs_is_carried_to_another_tree),
		cmocka_unit_test(the_end_of_a_long_list_is_come_to_in_steps),
		cmocka_unit_test(all_lines_are_made_for_a_file_and_for_marks),
		cmocka_unit_test(a_filter_lists_what_passes_and_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
