// SPDX-License-Identifier: MIT
/*
 * record_filter.c: see record_filter.h. Names of users are those of this machine.
 *
 * The filters themselves run in the kernel (kwalk/), so lists have the bounds of its tables.
 */
#include "asked/record_filter.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls add for each part of a comma-separated list. most: of parts. -EINVAL after saying what is
 * wrong. */
static int filter_each(struct record_opts *o, const struct record_arg *a, size_t most,
                       int (*add)(struct record_opts *, const struct record_arg *, const char *))
{
	const char *at = a->text;

	while (true) {
		size_t n = strcspn(at, ",");
		char part[2048];

		if (!n || n >= sizeof(part) || !most--)
			return record_values_wrong(a,
			                           n ? "too much: '%.60s'"
			                             : "an empty name in '%.60s'",
			                           a->text);
		memcpy(part, at, n);
		part[n] = 0;
		if (add(o, a, part) < 0)
			return -EINVAL;
		if (!at[n])
			return 0;
		at += n + 1;
	}
}

/* A user by name or number. -EINVAL after saying what is wrong. */
static int filter_add_uid(struct record_opts *o, const struct record_arg *a, const char *text)
{
	struct kwalk_filters *f = &o->rec.filters;
	const struct passwd *user;
	char *end;
	unsigned long uid = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || uid > UINT32_MAX - 1) {
		user = getpwnam(text);
		if (!user)
			return record_values_wrong(a, "'%s' is neither a user nor a number", text);
		uid = user->pw_uid;
	}
	if (f->n_uids == sizeof(f->uids) / sizeof(f->uids[0]))
		return record_values_wrong(a, "too many users");
	f->uids[f->n_uids++] = (uint32_t)uid;
	return 0;
}

/* A name longer than the kernel keeps would never match, so it is refused. */
static int filter_add_comm(struct record_opts *o, const struct record_arg *a, const char *text)
{
	struct kwalk_filters *f = &o->rec.filters;

	if (strlen(text) >= KWALK_COMM)
		return record_values_wrong(a, "'%s': the kernel keeps %u bytes of a name: '%.15s'",
		                           text, KWALK_COMM - 1, text);
	if (f->n_comms == sizeof(f->comms) / sizeof(f->comms[0]))
		return record_values_wrong(a, "too many names");
	memset(f->comms[f->n_comms], 0, KWALK_COMM);
	memcpy(f->comms[f->n_comms++], text, strlen(text));
	return 0;
}

/* A cgroup by its path below the mount of cgroup2. -EINVAL after saying what is wrong. */
static int filter_add_cgroup(struct record_opts *o, const struct record_arg *a, const char *text)
{
	struct kwalk_filters *f = &o->rec.filters;
	int r;

	if (f->n_cgroups == KWALK_CGROUPS)
		return record_values_wrong(a, "more than %u cgroups", KWALK_CGROUPS);
	r = kwalk_cgroup(text, &f->cgroups[f->n_cgroups]);
	if (r == -ENODEV)
		return record_values_wrong(a, "no cgroup2 is mounted");
	if (r < 0)
		return record_values_wrong(a, "'%s': %s", text, strerror(-r));
	f->n_cgroups++;
	return 0;
}

int record_filter_uid(struct record_opts *o, const struct record_arg *a)
{
	return filter_each(o, a, 64, filter_add_uid);
}

int record_filter_comm(struct record_opts *o, const struct record_arg *a)
{
	return filter_each(o, a, 64, filter_add_comm);
}

int record_filter_cgroup(struct record_opts *o, const struct record_arg *a)
{
	return filter_each(o, a, KWALK_CGROUPS, filter_add_cgroup);
}

/* Notes which of these options needs BPF programs, for the message if they cannot be had. -EINVAL,
 * after saying so, if --call-graph asks for stacks that are taken without them. */
int record_filter_settle(struct record_opts *o, const struct cmd *cmd)
{
	const char *what = o->rec.wall                ? "--wall"
	                   : o->rec.away_ns           ? "--off-cpu"
	                   : o->rec.filters.n_uids    ? "--uid"
	                   : o->rec.filters.n_comms   ? "--comm"
	                   : o->rec.filters.n_cgroups ? "--cgroup"
	                   : o->rec.runtimes          ? "--runtimes (--python)"
	                                              : NULL;

	if (!what)
		return 0;
	if (o->rec.runtimes && o->rec.session.callchain != SESSION_CALLCHAIN_AUTO) {
		cmd_error(cmd, "--runtimes and --python go with --call-graph dwarf,defer only");
		return -EINVAL;
	}
	if (o->rec.session.callchain != SESSION_CALLCHAIN_AUTO &&
	    o->rec.session.callchain != SESSION_CALLCHAIN_FP_DEFER) {
		cmd_error(cmd,
		          "%s is done by BPF programs: it goes with --call-graph dwarf,defer or "
		          "fp,defer",
		          what);
		return -EINVAL;
	}
	o->rec.needs_bpf = what;
	return 0;
}
