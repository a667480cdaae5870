/* SPDX-License-Identifier: MIT */
/*
 * cmd.h: what a command is. One file and one `const struct cmd` per command; help, man synopsis and
 * completions come from it.
 */
#ifndef SEAM_CMD_CMD_H
#define SEAM_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <seam/error.h>

/* Exit codes of every command. record passes on the exit status of its target command instead. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,  /* it could not be done; stderr says why */
	EXIT_USAGE = 2,   /* the command line is wrong */
	EXIT_PARTIAL = 3, /* done, but the input was damaged: what was skipped is on stderr */
};

struct option_def {
	const char *long_name; /* without dashes; NULL: short only */
	char short_name;       /* 0: long only */
	const char *arg;  /* "FILE", "[MODE]" when optional (only as --name=MODE), NULL: none */
	const char *help; /* one line, lower case, no full stop */
	int id;           /* given to option(), unique in the command, != 0 */
};

/* Words that an option takes: sort keys, formats. Help and the man page list them behind the
 * options, and completions offer them. */
struct cmd_words {
	const char *title;   /* "Sort keys" */
	const char *options; /* that take them: "-s|--sort" */
	const struct cmd_word {
		const char *name;
		const char *help; /* one line, lower case, no full stop */
	} * words;                /* ends with name NULL */
};

/* A text without a limit: C99 wants compilers to take strings of 4,095 characters only. */
#define CMD_PARAGRAPHS(...)       \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

struct cmd {
	const char *name;
	const char *synopsis;             /* behind "seam NAME ": "[options] [-- command]" */
	const char *summary;              /* one line */
	const char *const *details;       /* CMD_PARAGRAPHS for --help and man page, or NULL */
	const struct option_def *options; /* ends with id 0 */
	const struct cmd_words *words;    /* ends with title NULL; or NULL */
	bool lasts;            /* goes on until it is ended, and must keep little memory */
	bool stops_at_operand; /* the first operand ends the options: record ... command */
	/* argv[0] is the command's name; an exit code. NULL: help, which needs the whole table. */
	int (*run)(int argc, char **argv, const struct cmd *cmd);
};

/* Walks an argv by the command's table. */
struct options {
	const struct cmd *cmd;
	int argc;
	char **argv;
	int at;           /* next argument to look at */
	const char *pack; /* rest of "-abc" */
	const char *arg;  /* of the option just returned; NULL when it has none */
};

#define OPTIONS_END 0
#define OPTIONS_OPERAND (-1) /* .arg is the operand */
#define OPTIONS_USAGE (-2)   /* wrong; it was said on stderr: return EXIT_USAGE */
#define OPTIONS_HELP (-3)    /* --help or -h was printed: return EXIT_OK */

/* The id of an option that perf has, and that changes nothing here: it is not returned. */
#define OPTIONS_ACCEPTED 0x7fff

/* An entry for a command's option table. */
#define OPTIONS_FORCE                                                                      \
	{                                                                                  \
		"force", 'f', NULL, "accepted: it does not matter whose the recording is", \
		        OPTIONS_ACCEPTED                                                   \
	}

struct options options_start(int argc, char **argv, const struct cmd *cmd);
/* The id of the next option, or one of the above. After OPTIONS_END, argv[at..] are what stands
 * behind "--". */
int options_next(struct options *o);

/* Numbers from the command line: 0, or -EINVAL with a message on stderr ("seam record: -F: 'x' is
 * not a number"). */
int options_u64(const struct options *o, const char *what, unsigned long long least,
                unsigned long long most, unsigned long long *ret);

void cmd_print_help(const struct cmd *cmd);
/* As fprintf, with every string escaped (base/shown.h). Use it for all that may contain a name from
 * outside. */
bool cmd_print_failed(void); /* of cmd_print and cmd_error, for want of memory */
void cmd_print(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "seam report: perf.data: ..." on stderr, escaped likewise. */
void cmd_error(const struct cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Who is told every message of cmd_error as well, without the command's name, by the thread that
 * says it; NULL: nobody. */
void cmd_error_heard(void (*heard)(void *ctx, const char *text), void *ctx);
/* Why a function failed with the negative r: what it said in err, "out of memory", or the error's
 * own words. */
const char *cmd_reason(const struct seam_error *err, int r);

#endif
