// SPDX-License-Identifier: MIT
// kwalk_none.c: kwalk.h where the program was built without clang or libbpf, or for a machine whose
// tables the programs do not walk: nothing is possible, and that is said.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/bpf/kwalk.h"

void kwalk_probe(struct kwalk_probe *ret)
{
	*ret = (struct kwalk_probe){ 0 };
	snprintf(ret->reason, sizeof(ret->reason), "seam was built without BPF programs");
	snprintf(ret->remedy, sizeof(ret->remedy), "build it for x86_64 with clang and libbpf");
}

int kwalk_open(struct kwalk **ret, const struct kwalk_opts *opts, struct seam_error *err)
{
	(void)ret;
	(void)opts;
	return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
	                      "seam was built without BPF programs");
}

bool kwalk_filters_any(const struct kwalk_filters *f)
{
	return f->n_uids || f->n_comms || f->n_cgroups;
}

int kwalk_cgroup(const char *path, struct kwalk_cgroup *ret)
{
	(void)path;
	(void)ret;
	return -EOPNOTSUPP;
}

bool kwalk_gives_up(const struct kwalk *l)
{
	(void)l;
	return false;
}

void kwalk_close(struct kwalk *l)
{
	(void)l;
}

int kwalk_target(struct kwalk *l, pid_t pid)
{
	(void)l;
	(void)pid;
	return -EOPNOTSUPP;
}

int kwalk_target_all(struct kwalk *l, void (*said)(void *ctx, size_t done, size_t of), void *ctx)
{
	(void)l;
	(void)said;
	(void)ctx;
	return -EOPNOTSUPP;
}

void kwalk_prepare(struct kwalk *l, const void *blob)
{
	(void)l;
	(void)blob;
}

bool kwalk_targets_gone(struct kwalk *l)
{
	(void)l;
	return false;
}

bool kwalk_is_followed(struct kwalk *l, uint32_t pid)
{
	(void)l;
	(void)pid;
	return true;
}

void kwalk_source(struct kwalk *l, struct session_source *ret)
{
	(void)l;
	*ret = (struct session_source){ .fd = -1 };
}

int kwalk_find(struct kwalk *l, uint32_t pid, uint64_t time_ns, uint64_t pc,
               struct kwalk_table *ret)
{
	(void)l;
	(void)pid;
	(void)time_ns;
	(void)pc;
	(void)ret;
	return -ENOENT;
}

int kwalk_total(struct kwalk *l, struct kwalk_totals *ret)
{
	(void)l;
	(void)ret;
	return -EOPNOTSUPP;
}

const char *kwalk_away_name(enum kwalk_away why)
{
	(void)why;
	return NULL;
}

const char *kwalk_end_name(enum kwalk_end end)
{
	(void)end;
	return "unknown";
}
