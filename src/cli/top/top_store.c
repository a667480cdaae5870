// SPDX-License-Identifier: MIT
// top_store.c: see top.h. A refresh is a report of the last while of a store, whoever puts into it.
#include <errno.h>
#include <string.h>

#include "base/shown.h"
#include "base/when.h"
#include "cli/top/top.h"

/* Whether no store was asked for, or one with nothing that is for recordings. */
bool top_store_ready(struct top *t)
{
	const char *other = t->o.rec.command               ? "a command"
	                    : t->o.rec.session.n_pids      ? "-p and -t"
	                    : t->o.rec.session.n_cpus      ? "-C"
	                    : t->o.events.n                ? "-e"
	                    : report_keeps(&t->view)       ? "a sort key that stores do not keep"
	                    : t->stored.to || t->stored.by ? "--to and --by"
	                                                   : NULL;

	/* A minute has several windows in it, and is short enough to be now. */
	if (t->stored.url && !t->stored.from)
		t->stored.from = "-1m";
	return stored_ready(&t->stored, t->cmd, other);
}

/* The line above the table. */
static void top_store_heading(const struct top *t, const struct answer *a, uint64_t span_ns,
                              struct buf *out)
{
	struct profile_account account;
	char number[32];

	profile_account(a->load.profile, 0, &account);
	shown_printf(out, "seam top: %s samples of the last %.0f s in %s",
	             report_number(account.samples, number, sizeof(number)), (double)span_ns / 1e9,
	             t->stored.url);
	if (account.samples)
		shown_printf(out, ", %.1f %% with whole stacks",
		             report_percent(account.whole, account.samples));
	buf_put_text(out, "\n");
	quality_text(&a->found, out);
}

/* Shows the span that ends now. 0; -errno, after saying why. */
int top_store_refresh(struct top *t)
{
	uint64_t span_ns = t->stored.query.to_ns - t->stored.query.from_ns;
	struct store_query q = t->stored.query;
	struct seam_error err = { 0 };
	struct report r = t->view;
	struct buf heading = { 0 };
	struct answer a = { 0 };
	struct store *store;
	int e = store_open(&store, t->stored.url, STORE_READ, &err);

	q.to_ns = when_now_ns();
	q.from_ns = q.to_ns - span_ns;
	t->refreshes++;
	if (e >= 0) {
		e = answer_load(&a, store, &q, 0, &err);
		store_close(store);
	}
	if (e >= 0) {
		r.load = a.load;
		top_store_heading(t, &a, span_ns, &heading);
		e = heading.failed ? -ENOMEM : t->show(t, &r, &heading);
	}
	buf_free(&heading);
	answer_free(&a);
	if (e < 0)
		cmd_error(t->cmd, "%s", cmd_reason(&err, e));
	return e < 0 ? e : 0;
}
