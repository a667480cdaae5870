// SPDX-License-Identifier: MIT
// store.c: `seam store`: what is in a store, and recordings into it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmds.h"
#include "cmd/outfile.h"
#include "cmd/pager.h"
#include "fleet/functions.h"
#include "fleet/import.h"
#include "fleet/listing.h"
#include "fleet/points.h"
#include "fleet/sum_up.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/stored.h"
#include "base/shown_wrap.h"
#include "base/when.h"

#define CLUSTER_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* As the agent's windows, so that both fit into one store. */
#define WINDOW_NS 10000000000ULL
#define TOP_LIMIT 50u
#define DAY_MB 250u

enum {
	OPT_CSV = 1,
	OPT_JSON,
	OPT_WINDOW,
	OPT_LABEL,
	OPT_CLUSTER,
	OPT_REPLICATED,
	OPT_KEEP,
	OPT_DRY_RUN,
	OPT_LIMIT,
	OPT_DAY,
};

static const struct option_def store_options[] = {
	{ "store", 0, "URL", "the store: " STORED_KINDS " (default: that of seam agent)",
	  STORED_URL },
	STORED_SPAN_OPTIONS,
	{ "by", 0, "LABELS", "ls: a row for each value of these: service, or service,version",
	  STORED_BY },
	{ "window", 0, "TIME", "import: length of a window (10s); series: of a point", OPT_WINDOW },
	{ "label", 0, "LABEL=VALUE", "import: a label of all series: service=checkout", OPT_LABEL },
	{ "cluster", 0, "NAME", "init: tables over all servers of this cluster", OPT_CLUSTER },
	{ "replicated", 0, NULL, "init: on all servers of the cluster at once, with copies",
	  OPT_REPLICATED },
	{ "keep", 0, "DAYS", "init: windows that are older go, of tables that are there, too",
	  OPT_KEEP },
	{ "dry-run", 0, NULL, "init: print the statements, and do nothing", OPT_DRY_RUN },
	{ "limit", 'n', "N", "top: at most so many functions for each event (50)", OPT_LIMIT },
	{ "day-mb", 0, "N", "compact: fold rare stacks where a day takes more (250); 0: never",
	  OPT_DAY },
	{ "csv", 0, NULL, "series and top as comma-separated values", OPT_CSV },
	{ "json", 0, NULL, "ls, series and top as one JSON object", OPT_JSON },
	NAMING_OPTIONS,
	{ 0 },
};

enum store_form {
	STORE_TEXT,
	STORE_CSV,
	STORE_JSON,
};

/* One command line. in is of import only. */
struct store_cmd {
	const struct cmd *cmd;
	struct stored stored;
	struct infile in;
	struct naming naming;
	enum store_form form;
	const char *function; /* of series */
	uint64_t window_ns;   /* of import; of a point of series, 0: a 60th of the span */
	struct labels labels; /* given with --label */
	struct store_init init;
	unsigned limit;  /* of top */
	uint64_t day_mb; /* of compact; 0: no bound */
};

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with it. */
static int store_option(struct store_cmd *s, const struct options *o, int id)
{
	unsigned long long days, limit, mb;

	switch (id) {
	case OPT_CLUSTER:
		s->init.cluster = o->arg;
		if (*o->arg && !o->arg[strspn(o->arg, CLUSTER_LETTERS)])
			return 0;
		cmd_error(s->cmd, "--cluster: a name has letters, digits and '_'");
		return -EINVAL;
	case OPT_REPLICATED:
		s->init.replicated = true;
		return 0;
	case OPT_KEEP:
		if (options_u64(o, "--keep", 1, 36500, &days) < 0)
			return -EINVAL;
		s->init.keep_days = (unsigned)days;
		return 0;
	case OPT_DRY_RUN:
		s->init.only_say = true;
		return 0;
	case OPT_LIMIT:
		if (options_u64(o, "--limit", 1, 10000, &limit) < 0)
			return -EINVAL;
		s->limit = (unsigned)limit;
		return 0;
	case OPT_DAY:
		if (options_u64(o, "--day-mb", 0, 1000000, &mb) < 0)
			return -EINVAL;
		s->day_mb = mb;
		return 0;
	case OPT_CSV:
		s->form = STORE_CSV;
		return 0;
	case OPT_JSON:
		s->form = STORE_JSON;
		return 0;
	case OPT_WINDOW:
		if (when_parse_duration(o->arg, &s->window_ns) >= 0 && s->window_ns)
			return 0;
		cmd_error(s->cmd, "--window: '%s' is no length of time; they are 10s, 1m, 1h",
		          o->arg);
		return -EINVAL;
	case OPT_LABEL:
		return stored_label(&s->labels, s->cmd, o->arg);
	default:
		if (!stored_is_option(id))
			return naming_option(&s->naming, o, id);
		stored_option(&s->stored, o, id);
		return 0;
	}
}

/* Prints what was asked for, or why there is nothing. An exit code. */
static int store_print(const struct store_cmd *s, struct buf *out, int r, struct seam_error *err)
{
	int rc = EXIT_FAILED;

	if (r >= 0 && out->failed)
		r = -ENOMEM;
	if (r < 0)
		cmd_error(s->cmd, "%s", cmd_reason(err, r));
	else
		rc = outfile_print(s->cmd, out);
	buf_free(out);
	return rc;
}

/* A series' labels go on in lines of their own where the terminal is not wide enough. */
static void store_listing(const struct store_listing *l, const char *by, struct buf *out)
{
	struct buf lines = { 0 };

	listing_text(l, by, &lines);
	out->failed = lines.failed || shown_wrap(out, buf_text(&lines), pager_columns()) < 0;
	buf_free(&lines);
}

/* Lists all series, as text or JSON. An exit code. */
static int store_ls(struct store_cmd *s)
{
	struct store_listing l = { 0 };
	struct seam_error err = { 0 };
	struct buf out = { 0 };
	/* Without a span: of all that the store has. */
	const struct store_query q = { .from_ns = s->stored.from ? s->stored.query.from_ns : 0,
		                       .to_ns = s->stored.to ? s->stored.query.to_ns : UINT64_MAX,
		                       .where = s->stored.query.where,
		                       .by = s->stored.by };
	struct store *store;
	int r = store_open(&store, s->stored.url, STORE_READ, &err);

	if (r >= 0) {
		r = store_list(store, &q, &l, &err);
		store_close(store);
	}
	if (r >= 0 && s->stored.by)
		r = listing_join(&l, s->stored.by);
	if (r >= 0)
		(s->form == STORE_JSON ? listing_json : store_listing)(&l, s->stored.by, &out);
	store_listing_free(&l);
	return store_print(s, &out, r, &err);
}

/* Says that a function is on no stack, which a name that is written otherwise looks like, too. */
static void store_say_absent(const struct store_cmd *s, const struct points *points)
{
	uint64_t all = 0, total = 0;

	for (size_t i = 0; i < points->n; i++) {
		all += points->at[i].all;
		total += points->at[i].total;
	}
	if (!all)
		cmd_error(s->cmd, "there are no samples in this span%s",
		          s->stored.where ? " with these labels" : "");
	else if (!total)
		cmd_error(s->cmd,
		          "no stack in this span has a function '%s'; 'seam report -s sym' has the "
		          "names",
		          s->function);
}

/* Shows the share of a function over time. An exit code. */
static int store_series(struct store_cmd *s)
{
	void (*const forms[])(const struct points *, struct buf *) = {
		[STORE_TEXT] = points_text, [STORE_CSV] = points_csv, [STORE_JSON] = points_json
	};
	struct points points = { 0 };
	struct seam_error err = { 0 };
	struct store *store = NULL;
	struct buf out = { 0 };
	int r;

	if (points_count(&s->stored.query, s->window_ns) > POINTS_MAX) {
		cmd_error(s->cmd, "--window: the span has more than %u of them", POINTS_MAX);
		return EXIT_USAGE;
	}
	r = store_open(&store, s->stored.url, STORE_READ, &err);
	if (r >= 0)
		r = points_load(&points, store, &s->stored.query, s->function, s->window_ns, &err);
	store_close(store);
	if (r >= 0)
		forms[s->form](&points, &out);
	if (r >= 0)
		store_say_absent(s, &points);
	points_free(&points);
	return store_print(s, &out, r, &err);
}

/* Rolls hours up by function. An exit code. */
static int store_rollup(struct store_cmd *s)
{
	struct store_rolled rolled = { 0 };
	struct seam_error err = { 0 };
	/* Without a span: of all that the store has. */
	const struct store_query q = { .from_ns = s->stored.from ? s->stored.query.from_ns : 0,
		                       .to_ns = s->stored.to ? s->stored.query.to_ns : UINT64_MAX };
	struct store *store = NULL;
	struct buf out = { 0 };
	int r;

	if (s->stored.where) {
		cmd_error(s->cmd, "rollup takes whole hours: --where is for top");
		return EXIT_USAGE;
	}
	r = store_open(&store, s->stored.url, STORE_ROLL_UP, &err);
	if (r >= 0)
		r = sum_up(store, &q, when_now_ns(), 0, &rolled, &err);
	store_close(store);
	buf_printf(&out, "%llu hours were rolled up, %llu were so before, %llu are not over\n",
	           (unsigned long long)rolled.made, (unsigned long long)rolled.there,
	           (unsigned long long)rolled.open);
	return store_print(s, &out, r, &err);
}

/* Compacts all that is old enough, and sums up and rolls up what is over, as an agent does in idle
 * time. Nobody else may do so at the same time: that is why the store is opened as an agent does.
 * An exit code. */
static int store_compact_run(struct store_cmd *s)
{
	const struct store_query ever = { .to_ns = UINT64_MAX };
	struct store_compacted done = { 0 };
	struct store_rolled rolled = { 0 };
	struct seam_error err = { 0 };
	struct store *store = NULL;
	struct buf out = { 0 };
	const uint64_t now_ns = when_now_ns();
	int r;

	if (s->stored.from || s->stored.to || s->stored.where) {
		cmd_error(s->cmd, "compact takes all that is old enough");
		return EXIT_USAGE;
	}
	r = store_open(&store, s->stored.url, STORE_COMPACT, &err);
	while (r >= 0 && (r = store_compact(store, now_ns, s->day_mb * 1000000, &done, &err)) > 0)
		;
	if (r >= 0)
		r = sum_up(store, &ever, now_ns, 0, &rolled, &err);
	store_close(store);
	buf_printf(&out, "%llu windows became %llu", (unsigned long long)done.windows,
	           (unsigned long long)done.into);
	if (done.folded)
		buf_printf(&out, "; %llu samples are in [folded]", (unsigned long long)done.folded);
	buf_put_text(&out, "\n");
	return store_print(s, &out, r, &err);
}

/* Shows the functions of the roll-up. An exit code. */
static int store_top(struct store_cmd *s)
{
	void (*const forms[])(const struct store_functions *,
	                      struct buf *) = { [STORE_TEXT] = functions_text,
		                                [STORE_CSV] = functions_csv,
		                                [STORE_JSON] = functions_json };
	struct store_functions functions = { 0 };
	struct seam_error err = { 0 };
	struct store *store = NULL;
	struct buf out = { 0 };
	int r = store_open(&store, s->stored.url, STORE_READ, &err);

	if (r >= 0)
		r = store_functions(store, &s->stored.query, s->limit ? s->limit : TOP_LIMIT,
		                    &functions, &err);
	store_close(store);
	if (r >= 0)
		forms[s->form](&functions, &out);
	store_functions_free(&functions);
	return store_print(s, &out, r, &err);
}

/* For import_recording. */
static void store_say(void *ctx, const char *text)
{
	infile_progress_end();
	cmd_error(ctx, "%s", text);
}

/* The store is opened first, so that nothing is read for one that cannot be written. */
static int store_import(struct store_cmd *s)
{
	struct import_opts opts = { .path = s->in.path ? s->in.path : "perf.data",
		                    .window_ns = s->window_ns,
		                    .symbols = &s->naming.symbols,
		                    .no_inline = s->naming.no_inline,
		                    .labels = &s->labels,
		                    .progress = infile_progress(),
		                    .say = store_say,
		                    .ctx = (void *)s->cmd };
	struct import_counts counts = { 0 };
	struct recording *rec = NULL;
	struct store *store = NULL;
	struct seam_error err = { 0 };
	char *made = s->stored.url ? NULL : stored_default(true);
	const char *url = s->stored.url ? s->stored.url : made;
	int code = infile_open(&s->in, s->cmd), r;

	if (code != EXIT_OK) {
		free(made);
		return code;
	}
	opts.reader = s->in.reader;
	r = url ? store_open(&store, url, STORE_WRITE, &err) : -ENOMEM;
	if (r >= 0)
		r = import_recording(store, &opts, &rec, &counts, &err);
	infile_progress_end();
	if (r < 0 && counts.put)
		cmd_error(s->cmd,
		          "%s; %llu windows were put before it: import it again to put the rest",
		          cmd_reason(&err, r), (unsigned long long)counts.put);
	else if (r < 0)
		cmd_error(s->cmd, "%s", cmd_reason(&err, r));
	else
		cmd_error(s->cmd, "%s: %llu windows put, %llu were there", url,
		          (unsigned long long)counts.put, (unsigned long long)counts.there);
	code = r < 0 ? EXIT_FAILED : infile_verdict(&s->in, s->cmd, rec);
	store_close(store);
	recording_close(rec);
	free(made);
	return code;
}

static void store_statement(void *ctx, const char *text)
{
	buf_put_text(ctx, text);
	buf_put_text(ctx, ";\n");
}

/* Makes a store, or says how. An exit code. */
static int store_init_run(struct store_cmd *s)
{
	struct seam_error err = { 0 };
	struct buf out = { 0 };
	int r;

	if (s->init.replicated && !s->init.cluster) {
		cmd_error(s->cmd, "--replicated needs --cluster");
		return EXIT_USAGE;
	}
	s->init.ctx = &out;
	s->init.say = s->init.only_say ? store_statement : NULL;
	r = store_make(s->stored.url, &s->init, &err);
	return store_print(s, &out, r, &err);
}

/* What may stand behind `seam store`. */
static const struct store_word {
	const char *name, *argument; /* NULL: none */
	int (*run)(struct store_cmd *s);
} store_words[] = {
	{ "ls", NULL, store_ls },
	{ "series", "FUNCTION", store_series },
	{ "import", "RECORDING", store_import },
	{ "init", NULL, store_init_run },
	{ "rollup", NULL, store_rollup },
	{ "compact", NULL, store_compact_run },
	{ "top", NULL, store_top },
};

/* What is behind `seam store`, with its argument. NULL: it was said what is wrong. */
static const struct store_word *store_word(struct store_cmd *s, const char *const *words, size_t n)
{
	for (size_t i = 0; n && i < sizeof(store_words) / sizeof(store_words[0]); i++) {
		const struct store_word *w = &store_words[i];

		if (strcmp(words[0], w->name) != 0)
			continue;
		if (n == 1 + (w->argument != NULL))
			return w;
		cmd_error(s->cmd, w->argument ? "%s needs one %s" : "%s takes no operand", w->name,
		          w->argument);
		return NULL;
	}
	if (n)
		cmd_error(s->cmd, "'%s' is not ls, series, top, rollup, compact, import or init",
		          words[0]);
	else
		cmd_error(s->cmd, "ls, series, top, rollup, compact, import or init is missing");
	return NULL;
}

/* Does what the words ask for, when the options are known. An exit code. */
static int store_do(struct store_cmd *s, const char *const *words, size_t n)
{
	const struct store_word *w = store_word(s, words, n);
	char *url = NULL;
	int rc = EXIT_USAGE;

	if (!w)
		return EXIT_USAGE;
	if (s->stored.by && w->run != store_ls) {
		cmd_error(s->cmd, "--by is for ls");
		return EXIT_USAGE;
	}
	/* import may make the store; the others only ask one that is there. */
	if (w->run == store_import) {
		if (s->stored.from || s->stored.to || s->stored.where) {
			cmd_error(s->cmd, "import takes all of a recording");
			return EXIT_USAGE;
		}
		s->window_ns = s->window_ns ? s->window_ns : WINDOW_NS;
		return infile_set(&s->in, s->cmd, words[1]) < 0 ? EXIT_USAGE : w->run(s);
	}
	if (n > 1)
		s->function = words[1];
	if (!s->stored.url)
		s->stored.url = url = stored_default(false);
	if (!url && !s->stored.url)
		return EXIT_FAILED;
	if (stored_settle(&s->stored, s->cmd) >= 0)
		rc = w->run(s);
	free(url);
	return rc;
}

/* The command: reads its options and operands, does the work, and frees everything at one place. An
 * exit code. */
static int store_run(int argc, char **argv, const struct cmd *cmd)
{
	struct store_cmd s = { .cmd = cmd, .day_mb = DAY_MB };
	struct options o = options_start(argc, argv, cmd);
	const char *words[3];
	size_t n = 0;
	int id, rc = EXIT_USAGE;

	if (naming_start(&s.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_OPERAND && n < sizeof(words) / sizeof(words[0]))
			words[n++] = o.arg;
		else if (id < 0 || store_option(&s, &o, id) < 0)
			goto out;
	}
	for (; o.at < argc && n < sizeof(words) / sizeof(words[0]); o.at++)
		words[n++] = argv[o.at];
	rc = store_do(&s, words, n);
out:
	infile_close(&s.in);
	stored_free(&s.stored);
	labels_free(&s.labels);
	naming_end(&s.naming);
	return rc;
}

COMMAND(store) = {
	.name = "store",
	.synopsis = "ls|series|top|rollup|compact|import|init [options] [FUNCTION|RECORDING]",
	.summary = "What is in a store of profiles; a recording into it",
	.details = CMD_PARAGRAPHS(
	        "A store holds windows of samples: what seam agent took, or a recording that "
	        "was imported. seam report --store answers from it.",
	        "ls lists the series of a store: sets of labels, with their samples and times, "
	        "of --from, --to and --where if they are given. With --by it lists the values of "
	        "some labels: --by service, or --by host,version.",
	        "series shows the share of a function, with what it called, over time: a line "
	        "for each point, of the first event. --from, --to and --where choose.",
	        "rollup adds up, for each hour that is over, what each function of a service and "
	        "version has: all hours that have windows and are not "
	        "rolled up, or those of --from and --to. It is to be called once an hour, by "
	        "anybody; of an SQLite store that an agent writes to, the agent does it. An hour "
	        "to which windows came later is made again. In an SQLite store it also adds up "
	        "what each frame has, so that seam report reads no stacks of these hours where "
	        "it shows none. top shows the "
	        "functions with the most of each event in --from to --to by these hours alone, "
	        "and says how many hours are missing. Of a ClickHouse store it adds up each "
	        "series, too, for ls. A begun hour counts whole. Of --where it "
	        "knows service and version. A function counts once for each stack that it is in.",
	        "compact makes an SQLite store smaller, as seam agent does by itself when it has "
	        "time: windows that are older than ten minutes become windows of a minute, those "
	        "older than a day of ten minutes, those older than a week of an hour. Reports of "
	        "whole ones of these are as before. It is for stores that no agent writes to. "
	        "Where an agent's stacks are so many that a day would take more than --day-mb, "
	        "those that were met once, or as rarely as it needs, are folded into their "
	        "callers, below which [folded] stands for them; reports and ls say of how many "
	        "samples.",
	        "--json: ls writes version (1), windows, bytes, folded (samples), first_ns, "
	        "last_ns, series "
	        "(labels, samples, windows, or with --by how many series, first_ns, last_ns); "
	        "series writes version (1), "
	        "function, points (time_ns, total, self, all: weights); top writes version (1), "
	        "hours, hours_missing, events (event, all, functions: function, object, self, "
	        "total). Times are since 1970. "
	        "Keys may be added, none is taken away.",
	        "import cuts a recording into windows and puts them into the store, with names, "
	        "lines and inlined calls as they are found here. host and kernel are those that "
	        "the recording names. What is imported a second time counts once.",
	        "init makes the tables of a ClickHouse server, or brings them to this version; "
	        "--dry-run prints what it would do. A URL is clickhouse:http://HOST:8123/DATABASE, "
	        "or https, with options behind '?': user, password-file, token-file, ca-file "
	        "(PEM), "
	        "timeout (seconds): "
	        "clickhouse:https://db:8443/?user=seam&password-file=/etc/seam/pw. "
	        "What seam agent puts there waits in a spool on disk, /var/lib/seam/spool for "
	        "root, "
	        "until the server has it: options spool (a directory) and spool-mb (1024).",
	        "--cluster makes Distributed tables over tables of each server, divided by "
	        "service, and is to be called for each server; --replicated does so for all of "
	        "them at once.",
	        "Exit status: 0; 1: it could not be done; 2: usage; 3: the recording was "
	        "damaged and what was left is in the store."),
	.options = store_options,
	.run = store_run,
};
