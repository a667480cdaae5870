/* SPDX-License-Identifier: MIT */
/* ioctl.h: the requests that a perf event's descriptor takes, as numbers of the ABI. */
#ifndef SEAM_CAPTURE_IOCTL_H
#define SEAM_CAPTURE_IOCTL_H

#include <stdint.h>
#include <sys/ioctl.h>

#define IOCTL_ENABLE _IO('$', 0)
#define IOCTL_DISABLE _IO('$', 1)
#define IOCTL_SET_OUTPUT _IO('$', 5)
#define IOCTL_ID _IOR('$', 7, uint64_t *) /* the kernel's own macro has the pointer, too */

#endif
