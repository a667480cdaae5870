// SPDX-License-Identifier: MIT
// naming.c: see naming.h.
#include "cli/naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void naming_start(struct naming *n)
{
	const char *home = getenv("HOME");
	int len;

	*n = (struct naming){ .symbols = { .sz = sizeof(n->symbols),
		                           .search = { .sz = sizeof(n->symbols.search) } } };
	len = home ? snprintf(n->buildid_dir, sizeof(n->buildid_dir), "%s/.debug", home) : 0;
	if (len > 0 && (size_t)len < sizeof(n->buildid_dir))
		n->symbols.search.buildid_dir = n->buildid_dir;
}

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
		n->symbols.vmlinux = o->arg;
		return 0;
	case NAMING_NO_DEMANGLE:
		n->symbols.no_demangle = true;
		return 0;
	case NAMING_NO_INLINE:
	case NAMING_INLINE:
		n->no_inline = id == NAMING_NO_INLINE;
		return 0;
	case NAMING_DEBUGINFOD:
		n->symbols.search.fetch = debuginfod_start(&n->debuginfod, o->cmd, o->arg);
		return n->symbols.search.fetch ? 0 : -EINVAL;
	case NAMING_DEBUGINFOD_LIMIT:
		if (options_u64(o, "--debuginfod-limit", 1, 86400, &v) < 0)
			return -EINVAL;
		n->debuginfod.limit_s = (unsigned)v;
		return 0;
	case NAMING_ARCHIVE:
		if (unpacked_open(&n->archive, o->cmd, o->arg) < 0)
			return -EINVAL;
		n->symbols.search.root = n->archive.files;
		n->symbols.search.buildid_dir = n->archive.dir;
		n->symbols.map_dir = n->archive.maps;
		return 0;
	default:
		return -EINVAL;
	}
}

const struct tables_opts *naming_tables(struct naming *n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	n->tables = (struct tables_opts){ .sz = sizeof(n->tables),
		                          .search = n->symbols.search,
		                          .helpers = cpus > 1 ? (unsigned)cpus - 1 : 0 };
	return &n->tables;
}

void naming_end(struct naming *n)
{
	debuginfod_stop(&n->debuginfod);
}
