/* SPDX-License-Identifier: MIT */
/*
 * record_filter.h: whose samples are wanted besides -p, -t, -a: --uid, --comm, --cgroup, chosen in
 * the kernel by BPF programs. Each returns 0, or -EINVAL after it said on stderr what is wrong.
 */
#ifndef SEAM_ASKED_RECORD_FILTER_H
#define SEAM_ASKED_RECORD_FILTER_H

#include "asked/record_values.h"

/* "1000,www-data" */
int record_filter_uid(struct record_opts *o, const struct record_arg *a);
/* "nginx,worker 1" */
int record_filter_comm(struct record_opts *o, const struct record_arg *a);
/* "system.slice/nginx.service,user.slice" */
int record_filter_cgroup(struct record_opts *o, const struct record_arg *a);
/* To be called after all options: checks that options which need BPF programs can have them. */
int record_filter_settle(struct record_opts *o, const struct cmd *cmd);

#endif
