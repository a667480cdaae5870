// SPDX-License-Identifier: MIT
// diff_show.c: a comparison as text, JSON and CSV. Knows words and columns; decides nothing.
//
// Invariant: no change is shown without how much of it noise could be.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/color.h"
#include "base/json.h"
#include "base/shown.h"
#include "base/csv.h"
#include "report/diff.h"

static const char *const verdicts[] = {
	[DIFF_SAME] = "same",
	[DIFF_FASTER] = "faster",
	[DIFF_SLOWER] = "slower",
};

/* Whether the comparison has this column. The event stands behind the row. */
static bool diff_shows(const struct diff *d, unsigned column)
{
	return column != ROLLUP_EVENT && d->keys.fields.columns & 1u << column;
}

/* Rows that a gate judges are shown however small they are. */
static bool diff_visible(const struct diff *d, const struct diff_row *row)
{
	return row->gated || row->share * 100 >= d->percent_limit;
}

/* Writes a row's figures: both sides, the change with its margin, and the ratio with its
 * interval. */
static void diff_text_figures(const struct diff *d, const struct diff_row *row, struct buf *out)
{
	const char *color = !d->color || row->verdict == DIFF_SAME ? ""
	                    : row->verdict == DIFF_SLOWER          ? COLOR_RED
	                                                           : COLOR_GREEN;

	if (d->absolute)
		shown_printf(out, "%15.0f %15.0f ", row->base, row->next);
	else
		shown_printf(out, "%7.2f%% %7.2f%% ", row->base * 100, row->next * 100);
	buf_put_text(out, color);
	if (d->absolute)
		shown_printf(out, "%+15.0f", row->next - row->base);
	else
		shown_printf(out, "%+7.2f%% ±%5.2f", (row->next - row->base) * 100,
		             row->noise.margin * 100);
	buf_printf(out, "%s  %6.2f (%.2f ... %.2f)", *color ? COLOR_PLAIN : "", row->noise.ratio,
	           row->noise.least, row->noise.most);
	buf_put_text(out, row->fails                  ? "  FAIL  "
	                  : row->may                  ? "  maybe "
	                  : row->verdict == DIFF_SAME ? "  noise "
	                                              : "        ");
}

/* The figures, then the names, then the event where there are several. */
static void diff_text_row(const struct diff *d, const struct diff_row *row, struct buf *out)
{
	size_t place = 0;

	diff_text_figures(d, row, out);
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (diff_shows(d, c))
			shown_printf(out, "  %s", diff_value(d, row->thing, place++));
	if (d->n_events > 1)
		shown_printf(out, "  [%s]", diff_event(d, row->thing));
	buf_put_text(out, "\n");
}

/* What a run is, for people. */
static const char *diff_run_word(const struct diff *d)
{
	return d->run_word ? d->run_word : "recording";
}

/* How many samples and recordings a side has, and how many of its stacks are whole. */
static void diff_text_side(const struct diff *d, size_t side, const char *name, struct buf *out)
{
	char number[32];

	shown_printf(out, "%s: %s samples in %zu %s%s, %.1f %% with whole stacks (%s)\n", name,
	             report_number(d->samples[side], number, sizeof(number)), d->n_runs[side],
	             diff_run_word(d), d->n_runs[side] == 1 ? "" : "s",
	             report_percent(d->whole_stacks[side], d->samples[side]), d->paths[side]);
}

/* Says what the intervals are made from, so that nobody takes noise for a change. */
static void diff_text_noise(const struct diff *d, struct buf *out)
{
	shown_printf(out,
	             "\n± and (...): %g %% intervals%s, from the numbers of samples%s; noise: the "
	             "interval holds \"no change\"\n",
	             d->confidence * 100,
	             d->n_gated > 1 ? ", of gated rows widened for asking about all at once" : "",
	             d->runs <= 2  ? ""
	             : d->run_word ? " and, where it is more, how the parts of a side differ"
	                           : " and, where it is more, how the recordings of a side differ");
	if (d->runs == 2 && d->run_word)
		shown_printf(out,
		             "One %s per side does not tell how much they differ by themselves: "
		             "take a longer time, --from\n",
		             d->run_word);
	else if (d->runs == 2)
		buf_put_text(out, "One recording per side does not tell how much runs differ by "
		                  "themselves: give several, seam diff a1,a2,a3 b1,b2,b3\n");
	if (!d->absolute)
		buf_put_text(out,
		             "Shares of each side's whole: what grew everywhere alike does not "
		             "show (--absolute compares counts)\n");
}

/* What --fail-if-slower found. */
static void diff_text_gate(const struct diff *d, struct buf *out)
{
	if (d->fail_above < 0)
		return;
	shown_printf(out, "--fail-if-slower %g: %zu of %zu rows for sure more than %g %% slower",
	             d->fail_above, d->n_fails, d->n_gated, d->fail_above);
	if (d->n_may)
		shown_printf(out, "; %zu maybe: more %ssamples would tell", d->n_may,
		             d->runs <= 2  ? ""
		             : d->run_word ? "time or "
		                           : "recordings or ");
	buf_put_text(out, "\n");
	if (d->runs == 2 && !d->run_word)
		buf_put_text(
		        out,
		        "With one recording per side a gate also fails by what runs of an "
		        "unchanged program differ by; with three or more of each it knows that\n");
}

/* Writes the sides, the rows above the limit, what noise means here, and which rows fail. */
void diff_text(const struct diff *d, struct buf *out)
{
	size_t hidden = 0;

	diff_text_side(d, 0, "baseline", out);
	diff_text_side(d, 1, "new", out);
	shown_printf(out, d->absolute ? "\n%15s %15s %15s  %s" : "\n%8s %8s %8s %6s  %s",
	             "Baseline", "New", "Delta", d->absolute ? "Ratio" : "±",
	             d->absolute ? "" : " Ratio");
	buf_put_text(out, "\n");
	for (size_t i = 0; i < d->n_rows; i++) {
		if (diff_visible(d, &d->rows[i]))
			diff_text_row(d, &d->rows[i], out);
		else
			hidden++;
	}
	if (hidden)
		shown_printf(out, "(%zu more rows below %g %% on both sides)\n", hidden,
		             d->percent_limit);
	diff_text_noise(d, out);
	diff_hint_names(d, out);
	diff_text_gate(d, out);
}

void diff_about(const struct diff *d, struct buf *out)
{
	diff_text_side(d, 0, "baseline", out);
	diff_text_side(d, 1, "new", out);
	diff_text_noise(d, out);
	diff_hint_names(d, out);
}

/* Six digits behind the point. */
static void diff_json_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v, 6);
}

/* Writes one row: its columns by their keys, then its figures and its verdict. */
static void diff_json_row(const struct diff *d, const struct diff_row *row, struct json *j)
{
	size_t place = 0;

	json_open(j, '{');
	json_key(j, "event");
	json_string(j, diff_event(d, row->thing));
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (diff_shows(d, c)) {
			json_key(j, report_key(c));
			json_string(j, diff_value(d, row->thing, place++));
		}
	diff_json_double(j, "base", row->base);
	diff_json_double(j, "new", row->next);
	diff_json_double(j, "delta", row->next - row->base);
	diff_json_double(j, "margin", row->noise.margin);
	diff_json_double(j, "ratio", row->noise.ratio);
	diff_json_double(j, "ratio_least", row->noise.least);
	diff_json_double(j, "ratio_most", row->noise.most);
	diff_json_double(j, "dispersion", row->noise.dispersion);
	json_key(j, "verdict");
	json_string(j, verdicts[row->verdict]);
	json_key(j, "gated");
	json_bool(j, row->gated);
	json_key(j, "fails");
	json_bool(j, row->fails);
	json_close(j, '}');
}

/* Shares are fractions of 1, not percent. */
void diff_json(const struct diff *d, struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	diff_json_double(&j, "confidence", d->confidence);
	json_key(&j, "between_runs");
	json_bool(&j, d->runs > 2);
	json_key(&j, "base_recordings");
	json_u64(&j, d->n_runs[0]);
	json_key(&j, "new_recordings");
	json_u64(&j, d->n_runs[1]);
	json_key(&j, "base_samples");
	json_u64(&j, d->samples[0]);
	json_key(&j, "new_samples");
	json_u64(&j, d->samples[1]);
	json_key(&j, "fails");
	json_u64(&j, d->n_fails);
	json_key(&j, "rows");
	json_open(&j, '[');
	for (size_t i = 0; i < d->n_rows; i++)
		diff_json_row(d, &d->rows[i], &j);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_text(out, "\n");
}

/* Writes all rows, also those below the limit of the text. */
void diff_csv(const struct diff *d, struct buf *out)
{
	buf_put_text(out, "event");
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (diff_shows(d, c))
			shown_printf(out, ",%s", report_key(c));
	buf_put_text(out, ",base,new,delta,margin,ratio,ratio_least,ratio_most,verdict,fails\n");
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *row = &d->rows[i];
		size_t place = 0;

		csv_text(out, diff_event(d, row->thing));
		for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
			if (diff_shows(d, c)) {
				buf_put_text(out, ",");
				csv_text(out, diff_value(d, row->thing, place++));
			}
		shown_printf(out, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%s,%d\n", row->base,
		             row->next, row->next - row->base, row->noise.margin, row->noise.ratio,
		             row->noise.least, row->noise.most, verdicts[row->verdict], row->fails);
	}
}
