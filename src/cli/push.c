// SPDX-License-Identifier: MIT
// push.c: `seam push`: a recording into a store of profiles that has its own way in.
#include <errno.h>
#include <string.h>

#include "cli/cmds.h"
#include "fleet/import.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/stored.h"
#include "base/when.h"

#define WINDOW_NS 10000000000ULL

enum {
	OPT_WINDOW = 1,
	OPT_LABEL,
};

static const struct option_def push_options[] = {
	{ "window", 0, "TIME", "length of each profile (10s)", OPT_WINDOW },
	{ "label", 0, "LABEL=VALUE", "a label of all profiles: service=checkout", OPT_LABEL },
	NAMING_OPTIONS,
	{ 0 },
};

/* One command line. */
struct push_cmd {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct labels labels;
	uint64_t window_ns;
	const char *url;
};

/* Takes one option or operand. -EINVAL after saying what is wrong with it. */
static int push_option(struct push_cmd *p, const struct options *o, int id)
{
	switch (id) {
	case OPTIONS_OPERAND:
		if (!p->in.path)
			return infile_set(&p->in, p->cmd, o->arg);
		if (!p->url) {
			p->url = o->arg;
			return 0;
		}
		cmd_error(p->cmd, "one recording and one URL are taken");
		return -EINVAL;
	case OPT_WINDOW:
		if (when_parse_duration(o->arg, &p->window_ns) >= 0 && p->window_ns)
			return 0;
		cmd_error(p->cmd, "--window: '%s' is no length of time; they are 10s, 1m, 1h",
		          o->arg);
		return -EINVAL;
	case OPT_LABEL:
		return stored_label(&p->labels, p->cmd, o->arg);
	default:
		return naming_option(&p->naming, o, id);
	}
}

/* For import_recording. */
static void push_say(void *ctx, const char *text)
{
	infile_progress_end();
	cmd_error(ctx, "%s", text);
}

/* Sends all windows. An exit code. */
static int push_recording(struct push_cmd *p)
{
	struct import_opts opts = { .path = p->in.path,
		                    .window_ns = p->window_ns,
		                    .symbols = &p->naming.symbols,
		                    .no_inline = p->naming.no_inline,
		                    .labels = &p->labels,
		                    .progress = infile_progress(),
		                    .say = push_say,
		                    .ctx = (void *)p->cmd };
	struct import_counts counts = { 0 };
	struct recording *rec = NULL;
	struct store *store = NULL;
	struct seam_error err = { 0 };
	int code = infile_open(&p->in, p->cmd), r;

	if (code != EXIT_OK)
		return code;
	opts.reader = p->in.reader;
	r = store_open(&store, p->url, STORE_WRITE, &err);
	if (r >= 0)
		r = import_recording(store, &opts, &rec, &counts, &err);
	infile_progress_end();
	if (r < 0)
		cmd_error(p->cmd, "%s; %llu profiles were sent", cmd_reason(&err, r),
		          (unsigned long long)counts.put);
	else
		cmd_error(p->cmd, "%s: %llu windows sent", p->url, (unsigned long long)counts.put);
	code = r < 0 ? EXIT_FAILED : infile_verdict(&p->in, p->cmd, rec);
	store_close(store);
	recording_close(rec);
	return code;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int push_run(int argc, char **argv, const struct cmd *cmd)
{
	struct push_cmd p = { .cmd = cmd, .window_ns = WINDOW_NS };
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&p.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || push_option(&p, &o, id) < 0)
			goto out;
	}
	if (p.url)
		rc = push_recording(&p);
	else
		cmd_error(cmd, "a recording and a URL are needed: seam push perf.data "
		               "pyroscope:http://localhost:4040");
out:
	infile_close(&p.in);
	labels_free(&p.labels);
	naming_end(&p.naming);
	return rc;
}

COMMAND(push) = {
	.name = "push",
	.synopsis = "[options] RECORDING URL",
	.summary = "Send a recording to Pyroscope, Parca, Coroot or OpenTelemetry",
	.details = CMD_PARAGRAPHS(
	        "The recording is cut into windows, and each is sent with names, lines and inlined "
	        "calls as they are found here. URL is pyroscope:, parca:, coroot:, otlp: or "
	        "coroot-clickhouse: in front of http:// or https://; what stands behind the host "
	        "comes in front of the "
	        "server's own path (of otlp: in place of it). seam agent --store takes the same "
	        "URLs. Options stand behind '?': user, password-file, token-file (bearer), "
	        "key-file (X-API-Key), tenant (X-Scope-OrgID), ca-file (PEM), timeout (seconds).",
	        "Pyroscope and Parca get pprof in JSON (push.v1.PusherService/Push, "
	        "/profiles/writeraw), Coroot pprof (/v1/profiles), the others profiles 1.10 as "
	        "protobuf (/v1development/profiles). These servers could not be had where seam is "
	        "tested: stubs after their own definitions stand for them.",
	        "coroot-clickhouse: fills the tables that Coroot has in ClickHouse, of the "
	        "database "
	        "behind the host; 'seam store init' makes them where Coroot did not.",
	        "429 and 5xx are tried again, five times in all. What may have arrived although "
	        "there was no answer is not sent again, so that nothing counts twice.",
	        "Exit status: 0; 1: it could not be done; 2: usage; 3: the recording was "
	        "damaged and what was left was sent."),
	.options = push_options,
	.run = push_run,
};
