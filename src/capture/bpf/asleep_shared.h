/* SPDX-License-Identifier: MIT */
/* asleep_shared.h: what asleep.bpf.c and asleep.c say to each other. Fixed layouts, this machine's
 * byte order, no pointers. */
#ifndef SEAM_CAPTURE_BPF_ASLEEP_SHARED_H
#define SEAM_CAPTURE_BPF_ASLEEP_SHARED_H

#include "capture/bpf/shared.h"

#define ASLEEP_FRAMES 510u /* as many as the kernel's own deferred stacks have */

struct asleep_config {
	uint32_t by_tid; /* for tests where the kernel defers nothing: keys are tids, not cookies */
};

/* What reading the iterator gives, one for each task that is wanted. */
struct asleep_stack {
	uint64_t key;
	uint32_t cpu; /* on which it was read */
	uint16_t n;
	uint8_t end; /* enum kwalk_end */
	uint8_t unused;
	/* uint64_t ips[n] */
};

#endif
