// SPDX-License-Identifier: MIT
// functions.c: see functions.h: what `seam store top` prints. Names are strangers': they are
// escaped.
#include "fleet/functions.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/shown.h"

#define NO_NAME "[no name]"
#define LOST "[not in the store]"

/* In percent; 0 of nothing. */
static double functions_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static const char *functions_name(const struct store_function *f)
{
	return !f->name ? LOST : *f->name ? f->name : NO_NAME;
}

/* Says which hours these are of, so that nobody takes a part for the whole. */
void functions_text(const struct store_functions *f, struct buf *out)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct store_event *e = &f->events[i];

		shown_printf(out, "%s\n\n   Self  Total  Function  [Object]\n", e->type);
		for (size_t j = 0; j < e->n; j++) {
			const struct store_function *x = &e->functions[j];

			shown_printf(out, "%6.2f%% %6.2f%%  %s  [%s]\n",
			             functions_share(x->self, e->all),
			             functions_share(x->total, e->all), functions_name(x),
			             x->object ? x->object : "");
		}
		buf_put_text(out, "\n");
	}
	buf_printf(out, "%llu hours are rolled up", (unsigned long long)f->hours);
	if (f->missing)
		buf_printf(out,
		           "; %llu have windows that are not in this: 'seam store rollup' adds "
		           "those that are over",
		           (unsigned long long)f->missing);
	buf_put_text(out, "\n");
}

/* A line for each function; weights are as they are. */
void functions_csv(const struct store_functions *f, struct buf *out)
{
	buf_put_text(out, "event,self,total,all,function,object\n");
	for (size_t i = 0; i < f->n; i++) {
		const struct store_event *e = &f->events[i];

		for (size_t j = 0; j < e->n; j++) {
			const struct store_function *x = &e->functions[j];

			csv_text(out, e->type);
			buf_printf(out, ",%llu,%llu,%llu,", (unsigned long long)x->self,
			           (unsigned long long)x->total, (unsigned long long)e->all);
			csv_text(out, x->name ? x->name : "");
			buf_put_text(out, ",");
			csv_text(out, x->object ? x->object : "");
			buf_put_text(out, "\n");
		}
	}
}

/* Writes an event and its functions as an object. */
static void functions_json_event(struct json *j, const struct store_event *e)
{
	json_open(j, '{');
	json_key(j, "event");
	json_string(j, e->type);
	json_key(j, "all");
	json_u64(j, e->all);
	json_key(j, "functions");
	json_open(j, '[');
	for (size_t i = 0; i < e->n; i++) {
		json_open(j, '{');
		json_key(j, "function");
		json_string(j, e->functions[i].name ? e->functions[i].name : "");
		json_key(j, "object");
		json_string(j, e->functions[i].object ? e->functions[i].object : "");
		json_key(j, "self");
		json_u64(j, e->functions[i].self);
		json_key(j, "total");
		json_u64(j, e->functions[i].total);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* A function that the store has lost has empty texts. */
void functions_json(const struct store_functions *f, struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "hours");
	json_u64(&j, f->hours);
	json_key(&j, "hours_missing");
	json_u64(&j, f->missing);
	json_key(&j, "events");
	json_open(&j, '[');
	for (size_t i = 0; i < f->n; i++)
		functions_json_event(&j, &f->events[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_text(out, "\n");
}
