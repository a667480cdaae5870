// SPDX-License-Identifier: MIT
/*
 * manual.c: man pages and shell completions, all made from a table of commands. The build runs
 * `seam help` to make the pages of docs/man and the completion files; nothing of them is written by
 * hand.
 *
 * Man pages and completions therefore never differ from what a command takes.
 */
#include "cmd/manual.h"

#include <stdio.h>
#include <string.h>

/* roff: a leading dot or quote is a request, a backslash an escape, a dash must stay a dash. */
static void manual_text(const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		line_start = *text == '\n';
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else if (line_start && text[1] == '\n')
			fputs("\n.PP", stdout);
		else if (*text == ',') /* a long list has no spaces to break it at */
			fputs(",\\:", stdout);
		else
			putchar(*text);
	}
	putchar('\n');
}

/* Writes one option as a paragraph of a man page. */
static void manual_option(const struct option_def *d)
{
	bool optional = d->arg && d->arg[0] == '[';

	puts(".TP");
	if (d->short_name)
		printf(".B \\-%c%s\n", d->short_name, d->long_name ? ", \\c" : "");
	if (d->long_name) {
		printf(".B \\-\\-");
		for (const char *p = d->long_name; *p; p++)
			printf(*p == '-' ? "\\-" : "%c", *p);
		/* The letter and the name stand in one line of roff: \c joins the two. */
		puts(d->arg ? "\\c" : "");
	}
	if (d->arg && optional)
		printf("[=\\fI%.*s\\fR]\n", (int)strlen(d->arg) - 2, d->arg + 1);
	else if (d->arg)
		printf(".RI \" \" \"%s\"\n", d->arg);
	manual_text(d->help);
}

/* A section of words that options take. */
static void manual_word_list(const struct cmd_words *w)
{
	printf(".SH ");
	for (const char *p = w->title; *p; p++)
		putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	printf("\nFor ");
	for (const char *p = w->options; *p; p++)
		printf(*p == '|' ? ", " : *p == '-' ? "\\-" : "%c", *p);
	puts(":");
	for (const struct cmd_word *word = w->words; word->name; word++) {
		printf(".TP\n.B %s\n", word->name);
		manual_text(word->help);
	}
}

/* Writes the man page of a command from its row in the table. */
void manual_page(const struct cmd *cmd, const char *version)
{
	printf(".TH SEAM\\-%s 1 \"\" \"seam %s\" \"seam manual\"\n.ad l\n.SH NAME\nseam\\-%s \\- ",
	       cmd->name, version, cmd->name);
	manual_text(cmd->summary);
	printf(".SH SYNOPSIS\n.B seam %s\n", cmd->name);
	manual_text(cmd->synopsis);
	for (const char *const *paragraph = cmd->details; paragraph && *paragraph; paragraph++) {
		puts(paragraph == cmd->details ? ".SH DESCRIPTION" : ".PP");
		manual_text(*paragraph);
	}
	if (cmd->options && cmd->options->id)
		puts(".SH OPTIONS");
	for (const struct option_def *d = cmd->options; d && d->id; d++)
		manual_option(d);
	for (const struct cmd_words *w = cmd->words; w && w->title; w++)
		manual_word_list(w);
	puts(".SH EXIT STATUS");
	if (cmd->stops_at_operand)
		puts("That of the command it ran, if it ran one; else as below.\n.PP");
	puts("0: done. 1: it could not be done; standard error says why. 2: the command line is "
	     "wrong.\n"
	     "3: done, but the input was damaged; what was skipped is on standard error.");
	puts(".SH SEE ALSO\n.BR seam (1)");
}

/* Writes seam(1), which lists the commands. */
void manual_overview(const struct cmd *const *all, const char *version)
{
	printf(".TH SEAM 1 \"\" \"seam %s\" \"seam manual\"\n.ad l\n.SH NAME\n"
	       "seam \\- sampling profiler that gives every sample its whole stack\n"
	       ".SH SYNOPSIS\n.B seam\n.I COMMAND\n[options]\n.SH DESCRIPTION\n",
	       version);
	manual_text("seam records samples of running programs with their callchains, and reports "
	            "them. The "
	            "user half of a stack is deferred where the kernel can do that (Linux 6.19 and "
	            "later): it "
	            "is taken once, on the way back to user space, and stitched to the kernel half "
	            "by a "
	            "cookie. Of every sample seam says what became of its stack.\n\n"
	            "Recordings are perf.data files: perf, hotspot and others read them, and seam "
	            "reads "
	            "theirs.");
	/* A list of commands with their summaries. */
	puts(".SH COMMANDS");
	for (const struct cmd *const *c = all; *c; c++) {
		printf(".TP\n.BR seam\\-%s (1)\n", (*c)->name);
		manual_text((*c)->summary);
	}
	puts(".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/seam/config\nDefaults; see\n.BR seam\\-record "
	     "(1).");
	puts(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nWhen set and not empty, no colours.");
}

/* Words for a completion of `seam NAME`: every long option, and short ones that have no long
 * form. */
static void manual_words(const struct cmd *cmd)
{
	for (const struct option_def *d = cmd->options; d && d->id; d++) {
		if (d->long_name)
			printf(" --%s", d->long_name);
		else
			printf(" -%c", d->short_name);
	}
}

/* Which words an option takes, as a shell's case: each arm runs `before` words `after`. */
static void manual_cases(const struct cmd *cmd, const char *before, const char *after)
{
	for (const struct cmd_words *w = cmd->words; w && w->title; w++) {
		printf(" case $prev in %s) %s", w->options, before);
		for (const struct cmd_word *word = w->words; word->name; word++)
			printf(" %s", word->name);
		printf("%s ;; esac;", after);
	}
}

/* Writes the completion for bash: words by command, and values by option, also the next one of a
 * comma-separated list. */
static void manual_bash(const struct cmd *const *all)
{
	puts("# bash completion for seam; made by `seam help --completion bash`\n_seam() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= "
	     "values= head=\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	printf("\t\twords=\"");
	for (const struct cmd *const *c = all; *c; c++)
		printf(" %s", (*c)->name);
	puts("\"\n\telse\n\t\tcase ${COMP_WORDS[1]} in");
	for (const struct cmd *const *c = all; *c; c++) {
		printf("\t\t%s) words=\"--help", (*c)->name);
		manual_words(*c);
		printf("\";");
		manual_cases(*c, "values+=\"", "\"");
		puts(" ;;");
	}
	puts("\t\tesac\n\tfi\n"
	     "\tif [ -n \"$values\" ]; then\n"
	     "\t\t[ \"${cur%,*}\" = \"$cur\" ] || head=${cur%,*},\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$values\" -- \"${cur##*,}\")\n"
	     "\telif [ \"$COMP_CWORD\" -gt 1 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
	     "\t\tcompopt -o default; COMPREPLY=()\n"
	     "\telse\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n\tfi\n}\n"
	     "complete -F _seam seam");
}

/* A text in quotes for fish. */
static void manual_fish_text(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

/* Whether an option takes these words. w->options is a pattern of a shell's case: "-s|--sort". */
static bool manual_takes(const struct cmd_words *w, const struct option_def *d)
{
	const char *at = d->long_name ? strstr(w->options, d->long_name) : NULL;
	char after = at ? at[strlen(d->long_name)] : 'x';

	return at && at > w->options + 1 && at[-1] == '-' && (!after || after == '|');
}

/* Writes that an option has an argument, and which words it may be. */
static void manual_fish_argument(const struct cmd *cmd, const struct option_def *d)
{
	bool any = false;

	for (const struct cmd_words *w = cmd->words; w && w->title; w++) {
		if (!manual_takes(w, d))
			continue;
		printf(any ? " " : " -x -a '(__seam_list ");
		any = true;
		for (const struct cmd_word *word = w->words; word->name; word++)
			printf("%s%s", word == w->words ? "" : " ", word->name);
	}
	if (any)
		printf(")'");
	else if (d->arg && d->arg[0] != '[')
		printf(" -r");
}

/* Writes the completion for fish, a line for each option. */
static void manual_fish(const struct cmd *const *all)
{
	puts("# fish completion for seam; made by `seam help --completion fish`\n"
	     "function __seam_list -d 'Words for the last place of a comma-separated list'\n"
	     "\tset -l head (commandline -tc | string replace -rf '^(?:--[^=]*=)?(.*,)?[^,]*$' "
	     "'$1')\n"
	     "\tprintf '%s\\n' \"$head\"$argv\n"
	     "end");
	for (const struct cmd *const *c = all; *c; c++) {
		printf("complete -c seam -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
		manual_fish_text((*c)->summary);
		putchar('\n');
		for (const struct option_def *d = (*c)->options; d && d->id; d++) {
			printf("complete -c seam -n '__fish_seen_subcommand_from %s'", (*c)->name);
			if (d->short_name)
				printf(" -s %c", d->short_name);
			if (d->long_name)
				printf(" -l %s", d->long_name);
			manual_fish_argument(*c, d);
			printf(" -d ");
			manual_fish_text(d->help);
			putchar('\n');
		}
	}
}

/* zsh: words by command; values by option; files otherwise. */
/* Writes the completion for zsh: the same as for bash, and files where bash has its default. */
static void manual_zsh(const struct cmd *const *all)
{
	puts("#compdef seam\n# zsh completion for seam; made by `seam help --completion "
	     "zsh`\n_seam() {\n"
	     "\tlocal prev=$words[CURRENT-1]\n\tlocal -a options values\n"
	     "\tif (( CURRENT == 2 )); then");
	printf("\t\tcompadd --");
	for (const struct cmd *const *c = all; *c; c++)
		printf(" %s", (*c)->name);
	puts("\n\t\treturn\n\tfi\n\tcase $words[2] in");
	for (const struct cmd *const *c = all; *c; c++) {
		printf("\t%s) options=(--help", (*c)->name);
		manual_words(*c);
		printf(");");
		manual_cases(*c, "values+=(", ")");
		puts(" ;;");
	}
	puts("\tesac\n"
	     "\tif (( $#values )); then\n\t\tcompset -P '*,'\n\t\tcompadd -a values\n"
	     "\telif [[ $PREFIX == -* ]]; then\n\t\tcompadd -a options\n"
	     "\telse\n\t\t_files\n\tfi\n}\n_seam \"$@\"");
}

/* EXIT_USAGE, after saying so: no such shell is known. */
int manual_completion(const struct cmd *self, const struct cmd *const *all, const char *shell)
{
	if (!strcmp(shell, "bash"))
		manual_bash(all);
	else if (!strcmp(shell, "fish"))
		manual_fish(all);
	else if (!strcmp(shell, "zsh"))
		manual_zsh(all);
	else {
		cmd_error(self, "--completion: '%s' is not bash, fish or zsh", shell);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}
