// SPDX-License-Identifier: MIT
/*
 * naming.c: see naming.h.
 *
 * The options that say where names come from, as far as several commands have them, and the
 * settings of the config file that mean the same. A command line wins over the config.
 */
#include "input/naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cpus.h"

/* Uses the servers of debuginfod.urls or, where debuginfod.use is true, those of the environment;
 * debuginfod.use false forbids both. If servers cannot be asked, names are shown without them,
 * because nobody asked for them in this command. */
static int naming_config_debuginfod(struct naming *n, const struct cmd *cmd, struct seam_error *err)
{
	const struct config *config = n->config;
	const char *urls = config_get(config, "debuginfod.urls");
	const char *limit = config_get(config, "debuginfod.limit");
	bool use = urls && *urls;
	char *end = NULL;
	unsigned long seconds = limit ? strtoul(limit, &end, 10) : 0;

	if (config_bool(config, "debuginfod.use", &use, err) < 0)
		return -EINVAL;
	if (limit && (*end || end == limit || !seconds || seconds > 86400))
		return seam_error_set(err, EINVAL, config_where(config, "debuginfod.limit"),
		                      SEAM_NO_OFFSET, NULL, "'%s' is not 1 to 86400 seconds",
		                      limit);
	n->debuginfod.limit_s = (unsigned)seconds;
	if (use)
		n->symbols.search.fetch = debuginfod_start(&n->debuginfod, cmd, urls);
	n->config_asks = use;
	return 0;
}

/* -EINVAL, after saying what is wrong with the config. */
static int naming_config(struct naming *n, const struct cmd *cmd)
{
	struct seam_error err = { 0 };
	int r = config_load(&n->config, NULL, &err);

	if (r >= 0)
		r = config_color(n->config, &n->color, &err);
	if (r >= 0)
		r = naming_config_debuginfod(n, cmd, &err);
	if (r < 0)
		cmd_error(cmd, "%s", err.text);
	return r < 0 ? -EINVAL : 0;
}

/* Sets what holds without any option: the cache of build-ids at its usual place, then the
 * config. */
int naming_start(struct naming *n, const struct cmd *cmd)
{
	const char *home = getenv("HOME");
	int len;

	*n = (struct naming){ .symbols = { .sz = sizeof(n->symbols),
		                           .search = { .sz = sizeof(n->symbols.search) } } };
	len = home ? snprintf(n->buildid_dir, sizeof(n->buildid_dir), "%s/.debug", home) : 0;
	if (len > 0 && (size_t)len < sizeof(n->buildid_dir))
		n->symbols.search.buildid_dir = n->buildid_dir;
	return naming_config(n, cmd);
}

/* -EINVAL also for a wrong value, after saying so. An archive takes the place of all other places
 * where files are. */
int naming_option(struct naming *n, const struct options *o, int id)
{
	unsigned long long v;

	switch (id) {
	case NAMING_SYMFS:
		n->symbols.search.root = o->arg;
		return 0;
	case NAMING_KALLSYMS:
		n->symbols.kallsyms = o->arg;
		return 0;
	case NAMING_VMLINUX:
		n->symbols.search.vmlinux = o->arg;
		return 0;
	case NAMING_NO_DEMANGLE:
		n->symbols.no_demangle = true;
		return 0;
	case NAMING_NO_INLINE:
	case NAMING_INLINE:
		n->no_inline = id == NAMING_NO_INLINE;
		return 0;
	case NAMING_NATIVE:
		/* Asked for by hand: it stays when an archive is given. */
		n->native = true;
		return 0;
	case NAMING_DEBUGINFOD:
		n->symbols.search.fetch = debuginfod_start(&n->debuginfod, o->cmd, o->arg);
		n->config_asks = false;
		return n->symbols.search.fetch ? 0 : -EINVAL;
	case NAMING_NO_DEBUGINFOD:
		n->symbols.search.fetch = NULL;
		return 0;
	case NAMING_DEBUGINFOD_LIMIT:
		if (options_u64(o, "--debuginfod-limit", 1, 86400, &v) < 0)
			return -EINVAL;
		n->debuginfod.limit_s = (unsigned)v;
		return 0;
	case NAMING_SOURCE_DIR:
		if (n->source_dirs.n)
			buf_put(&n->source_dirs, ":", 1);
		return buf_put_text(&n->source_dirs, o->arg) < 0 ? -EINVAL : 0;
	case NAMING_ARCHIVE:
		/* What is missing in the archive is missing: the machine's own files may be
		 * others. */
		if (unpacked_open(&n->archive, o->cmd, o->arg) < 0)
			return -EINVAL;
		if (n->config_asks) /* from nowhere else */
			n->symbols.search.fetch = NULL;
		n->symbols.search.root = n->archive.files;
		n->symbols.search.buildid_dir = n->archive.dir;
		n->symbols.map_dir = n->archive.maps;
		return 0;
	default:
		return -EINVAL;
	}
}

/* The same places, for those that unwind. One CPU is left to the caller. */
const struct tables_opts *naming_tables(struct naming *n)
{
	n->tables = (struct tables_opts){ .sz = sizeof(n->tables),
		                          .search = n->symbols.search,
		                          .map_dir = n->symbols.map_dir,
		                          .kallsyms = n->symbols.kallsyms,
		                          .foreign = n->symbols.foreign,
		                          .helpers = cpus_usable() - 1 };
	return &n->tables;
}

struct source_dirs naming_source_dirs(struct naming *n)
{
	const char *config = config_get(n->config, "source.dirs");

	buf_clear(&n->all_dirs);
	buf_printf(&n->all_dirs, "%s:%s", buf_text(&n->source_dirs), config ? config : "");
	return (struct source_dirs){ buf_text(&n->all_dirs) };
}

/* An archive stands for all other places of files. */
size_t naming_args(struct naming *n, const char *archive, const char **args)
{
	const struct symbol_opts *s = &n->symbols;
	const struct {
		const char *option, *value;
	} with[] = {
		{ "--archive", archive },
		{ "--symfs", archive ? NULL : s->search.root },
		{ "--kallsyms", s->kallsyms },
		{ "--vmlinux", s->search.vmlinux },
		{ "--source-dir", n->source_dirs.n ? buf_text(&n->source_dirs) : NULL },
	};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		if (with[i].value) {
			args[at++] = with[i].option;
			args[at++] = with[i].value;
		}
	if (s->no_demangle)
		args[at++] = "--no-demangle";
	return at;
}

void naming_end(struct naming *n)
{
	debuginfod_stop(&n->debuginfod);
	config_free(n->config);
	buf_free(&n->source_dirs);
	buf_free(&n->all_dirs);
}
