// SPDX-License-Identifier: MIT
// annotate.c: `seam annotate`: a function's source and instructions, and which of them samples hit.
#include "cli/annotate/annotate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cmd/outfile.h"
#include "profile/nameless.h"
#include "profile/rollup.h"

enum {
	OPT_INPUT = 1,
	OPT_SYMBOL,
	OPT_JSON,
	OPT_STDIO,
	OPT_NO_SOURCE,
	OPT_LIMIT,
};

static const struct option_def annotate_options[] = {
	INFILE_OPTION(OPT_INPUT),
	OPTIONS_FORCE,
	{ "symbol", 's', "NAME", "as the operand: the function", OPT_SYMBOL },
	{ "no-source", 0, NULL, "read no source files: their names and line numbers only",
	  OPT_NO_SOURCE },
	{ "percent-limit", 0, "PERCENT", "list no lines below this above the code (0.5)",
	  OPT_LIMIT },
	{ "json", 0, NULL, "as one JSON object", OPT_JSON },
	{ "stdio", 0, NULL, "accepted: text is the only form", OPT_STDIO },
	{ "objdump", 0, "PATH", "accepted: instructions are read without objdump",
	  OPTIONS_ACCEPTED },
	SAMPLE_FILTER_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int annotate_option(struct annotate *a, const struct options *o, int id)
{
	char *end;

	switch (id) {
	case OPT_INPUT:
		return infile_set(&a->in, a->cmd, o->arg);
	case OPTIONS_OPERAND:
	case OPT_SYMBOL:
		if (a->symbol) {
			cmd_error(a->cmd,
			          "one function at a time: '%s' or '%s'; the recording is "
			          "given with -i",
			          a->symbol, o->arg);
			return -EINVAL;
		}
		a->symbol = o->arg;
		return 0;
	case OPT_LIMIT:
		a->percent_limit = strtod(o->arg, &end);
		if (end != o->arg && !*end && a->percent_limit >= 0 && a->percent_limit <= 100)
			return 0;
		cmd_error(a->cmd, "--percent-limit: '%s' is not a number from 0 to 100", o->arg);
		return -EINVAL;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_NO_SOURCE:
		a->no_source = true;
		return 0;
	case OPT_STDIO:
		return 0;
	default:
		return sample_filter_is_option(id) ? sample_filter_option(&a->filter, o, id)
		                                   : naming_option(&a->naming, o, id);
	}
}

/* Reads the recording and makes a profile without source lines: those are looked up for the
 * function alone. */
static int annotate_load(struct annotate *a, struct seam_error *err)
{
	struct load_opts opts = {
		.sz = sizeof(opts),
		.symbols = &a->naming.symbols,
		.progress = infile_progress(),
	};
	struct recording_opts learn = { .sz = sizeof(learn),
		                        .progress = infile_progress(),
		                        .symbols = &a->naming.symbols };
	int rc = recording_open(&a->rec, a->in.reader, &learn, err);

	if (rc >= 0)
		rc = sample_filter_prepare(&a->filter, a->cmd, a->rec);
	opts.filter = sample_filter_samples(&a->filter);
	if (rc >= 0)
		rc = load_recording(&a->load, a->rec, &opts, err);
	infile_progress_end();
	return rc;
}

static const struct profile_frame *annotate_leaf(const struct profile *p,
                                                 const struct profile_row *row)
{
	return profile_frame_at(p, profile_node_at(p, row->key.node).frame);
}

static bool annotate_is(const struct annotate *a, const struct profile_frame *f)
{
	return f->symbol && (!a->object || f->object == a->object) &&
	       !strcmp(profile_text(a->load.profile, f->symbol), a->name);
}

static bool annotate_is_hit(const struct annotate *a)
{
	const struct profile *p = a->load.profile;

	for (size_t i = 0; i < profile_n_rows(p); i++)
		if (annotate_is(a, annotate_leaf(p, profile_row_at(p, i))))
			return true;
	return false;
}

static bool annotate_is_object(const char *path, const struct nameless *place)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return (strlen(path) == place->n && !memcmp(path, place->object, place->n)) ||
	       (slash && strlen(slash + 1) == place->n &&
	        !memcmp(slash + 1, place->object, place->n));
}

/* The function at "libfoo.so+0x12345", or at "[unknown libfoo.so+0x12340]", a place that had no
 * name before and may have one now. */
static int annotate_at(struct annotate *a)
{
	const struct profile *p = a->load.profile;
	struct nameless place;
	int r = 0;

	if (!nameless_is(a->symbol, &place) &&
	    !nameless_place(a->symbol, strlen(a->symbol), &place))
		return 0;
	for (uint32_t i = 1; i <= profile_n_objects(p) && r >= 0; i++) {
		if (!annotate_is_object(profile_text(p, profile_object_at(p, i)->path), &place))
			continue;
		r = annotate_name_at(a, i, place.start);
		a->object = i;
		if (r > 0 && annotate_is_hit(a))
			return 0;
		a->object = 0;
	}
	return r < 0 ? r : 0;
}

/* The function with the most samples, of all events. */
static int annotate_hottest(struct annotate *a)
{
	const struct rollup_opts opts = { .columns = 1u << ROLLUP_SYMBOL };
	struct rollup t;
	int r = rollup_build(&t, a->load.profile, &opts);

	if (r < 0)
		return r;
	rollup_sort(&t, false);
	for (size_t i = 0; i < t.n && !a->name; i++)
		if (t.rows[i].value[ROLLUP_SYMBOL] && t.rows[i].self)
			a->name = profile_text(a->load.profile, t.rows[i].value[ROLLUP_SYMBOL]);
	rollup_free(&t);
	return 0;
}

/* Weights of different events do not add up, so it is the event with the most samples in the
 * function. */
static int annotate_choose_event(struct annotate *a)
{
	const struct profile *p = a->load.profile;
	size_t n = profile_n_events(p);
	uint64_t *samples = calloc(n + 1, sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (annotate_is(a, annotate_leaf(p, row)))
			samples[row->key.event] += row->samples;
	}
	for (uint32_t e = 1; e <= n; e++)
		if (samples[e] > (a->event ? samples[a->event] : 0)) {
			if (a->event)
				cmd_error(a->cmd, "several events: %s is shown; -e chooses another",
				          profile_event_name(p, e));
			a->event = e;
		}
	free(samples);
	return 0;
}

static struct annotate_function *annotate_function_of(struct annotate *a, uint32_t object)
{
	struct annotate_function *functions;

	for (size_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].object == object)
			return &a->functions[i];
	functions = reallocarray(a->functions, a->n_functions + 1, sizeof(*functions));
	if (!functions)
		return NULL;
	a->functions = functions;
	functions[a->n_functions] = (struct annotate_function){ .object = object };
	return &functions[a->n_functions++];
}

/* Counts a row of the profile at its address in the function. -ENOMEM. */
static int annotate_count_at(struct annotate_function *f, uint64_t vaddr,
                             const struct profile_row *row)
{
	bool is_new;
	uint64_t *slot;

	if (f->n == f->capacity) {
		size_t more = f->capacity ? f->capacity * 2 : 64;
		struct annotate_count *counts = reallocarray(f->counts, more, sizeof(*counts));
		uint64_t *vaddrs;

		if (!counts)
			return -ENOMEM;
		f->counts = counts;
		vaddrs = reallocarray(f->vaddrs, more, sizeof(*vaddrs));
		if (!vaddrs)
			return -ENOMEM;
		f->vaddrs = vaddrs;
		f->capacity = more;
	}
	slot = map_slot(&f->addresses, vaddr, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		f->vaddrs[f->n] = vaddr;
		f->counts[f->n] = (struct annotate_count){ 0 };
		*slot = f->n++;
	}
	f->counts[*slot].samples += row->samples;
	f->counts[*slot].weight += row->weight;
	f->all.samples += row->samples;
	f->all.weight += row->weight;
	return 0;
}

static int annotate_order(const void *pa, const void *pb)
{
	const struct annotate_function *a = pa, *b = pb;

	if (a->all.weight != b->all.weight)
		return a->all.weight > b->all.weight ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* Counts all samples of the event that hit the function itself, in each object that has one of this
 * name. -ENOMEM. */
static int annotate_count_all(struct annotate *a)
{
	const struct profile *p = a->load.profile;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const struct profile_frame *leaf = annotate_leaf(p, row);
		struct annotate_function *f;

		if (row->key.event != a->event)
			continue;
		a->whole.samples += row->samples;
		a->whole.weight += row->weight;
		if (!annotate_is(a, leaf))
			continue;
		f = annotate_function_of(a, leaf->object);
		if (!f || annotate_count_at(f, leaf->address, row) < 0)
			return -ENOMEM;
	}
	if (a->n_functions)
		qsort(a->functions, a->n_functions, sizeof(*a->functions), annotate_order);
	return 0;
}

/* Chooses function and event, counts the samples, and reads the code. -ENOENT: there is nothing to
 * show; it was said. */
static int annotate_find(struct annotate *a)
{
	int r = 0;

	a->name = a->symbol;
	if (!a->name)
		r = annotate_hottest(a);
	else if (!annotate_is_hit(a))
		r = annotate_at(a);
	if (r >= 0 && !a->name) {
		cmd_error(a->cmd, "no sample hit a function with a name");
		return -ENOENT;
	}
	if (r >= 0)
		r = annotate_choose_event(a);
	if (r >= 0)
		r = annotate_count_all(a);
	if (r >= 0 && !a->n_functions) {
		cmd_error(a->cmd,
		          "no sample hit '%s' itself; 'seam report --no-children -s sym' "
		          "lists what was hit",
		          a->name);
		return -ENOENT;
	}
	for (size_t i = 0; i < a->n_functions && r >= 0; i++)
		r = annotate_code(a, &a->functions[i]);
	return r;
}

/* Loads, finds and prints. An exit code. */
static int annotate_show(struct annotate *a)
{
	struct seam_error err = { 0 };
	struct buf out = { 0 };
	int rc = annotate_load(a, &err);

	if (rc == -EINVAL && !err.code) /* said */
		return EXIT_USAGE;
	if (rc >= 0) {
		rc = annotate_find(a);
		if (rc == -ENOENT) /* said */
			return EXIT_FAILED;
	}
	if (rc >= 0) {
		if (a->json)
			annotate_json(a, &out);
		else
			annotate_text(a, &out);
		rc = out.failed ? -ENOMEM : 0;
	}
	if (rc < 0)
		cmd_error(a->cmd, "%s", cmd_reason(&err, rc));
	else if (outfile_print(a->cmd, &out) != EXIT_OK)
		rc = -EIO;
	buf_free(&out);
	if (rc < 0)
		return EXIT_FAILED;
	return infile_verdict(&a->in, a->cmd, a->rec);
}

/* Frees everything, also after a failure half-way. */
static void annotate_free(struct annotate *a)
{
	for (size_t i = 0; i < a->n_functions; i++) {
		struct annotate_function *f = &a->functions[i];

		for (size_t k = 0; k < f->n_insns; k++)
			free(f->insns[k].text);
		map_free(&f->addresses);
		free(f->counts);
		free(f->vaddrs);
		free(f->insns);
		free(f->lines);
	}
	free(a->functions);
	annotate_source_free(a);
	intern_free(&a->files);
	load_free(&a->load);
	recording_close(a->rec);
	infile_close(&a->in);
	buf_free(&a->place);
	sample_filter_free(&a->filter);
	naming_end(&a->naming);
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int annotate_run(int argc, char **argv, const struct cmd *cmd)
{
	struct annotate a = {
		.cmd = cmd,
		.percent_limit = 0.5,
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&a.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || annotate_option(&a, &o, id) < 0)
			goto out;
	}
	rc = infile_open(&a.in, cmd);
	if (rc == EXIT_OK)
		rc = annotate_show(&a);
out:
	annotate_free(&a);
	return rc;
}

const struct cmd cmd_annotate = {
	.name = "annotate",
	.synopsis = "[options] [-i FILE] [SYMBOL]",
	.summary = "Show a function's source and instructions with the samples that hit them",
	.details =
	        "Without SYMBOL the function that most samples hit is shown. Percentages are of "
	        "the "
	        "function's own samples (self, not what it called). Above the code stand its "
	        "source "
	        "lines by samples; a line's text is shown where its file is on this machine.\n\n"
	        "SYMBOL may be any address in a function, OBJECT+0xADDRESS (libfoo.so+0x12345, as "
	        "objdump counts), and a function without a name as a report calls it: "
	        "'[unknown libfoo.so+0x12340]'.\n\n"
	        "Disassembly and lines are made inside seam, of the file whose build-id was "
	        "recorded; another file of that name is not shown. Instructions that were inlined "
	        "from elsewhere stand under the line they were written in. A sample is shown at "
	        "the instruction that the event named: with software clocks that is one behind "
	        "the slow one, often the next. A function of the kernel is shown from its vmlinux "
	        "(-k FILE, or found by build-id and release), of a module from its file, as they "
	        "were built: what the kernel patched at run time is not seen, and calls out of a "
	        "module have no target yet. Without the file it is listed by address. Code that a "
	        "program made at run time is shown out of its jitdump (node --perf-prof, LLVM, "
	        "perf's agent for Java), where it was in most samples if it was compiled more "
	        "than once, and not at all if other code took its place.\n\n"
	        "--json writes version (1), symbol, event, functions (one per object that has it): "
	        "object, build_id, samples, weight, outside_samples, reason (why there is no "
	        "code), instructions (address, size, text, file, line, samples, weight), lines "
	        "(file, line, text, samples, weight), by falling weight.\n\n"
	        "Colours are for terminals, and not where NO_COLOR is set.\n\n"
	        "Exit status: 0; 1: the recording cannot be read, or no sample hit SYMBOL; 2: "
	        "usage; "
	        "3: the recording was damaged.",
	.options = annotate_options,
	.run = annotate_run,
};
