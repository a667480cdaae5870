// SPDX-License-Identifier: MIT
// check.c: `seam check`: what this kernel, for this user, can do, the reason for each "no", and
// what to do about it. Prints the table of capture/features; decides nothing.
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "capture/features.h"
#include "capture/mode.h"
#include "capture/session.h"
#include "cli/cmds.h"

enum {
	OPTION_JSON = 1
};

static const struct option_def check_options[] = {
	{ "json", 0, NULL, "print one JSON object", OPTION_JSON },
	{ 0 },
};

/* As it stands in the table, and in JSON. */
static const char *check_state(enum feature_state state)
{
	return state == FEATURE_YES ? "yes" : state == FEATURE_NO ? "no" : "unknown";
}

/* Where frametab knows the machine's registers: elsewhere stack copies cannot be unwound. */
#if defined(__x86_64__) || defined(__aarch64__)
#define CHECK_UNWINDS 1
#else
#define CHECK_UNWINDS 0
#endif

// The mode that `seam record` would choose, found by the same probes.
static struct mode check_mode(struct features *f)
{
	struct mode mode = { .stack = CHECK_UNWINDS ? MODE_STACK : MODE_FP,
		             .reason = MODE_NO_KERNEL,
		             .stack_size = SESSION_STACK_SIZE_DEFAULT,
		             .unwinds = true,
		             .per_task = true,
		             .runtimes = MODE_RUNTIMES_NO_BPF };

	if (features_has(f, FEATURE_LIVE) && features_has(f, FEATURE_SYSTEM_WIDE)) {
		mode.stack = features_has(f, FEATURE_LIVE_DEFER) ? MODE_LIVE_DEFER : MODE_LIVE;
		mode.reason = MODE_NO_TASK_WORK;
		mode.runtimes = MODE_RUNTIMES_NOT_SAID;
		return mode;
	}
	if (!features_has(f, FEATURE_DEFER))
		return mode;
	mode.reason = MODE_NO_ARCH;
	if (features_get(f, FEATURE_DEFERS)->state == FEATURE_NO)
		return mode;
	mode.stack = MODE_FP_DEFER;
	mode.deferred =
	        features_has(f, FEATURE_SYSTEM_WIDE) ? MODE_DEFERRED_CPU : MODE_DEFERRED_TASK;
	return mode;
}

/* One row, with the reason of a "no" and what would help, if anything would. */
static void check_print_row(struct features *f, enum feature which)
{
	const struct feature_result *r = features_get(f, which);

	cmd_print(stdout, "  %-20s %-8s %s\n", features_name(which), check_state(r->state),
	          features_text(which));
	if (r->reason[0])
		cmd_print(stdout, "  %-20s %-8s   why: %s\n", "", "", r->reason);
	if (r->remedy[0])
		cmd_print(stdout, "  %-20s %-8s   do:  %s\n", "", "", r->remedy);
}

/* What recording needs stands first, then what it can do without. */
static void check_print(struct features *f)
{
	struct mode mode = check_mode(f);
	char text[512];

	cmd_print(stdout, "This machine, for this user:\n");
	for (int i = FEATURE_OPEN; i < FEATURES; i++)
		check_print_row(f, (enum feature)i);
	cmd_print(stdout, "\nWhat the kernel knows (what it lacks is left out when recording):\n");
	for (int i = 0; i < FEATURE_ATTR_END; i++)
		check_print_row(f, (enum feature)i);
	if (features_can_record(f))
		cmd_print(stdout, "\nRecording is possible; %s\n",
		          mode_line(&mode, text, sizeof(text)));
	else
		cmd_print(stdout, "\nRecording is not possible: %s\n",
		          features_get(f, FEATURE_SOFTWARE_CLOCK)->reason);
}

/* Writes one row of the table with its state, reason and remedy. */
static void check_json_row(struct json *j, struct features *f, enum feature which)
{
	const struct feature_result *r = features_get(f, which);

	json_key(j, features_name(which));
	json_open(j, '{');
	json_key(j, "state");
	json_string(j, check_state(r->state));
	json_key(j, "text");
	json_string(j, features_text(which));
	json_key(j, "reason");
	json_string(j, r->reason[0] ? r->reason : NULL);
	json_key(j, "remedy");
	json_string(j, r->remedy[0] ? r->remedy : NULL);
	json_key(j, "errno");
	json_i64(j, r->error);
	if (r->value) {
		json_key(j, "value");
		json_i64(j, r->value);
	}
	json_close(j, '}');
}

/* Prints the whole table as one JSON object. -1: it could not be written. */
static int check_json(struct features *f)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };
	struct mode mode = check_mode(f);
	char text[512];
	bool ok;

	json_open(&j, '{');
	json_key(&j, "can_record");
	json_bool(&j, features_can_record(f));
	json_key(&j, "call_graph");
	json_string(&j, mode_option(&mode));
	json_key(&j, "mode");
	json_string(&j, mode_line(&mode, text, sizeof(text)));
	json_key(&j, "features");
	json_open(&j, '{');
	for (int i = 0; i < FEATURES; i++)
		check_json_row(&j, f, (enum feature)i);
	json_close(&j, '}');
	json_close(&j, '}');
	ok = !out.failed && puts(buf_text(&out)) >= 0;
	buf_free(&out);
	return ok ? 0 : -1;
}

/* The command. Its exit code says whether this user can record here. */
static int check_run(int argc, char **argv, const struct cmd *cmd)
{
	struct options o = options_start(argc, argv, cmd);
	struct features f;
	bool json = false;
	int id;

	while ((id = options_next(&o)) != OPTIONS_END) {
		switch (id) {
		case OPTION_JSON:
			json = true;
			break;
		case OPTIONS_HELP:
			return EXIT_OK;
		case OPTIONS_OPERAND:
			cmd_error(cmd, "unexpected argument '%s'", o.arg);
			return EXIT_USAGE;
		default:
			return EXIT_USAGE;
		}
	}
	features_init(&f, NULL);
	features_probe_all(&f);
	if (!json)
		check_print(&f);
	else if (check_json(&f) < 0)
		return EXIT_FAILED;
	return features_can_record(&f) ? EXIT_OK : EXIT_FAILED;
}

COMMAND(check) = {
	.name = "check",
	.synopsis = "[--json]",
	.summary = "Say what this kernel can do, why not, and what to do about it",
	.details = CMD_PARAGRAPHS(
	        "Every row is really tried, on a harmless event that is never enabled.\n"
	        "Exit status 0: recording is possible; 1: it is not."),
	.options = check_options,
	.run = check_run,
};
