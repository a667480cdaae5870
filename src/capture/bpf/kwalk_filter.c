// SPDX-License-Identifier: MIT
/*
 * kwalk_filter.c: what a task must be to be recorded, given to the programs: user ids and names as
 * maps, cgroups as numbers in their configuration.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/cgroup_dir.h"

bool kwalk_filters_any(const struct kwalk_filters *f)
{
	return f->n_uids || f->n_comms || f->n_cgroups;
}

int kwalk_cgroup(const char *name, struct kwalk_cgroup *ret)
{
	return cgroup_dir_find(name, &ret->id, &ret->level);
}

/* The program's constants: how many filters there are of each kind, and the cgroups themselves. */
void filter_configure(const struct kwalk *l, struct kwalk_config *c)
{
	const struct kwalk_filters *f = &l->opts.filters;

	c->held = (uint32_t)l->opts.held;
	c->uids = (uint32_t)f->n_uids;
	c->comms = (uint32_t)f->n_comms;
	c->cgroups = (uint32_t)f->n_cgroups;
	memcpy(c->cgroup, f->cgroups, sizeof(c->cgroup));
}

int filter_fill(struct kwalk *l)
{
	const struct kwalk_filters *f = &l->opts.filters;
	int uids = bpf_object__find_map_fd_by_name(l->object, "uids");
	int comms = bpf_object__find_map_fd_by_name(l->object, "comms");
	uint32_t one = 1;

	l->matched = bpf_object__find_map_fd_by_name(l->object, "matched");
	for (size_t i = 0; i < f->n_uids; i++)
		if (bpf_map_update_elem(uids, &f->uids[i], &one, BPF_ANY) < 0)
			return -errno;
	for (size_t i = 0; i < f->n_comms; i++)
		if (bpf_map_update_elem(comms, f->comms[i], &one, BPF_ANY) < 0)
			return -errno;
	return 0;
}

/* Without filters every process is. */
bool filter_has_matched(const struct kwalk *l, uint32_t pid)
{
	uint32_t one;

	return !kwalk_filters_any(&l->opts.filters) ||
	       bpf_map_lookup_elem(l->matched, &pid, &one) >= 0;
}
