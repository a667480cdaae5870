// SPDX-License-Identifier: MIT
// annotate_show.c: an annotated function as text, much as perf's, and as JSON.
#include <inttypes.h>
#include <string.h>

#include "base/color.h"
#include "base/json.h"
#include "base/shown.h"
#include "annotate/annotate.h"

/* Lines of source in the list above the code. */
#define LINES_SHOWN 20
#define REFUSED_SHOWN 8u

/* An event of weight 0 has no shares. */
static double show_percent(const struct annotate_count *part, const struct annotate_count *whole)
{
	return whole->weight ? 100.0 * (double)part->weight / (double)whole->weight : 0;
}

/* Eight columns, coloured by how hot it is; blanks where nothing was hit. */
static void show_share(const struct annotate *a, const struct annotate_count *part,
                       const struct annotate_count *whole, struct buf *out)
{
	double percent = show_percent(part, whole);
	const char *color = color_of_share(a->color, percent);

	if (part->samples)
		buf_printf(out, "%s%8.2f%s", color, percent, *color ? COLOR_PLAIN : "");
	else
		shown_printf(out, "%8s", "");
}

/* Writes a line of source with blanks for tabs, and without the CR of a file whose lines end as
 * another system's. */
static void show_line_text(const char *text, size_t n, struct buf *out)
{
	if (n && text[n - 1] == '\r')
		n--;
	while (n) {
		const char *tab = memchr(text, '\t', n);
		size_t run = tab ? (size_t)(tab - text) : n;

		shown_put(out, text, run);
		if (tab)
			buf_put_text(out, "    ");
		text += run + (tab != NULL);
		n -= run + (tab != NULL);
	}
}

/* The object's path, as profile and symbols spell it. */
static const char *show_path(const struct annotate *a, const struct annotate_function *f)
{
	const struct profile *p = a->load.profile;
	const char *path = profile_text(p, profile_object_at(p, f->object)->path);

	return *path ? path : SYMBOL_UNKNOWN;
}

/* Writes the source lines with the most samples, at most LINES_SHOWN of them. */
static void show_hot_lines(struct annotate *a, const struct annotate_function *f, struct buf *out)
{
	if (!f->n_lines)
		return;
	buf_put_text(out, "Lines by samples:\n");
	for (size_t i = 0; i < f->n_lines && i < LINES_SHOWN; i++) {
		const struct annotate_hot_line *line = &f->lines[i];
		const char *text;
		size_t n;

		if (show_percent(&line->count, &f->all) < a->percent_limit)
			break;
		show_share(a, &line->count, &f->all, out);
		shown_printf(out, "  %s:%" PRIu32, intern_get(&a->files, line->file), line->line);
		text = annotate_source(a, line->file, line->line, &n);
		if (text) {
			buf_put_text(out, "  ");
			while (n && (*text == ' ' || *text == '\t')) {
				text++;
				n--;
			}
			show_line_text(text, n, out);
		}
		buf_put_text(out, "\n");
	}
	buf_put_text(out, "\n");
}

/* Writes the line that the next instructions were made from, with its file's name when that
 * changes. */
static void show_source_line(struct annotate *a, const struct annotate_insn *insn, uint32_t *file,
                             struct buf *out)
{
	const char *color = a->color ? COLOR_BLUE : "", *plain = a->color ? COLOR_PLAIN : "", *text;
	size_t n;

	if (insn->file != *file) {
		buf_printf(out, "%8s : %s", "", color);
		shown_put_text(out, intern_get(&a->files, insn->file));
		buf_printf(out, "%s\n", plain);
	}
	*file = insn->file;
	text = annotate_source(a, insn->file, insn->line, &n);
	buf_printf(out, "%8s : %s%-5" PRIu32 " ", "", color, insn->line);
	if (text)
		show_line_text(text, n, out);
	buf_printf(out, "%s\n", plain);
}

/* Writes the instructions. Where the line changes, the source stands above. */
static void show_code(struct annotate *a, const struct annotate_function *f, struct buf *out)
{
	uint32_t file = 0, line = 0;

	for (size_t i = 0; i < f->n_insns; i++) {
		const struct annotate_insn *insn = &f->insns[i];

		if (insn->line && (insn->line != line || insn->file != file)) {
			show_source_line(a, insn, &file, out);
			line = insn->line;
		}
		show_share(a, &insn->count, &f->all, out);
		shown_printf(out, " :  %8" PRIx64 ":  %s\n", insn->address, insn->text);
	}
}

/* Writes lines of source with their samples. */
static void show_source(struct annotate *a, const struct annotate_function *f, struct buf *out)
{
	for (size_t i = 0; i < f->n_insns; i++) {
		const struct annotate_insn *insn = &f->insns[i];
		const char *text;
		size_t n;

		text = annotate_source(a, insn->file, insn->line, &n);
		show_share(a, &insn->count, &f->all, out);
		buf_printf(out, " :  %-5" PRIu32 " ", insn->line);
		if (text)
			show_line_text(text, n, out);
		buf_put_text(out, "\n");
	}
}

/* There is no code: shows at least the addresses. */
static void show_addresses(struct annotate *a, const struct annotate_function *f, struct buf *out)
{
	for (size_t i = 0; i < f->n; i++) {
		show_share(a, &f->counts[i], &f->all, out);
		shown_printf(out, " :  %8" PRIx64 "\n", f->vaddrs[i]);
	}
}

/* Writes a function: a line about it, its hottest lines, and its code, or the addresses if there is
 * no code. */
static void show_function(struct annotate *a, const struct annotate_function *f, struct buf *out)
{
	shown_printf(out,
	             "%s in %s: %" PRIu64
	             " samples of %s, %.2f %% of all; percent of the function\n\n",
	             a->name, show_path(a, f), f->all.samples,
	             profile_event_name(a->load.profile, a->event),
	             show_percent(&f->all, &a->whole));
	show_hot_lines(a, f, out);
	if (f->n_insns && f->is_source) {
		shown_printf(out, " Percent :  Source of %s\n",
		             intern_get(&a->files, f->insns[0].file));
		show_source(a, f, out);
	} else if (f->n_insns) {
		shown_printf(out, " Percent :  Source and disassembly\n");
		show_code(a, f, out);
	} else {
		shown_printf(out, "%s\n\n Percent :  Address\n", f->reason);
		show_addresses(a, f, out);
	}
	if (f->n_insns && f->outside.samples)
		shown_printf(out,
		             f->is_source
		                     ? "%" PRIu64 " samples (%.2f %%) have no line\n"
		                     : "%" PRIu64
		                       " samples (%.2f %%) are at addresses outside this code\n",
		             f->outside.samples, show_percent(&f->outside, &f->all));
	if (f->n_insns && !f->n_lines && f->lines_reason[0])
		shown_printf(out, "\nno source lines: %s\n", f->lines_reason);
	buf_put_text(out, "\n");
}

/* Writes which source files are there and not shown. */
static void show_refused(const struct annotate *a, struct buf *out)
{
	size_t shown = 0;

	for (uint32_t i = 0; i < a->texts_capacity && shown < REFUSED_SHOWN; i++) {
		const char *reason = annotate_source_reason(a, i);

		if (!reason)
			continue;
		shown_printf(out, "not shown: %s: %s\n", intern_get(&a->files, i), reason);
		shown++;
	}
}

void annotate_text(struct annotate *a, struct buf *out)
{
	for (size_t i = 0; i < a->n_functions; i++)
		show_function(a, &a->functions[i], out);
	show_refused(a, out);
}

/* ---- JSON ---- */

/* For all objects in the JSON: the two numbers of a count. */
static void show_json_count(const struct annotate_count *c, struct json *j)
{
	json_key(j, "samples");
	json_u64(j, c->samples);
	json_key(j, "weight");
	json_u64(j, c->weight);
}

/* File and line, or null for what is not known. */
static void show_json_place(const struct annotate *a, uint32_t file, uint32_t line, struct json *j)
{
	json_key(j, "file");
	json_string(j, file ? intern_get(&a->files, file) : NULL);
	json_key(j, "line");
	if (line)
		json_u64(j, line);
	else
		json_null(j);
}

/* Writes the instructions with their lines and samples. */
static void show_json_insns(const struct annotate *a, const struct annotate_function *f,
                            struct json *j)
{
	json_key(j, "instructions");
	json_open(j, '[');
	for (size_t i = 0; i < f->n_insns && !f->is_source; i++) {
		const struct annotate_insn *insn = &f->insns[i];

		json_open(j, '{');
		json_key(j, "address");
		json_hex(j, insn->address);
		json_key(j, "size");
		json_u64(j, insn->size);
		json_key(j, "text");
		json_string(j, insn->text);
		show_json_place(a, insn->file, insn->line, j);
		show_json_count(&insn->count, j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the source lines with their text and samples; text is null where the file cannot be
 * read. */
static void show_json_lines(struct annotate *a, const struct annotate_function *f, struct json *j)
{
	json_key(j, "lines");
	json_open(j, '[');
	for (size_t i = 0; i < f->n_lines; i++) {
		const struct annotate_hot_line *line = &f->lines[i];
		const char *text;
		size_t n;

		json_open(j, '{');
		show_json_place(a, line->file, line->line, j);
		text = annotate_source(a, line->file, line->line, &n);
		json_key(j, "text");
		if (text)
			json_bytes(j, text, n);
		else
			json_null(j);
		show_json_count(&line->count, j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes one function: the object that has it, its code and its lines. */
static void show_json_function(struct annotate *a, const struct annotate_function *f,
                               struct json *j)
{
	const struct profile *p = a->load.profile;
	const struct profile_object *o = profile_object_at(p, f->object);

	json_open(j, '{');
	json_key(j, "object");
	json_string(j, o->path ? profile_text(p, o->path) : NULL);
	json_key(j, "build_id");
	json_string(j, o->build_id ? profile_text(p, o->build_id) : NULL);
	show_json_count(&f->all, j);
	json_key(j, "outside_samples");
	json_u64(j, f->outside.samples);
	json_key(j, "reason");
	json_string(j, f->reason[0] ? f->reason : NULL);
	show_json_insns(a, f, j);
	show_json_lines(a, f, j);
	json_close(j, '}');
}

/* Writes which source files are there and not shown. */
static void show_json_refused(const struct annotate *a, struct json *j)
{
	json_key(j, "refused");
	json_open(j, '[');
	for (uint32_t i = 0; i < a->texts_capacity; i++) {
		const char *reason = annotate_source_reason(a, i);

		if (!reason)
			continue;
		json_open(j, '{');
		json_key(j, "file");
		json_string(j, intern_get(&a->files, i));
		json_key(j, "reason");
		json_string(j, reason);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* A name may belong to functions in several objects, so "functions" is a list. */
void annotate_json(struct annotate *a, struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "symbol");
	json_string(&j, a->name);
	json_key(&j, "event");
	json_string(&j, profile_event_name(a->load.profile, a->event));
	json_key(&j, "functions");
	json_open(&j, '[');
	for (size_t i = 0; i < a->n_functions; i++)
		show_json_function(a, &a->functions[i], &j);
	json_close(&j, ']');
	show_json_refused(a, &j);
	json_close(&j, '}');
	buf_put_text(out, "\n");
}
