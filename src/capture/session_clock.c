// SPDX-License-Identifier: MIT
/*
 * session_clock.c: the present time by the clock that the records have. Without -k that is a clock
 * of the kernel's own, which no call returns. So a record is caused (this thread is given the name
 * that it has), and its time is read.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "abi/record_at.h"
#include "capture/session_parts.h"

#define CONFIG_DUMMY 9

/* The record's last 8 bytes are its time, as sample_type is TIME alone. */
static int clock_take(void *ctx, const void *bytes, size_t n)
{
	uint64_t *ret = ctx;
	struct seam_record r;

	if (record_at(bytes, n, &r) && r.size >= 16)
		memcpy(ret, r.bytes + r.size - 8, sizeof(*ret)); /* all of its sample_id */
	return 0;
}

/* Takes as long as opening an event and mapping a ring. -ENODATA: no record came. */
int session_clock(const struct session *s, uint64_t *ret_ns)
{
	const struct kernel *k = &s->features->kernel;
	struct seam_attr attr = { .type = SEAM_TYPE_SOFTWARE,
		                  .config = CONFIG_DUMMY,
		                  .sample_type = SEAM_SAMPLE_TIME,
		                  .flags = SEAM_ATTR_COMM | SEAM_ATTR_SAMPLE_ID_ALL |
		                           SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV };
	struct ring ring = { .fd = -1 };
	char name[16] = "";
	uint64_t now = 0;
	int fd, r;

	if (s->opts.use_clockid) {
		attr.flags |= SEAM_ATTR_USE_CLOCKID;
		attr.clockid = s->opts.clockid;
	}
	fd = k->open(k->ctx, &attr, 0, -1, -1, KERNEL_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	/* One page: a single record is expected. */
	r = ring_map(&ring, fd, -1, 1);
	if (r >= 0) {
		/* PR_SET_NAME writes a COMM record, also if the name is the one it was. */
		prctl(PR_GET_NAME, name);
		prctl(PR_SET_NAME, name);
		ring_drain(&ring, clock_take, &now);
		ring_unmap(&ring);
	}
	k->close(k->ctx, fd);
	if (r >= 0 && !now)
		r = -ENODATA;
	if (r >= 0)
		*ret_ns = now;
	return r < 0 ? r : 0;
}
