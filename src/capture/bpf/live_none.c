// SPDX-License-Identifier: MIT
// live_none.c: live.h where the program was built without clang or libbpf, or for a machine whose tables the programs do not
// walk: nothing is possible, and that is said.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/bpf/live.h"

void live_probe(struct live_probe *ret)
{
	*ret = (struct live_probe){ 0 };
	snprintf(ret->reason, sizeof(ret->reason), "seam was built without BPF programs");
	snprintf(ret->remedy, sizeof(ret->remedy), "build it for x86_64 with clang and libbpf");
}

int live_open(struct live **ret, const struct live_opts *opts, struct seam_error *err)
{
	(void)ret;
	(void)opts;
	return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
	                      "seam was built without BPF programs");
}

void live_close(struct live *l)
{
	(void)l;
}

int live_target(struct live *l, pid_t pid)
{
	(void)l;
	(void)pid;
	return -EOPNOTSUPP;
}

int live_target_all(struct live *l)
{
	(void)l;
	return -EOPNOTSUPP;
}

void live_prepare(struct live *l, const void *blob)
{
	(void)l;
	(void)blob;
}

bool live_targets_gone(struct live *l)
{
	(void)l;
	return false;
}

bool live_is_followed(struct live *l, uint32_t pid)
{
	(void)l;
	(void)pid;
	return true;
}

void live_source(struct live *l, struct session_source *ret)
{
	(void)l;
	*ret = (struct session_source){ .fd = -1 };
}

int live_find(struct live *l, uint32_t pid, uint64_t time_ns, uint64_t pc, const void **blob,
              uint64_t *vaddr, bool *may_guess)
{
	(void)l;
	(void)pid;
	(void)time_ns;
	(void)pc;
	(void)blob;
	(void)vaddr;
	(void)may_guess;
	return -ENOENT;
}

int live_total(struct live *l, struct live_totals *ret)
{
	(void)l;
	(void)ret;
	return -EOPNOTSUPP;
}

const char *live_end_name(enum live_end end)
{
	(void)end;
	return "unknown";
}
