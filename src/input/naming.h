/* SPDX-License-Identifier: MIT */
/* naming.h: where names come from: the options --symfs, --kallsyms, --vmlinux, --no-demangle,
 * --no-inline, --debuginfod, --archive, and the config file's [debuginfod]. */
#ifndef SEAM_INPUT_NAMING_H
#define SEAM_INPUT_NAMING_H

#include "cmd/cmd.h"
#include "cmd/config.h"
#include "input/debuginfod.h"
#include "input/unpacked.h"
#include "dwarf/source_file.h"
#include "tables/tables.h"
#include "symbol/symbol.h"

enum {
	NAMING_SYMFS = 2000,
	NAMING_KALLSYMS,
	NAMING_VMLINUX,
	NAMING_NO_DEMANGLE,
	NAMING_NO_INLINE,
	NAMING_NATIVE,
	NAMING_INLINE,
	NAMING_DEBUGINFOD,
	NAMING_DEBUGINFOD_LIMIT,
	NAMING_NO_DEBUGINFOD,
	NAMING_ARCHIVE,
	NAMING_SOURCE_DIR,
	NAMING_END,
};

/* The options for a command that unwinds and names nothing. */
#define NAMING_UNWIND_OPTIONS                                                                      \
	{ "archive", 0, "FILE", "unwind tables from what seam archive made, from nowhere else",    \
	  NAMING_ARCHIVE },                                                                        \
	        { "symfs", 0, "DIR", "look for object files under this directory", NAMING_SYMFS }, \
	        { "debuginfod", 0, "[URLS]",                                                       \
		  "ask these servers ($DEBUGINFOD_URLS) for files that are not here",              \
		  NAMING_DEBUGINFOD },                                                             \
	        { "debuginfod-limit", 0, "SECONDS", "ask for this long in all (60)",               \
		  NAMING_DEBUGINFOD_LIMIT },                                                       \
	{                                                                                          \
		"no-debuginfod", 0, NULL, "ask no server, whatever the config file says",          \
		        NAMING_NO_DEBUGINFOD                                                       \
	}

#define NAMING_OPTIONS                                                                             \
	{ "archive", 0, "FILE",                                                                    \
	  "names and unwind tables from what seam archive made, from nowhere else",                \
	  NAMING_ARCHIVE },                                                                        \
	        { "symfs", 0, "DIR", "look for object files under this directory", NAMING_SYMFS }, \
	        { "kallsyms", 0, "FILE", "kernel symbols, in the form of /proc/kallsyms",          \
		  NAMING_KALLSYMS },                                                               \
	        { "vmlinux", 'k', "FILE",                                                          \
		  "kernel image, used if its build-id is the recorded one", NAMING_VMLINUX },      \
	        { "no-demangle", 0, NULL, "names as the files have them", NAMING_NO_DEMANGLE },    \
	        { "no-inline", 0, NULL, "no frames for calls that the compiler inlined",           \
		  NAMING_NO_INLINE },                                                              \
	        { "native", 0, NULL,                                                               \
		  "frames of an interpreter's own loop, too, where its functions are known",       \
		  NAMING_NATIVE },                                                                 \
	        { "debuginfod", 0, "[URLS]",                                                       \
		  "ask these servers ($DEBUGINFOD_URLS) for files that are not here",              \
		  NAMING_DEBUGINFOD },                                                             \
	        { "debuginfod-limit", 0, "SECONDS", "ask for this long in all (60)",               \
		  NAMING_DEBUGINFOD_LIMIT },                                                       \
	        { "no-debuginfod", 0, NULL, "ask no server, whatever the config file says",        \
		  NAMING_NO_DEBUGINFOD },                                                          \
	{                                                                                          \
		"inline", 0, NULL, "frames for inlined calls (the default)", NAMING_INLINE         \
	}

/* For a command that shows or packs source files, too. */
#define NAMING_SOURCE_OPTIONS                                                                   \
	NAMING_OPTIONS,                                                                         \
	{                                                                                       \
		"source-dir", 0, "DIR[:DIR]",                                                   \
		        "source files below these may be shown, and are looked for there, too", \
		        NAMING_SOURCE_DIR                                                       \
	}

struct naming {
	struct symbol_opts symbols;
	struct tables_opts tables;
	struct unpacked archive;
	bool no_inline;
	bool native;
	struct config *config;
	bool color;       /* may standard output have colours? */
	bool config_asks; /* servers are asked because the config file says so */
	struct debuginfod debuginfod;
	struct buf source_dirs; /* of the options */
	struct buf all_dirs;    /* and of the config file */
	char buildid_dir[4096]; /* perf's cache in the home directory; what symbols points to */
};

/* Starts with what the config file says. -EINVAL: the file makes no sense, which was said. */
int naming_start(struct naming *n, const struct cmd *cmd);
/* 0, or -EINVAL for an id that is none of the above. */
int naming_option(struct naming *n, const struct options *o, int id);

/* To be called after the options: where unwind tables come from, by the same search. */
const struct tables_opts *naming_tables(struct naming *n);

/* To be called after the options: whose sources may be shown. */
struct source_dirs naming_source_dirs(struct naming *n);

/* Fills args with the options that name and unwind alike in another run of seam; archive: what is
 * said of --archive there, NULL: nothing. Returns how many, at most NAMING_ARGS_MAX. */
#define NAMING_ARGS_MAX 11
size_t naming_args(struct naming *n, const char *archive, const char **args);

/* To be called when everything that uses it for names was freed. */
void naming_end(struct naming *n);

#endif
